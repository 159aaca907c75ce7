#include "app/views/generate/lab.h"

#include "app/core/generate/exhibit_generate.h"
#include "app/core/generate/generation.h"
#include "app/views/generate/generate_parts.h"
#include "app/views/generate/generate_tab.h"
#include "engine/translate.h"

#include <functional>
#include <utility>

namespace decoderscope {

namespace {

void add_exports(ExportScene& scene) {
    const GenerateTabState& generate = scene.state.lab<GenerateTabState>();
    if (!generation_obstacle(scene.shown.scenario).empty()) return;
    const Index row = scene.place.batch;
    if (generate.page == GeneratePage::cache)
        scene.add(tr("k and v of this layer and head"), "kv-cache",
                  [shown = scene.shown, layer = generate.layer, place = scene.place] {
                      return cache_exhibit(shown, layer, place);
                  });
    const Companion* lens = scene.session.shown().companion(kLensRun);
    if (generate.page == GeneratePage::lens && lens != nullptr)
        scene.add(tr("The logit lens"), "logit-lens",
                  [shown = scene.shown, run = lens->run, row] { return lens_exhibit(shown, run, row); });
    scene.add_if_any(tr("The next token's probabilities"), "next-token",
                     [&] { return next_token_exhibit(scene.shown, row, scene.session.sampling()); });
}

void leave(ViewState& state) {
    GenerateTabState& generate = state.lab<GenerateTabState>();
    generate.asked_cache.reset();
    generate.asked_lens.reset();
    generate.running = false;
}

std::optional<Suggestion> suggest(const Session& session) {
    if (!generation_obstacle(session.shown().scenario).empty()) return std::nullopt;
    return Suggestion{.title = tr("See which token comes next, and why")};
}

bool can_generate(const Session& session) { return generation_obstacle(session.shown().scenario).empty(); }

// An action on the text, which also opens the tab that shows it.
std::function<void(const Session&, ViewState&, Commands&)> on_this_tab(
    std::function<void(const Session&, ViewState&, Commands&)> run) {
    return [run = std::move(run)](const Session& session, ViewState& state, Commands& commands) {
        state.tab = kGenerateLab;
        run(session, state, commands);
    };
}

std::vector<Action> actions_of_text() {
    return {{.label = message("Generate one token"),
             .key = Key::period,
             .repeats = true,
             .enabled = can_generate,
             .run = on_this_tab(
                 [](const Session& session, ViewState&, Commands& commands) { generate_token(session, commands); })},
            {.label = message("Step back one token"),
             .key = Key::comma,
             .repeats = true,
             .enabled = can_generate,
             .run = on_this_tab(
                 [](const Session& session, ViewState&, Commands& commands) { step_back(session, commands); })},
            {.label = message("Generate until the end, or stop"),
             .key = Key::r,
             .enabled = can_generate,
             .run = on_this_tab([](const Session&, ViewState& state, Commands&) {
                 GenerateTabState& generate = state.lab<GenerateTabState>();
                 generate.running = !generate.running;
             })}};
}

}  // namespace

Lab generate_lab() {
    return {.id = kGenerateLab,
            .title = message("Generate"),
            .question = message("Which token comes next, and why?"),
            .key = Key::g,
            .term = "generation",
            .draw = draw_generate_tab,
            .least_height = [](float) { return 400.0F; },
            .inspect = inspect_generation,
            .suggest = suggest,
            .leave = leave,
            .add_exports = add_exports,
            .actions = actions_of_text,
            .computes = true};
}

}  // namespace decoderscope
