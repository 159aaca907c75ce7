#pragma once

#include "engine/graph/plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What a name in a person's formula means.
namespace decoderscope::sheet {

// Which run a tensor is of.
enum class RunOf {
    this_one,
    unedited,  // the same without the edits
    exact,     // the same without rounding: in float32
    other,     // the one that it is compared with
};

// A tensor that a formula reads: the step of this run, and in which run.
struct Read {
    StepId step = 0;
    RunOf run = RunOf::this_one;
    bool operator==(const Read&) const = default;
};

// The names at one place of a plan: those of the operation that is rewritten, then of the part that the formula
// belongs to, of what that part lies in, and of the whole model. "base.x" is x without the edits, "exact.x" is x
// without rounding, "other.x" is x in the run that this one is compared with, and "grad.x" is the gradient with respect
// to x. A "/" in a step's name is a dot in a formula.
class Scope {
public:
    // `of` is the part, "blocks.0.attn"; empty for the whole model. Steps from `before` on can't be read. `own` are the
    // names that the operation itself has for its operands.
    Scope(const Plan& plan, std::string of, StepId before, std::vector<std::pair<std::string, StepId>> own = {});

    [[nodiscard]] std::optional<Read> find(std::string_view name) const;
    // Whether a name says which run or pass it is of: "base.x", "exact.x", "other.x", "grad.x".
    [[nodiscard]] static bool names_other_pass(std::string_view name);
    // Throws FormulaError, at this place in its text, if a name begins with a block that the model doesn't have.
    void check_block(std::string_view name, std::size_t at) const;
    // The whole names of the weights that a name may mean, of which `find` takes none if they are several.
    [[nodiscard]] std::vector<std::string> weights_called(std::string_view name) const;
    // Whether the operation itself calls an operand so.
    [[nodiscard]] bool is_own(std::string_view name) const {
        return std::ranges::find(own_, name, &std::pair<std::string, StepId>::first) != own_.end();
    }
    // All names, the nearest first, each tensor once.
    [[nodiscard]] std::vector<std::string> names() const;
    // As above, each behind what the written name begins with: "base.", "exact.", "other." or "grad.".
    [[nodiscard]] std::vector<std::string> names_as(std::string_view written) const;
    // As many of them as begin with what was typed, and go on; with "base.", "exact.", "other." or "grad." before
    // them, if that was typed.
    [[nodiscard]] std::vector<std::string> names_from(std::string_view typed, std::size_t most) const;
    [[nodiscard]] const Plan& plan() const { return plan_; }

private:
    [[nodiscard]] Ref step_called(std::string_view name) const;
    [[nodiscard]] Ref step_named(std::string_view name) const;
    [[nodiscard]] Ref step_beside(std::string_view name) const;
    [[nodiscard]] std::vector<Ref> weights_read_in(std::string_view part, std::string_view name) const;
    [[nodiscard]] std::vector<Ref> nearest_weights(std::string_view name) const;
    [[nodiscard]] Ref weight_of(std::string_view step_or_part, std::string_view name) const;

    const Plan& plan_;
    std::string of_;
    StepId before_;
    std::vector<std::pair<std::string, StepId>> own_;
    std::vector<std::pair<std::string, StepId>> foreign_;  // steps whose names a formula can't have as they are
};

// A step's name as a formula has it: another program's "h.0.attn/softmax/out" is "h.0.attn.softmax.out", and
// "(model)/out" is "model.out".
[[nodiscard]] std::string name_in_formula(std::string name);
// The names of the steps, or of the parts if `parts`, that a pattern stands for, in the order of computation:
// "blocks.*.attn" for every layer. Parts are named as formulas have them. A pattern without "*" is itself, if there is
// such a name.
[[nodiscard]] std::vector<std::string> matching(const Plan& plan, std::string_view pattern, bool parts);
// The part that a tensor belongs to, "blocks.0.attn" of "blocks.0.attn.pattern", and its name there; the part of a name
// without dots is empty.
[[nodiscard]] std::string_view part_of(std::string_view tensor);
[[nodiscard]] std::string_view name_in_part(std::string_view tensor);
// The name with the number of its layer replaced by "*": "blocks.*.attn.pattern"; the name itself if it has none.
[[nodiscard]] std::string for_all_layers(std::string_view name);

}  // namespace decoderscope::sheet
