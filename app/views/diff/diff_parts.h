#pragma once

#include "app/views/diff/diff_tab.h"
#include "app/views/shell/view_state.h"

#include <string>

// The parts of the Diff tab, a file each.
namespace decoderscope {

// What B is at the moment, or why there is none to compare with.
struct Compared {
    std::shared_ptr<const void> of;  // nullptr where there is nothing to compare with yet
    std::string label;               // "without edits", "norm_first = true"
    std::string missing;             // what to say instead
    bool failed = false;             // it is missing because something is wrong
};

// Goes to a tensor of the comparison, to the batch row and head where it differs most. Nowhere where A has no such
// step.
void go_to_largest(const Session& session, const TensorDifference& difference, Commands& commands);

// The choice of B and of the tolerance: two lines.
void draw_diff_header(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

// One mark a step, in order, as high as the logarithm of its largest difference.
void draw_diff_strip(const Ui& ui, const Session& session, const ViewState& state, Area area, Commands& commands);

// The steps with their measures, worst first or in order.
void draw_diff_list(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

// A, B and A − B of the step that we look at.
void draw_diff_pictures(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope
