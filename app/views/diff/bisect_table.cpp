#include "app/core/bisect/bisection_text.h"
#include "app/core/text/labels.h"
#include "app/views/diff/bisect_page.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

namespace {

// A recorded tensor and what it was taken for; without a check it is none of ours.
struct Row {
    const TensorCheck* check = nullptr;
    std::string theirs;
};

std::vector<Row> rows_of(const Bisection& found) {
    std::vector<Row> rows;
    for (const TensorCheck& check : found.checks)
        if (check.is_computed) rows.push_back({&check, check.theirs});
    for (const std::string& name : found.unmatched) rows.push_back({nullptr, name});
    return rows;
}

struct Columns {
    float ours, theirs, measure, right;  // where they begin, and the end
};

Columns columns_of(const Ui& ui, Area area) {
    const float right = area.high.x - ui.px(24), measure = right - ui.px(78);
    const float ours = area.low.x + ui.px(20), half = (measure - ours) * 0.5F;
    return {ours, ours + half, measure, right};
}

void draw_head(const Ui& ui, const Columns& at, float y) {
    const float gap = ui.px(8);
    draw_text(ui, ui.fonts.caption, {at.ours, y}, ui.theme.muted, tr("ours"), at.theirs - at.ours - gap);
    draw_text(ui, ui.fonts.caption, {at.theirs, y}, ui.theme.muted, tr("theirs"), at.measure - at.theirs - gap);
    draw_text(ui, ui.fonts.caption, {at.measure, y}, ui.theme.muted, tr("difference"), at.right - at.measure);
}

void row_tooltip(const Ui& ui, const Row& row) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.mono_small, ui.theme.text, row.theirs);
    if (row.check == nullptr) {
        text_line(ui.fonts.caption, ui.theme.muted, tr("Not compared: it is no step of this model"));
    } else {
        text_line(ui.fonts.mono_small, ui.theme.text, row.check->ours);
        for (const std::string& line : check_lines(*row.check)) text_line(ui.fonts.caption, ui.theme.muted, line);
    }
    ImGui::EndTooltip();
}

// The choice of what a recorded tensor is.
void draw_choice(const Ui& ui, const Session& session, BisectTabState& bisect, const Row& row) {
    ImGui::SetNextWindowSize({ui.px(340), ui.px(260)});
    if (!ImGui::BeginPopup("match")) return;
    text_line(ui.fonts.caption, ui.theme.muted, fitted(ui.fonts.caption, row.theirs, ui.px(320)));
    const auto choose = [&](const std::string& ours) {
        std::erase_if(bisect.question.chosen, [&](const ChosenMatch& one) { return one.theirs == row.theirs; });
        bisect.question.chosen.push_back({row.theirs, ours});
        bisect.cancelled.reset();
        ImGui::CloseCurrentPopup();
    };
    const std::string now = row.check == nullptr ? std::string() : row.check->ours;
    if (press_row(labelled(tr("none of ours"), "none").c_str(), now.empty())) choose({});
    const std::shared_ptr<const Trace>& trace = session.shown().trace_file->trace;
    const Value<PossibleSteps> steps = shown_possible_steps(session.derived(), session.shown(), trace, row.theirs);
    for (const std::string& name : steps->names)
        if (press_row(name.c_str(), name == now)) choose(name);
    ImGui::EndPopup();
}

void draw_row(const Ui& ui, const Session& session, BisectTabState& bisect, const Row& row, bool is_first,
              const Columns& at, Area area, Commands& commands) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const TensorCheck* check = row.check;
    ImGui::SetCursorScreenPos(area.low);
    const bool clicked = press_area("row", {at.right - area.low.x, area.height()});
    const bool hovered = ImGui::IsItemHovered();
    if (is_first || hovered)
        list.AddRectFilled(area.low, area.high, is_first ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
    if (hovered) row_tooltip(ui, row);
    const float y = area.low.y + (area.height() - compat::font_size(ui.fonts.mono_small)) * 0.5F, gap = ui.px(8);
    const bool differs = check != nullptr && check->differs;
    draw_text(ui, ui.fonts.text, {area.low.x + ui.px(3), area.low.y}, differs ? ui.theme.error : ui.theme.muted,
              check == nullptr ? ""
              : differs        ? "≠"
                               : "=");
    const ImU32 color = differs ? ui.theme.text : ui.theme.muted;
    draw_text(ui, ui.fonts.mono_small, {at.ours, y}, color, check == nullptr ? tr("none of ours") : check->ours,
              at.theirs - at.ours - gap);
    draw_text(ui, ui.fonts.mono_small, {at.theirs, y}, color, row.theirs, at.measure - at.theirs - gap);
    if (check != nullptr)
        draw_text(ui, ui.fonts.mono_small, {at.measure, y}, color, difference_of(*check), at.right - at.measure);
    ImGui::SetCursorScreenPos({at.right, area.low.y});
    if (focusable(ImGui::SmallButton("▾"))) ImGui::OpenPopup("match");
    tooltip(tr("Say what this recorded tensor is"));
    draw_choice(ui, session, bisect, row);
    if (clicked && check != nullptr) commands.push_back(command::GoTo{check->ours});
}

}  // namespace

void draw_bisect_table(const Ui& ui, const Session& session, BisectTabState& bisect, const Bisection& found, Area area,
                       Commands& commands) {
    const float head = ui.px(22), line = ui.px(20), scrollbar = ImGui::GetStyle().ScrollbarSize + ui.px(4);
    const Columns at = columns_of(ui, {area.low, {area.high.x - scrollbar, area.high.y}});
    draw_head(ui, at, area.low.y);
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + head});
    const std::vector<Row> rows = rows_of(found);
    const TensorCheck* first = found.first ? &found.checks[*found.first] : nullptr;
    // Whole rows only.
    const float height = std::floor((area.height() - head) / line) * line;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    compat::begin_child("bisect-table", {area.width(), height});
    // A new result is shown from its first difference on, with a little of what agrees before it.
    if (bisect.listed != &found) {
        bisect.listed = &found;
        const auto place = std::ranges::find(rows, first, &Row::check) - rows.begin();
        ImGui::SetScrollY(first == nullptr ? 0.0F : std::max(0.0F, line * (static_cast<float>(place) - 3.0F)));
    }
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()), line);
    while (clipper.Step()) {
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const Row& row = rows[static_cast<std::size_t>(i)];
            const float y = start.y + line * static_cast<float>(i);
            ImGui::PushID(i);
            draw_row(ui, session, bisect, row, first != nullptr && row.check == first, at,
                     {{area.low.x, y}, {area.high.x - scrollbar, y + line}}, commands);
            ImGui::PopID();
        }
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

}  // namespace decoderscope
