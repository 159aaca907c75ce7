#include "app/views/inspector/inspector.h"

#include "app/core/compare/transformer_lens.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/sheet/draft.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/frame/answer_view.h"
#include "app/views/frame/books.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <tuple>

namespace decoderscope::views::inspector {

namespace {

// The selected cell, if the step that is shown has it.
std::optional<Cell> selected_cell(const core::Session& session) {
    const Tensor& values = session.shown().run_of(session.step()).value(session.step().id);
    const std::optional<Cell>& cell = session.cursor().cell;
    return cell && !values.empty() && values.contains(*cell) ? cell : std::nullopt;
}

// A part of the panel, whose links are numbered by themselves.
template <class Draw>
void numbered_anew(const char* part, const Draw& draw) {
    ImGui::PushID(part);
    draw();
    ImGui::PopID();
}

// The path to this cell; each stop is a link back.
void breadcrumb(const Ui& ui, const core::Session& session, Commands& commands) {
    const auto& trail = session.trail();
    if (trail.empty()) return;
    for (std::size_t i = 0; i < trail.size(); ++i) {
        const std::string name = trail[i].cell ? cell_name(trail[i].step, *trail[i].cell) : trail[i].step;
        if (trail.size() > 4 && i > 0 && i + 2 < trail.size()) {
            if (i == 1) text_line({ui.fonts.mono_small, ui.theme.muted}, "…");
            continue;
        }
        if (link(ui, {ui.fonts.mono_small, ui.theme.accent},
                 fitted(ui.fonts.mono_small, "← " + name, ImGui::GetContentRegionAvail().x), static_cast<int>(i)))
            commands.push_back(core::command::GoBack{trail.size() - i});
    }
}

// What the cell was without edits, if that differs.
std::string value_without_edits(const core::Session& session, const Step& step, const Cell& cell, float value) {
    const Tensor& before = session.shown().unedited->value(step.name);
    if (before.empty() || !before.contains(cell)) return {};
    if (std::memcmp(&before.values()[static_cast<std::size_t>(before.offset(cell))], &value, sizeof value) == 0)
        return {};
    return tr("without edits {value}", {{"value", core::step::exact_number(before.at(cell))}});
}

// Where the chosen number was computed, if a pass found it in the cache.
std::optional<core::Written> written_here(const core::Session& session) {
    const std::optional<Cell> cell = selected_cell(session);
    const core::Snapshot& shown = session.shown();
    return cell ? core::written_before(shown.scenario, shown.run->plan(), session.step(), *cell) : std::nullopt;
}

void link_to_writer(const Ui& ui, const core::Session& session, Commands& commands) {
    const std::optional<core::Written> written = written_here(session);
    if (!written) return;
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr(core::words_of(*written)) + " →", -13))
        commands.push_back(core::command::ShowPass{session.shown().scenario.passes->sizes,
                                                   written->pass,
                                                   {written->step, session.cursor().place, written->cell}});
}

// The answer: who and whom in words, the number, and where that is. Lines that may be empty keep their place: what is
// pressed below stays where it is.
void answer(const Ui& ui, const core::Session& session, const Cell& cell, Commands& commands) {
    const Step& step = session.step();
    const float value = session.shown().run_of(step).value(step.id).at(cell);
    breadcrumb(ui, session, commands);
    const auto place = core::step::shown_place(session.derived(), session.shown(), step, cell);
    paragraph(ui.title(), place->answer);
    text_line(ui.title(), core::step::exact_number(value));
    if (!place->value.empty()) text_line(ui.body(), place->value);
    const std::string before = value_without_edits(session, step, cell, value);
    if (before.empty())
        ImGui::Dummy({1, compat::font_size(ui.fonts.caption)});
    else
        text_line(ui.caption(), before);
    if (!place->text.empty()) paragraph(ui.note(), place->text);
    paragraph({ui.fonts.mono_small, ui.theme.muted}, cell_name(step.name, cell));
    link_to_writer(ui, session, commands);
}

// Too many lines can't be read: a sliding window over a long input makes thousands of edits.
constexpr std::size_t kMostListed = 60;

struct GroupedEdits {
    std::vector<core::EditGroup> groups;
};

void line_of_edit(const Ui& ui, const std::string& text, std::vector<std::size_t> numbers, const char* tip, int id,
                  Commands& commands) {
    if (link(ui, {ui.fonts.mono_small, ui.theme.accent}, "×", id))
        commands.push_back(core::command::RemoveEdits{std::move(numbers)});
    tooltip(tip);
    ImGui::SameLine(0, ui.px(6));
    paragraph(ui.number(), text);
}

void and_more(const Ui& ui, std::size_t more) {
    text_line(ui.note(), tr_n("… and {count} more", "… and {count} more", more));
}

// The edits of a group, if it is open.
void list_members(const Ui& ui, const std::vector<Edit>& edits, const core::EditGroup& group, Commands& commands) {
    ImGui::Indent(ui.px(14));
    for (std::size_t i = 0; i < std::min(group.numbers.size(), kMostListed); ++i)
        line_of_edit(ui, describe(edits[group.numbers[i]]), {group.numbers[i]}, tr("Undo this edit"),
                     static_cast<int>(i), commands);
    if (group.numbers.size() > kMostListed) and_more(ui, group.numbers.size() - kMostListed);
    ImGui::Unindent(ui.px(14));
}

void list_group(const Ui& ui, ViewState& state, const std::vector<Edit>& edits, const core::EditGroup& group, int id,
                Commands& commands) {
    if (group.numbers.size() == 1)
        return line_of_edit(ui, tr(group.text), group.numbers, tr("Undo this edit"), id, commands);
    const std::string name = group.text.english();
    std::set<std::string>& listed = state.part<InspectorState>().open_edits;
    const bool open = listed.contains(name);
    ImGui::PushID(id);
    if (link(ui, {ui.fonts.mono_small, ui.theme.muted}, open ? "▾" : "▸", -2) && listed.erase(name) == 0)
        listed.insert(name);
    tooltip(open ? tr("Close the group") : tr("List its edits one by one"));
    ImGui::SameLine(0, ui.px(4));
    line_of_edit(ui, tr(group.text), group.numbers, tr("Undo all of these edits"), -3, commands);
    if (open) list_members(ui, edits, group, commands);
    ImGui::PopID();
}

// The step's formula; if the book has it, a click opens the book there.
void formula_of_step(const Ui& ui, ViewState& state, const OpDescription& about) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    paragraph(ui.number(), about.formula);
    if (about.line.empty()) return;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax(), after = ImGui::GetCursorScreenPos();
    dotted_line(ui, {low.x, high.y}, high.x - low.x, ui.theme.accent);
    if (press_at("formula", {start, high})) open_formulas(state, about.line);
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    tooltip(tr("Shift+F: this formula in the book, with its source"));
    ImGui::SetCursorScreenPos(after);
}

// Another formula for the step, or a row of one's own.
void offer_formulas(const Ui& ui, const core::Session& session, ViewState& state) {
    const Step& step = session.step();
    if (step.is_source() || step.backward) return;
    if (can_be_written(session)) {
        if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Write another …"), -11)) write_formula(session, state);
        tooltip(tr("=: this step's formula, yours to change"));
        ImGui::SameLine(0, ui.px(14));
    }
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Add a row …"), -12)) write_row(session, state);
    tooltip(tr("Shift+R: a row of your own, computed from any others"));
}

// A row's answer before how it comes about: its largest and smallest numbers, with their places in words.
void name_extremes(const Ui& ui, const core::Session& session, Commands& commands) {
    const Step& step = session.step();
    const core::Snapshot& shown = session.shown();
    const core::Value<core::step::Extremes> extremes = core::step::shown_extremes(session.derived(), shown, step);
    int id = 0;
    const auto name = [&](const Phrase& which, const std::optional<Cell>& cell) {
        if (!cell) return;
        const auto place = core::step::shown_place(session.derived(), shown, step, *cell);
        const double number = static_cast<double>(shown.run_of(step).value(step.id).at(*cell)) + 0.0;  // no −0
        if (link(ui, {ui.fonts.text, ui.theme.accent}, tr(Sentence(which, {{"number", short_number(number)}})), id++))
            commands.push_back(core::command::Follow{step.name, *cell});
        paragraph(ui.caption(), place->text);
    };
    name(message("Largest: {number}"), extremes->largest);
    name(message("Smallest: {number}"), extremes->smallest);
}

// The step: its name, shape and formula, and ways to another formula.
void describe_step(const Ui& ui, const core::Session& session, ViewState& state) {
    const Step& step = session.step();
    const OpDescription about = step.operation.about();
    paragraph({ui.fonts.mono_small, ui.theme.muted}, step.name);
    const std::string hook = core::diff::transformer_lens_name(session.shown().run->plan(), step);
    explain_term(ui, state, core::glossary::term_of(step),
                 hook.empty() ? "" : tr("TransformerLens: {name}", {{"name", hook}}));
    paragraph(ui.note(), std::string(about.name) + "   " + shape_text(step.axes) + "  " + axes_text(step.axes));
    ImGui::Dummy({1, ui.px(2)});
    formula_of_step(ui, state, about);
    offer_formulas(ui, session, state);
    ImGui::Dummy({1, ui.px(2)});
}

// What the step is for. Its terms open the glossary.
void teach_step(const Ui& ui, ViewState& state, const Step& step) {
    const OpDescription about = step.operation.about();
    say(ui, state, ui.note(), about.teaches);
}

// While no cell is selected: what the step is.
void introduce_step(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const Step& step = session.step();
    breadcrumb(ui, session, commands);
    const std::optional<Phrase> question = core::sheet::question_of(session.shown(), step);
    paragraph(ui.title(), question ? tr(*question) : core::step::title_of(step));
    if (step.part == Part::own && !session.shown().run_of(step).value(step.id).empty())
        numbered_anew("extremes", [&] { name_extremes(ui, session, commands); });
    if (!step.backward && !step.axes.empty() && step.axes.back().name == axis::vocab)
        answer_box(ui, session.derived(), session.shown().scenario, session.shown().run, session.cursor().place.batch);
    teach_step(ui, state, step);
    paragraph(ui.note(), step.operation.traits().recorded_elsewhere
                             ? tr("Click a cell to see its number here in full.")
                             : tr("Click a cell of the result: it is explained here, down to the weights."));
    section_line(ui);
    describe_step(ui, session, state);
    numbered_anew("vectors", [&] { list_vectors(ui, session, commands); });
}

// The field that types over the number, and whether it was refused. That line keeps its place while it is empty.
void overwrite(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    if (session.step().backward || session.step().operation.traits().recorded_elsewhere) return;
    if (type_over(ui, session, state, commands))
        text_line({ui.fonts.caption, ui.theme.error}, tr("not a number"));
    else
        ImGui::Dummy({1, compat::font_size(ui.fonts.caption)});
}

bool inspects(const Tab* tab, const core::Session& session) {
    return tab != nullptr && tab->inspect != nullptr && has_something(*tab, session);
}

// The buttons at the foot of the panel, which never move: one that is pressed again gives the terms their place back.
void choose_section(const Ui& ui, const core::Session& session, ViewState& state, Area area) {
    struct Choice {
        Section section;
        Phrase title, tip;
        const char* id;
    };
    static const std::array<Choice, 3> choices = {
        Choice{Section::what_if, message("What if"),
               message("Overwrite this number, or leave out what it is made with"), "section-what-if"},
        Choice{Section::why, message("Why"), message("Gradients, who reads this number, and what its row does"),
               "section-why"},
        Choice{Section::more, message("More"), message("The tensor's name, shape and formula, and its rows"),
               "section-more"}};
    Section& section = state.part<InspectorState>().section;
    ImGui::GetWindowDrawList()->AddLine(area.low, {area.high.x, area.low.y}, ui.theme.line);
    ImGui::SetCursorScreenPos({area.low.x + ui.px(12), area.low.y + ui.px(10)});
    const bool has_cell = selected_cell(session).has_value();
    for (const Choice& choice : choices) {
        if (choice.section != Section::what_if) ImGui::SameLine(0, ui.px(8));
        ImGui::BeginDisabled(!has_cell);
        if (toggle_button(ui, labelled(tr(choice.title), choice.id).c_str(), section == choice.section, tr(choice.tip)))
            section = section == choice.section ? Section::terms : choice.section;
        ImGui::EndDisabled();
    }
}

// The edits that were made, in groups, each with a link that undoes it.
void list_edits(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const std::vector<Edit>& edits = session.fitting_scenario().edits;
    if (edits.empty()) return;
    section_line(ui);
    const auto grouped = session.derived().get<GroupedEdits>({session.shown().run}, std::make_tuple(session.changes()),
                                                             [&] { return GroupedEdits{core::edit_groups(edits)}; });
    text_line(ui.note(), tr_n("{count} edit", "{count} edits", grouped->groups.size()));
    ImGui::SameLine();
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("clear all"), -1))
        commands.push_back(core::command::ClearEdits{});
    for (std::size_t i = 0; i < std::min(grouped->groups.size(), kMostListed); ++i)
        list_group(ui, state, edits, grouped->groups[i], static_cast<int>(i), commands);
    if (grouped->groups.size() > kMostListed) and_more(ui, grouped->groups.size() - kMostListed);
}

// The selected cell: the answer, then one of the sections. Without a cell what the step is for, and its rows as
// vectors. Their parts follow.
void inspect_cell(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const std::optional<Cell> cell = selected_cell(session);
    const Section section = state.part<InspectorState>().section;
    const auto note = [&] { numbered_anew("note", [&] { inspect_note(ui, session, state, commands); }); };
    if (!cell) {
        introduce_step(ui, session, state, commands);
        note();
        numbered_anew("gradient", [&] { inspect_gradient(ui, session, state, commands); });
        return;
    }
    answer(ui, session, *cell, commands);
    note();
    section_line(ui);
    switch (section) {
        case Section::terms:
            if (session.step().operation.traits().recorded_elsewhere)
                formula_of_step(ui, state, session.step().operation.about());
            if (session.step().backward)
                numbered_anew("gradient", [&] { inspect_gradient(ui, session, state, commands); });
            numbered_anew("explanation", [&] { explain_cell(ui, session, state, commands); });
            // Of what a pass was given, the trail goes on in the pass that wrote it.
            if (!written_here(session)) teach_step(ui, state, session.step());
            inspect_pattern_row(ui, session);
            break;
        case Section::what_if:
            numbered_anew("type-over", [&] { overwrite(ui, session, state, commands); });
            numbered_anew("what-if", [&] { inspect_what_ifs(ui, session, state, commands); });
            break;
        case Section::why:
            if (!session.step().backward)
                numbered_anew("gradient", [&] { inspect_gradient(ui, session, state, commands); });
            // Below what is pressed, so that it moves nothing of that.
            numbered_anew("slope", [&] { inspect_slope(ui, session, commands); });
            numbered_anew("readers", [&] { inspect_readers(ui, session, commands); });
            inspect_norm(ui, session);
            numbered_anew("weights", [&] { inspect_score_weights(ui, session, commands); });
            inspect_vector(ui, session);
            numbered_anew("history", [&] { inspect_history(ui, session, commands); });
            break;
        case Section::more:
            describe_step(ui, session, state);
            numbered_anew("vectors", [&] { list_vectors(ui, session, commands); });
            break;
    }
}

}  // namespace

float foot_height(const Ui& ui, const core::Session& session, const ViewState& state) {
    // What introduces the model has nothing else beside it.
    const bool closed = lesson_panel::lessons_are_in_front(state) || state.withheld.stage || state.withheld.formulas ||
                        introduces_model(session, state);
    // Beside a tab with something else on it, the step and its cell would explain what isn't there.
    const Tab* open = find_tab(state.tab);
    const bool explains_step = !inspects(open, session) || (open->explains_cells && selected_cell(session));
    return !closed && explains_step ? ImGui::GetFrameHeight() + ui.px(20) : 0.0F;
}

void draw_inspector(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands,
                    float covered) {
    ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.panel);
    Area free = {area.low, {area.high.x, area.high.y - covered}};
    if (lesson_panel::draw_lessons(ui, session, state, free, commands)) return;
    if (state.withheld.stage || state.withheld.formulas) return;
    const Tab* open = find_tab(state.tab);
    const bool tab_inspects = inspects(open, session);
    const float foot = foot_height(ui, session, state);
    const bool introduces = introduces_model(session, state), explains = foot > 0.0F;
    ImGui::SetCursorScreenPos({free.low.x + ui.px(12), free.low.y + ui.px(8)});
    // The bar has its room at any time: what is pressed stays where it is when the text gets longer.
    bool& is_long = state.part<InspectorState>().is_long;
    const bool scrolls = is_long;
    if (!scrolls)
        for (const ImGuiCol color :
             {ImGuiCol_ScrollbarGrab, ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive})
            ImGui::PushStyleColor(color, ImVec4(0, 0, 0, 0));
    compat::begin_child("inspector", {area.width() - ui.px(16), free.height() - ui.px(12) - foot},
                        {.flags = ImGuiWindowFlags_AlwaysVerticalScrollbar});
    if (!scrolls) ImGui::PopStyleColor(3);
    if (!draw_first_minute(ui, session, state, commands) && introduces) {
        introduce_model(ui, session, state);
        if (tab_inspects) section_line(ui);
    }
    if (explains) inspect_cell(ui, session, state, commands);
    if (explains && tab_inspects) section_line(ui);
    if (tab_inspects) numbered_anew("tab", [&] { open->inspect(ui, session, state, commands); });
    numbered_anew("gradients", [&] { list_gradients(ui, session, commands); });
    numbered_anew("edits", [&] { list_edits(ui, session, state, commands); });
    if (!introduces) numbered_anew("notes", [&] { list_notes(ui, session, state, commands); });
    is_long = ImGui::GetCursorPosY() > ImGui::GetWindowHeight() + ImGui::GetStyle().ItemSpacing.y;
    ImGui::EndChild();
    if (explains) choose_section(ui, session, state, {{area.low.x, area.high.y - foot}, area.high});
}

}  // namespace decoderscope::views::inspector
