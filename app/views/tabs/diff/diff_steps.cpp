#include "app/core/run/labels.h"
#include "app/core/tabs/diff/comparison_text.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/views/tabs/diff/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views::diff {

namespace {

// The steps of the comparison that this run has. Only these are on the strip.
std::size_t count_of_a(const core::Comparison& comparison) {
    const auto& all = comparison.tensors;
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const auto& d) { return d.presence != core::Presence::only_in_b; }));
}

// The scale on the left, hairlines through the strip, and a line at what is too small to count.
void draw_scale(const Ui& ui, const core::ChartedDifferences& charted, Area bars, double line_at, double most) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = compat::font_size(ui.fonts.mono_small);
    const auto y_of = [&](double difference) {
        return bars.high.y - bars.height() * static_cast<float>(charted.height(difference, most));
    };
    for (double difference = most; difference > 10.0 * charted.least(); difference /= charted.floor ? 10.0 : 1000.0) {
        const float y = std::floor(y_of(difference));
        const std::string text = core::diff::difference_text(difference);
        list.AddLine({bars.low.x, y}, {bars.high.x, y}, with_alpha(ui.theme.line, 0.6F));
        draw_text(ui, ui.fonts.mono_small,
                  {bars.low.x - ui.px(6) - compat::text_size(ui.fonts.mono_small, text).x, y - line * 0.5F},
                  ui.theme.muted, text);
    }
    list.AddLine({bars.low.x, bars.high.y}, {bars.high.x, bars.high.y}, ui.theme.line);
    if (line_at <= 0.0) return;
    const float y = std::floor(y_of(line_at));
    for (float x = bars.low.x; x < bars.high.x; x += ui.px(8))
        list.AddLine({x, y}, {std::min(x + ui.px(4), bars.high.x), y}, ui.theme.accent);
}

void draw_mark(const Ui& ui, const core::ChartedDifferences& charted, const core::TensorDifference& d, ImU32 color,
               float x, float width, Area bars, double most) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (d.presence != core::Presence::in_both) {  // a ring: there is nothing to measure
        const float r = std::clamp(width * 0.4F, ui.px(1.5F), ui.px(3));
        list.AddCircle({x + width * 0.5F, bars.high.y - r - ui.px(2)}, r, ui.theme.warning, 12, ui.px(1));
        return;
    }
    const float height = bars.height() * static_cast<float>(charted.height(charted.of(d), most));
    if (height <= 0.0F) {
        list.AddRectFilled({x, bars.high.y - ui.px(2)}, {x + width, bars.high.y}, with_alpha(color, 0.35F));
        return;
    }
    list.AddRectFilled({x, bars.high.y - height}, {x + width, bars.high.y},
                       d.over > 0 ? color : with_alpha(color, 0.45F), width > ui.px(5) ? ui.px(1.5F) : 0.0F);
    if (std::isinf(charted.of(d)))
        list.AddRectFilled({x, bars.low.y}, {x + width, bars.low.y + ui.px(4)}, ui.theme.error);
}

// Marks the current step.
void draw_here(const Ui& ui, Area column) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(column.low, column.high, ui.theme.accent_soft);
    const float middle = (column.low.x + column.high.x) * 0.5F, tip = column.low.y - ui.px(2);
    list.AddTriangleFilled({middle, tip}, {middle + ui.px(4), tip - ui.px(6)}, {middle - ui.px(4), tip - ui.px(6)},
                           ui.theme.text);
}

void draw_block_names(const Ui& ui, const Plan& plan, const core::Comparison& comparison, std::size_t count, Area bars,
                      float pitch, float bottom) {
    std::string block;
    std::size_t begin = 0;
    const auto name = [&](std::size_t end) {
        if (block.empty()) return;
        const float x = bars.low.x + pitch * static_cast<float>(begin);
        ImGui::GetWindowDrawList()->AddLine({std::floor(x), bars.low.y}, {std::floor(x), bottom}, ui.theme.line);
        draw_text(ui, ui.fonts.caption, {x + ui.px(4), bars.high.y + ui.px(2)}, ui.theme.muted, block,
                  pitch * static_cast<float>(end - begin) - ui.px(5));
    };
    for (std::size_t i = 0; i <= count; ++i) {
        const Ref step = i < count ? plan.find(comparison.tensors[i].name) : nullptr;
        const std::string next = step != nullptr ? step->block : std::string();
        if (i < count && next == block) continue;
        name(i);
        block = next;
        begin = i;
    }
}

void mark_tooltip(const Ui& ui, const core::TensorDifference& d) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.mono_small, ui.theme.text, d.name);
    const std::string text =
        d.presence != core::Presence::in_both ? core::diff::presence_text(d, "A", "B")
        : d.largest == 0.0
            ? core::diff::equality_text(d, true)
            : tr("max |A − B| {difference}   ·   {over} of {count} cells over",
                 {{"difference", core::diff::difference_text(d.largest)}, {"over", d.over}, {"count", d.count}});
    text_line(ui.fonts.caption, ui.theme.muted, text);
    ImGui::EndTooltip();
}

// A right-aligned column of numbers.
struct Column {
    Phrase title, tip;
    float width;     // at a scale of 1
    bool wide_only;  // left out where the steps' names need the room
};
constexpr std::array kColumns = {
    Column{message("largest"), message("max |A − B| over all cells of the step"), 76, false},
    Column{message("relative"), message("The largest difference relative to the largest number in A and B"), 76, true},
    Column{message("mean"), message("The mean of |A − B| over all cells"), 76, true},
    Column{message("cells over"), message("How many cells differ by more than the tolerance"), 124, false},
};

bool is_shown(const Ui& ui, Area area, std::size_t column) {
    return !kColumns[column].wide_only || area.width() >= ui.px(620);
}

float right_of(const Ui& ui, Area area, std::size_t column) {
    float right = area.high.x - ui.px(6);
    for (std::size_t i = column + 1; i < kColumns.size(); ++i)
        if (is_shown(ui, area, i)) right -= ui.px(kColumns[i].width);
    return right;
}

float numbers_start(const Ui& ui, Area area) { return right_of(ui, area, 0) - ui.px(kColumns[0].width); }

void text_at_right(const Ui& ui, ImFont* font, float right, float y, ImU32 color, const std::string& text) {
    draw_text(ui, font, {right - compat::text_size(font, text).x, y}, color, text);
}

// If B has other weights, these are listed, too.
void choose_part(const Ui& ui, DiffTabState& diff) {
    const bool weights = diff.part == core::diff::Listed::weights;
    ImGui::SameLine(0, ui.px(28));
    if (link(ui, ui.fonts.caption, weights ? ui.theme.muted : ui.theme.text, tr("steps"), 7103))
        diff.part = core::diff::Listed::steps;
    tooltip(tr("List what both runs computed"));
    ImGui::SameLine(0, ui.px(16));
    if (link(ui, ui.fonts.caption, weights ? ui.theme.text : ui.theme.muted, tr("weights"), 7104))
        diff.part = core::diff::Listed::weights;
    tooltip(tr("List how far each weight of A is from B's, relative to its scale"));
}

void draw_head(const Ui& ui, DiffTabState& diff, Area area) {
    const float y = area.low.y;
    ImGui::SetCursorScreenPos({area.low.x, y});
    const bool in_order = diff.in_order;
    if (link(ui, ui.fonts.caption, in_order ? ui.theme.muted : ui.theme.text, tr("worst first"), 7101))
        diff.in_order = false;
    tooltip(tr("List the steps by their largest difference"));
    ImGui::SameLine(0, ui.px(16));
    if (link(ui, ui.fonts.caption, in_order ? ui.theme.text : ui.theme.muted, tr("in order"), 7102))
        diff.in_order = true;
    tooltip(tr("List the steps in the order of computation"));
    if (of_two_models(diff)) choose_part(ui, diff);
    // The chosen one is underlined.
    const float first = compat::text_size(ui.fonts.caption, tr("worst first")).x,
                second = compat::text_size(ui.fonts.caption, tr("in order")).x;
    const float x = in_order ? area.low.x + first + ui.px(16) : area.low.x,
                line = y + compat::font_size(ui.fonts.caption) + ui.px(1);
    ImGui::GetWindowDrawList()->AddLine({x, line}, {x + (in_order ? second : first), line}, ui.theme.accent,
                                        ui.px(1.5F));
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
        if (!is_shown(ui, area, i)) continue;
        const float right = right_of(ui, area, i);
        const ImVec2 size = compat::text_size(ui.fonts.caption, tr(kColumns[i].title));
        text_at_right(ui, ui.fonts.caption, right, y, ui.theme.muted, tr(kColumns[i].title));
        ImGui::SetCursorScreenPos({right - size.x, y});
        ImGui::PushID(static_cast<int>(i));
        press_area("column", size);
        ImGui::PopID();
        tooltip(tr(kColumns[i].tip));
    }
    ImGui::GetWindowDrawList()->AddLine({area.low.x, area.high.y - 1}, {area.high.x, area.high.y - 1}, ui.theme.line);
}

void row_tooltip(const Ui& ui, const core::TensorDifference& d, const Step* step) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.mono_small, ui.theme.text, d.name);
    if (step != nullptr)
        text_line(
            ui.fonts.caption, ui.theme.muted,
            std::string(step->operation.about().name) + "   " + axes_text(step->axes) + " " + shape_text(step->axes));
    if (d.presence != core::Presence::in_both) {
        text_line(ui.fonts.caption, ui.theme.warning, core::diff::presence_text(d, "A", "B"));
    } else if (d.largest == 0.0) {
        text_line(ui.fonts.caption, ui.theme.muted, core::diff::equality_text(d, true));
    } else {
        text_line(ui.fonts.caption, ui.theme.muted, tr("largest at {cell}", {{"cell", cell_name("", d.cell)}}));
        text_line(ui.fonts.mono_small, ui.theme.text, "A      " + core::step::exact_number(d.a));
        text_line(ui.fonts.mono_small, ui.theme.text, "B      " + core::step::exact_number(d.b));
        text_line(ui.fonts.mono_small, ui.theme.accent, "|A−B|  " + core::diff::difference_text(d.largest));
    }
    ImGui::EndTooltip();
}

void draw_numbers(const Ui& ui, const core::TensorDifference& d, Area row, float y) {
    if (d.presence != core::Presence::in_both) {
        const float start = numbers_start(ui, row) + ui.px(8);
        const std::string text =
            fitted(ui.fonts.caption, core::diff::presence_text(d, "A", "B"), right_of(ui, row, 3) - start);
        text_at_right(ui, ui.fonts.caption, right_of(ui, row, 3), y, ui.theme.warning, text);
        return;
    }
    const ImU32 color = d.over > 0 ? ui.theme.text : ui.theme.muted;
    const bool apart = d.largest > 0.0;
    const std::array texts = {apart ? core::diff::difference_text(d.largest) : core::diff::equality_text(d, false),
                              core::diff::difference_text(d.relative()), core::diff::difference_text(d.mean),
                              tr("{count} of {all}", {{"count", d.over}, {"all", d.count}})};
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (is_shown(ui, row, i) && (i == 0 || apart))
            text_at_right(ui, ui.fonts.mono_small,
                          right_of(ui, row, apart || d.both_nan == 0 ? i : kColumns.size() - 1), y, color, texts[i]);
}

void draw_row(const Ui& ui, const core::Session& session, const core::TensorDifference& d, Area row, int id,
              Commands& commands) {
    const Ref step = session.shown().run->plan().find(d.name);
    const bool clicked = press_at("step", row, id);
    const bool hovered = ImGui::IsItemHovered(), here = d.name == session.step().name;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (here || hovered) list.AddRectFilled(row.low, row.high, here ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
    const float y = row.low.y + (row.height() - compat::font_size(ui.fonts.mono_small)) * 0.5F,
                middle = (row.low.y + row.high.y) * 0.5F;
    list.AddRectFilled({row.low.x + ui.px(4), middle - ui.px(4)}, {row.low.x + ui.px(12), middle + ui.px(4)},
                       step != nullptr ? color_of(step->meaning) : ui.theme.line, ui.px(2));
    const float x = row.low.x + ui.px(20);
    draw_text(ui, ui.fonts.mono_small, {x, y}, d.differs() ? ui.theme.text : ui.theme.muted, d.name,
              numbers_start(ui, row) - x);
    draw_numbers(ui, d, row, y);
    if (hovered) row_tooltip(ui, d, step);
    if (clicked) go_to_largest(session, d, commands);
}

// The current step's place in the list when that is in order.
std::size_t place_in_order(const DiffTabState& diff, const std::string& step) {
    const auto& tensors = diff.drawn.answer()->comparison.tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i)
        if (tensors[i].name == step) return i;
    return tensors.size();
}

}  // namespace

void draw_diff_strip(const Ui& ui, const core::Session& session, const ViewState& state, Area area,
                     Commands& commands) {
    const DiffTabState& diff = state.part<DiffTabState>();
    const core::Comparison& comparison = diff.drawn.answer()->comparison;
    const core::ChartedDifferences charted = charted_differences(diff);
    const Plan& plan = session.shown().run->plan();
    const std::size_t count = count_of_a(comparison);
    const Area bars = {{area.low.x + ui.px(44), area.low.y + ui.px(8)}, {area.high.x, area.high.y - ui.px(18)}};
    const double most = charted.most(comparison);
    draw_scale(ui, charted, bars, charted.floor.value_or(comparison.tolerance), most);
    if (count == 0) return;
    const float pitch = bars.width() / static_cast<float>(count);
    const float gap = pitch > ui.px(4) ? ui.px(1) : 0.0F;
    draw_block_names(ui, plan, comparison, count, bars, pitch, area.high.y);
    for (std::size_t i = 0; i < count; ++i) {
        const core::TensorDifference& d = comparison.tensors[i];
        const Ref step = plan.find(d.name);
        const float x = bars.low.x + pitch * static_cast<float>(i);
        if (d.name == session.step().name) draw_here(ui, {{x, bars.low.y}, {x + pitch, bars.high.y}});
        draw_mark(ui, charted, d, step != nullptr ? color_of(step->meaning) : ui.theme.muted, x,
                  std::max(pitch - gap, 1.0F), bars, most);
    }
    ImGui::SetCursorScreenPos(bars.low);
    ImGui::InvisibleButton("diff-strip", {bars.width(), area.high.y - bars.low.y});
    const float part = std::clamp((ImGui::GetIO().MousePos.x - bars.low.x) / bars.width(), 0.0F, 0.99999F);
    const core::TensorDifference& under =
        comparison.tensors[static_cast<std::size_t>(part * static_cast<float>(count))];
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) mark_tooltip(ui, under);
    if (ImGui::IsItemActive() && under.name != session.step().name) commands.push_back(core::command::GoTo{under.name});
}

void draw_diff_list(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    DiffTabState& diff = state.part<DiffTabState>();
    const auto& tensors = diff.drawn.answer()->comparison.tensors;
    const float head = ui.px(22), line = ui.px(20), scrollbar = ImGui::GetStyle().ScrollbarSize + ui.px(4);
    draw_head(ui, diff, {area.low, {area.high.x - scrollbar, area.low.y + head}});
    const auto follow = [&](float height) {
        // In order, the list follows the current step; worst first, it stays at the worst.
        const std::string where =
            diff.in_order ? session.step().name : "worst " + std::to_string(diff.drawn.answer().number());
        if (where == diff.listed_step) return;
        diff.listed_step = where;
        if (!diff.in_order) return ImGui::SetScrollY(0.0F);
        const auto place = static_cast<float>(place_in_order(diff, session.step().name));
        const float top = place * line, scroll = ImGui::GetScrollY();
        if (place < static_cast<float>(tensors.size()) && (top < scroll || top + line > scroll + height))
            ImGui::SetScrollY(std::max(0.0F, top - height * 0.5F));
    };
    scrolled_rows(
        ui, "diff-list", {{area.low.x, area.low.y + head}, area.high}, line, tensors.size(),
        [&](std::size_t i, Area row) {
            draw_row(ui, session, tensors[diff.in_order ? i : diff.drawn.answer()->worst_first[i]], row,
                     static_cast<int>(i), commands);
        },
        follow);
}

void choose_diff_step(const Ui& ui, const core::Session& session, const DiffTabState& diff, float width,
                      Commands& commands) {
    ImGui::SetNextItemWidth(width);
    const std::string& here = session.step().name;
    if (!begin_list("##diff-step", fitted_in_middle(ImGui::GetFont(), here, width - ui.px(34)).c_str(),
                    ImGuiComboFlags_HeightLarge)) {
        tooltip(tr("All steps, starting with the one that differs most"));
        return;
    }
    const core::diff::ShownComparison& shown = *diff.drawn.answer();
    for (const std::size_t at : shown.worst_first) {
        const core::TensorDifference& d = shown.comparison.tensors[at];
        const std::string text = d.presence != core::Presence::in_both ? core::diff::presence_text(d, "A", "B")
                                 : d.largest == 0.0                    ? core::diff::equality_text(d, false)
                                                                       : core::diff::difference_text(d.largest);
        if (press_row(labelled(d.name + "   " + text, d.name).c_str(), d.name == here))
            go_to_largest(session, d, commands);
    }
    ImGui::EndCombo();
}

}  // namespace decoderscope::views::diff
