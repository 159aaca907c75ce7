#pragma once

#include "app/core/session/command.h"
#include "app/core/session/scenario.h"
#include "app/views/shell/view_state.h"

#include <optional>
#include <string_view>

namespace decoderscope {

// What the Generate tab shows below the text.
enum class GeneratePage { next_token, cache, lens };

// What the Generate tab remembers from frame to frame.
struct GenerateTabState {
    GeneratePage page = GeneratePage::next_token;
    bool running = false;                              // generates tokens at intervals until the end
    double next_token_at = 0.0;                        // seconds, ImGui's clock
    Index layer = 0;                                   // whose k and v are shown
    bool proving = false;                              // the cached pass is computed alongside the run, and compared
    Index lens_back = 0;                               // columns by which the lens is scrolled back from the newest
    std::optional<Variation> asked_cache, asked_lens;  // the companion runs requested
};

inline constexpr std::string_view kGenerateLab = "generate";

void draw_generate_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

// Appends the next sampled token to the text of the cursor's batch row. Returns whether there is one.
bool generate_token(const Session& session, Commands& commands);
// Removes the last token of that row.
void step_back(const Session& session, Commands& commands);

}  // namespace decoderscope
