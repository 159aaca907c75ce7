#pragma once

#include "engine/graph/plan.h"

#include <nlohmann/json_fwd.hpp>

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

using Edit = std::variant<MaskEdit, ScaleHead, SetCell, RouteExpert>;

[[nodiscard]] inline Gesture& gesture_of(Edit& edit) {
    return std::visit([](auto& one) -> Gesture& { return one.gesture; }, edit);
}
[[nodiscard]] inline Gesture gesture_of(const Edit& edit) {
    return std::visit([](const auto& one) { return one.gesture; }, edit);
}

// Puts the edits into the plan. Throws Error naming the edit's number (the first is 0), the tensor and what was
// expected.
void apply_edits(Plan& plan, const std::vector<Edit>& edits);

// The JSON list of the contract. Throws Error naming the edit and what is wrong with it.
[[nodiscard]] std::vector<Edit> parse_edits(std::string_view json);
[[nodiscard]] std::string edits_to_json(const std::vector<Edit>& edits);
// As above, as part of a larger JSON.
[[nodiscard]] std::vector<Edit> edits_of(const nlohmann::json& list);
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<Edit>& edits);

// One line for a reader: "blocks.0.attn: head 3 off", "blocks.0.attn.z[0, 1, 2, 3] = 0.5".
[[nodiscard]] std::string describe(const Edit& edit);

}  // namespace decoderscope
