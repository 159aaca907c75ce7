#include "app/views/widgets/bipartite_view.h"

#include "app/core/text/numbers.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

struct Columns {
    Area cells;  // between the two columns of tokens
    float query_pitch, key_pitch;
    float label;  // the most room for a label

    [[nodiscard]] float query_y(Index i) const { return cells.low.y + (static_cast<float>(i) + 0.5F) * query_pitch; }
    [[nodiscard]] float key_y(Index i) const { return cells.low.y + (static_cast<float>(i) + 0.5F) * key_pitch; }
};

// A weight, always in the same few characters.
std::string number(float value) {
    return value > 0.0F && value < 0.0005F ? "<0.001" : fixed_text(static_cast<double>(value), 3);
}

float widest(const Ui& ui, const std::vector<std::string>& labels, float most) {
    float width = 0.0F;
    for (const std::string& label : labels) width = std::max(width, compat::text_size(ui.fonts.mono_small, label).x);
    return std::min(width, most);
}

Columns lay_out(const Ui& ui, const Heatmap& h, Area area) {
    const float line = compat::font_size(ui.fonts.mono_small), most = area.width() * 0.2F;
    // While a token is lit, its weights are beyond the labels of the other column.
    const float weights = compat::text_size(ui.fonts.mono_small, "<0.001").x + ui.px(20);
    const Area cells = {{area.low.x + widest(ui, h.row_labels, most) + weights, area.low.y + (line + ui.px(6)) * 2},
                        {area.high.x - widest(ui, h.column_labels, most) - weights, area.high.y - line - ui.px(8)}};
    const auto pitch = [&](Index count) { return std::min(cells.height() / static_cast<float>(count), ui.px(56)); };
    return {cells, pitch(h.rows), pitch(h.columns), most};
}

// ---- lines

bool belongs(const std::optional<PatternToken>& lit, Index query, Index key) {
    return !lit || lit->index == (lit->is_key ? key : query);
}

// As thick as its weight, thinner if tokens crowd; its opacity is its weight relative to the largest in the picture.
// The lightest can still be seen.
void draw_line(const Ui& ui, const Columns& c, Index query, Index key, float weight, float largest) {
    const float most = std::min(ui.px(8), std::max(ui.px(1.5F), std::min(c.query_pitch, c.key_pitch) * 0.8F));
    const ImU32 color = with_alpha(ink_of(Meaning::attention, ui.theme), 0.4F + 0.6F * weight / largest);
    ImGui::GetWindowDrawList()->AddLine({c.cells.low.x, c.query_y(query)}, {c.cells.high.x, c.key_y(key)}, color,
                                        ui.px(1.0F) + most * weight);
}

void draw_lines(const Ui& ui, const Heatmap& h, const PatternLines& lines, const Columns& c,
                const std::optional<PatternToken>& lit) {
    const float least = lit ? 0.0F : lines.least;
    for (Index query = 0; query < h.rows; ++query)
        for (Index key = 0; key < h.columns; ++key)
            if (const float weight = h.at(query, key); weight > least && belongs(lit, query, key))
                draw_line(ui, c, query, key, std::min(weight, 1.0F), lines.largest);
}

// ---- tokens

bool is_nan_row(const Heatmap& h, Index query) { return std::isnan(h.at(query, 0)); }

// What a label is worth where they crowd: its weight on the lit token; the lit token itself is worth the most.
std::vector<float> worth_of(const Heatmap& h, bool keys, const std::optional<PatternToken>& lit) {
    std::vector<float> worth(static_cast<std::size_t>(keys ? h.columns : h.rows), 0.0F);
    if (!lit) return worth;
    if (lit->is_key == keys) {
        worth[static_cast<std::size_t>(lit->index)] = 1.0F;
        return worth;
    }
    for (std::size_t i = 0; i < worth.size(); ++i) {
        const auto other = static_cast<Index>(i);
        const float weight = keys ? h.at(lit->index, other) : h.at(other, lit->index);
        worth[i] = std::isnan(weight) ? 0.0F : weight;
    }
    return worth;
}

// The labels of a column that are drawn. Letters are lower than their line.
std::vector<bool> labelled_tokens(const Ui& ui, const Heatmap& h, const Columns& c, bool keys,
                                  const std::optional<PatternToken>& lit) {
    std::vector<float> at;
    for (Index i = 0; i < (keys ? h.columns : h.rows); ++i) at.push_back(keys ? c.key_y(i) : c.query_y(i));
    return labels_with_room(at, worth_of(h, keys, lit), compat::font_size(ui.fonts.mono_small) * 0.75F);
}

// A column of tokens; while a token of the other column is lit, with their weights.
void draw_tokens(const Ui& ui, const Heatmap& h, const Columns& c, bool keys, const std::optional<PatternToken>& lit) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto& labels = keys ? h.column_labels : h.row_labels;
    const float x = keys ? c.cells.high.x : c.cells.low.x, side = keys ? 1.0F : -1.0F;
    const float line = compat::font_size(ui.fonts.mono_small);
    const std::vector<bool> drawn = labelled_tokens(ui, h, c, keys, lit);
    const ImU32 dot = color_of(keys ? Meaning::key : Meaning::query);
    const auto text = [&](const std::string& what, float distance, float y, ImU32 ink) {
        const float width = compat::text_size(ui.fonts.mono_small, what).x;
        const float left = keys ? x + distance : x - distance - width;
        draw_text(ui, ui.fonts.mono_small, {left, y - line * 0.5F}, ink, what);
    };
    const bool weighed = lit && lit->is_key != keys;
    const float beyond = widest(ui, labels, c.label) + ui.px(18);
    for (Index i = 0; i < static_cast<Index>(labels.size()); ++i) {
        const float y = keys ? c.key_y(i) : c.query_y(i);
        list.AddCircleFilled({x + side * ui.px(1), y}, std::min(ui.px(3), (keys ? c.key_pitch : c.query_pitch) * 0.4F),
                             dot, 12);
        const bool on = lit && lit->is_key == keys && lit->index == i;
        if (!drawn[static_cast<std::size_t>(i)]) continue;
        const bool broken = !keys && is_nan_row(h, i);
        const std::string label =
            fitted(ui.fonts.mono_small, broken ? "NaN" : labels[static_cast<std::size_t>(i)], c.label);
        const float weight = !weighed ? 0.0F : keys ? h.at(lit->index, i) : h.at(i, lit->index);
        // In reading order, from left to right: a query's weight comes before its label.
        if (weight > 0.0F && !keys) text(number(weight), beyond, y, ui.theme.muted);
        text(label, ui.px(8), y, broken ? ui.theme.error : on ? ui.theme.accent : ui.theme.text);
        if (weight > 0.0F && keys) text(number(weight), beyond, y, ui.theme.muted);
    }
}

void token_tooltip(const Ui& ui, const Heatmap& h, PatternToken token) {
    if (!compat::begin_tooltip()) return;
    const Index count = token.is_key ? h.rows : h.columns;
    const auto weight = [&](Index other) { return token.is_key ? h.at(other, token.index) : h.at(token.index, other); };
    const auto label = [&](bool key, Index i) {
        const std::string& token_text = (key ? h.column_labels : h.row_labels)[static_cast<std::size_t>(i)];
        return tr("{axis} {index} “{token}”", {{"axis", key ? "key" : "query"}, {"index", i}, {"token", token_text}});
    };
    const std::string here = label(token.is_key, token.index);
    text_line(
        ui.fonts.mono_small, ui.theme.text,
        token.is_key ? tr("{key} is attended to by", {{"key", here}}) : tr("{query} attends to", {{"query", here}}));
    std::vector<Index> others;
    for (Index i = 0; i < count; ++i)
        if (weight(i) > 0.0F) others.push_back(i);
    std::stable_sort(others.begin(), others.end(), [&](Index a, Index b) { return weight(a) > weight(b); });
    if (!token.is_key && is_nan_row(h, token.index))
        text_line(ui.fonts.caption, ui.theme.error, tr("nothing: every key is masked, so the weights are NaN"));
    for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 6); ++i)
        text_line(ui.fonts.mono_small, ui.theme.muted,
                  number(weight(others[i])) + "  " + label(!token.is_key, others[i]));
    ImGui::EndTooltip();
}

// The token whose row, on its side of the picture, is under the mouse.
std::optional<PatternToken> token_at(const Heatmap& h, const Columns& c, Area area, ImVec2 mouse) {
    const bool key = mouse.x > (area.low.x + area.high.x) * 0.5F;
    const float x = key ? c.cells.high.x : c.cells.low.x;
    // The area is its label, and a little of where its lines start.
    if (key ? mouse.x < x - c.cells.width() * 0.2F : mouse.x > x + c.cells.width() * 0.2F) return std::nullopt;
    const auto index = static_cast<Index>(std::floor((mouse.y - c.cells.low.y) / (key ? c.key_pitch : c.query_pitch)));
    if (index < 0 || index >= (key ? h.columns : h.rows)) return std::nullopt;
    return PatternToken{key, index};
}

std::optional<PatternToken> use_mouse(const Heatmap& h, const Columns& c, std::optional<PatternToken>& pinned,
                                      Area area) {
    ImGui::SetCursorScreenPos({area.low.x, c.cells.low.y});
    const bool clicked =
        ImGui::InvisibleButton("bipartite", {std::max(area.width(), 1.0F), std::max(c.cells.height(), 1.0F)});
    if (!ImGui::IsItemHovered()) return std::nullopt;
    const auto token = token_at(h, c, area, ImGui::GetIO().MousePos);
    if (token) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (clicked) pinned = token == pinned ? std::nullopt : token;
    return token;
}

void draw_captions(const Ui& ui, const PatternLines& lines, const Columns& c, bool pinned, Area area) {
    const float line = compat::font_size(ui.fonts.caption);
    draw_text(ui, ui.fonts.caption, area.low, ui.theme.muted, tr("A line is a weight: the thicker, the larger."),
              area.width());
    const float y = area.low.y + line + ui.px(6);
    const float width = compat::text_size(ui.fonts.caption, "query").x;
    draw_text(ui, ui.fonts.caption, {c.cells.low.x - width, y}, ink_of(Meaning::query, ui.theme), "query");
    draw_text(ui, ui.fonts.caption, {c.cells.high.x, y}, ink_of(Meaning::key, ui.theme), "key");
    const std::string below = pinned             ? tr("Click the token again to release it.")
                              : lines.leaves_out ? tr("Above {number}; point at a token for all of its lines.",
                                                      {{"number", number(lines.least)}})
                                                 : tr("Point at a token for its lines alone; click keeps them.");
    draw_text(ui, ui.fonts.caption, {area.low.x, area.high.y - line}, ui.theme.muted, below, area.width());
}

}  // namespace

std::optional<PatternToken> draw_bipartite(const Ui& ui, const Heatmap& pattern, const PatternLines& lines,
                                           std::optional<PatternToken> lit, std::optional<PatternToken>& pinned,
                                           Area area) {
    const Columns columns = lay_out(ui, pattern, area);
    const std::optional<PatternToken> hovered = use_mouse(pattern, columns, pinned, area);
    if (pinned && pinned->index >= (pinned->is_key ? pattern.columns : pattern.rows)) pinned.reset();
    const std::optional<PatternToken> shown = hovered ? hovered : lit ? lit : pinned;
    draw_captions(ui, lines, columns, pinned.has_value(), area);
    draw_lines(ui, pattern, lines, columns, shown);
    draw_tokens(ui, pattern, columns, false, shown);
    draw_tokens(ui, pattern, columns, true, shown);
    if (hovered) token_tooltip(ui, pattern, *hovered);
    return hovered;
}

}  // namespace decoderscope
