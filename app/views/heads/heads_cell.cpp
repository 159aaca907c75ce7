#include "app/views/heads/heads_cell.h"

#include "app/core/heads/head_pictures.h"
#include "app/core/heads/head_switches.h"
#include "app/core/heads/measured_heads.h"
#include "app/core/text/numbers.h"
#include "app/views/heads/heads_tab.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/textures.h"
#include "engine/translate.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace decoderscope {

namespace {

// Textures of the grid: one per layer, with keys beyond those of the heatmaps, which are steps' numbers.
constexpr Index kPaintedAtOnce = 2'000'000;  // weights per frame, but at least one layer
constexpr std::uint64_t kTextureKeys = std::uint64_t{1} << 40U;

std::string factor_text(float factor) {
    return factor == 0.0F ? "off" : "×" + short_number_text(static_cast<double>(factor), 3);
}

// ---- the picture

// The largest box with the pattern's own proportions, stretched at most to twice that.
Area picture_box(const Step& pattern, Area room) {
    const auto rows = static_cast<float>(pattern.axes[2].size), columns = static_cast<float>(pattern.axes[3].size);
    const float side = std::min(room.width() / columns, room.height() / rows);
    const float width = std::floor(std::min(room.width(), side * columns * 2)),
                height = std::floor(std::min(room.height(), side * rows * 2));
    const float x = std::floor(room.low.x + (room.width() - width) * 0.5F);
    return {{x, room.low.y}, {x + width, room.low.y + height}};
}

std::uint64_t version_of(const Ui& ui, std::uint64_t contents, Index batch, PictureSize size, Range range) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const auto part : {contents, static_cast<std::uint64_t>(batch), static_cast<std::uint64_t>(size.width),
                            static_cast<std::uint64_t>(size.height), static_cast<std::uint64_t>(ui.theme.dark),
                            static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(range.high))})
        hash = (hash ^ part) * 0x100000001b3ULL;
    return hash;
}

// Returns false if it has to wait for the next frame.
bool draw_picture(const Ui& ui, const Session& session, HeadsTabState& heads_tab, const Step& pattern, Index head,
                  Range range, Area box) {
    const Snapshot& shown = session.shown();
    const Index heads = pattern.axes[1].size, batch = session.cursor().place.batch;
    const PictureSize size = picture_size(pattern, {static_cast<Index>(box.width()), static_cast<Index>(box.height())});
    const std::uint64_t key = kTextureKeys + pattern.id,
                        version = version_of(ui, version_of_pictures(session.derived(), *shown.run, pattern), batch,
                                             size, range);
    ImTextureID texture = ui.textures.find(key, version);
    if (texture == ImTextureID()) {
        if (heads_tab.painted > kPaintedAtOnce) return false;
        heads_tab.painted += heads * pattern.axes[2].size * pattern.axes[3].size;
        std::vector<std::uint32_t> pixels;
        for (const Rgba color : heads_side_by_side(*shown.run, pattern, batch, size, range, ui.theme.dark))
            pixels.push_back(to_imgui(color));
        texture = ui.textures.upload(key, static_cast<int>(size.width * heads), static_cast<int>(size.height), pixels,
                                     version);
    }
    const float part = 1.0F / static_cast<float>(heads);
    compat::add_pixels(*ImGui::GetWindowDrawList(), texture, box.low, box.high, {part * static_cast<float>(head), 0.0F},
                       {part * static_cast<float>(head + 1), 1.0F});
    return true;
}

// "off" or "×0.5" in the corner of the picture, which fades as its head does.
void draw_badge(const Ui& ui, float factor, Area box) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(box.low, box.high, with_alpha(ui.theme.background, 0.7F * std::max(0.0F, 1.0F - factor)));
    const std::string text = factor_text(factor);
    const ImVec2 size = compat::text_size(ui.fonts.mono_small, text);
    if (size.x + ui.px(6) > box.width() || size.y > box.height()) return;
    const ImVec2 low = {box.high.x - size.x - ui.px(6), box.low.y};
    list.AddRectFilled(low, {box.high.x, low.y + size.y + ui.px(2)}, ui.theme.panel);
    draw_text(ui, ui.fonts.mono_small, {low.x + ui.px(3), low.y + ui.px(1)}, ui.theme.text, text);
}

// ---- the measure

// The number with a bar that shows its share of the highest possible value.
void draw_measure(const Ui& ui, const HeadScore& score, PatternMeasure measure, CellStyle style, Area line) {
    const double value = score.value(measure), top = highest_possible(measure, score.keys);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float number = compat::font_size(ui.fonts.mono_small);
    const float y = line.low.y + (style.dense ? ui.px(1) : number + ui.px(2)), height = style.dense ? number : ui.px(3);
    const float part = value > 0.0 ? std::min(1.0F, static_cast<float>(value / top)) : 0.0F;
    list.AddRectFilled({line.low.x, y}, {line.high.x, y + height}, ui.theme.raised, ui.px(1.5F));
    if (part > 0.0F)
        list.AddRectFilled({line.low.x, y}, {line.low.x + line.width() * part, y + height},
                           with_alpha(color_of(Meaning::attention), style.dense ? 0.45F : 1.0F), ui.px(1.5F));
    const float left = line.low.x + ui.px(style.dense ? 2 : 0);
    draw_text(ui, ui.fonts.mono_small, {left, line.low.y}, ui.theme.text, fixed_text(value, 2), line.high.x - left);
}

void head_tooltip(const Ui& ui, const HeadScore& score, float factor) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.mono_small, ui.theme.text,
              tr("{attention}  head {head}", {{"attention", score.attention}, {"head", score.head}}));
    for (const PatternMeasure measure : kPatternMeasures) {
        const std::string value = number_text(score.value(measure), 3);
        const std::string line = measure == PatternMeasure::entropy
                                     ? tr("{measure}  {bits} bits, as even over {keys} keys",
                                          {{"measure", measure_name(measure)},
                                           {"bits", value},
                                           {"keys", number_text(std::exp2(score.value(measure)), 3)}})
                                     : std::string(measure_name(measure)) + "  " + value;
        text_line(ui.fonts.caption, ui.theme.muted, line);
    }
    if (factor != 1.0F)
        text_line(ui.fonts.caption, ui.theme.warning, factor == 0.0F ? tr("switched off") : "z " + factor_text(factor));
    text_line(ui.fonts.caption, ui.theme.accent, tr("Click: see it large (Enter for the outlined head)"));
    ImGui::EndTooltip();
}

// The dot: filled means on. Shift+click solos the head.
void draw_switch(const Ui& ui, const Session& session, const HeadScore& score, float factor, Area box,
                 Commands& commands) {
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = press_area("switch", {box.width(), box.height()});
    const bool hovered = ImGui::IsItemHovered(), off = factor == 0.0F;
    tooltip(off ? tr("Switch this head on")
                : tr("Switch this head off. With Shift: switch off all the others of its attention (solo)"));
    if (clicked && ImGui::GetIO().KeyShift) {
        const Index heads = session.shown().scenario.config().nhead;
        commands.push_back(command::SoloHead{score.attention, score.head,
                                             !is_solo(session.scenario().edits, score.attention, score.head, heads)});
    } else if (clicked) {
        commands.push_back(command::ScaleHeadTo{score.attention, score.head, off ? 1.0F : 0.0F});
    }
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 middle = {box.low.x + ui.px(5), (box.low.y + box.high.y) * 0.5F};
    const ImU32 color = hovered ? ui.theme.accent : color_of(Meaning::attention);
    if (off)
        list.AddCircle(middle, ui.px(3.5F), color, 16, ui.px(1.5F));
    else
        list.AddCircleFilled(middle, ui.px(4), color, 16);
}

// "layer 3 head 5", or "L3H5" if there is no room.
std::string name_of(const Ui& ui, const HeadScore& score, float width) {
    const std::string layer = std::to_string(score.layer), head = std::to_string(score.head);
    const std::string whole = tr("layer {layer} head {head}", {{"layer", layer}, {"head", head}});
    return compat::text_size(ui.fonts.caption, whole).x <= width ? whole : "L" + layer + "H" + head;
}

bool under_cursor(const Session& session, const HeadsTabState& heads, const HeadScore& score) {
    return heads.attention == score.attention && session.cursor().place.head == score.head;
}

}  // namespace

float cell_text_height(const Ui& ui, CellStyle style) {
    const float line = compat::font_size(ui.fonts.mono_small);
    return line + ui.px(style.dense ? 4 : 12) + (style.named ? line + ui.px(3) : 0.0F);
}

void draw_head_cell(const Ui& ui, const Session& session, ViewState& state, const HeadScore& score, CellStyle style,
                    Area box, Commands& commands) {
    HeadsTabState& heads = state.lab<HeadsTabState>();
    const Step& pattern = *session.shown().run->plan().find(score.attention + ".pattern");
    const float factor = head_factor(session.scenario().edits, score.attention, score.head);
    const float line = compat::font_size(ui.fonts.mono_small), gap = ui.px(style.dense ? 3 : 4);
    const float name = style.named ? line + ui.px(3) : 0.0F;
    const Area inner = {{box.low.x + gap, box.low.y}, {box.high.x - gap, box.high.y}};
    const Area picture = picture_box(pattern, {{inner.low.x, inner.low.y + name},
                                               {inner.high.x, inner.high.y - cell_text_height(ui, style) + name}});
    const float under = picture.high.y + ui.px(style.dense ? 1 : 3);
    ImGui::PushID(static_cast<int>(pattern.id));
    ImGui::PushID(static_cast<int>(score.head));

    ImGui::SetCursorScreenPos(inner.low);
    if (press_area("open", {inner.width(), std::max(1.0F, picture.high.y - inner.low.y)})) {
        commands.push_back(command::GoTo{pattern.name});
        commands.push_back(command::ChooseHead{score.head});
        heads.attention = score.attention;
        heads.opened = true;
        heads.pinned.reset();
    }
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) head_tooltip(ui, score, factor);
    if (style.named)
        draw_text(ui, ui.fonts.caption, inner.low, ui.theme.muted, name_of(ui, score, inner.width()), inner.width());
    if (!draw_picture(ui, session, heads, pattern, score.head, style.weights, picture)) state.busy = true;
    if (factor != 1.0F) draw_badge(ui, factor, picture);
    const float left = style.dense ? inner.low.x : picture.low.x,
                right = style.dense ? inner.high.x : std::max(picture.high.x, left + ui.px(48));
    draw_switch(ui, session, score, factor, {{left, under}, {left + ui.px(12), under + line}}, commands);
    draw_measure(ui, score, heads.measure, style,
                 {{left + ui.px(style.dense ? 11 : 14), under}, {right, under + line}});

    ImDrawList& list = *ImGui::GetWindowDrawList();
    const double top = highest_possible(heads.measure, score.keys);
    if (!passes(score, heads.measure, {static_cast<double>(heads.threshold) * top, heads.at_most}))
        list.AddRectFilled(box.low, box.high, with_alpha(ui.theme.background, 0.8F));
    if (hovered)
        compat::add_rect(list, {picture.low.x - 2, picture.low.y - 2}, {picture.high.x + 2, picture.high.y + 2},
                         ui.theme.text, 0.0F, ui.px(1.5F));
    else if (under_cursor(session, heads, score))
        compat::add_rect(list, {picture.low.x - 2, picture.low.y - 2}, {picture.high.x + 2, picture.high.y + 2},
                         ui.theme.accent, 0.0F, ui.px(1.5F));
    ImGui::PopID();
    ImGui::PopID();
}

}  // namespace decoderscope
