#include "app/core/book/book_lines.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/books.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/tables.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <tuple>

namespace decoderscope::views::dialogs {

namespace {

using formulas::BookLine;

constexpr float kBookWidth = 900.0F, kBookHeight = 560.0F;

// The first step that each line computes in a run, and how many there are, by the line's label.
struct StepsOfLines {
    struct Steps {
        std::string first;
        std::size_t count = 0;
    };
    std::map<std::string, Steps, std::less<>> steps;
};

core::Value<StepsOfLines> steps_of_lines(const core::Session& session) {
    return session.derived().get<StepsOfLines>({session.shown().run}, std::make_tuple(), [&] {
        StepsOfLines made;
        for (const auto& [label, steps] : core::book::steps_by_line(session.shown().run->plan()))
            made.steps[std::string(label)] = {steps.front()->name, steps.size()};
        return made;
    });
}

void find_lines(FormulaBookState& book) {
    const std::string typed = book.search.data();
    if (book.found_for == typed) return;
    book.found = core::book::lines_matching(typed);
    book.found_for = typed;
    book.heights.clear();
    book.scrolls = true;
}

// What is typed, and the arrow keys, choose among the lines.
void choose_line(const Ui& ui, ViewState& state, float width) {
    auto& book = state.part<FormulaBookState>();
    ImGui::SetNextItemWidth(width);
    if (state.dialog_opens) book.found_for.reset();  // found again: sections may be in another language
    if (state.dialog_opens || pressed(Key::enter)) compat::take_keyboard();
    const char* hint = tr("a name, a part of a formula, a paper or a class of PyTorch");
    focusable_field("##search", book.search.data(), hint);
    ImGui::InputTextWithHint("##search", hint, book.search.data(), book.search.size());
    note_glyphs(ui.fonts.text, book.search.data());
    find_lines(book);
    auto here = std::ranges::find(book.found, book.label, &BookLine::label);
    if (!book.found.empty() && here == book.found.end()) here = book.found.begin();
    const bool down = pressed(Key::down, {}, true), up = pressed(Key::up, {}, true);
    if (down && here != book.found.end() && here + 1 != book.found.end()) ++here;
    if (up && here != book.found.begin() && here != book.found.end()) --here;
    book.scrolls = book.scrolls || down || up;
    if (here != book.found.end()) book.label = (*here)->label;
}

void go_to(const std::string& step, ViewState& state, Commands& commands) {
    state.tab = core::files::kStepTab;
    commands.push_back(core::command::GoTo{step});
    close_dialog(state);
}

void draw_formula(const Ui& ui, const BookLine& line) {
    for (const std::string& row : core::book::rows_of(line)) {
        const std::size_t spaces = row.find_first_not_of(' ');
        const float indent = ui.px(4.0F * static_cast<float>(spaces));
        if (spaces > 0) ImGui::Indent(indent);
        paragraph(ui.number(), row.substr(spaces));
        if (spaces > 0) ImGui::Unindent(indent);
    }
}

// Where a line is from, and what computes it.
void draw_sources(const Ui& ui, const BookLine& line) {
    paragraph(ui.note(), line.source);
    if (!line.kernel.empty()) paragraph(ui.note(), tr("Kernel: {file}", {{"file", line.kernel}}));
    if (!line.computed_as.empty()) paragraph(ui.note(), tr("Computed as {lines}", {{"lines", line.computed_as}}));
    if (!line.why_not.empty())
        paragraph(ui.note(), tr("By hand: {reason}", {{"reason", tr(asset_text(line.why_not))}}));
}

std::string way_to(const StepsOfLines::Steps& steps) {
    if (steps.count == 1) return tr("Go to {step} →", {{"step", steps.first}});
    return tr("Go to {step}, the first of {count} →", {{"step", steps.first}, {"count", steps.count}});
}

// A line and the link to the first step that it computes. Returns whether that was clicked.
bool draw_line(const Ui& ui, FormulaBookState& book, const StepsOfLines::Steps* steps, const BookLine& line, int id) {
    const bool chosen = line.label == book.label;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float right = low.x + ImGui::GetContentRegionAvail().x;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.ChannelsSplit(2);  // what marks the line lies below its text
    list.ChannelsSetCurrent(1);
    ImGui::Indent(ui.px(8));
    text_line({ui.fonts.mono, ui.theme.text}, line.label);
    draw_formula(ui, line);
    draw_sources(ui, line);
    const bool asked = steps != nullptr && link(ui, {ui.fonts.caption, ui.theme.accent}, way_to(*steps), id);
    ImGui::Unindent(ui.px(8));
    const Area area = {low, {right, ImGui::GetCursorScreenPos().y}};
    list.ChannelsSetCurrent(0);
    if (chosen) list.AddRectFilled(area.low, area.high, ui.theme.raised, ui.px(4));
    list.ChannelsMerge();
    if (chosen && std::exchange(book.scrolls, false)) ImGui::SetScrollFromPosY(low.y - ImGui::GetWindowPos().y, 0.1F);
    if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
        area.contains(ImGui::GetIO().MousePos))
        book.label = line.label;
    ImGui::Dummy({1, ui.px(4)});
    return asked;
}

// Forgets how high the lines are if they are others, or laid out in another way, and keeps the chosen one in sight.
void note_layout(const Ui& ui, FormulaBookState& book) {
    const float width = ImGui::GetContentRegionAvail().x, letters = compat::font_size(ui.fonts.mono_small);
    if (book.heights.size() == book.found.size() && book.width == width && book.letters == letters) return;
    book.heights.assign(book.found.size(), 0.0F);
    book.width = width;
    book.letters = letters;
    book.scrolls = true;
}

// Leaves room for a line that was drawn before and isn't seen.
bool pass_over(const FormulaBookState& book, std::size_t number) {
    const float height = book.heights[number];
    if (height == 0.0F || book.scrolls || ImGui::IsRectVisible({1.0F, height})) return false;
    ImGui::Dummy({1.0F, height - ImGui::GetStyle().ItemSpacing.y});
    return true;
}

void draw_lines(const Ui& ui, const core::Session& session, ViewState& state, ImVec2 size, Commands& commands) {
    auto& book = state.part<FormulaBookState>();
    const core::Value<StepsOfLines> steps = steps_of_lines(session);
    const StepsOfLines::Steps* asked = nullptr;
    compat::begin_child("lines", size);
    note_layout(ui, book);
    if (book.found.empty()) paragraph(ui.note(), tr("No matches"));
    std::string_view section;
    for (std::size_t i = 0; i < book.found.size(); ++i) {
        const BookLine& line = *book.found[i];
        if (line.section != section) section_heading(ui, tr(asset_text(section = line.section)));
        const auto found = steps->steps.find(line.label);
        const StepsOfLines::Steps* own = found == steps->steps.end() ? nullptr : &found->second;
        if (own != nullptr && line.label == book.label && pressed(Key::enter)) asked = own;
        if (pass_over(book, i)) continue;
        const float top = ImGui::GetCursorPosY();
        if (draw_line(ui, book, own, line, static_cast<int>(i))) asked = own;
        book.heights[i] = ImGui::GetCursorPosY() - top;
    }
    ImGui::EndChild();
    if (asked != nullptr) go_to(asked->first, state, commands);
}

}  // namespace

void draw_formulas_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float width = std::min(ui.px(kBookWidth), screen.x - ui.px(64));
    text_line(ui.title(), tr("Formulas"));
    ImGui::SameLine(0, ui.px(20));
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Keys"), 3)) {
        close_dialog(state);
        return state.show(Dialog::keys);
    }
    ImGui::SameLine(0, ui.px(16));
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Glossary"), 4)) {
        close_dialog(state);
        return open_glossary(state);
    }
    choose_line(ui, state, width);
    const float below = screen.y - ImGui::GetCursorScreenPos().y - ui.px(40);
    draw_lines(ui, session, state, {width, std::clamp(below, ui.px(60), ui.px(kBookHeight))}, commands);
    if (!state.dialog_opens && (pressed(Key::escape) || pressed(Key::f1))) close_dialog(state);
}

}  // namespace decoderscope::views::dialogs
