#pragma once

#include "app/core/generate/shown_generation.h"
#include "app/core/session/session.h"
#include "app/views/generate/generate_tab.h"
#include "app/views/shell/view_state.h"

#include <string>

// The parts of the Generate tab, one file each.
namespace decoderscope {

// The names of the companion runs.
inline constexpr const char* kCacheRun = "generate.cache";
inline constexpr const char* kLensRun = "generate.lens";

// What every part draws from.
struct GenerateScene {
    const Ui& ui;
    const Session& session;
    ViewState& state;
    Commands& commands;
    Index row;     // of the batch
    Index length;  // its number of tokens
    Value<ShownNextToken> next;

    [[nodiscard]] GenerateTabState& tab() const { return state.lab<GenerateTabState>(); }
    [[nodiscard]] const Scenario& scenario() const { return session.shown().scenario; }
    [[nodiscard]] const Run& run() const { return *session.shown().run; }
    // A token in readable form: its piece on one line, or its id.
    [[nodiscard]] std::string piece(Index token) const;
    // The row's token at a position.
    [[nodiscard]] Index token_at(Index position) const;
};

// The scene of the cursor's batch row; only where generation_obstacle() is empty.
[[nodiscard]] GenerateScene generate_scene(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

// Why no token can be appended to a row, in one sentence; empty if one can.
[[nodiscard]] std::string why_text_ends(const Scenario& scenario, Index row);

// Back, next, run; temperature, top-k, top-p, seed. Returns the height used.
float draw_generate_controls(const GenerateScene& scene, Area area);
// The text as chips, generated tokens set apart from given ones. Returns the height used.
float draw_generated_text(const GenerateScene& scene, Area area);

// The most probable tokens before and after the cuts, and where the drawn number falls.
void draw_next_token(const GenerateScene& scene, Area area);
// The KV cache of a layer and head, and the proof that it changes nothing.
void draw_cache(const GenerateScene& scene, Area area);
// The button for the proof: compares the cached pass with the full pass, tensor by tensor.
void draw_cache_proof(const GenerateScene& scene, Area area);
// The table of the logit lens.
void draw_lens(const GenerateScene& scene, Area area);

// What the inspector says beside the tab: why this token comes next, what the lens says, what the cache keeps.
void inspect_generation(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope
