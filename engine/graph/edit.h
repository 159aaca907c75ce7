#pragma once

#include "engine/graph/plan.h"

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace decoderscope {

// The edits that the contract defines. They are inputs of a run: each names a step or a parameter, and they are applied
// in order.

// Which gesture of a person made an edit, so that what was done at once is counted, listed and undone as one; 0: it
// isn't known. Nothing is computed from it: edits are equal whatever made them, and files don't hold it.
struct Gesture {
    std::uint32_t number = 0;
    bool operator==(const Gesture&) const { return true; }
};

// Cells of an attention's mask; no index = every cell along that axis.
struct MaskEdit {
    std::string attention;  // "blocks.0.attn"
    std::optional<Index> batch, head, query, key;
    bool keep = false;
    Gesture gesture = {};
    bool operator==(const MaskEdit&) const = default;
};

// Multiplies a head's z by a factor; 0 switches the head off.
struct ScaleHead {
    std::string attention;
    Index head = 0;
    float factor = 0.0F;
    Gesture gesture = {};
    bool operator==(const ScaleHead&) const = default;
};

// One cell of any tensor: recorded, weight or input.
struct SetCell {
    std::string tensor;
    Cell index;
    float value = 0.0F;
    Gesture gesture = {};
    bool operator==(const SetCell&) const = default;
};

// Which of a mixture's experts a position goes to; no index = every one along that axis. Switched off, the router's
// score of the expert is 0: the next best takes its place. If used alone, its score is 1 and that of all others 0.
struct RouteExpert {
    std::string mlp;  // "blocks.0.mlp"
    Index expert = 0;
    std::optional<Index> batch, pos;
    bool alone = false;  // otherwise it is off
    Gesture gesture = {};
    bool operator==(const RouteExpert&) const = default;
};

// Makes a step compute what a formula says instead. A "*" in the step's name stands for every layer.
struct RewriteStep {
    std::string step;     // "blocks.*.attn.pattern"
    std::string formula;  // in index notation or PyTorch's; operands by the book's names or by those of steps
    Gesture gesture = {};
    bool operator==(const RewriteStep&) const = default;
};

// A row of one's own: another step, computed from any others. `of` is what its name begins with, and where names in the
// formula are looked for first: "blocks.*.attn" makes one for every layer; empty for a row of the whole model.
struct AddRow {
    std::string name;
    std::string of;
    std::string formula;
    bool must_hold = false;  // a check: every number of it must be true, neither 0 nor NaN
    Gesture gesture = {};
    bool operator==(const AddRow&) const = default;
};

using Edit = std::variant<MaskEdit, ScaleHead, SetCell, RouteExpert, RewriteStep, AddRow>;

[[nodiscard]] inline Gesture& gesture_of(Edit& edit) {
    return std::visit([](auto& one) -> Gesture& { return one.gesture; }, edit);
}
[[nodiscard]] inline Gesture gesture_of(const Edit& edit) {
    return std::visit([](const auto& one) { return one.gesture; }, edit);
}

// Puts an edit of cells, masks, heads or experts into the plan. Throws Error naming the tensor and what was expected.
// The formulas that a person wrote are put in by engine/sheet/, which puts in all.
void patch_cells(Plan& plan, const Edit& edit);

// Whether an edit changes what the model computes: a row only reads it.
[[nodiscard]] inline bool changes_the_pass(const Edit& edit) { return !std::holds_alternative<AddRow>(edit); }
[[nodiscard]] inline bool change_the_pass(const std::vector<Edit>& edits) {
    return std::ranges::any_of(edits, changes_the_pass);
}
// The edits without those that change what the model computes.
[[nodiscard]] inline std::vector<Edit> rows_among(std::vector<Edit> edits) {
    std::erase_if(edits, changes_the_pass);
    return edits;
}

// The row's step, with "*" for every layer: "blocks.*.attn.entropy".
[[nodiscard]] std::string row_name(const AddRow& row);

// The JSON list of the contract. Throws Error naming the edit and what is wrong with it.
[[nodiscard]] std::vector<Edit> parse_edits(std::string_view json);
[[nodiscard]] std::string edits_to_json(const std::vector<Edit>& edits);
// As above, as part of a larger JSON.
[[nodiscard]] std::vector<Edit> edits_of(const nlohmann::json& list);
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<Edit>& edits);

// One line for a reader: "blocks.0.attn: head 3 off", "blocks.0.attn.z[0, 1, 2, 3] = 0.5".
[[nodiscard]] std::string describe(const Edit& edit);

}  // namespace decoderscope
