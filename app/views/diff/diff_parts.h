#pragma once

#include "app/views/diff/diff_tab.h"
#include "app/views/shell/view_state.h"

#include <string>

// The parts of the Diff tab, one file each.
namespace decoderscope {

// The current B, or why there is none to compare with.
struct Compared {
    std::shared_ptr<const void> of;  // nullptr while there is nothing to compare with
    std::string label;               // "without edits", "norm_first = true"
    std::string missing;             // the message to show instead
    bool failed = false;             // missing because of an error
};

// Goes to a tensor of the comparison, at the batch row and head where it differs most. Does nothing if A has no such
// step.
void go_to_largest(const Session& session, const TensorDifference& difference, Commands& commands);

// The choices of B and of the tolerance, in two lines; in three where two are too narrow.
[[nodiscard]] float diff_header_height(const Ui& ui, Against against, float width);
void draw_diff_header(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

// One mark per step, in order; its height is the logarithm of the step's largest difference.
void draw_diff_strip(const Ui& ui, const Session& session, const ViewState& state, Area area, Commands& commands);

// The steps with their measures, worst first or in order.
void draw_diff_list(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

// What the inspector says beside the tab: how the current step differs.
void inspect_difference(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

// A, B and A − B of the current step.
void draw_diff_pictures(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope
