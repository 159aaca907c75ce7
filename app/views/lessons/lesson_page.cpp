#include "app/views/lessons/lesson_page.h"

#include "app/core/lessons/typed_number.h"
#include "app/core/lessons/writing.h"
#include "app/core/run/labels.h"
#include "app/core/session/session.h"
#include "app/core/sheet/draft.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "engine/base/translate.h"

#include <algorithm>
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
            return text_line(ui.fonts.heading, ui.theme.text, core::lessons::plain_text(text));
        case Kind::bullet:
            draw_text(ui, ui.fonts.text, {at.x + indent - ui.px(12), at.y}, ui.theme.muted, "•");
            return spans_line(ui, text, ui.theme.text, indent);
        case Kind::numbered:
            draw_text(ui, ui.fonts.text, {at.x + indent - ui.px(14), at.y}, ui.theme.muted,
                      std::to_string(paragraph.number) + ".");
            return spans_line(ui, text, ui.theme.text, indent + ui.px(6));
        case Kind::quote:
            spans_line(ui, text, ui.theme.text, ui.px(12));
            ImGui::GetWindowDrawList()->AddLine(at, {at.x, ImGui::GetItemRectMax().y}, ui.theme.line, ui.px(2));
            return;
        case Kind::code:
            return decoderscope::views::paragraph(ui.fonts.mono_small, ui.theme.text, core::lessons::plain_text(text));
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
        if (link(ui, ui.fonts.mono_small, ui.theme.accent, fits, 0)) commands.push_back(*goes);
    } else {
        text_line(ui.fonts.mono_small, ui.theme.muted, fits);
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
    text_line(ui.fonts.heading, ui.theme.text, solved == all ? tr("The end") : tr("The end, with questions left"));
    paragraph(ui.fonts.text, ui.theme.text,
              tr_n("{solved} of {count} question solved.", "{solved} of {count} questions solved.", all,
                   {{"solved", solved}}));
    for (const std::string& where : player.lesson()->happened)
        if (solved == all)
            paragraph(ui.fonts.caption, ui.theme.muted, tr("It happened in {where}", {{"where", where}}));
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
    if (!panel.handed_in.empty())
        paragraph(ui.fonts.caption, ui.theme.muted, tr("Written to {path}", {{"path", panel.handed_in}}));
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
    if (number && !number->is_plain)
        text_line(d.ui.fonts.caption, d.ui.theme.text, tr("Read as {number}", {{"number", number->read_as()}}));
    if (!number && !typed.empty()) text_line(d.ui.fonts.caption, d.ui.theme.error, tr("This is not a number."));
    if ((entered || pressed) && number)
        give(d, core::lessons::NumberAnswer{number->number, number->is_plain ? std::string() : typed});
}

void draw_pointing(const Drawn& d, bool wants_cell) {
    const core::Cursor& cursor = d.session.cursor();
    const std::string& step = d.session.step().name;
    const std::string place = cursor.cell ? cell_name(step, *cursor.cell) : step;
    paragraph(d.ui.fonts.caption, d.ui.theme.muted,
              wants_cell && !cursor.cell ? std::string(tr("Click a cell on the stage."))
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
    paragraph(d.ui.fonts.caption, d.ui.theme.muted,
              !named           ? std::string(tr("Go to the first wrong step, then press This step."))
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
    const core::Value<core::sheet::Outcome> outcome =
        core::sheet::outcome_of(d.session.derived(), d.session.shown(), draft);
    if (!outcome) return;
    if (outcome->error.empty())
        paragraph(d.ui.fonts.mono_small, d.ui.theme.muted, outcome->reads);
    else
        paragraph(d.ui.fonts.caption, d.ui.theme.error, tr(outcome->error));
}

struct ShapesToWrite {
    std::vector<std::string> lines;
};

// The step that is empty, what it may be written from, and the field for its formula.
void draw_writing(const Drawn& d, const core::lessons::ByFormula& by) {
    const bool is_row = d.session.shown().run->plan().find(by.step) == nullptr;
    const core::Snapshot& shown = d.session.shown();
    const core::Value<ShapesToWrite> shapes =
        d.session.derived().get<ShapesToWrite>({shown.run}, std::make_tuple(d.question.id), [&] {
            return ShapesToWrite{core::lessons::shapes_to_write({shown.scenario, shown.run}, by)};
        });
    bool first = true;
    for (const std::string& shape : shapes->lines) {
        paragraph(d.ui.fonts.mono_small, first ? d.ui.theme.text : d.ui.theme.muted, first ? shape + " = …" : shape);
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
        paragraph(d.ui.fonts.caption, d.ui.theme.muted, tr("Do it on the stage: the lesson notices when it is done."));
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
        draw_text(ui, ui.fonts.text, at, ui.theme.warning, "✗");
        spans_line(ui, reply, ui.theme.text, ui.px(20));
    }
    if (const std::optional<core::lessons::Spot>& at = d.panel.verdict->at; at && at->cell)
        if (link(ui, ui.fonts.caption, ui.theme.accent, tr("Show {cell}", {{"cell", cell_name(at->step, *at->cell)}}),
                 8))
            d.commands.push_back(core::command::Follow{at->step, *at->cell});
    show_if_new(d.panel, Reveal::reply);
}

void draw_hints(const Drawn& d) {
    const auto& progress = d.panel.player->progress().questions;
    const auto found = progress.find(d.question.id);
    const std::size_t asked = found == progress.end() ? 0 : found->second.hints;
    for (std::size_t i = 0; i < std::min(asked, d.shown.hints.size()); ++i) {
        text_line(d.ui.fonts.caption, d.ui.theme.muted, tr("Hint {number}", {{"number", i + 1}}));
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
        text_line(d.ui.fonts.caption, d.ui.theme.muted, tr_n("{count} answer left", "{count} answers left", *left));
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
    paragraph(d.ui.fonts.caption, d.ui.theme.muted,
              tr("Closed while this question is open: {parts}", {{"parts", parts}}));
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
    text_line(ui.fonts.heading, ui.theme.text,
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
        text_line(ui.fonts.caption, ui.theme.muted, tr("Answered."));  // right or wrong: a test doesn't say
    } else if (solved) {
        if (said != nullptr && !said->answer.empty())
            paragraph(ui.fonts.caption, ui.theme.muted, tr("Your answer: {answer}", {{"answer", said->answer}}));
        const ImVec2 at = ImGui::GetCursorScreenPos();
        draw_text(ui, ui.fonts.text, at, ui.theme.accent, "✓");
        spans_line(ui, said == nullptr ? shown.learned : said->learned, ui.theme.text, ui.px(20));
        // Choices are gone, and what follows is shown: what was learned may lie above the panel now.
        if (panel.reveal == Reveal::reply && panel.judged == question.id) {
            panel.reveal = Reveal::nothing;
            const float above = start.y - ImGui::GetWindowPos().y;
            if (above < 0.0F) ImGui::SetScrollY(std::max(0.0F, ImGui::GetScrollY() + above));
        }
    } else if (is_over) {
        draw_verdict(d);
        paragraph(ui.fonts.caption, ui.theme.muted, tr("No answers are left to this question."));
    } else if (panel.player->is_skipped(question)) {
        if (link(ui, ui.fonts.caption, ui.theme.accent, tr("Skipped. Answer it after all"), 9))
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

}  // namespace decoderscope::views::lesson_panel
