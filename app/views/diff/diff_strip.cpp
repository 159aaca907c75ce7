#include "app/core/diff/comparison_text.h"
#include "app/views/diff/diff_parts.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope {

namespace {

// The steps of the comparison that this run has. Only these are on the strip.
std::size_t count_of_a(const Comparison& comparison) {
    const auto& all = comparison.tensors;
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const auto& d) { return d.presence != Presence::only_in_b; }));
}

// The scale on the left, and hairlines through the strip.
void draw_scale(const Ui& ui, Area bars, float left, double tolerance) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = compat::font_size(ui.fonts.mono_small);
    const auto y_of = [&](double difference) {
        return bars.high.y - bars.height() * static_cast<float>(charted_height(difference));
    };
    constexpr std::array kLines = {std::pair{1.0, "1"}, std::pair{1e-3, "1e-3"}, std::pair{1e-6, "1e-6"}};
    for (const auto& [difference, text] : kLines) {
        const float y = std::floor(y_of(difference));
        list.AddLine({bars.low.x, y}, {bars.high.x, y}, with_alpha(ui.theme.line, 0.6F));
        draw_text(ui, ui.fonts.mono_small,
                  {bars.low.x - ui.px(6) - compat::text_size(ui.fonts.mono_small, text).x, y - line * 0.5F},
                  ui.theme.muted, text);
    }
    list.AddLine({left, bars.high.y}, {bars.high.x, bars.high.y}, ui.theme.line);
    if (tolerance <= 0.0) return;
    const float y = std::floor(y_of(tolerance));
    for (float x = bars.low.x; x < bars.high.x; x += ui.px(8))
        list.AddLine({x, y}, {std::min(x + ui.px(4), bars.high.x), y}, ui.theme.accent);
}

void draw_mark(const Ui& ui, const TensorDifference& d, ImU32 color, float x, float width, Area bars) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (d.presence != Presence::in_both) {  // a ring: there is nothing to measure
        const float r = std::clamp(width * 0.4F, ui.px(1.5F), ui.px(3));
        list.AddCircle({x + width * 0.5F, bars.high.y - r - ui.px(2)}, r, ui.theme.warning, 12, ui.px(1));
        return;
    }
    const float height = bars.height() * static_cast<float>(charted_height(d.largest));
    if (height <= 0.0F) {
        list.AddRectFilled({x, bars.high.y - ui.px(2)}, {x + width, bars.high.y}, with_alpha(color, 0.35F));
        return;
    }
    list.AddRectFilled({x, bars.high.y - height}, {x + width, bars.high.y},
                       d.over > 0 ? color : with_alpha(color, 0.45F), width > ui.px(5) ? ui.px(1.5F) : 0.0F);
    if (std::isinf(d.largest)) list.AddRectFilled({x, bars.low.y}, {x + width, bars.low.y + ui.px(4)}, ui.theme.error);
}

// Marks the current step.
void draw_here(const Ui& ui, Area column) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(column.low, column.high, ui.theme.accent_soft);
    const float middle = (column.low.x + column.high.x) * 0.5F, tip = column.low.y - ui.px(2);
    list.AddTriangleFilled({middle, tip}, {middle + ui.px(4), tip - ui.px(6)}, {middle - ui.px(4), tip - ui.px(6)},
                           ui.theme.text);
}

void draw_block_names(const Ui& ui, const Plan& plan, const Comparison& comparison, std::size_t count, Area bars,
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

void mark_tooltip(const Ui& ui, const TensorDifference& d) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.mono_small, ui.theme.text, d.name);
    const std::string text =
        d.presence != Presence::in_both ? presence_text(d, "A", "B")
        : d.largest == 0.0              ? tr("equal in A and B")
                                        : tr("max |A − B| {difference}   ·   {over} of {count} cells over",
                                             {{"difference", difference_text(d.largest)}, {"over", d.over}, {"count", d.count}});
    text_line(ui.fonts.caption, ui.theme.muted, text);
    ImGui::EndTooltip();
}

}  // namespace

void draw_diff_strip(const Ui& ui, const Session& session, const ViewState& state, Area area, Commands& commands) {
    const Comparison& comparison = state.lab<DiffTabState>().shown->comparison;
    const Plan& plan = session.shown().run->plan();
    const std::size_t count = count_of_a(comparison);
    const Area bars = {{area.low.x + ui.px(44), area.low.y + ui.px(8)}, {area.high.x, area.high.y - ui.px(18)}};
    draw_scale(ui, bars, bars.low.x, comparison.tolerance);
    if (count == 0) return;
    const float pitch = bars.width() / static_cast<float>(count);
    const float gap = pitch > ui.px(4) ? ui.px(1) : 0.0F;
    draw_block_names(ui, plan, comparison, count, bars, pitch, area.high.y);
    for (std::size_t i = 0; i < count; ++i) {
        const TensorDifference& d = comparison.tensors[i];
        const Ref step = plan.find(d.name);
        const float x = bars.low.x + pitch * static_cast<float>(i);
        if (d.name == session.step().name) draw_here(ui, {{x, bars.low.y}, {x + pitch, bars.high.y}});
        draw_mark(ui, d, step != nullptr ? color_of(step->meaning) : ui.theme.muted, x, std::max(pitch - gap, 1.0F),
                  bars);
    }
    ImGui::SetCursorScreenPos(bars.low);
    ImGui::InvisibleButton("diff-strip", {bars.width(), area.high.y - bars.low.y});
    const float part = std::clamp((ImGui::GetIO().MousePos.x - bars.low.x) / bars.width(), 0.0F, 0.99999F);
    const TensorDifference& under = comparison.tensors[static_cast<std::size_t>(part * static_cast<float>(count))];
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) mark_tooltip(ui, under);
    if (ImGui::IsItemActive() && under.name != session.step().name) commands.push_back(command::GoTo{under.name});
}

}  // namespace decoderscope
