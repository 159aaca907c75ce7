#include "app/views/tabs/generate/tab.h"

#include "app/core/generate/generator.h"
#include "app/core/generate/sampling.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/books.h"
#include "app/views/frame/stale.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace decoderscope::views::generate {

namespace {

void add_exports(ExportScene& scene) {
    const GenerateTabState& generate = scene.state.part<GenerateTabState>();
    if (generate.passes && !generate.passes.stale() && !generate.passes.answer()->number.empty())
        scene.add(tr("The chosen cell, pass by pass"), "history",
                  [scenario = scene.shown.scenario, passes = generate.passes.answer()] {
                      return core::generate::history_exhibit(scenario, *passes);
                  });
    if (!core::generate::generation_obstacle(scene.shown.scenario).empty()) return;
    const Index row = scene.place.batch;
    if (generate.page == GeneratePage::cache)
        scene.add(tr("k and v of this layer and head"), "kv-cache",
                  [shown = scene.shown, layer = generate.layer, place = scene.place] {
                      return core::generate::cache_exhibit(shown, layer, place);
                  });
    if (generate.page == GeneratePage::beams && generate.found && !generate.found.stale() &&
        !generate.found.answer()->tree.finished.empty())
        scene.add(tr("The texts that beam search found"), "beams",
                  [scenario = scene.shown.scenario, found = generate.found.answer()] {
                      return core::generate::beams_exhibit(scenario, found->tree);
                  });
    const auto messages =
        core::generate::shown_conversation(scene.session.derived(), scene.shown.scenario, scene.shown.run);
    if (generate.page == GeneratePage::messages && messages && messages->loss)
        scene.add(tr("The loss of each trained token"), "losses", [shown = scene.shown, messages, row] {
            return core::generate::losses_exhibit(shown.scenario, *messages, row);
        });
    const core::Companion* lens = scene.session.shown().companion(kLensRun);
    if (generate.page == GeneratePage::lens && lens != nullptr)
        scene.add(tr("The logit lens"), "logit-lens", [shown = scene.shown, run = lens->run, row] {
            return core::generate::lens_exhibit(shown, run, row);
        });
    scene.add_if_any(tr("The next token's probabilities"), "next-token",
                     [&] { return core::generate::next_token_exhibit(scene.shown, row, scene.session.sampling()); });
}

core::CompanionRuns companion_runs(const core::Session& session, const ViewState& state) {
    const GenerateTabState& tab = state.part<GenerateTabState>();
    if (!core::generate::generation_obstacle(session.shown().scenario).empty()) return {};
    if (tab.page == GeneratePage::lens) return {{kLensRun, core::Variation{.logit_lens = true}}};
    return {};
}

void leave(ViewState& state) {
    GenerateTabState& tab = state.part<GenerateTabState>();
    tab.running = false;
    tab.lens = {};
    tab.proof = {};
    tab.passes = {};
    tab.found = {};
    tab.speculated = {};
    tab.beam.reset();
}

std::optional<Suggestion> suggest(const core::Session& session) {
    if (!core::generate::generation_obstacle(session.shown().scenario).empty()) return std::nullopt;
    return Suggestion{.title = tr("See which token comes next, and why")};
}

bool can_generate(const core::Session& session) {
    return core::generate::generation_obstacle(session.shown().scenario).empty();
}

bool can_be_cut(const core::Session& session) {
    return session.fitting_scenario().computes() && session.fitting_scenario().config().causal;
}

// An action on the text, which also opens the tab that shows it.
std::function<void(const core::Session&, ViewState&, Commands&)> on_this_tab(
    std::function<void(const core::Session&, ViewState&, Commands&)> run) {
    return [run = std::move(run)](const core::Session& session, ViewState& state, Commands& commands) {
        state.tab = kGenerateTab;
        run(session, state, commands);
    };
}

Action opens_page(Sentence label, GeneratePage page, bool (*enabled)(const core::Session&),
                  std::string_view words = {}) {
    return {.label = std::move(label),
            .words = words,
            .enabled = enabled,
            .run = on_this_tab([page](const core::Session&, ViewState& state, Commands&) {
                state.part<GenerateTabState>().page = page;
            })};
}

std::vector<Action> actions_of_text() {
    return {
        {.label = message("Generate one token"),
         .key = Key::period,
         .repeats = true,
         .enabled = can_generate,
         .run = on_this_tab(
             [](const core::Session& session, ViewState&, Commands& commands) { generate_token(session, commands); })},
        {.label = message("Step back one token"),
         .key = Key::comma,
         .repeats = true,
         .enabled = can_generate,
         .run = on_this_tab(
             [](const core::Session& session, ViewState&, Commands& commands) { step_back(session, commands); })},
        {.label = message("Generate to the end, or stop"),
         .key = Key::r,
         .enabled = can_generate,
         .run = on_this_tab([](const core::Session&, ViewState& state, Commands&) {
             GenerateTabState& generate = state.part<GenerateTabState>();
             generate.running = !generate.running;
         })},
        opens_page(message("Next token: what temperature, top-k and top-p leave"), GeneratePage::next_token,
                   can_generate),
        opens_page(message("Speculative decoding: a draft, and what the model accepts"), GeneratePage::draft,
                   can_generate),
        opens_page(message("Passes: the text in parts, each reading the cache"), GeneratePage::passes, can_be_cut),
        {.label = message("Next pass over the text"),
         .key = Key::right_bracket,
         .repeats = true,
         .enabled = can_be_cut,
         .run = [](const core::Session& session, ViewState&, Commands& commands) { go_to_pass(session, 1, commands); }},
        {.label = message("Previous pass, or the whole text"),
         .key = Key::left_bracket,
         .repeats = true,
         .enabled = can_be_cut,
         .run = [](const core::Session& session, ViewState&,
                   Commands& commands) { go_to_pass(session, -1, commands); }},
        opens_page(message("Messages, chat template and labels"), GeneratePage::messages, can_generate),
        opens_page(message("Beams: several continuations at once, and which is likeliest"), GeneratePage::beams,
                   can_generate),
        opens_page(message("KV cache: what is kept for the tokens to come"), GeneratePage::cache, can_generate),
        opens_page(message("Logit lens, or a fitted (tuned) lens: what each layer would predict"), GeneratePage::lens,
                   can_generate, R"(know knows known already early after layer block depth decide decides decided)")};
}

// Messages, also as `python3 -m decoderscope chat` wrote them; and a fitted lens.
std::optional<core::Command> take_file(const core::Session& session, ViewState& state, const std::string& path) {
    GenerateTabState& generate = state.part<GenerateTabState>();
    if (generate.page == GeneratePage::lens && path.ends_with(".safetensors") && can_generate(session))
        return core::command::UseLens{path};
    const bool json = path.ends_with(".json") || path.ends_with(".jsonl");
    if (!json || generate.page != GeneratePage::messages || !can_generate(session)) return std::nullopt;
    return take_messages(generate.messages, session.shown().scenario.model(), path);
}

constexpr double kSecondsPerToken = 0.35;

core::Value<core::generate::ShownNextToken> next_token_of(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    return core::generate::shown_next_token(session.derived(), shown.scenario, shown.run, session.cursor().place.batch,
                                            session.sampling());
}

// While it runs, generates a token at intervals.
void run_on(const core::Session& session, ViewState& state, Commands& commands) {
    GenerateTabState& tab = state.part<GenerateTabState>();
    const double now = ImGui::GetTime();
    if (!tab.running) {
        tab.next_token_at = now;
        return;
    }
    if (session.stale() || now < tab.next_token_at) return;
    tab.next_token_at = now + kSecondsPerToken;
    tab.running = generate_token(session, commands);
}

void draw_obstacle(const Ui& ui, Area area, const std::string& obstacle) {
    const float width = std::min(area.width(), ui.px(500)), x = area.low.x + (area.width() - width) * 0.5F;
    const float y = area.low.y + std::max(ui.px(24), area.height() * 0.22F);
    draw_text(ui, ui.title(), {x, y}, tr("Nothing to generate"), width);
    const float below = draw_prose(ui, {x, y + ui.px(34)}, width, ui.theme.muted, obstacle, 4);
    draw_prose(ui, {x, below + ui.px(8)}, width, ui.theme.muted,
               tr("A model with tokens, a causal mask and a language head continues a text here, token by token."), 3);
}

void say(const Ui& ui, ViewState& state, const std::vector<Sentence>& sentences) {
    for (const Sentence& sentence : sentences) {
        say(ui, state, ui.body(), tr(sentence));
        ImGui::Dummy({1, ui.px(2)});
    }
}
void say(const GenerateScene& scene, const std::vector<Sentence>& sentences) { say(scene.ui, scene.state, sentences); }

// A link to one number of the output, explained in the Step tab.
void link_to(const GenerateScene& scene, const std::string& text, const char* tensor, Index token, int id) {
    if (scene.run().plan().find(tensor) == nullptr) return;
    if (!link(scene.ui, {scene.ui.fonts.caption, scene.ui.theme.accent}, text, id)) return;
    scene.state.tab = core::files::kStepTab;
    scene.commands.push_back(core::command::Follow{tensor, {scene.row, scene.length - 1, token}});
}

struct ShownTemperature {
    core::generate::TemperatureFor found;
};

void choose_wanted(const GenerateScene& scene, const std::vector<core::generate::Candidate>& candidates) {
    const Ui& ui = scene.ui;
    GenerateTabState& tab = scene.tab();
    constexpr std::size_t kMost = 20;
    tab.wanted_rank = std::min(tab.wanted_rank, candidates.size() - 1);
    ImGui::SetNextItemWidth(ui.px(110));
    if (begin_list("##wanted", scene.piece(candidates[tab.wanted_rank].token).c_str(), ImGuiComboFlags_HeightLarge)) {
        for (std::size_t rank = 0; rank < std::min(kMost, candidates.size()); ++rank)
            if (press_row(labelled(scene.piece(candidates[rank].token), std::to_string(rank)).c_str(),
                          rank == tab.wanted_rank))
                tab.wanted_rank = rank;
        ImGui::EndCombo();
    }
    ImGui::SameLine(0, ui.px(6));
    ImGui::SetNextItemWidth(ui.px(76));
    const char* tip = tr("The probability that you want, from 0 to 1, before top-k and top-p");
    focusable_field("##probability", core::short_number_text(static_cast<double>(tab.wanted_probability), 3), tip);
    ImGui::InputFloat("##probability", &tab.wanted_probability, 0.0F, 0.0F, "%.3g");
    tab.wanted_probability = std::clamp(tab.wanted_probability, 0.0F, 1.0F);
    tooltip(tip);
}

// Which temperature gives a token a probability, and one click that sets it.
void solve_temperature(const GenerateScene& scene, const std::vector<core::generate::Candidate>& candidates) {
    if (candidates.size() < 2) return;
    const Ui& ui = scene.ui;
    section_line(ui);
    paragraph(ui.note(), tr("At which temperature does a token get this probability?"));
    choose_wanted(scene, candidates);
    const std::size_t rank = scene.tab().wanted_rank;
    const auto wanted = static_cast<double>(scene.tab().wanted_probability);
    const core::Value<ShownTemperature> shown = scene.session.derived().get<ShownTemperature>(
        {scene.session.shown().run}, std::make_tuple(scene.row, scene.length, rank, scene.tab().wanted_probability),
        [&] { return ShownTemperature{core::generate::temperature_for(candidates, rank, wanted)}; });
    paragraph(ui.body(),
              tr(core::generate::temperature_sentence(shown->found, scene.piece(candidates[rank].token), wanted)));
    for (std::size_t i = 0; i < shown->found.reached_at.size(); ++i) {
        const double temperature = shown->found.reached_at[i];
        const std::string text =
            tr("Set it to {temperature} →", {{"temperature", core::short_number_text(temperature, 3)}});
        if (!link(ui, {ui.fonts.caption, ui.theme.accent}, text, 10 + static_cast<int>(i))) continue;
        core::generate::Sampling sampling = scene.session.sampling();
        sampling.temperature = temperature;
        scene.commands.push_back(core::command::SetSampling{sampling});
    }
}

void say_next_token(const GenerateScene& scene) {
    if (const std::string end = why_text_ends(scene.scenario(), scene.row); !end.empty())
        return paragraph(scene.ui.body(), end);
    const auto piece = [&](Index token) { return scene.piece(token); };
    const std::vector<Sentence> sentences = core::generate::next_token_sentences(*scene.next, piece);
    if (sentences.empty()) return paragraph(scene.ui.hint(), tr("There is nothing to draw from."));
    say(scene, sentences);
    const Index first = scene.next->next->candidates.front().token;
    const std::string token = piece(first);
    link_to(scene, tr("Explain the logit of “{token}” →", {{"token", token}}), "logits", first, 1);
    link_to(scene, tr("Explain the probability of “{token}” →", {{"token", token}}), "probs", first, 2);
    solve_temperature(scene, scene.next->next->candidates);
}

void say_lens(const GenerateScene& scene) {
    const core::Companion* lens = scene.session.shown().companion(kLensRun);
    const auto table = lens != nullptr
                           ? core::generate::shown_lens(scene.session.derived(), lens->run, scene.row, scene.length)
                           : core::Value<core::generate::LensTable>();
    if (!table) return paragraph(scene.ui.hint(), tr("Computing …"));
    say(scene,
        core::generate::lens_sentences(*table, scene.length - 1, [&](Index token) { return scene.piece(token); }));
}

void say_cache(const GenerateScene& scene) {
    const std::string attention = core::generate::cached_attention(scene.run().plan(), scene.tab().layer);
    const Tensor& k = scene.run().value(attention, AttentionStep::key);  // [batch, kv_head, pos, d_head]
    if (k.rank() != 4) return;
    say(scene,
        {message("What is cached of layer {layer}: a key and a value of {width} numbers for each position and each of "
                 "{heads} heads. Later positions can't change them, because the causal mask hides what comes later.",
                 {{"layer", scene.tab().layer}, {"width", k.dim(3)}, {"heads", k.dim(1)}})});
}

// The newest position, and the token that stands there.
std::string heading_of(const GenerateScene& scene) {
    return tr("After “{token}”, position {position}",
              {{"token", scene.piece(scene.token_at(scene.length - 1))}, {"position", scene.length - 1}});
}

// What is shown below the text: by the page that is chosen.
struct Page {
    Phrase title, heading;  // of its button, and above it
    void (*draw)(const GenerateScene& scene, Area area);
    void (*say)(const GenerateScene& scene);  // beside it
};
const std::array kPages = {
    Page{message("Next token"), message("Which token comes next"), draw_next_token, say_next_token},
    Page{message("Messages"), message("What of a conversation is trained"), draw_messages,
         [](const GenerateScene& scene) { say(scene, message_sentences(scene)); }},
    Page{message("Beams"), message("Which texts beam search keeps"), draw_beams,
         [](const GenerateScene& scene) { say(scene, beam_sentences(scene)); }},
    Page{message("Draft"), message("What a draft saves"), draw_draft,
         [](const GenerateScene& scene) { say(scene, draft_sentences(scene)); }},
    Page{message("KV cache"), message("What is kept of each position"), draw_cache, say_cache},
    Page{message("Passes"), message("The text in passes"),
         [](const GenerateScene& scene, Area area) {
             draw_passes(scene.ui, scene.session, scene.state, area, scene.commands);
         },
         [](const GenerateScene& scene) { say(scene, pass_sentences(scene.state)); }},
    Page{message("Logit lens"), message("What each layer would say"), draw_lens, say_lens}};

const Page& page_of(const GenerateScene& scene) { return kPages[static_cast<std::size_t>(scene.tab().page)]; }

// The choices of the page and of the batch row. Returns the height used.
float draw_pages(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    std::vector<const char*> titles;
    for (const Page& page : kPages) titles.push_back(tr(page.title));
    ImGui::SetCursorScreenPos(area.low);
    const int clicked = segmented(ui, "page", titles, static_cast<int>(scene.tab().page), area.width());
    if (clicked >= 0) scene.tab().page = static_cast<GeneratePage>(clicked);
    const Index rows = scene.scenario().inputs.batch();
    if (rows > 1) {
        const float right = ImGui::GetItemRectMax().x + ui.px(20);
        if (right + counter_width(ui, tr("batch row"), scene.row, rows) <= area.high.x)
            ImGui::SameLine(0, ui.px(20));
        else
            ImGui::SetCursorScreenPos({area.low.x, ImGui::GetItemRectMax().y + ui.px(6)});
        if (const int moved = counter(ui, tr("batch row"), scene.row, rows); moved != 0)
            scene.commands.push_back(core::command::ChooseBatch{scene.row + moved});
    }
    return ImGui::GetItemRectMax().y - area.low.y;
}

// The scene of the cursor's batch row; only where generation_obstacle() is empty.
GenerateScene generate_scene(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const Index row = session.cursor().place.batch;
    return {ui,
            session,
            state,
            commands,
            row,
            core::generate::row_length(session.shown().scenario.inputs, row),
            next_token_of(session)};
}

void draw_generate_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    state.hovered.reset();
    const float pad = ui.px(16), gap = ui.px(10);
    const Area inner = {{area.low.x + pad, area.low.y + gap}, {area.high.x - pad, area.high.y - ui.px(8)}};
    const core::Scenario& scenario = session.shown().scenario;
    if (core::shown_pass(session.fitting_scenario()) != nullptr)
        return draw_passes(ui, session, state, inner, commands);
    if (const std::string obstacle = tr(core::generate::generation_obstacle(scenario)); !obstacle.empty()) {
        state.part<GenerateTabState>().running = false;
        draw_obstacle(ui, inner, obstacle);
        return;
    }
    const GenerateScene scene = generate_scene(ui, session, state, commands);
    run_on(session, state, commands);
    float y = inner.low.y;
    const auto rest = [&] { return Area{{inner.low.x, y}, inner.high}; };
    if (inner.height() >= ui.px(420)) y += draw_titled(ui, {tr(page_of(scene).heading), {}}, {}, rest());
    y += draw_generate_controls(scene, rest()) + gap;
    state.paced = state.paced || scene.tab().running;
    y += draw_pages(scene, rest()) + gap;  // above the text: another row's may have more lines
    y += draw_generated_text(scene, rest()) + gap;
    const Area page = rest();
    // What is being typed must not stop while the run follows.
    if (scene.tab().page == GeneratePage::messages) return draw_messages(scene, page);
    const auto draw = page_of(scene).draw;
    if (!session.stale()) return draw(scene, page);
    draw_stale(
        ui, "coming-tokens", page, [&](Commands& unheard) { draw(generate_scene(ui, session, state, unheard), page); },
        computing(ui));
}

// What the inspector says beside the tab: why this token comes next, what the lens says, what the cache keeps.
void inspect_generation(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const core::Scenario& scenario = session.shown().scenario;
    term_line(ui, state, ui.title(), tr("Generate"), core::glossary::find_term("generation"));
    if (core::shown_pass(session.fitting_scenario()) != nullptr) return say(ui, state, pass_sentences(state));
    if (const std::string obstacle = tr(core::generate::generation_obstacle(scenario)); !obstacle.empty())
        return paragraph(ui.hint(), obstacle);
    const GenerateScene scene = generate_scene(ui, session, state, commands);
    paragraph(ui.note(), heading_of(scene));
    section_line(ui);
    page_of(scene).say(scene);
}

}  // namespace

Tab generate_tab() {
    return {
        .id = kGenerateTab,
        .title = message("Generate"),
        .question = message("Which token comes next, and why?"),
        .key = Key::g,
        .words = R"(temperature sampling random randomness creative top-k top-p write continue next word less more)",
        .term = "generation",
        .draw = draw_generate_tab,
        .least_height = [](const core::Session&) { return 400.0F; },
        .inspect = inspect_generation,
        .suggest = suggest,
        .companion_runs = companion_runs,
        .leave = leave,
        .add_exports = add_exports,
        .actions = actions_of_text,
        .computes = true,
        .take_file = take_file};
}

std::string GenerateScene::piece(Index token) const { return core::token_text(scenario().tokenizer(), token); }

Index GenerateScene::token_at(Index position) const {
    return static_cast<Index>(scenario().inputs.tokens.at(Cell{row, position}));
}

std::string why_text_ends(const core::Scenario& scenario, Index row) {
    if (const Sentence full = core::generate::row_is_full(scenario, row); !full.empty()) return tr(full);
    return core::generate::has_ended(scenario, row) ? tr("The text has ended: its last token marks the end.") : "";
}

bool generate_token(const core::Session& session, Commands& commands) {
    const core::Scenario& scenario = session.shown().scenario;
    const Index row = session.cursor().place.batch;
    if (!core::generate::generation_obstacle(scenario).empty() || session.stale()) return false;
    const core::Value<core::generate::ShownNextToken> shown = next_token_of(session);
    if (!shown->next || !why_text_ends(scenario, row).empty()) return false;
    commands.push_back(core::command::AppendToken{row, shown->next->candidates[shown->draw.rank].token});
    return true;
}

void step_back(const core::Session& session, Commands& commands) {
    const Index row = session.cursor().place.batch;
    const core::Scenario& scenario = session.shown().scenario;
    if (core::generate::generation_obstacle(scenario).empty() && core::generate::row_length(scenario.inputs, row) > 1)
        commands.push_back(core::command::RemoveLastToken{row});
}

}  // namespace decoderscope::views::generate
