#pragma once

#include "app/core/derived/derived.h"
#include "app/core/session/session.h"
#include "app/core/tabs/cost/cost.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"

#include <memory>

namespace decoderscope::views::cost {

[[nodiscard]] Tab cost_tab();

// What the Cost tab remembers from frame to frame.
struct CostTabState {
    core::cost::Grouping grouping = core::cost::Grouping::step;
    core::cost::SortedBy sorted = core::cost::SortedBy::time;
    core::LastAnswer<std::shared_ptr<const Plan>, core::cost::PassCost> last;  // the plan that was measured
};

void draw_cost_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope::views::cost
