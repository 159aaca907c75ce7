#pragma once

#include "engine/message.h"
#include "engine/model/config.h"
#include "engine/model/inputs.h"
#include "engine/plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// A mistake that decoders are written with, as a marked change of one forward pass, so that the engine computes the
// wrong numbers honestly. The gallery of bugs opens them, and bisect tries them as causes. A member that is not set
// changes nothing.
struct Mutation {
    std::string_view name;  // "no-scale"
    Phrase cause;           // what the wrong decoder does: one sentence
    // Of the parts of a pass: the configuration that the plan is written from, the inputs, and the plan itself.
    std::function<void(Config&)> configure = {};
    std::function<void(Inputs&, const Config&)> feed = {};
    std::function<void(Plan&, const Config&)> change = {};
    std::optional<std::uint64_t> dropout_seed = {};  // dropout is left on
    // Whether the predictions stay (nearly) as they are: it looks wrong and is right.
    bool harmless = false;
};

// All mutations, the likeliest causes first.
[[nodiscard]] std::span<const Mutation> mutations();

// The mutation of that name; nullptr if there is none.
[[nodiscard]] const Mutation* find_mutation(std::string_view name);

// The first step of `right`, in the order of computation, that `wrong` computes otherwise: by another operation, or
// from other steps or inputs; nullptr if there is none, so that the mutation changes nothing here. Parameters and
// inputs are no steps of the computation.
[[nodiscard]] Ref first_changed(const Plan& right, const Plan& wrong);

}  // namespace decoderscope
