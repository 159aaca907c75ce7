#pragma once

#include "engine/decoder/past.h"
#include "engine/edit.h"
#include "engine/model/config.h"
#include "engine/model/inputs.h"
#include "engine/plan.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace decoderscope {

// Everything that one forward pass depends on.
struct PassRequest {
    const Config& config;
    const Weights* weights;  // nullptr: only learn which parameters are asked for
    const Inputs& inputs;
    const std::vector<Edit>& edits;
    std::optional<std::uint64_t> dropout_seed;  // dropout is off without one
    // The k and v of the positions before: then the tokens (or x) and a custom mask's queries are those of the new
    // positions alone, masks of keys go over all, and edits name cells of the tensors as they then are.
    const Past* past = nullptr;
    bool logit_lens = false;  // with the final norm and the head after each block, too
};

// The forward pass of a decoder, with the encoder where it has one, as a plan with the edits in it. Throws Error naming
// the parameter, the input or the edit that doesn't fit.
[[nodiscard]] std::shared_ptr<const Plan> plan_decoder(const PassRequest& request);

// The parameters that this configuration has, with their shapes, in the order in which the forward pass meets them.
[[nodiscard]] std::vector<Declared> declared_parameters(const Config& config);

}  // namespace decoderscope
