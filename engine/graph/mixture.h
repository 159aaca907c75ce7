#pragma once

#include "engine/graph/plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// The steps of a mixture of experts, found by how they are connected.
struct MixtureSteps {
    std::string name;      // "blocks.0.mlp"
    Ref scores = nullptr;  // the router's, [batch, pos, expert]
    Ref expert = nullptr;  // the numbers of the chosen ones, [batch, pos, slot]
    Ref weight = nullptr;  // how much each of them counts, [batch, pos, slot]
    Ref out = nullptr;     // what each of them gives, [batch, pos, slot, d_model]
    Ref mixed = nullptr;   // their weighted sum, with what all positions share, [batch, pos, d_model]

    [[nodiscard]] Index experts() const { return scores->axes.back().size; }
};

// All mixtures of a forward pass, in the order of computation; none if all MLPs are dense.
[[nodiscard]] std::vector<MixtureSteps> mixtures(const Plan& plan);
// The mixture of that name, or the one whose sum is that step; nothing if there is none.
[[nodiscard]] std::optional<MixtureSteps> mixture_called(const Plan& plan, std::string_view name);
[[nodiscard]] std::optional<MixtureSteps> mixture_of(const Plan& plan, const Step& mixed);

}  // namespace decoderscope
