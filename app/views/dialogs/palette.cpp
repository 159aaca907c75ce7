#include "app/core/compare/shown_comparison.h"
#include "app/core/glossary/glossary.h"
#include "app/core/sheet/draft.h"
#include "app/core/text/finding.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/books.h"
#include "app/views/tabs/ask/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::dialogs {

namespace {

using Entries = std::vector<PaletteEntry>;

// Steps, and the weights and inputs that they read.
void add_steps(const core::Session& session, Entries& entries) {
    for (const Step& step : session.shown().run->plan().steps()) {
        core::Command goes = core::command::GoTo{step.name};
        if (step.is_source()) goes = core::command::Follow{step.name, Cell(step.axes.size(), 0)};
        entries.push_back({step.name, step.is_source() ? tr("weight or input") : tr("step"), false,
                           [goes = std::move(goes)](const core::Session&, ViewState& state, Commands& commands) {
                               state.tab = core::files::kStepTab;
                               commands.push_back(goes);
                           }});
    }
}

void add_notes(const core::Session& session, Entries& entries) {
    for (const core::Note& note : session.notes()) {
        const std::optional<core::Command> goes = core::command_to(note, *session.shown().run);
        if (!goes) continue;
        const std::string place = core::place_text(note);
        entries.push_back({note.text.empty() ? place : place + ": " + note.text,
                           note.text.empty() ? tr("watched number") : tr("note"), false,
                           [goes = *goes](const core::Session&, ViewState& state, Commands& commands) {
                               state.tab = core::files::kStepTab;
                               commands.push_back(goes);
                           }});
    }
}

void add_models(const ViewState& state, Entries& entries) {
    const auto add = [&](const std::string& name, core::Command opens) {
        entries.push_back({name, tr("model"), false,
                           [opens = std::move(opens)](const core::Session&, ViewState&, Commands& commands) {
                               commands.push_back(opens);
                           }});
    };
    for (const load::BundledModel& model : load::bundled_models())
        add(model.name, core::command::OpenModel{model.name, {}});
    for (const std::string& path : state.settings.recent) add(path, core::opening_command(path));
}

void add_settings(const ViewState& state, Entries& entries) {
    const auto add = [&](const Sentence& name, std::function<void(core::files::Settings&)> change) {
        entries.push_back({tr(name), tr("setting"), false,
                           [change = std::move(change)](const core::Session&, ViewState& changed, Commands&) {
                               change(changed.settings);
                           },
                           name.english()});
    };
    add(message("Theme: same as the system"), [](core::files::Settings& s) { s.dark.reset(); });
    add(message("Theme: dark"), [](core::files::Settings& s) { s.dark = true; });
    add(message("Theme: light"), [](core::files::Settings& s) { s.dark = false; });
    add(message("Colour map: Viridis"), [](core::files::Settings& s) { s.sequential = core::ColorMap::viridis; });
    add(message("Colour map: Cividis"), [](core::files::Settings& s) { s.sequential = core::ColorMap::cividis; });
    for (const float size : text_sizes())
        if (size <= state.largest_text)
            add(message("Text size: {percent} %", {{"percent", std::lround(size * 100.0F)}}),
                [size](core::files::Settings& s) { s.text_scale = size; });
    add(message("Motion: same as the desktop"), [](core::files::Settings& s) { s.reduced_motion.reset(); });
    add(message("Motion: reduced"), [](core::files::Settings& s) { s.reduced_motion = true; });
    add(message("Motion: full"), [](core::files::Settings& s) { s.reduced_motion = false; });
    if (state.languages.size() < 2) return;
    add(message("Language: same as the system"), [](core::files::Settings& s) { s.language.clear(); });
    for (const core::language::Language& language : state.languages)
        add(message("Language: {language}", {{"language", language.name}}),
            [code = language.code](core::files::Settings& s) { s.language = code; });
}

// What a word means, and the lessons.
void add_terms_and_lessons(Entries& entries) {
    for (const core::glossary::GlossaryTerm& term : core::glossary::glossary())
        entries.push_back(
            {tr("What is it: {term}", {{"term", Sentence(term.name)}}), tr("word"), false,
             [id = term.id](const core::Session&, ViewState& state, Commands&) { open_glossary(state, id); },
             std::string(term.name.english()), std::string(term.name.english())});
}

// Questions that a row answers.
void add_rows(const core::Session& session, Entries& entries) {
    for (const core::sheet::ReadyRow& ready : core::sheet::ready_rows(session.shown(), &session.step()))
        entries.push_back({tr(ready.question), tr("row"), false,
                           [row = ready.row](const core::Session& now, ViewState& state, Commands& commands) {
                               state.tab = core::files::kStepTab;
                               commands.push_back(core::command::MakeEdit{
                                   row, {core::sheet::row_beside(now.shown(), now.step(), row), {}, {}}});
                           },
                           ready.question.english(), ready.words + " " + ready.question.english()});
}

// Questions that a sweep answers.
void add_sweeps(const core::Session& session, Entries& entries) {
    if (session.shown().scenario.recorded() != nullptr) return;
    for (const core::ask::ReadyQuestion& ready : ask::questions_that_fit(session)->fitting)
        entries.push_back({tr(ready.title), tr("sweep"), false,
                           [question = ready.question](const core::Session&, ViewState& state, Commands&) {
                               ask::open_question(state, question);
                           },
                           ready.title.english(), ready.words + " " + ready.title.english()});
}

// The keys of the model's configuration, with the values that they can have instead. Returns whether they were there:
// they are tried out first.
bool add_options(const core::Session& session, Entries& entries) {
    const core::Snapshot& shown = session.shown();
    const auto others = core::diff::shown_alternatives(session.derived(), shown.scenario, shown.run);
    if (!others) return false;
    for (const auto& [key, value] : others->options)
        entries.push_back({tr("{key} = {value}", {{"key", key}, {"value", value}}), tr("configuration"), false,
                           [key = key, value = value](const core::Session&, ViewState&, Commands& commands) {
                               commands.push_back(core::command::SetOption{key, value});
                           }});
    return true;
}

constexpr float kPaletteWidth = 560.0F;

// A call, or a sign that no words have: "entropy(x)", "q @ k.mT". (A key of the configuration has "=", too.)
bool is_formula(std::string_view typed) {
    const std::size_t open = typed.find('(');
    return typed.find_first_of(R"(@*^\)") != std::string_view::npos ||
           (open != std::string_view::npos && open > 0 && typed[open - 1] != ' ');
}

const PaletteEntry& found_entry(const PaletteState& palette, std::size_t at) {
    const std::size_t found = palette.found[at];
    return found < palette.entries.size() ? palette.entries[found] : palette.as_row;
}

void search(PaletteState& palette) {
    const std::string typed = palette.typed.data();
    if (palette.searched && palette.found_for == typed) return;
    palette.found = best_matches(palette.entries, typed);
    if (is_formula(typed)) {
        palette.as_row = {tr("Add a row: {formula}", {{"formula", typed}}), tr("row"), true,
                          [typed](const core::Session& session, ViewState& state, Commands&) {
                              write_row(session, state);
                              state.part<FormulaEditorState>().draft.formula = typed;
                          }};
        palette.found.insert(palette.found.begin(), palette.entries.size());
    }
    palette.found_for = typed;
    palette.searched = true;
    palette.chosen = 0;
    palette.scrolls = true;
}

// The found entries, as many as there is room for; the others by scrolling. Returns the one that was clicked.
const PaletteEntry* draw_found(const Ui& ui, PaletteState& palette, float width, float room) {
    const PaletteEntry* clicked = nullptr;
    const float line = ImGui::GetTextLineHeightWithSpacing();
    const float height = std::min(line * static_cast<float>(palette.found.size()) + ui.px(4), room);
    compat::begin_child("found", {width, height});
    if (palette.scrolls) {
        const float top = line * static_cast<float>(palette.chosen), scroll = ImGui::GetScrollY();
        if (top < scroll) ImGui::SetScrollY(top);
        if (top + line > scroll + height) ImGui::SetScrollY(top + line - height);
        palette.scrolls = false;
    }
    const float right = ImGui::GetContentRegionAvail().x;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(palette.found.size()), line);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const PaletteEntry& entry = found_entry(palette, at);
            const float note = compat::text_size(ui.fonts.mono_small, entry.note).x;
            const std::string name = fitted(ui.fonts.text, entry.name, right - note - ui.px(16));
            const bool chosen = at == palette.chosen;
            if (press_row(labelled(name, std::to_string(i)).c_str(), chosen)) clicked = &entry;
            ImGui::SameLine();
            ImGui::SetCursorPosX(right - note - ui.px(4));
            text_line({ui.fonts.mono_small, ui.theme.muted}, entry.note);
        }
    ImGui::EndChild();
    return clicked;
}

}  // namespace

std::vector<std::size_t> best_matches(const Entries& entries, std::string_view typed) {
    std::vector<core::Findable> names;
    for (const PaletteEntry& entry : entries) names.push_back({entry.name, entry.english, entry.words, entry.first});
    return core::best_matches(names, typed);
}

Entries palette_entries(const core::Session& session, const ViewState& state) {
    Entries entries;
    for (const Action& action : actions())
        if (action.listed && action.enabled(session))
            entries.push_back({tr(action.label), chord_text(action), true, action.run, action.label.english(),
                               action.label.english() + " " + std::string(action.words)});
    add_steps(session, entries);
    add_notes(session, entries);
    add_models(state, entries);
    add_settings(state, entries);
    add_terms_and_lessons(entries);
    add_rows(session, entries);
    add_sweeps(session, entries);
    return entries;
}

void draw_palette_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    PaletteState& palette = state.part<PaletteState>();
    if (state.dialog_opens) {
        palette = {};
        palette.entries = palette_entries(session, state);
        compat::take_keyboard();
    }
    if (!palette.has_options && add_options(session, palette.entries)) {
        palette.has_options = true;
        palette.searched = false;
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float width = std::clamp(screen.x - ui.px(48), ui.px(200), ui.px(kPaletteWidth));
    ImGui::SetNextItemWidth(width);
    const char* hint = tr("an action, step, weight, model or setting");
    focusable_field("##search", palette.typed.data(), hint);
    ImGui::InputTextWithHint("##search", hint, palette.typed.data(), palette.typed.size());
    note_glyphs(ImGui::GetFont(), palette.typed.data());
    search(palette);
    if (palette.found.empty()) text_line(ui.note(), tr("No matches"));
    const auto chosen_before =
        std::exchange(palette.chosen,
                      static_cast<std::size_t>(row_by_arrows(static_cast<int>(palette.chosen), palette.found.size())));
    palette.scrolls = palette.scrolls || palette.chosen != chosen_before;
    const float below = screen.y - ImGui::GetCursorScreenPos().y - ui.px(40);
    const PaletteEntry* chosen = draw_found(ui, palette, width, std::max(below, ui.px(60)));
    if (pressed(Key::enter) && palette.chosen < palette.found.size()) chosen = &found_entry(palette, palette.chosen);
    if (chosen == nullptr && !pressed(Key::escape)) return;
    const auto run = chosen == nullptr ? decltype(PaletteEntry::run)() : chosen->run;
    palette = {};
    state.dialog = Dialog::none;
    ImGui::CloseCurrentPopup();
    if (run) run(session, state, commands);
}

}  // namespace decoderscope::views::dialogs
