#pragma once

#include "app/core/compare/depth.h"
#include "app/core/compare/growth.h"
#include "app/core/compare/norm_rows.h"
#include "app/core/compare/shown_comparison.h"
#include "app/core/derived/derived.h"
#include "app/core/session/command.h"
#include "app/core/tabs/bisect/shown_bisection.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/row_layout.h"

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::views::compare {

[[nodiscard]] Tab compare_tab();

// What the two runs differ in: this run, A, and another, B. The first is a preset: both are variations of this run,
// with the norms in two of their four places.
enum class Against { norms, unedited, configuration, pinned, file, bisect };
inline constexpr std::array<std::string_view, 6> kAgainstNames = {"norms",  "unedited", "configuration",
                                                                  "pinned", "file",     "bisect"};
// What is shown of them; `gradients` is about stacks that are made for it.
enum class View { depth, step, row, gradients };
inline constexpr std::array<std::string_view, 4> kViewNames = {"depth", "step", "row", "gradients"};

// What the page that bisects remembers.
struct BisectState {
    std::string path;                                 // of the recording that it is about
    core::BisectInputs question;                      // what was chosen for it
    std::optional<core::BisectInputs> cancelled;      // what is no longer wanted
    const core::bisect::Bisection* listed = nullptr;  // the result that the table was last scrolled for
};

// How the two runs of the norms vary this one, and what its gradients are measured of.
struct NormsState {
    View view = View::depth;
    std::optional<core::Places> places;             // the two places compared; nothing: as the model suggests
    std::optional<Index> layers;                    // how many blocks to stack; nothing: as many as the model has
    float gain_factor = 1.0F, shift_factor = 1.0F;  // what gains and shifts of all norms are multiplied by

    core::norms::GrowthChoice growth;
    bool growth_stopped = false;                        // until it is asked for again
    bool growth_by_depth = false;                       // stacks of every depth, too
    std::set<core::norms::StackScheme> hidden_schemes;  // whose curves are not drawn
    // What is shown until the next is measured.
    core::LastAnswer<core::norms::GrowthChoice, core::norms::MeasuredGrowth> grown, grown_by_depth;
    core::SharedProgress growth_progress = std::make_shared<core::WorkProgress>();
    core::SharedProgress growth_depth_progress = std::make_shared<core::WorkProgress>();
};

// A norm that only this tab has, chosen while the window was at a step: the rest of the window cannot go there.
struct ChosenNorm {
    std::string norm, at;
};

// What the tab remembers from frame to frame.
struct CompareTabState {
    Against against = Against::norms, other = Against::unedited;  // the other: the last one that isn't norms
    View view = View::step;                                       // of all but norms
    std::pair<std::string, std::string> option;  // what differs in B's configuration: a key and its value
    double tolerance = 0.0;
    bool in_order = false;                                 // order of the list; otherwise worst first
    core::diff::Listed part = core::diff::Listed::steps;   // what is listed, where B has other weights
    std::string typed;                                     // the path's field
    std::string listed_step;                               // the step that the list was last scrolled to
    std::optional<std::pair<Index, Index>> hovered;        // row and column under the mouse, as of the last frame
    std::optional<double> marked_depth;                    // pointed at in a chart, as of the last frame
    Index row = 0;                                         // the position whose row of a norm is explained
    std::optional<std::pair<std::string, Cell>> followed;  // the selected cell that it was last taken from
    std::optional<ChosenNorm> chosen;                      // until the window goes to another step

    NormsState norms;
    BisectState bisect;

    core::Value<core::diff::ShownComparison> shown;  // as of the last frame; empty if there was none
    // What is drawn: that comparison, or the one before while the next is under way; with its A.
    core::LastAnswer<core::Side, core::diff::ShownComparison> drawn;
    std::optional<core::Both<core::Side>> runs;  // the last two that were complete, for what needs both

    [[nodiscard]] View& shown_view() { return against == Against::norms ? norms.view : view; }
    [[nodiscard]] View shown_view() const { return against == Against::norms ? norms.view : view; }
    // Whether what is drawn is compared with a pinned run of another file of the model.
    [[nodiscard]] bool of_two_models() const {
        return against == Against::pinned && drawn && drawn.answer()->other_weights;
    }
    // What the strip shows of each step. There is something drawn.
    [[nodiscard]] core::ChartedDifferences charted() const {
        return core::charted_differences(*drawn.question().run, drawn.answer()->reference.run.get());
    }
};

// The command that compares with a file. Raises a tolerance of 0, as another program's arithmetic never agrees to the
// last bit.
[[nodiscard]] core::Command compare_with_file(CompareTabState& tab, const std::string& path);
// The command that bisects against a recording.
[[nodiscard]] core::Command bisect_with_file(CompareTabState& tab, const std::string& path);

// ---- the parts of the tab, one file each

// The two that are compared now, or why they can't be.
struct Compared {
    const core::Scenario* scenario = nullptr;  // A
    std::shared_ptr<const Run> run;
    Sentence name = {};              // empty: this run
    std::shared_ptr<const void> of;  // B: nullptr while there is nothing to compare with
    std::shared_ptr<const Run> b;    // nullptr if B is a file
    Sentence label = {};             // "without edits", "norm_first = true"
    std::string missing = {};        // the message to show instead
    bool failed = false;             // missing because of an error
    bool coming = false;             // missing because it is being computed
};
// The runs that have to be computed for it.
[[nodiscard]] core::CompanionRuns companion_runs(const core::Session& session, const ViewState& state);
[[nodiscard]] Compared compared_now(const core::Session& session, const CompareTabState& tab);
// Norms are compared only where a model computes.
[[nodiscard]] Against against_now(const core::Session& session, const CompareTabState& tab);
[[nodiscard]] core::Places compared_places(const core::Session& session, const CompareTabState& tab);

// Both runs, and the current place in them. Nothing until both have been computed for the model that is open, on inputs
// of this shape.
struct Scene {
    const core::Both<core::Side>& runs;
    const Step& here;      // the current computed step
    StackKind stack;       // its stack
    std::string block;     // its block, or the first of its stack
    std::string chosen;    // a norm that the window's own run may lack; empty: what the current step says
    bool stacked = false;  // with more or fewer blocks than the model has
};
[[nodiscard]] std::optional<Scene> scene_of(const core::Session& session, const CompareTabState& tab);
// Goes to a step of either run. Where the window's own run has no such step, but a norm here does, that norm is chosen
// in this tab alone.
void go_to_step(const core::Session& session, CompareTabState& tab, const Scene& scene, const std::string& step,
                Commands& commands);
// Goes to a tensor of the comparison, at the batch row and head where it differs most. Does nothing if the window's run
// has no such step.
void go_to_largest(const core::Session& session, const core::TensorDifference& difference, Commands& commands);

// A and B, beside the tabs' titles.
[[nodiscard]] std::vector<FlowItem> selectors_of_both(const Ui& ui, const core::Session& session, ViewState& state,
                                                      Commands& commands);
// What is shown of them, and how they are compared, at the top of the area, which is then what is left below.
void draw_choices_of_both(const Ui& ui, const core::Session& session, ViewState& state, Area& area, Commands& commands);

// The verdict, a strip of all steps, their list, and the pictures of the current one. There is something drawn.
void draw_comparison(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// Both by depth, or one row of a norm in both, below the block's diagrams for norms.
void draw_both_runs(const Ui& ui, const core::Session& session, ViewState& state, const Scene& scene, Area area,
                    Commands& commands);
// How high that is in a room: what doesn't fit is scrolled to.
[[nodiscard]] float height_of_both(const Ui& ui, const core::Session& session, const CompareTabState& tab,
                                   const Scene& scene, Area room);
// What these show, in a sentence.
[[nodiscard]] std::string sentence_of(const core::Session& session, const CompareTabState& tab, const Scene& scene);
[[nodiscard]] core::Value<core::norms::ShownDepth> shown_by_depth(const core::Session& session, const Scene& scene);
void draw_norm_row(const Ui& ui, const core::Session& session, CompareTabState& tab, const Scene& scene, Area area,
                   Commands& commands);
// The parts of a block in both; empty if a run has no such block.
[[nodiscard]] core::Value<core::Both<std::vector<core::step::OutlinePart>>> shown_diagrams(
    const core::Session& session, const core::Both<core::Side>& runs, const std::string& block);
// The row that is explained, in both.
[[nodiscard]] core::Value<core::Both<std::optional<core::norms::NormRow>>> shown_rows(const core::Session& session,
                                                                                      const CompareTabState& tab,
                                                                                      const Scene& scene);
// The norms of the block and of its stack, in either run; and the one that is explained: the chosen one, otherwise the
// current one, otherwise the first of the block.
[[nodiscard]] std::vector<std::string> norms_here(const Scene& scene);
[[nodiscard]] std::string explained_norm(const Scene& scene);

// How gradients grow by layer and by depth, before any training: of stacks made for it, not of the model.
void draw_growth(const Ui& ui, const core::Session& session, CompareTabState& tab, Area area, Commands& commands);

// The page that compares with a recording of another program and seeks the cause.
void draw_bisect_page(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);
// Its result; empty while there is none.
[[nodiscard]] core::Value<core::bisect::ShownBisection> found_bisection(const core::Session& session,
                                                                        const BisectState& bisect);
// What the inspector says beside it, in its flow: the causes, and each block on their input.
void inspect_bisection(const Ui& ui, const core::Session& session, const BisectState& bisect);

// What the inspector says beside the tab.
void inspect_both(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope::views::compare
