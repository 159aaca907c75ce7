#pragma once

#include "app/core/derived/derived.h"
#include "app/core/session/command.h"
#include "app/core/tabs/bisect/shown_bisection.h"
#include "app/core/tabs/diff/shown_comparison.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::views::diff {

[[nodiscard]] Tab diff_tab();

// What the page that bisects remembers.
struct BisectTabState {
    std::string path;                                 // of the recording that it is about
    core::BisectInputs question;                      // what was chosen for it
    std::optional<core::BisectInputs> cancelled;      // what is no longer wanted
    const core::bisect::Bisection* listed = nullptr;  // the result that the table was last scrolled for
};

// What the current run is compared with.
enum class Against { unedited, configuration, pinned, file, bisect };
inline constexpr std::array<std::string_view, 5> kAgainstNames = {"unedited", "configuration", "pinned", "file",
                                                                  "bisect"};

// What the Diff tab remembers from frame to frame.
struct DiffTabState {
    Against against = Against::unedited;
    std::pair<std::string, std::string> option;  // what differs in B's configuration: a key and its value
    double tolerance = 0.0;
    bool in_order = false;                                // order of the list; otherwise worst first
    core::diff::Listed part = core::diff::Listed::steps;  // what is listed, where B has other weights
    std::string typed;                                    // the path's field
    std::string listed_step;                              // the step that the list was last scrolled to
    std::optional<std::pair<Index, Index>> hovered;       // row and column under the mouse, as of the last frame

    BisectTabState bisect;

    core::Value<core::diff::ShownComparison> shown;  // as of the last frame; empty if there was none
    // What is drawn: that comparison, or the one before while the next is under way; with its A.
    core::LastAnswer<core::Snapshot, core::diff::ShownComparison> drawn;
};

// Whether the comparison that is drawn is with a pinned run of another file of the model.
[[nodiscard]] inline bool of_two_models(const DiffTabState& diff) {
    return diff.against == Against::pinned && diff.drawn && diff.drawn.answer()->other_weights;
}

// What the strip shows of each step. There is something drawn.
[[nodiscard]] inline core::ChartedDifferences charted_differences(const DiffTabState& diff) {
    return core::charted_differences(*diff.drawn.question().run, diff.drawn.answer()->reference.run.get());
}

// The command that compares with a file. Raises a tolerance of 0, as another program's arithmetic never agrees to the
// last bit.
[[nodiscard]] core::Command compare_with_file(DiffTabState& diff, const std::string& path);

// The command that bisects against a recording.
[[nodiscard]] core::Command bisect_with_file(DiffTabState& diff, const std::string& path);

void draw_diff_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// The parts of the Diff tab, one file each.

// The current B, or why there is none to compare with.
struct Compared {
    std::shared_ptr<const void> of;  // nullptr while there is nothing to compare with
    std::string label;               // "without edits", "norm_first = true"
    std::string missing;             // the message to show instead
    bool failed = false;             // missing because of an error
    bool coming = false;             // missing because it is being computed
};

// Goes to a tensor of the comparison, at the batch row and head where it differs most. Does nothing if A has no such
// step.
void go_to_largest(const core::Session& session, const core::TensorDifference& difference, Commands& commands);

// The choices of B and of the tolerance, in two lines; in three where two are too narrow.
[[nodiscard]] float diff_header_height(const Ui& ui, Against against, float width);
void draw_diff_header(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// One mark per step, in order; its height is the logarithm of the step's largest difference (charted_differences).
void draw_diff_strip(const Ui& ui, const core::Session& session, const ViewState& state, Area area, Commands& commands);

// The steps with their measures, worst first or in order.
void draw_diff_list(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// What the inspector says beside the tab: how the current step differs.
void inspect_difference(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// Draws the list folded to a field of this width that opens it, without a label.
void choose_diff_step(const Ui& ui, const core::Session& session, const DiffTabState& diff, float width,
                      Commands& commands);

// The current step, as A has it: where it differs by position, then A, B and A − B. `folded`: its name opens the list.
void draw_diff_pictures(const Ui& ui, const core::Session& session, ViewState& state, Area area, bool folded,
                        Commands& commands);

// The page of Diff that compares with a recording of another program and seeks the cause, one file per part.
void draw_bisect_page(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// Which tensor was matched to which step, in the order of computation, each to be changed; then those that match none.
void draw_bisect_table(const Ui& ui, const core::Session& session, BisectTabState& bisect,
                       const core::bisect::Bisection& found, Area area, Commands& commands);

// The worst cell, computed here and, with the likeliest cause, there, side by side. Returns the height.
float draw_side_by_side(const Ui& ui, const core::bisect::SideBySide& cell, Area area);

// What the inspector says beside the page, in its flow: the causes, and each block on their input.
void inspect_bisection(const Ui& ui, const core::Session& session, const BisectTabState& bisect);

// The result; empty while there is none.
[[nodiscard]] core::Value<core::bisect::ShownBisection> found_bisection(const core::Session& session,
                                                                        const BisectTabState& bisect);

}  // namespace decoderscope::views::diff
