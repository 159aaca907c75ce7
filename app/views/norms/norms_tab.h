#pragma once

#include "app/core/norms/measured_growth.h"
#include "app/core/norms/measured_norms.h"
#include "app/core/session/session.h"
#include "app/core/work/saved_view.h"
#include "app/views/shell/view_state.h"

#include <memory>
#include <optional>
#include <set>
#include <string>

namespace decoderscope {

// A norm that only this tab has, chosen while the window was at a step: the rest of the window cannot go there.
struct ChosenNorm {
    std::string norm, at;
};

// What the Norms tab remembers from frame to frame.
struct NormsTabState {
    NormsView view = NormsView::depth;
    bool diagrams = false;                          // where there is no room beside the view: the diagrams in its place
    std::optional<Index> layers;                    // how many blocks to stack; nothing: as many as the model has
    float gain_factor = 1.0F, shift_factor = 1.0F;  // what gains and shifts of all norms are multiplied by
    Index row = 0;                                  // the position whose row is explained
    std::optional<ChosenNorm> chosen;               // until the window goes to another step
    std::optional<Places> places;                   // the two places compared; nothing: as the model suggests
    std::optional<BothNorms<Variation>> asked;      // the two runs requested
    std::optional<double> marked_depth;             // pointed at in a chart, as of the last frame
    std::optional<BothNorms<Companion>> shown;      // the last two runs that were complete

    GrowthChoice growth;                   // what the page of gradients measures
    bool growth_stopped = false;           // until it is asked for again
    bool growth_by_depth = false;          // stacks of every depth, too
    std::set<StackScheme> hidden_schemes;  // whose curves are not drawn
    std::shared_ptr<GrowthProgress> growth_progress = std::make_shared<GrowthProgress>();
    std::shared_ptr<GrowthProgress> growth_depth_progress = std::make_shared<GrowthProgress>();
};

void draw_norms_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope
