#pragma once

#include "app/core/causes/shown_causes.h"
#include "app/views/shell/view_state.h"

#include <array>
#include <memory>
#include <optional>
#include <string_view>

namespace decoderscope {

// What moves a number; what comes back from another run; who wrote a logit.
enum class CausesPage { moves, patching, writers };
inline constexpr std::array<std::string_view, 3> kCausesPageNames = {"moves", "patching", "writers"};

// What the Causes tab remembers from frame to frame.
struct CausesTabState {
    CausesPage page = CausesPage::moves;
    NumberChoice number;
    OtherChoice other;
    bool every_step = false;              // else the stream and what is added to it
    std::optional<ChosenNumber> stopped;  // the number whose measurement was cancelled
    SharedProgress moving = std::make_shared<CausesProgress>();
    SharedProgress patching = std::make_shared<CausesProgress>();
    std::optional<ResolvedNumber> shown;  // what the last frame was about
};

// Asks what moves the selected cell.
void ask_what_moves(const Session& session, ViewState& state);

void draw_causes_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void inspect_causes(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope
