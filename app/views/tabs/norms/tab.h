#pragma once

#include "app/core/derived/derived.h"
#include "app/core/session/session.h"
#include "app/core/tabs/norms/gradient_growth.h"
#include "app/core/tabs/norms/shown_norms.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::views::norms {

[[nodiscard]] Tab norms_tab();

// A norm that only this tab has, chosen while the window was at a step: the rest of the window cannot go there.
struct ChosenNorm {
    std::string norm, at;
};

// The cell that was selected when a row was last taken from it.
struct SelectedCell {
    std::string step;
    Cell cell;
    bool operator==(const SelectedCell&) const = default;
};

// What the right-hand side shows.
enum class NormsView { depth, step, row, gradients };
inline constexpr std::array<std::string_view, 4> kNormsViewNames = {"depth", "step", "row", "gradients"};

// What the Norms tab remembers from frame to frame.
struct NormsTabState {
    NormsView view = NormsView::depth;
    bool diagrams = false;                          // if there is no room beside the view: the diagrams in its place
    std::optional<Index> layers;                    // how many blocks to stack; nothing: as many as the model has
    float gain_factor = 1.0F, shift_factor = 1.0F;  // what gains and shifts of all norms are multiplied by
    Index row = 0;                                  // the position whose row is explained
    std::optional<SelectedCell> followed;           // whose position that was
    std::optional<ChosenNorm> chosen;               // until the window goes to another step
    std::optional<core::Places> places;             // the two places compared; nothing: as the model suggests
    std::optional<double> marked_depth;             // pointed at in a chart, as of the last frame
    std::optional<core::BothNorms<core::Companion>> shown;  // the last two runs that were complete

    core::norms::GrowthChoice growth;                   // what the page of gradients measures
    bool growth_stopped = false;                        // until it is asked for again
    bool growth_by_depth = false;                       // stacks of every depth, too
    std::set<core::norms::StackScheme> hidden_schemes;  // whose curves are not drawn
    // What the page of gradients shows, until the next is measured.
    core::LastAnswer<core::norms::GrowthChoice, core::norms::MeasuredGrowth> grown;
    core::LastAnswer<core::norms::GrowthChoice, core::norms::GrowthByDepth> grown_by_depth;
    core::SharedProgress growth_progress = std::make_shared<core::WorkProgress>();
    core::SharedProgress growth_depth_progress = std::make_shared<core::WorkProgress>();
};

void draw_norms_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// The parts of the Norms tab, one file each. All of them show the same model twice, with the norms in two of the four
// places.

inline constexpr const char* kLeftRun = "norms.left";
inline constexpr const char* kRightRun = "norms.right";

// Which place of the norms a run has, in words.
[[nodiscard]] inline const core::PlaceOfNorms& norms_place_of(const core::Companion& run) {
    return core::place_of_norms(run.scenario.config().placement());
}

// The two runs, and the current place in them.
struct NormsScene {
    const core::BothNorms<core::Companion>& runs;
    const Step& here;    // the current computed step
    StackKind stack;     // its stack
    std::string block;   // its block, or the first of its stack
    std::string chosen;  // a norm that the window's own run may lack; empty: what the current step says

    [[nodiscard]] core::Places places() const {
        return {runs.left.scenario.config().placement(), runs.right.scenario.config().placement()};
    }
};

// The two places that are compared.
[[nodiscard]] inline core::Places compared_places(const core::Session& session, const NormsTabState& norms) {
    return norms.places.value_or(core::first_places(session.shown().scenario.config()));
}
[[nodiscard]] NormsScene norms_scene(const core::Session& session, const NormsTabState& norms);

// What the inspector says beside the tab: the numbers of both runs at this place.
void inspect_norms(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// Both block diagrams side by side; a click on a part goes there.
void draw_norm_diagrams(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene,
                        Area area, Commands& commands);
// The curves by depth, and what their strokes and colours mean.
void draw_norms_by_depth(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene,
                         Area area, Commands& commands);
// The current step in both runs, and the difference.
void draw_norms_step(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene, Area area,
                     Commands& commands);
// One row of one norm in both runs: before, normalised, after gain and shift, and its numbers.
void draw_norms_row(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene, Area area,
                    Commands& commands);

// How gradients grow by layer and by depth, before any training: of stacks made for it, not of the model.
void draw_norms_gradients(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// What is shown from these two runs.
[[nodiscard]] core::Value<core::BothNorms<core::norms::DepthCurves>> shown_curves(const core::Session& session,
                                                                                  const NormsScene& scene);
[[nodiscard]] core::Value<std::optional<core::norms::StepPair>> shown_pair(const core::Session& session,
                                                                           const NormsScene& scene);
[[nodiscard]] core::Value<core::BothNorms<std::optional<core::norms::NormRow>>> shown_rows(const core::Session& session,
                                                                                           const ViewState& state,
                                                                                           const NormsScene& scene);
// The norms of the block and of its stack, in either run.
[[nodiscard]] std::vector<std::string> norms_here(const NormsScene& scene);
// Goes to a step of either run. Where the window's own run has no such step, but a norm here does, that norm is chosen
// in this tab alone.
void go_to_step(const core::Session& session, NormsTabState& norms, const NormsScene& scene, const std::string& step,
                Commands& commands);
// The norm that is explained: the chosen one, otherwise the current one, otherwise the first of the block.
[[nodiscard]] std::string explained_norm(const NormsScene& scene);

}  // namespace decoderscope::views::norms
