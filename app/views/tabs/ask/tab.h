#pragma once

#include "app/core/ask/answer.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <memory>
#include <optional>

namespace decoderscope::views::ask {

using core::ask::AskPage;

[[nodiscard]] Tab ask_tab();

// What the tab remembers from frame to frame.
struct AskTabState {
    core::ask::Question question;
    core::ask::SweepQuestion typed;              // what varies, as it is typed
    AskPage about_number = AskPage::moves;       // the page about a number that was open last
    std::optional<core::ask::Question> stopped;  // the one whose measurement was cancelled
    std::optional<std::size_t> chosen;           // of many runs
    std::array<core::SharedProgress, core::ask::kPageNames.size()> progress = {};

    core::LastAnswer<core::ask::Asked, core::ask::Measured> last;
    std::optional<core::ask::ResolvedNumber> shown;  // the number that the last frame was about
    core::ask::OtherChoice compared;                 // run B, with what is left open; as of the last frame
};

// What is drawn in one frame.
struct Scene {
    const Ui& ui;
    const core::Session& session;
    ViewState& state;
    AskTabState& ask;
    Commands& commands;
};

// The ready questions that fit what is shown.
[[nodiscard]] core::Value<core::ask::ReadyQuestions> questions_that_fit(const core::Session& session);
// Opens the tab with this question.
void open_question(ViewState& state, core::ask::SweepQuestion question);
// Asks what moves the selected cell.
void ask_what_moves(const core::Session& session, ViewState& state);

// The training that can be varied; nullptr if there is none.
[[nodiscard]] std::shared_ptr<const core::train::Recipe> training_of(const core::Session& session);

// What a page asks: what varies, what is watched and what is sought; which number and, for patching, which other run;
// how costs are added up. Returns the height used.
[[nodiscard]] float draw_choices(const Scene& s, Area area);

}  // namespace decoderscope::views::ask
