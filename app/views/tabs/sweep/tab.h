#pragma once

#include "app/core/sweep/shown_sweep.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <memory>
#include <optional>
#include <string>

namespace decoderscope::views::sweep {

[[nodiscard]] Tab sweep_tab();

// What the Sweep tab remembers from frame to frame.
struct SweepTabState {
    core::sweep::SweepQuestion typed, question;         // as it is typed; as it was asked last
    std::optional<core::sweep::SweepQuestion> stopped;  // the one whose measurement was cancelled
    std::optional<std::size_t> chosen;                  // result
    core::SharedProgress progress = std::make_shared<core::WorkProgress>();
    core::LastAnswer<core::sweep::SweepQuestion, core::sweep::ShownSweep> answer;
};

// The ready questions that fit what is shown.
[[nodiscard]] core::Value<core::sweep::ReadyQuestions> questions_that_fit(const core::Session& session);
// Opens the tab with this question.
void ask(ViewState& state, core::sweep::SweepQuestion question);

void draw_sweep_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);
void inspect_sweep(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope::views::sweep
