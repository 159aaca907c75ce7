#pragma once

#include "app/views/frame/commands.h"
#include "app/views/widgets/theme.h"

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {
class Session;
}
namespace decoderscope::views {
struct ViewState;
}

namespace decoderscope::views::dialogs {

// Something that the palette finds by name: an action, a step, a model, a setting.
struct PaletteEntry {
    std::string name;
    std::string note;   // a key, or what kind of thing it is
    bool first = true;  // listed before anything is typed
    std::function<void(const core::Session&, ViewState&, Commands&)> run;
    std::string english = {};  // the name in English, which finds it, too; empty: there is no other
    std::string words = {};    // some of which find it, too
};

// What the palette remembers while it is open.
struct PaletteState {
    std::array<char, 128> typed{};
    std::size_t chosen = 0;  // of those found
    std::vector<PaletteEntry> entries;
    std::vector<std::size_t> found;  // of the entries, the best first
    std::string found_for;           // what was typed then
    bool searched = false;
    bool has_options = false;  // the entries have the keys of the configuration
    bool scrolls = false;      // the chosen one has just changed by key
};

void draw_palette_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// All that can be found at once; keys of the configuration follow, once they were tried out. The labels are in the
// current language.
[[nodiscard]] std::vector<PaletteEntry> palette_entries(const core::Session& session, const ViewState& state);

// How well a name fits what was typed: the name itself, then its beginning, then the beginning of one of its words,
// then any part of it, then its letters in order. Negative if it doesn't fit. Case doesn't matter.
[[nodiscard]] int match_score(std::string_view name, std::string_view typed);

// The entries that fit, best first; if nothing is typed, those that are listed first.
[[nodiscard]] std::vector<std::size_t> best_matches(const std::vector<PaletteEntry>& entries, std::string_view typed);

}  // namespace decoderscope::views::dialogs
