#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "engine/graph/mixture.h"

#include <optional>
#include <string>

namespace decoderscope::views::experts {

[[nodiscard]] Tab experts_tab();

// What the Experts tab remembers from frame to frame.
struct ExpertsTabState {
    std::string mlp;                // the mixture that is shown: "blocks.0.mlp"; empty: that of the cursor's block
    Index expert = 0;               // the chosen one
    std::optional<Index> position;  // chosen with it; nothing: every position
};

void draw_experts_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);
// The chosen expert in words and numbers, and the tokens that it gets.
void inspect_experts(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// The mixture that the tab shows; nothing if the run has none.
[[nodiscard]] std::optional<MixtureSteps> shown_mixture(const core::Session& session, const ExpertsTabState& experts);
// The chosen expert and position, within what the run has now.
struct ChosenExpert {
    Index expert = 0;
    std::optional<Index> position;
};
[[nodiscard]] ChosenExpert chosen_expert(const MixtureSteps& mixture, const ExpertsTabState& experts);

}  // namespace decoderscope::views::experts
