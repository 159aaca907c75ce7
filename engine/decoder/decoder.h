#pragma once

#include "engine/backward/gradient.h"
#include "engine/decoder/kv_cache.h"
#include "engine/graph/edit.h"
#include "engine/graph/plan.h"
#include "engine/model/config.h"
#include "engine/model/inputs.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::mutations {
struct Mutation;
}

namespace decoderscope::decoder {

// Everything that one forward pass depends on.
struct PassRequest {
    const Config& config;
    const Weights* weights;  // nullptr: only finds out which parameters are needed
    const Inputs& inputs;
    const std::vector<Edit>& edits;
    std::optional<std::uint64_t> dropout_seed;  // dropout is off without one
    // The k and v of earlier positions. If given, the tokens (or x) and a custom mask's queries cover only the new
    // positions, key masks cover all positions, and edits address cells of the shorter tensors.
    const Past* past = nullptr;
    bool logit_lens = false;  // also applies the final norm and the head after each block
    // Also the backward pass: the gradient of this cell, or of the loss, with respect to everything
    // (engine/backward/gradient.h). Empty: none.
    std::string gradient_target = {};
    backward::GradientsBy gradients_by = backward::GradientsBy::everything;
    // A mistake to compute with (engine/mutations/); nullptr: none. What doesn't fit the model is an Error.
    const mutations::Mutation* mutation = nullptr;
    // Steps whose values are given instead of computed, by name; of a step's shape. Names without a step are ignored.
    const std::map<std::string, Tensor, std::less<>>* given = nullptr;
    // The tensors of another run, by name, that rows may read (sheet::OtherRun).
    std::function<const Tensor*(const std::string&)> other = {};
};

// The forward pass of a decoder, with its encoder if any, as a plan that includes the edits. Throws Error naming the
// parameter, the input or the edit that doesn't fit.
[[nodiscard]] std::shared_ptr<const Plan> plan_decoder(const PassRequest& request);

// The tensor that a step of dropout acts on: "blocks.0.mlp_out" for its ".dropout_mask" and its ".dropped"; the name as
// it is for other steps.
[[nodiscard]] std::string without_dropout(std::string_view step);

// The parameters of this configuration, with their shapes, in the order in which the forward pass uses them.
[[nodiscard]] std::vector<Declared> declared_parameters(const Config& config);

}  // namespace decoderscope::decoder
