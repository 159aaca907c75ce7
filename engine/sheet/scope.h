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

// A tensor that a formula reads: of the run, or as it would be without the edits.
struct Read {
    StepId step = 0;
    bool unedited = false;
    bool operator==(const Read&) const = default;
};

// The names at one place of a plan: those of the operation that is rewritten, then of the part that the formula
// belongs to, of what that part lies in, and of the whole model. "base.x" is x without the edits; "grad.x" is the
// gradient with respect to x. A "/" in a step's name is a dot in a formula.
class Scope {
public:
    // `of` is the part, "blocks.0.attn"; empty for the whole model. Steps from `before` on can't be read. `own` are the
    // names that the operation itself has for its operands.
    Scope(const Plan& plan, std::string of, StepId before, std::vector<std::pair<std::string, StepId>> own = {});

    [[nodiscard]] std::optional<Read> find(std::string_view name) const;
    // Whether a name says which run or pass it is of: "base.x", "grad.x".
    [[nodiscard]] static bool names_other_pass(std::string_view name);
    // Whether the operation itself calls an operand so.
    [[nodiscard]] bool is_own(std::string_view name) const {
        return std::ranges::find(own_, name, &std::pair<std::string, StepId>::first) != own_.end();
    }
    // All names, the nearest first, each tensor once.
    [[nodiscard]] std::vector<std::string> names() const;
    // As many of them as begin with what was typed, and go on; with "base." or "grad." before them, if that was typed.
    [[nodiscard]] std::vector<std::string> names_from(std::string_view typed, std::size_t most) const;
    [[nodiscard]] const Plan& plan() const { return plan_; }

private:
    [[nodiscard]] Ref step_called(std::string_view name) const;
    [[nodiscard]] Ref step_named(std::string_view name) const;
    [[nodiscard]] Ref weight_read_in(std::string_view part, std::string_view name) const;
    [[nodiscard]] Ref weight_of(std::string_view step_or_part, std::string_view name) const;

    const Plan& plan_;
    std::string of_;
    StepId before_;
    std::vector<std::pair<std::string, StepId>> own_;
    std::vector<std::pair<std::string, StepId>> foreign_;  // steps whose names a formula can't have as they are
};

// The names of the steps, or of the parts if `parts`, that a pattern stands for, in the order of computation:
// "blocks.*.attn" for every layer. A pattern without "*" is itself, if there is such a name.
[[nodiscard]] std::vector<std::string> matching(const Plan& plan, std::string_view pattern, bool parts);
// The part that a tensor belongs to, "blocks.0.attn" of "blocks.0.attn.pattern", and its name there; the part of a name
// without dots is empty.
[[nodiscard]] std::string_view part_of(std::string_view tensor);
[[nodiscard]] std::string_view name_in_part(std::string_view tensor);
// The name with the number of its layer replaced by "*": "blocks.*.attn.pattern"; the name itself if it has none.
[[nodiscard]] std::string for_all_layers(std::string_view name);

}  // namespace decoderscope::sheet
