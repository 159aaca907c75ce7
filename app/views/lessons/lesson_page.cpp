#include "app/views/lessons/lesson_page.h"

#include "app/core/lessons/typed_number.h"
#include "app/core/lessons/writing.h"
#include "app/core/run/labels.h"
#include "app/core/sheet/draft.h"
#include "app/core/text/text_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace decoderscope::views::lesson_panel {

namespace {

void gap(const Ui& ui, float height) { ImGui::Dummy({1, ui.px(height)}); }

void draw_paragraph(const Ui& ui, const core::lessons::Paragraph& paragraph, const core::lessons::Shown& text) {
    using Kind = core::lessons::Paragraph::Kind;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float indent = ui.px(14.0F * static_cast<float>(paragraph.level + 1));
    switch (paragraph.kind) {
        case Kind::heading:
            gap(ui, 4);
            return text_line(ui.title(), core::lessons::plain_text(text));
        case Kind::bullet:
            draw_text(ui, ui.hint(), {at.x + indent - ui.px(12), at.y}, "•");
            return spans_line(ui, text, ui.theme.text, indent);
        case Kind::numbered:
            draw_text(ui, ui.hint(), {at.x + indent - ui.px(14), at.y}, std::to_string(paragraph.number) + ".");
            return spans_line(ui, text, ui.theme.text, indent + ui.px(6));
        case Kind::quote:
            spans_line(ui, text, ui.theme.text, ui.px(12));
            ImGui::GetWindowDrawList()->AddLine(at, {at.x, ImGui::GetItemRectMax().y}, ui.theme.line, ui.px(2));
            return;
        case Kind::code:
            return decoderscope::views::paragraph(ui.number(), core::lessons::plain_text(text));
        case Kind::text:
            return spans_line(ui, text, ui.theme.text);
    }
}

void draw_place(const Ui& ui, LessonsState& panel, const core::lessons::Shown& title, std::size_t block) {
    const float width = ImGui::GetContentRegionAvail().x - ui.px(24);
    const std::string text = in_lines(ui.fonts.text, "→ " + core::lessons::plain_text(title), width);
    if (button(text, "place" + std::to_string(block))) panel.player->open(block);
}

// A note: where it is pinned, as a link to there, and its text.
void draw_pinned(const Ui& ui, const core::Session& session, const core::lessons::ShownBlock& block,
                 Commands& commands) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float indent = ui.px(12);
    ImGui::Indent(indent);
    const std::string place = block.note.step.empty() ? "…" : core::place_text(block.note);
    const std::string fits = fitted_in_middle(ui.fonts.mono_small, place, ImGui::GetContentRegionAvail().x);
    if (const std::optional<core::Command> goes = core::command_to(block.note, *session.shown().run)) {
        if (link(ui, {ui.fonts.mono_small, ui.theme.accent}, fits, 0)) commands.push_back(*goes);
    } else {
        text_line({ui.fonts.mono_small, ui.theme.muted}, fits);
    }
    ImGui::Unindent(indent);
    spans_line(ui, block.text, ui.theme.text, indent);
    ImGui::GetWindowDrawList()->AddLine(at, {at.x, ImGui::GetItemRectMax().y}, ui.theme.warning, ui.px(2));
}

// ---- below the page

void turn(LessonsState& panel, std::size_t page) {
    panel.player->turn_to(page);
    panel.verdict.reset();
    panel.question.clear();
    panel.last = {};
    panel.to_top = true;
}

void begin_again(LessonsState& panel) {
    panel.player->begin_again();
    turn(panel, 0);
    panel.handed_in.clear();
}

// The name or number on a hand-in. It is asked for once, and may stay empty.
void draw_learner(const Ui& ui, LessonsState& panel) {
    std::string& name = panel.progress.learner.name;
    if (panel.learner[0] == '\0' && !name.empty())
        name.copy(panel.learner.data(), std::min(name.size(), panel.learner.size() - 1));
    ImGui::SetNextItemWidth(std::min(ui.px(220), ImGui::GetContentRegionAvail().x - ui.px(6)));
    const char* hint = tr("name or number, if you like");
    focusable_field("##learner", panel.learner.data(), hint);
    if (ImGui::InputTextWithHint("##learner", hint, panel.learner.data(), panel.learner.size()))
        name = panel.learner.data();
}

void draw_end(const Ui& ui, LessonsState& panel, Commands& commands) {
    const core::lessons::Player& player = *panel.player;
    const std::size_t all = core::lessons::questions_of(*player.lesson()).size(),
                      solved = player.progress().solved_of(*player.lesson());
    gap(ui, 6);
    section_line(ui);
    text_line(ui.title(), solved == all ? tr("The end") : tr("The end, with questions left"));
    paragraph(ui.body(), tr_n("{solved} of {count} question solved.", "{solved} of {count} questions solved.", all,
                              {{"solved", solved}}));
    for (const std::string& where : player.lesson()->happened)
        if (solved == all) paragraph(ui.note(), tr("It happened in {where}", {{"where", where}}));
    draw_learner(ui, panel);
    if (button(tr("Hand in"), "hand-in")) commands.push_back(request::HandIn{});
    tooltip(tr("Write the answers to a file for a teacher: nothing is sent"));
    ImGui::SameLine();
    // Where answers are counted, only with other numbers.
    const bool may_begin_again =
        !player.progress().questions.empty() && (player.lesson()->tries == 0 || player.lesson()->versions > 1);
    const bool again = may_begin_again && button(tr("Begin again"), "begin-again");
    if (may_begin_again) {
        tooltip(tr("Forget the answers to this lesson, and begin with its first page"));
        ImGui::SameLine();
    }
    const bool leaves = button(tr("All lessons"), "end-all-lessons");
    list_lessons(panel);
    if (const core::lessons::LessonCard* next = lesson_after(panel, player.lesson()->name))
        if (button(in_lines(ui.fonts.text, tr("Next: {lesson}", {{"lesson", title_of(*next)}}),
                            ImGui::GetContentRegionAvail().x - ui.px(24)),
                   "next-lesson"))
            panel.next = next->name;
    if (!panel.handed_in.empty()) paragraph(ui.note(), tr("Written to {path}", {{"path", panel.handed_in}}));
    if (again) begin_again(panel);
    if (leaves) panel.player.reset();
}

void draw_foot(const Ui& ui, LessonsState& panel) {
    const core::lessons::Player& player = *panel.player;
    gap(ui, 8);
    section_line(ui);
    const std::size_t pages = player.lesson()->pages.size(), page = player.page();
    if (page > 0 && button(tr("Back"), "page-back")) turn(panel, page - 1);
    if (page > 0) ImGui::SameLine();
    const core::lessons::Question* open = player.open_question();
    const bool is_last = player.is_last_page();
    if (!is_last || open != nullptr) {
        const bool pressed = button(open != nullptr ? tr("Skip") : tr("Go on"), "page-on");
        if (open != nullptr) tooltip(tr("The question stays open; the list shows which lessons have open questions"));
        if (pressed && open != nullptr)
            panel.player->skip(*open);
        else if (pressed)
            turn(panel, page + 1);
        ImGui::SameLine();
    }
    word_beside(ui, tr("page {page} of {pages}", {{"page", page + 1}, {"pages", pages}}));
}

struct Drawn {
    const Ui& ui;
    const core::Session& session;
    ViewState& state;
    LessonsState& panel;
    const core::lessons::Question& question;
    const core::lessons::ShownBlock& shown;
    Commands& commands;
};

// Another question is open: nothing is marked or typed yet.
void begin_question(LessonsState& panel, const core::lessons::Question& question) {
    if (panel.question == question.id) return;
    panel.question = question.id;
    panel.choice.reset();
    panel.wrong_step.reset();
    panel.number.fill('\0');
    panel.formula.clear();
}

void give(const Drawn& d, const core::lessons::Answer& answer) {
    d.panel.verdict = d.panel.player->answer(d.session, d.question, answer);
    d.panel.judged = d.question.id;
    d.panel.reveal = Reveal::reply;
    // The field goes with the question; who types on means the field.
    const core::lessons::Player& player = *d.panel.player;
    if (core::lessons::is_over(*player.lesson(), d.question, player.progress()) &&
        (std::holds_alternative<core::lessons::NumberAnswer>(answer) ||
         std::holds_alternative<core::lessons::FormulaAnswer>(answer)))
        d.state.part<GoneField>().note();
}

// Whether something that is new on the page is here; its end is to be seen, until the wheel or a click says otherwise:
// what stands above it may still grow.
void show_if_new(LessonsState& panel, Reveal here) {
    if (panel.reveal != here) return;
    if (ImGui::GetIO().MouseWheel != 0.0F || ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        panel.reveal = Reveal::nothing;
        return;
    }
    const float below = ImGui::GetWindowPos().y + ImGui::GetWindowHeight();
    if (ImGui::GetItemRectMax().y > below) ImGui::SetScrollHereY(1.0F);
}

// ---- what a question is answered with

// What was said of another answer than the one that is being given now is over.
void begin_answer(const Drawn& d) {
    if (d.panel.judged == d.question.id) d.panel.verdict.reset();
}

// The choices below one another, in the learner's own order; a ring beside each says whether it is marked.
void draw_choices_of(const Drawn& d) {
    const Ui& ui = d.ui;
    const core::lessons::Lesson& lesson = *d.panel.player->lesson();
    for (const std::size_t i : core::lessons::shown_order(lesson, d.question, d.panel.progress.learner.seed)) {
        if (i >= d.shown.choices.size()) continue;  // the texts are still those of another page
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x - ui.px(6), indent = ui.px(24), pad = ui.px(4);
        const float height = draw_spans(ui, d.shown.choices[i], at, width - indent - pad, ui.theme.text, false);
        ImGui::PushID(static_cast<int>(i));
        if (press_area("choice", {width, height + pad * 2})) {
            d.panel.choice = i;
            begin_answer(d);
        }
        ImGui::PopID();
        const bool hovered = ImGui::IsItemHovered(), marked = d.panel.choice == i;
        ImDrawList& list = *ImGui::GetWindowDrawList();
        if (hovered || marked)
            list.AddRectFilled(at, {at.x + width, at.y + height + pad * 2},
                               marked ? ui.theme.accent_soft : ui.theme.raised, ui.px(4));
        const ImVec2 ring = {at.x + ui.px(12), at.y + pad + compat::font_size(ui.fonts.text) * 0.55F};
        list.AddCircle(ring, ui.px(5), marked ? ui.theme.accent : ui.theme.muted, 0, ui.px(1.5F));
        if (marked) list.AddCircleFilled(ring, ui.px(2.5F), ui.theme.accent);
        static_cast<void>(
            draw_spans(ui, d.shown.choices[i], {at.x + indent, at.y + pad}, width - indent - pad, ui.theme.text));
    }
}

// The button below the choices. Returns whether it was pressed with one of them marked.
bool marked_answer(const Drawn& d) {
    const bool pressed = button(tr("Answer"), "answer");
    if (!d.panel.choice) tooltip(tr("Mark one of them first"));
    return pressed && d.panel.choice.has_value();
}

void draw_number(const Drawn& d) {
    ImGui::SetNextItemWidth(d.ui.px(110));
    focusable_field("##number", d.panel.number.data(), tr("Answer"));
    // All is selected when the field is entered: another number takes the place of the one before.
    const bool entered = ImGui::InputText("##number", d.panel.number.data(), d.panel.number.size(),
                                          ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    if (ImGui::IsItemEdited()) begin_answer(d);
    if (entered) ImGui::SetKeyboardFocusHere(-1);  // another number is typed next, unless this one was right
    ImGui::SameLine();
    const bool pressed = button(tr("Answer"), "answer");
    const std::string typed = d.panel.number.data();
    const auto number = typed.empty() ? std::nullopt : core::lessons::typed_number(typed);
    if (number && !number->is_plain) text_line(d.ui.caption(), tr("Read as {number}", {{"number", number->read_as()}}));
    if (!number && !typed.empty()) text_line({d.ui.fonts.caption, d.ui.theme.error}, tr("This is not a number."));
    if ((entered || pressed) && number)
        give(d, core::lessons::NumberAnswer{number->number, number->is_plain ? std::string() : typed});
}

void draw_pointing(const Drawn& d, bool wants_cell) {
    const core::Cursor& cursor = d.session.cursor();
    const std::string& step = d.session.step().name;
    const std::string place = cursor.cell ? cell_name(step, *cursor.cell) : step;
    paragraph(d.ui.note(), wants_cell && !cursor.cell ? std::string(tr("Click a cell on the stage."))
                                                      : tr("You are pointing at {place}", {{"place", place}}));
    if (button(tr("This one"), "point")) give(d, core::lessons::PointedAnswer{step, cursor.cell});
}

// Whether some step is wrong, and which one is the first, is asked in every exercise alike.
void draw_wrong_step(const Drawn& d) {
    const std::string& step = d.session.step().name;
    const std::optional<std::string>& named = d.panel.wrong_step;
    std::optional<std::string> pressed;
    if (button(tr("This step"), "step")) pressed = step;
    tooltip(tr("Name {step} as the first wrong step", {{"step", step}}).c_str());
    ImGui::SameLine();
    if (button(tr("No step"), "no-step")) pressed = "";
    tooltip(tr("Say that every step is computed as it should be"));
    if (pressed) {
        d.panel.wrong_step = pressed;
        begin_answer(d);
    }
    paragraph(d.ui.note(), !named           ? std::string(tr("Go to the first wrong step, then press This step."))
                           : named->empty() ? std::string(tr("No step is wrong"))
                                            : tr("First wrong step: {step}", {{"step", *named}}));
    ImGui::Dummy({1, d.ui.px(2)});
}

void draw_bug(const Drawn& d) {
    draw_wrong_step(d);
    draw_choices_of(d);
    const bool answered = marked_answer(d);
    if (!d.panel.wrong_step) tooltip(tr("Press This step or No step first"));
    if (answered && d.panel.wrong_step) give(d, core::lessons::BugAnswer{*d.panel.wrong_step, *d.panel.choice});
}

// How a formula is read, or what can't be, while it is typed.
void draw_reading(const Drawn& d, const core::sheet::Draft& draft) {
    const auto outcome = core::sheet::outcome_of(d.session.derived(), d.session.shown(), draft);
    if (!outcome) return;
    if (outcome->error.empty())
        paragraph({d.ui.fonts.mono_small, d.ui.theme.muted}, outcome->reads);
    else
        paragraph({d.ui.fonts.caption, d.ui.theme.error}, tr(outcome->error));
}

struct ShapesToWrite {
    std::vector<std::string> lines;
};

// The step that is empty, what it may be written from, and the field for its formula.
void draw_writing(const Drawn& d, const core::lessons::ByFormula& by) {
    const bool is_row = d.session.shown().run->plan().find(by.step) == nullptr;
    const core::Snapshot& shown = d.session.shown();
    const auto shapes = d.session.derived().get<ShapesToWrite>({shown.run}, std::make_tuple(d.question.id), [&] {
        return ShapesToWrite{core::lessons::shapes_to_write({shown.scenario, shown.run}, by)};
    });
    bool first = true;
    for (const std::string& shape : shapes->lines) {
        paragraph({d.ui.fonts.mono_small, first ? d.ui.theme.text : d.ui.theme.muted}, first ? shape + " = …" : shape);
        first = false;
    }
    core::sheet::Draft draft{
        .is_row = is_row, .step = is_row ? std::string() : by.step, .name = by.step, .formula = d.panel.formula};
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - d.ui.px(6));
    const bool entered = text_field("##formula", d.panel.formula, ImGuiInputTextFlags_EnterReturnsTrue,
                                    tr("a formula, or as in PyTorch"), [&](const std::string& typed) {
                                        const auto names = core::sheet::completions(d.session.shown(), draft, typed, 1);
                                        return names.empty() ? typed : core::sheet::completed(typed, names[0]);
                                    });
    if (ImGui::IsItemEdited()) begin_answer(d);
    if (entered) ImGui::SetKeyboardFocusHere(-1);  // it is corrected next, unless it was right
    draft.formula = d.panel.formula;
    if (!draft.formula.empty()) draw_reading(d, draft);
    const bool pressed = button(tr("Answer"), "answer");
    if ((entered || pressed) && !draft.formula.empty()) give(d, core::lessons::FormulaAnswer{draft.formula});
}

struct DrawAnswer {
    const Drawn& d;

    void operator()(const core::lessons::ByChoice&) const {
        draw_choices_of(d);
        if (marked_answer(d)) give(d, core::lessons::ChosenAnswer{*d.panel.choice});
    }
    void operator()(const core::lessons::ByNumber&) const { draw_number(d); }
    void operator()(const core::lessons::ByPoint& by) const { draw_pointing(d, !by.solution.cell.empty()); }
    void operator()(const core::lessons::ByRun&) const {
        paragraph(d.ui.note(), tr("Do it on the stage: the lesson notices when it is done."));
    }
    void operator()(const core::lessons::ByBug&) const { draw_bug(d); }
    void operator()(const core::lessons::ByFormula& by) const { draw_writing(d, by); }
};

// ---- what is said about it

void draw_verdict(const Drawn& d) {
    if (!d.panel.verdict || d.panel.judged != d.question.id) return;
    const Ui& ui = d.ui;
    for (const core::lessons::Shown& reply : d.panel.verdict->replies) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        draw_text(ui, {ui.fonts.text, ui.theme.warning}, at, "✗");
        spans_line(ui, reply, ui.theme.text, ui.px(20));
    }
    if (const std::optional<core::lessons::Spot>& at = d.panel.verdict->at; at && at->cell)
        if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Show {cell}", {{"cell", cell_name(at->step, *at->cell)}}),
                 8))
            d.commands.push_back(core::command::Follow{at->step, *at->cell});
    show_if_new(d.panel, Reveal::reply);
}

void draw_hints(const Drawn& d) {
    const auto& progress = d.panel.player->progress().questions;
    const auto found = progress.find(d.question.id);
    const std::size_t asked = found == progress.end() ? 0 : found->second.hints;
    for (std::size_t i = 0; i < std::min(asked, d.shown.hints.size()); ++i) {
        text_line(d.ui.note(), tr("Hint {number}", {{"number", i + 1}}));
        spans_line(d.ui, d.shown.hints[i], d.ui.theme.text, d.ui.px(12));
    }
    show_if_new(d.panel, Reveal::hint);
    if (asked >= d.panel.player->lesson()->hints) return;
    if (button(asked == 0 ? tr("Hint") : tr("Another hint"), "hint")) {
        d.panel.player->ask_hint(d.question);
        d.panel.reveal = Reveal::hint;
    }
    if (asked + 1 == core::lessons::kHints) tooltip(tr("The last one gives the answer away"));
}

// How many answers a question still takes, where they are counted.
void draw_answers_left(const Drawn& d) {
    const core::lessons::Player& player = *d.panel.player;
    if (const auto left = core::lessons::answers_left(*player.lesson(), d.question, player.progress()))
        text_line(d.ui.note(), tr_n("{count} answer left", "{count} answers left", *left));
}

// Which parts are closed, and that they come back.
void draw_withheld(const Drawn& d) {
    const core::lessons::ClosedPanels& withheld = d.question.withheld;
    if (!withheld.anything()) return;
    std::string parts;
    const auto add = [&](bool closed, const char* name) {
        if (closed) core::append_name(parts, name);
    };
    add(withheld.stage, tr("the stage"));
    add(withheld.diff && !withheld.stage, tr("Compare (except norms)"));
    add(withheld.formulas, tr("inspector and formulas"));
    add(withheld.checks, tr("Checks"));
    add(withheld.configuration, tr("configuration"));
    paragraph(d.ui.note(), tr("Closed while this question is open: {parts}", {{"parts", parts}}));
}

using core::lessons::ShownSpan;
using core::lessons::Span;

// What stays on one line, or a part of it in one style.
struct Word {
    std::string text;
    ImFont* font = nullptr;
    ImU32 color = 0;
    bool spaced = false;  // a space comes before it
    bool breaks = false;  // a new line begins with it
    bool glued = false;   // nothing may come between it and the word before
    bool marked = false;
};

Word word_of(const Ui& ui, const ShownSpan& span, ImU32 color) {
    return {.font = span.style == Span::Style::code ? ui.fonts.mono_small
                    : span.is_number                ? ui.fonts.mono
                                                    : ui.fonts.text,
            .color = color,
            .marked = span.style == Span::Style::emphasis || span.style == Span::Style::strong};
}

// The words of a text in order. Where a line may end is decided on the whole text, whatever its styles.
std::vector<Word> words_of(const Ui& ui, const core::lessons::Shown& text, ImU32 color) {
    std::string all;
    std::vector<std::size_t> ends;  // of the spans, in bytes
    for (const ShownSpan& span : text) ends.push_back((all += span.text).size());
    std::vector<Word> words;
    std::size_t span = 0;
    for (const core::TextPiece& piece : core::pieces_of(all)) {
        for (std::size_t at = piece.begin, end = piece.begin + piece.size; at < end;) {
            while (ends[span] <= at) ++span;
            Word word = word_of(ui, text[span], color);
            word.text = all.substr(at, std::min(end, ends[span]) - at);
            word.glued = at != piece.begin;
            word.spaced = piece.spaced && !word.glued;
            word.breaks = piece.new_line && !word.glued;
            at += word.text.size();
            words.push_back(std::move(word));
        }
    }
    return words;
}

float sum(std::span<const float> widths) { return std::accumulate(widths.begin(), widths.end(), 0.0F); }

ColumnNeeds needs_of(const Ui& ui, const core::lessons::ShownTable& table, std::size_t column) {
    const std::string heading = core::lessons::plain_text(table.columns[column]);
    ColumnNeeds needs{.heading = std::ceil(compat::text_size(ui.fonts.caption, heading).x)};
    for (const core::TextPiece& piece : core::pieces_of(heading))
        needs.word = std::max(
            needs.word, std::ceil(compat::text_size(ui.fonts.caption, heading.substr(piece.begin, piece.size)).x));
    for (const auto& row : table.rows)
        if (column < row.size())
            needs.cells = std::max(needs.cells, std::ceil(compat::text_size(ui.fonts.mono_small, row[column]).x));
    return needs;
}

// The first column says what a row is.
DocumentTable in_document(const core::lessons::ShownTable& table) {
    DocumentTable said;
    said.title = core::lessons::plain_text(table.caption);
    for (std::size_t i = 1; i < table.columns.size(); ++i)
        said.columns.push_back(core::lessons::plain_text(table.columns[i]));
    if (!table.columns.empty()) said.row_axis = core::lessons::plain_text(table.columns.front());
    for (const auto& row : table.rows) {
        said.rows.push_back(row.empty() ? std::string() : row.front());
        for (std::size_t i = 1; i < table.columns.size(); ++i)
            said.cells.push_back(i < row.size() ? row[i] : std::string());
    }
    said.all_rows = static_cast<Index>(said.rows.size());
    said.all_columns = static_cast<Index>(said.columns.size());
    return said;
}

// One question: what it asks, what it is answered with, hints, the reply.
void draw_question(const Ui& ui, const core::Session& session, ViewState& state, LessonsState& panel,
                   const core::lessons::Question& question, const core::lessons::ShownBlock& shown,
                   Commands& commands) {
    const Drawn d{ui, session, state, panel, question, shown, commands};
    const bool solved = panel.player->progress().solved(question.id);
    const bool is_over = core::lessons::is_over(*panel.player->lesson(), question, panel.player->progress());
    const core::lessons::Said* said = solved ? panel.player->said(question) : nullptr;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGui::Dummy({1, ui.px(2)});
    ImGui::Indent(ui.px(10));
    spans_line(ui, said == nullptr ? shown.text : said->ask, ui.theme.text);
    if (is_over && panel.player->lesson()->kind == core::lessons::LessonKind::test) {
        text_line(ui.note(), tr("Answered."));  // right or wrong: a test doesn't say
    } else if (solved) {
        if (said != nullptr && !said->answer.empty())
            paragraph(ui.note(), tr("Your answer: {answer}", {{"answer", said->answer}}));
        const ImVec2 at = ImGui::GetCursorScreenPos();
        draw_text(ui, {ui.fonts.text, ui.theme.accent}, at, "✓");
        spans_line(ui, said == nullptr ? shown.learned : said->learned, ui.theme.text, ui.px(20));
        // Choices are gone, and what follows is shown: what was learned may lie above the panel now.
        if (panel.reveal == Reveal::reply && panel.judged == question.id) {
            panel.reveal = Reveal::nothing;
            const float above = start.y - ImGui::GetWindowPos().y;
            if (above < 0.0F) ImGui::SetScrollY(std::max(0.0F, ImGui::GetScrollY() + above));
        }
    } else if (is_over) {
        draw_verdict(d);
        paragraph(ui.note(), tr("No answers are left to this question."));
    } else if (panel.player->is_skipped(question)) {
        if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Skipped. Answer it after all"), 9))
            panel.player->take_up(question);
    } else {
        begin_question(panel, question);
        std::visit(DrawAnswer{d}, question.answer);
        draw_answers_left(d);
        draw_verdict(d);
        draw_hints(d);
        draw_withheld(d);
    }
    ImGui::Unindent(ui.px(10));
    const float end = ImGui::GetCursorScreenPos().y - ui.px(2);
    ImGui::GetWindowDrawList()->AddRectFilled({start.x, start.y}, {start.x + ui.px(3), end},
                                              is_over ? ui.theme.line : ui.theme.accent);
}

}  // namespace

const core::lessons::ShownPage& texts_of_page(const core::Session& session, LessonsState& panel) {
    const core::lessons::Player& player = *panel.player;
    const decoderscope::core::Value<core::lessons::ShownPage> shown =
        core::lessons::shown_page(session.derived(), session.shown(), player.lesson(), player.page(), player.opened());
    // While numbers are computed for another run, the old ones stay.
    static const core::lessons::ShownPage none;
    if (shown) panel.last = shown;
    return panel.last && panel.last->blocks.size() == player.shown_page().blocks.size() ? *panel.last : none;
}

void draw_lesson_page(const Ui& ui, const core::Session& session, ViewState& state, LessonsState& panel,
                      Commands& commands) {
    const std::shared_ptr<core::lessons::Player> player = panel.player;
    const core::lessons::Page& page = player->shown_page();
    const core::lessons::ShownPage& texts = texts_of_page(session, panel);
    text_line(ui.title(),
              fitted(ui.fonts.heading, core::lessons::plain_text(page.title), ImGui::GetContentRegionAvail().x));
    gap(ui, 2);
    const std::size_t count = std::min(player->shown_blocks(), texts.blocks.size());
    for (std::size_t i = 0; i < count; ++i) {
        ImGui::PushID(static_cast<int>(i));
        const core::lessons::ShownBlock& block = texts.blocks[i];
        if (const auto* paragraph = std::get_if<core::lessons::Paragraph>(&page.blocks[i]))
            draw_paragraph(ui, *paragraph, block.text);
        else if (std::holds_alternative<core::lessons::Place>(page.blocks[i]))
            draw_place(ui, panel, block.text, i);
        else if (std::holds_alternative<core::lessons::Table>(page.blocks[i]))
            draw_lesson_table(ui, block.table);
        else if (std::holds_alternative<core::lessons::PinnedNote>(page.blocks[i]))
            draw_pinned(ui, session, block, commands);
        else
            draw_question(ui, session, state, panel, std::get<core::lessons::Question>(page.blocks[i]), block,
                          commands);
        gap(ui, 4);
        ImGui::PopID();
    }
    if (player->is_last_page()) draw_end(ui, panel, commands);
    if (panel.player) draw_foot(ui, panel);
}

float draw_spans(const Ui& ui, const core::lessons::Shown& text, ImVec2 at, float width, ImU32 color, bool draws) {
    const bool is_noted = draws && noting_document() != nullptr;
    const NotedWhole noted(ui.fonts.text, at, is_noted ? core::lessons::plain_text(text) : std::string());
    const std::vector<Word> words = words_of(ui, text, color);
    const float pitch = compat::font_size(ui.fonts.text) + ui.px(6), space = compat::text_size(ui.fonts.text, " ").x;
    float x = 0.0F, y = 0.0F;
    const auto width_of = [](const Word& word) { return compat::text_size(word.font, word.text).x; };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Word& word = words[i];
        // What is glued behind it goes to the next line with it.
        float together = width_of(word);
        for (std::size_t next = i + 1; next < words.size() && words[next].glued; ++next)
            together += width_of(words[next]);
        if (word.spaced && x > 0.0F) x += space;
        if (word.breaks || (!word.glued && x > 0.0F && x + together > width)) {
            x = 0.0F;
            y += pitch;
        }
        const float down = (compat::font_size(ui.fonts.text) - compat::font_size(word.font)) * 0.75F;
        if (draws) {
            if (word.marked) {  // as by a highlighter: a line below it would look like a link
                const float top = at.y + y + compat::font_size(ui.fonts.text) * 0.55F;
                ImGui::GetWindowDrawList()->AddRectFilled(
                    {at.x + x, top},
                    {at.x + x + width_of(word), at.y + y + compat::font_size(ui.fonts.text) + ui.px(2)},
                    with_alpha(ui.theme.warning, 0.3F));
            }
            draw_text(ui, {word.font, word.color}, {at.x + x, at.y + y + down}, word.text);
        }
        x += width_of(word);
    }
    return words.empty() ? 0.0F : y + pitch;
}

void spans_line(const Ui& ui, const core::lessons::Shown& text, ImU32 color, float indent) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x - indent - ui.px(6);
    const float height = draw_spans(ui, text, {at.x + indent, at.y}, width, color);
    ImGui::Dummy({width + indent, height});
}

std::vector<float> column_widths(std::span<const ColumnNeeds> columns, float room) {
    std::vector<float> widths, wishes;
    for (const ColumnNeeds& column : columns) {
        widths.push_back(std::max(column.cells, column.word));
        wishes.push_back(std::max(column.cells, column.heading) - widths.back());
    }
    if (widths.empty()) return widths;
    const float left = room - sum(widths), wished = sum(wishes);
    if (left < 0.0F) {
        float& widest = *std::ranges::max_element(widths);
        widest = std::max(0.0F, widest + left);
    } else if (wished > 0.0F) {
        for (std::size_t i = 0; i < widths.size(); ++i) widths[i] += wishes[i] * std::min(1.0F, left / wished);
    }
    return widths;
}

void draw_lesson_table(const Ui& ui, const core::lessons::ShownTable& table) {
    if (FrameDocument* document = noting_document())
        document->note_table(in_document(table), {ImGui::GetCursorScreenPos(), ImGui::GetCursorScreenPos()});
    const Unsaid drawn;
    paragraph(ui.note(), core::lessons::plain_text(table.caption));
    const std::size_t columns = table.columns.size();
    std::vector<ColumnNeeds> needs;
    for (std::size_t i = 0; i < columns; ++i) needs.push_back(needs_of(ui, table, i));
    const float room = ImGui::GetContentRegionAvail().x - ui.px(6);
    const float between = ui.px(columns > 3 ? 10 : 14);
    const std::vector<float> widths = column_widths(needs, room - between * static_cast<float>(columns - 1));

    std::vector<std::vector<std::string>> headings;
    std::size_t deepest = 1;
    for (std::size_t i = 0; i < columns; ++i) {
        // A pixel more: the rounding of a sum must not break a word.
        headings.push_back(lines_of(ui.fonts.caption, core::lessons::plain_text(table.columns[i]), widths[i] + 1.0F));
        deepest = std::max(deepest, headings.back().size());
    }
    const float heading_pitch = compat::font_size(ui.fonts.caption) + ui.px(3);
    const float pitch = compat::font_size(ui.fonts.mono_small) + ui.px(5);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float body = start.y + heading_pitch * static_cast<float>(deepest) + ui.px(2);
    float x = start.x;
    for (std::size_t i = 0; i < columns; ++i) {
        // The first column says what the row is; numbers stand to the right.
        const auto indent = [&](ImFont* font, const std::string& text) {
            return i == 0 ? 0.0F : std::max(0.0F, widths[i] - compat::text_size(font, text).x);
        };
        float y = start.y + heading_pitch * static_cast<float>(deepest - headings[i].size());
        for (const std::string& line : headings[i]) {
            draw_text(ui, ui.note(), {x + indent(ui.fonts.caption, line), y}, line);
            y += heading_pitch;
        }
        for (std::size_t r = 0; r < table.rows.size(); ++r) {
            if (i >= table.rows[r].size()) continue;
            const std::string& text = table.rows[r][i];
            draw_text(ui, ui.number(), {x + indent(ui.fonts.mono_small, text), body + pitch * static_cast<float>(r)},
                      text, widths[i] + 1.0F);
        }
        x += widths[i] + between;
    }
    ImGui::Dummy({1, body - start.y + pitch * static_cast<float>(table.rows.size())});
}

}  // namespace decoderscope::views::lesson_panel
