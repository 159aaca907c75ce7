#pragma once

#include "app/core/generate/shown_generation.h"
#include "app/core/session/session.h"
#include "app/views/generate/generate_tab.h"
#include "app/views/shell/view_state.h"

#include <string>

// The parts of the Generate tab, a file each.
namespace decoderscope {

// The names of the runs beside the main one.
inline constexpr const char* kCacheRun = "generate.cache";
inline constexpr const char* kLensRun = "generate.lens";

// What every part draws from.
struct GenerateScene {
    const Ui& ui;
    const Session& session;
    ViewState& state;
    Commands& commands;
    Index row;     // of the batch
    Index length;  // how many tokens it has
    Value<ShownNextToken> next;

    [[nodiscard]] GenerateTabState& tab() const { return state.lab<GenerateTabState>(); }
    [[nodiscard]] const Scenario& scenario() const { return session.shown().scenario; }
    [[nodiscard]] const Run& run() const { return *session.shown().run; }
    // A token as a person reads it: its piece on one line, or its id.
    [[nodiscard]] std::string piece(Index token) const;
    // The same with a space at its beginning made visible.
    [[nodiscard]] std::string piece_with_spaces(Index token) const;
    // The row's token at a position.
    [[nodiscard]] Index token_at(Index position) const;
};

// Why no token can follow in a row, in one sentence; empty where one can.
[[nodiscard]] std::string why_text_ends(const Scenario& scenario, Index row);

// Back, on, run; temperature, top-k, top-p, seed. Returns how high it came out.
float draw_generate_controls(const GenerateScene& scene, Area area);
// The text as chips, what was generated told from what was given. Returns how high it came out.
float draw_generated_text(const GenerateScene& scene, Area area);

// The most probable tokens before and after the cuts, and where the drawn number falls.
void draw_next_token(const GenerateScene& scene, Area area);
// The KV cache of a layer and head, and the proof that it changes nothing.
void draw_cache(const GenerateScene& scene, Area area);
// The button that proves it: the cached pass against the full pass, tensor by tensor.
void draw_cache_proof(const GenerateScene& scene, Area area);
// The table of the logit lens.
void draw_lens(const GenerateScene& scene, Area area);

}  // namespace decoderscope
