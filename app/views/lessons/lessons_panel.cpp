#include "app/views/lessons/lessons_panel.h"

#include "app/core/lessons/exercise.h"
#include "app/core/lessons/library.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/frame/books.h"
#include "app/views/frame/tab.h"
#include "app/views/lessons/lesson_page.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <variant>

namespace decoderscope::views::lesson_panel {

namespace {

using namespace core::lessons;

constexpr double kPointed = 3.0;  // seconds

LessonsState& panel_of(ViewState& state) { return state.part<LessonsState>(); }

// ---- the list

// How many of its questions are solved; nothing if it was never opened.
std::optional<std::size_t> solved_of(const LessonsState& panel, const core::lessons::LessonCard& card) {
    const auto found = panel.progress.lessons.find(card.name);
    if (found == panel.progress.lessons.end()) return std::nullopt;
    return static_cast<std::size_t>(
        std::ranges::count_if(found->second.questions, [](const auto& one) { return one.second.right; }));
}

bool is_done(const LessonsState& panel, const core::lessons::LessonCard& card) {
    return card.questions > 0 && solved_of(panel, card).value_or(0) >= card.questions;
}

std::string progress_text(const LessonsState& panel, const core::lessons::LessonCard& card) {
    const std::optional<std::size_t> solved = solved_of(panel, card);
    if (!solved) return {};
    if (is_done(panel, card)) return tr("✓ done");
    return tr("{solved} of {count} solved", {{"solved", *solved}, {"count", card.questions}});
}

// Whether a card has all of these words.
bool is_sought(const core::lessons::LessonCard& card, const std::string& words) {
    std::istringstream in(in_small_letters(words));
    for (std::string word; in >> word;)
        if (card.words.find(word) == std::string::npos) return false;
    return true;
}

void draw_search(const Ui& ui, LessonsState& panel) {
    ImGui::SetNextItemWidth(std::min(ui.px(240), ImGui::GetContentRegionAvail().x - ui.px(6)));
    focusable_field("##sought", panel.sought.data(), tr("search"));
    static_cast<void>(ImGui::InputTextWithHint("##sought", tr("search"), panel.sought.data(), panel.sought.size()));
}

void open_card(ViewState& state, LessonsState& panel, const LessonCard& card) {
    try {
        open_lesson(state, core::lessons::find_lesson(card.name));
    } catch (const Error&) {
        panel.listed = false;  // its file has changed since
    }
}

void draw_card(const Ui& ui, ViewState& state, LessonsState& panel, const core::lessons::LessonCard& card) {
    const float width = ImGui::GetContentRegionAvail().x - ui.px(6), pad = ui.px(8);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const auto words = [](const std::string& text) {
        return core::lessons::Shown{{Span::Style::plain, text, "", false}};
    };
    const core::lessons::Shown title = words(title_of(card));
    const core::lessons::Shown summary = words(card.error.empty() ? card.summary : card.error);
    const float line = compat::font_size(ui.fonts.text) + ui.px(6);
    const float above = draw_spans(ui, title, at, width - pad * 2, ui.theme.text, false) + line;
    const float height = above + draw_spans(ui, summary, at, width - pad * 2, ui.theme.muted, false) + pad * 2;
    ImGui::PushID(card.name.c_str());
    const bool pressed = press_area("card", {width, height});
    ImGui::PopID();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(at, {at.x + width, at.y + height},
                       ImGui::IsItemHovered() ? ui.theme.accent_soft : ui.theme.raised, ui.px(6));
    static_cast<void>(draw_spans(ui, title, {at.x + pad, at.y + pad}, width - pad * 2, ui.theme.text));
    std::string facts = card.minutes > 0 ? tr_n("{count} minute", "{count} minutes", card.minutes) : std::string();
    if (const std::string done = progress_text(panel, card); !done.empty())
        facts = facts.empty() ? done : tr("{minutes} · {done}", {{"minutes", facts}, {"done", done}});
    draw_text(ui, {ui.fonts.caption, ui.theme.accent}, {at.x + pad, at.y + pad + above - line}, facts, width - pad * 2);
    static_cast<void>(
        draw_spans(ui, summary, {at.x + pad, at.y + pad + above - ui.px(2)}, width - pad * 2, ui.theme.muted));
    ImGui::Dummy({1, ui.px(2)});
    if (pressed && card.error.empty()) open_card(state, panel, card);
}

// The lesson that was opened last, if something is left of it.
const LessonCard* begun_last(const LessonsState& panel) {
    const auto last = std::ranges::find(panel.cards, panel.progress.last, &LessonCard::name);
    return last == panel.cards.end() || is_done(panel, *last) ? nullptr : &*last;
}

void draw_list(const Ui& ui, ViewState& state, LessonsState& panel) {
    list_lessons(panel);
    if (panel.cards.empty()) return paragraph(ui.hint(), tr("The lessons' files are missing beside the program."));
    const std::array<const char*, 3> kinds = {tr("Course"), tr("Find the bug"), tr("Test")};  // by LessonKind
    if (const int clicked = segmented(ui, "kinds", kinds, static_cast<int>(panel.listed_kind)); clicked >= 0) {
        panel.listed_kind = static_cast<core::lessons::LessonKind>(clicked);
        panel.sought.fill('\0');
    }
    if (const LessonCard* last = begun_last(panel);
        last != nullptr && button(in_lines(ui.fonts.text, tr("Go on with {lesson}", {{"lesson", title_of(*last)}}),
                                           ImGui::GetContentRegionAvail().x - ui.px(24)),
                                  "go-on"))
        return open_card(state, panel, *last);
    draw_search(ui, panel);
    const bool seeks = panel.sought[0] != '\0';
    std::vector<const core::lessons::LessonCard*> listed;
    for (const core::lessons::LessonCard& card : panel.cards)
        if (seeks ? is_sought(card, panel.sought.data()) : card.kind == panel.listed_kind) listed.push_back(&card);
    const auto done =
        std::ranges::count_if(listed, [&](const core::lessons::LessonCard* card) { return is_done(panel, *card); });
    text_line(ui.note(), listed.empty() ? tr("No matches")
                                        : tr("{done} of {count} done", {{"done", done}, {"count", listed.size()}}));
    for (const core::lessons::LessonCard* card : listed) draw_card(ui, state, panel, *card);
}

// The lesson in this language, where it is translated.
std::shared_ptr<const core::lessons::Lesson> translated(std::shared_ptr<const core::lessons::Lesson> lesson,
                                                        const std::string& language) {
    if (language.empty()) return lesson;
    try {
        return core::lessons::find_lesson(lesson->name, language);
    } catch (const Error&) {
        return lesson;  // a file from elsewhere that is gone
    }
}

// ---- the row above

// Whether the right side slides over the presentation.
bool& right_slide(ViewState& state) {
    return state.presentation.asked[static_cast<std::size_t>(SlidePanel::inspector)];
}

void close_panel(ViewState& state, LessonsState& panel) {
    panel.open = false;
    state.withheld = {};
}

void draw_head(const Ui& ui, ViewState& state, LessonsState& panel, Area area) {
    ImGui::SetCursorScreenPos({area.low.x + ui.px(12), area.low.y + ui.px(8)});
    const std::array<const char*, 2> halves = {tr("Lessons"), tr("Inspector")};
    if (const int clicked = segmented(ui, "lessons-or-inspector", halves, panel.inspector ? 1 : 0); clicked >= 0)
        panel.inspector = clicked == 1;
    if (panel.noticed) {
        ImGui::SameLine(0, ui.px(10));
        const bool solved = *panel.noticed;
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ImGui::GetStyle().FramePadding.y);
        if (link(ui, {ui.fonts.caption, solved ? ui.theme.accent : ui.theme.warning},
                 solved ? tr("✓ solved") : tr("✗ not yet"), 8))
            panel.inspector = false;
        tooltip(tr("What the lesson says about it"));
    }
    const float side = ImGui::GetFrameHeight();
    const float right = area.high.x - ui.px(12) - side;
    ImGui::SetCursorScreenPos({right, area.low.y + ui.px(8)});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (press_area("close-lessons", {side, side})) close_panel(state, panel);
    const ImVec2 size = compat::text_size(ui.fonts.text, "×");
    draw_text(ui, {ui.fonts.text, ImGui::IsItemHovered() ? ui.theme.text : ui.theme.muted},
              {at.x + (side - size.x) * 0.5F, at.y + (side - size.y) * 0.5F}, "×");
    tooltip(tr("Close the lessons; what is solved is kept (F7)"));
}

// "1. A weight is a comparison", and the link to the list.
void draw_lesson_head(const Ui& ui, LessonsState& panel) {
    const core::lessons::Lesson& lesson = *panel.player->lesson();
    const std::string all = tr("All lessons");
    const float room = ImGui::GetContentRegionAvail().x - compat::text_size(ui.fonts.caption, all).x - ui.px(24);
    text_line(ui.note(), fitted(ui.fonts.caption, core::lessons::plain_text(lesson.title), room));
    ImGui::SameLine(0, ui.px(8));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x -
                         compat::text_size(ui.fonts.caption, all).x - ui.px(8));
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, all, 7)) panel.player.reset();
}

// What the page that is read pins is seen as long as it is read.
void lend_notes(const core::Session& session, LessonsState& panel, Commands& commands) {
    core::Notes notes;
    const auto is_note = [](const core::lessons::Block& block) {
        return std::holds_alternative<core::lessons::PinnedNote>(block);
    };
    if (panel.open && panel.player && std::ranges::any_of(panel.player->shown_page().blocks, is_note))
        notes = core::lessons::notes_of(texts_of_page(session, panel), panel.player->shown_blocks());
    if (notes != session.lent_notes()) commands.push_back(core::command::LendNotes{std::move(notes)});
}

// The lessons are closed: the person's own text comes back, unless it was opened since, and then its place. The place
// of the page that was read is opened again with them.
void give_back(const core::Session& session, LessonsState& panel, Commands& commands) {
    if (panel.own) {
        const LessonsState::Own own = *std::exchange(panel.own, std::nullopt);
        if (panel.player) panel.player->turn_to(panel.player->page());
        if (session.scenario().about().name != own.lent) return;
        commands.push_back(core::command::UndoTo{own.scenario});
        panel.returning = own.cursor;
    } else if (panel.returning && !session.stale()) {
        const core::Cursor cursor = *std::exchange(panel.returning, std::nullopt);
        commands.push_back(core::command::GoTo{cursor.step});
        commands.push_back(core::command::ChooseBatch{cursor.place.batch});
        commands.push_back(core::command::ChooseHead{cursor.place.head});
        if (cursor.cell) commands.push_back(core::command::SelectCell{*cursor.cell});
        commands.push_back(
            core::command::Tell{message("Your own text is back. Redo (Ctrl+Y) returns to the lesson's."), false});
    }
}

// Notes what was open before, and what a lesson opens in its place.
void note_lent(const core::Session& session, LessonsState& panel, const std::vector<core::Command>& asked) {
    for (const core::Command& command : asked) {
        const auto* lent = command.get_if<core::command::OpenScenario>();
        if (lent == nullptr) continue;
        if (!panel.own) panel.own = {session.scenario_number(), session.cursor(), {}};
        panel.own->lent = lent->scenario->about().name;
    }
}

// Whether the open dialog tells what the question asks for. A file says what the stage would.
bool is_withheld(const core::lessons::ClosedPanels& closed, ViewState& state) {
    const bool of_formulas = state.dialog == Dialog::formulas ||
                             (state.dialog == Dialog::formula && !state.part<FormulaEditorState>().draft.is_row);
    return (closed.checks && state.dialog == Dialog::checks) || (closed.formulas && of_formulas) ||
           ((closed.stage || closed.formulas) && state.dialog == Dialog::export_file);
}

}  // namespace

void list_lessons(LessonsState& panel) {
    if (panel.listed) return;
    panel.cards = core::lessons::lesson_cards(panel.language);
    panel.listed = true;
}

std::string title_of(const LessonCard& card) {
    if (card.kind == LessonKind::lesson && card.number < 1000)
        return tr("{number}. {title}", {{"number", card.number}, {"title", card.title}});
    return card.title.empty() ? card.name : card.title;
}

const LessonCard* lesson_after(const LessonsState& panel, const std::string& name) {
    const auto here = std::ranges::find(panel.cards, name, &LessonCard::name);
    if (here == panel.cards.end() || here + 1 == panel.cards.end()) return nullptr;
    const LessonCard& next = *(here + 1);
    return here->kind == LessonKind::lesson && next.kind == LessonKind::lesson ? &next : nullptr;
}

void open_lessons(ViewState& state) {
    LessonsState& panel = panel_of(state);
    panel.open = true;
    panel.inspector = false;
    if (state.presenting)
        right_slide(state) = true;
    else
        state.settings.inspector_folded = false;
}

void close_lessons(ViewState& state) { close_panel(state, panel_of(state)); }

bool lessons_are_open(const ViewState& state) { return state.part<LessonsState>().open; }
bool lessons_are_in_front(const ViewState& state) {
    return lessons_are_open(state) && !state.part<LessonsState>().inspector;
}

void toggle_lessons(ViewState& state) {
    LessonsState& panel = panel_of(state);
    const bool shown = state.presenting ? right_slide(state) : state.inspector.drawn > 0.0F;
    if (!panel.open || !shown) return open_lessons(state);
    close_panel(state, panel);
    if (state.presenting) right_slide(state) = false;
}

void open_lesson(ViewState& state, std::shared_ptr<const core::lessons::Lesson> lesson) {
    LessonsState& panel = panel_of(state);
    lesson = translated(std::move(lesson), panel.language);
    const auto found = panel.progress.lessons.find(lesson->name);
    panel.player = std::make_shared<core::lessons::Player>(
        lesson, found == panel.progress.lessons.end() ? core::lessons::LessonProgress() : found->second,
        panel.progress.learner.seed);
    panel.progress.last = lesson->name;
    panel.verdict.reset();
    panel.question.clear();
    panel.handed_in.clear();
    panel.last = {};
    panel.to_top = true;
    open_lessons(state);
}

void open_lesson_beside(ViewState& state, const std::string& name) {
    open_lesson(state, core::lessons::find_bundled_lesson(name));
    panel_of(state).player->keep_what_is_open();
}

std::string lesson_beside(const ViewState& state) {
    const auto& panel = state.part<LessonsState>();
    return panel.open && panel.player && panel.player->lesson()->bundled ? panel.player->lesson()->name : std::string();
}

void make_exercise(const core::Session& session, ViewState& state, Commands& commands) {
    const core::Snapshot& shown = session.shown();
    const Step& step = session.step();
    const Cell& cell = *session.cursor().cell;
    try {
        const auto place = core::step::shown_place(session.derived(), shown, step, cell);
        const std::string path = core::lessons::write_exercise(
            core::lessons::exercise_about(shown.scenario, shown.run->plan(), step, cell, place->answer, place->text,
                                          shown.run->value(step.id).at(cell)));
        open_lesson(state, core::lessons::find_lesson(path));
        panel_of(state).handed_in = path;  // the page says where it is
    } catch (const Error& error) {
        commands.push_back(core::command::Tell{error.sentence(), true});
    }
}

void speak_lessons(ViewState& state, const std::string& language) {
    LessonsState& panel = panel_of(state);
    if (panel.language == language) return;
    panel.language = language;
    panel.listed = false;
    if (!panel.player) return;
    try {
        panel.player->speak(core::lessons::find_lesson(panel.player->lesson()->name, language));
        panel.verdict.reset();
        panel.last = {};
    } catch (const Error&) {
        return;  // a file from elsewhere that is gone: it is read on as it was
    }
}

void list_again(ViewState& state) { panel_of(state).listed = false; }

void keep_lesson_progress_in(ViewState& state, const std::string& path, core::lessons::Progress progress) {
    LessonsState& panel = panel_of(state);
    panel.progress_path = path;
    panel.progress = std::move(progress);
    if (panel.progress.learner.seed == 0) panel.progress.learner.seed = core::lessons::new_seed();
}

void follow_lesson(const core::Session& session, ViewState& state, Commands& commands) {
    LessonsState& panel = panel_of(state);
    state.withheld = {};
    lend_notes(session, panel, commands);
    if (!panel.open) give_back(session, panel, commands);
    if (!panel.open || !panel.player) return;
    const std::shared_ptr<core::lessons::Player> player = panel.player;
    core::lessons::Player::Step step = player->advance(session);
    if (find_tab(step.tab) != nullptr) state.tab = step.tab;
    if (step.point != core::lessons::WindowPart::none) {
        panel.point = step.point;
        panel.point_until = ImGui::GetTime() + kPointed;
    }
    if (!step.commands.empty()) state.busy = true;
    note_lent(session, panel, step.commands);
    commands.insert(commands.end(), step.commands.begin(), step.commands.end());
    const core::lessons::Question* open = player->open_question();
    if (const std::optional<core::lessons::Verdict> verdict = player->watch(session)) {
        panel.verdict = *verdict;
        panel.judged = open->id;
        panel.reveal = Reveal::reply;
        if (panel.inspector) panel.noticed = verdict->right;
    }
    if (!panel.inspector) panel.noticed.reset();
    state.withheld = player->withheld();
    core::lessons::LessonProgress& kept = panel.progress.lessons[player->lesson()->name];
    if (!(kept == player->progress())) kept = player->progress();
}

void withhold(const core::Session&, ViewState& state, Commands& commands) {
    const core::lessons::ClosedPanels closed = state.withheld;
    if (!closed.anything()) return;
    bool refused = false;
    // Compare keeps its norms.
    if (compare::Against& against = state.part<compare::CompareTabState>().against; closed.diff) {
        const bool is_asked = state.tab == core::files::kDiffTab;
        if (is_asked) state.tab = state.open_tab;
        refused = is_asked || (state.tab == core::files::kCompareTab && against != compare::Against::norms);
        against = compare::Against::norms;
    }
    if (is_withheld(closed, state)) {
        state.dialog = Dialog::none;
        state.dialog_opens = false;
        refused = true;
    }
    const auto configures = [](const auto& asked) {
        return as<core::command::SetOption>(asked) != nullptr || as<core::command::SetDropout>(asked) != nullptr;
    };
    if (closed.configuration) refused = std::erase_if(commands, configures) > 0 || refused;
    if (refused)
        commands.push_back(core::command::Tell{message("This is closed while the lesson's question is open."), false});
}

bool draw_lessons(const Ui& ui, const core::Session& session, ViewState& state, Area& area, Commands& commands) {
    LessonsState& panel = panel_of(state);
    if (!panel.open) return false;
    draw_head(ui, state, panel, area);
    area.low.y += ui.px(12) + ImGui::GetFrameHeight();
    if (panel.inspector) return false;
    ImGui::SetCursorScreenPos({area.low.x + ui.px(12), area.low.y + ui.px(4)});
    compat::begin_child(panel.player ? "lesson" : "lesson-list", {area.width() - ui.px(16), area.height() - ui.px(8)});
    if (std::exchange(panel.to_top, false)) ImGui::SetScrollY(0.0F);
    if (panel.player) {
        draw_lesson_head(ui, panel);
        if (panel.player) draw_lesson_page(ui, session, state, panel, commands);
        const std::string next = std::exchange(panel.next, std::string());
        if (const auto card = std::ranges::find(panel.cards, next, &LessonCard::name); card != panel.cards.end())
            open_card(state, panel, LessonCard(*card));
    } else {
        draw_list(ui, state, panel);
    }
    ImGui::EndChild();
    return true;
}

void draw_lesson_pointer(const Ui& ui, ViewState& state, std::span<const Area> parts) {
    LessonsState& panel = panel_of(state);
    if (panel.point == core::lessons::WindowPart::none) return;
    if (ImGui::GetTime() > panel.point_until) {
        panel.point = core::lessons::WindowPart::none;
        return;
    }
    state.paced = true;
    const auto part = static_cast<std::size_t>(panel.point);
    if (part >= parts.size() || parts[part].width() <= 0.0F) return;
    const Area& area = parts[part];
    compat::add_rect(*ImGui::GetForegroundDrawList(), {area.low.x + ui.px(2), area.low.y + ui.px(2)},
                     {area.high.x - ui.px(2), area.high.y - ui.px(2)}, ui.theme.accent, ui.px(6), ui.px(3));
}

}  // namespace decoderscope::views::lesson_panel
