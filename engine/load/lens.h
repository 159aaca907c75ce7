#pragma once

#include "engine/graph/plan.h"
#include "engine/model/config.h"

#include <string>

namespace decoderscope::load {

// A lens that was fitted to a model (Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with the
// Tuned Lens"): for what enters the first block ("embed"), and for what leaves a block ("blocks.0"), a linear map to
// what leaves the last one, which the final norm and the head can read. `python3 -m decoderscope lens` fits one.
struct FittedLens {
    std::string path;  // absolute
    Weights maps;      // "fitted_lens.blocks.0.weight" [d_model, d_model], out by in, and perhaps ".bias" [d_model]
};

// Reads a safetensors file of "blocks.0.weight", "blocks.0.bias", …; places without a map have none. Throws Error
// naming the file, the tensor and what was expected.
[[nodiscard]] FittedLens read_lens(const std::string& path, const Config& config);

}  // namespace decoderscope::load
