#pragma once

#include "engine/base/message.h"
#include "engine/graph/plan.h"
#include "engine/model/config.h"
#include "engine/model/inputs.h"
#include "engine/ops/written_formula.h"

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
    std::string name;  // "no-scale"
    Sentence cause;    // what the wrong decoder does
    // What it changes: the configuration that the plan is written from, the inputs, or the plan itself.
    std::function<void(Config&)> configure = {};
    std::function<void(Inputs&, const Config&)> feed = {};
    std::function<void(Plan&, const Config&)> change = {};
    std::optional<std::uint64_t> dropout_seed = {};  // dropout is left on
    // Whether the predictions stay (nearly) as they are: it looks wrong and is right.
    bool harmless = false;
    // Whether only a pass that reads a KV cache can make it: in what it reads, or in how it counts what is new.
    bool behind_cache = false;
    // The name of a step: the mistake is made there and at its like in the stack's other blocks alone, for a norm in
    // all that it computes. Empty: everywhere. One that changes inputs or leaves dropout on can't be confined.
    std::string only = {};
};

// All mutations, the likeliest causes first. They are assets/tables/mutations.json; an entry has what the wrong decoder
// does, its "cause", and one of
//     "set"      keys of the configuration with their values: as `--set` takes them, or "=…", an expression of the
//                formulas' language over the keys' numbers, or one for each word that the key may have
//     "change"   what steps compute instead (engine/mutations/changes.h)
//     "inputs"   inputs that are left out, masks that are inverted;  "targets": how many positions ahead the loss looks
//     "dropout_seed"
//     "behind_cache"  whoever cuts a text into passes knows what it changes
// and possibly "when", a condition on the keys, and "harmless".
[[nodiscard]] std::span<const Mutation> mutations();
// Those of passes that read a KV cache, which are not among them.
[[nodiscard]] std::span<const Mutation> mutations_behind_cache();

// A mutation made at one step of each block alone: "in all blocks blocks.0.attn.k: rope-other-pairs". Nothing if it
// can't be confined.
[[nodiscard]] std::optional<Mutation> confined(const Mutation& mutation, const std::string& step);

// Changes a right plan where a confined mutation's wrong one differs. A step that reads others there, which the right
// one doesn't have, stays as it is.
void confine(Plan& right, const Plan& wrong, const std::string& step);

// The mutation of that name, or the edit or the confined one that it names; nullptr if there is none.
[[nodiscard]] const Mutation* find_mutation(std::string_view name);

// A mistake that nobody listed: a step computes another formula.
struct FormulaEdit {
    // The step alone, the step in all blocks of its stack, or all steps that compute as it does.
    enum class Where { alone, in_all_blocks, all_alike };
    Where where = Where::alone;
    std::string step;     // "blocks.0.attn.attn_scores"
    std::string formula;  // "scores[b, h, q, k] = …"

    // As a mutation's name: "all like blocks.0.ln1.scale: scale[b, p] = …".
    [[nodiscard]] std::string name() const;
};
// Throws formulas::FormulaError if the formula can't be read. Its change throws Error if it doesn't fit the step.
[[nodiscard]] Mutation mutation_of(const FormulaEdit& edit, Sentence cause);

// Another that nobody listed: a step reads something else than it should.
struct ReadingEdit {
    bool in_all_blocks = false;
    std::string step;  // "blocks.0.attn.k"
    // Operands' names, or the modules of parameters: "layers.0.norm1". The step itself is the other one if its own is
    // kItself; its own is left out of a sum if the other is kNothing.
    std::string own, other;
    static constexpr std::string_view kItself = "itself", kNothing = "nothing";  // not a message: of a name

    // As a mutation's name: "in all blocks blocks.0.attn.k: blocks.0.attn.k_normed for blocks.0.attn.k_unnormed".
    [[nodiscard]] std::string name() const;
    // What a step reads then, if it is that step or its like in another block, whose parts are those of its own block;
    // nothing if it reads the same, or what isn't there, has another shape or is computed later. A parameter may be
    // declared later.
    [[nodiscard]] std::optional<std::vector<StepId>> operands_of(const Plan& plan, const Step& of) const;
};
// Its change throws Error if it doesn't fit the step. A norm's scale is that of what the norm reads.
[[nodiscard]] Mutation mutation_of(const ReadingEdit& edit, Sentence cause);
[[nodiscard]] std::vector<StepId> steps_before_in_norm(const Plan& plan, StepId step);

// The first step of `right`, in the order of computation, that `wrong` computes differently: by another operation, or
// from other steps or inputs; nullptr if there is none, so that the mutation changes nothing here. Parameters and
// inputs aren't steps of the computation.
[[nodiscard]] Ref first_changed(const Plan& right, const Plan& wrong);

}  // namespace decoderscope::mutations

namespace decoderscope::mutations {

// A mistake as a decoder's author would describe it: the words say what was meant, the numbers what is computed.
// Whoever looks for a mistake must not find it by its name.
struct DescribedAs {
    Operation computed, meant;

    [[nodiscard]] OpDescription about() const { return meant.about(); }
    [[nodiscard]] ops::ByFormula formula() const { return ops::formula_of(computed).value_or(ops::ByFormula{}); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return computed.axes(in); }
    [[nodiscard]] OperandRole role_of(std::size_t operand) const { return computed.role_of(operand); }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const { return computed.compute(in, axes); }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const {
        return computed.explain(in, out, cell);
    }
    [[nodiscard]] Traits traits() const { return computed.traits(); }
    [[nodiscard]] Masks hidden_by(const Operands& in, const Cell& cell) const { return computed.hidden_by(in, cell); }
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
