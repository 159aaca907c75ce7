#pragma once

#include "app/core/derived/derived.h"
#include "app/core/tabs/causes/shown_causes.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace decoderscope::views::causes {

[[nodiscard]] Tab causes_tab();

// What moves a number; what comes back from another run; who wrote a logit.
enum class CausesPage { moves, patching, writers };
inline constexpr std::array<std::string_view, 3> kCausesPageNames = {"moves", "patching", "writers"};

// What was asked when an answer was measured: the run, the number, and what the tab says about run B.
struct CausesQuestion {
    core::Snapshot shown;
    core::causes::ResolvedNumber number;
    Sentence about_swap;
};

// What the Causes tab remembers from frame to frame.
struct CausesTabState {
    CausesPage page = CausesPage::moves;
    core::causes::NumberChoice number;
    core::causes::OtherChoice other;
    bool every_step = false;                            // otherwise the stream and what is added to it
    std::optional<core::causes::ChosenNumber> stopped;  // the number whose measurement was cancelled
    core::SharedProgress moving = std::make_shared<core::WorkProgress>();
    core::SharedProgress patching = std::make_shared<core::WorkProgress>();
    std::optional<core::causes::ResolvedNumber> shown;  // what the last frame was about
    core::causes::OtherChoice compared;                 // run B, with what `other` leaves open; as of the last frame

    // What the pages show, each until the next is measured.
    core::LastAnswer<CausesQuestion, core::causes::ShownMoves> moves;
    core::LastAnswer<CausesQuestion, core::causes::ShownSlopes> slopes;
    core::LastAnswer<CausesQuestion, core::causes::ShownPatching> patched;
};

// Asks what moves the selected cell.
void ask_what_moves(const core::Session& session, ViewState& state);

void draw_causes_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);
void inspect_causes(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// The pages of the Causes tab, one file each. All of them are about one number of this run.

// Which number, and for patching which other run. Returns the height used.
[[nodiscard]] float draw_causes_choices(const Ui& ui, const core::Session& session, CausesTabState& causes, Area area,
                                        Commands& commands);

void draw_moves(const Ui& ui, const core::Session& session, ViewState& state,
                const core::causes::ResolvedNumber& number, Area area, Commands& commands);
void draw_patching(const Ui& ui, const core::Session& session, ViewState& state,
                   const core::causes::ResolvedNumber& number, Area area, Commands& commands);
void draw_writers(const Ui& ui, const core::Session& session, CausesTabState& causes,
                  const core::causes::ResolvedNumber& number, Area area, Commands& commands);

// A bar from the middle of its area: to the right for positive values. `most` is as far as it goes.
void draw_signed_bar(const Ui& ui, Area area, double value, double most);
// A number as these pages write it.
[[nodiscard]] std::string cause_text(double value);

}  // namespace decoderscope::views::causes
