#include "app/core/generate/generation.h"
#include "app/core/text/token_text.h"
#include "app/views/generate/generate_parts.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <array>

namespace decoderscope {

std::string GenerateScene::piece(Index token) const { return token_text(scenario().model()->tokenizer, token); }

Index GenerateScene::token_at(Index position) const {
    return static_cast<Index>(scenario().inputs.tokens.at(Cell{row, position}));
}

namespace {

constexpr double kSecondsPerToken = 0.35;

Value<ShownNextToken> next_token_of(const Session& session) {
    const Snapshot& shown = session.shown();
    return shown_next_token(session.derived(), shown.scenario, shown.run, session.cursor().place.batch,
                            session.sampling());
}

// While it runs, generates a token at intervals.
void run_on(const Session& session, ViewState& state, Commands& commands) {
    GenerateTabState& tab = state.lab<GenerateTabState>();
    const double now = ImGui::GetTime();
    if (!tab.running) {
        tab.next_token_at = now;
        return;
    }
    if (session.stale() || now < tab.next_token_at) return;
    tab.next_token_at = now + kSecondsPerToken;
    tab.running = generate_token(session, commands);
}

// Companion runs are computed as long as a page shows them.
void ask_for(std::optional<Variation>& asked, const char* name, const std::optional<Variation>& wanted,
             Commands& commands) {
    if (asked == wanted) return;
    asked = wanted;
    commands.push_back(command::Accompany{name, wanted});
}

void ask_for_runs(const GenerateScene& scene) {
    GenerateTabState& tab = scene.tab();
    std::optional<Variation> cache, lens;
    if (tab.page == GeneratePage::cache && tab.proving) cache = Variation{.cached_row = scene.row};
    if (tab.page == GeneratePage::lens) lens = Variation{.logit_lens = true};
    ask_for(tab.asked_cache, kCacheRun, cache, scene.commands);
    ask_for(tab.asked_lens, kLensRun, lens, scene.commands);
}

void draw_obstacle(const Ui& ui, Area area, const std::string& obstacle) {
    const float width = std::min(area.width(), ui.px(500)), x = area.low.x + (area.width() - width) * 0.5F;
    const float y = area.low.y + std::max(ui.px(24), area.height() * 0.22F);
    draw_text(ui, ui.fonts.heading, {x, y}, ui.theme.text, tr("Nothing to generate"), width);
    const float below = draw_prose(ui, {x, y + ui.px(34)}, width, ui.theme.muted, obstacle, 4);
    draw_prose(ui, {x, below + ui.px(8)}, width, ui.theme.muted,
               tr("A model with tokens, a causal mask and a language head continues a text here, token by token."), 3);
}

// The choices of the page and of the batch row. Returns the height used.
float draw_pages(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const std::array<const char*, 3> pages = {tr("Next token"), tr("KV cache"), tr("Logit lens")};
    ImGui::SetCursorScreenPos(area.low);
    const int clicked = segmented(ui, "page", pages, static_cast<int>(scene.tab().page));
    if (clicked >= 0) scene.tab().page = static_cast<GeneratePage>(clicked);
    const Index rows = scene.scenario().inputs.batch();
    if (rows > 1) {
        ImGui::SameLine(0, ui.px(20));
        if (const int moved = counter(ui, tr("batch row"), scene.row, rows); moved != 0)
            scene.commands.push_back(command::ChooseBatch{scene.row + moved});
    }
    return ImGui::GetFrameHeight();
}

}  // namespace

std::string why_text_ends(const Scenario& scenario, Index row) {
    if (const Sentence full = row_is_full(scenario, row); !full.empty()) return tr(full);
    return has_ended(scenario, row) ? tr("The text has ended: its last token marks the end.") : "";
}

bool generate_token(const Session& session, Commands& commands) {
    const Scenario& scenario = session.shown().scenario;
    const Index row = session.cursor().place.batch;
    if (!generation_obstacle(scenario).empty() || session.stale()) return false;
    const Value<ShownNextToken> shown = next_token_of(session);
    if (!shown->next || !why_text_ends(scenario, row).empty()) return false;
    commands.push_back(command::AppendToken{row, shown->next->candidates[shown->draw.rank].token});
    return true;
}

void step_back(const Session& session, Commands& commands) {
    const Index row = session.cursor().place.batch;
    const Scenario& scenario = session.shown().scenario;
    if (generation_obstacle(scenario).empty() && row_length(scenario.inputs, row) > 1)
        commands.push_back(command::RemoveLastToken{row});
}

GenerateScene generate_scene(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const Index row = session.cursor().place.batch;
    return {
        ui, session, state, commands, row, row_length(session.shown().scenario.inputs, row), next_token_of(session)};
}

void draw_generate_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    state.hovered.reset();
    const float pad = ui.px(16), gap = ui.px(10);
    const Area inner = {{area.low.x + pad, area.low.y + gap}, {area.high.x - pad, area.high.y - ui.px(8)}};
    const Scenario& scenario = session.shown().scenario;
    if (const std::string obstacle = tr(generation_obstacle(scenario)); !obstacle.empty()) {
        state.lab<GenerateTabState>().running = false;
        draw_obstacle(ui, inner, obstacle);
        return;
    }
    const GenerateScene scene = generate_scene(ui, session, state, commands);
    run_on(session, state, commands);
    ask_for_runs(scene);
    float y = inner.low.y;
    const auto rest = [&] { return Area{{inner.low.x, y}, inner.high}; };
    y += draw_generate_controls(scene, rest()) + gap;
    state.paced = state.paced || scene.tab().running;
    y += draw_generated_text(scene, rest()) + gap;
    y += draw_pages(scene, rest()) + gap;
    switch (scene.tab().page) {
        case GeneratePage::next_token:
            return draw_next_token(scene, rest());
        case GeneratePage::cache:
            return draw_cache(scene, rest());
        case GeneratePage::lens:
            return draw_lens(scene, rest());
    }
}

}  // namespace decoderscope
