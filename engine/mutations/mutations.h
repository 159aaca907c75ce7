#pragma once

#include "engine/base/message.h"
#include "engine/graph/plan.h"
#include "engine/model/config.h"
#include "engine/model/inputs.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::mutations {

// A mistake that people make when they write decoders, as a marked change of one forward pass, so that the engine
// computes the wrong numbers honestly. The gallery of bugs opens them, and bisect tries them as causes. A member that
// is not set changes nothing.
struct Mutation {
    std::string_view name;  // "no-scale"
    Phrase cause;           // what the wrong decoder does: one sentence
    // What it changes: the configuration that the plan is written from, the inputs, or the plan itself.
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

// The first step of `right`, in the order of computation, that `wrong` computes differently: by another operation, or
// from other steps or inputs; nullptr if there is none, so that the mutation changes nothing here. Parameters and
// inputs aren't steps of the computation.
[[nodiscard]] Ref first_changed(const Plan& right, const Plan& wrong);

}  // namespace decoderscope::mutations

// The mutations, one family per file. Each function adds its own to the list.
namespace decoderscope::mutations::lists {

void scale(std::vector<Mutation>& list);
void masks(std::vector<Mutation>& list);
void fills(std::vector<Mutation>& list);
void softmax(std::vector<Mutation>& list);
void residual(std::vector<Mutation>& list);
void norms(std::vector<Mutation>& list);
void projections(std::vector<Mutation>& list);
void heads(std::vector<Mutation>& list);
void positions(std::vector<Mutation>& list);
void rope(std::vector<Mutation>& list);
void rope_by_layer(std::vector<Mutation>& list);
void mlp(std::vector<Mutation>& list);
void experts(std::vector<Mutation>& list);
void latent(std::vector<Mutation>& list);
void sinks(std::vector<Mutation>& list);
void embedding(std::vector<Mutation>& list);
void encoder(std::vector<Mutation>& list);
void output(std::vector<Mutation>& list);
void training(std::vector<Mutation>& list);

}  // namespace decoderscope::mutations::lists

namespace decoderscope::mutations {

// A mistake as a decoder's author would describe it: the words say what was meant, the numbers what is computed.
// Whoever looks for a mistake must not find it by its name.
struct DescribedAs {
    Operation computed, meant;

    [[nodiscard]] OpDescription about() const { return meant.about(); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return computed.axes(in); }
    [[nodiscard]] OperandRole role_of(std::size_t operand) const { return computed.role_of(operand); }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const { return computed.compute(in, axes); }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const {
        return computed.explain(in, out, cell);
    }
    [[nodiscard]] Traits traits() const { return computed.traits(); }
    [[nodiscard]] MaskVerdict verdict(const Operands& in, const Cell& cell) const { return computed.verdict(in, cell); }
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return computed.passes_gradient(operand); }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const {
        return (meant.passes_gradient(operand) ? meant : computed).about_pull_back(operand);
    }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const {
        return computed.pull_back(operand, b);
    }
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
        return computed.explain_pull_back(operand, b, cell);
    }
    bool operator==(const DescribedAs&) const = default;
};

// Describes every step of `wrong` as the step of that name in `right`.
void disguise(Plan& wrong, const Plan& right);

}  // namespace decoderscope::mutations
