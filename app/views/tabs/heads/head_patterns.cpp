
#include "app/core/generate/prediction.h"
#include "app/core/run/edits.h"
#include "app/core/run/step_picture.h"
#include "app/core/tabs/step/tiles.h"
#include "app/core/text/numbers.h"
#include "app/views/tabs/heads/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace decoderscope::views::heads {

namespace {

std::string factor_text(float factor) {
    return factor == 0.0F ? tr("off") : "×" + core::short_number_text(static_cast<double>(factor), 3);
}

// ---- the picture

// A length that so many cells share evenly, in whole pixels where each has several: an edge on the middle of a pixel is
// drawn in the one cell's colour by one driver, and in the other's by another.
float shared_evenly(float length, float cells) {
    constexpr float kSeveral = 4.0F;
    const float each = std::floor(length / cells);
    return each >= kSeveral ? each * cells : std::floor(length);
}

// The largest box with square cells; a pattern that is much longer one way is drawn up to twice as thick the other way.
Area picture_box(const Run& run, const Step& pattern, Area room) {
    const core::PictureSize whole = core::picture_size(run, pattern);
    const auto rows = static_cast<float>(whole.height), columns = static_cast<float>(whole.width);
    const float side = std::min(room.width() / columns, room.height() / rows);
    const float wider = std::clamp(rows / columns, 1.0F, 2.0F), higher = std::clamp(columns / rows, 1.0F, 2.0F);
    const float width = shared_evenly(std::min(room.width(), side * columns * wider), columns),
                height = shared_evenly(std::min(room.height(), side * rows * higher), rows);
    const float x = std::floor(room.low.x + (room.width() - width) * 0.5F);
    return {{x, room.low.y}, {x + width, room.low.y + height}};
}

// Returns false while its pixels, or those of the numbers that are shown, are being made.
bool draw_picture(const Ui& ui, const core::Session& session, HeadsTabState& heads_tab, const Step& pattern, Index head,
                  core::Range range, Area box) {
    const Index heads = pattern.axes[1].size;
    const core::PictureSize size = core::picture_size(
        *session.shown().run, pattern, {static_cast<Index>(box.width()), static_cast<Index>(box.height())});
    const StepTextures::Texture texture = heads_tab.pictures.texture_of(ui, session, pattern,
                                                                        {.each = size,
                                                                         .heads = heads,
                                                                         .across = heads,
                                                                         .place = {session.cursor().place.batch},
                                                                         .sequential = ui.theme.sequential,
                                                                         .dark = ui.theme.dark,
                                                                         .range = range});
    if (texture.id == ImTextureID() || texture.is_old) return false;
    const float part = 1.0F / static_cast<float>(heads);
    compat::add_pixels(*ImGui::GetWindowDrawList(), texture.id, box.low, box.high,
                       {part * static_cast<float>(head), 0.0F}, {part * static_cast<float>(head + 1), 1.0F});
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
    draw_text(ui, ui.number(), {low.x + ui.px(3), low.y + ui.px(1)}, text);
}

// ---- the measure

// A bar with the part of it that is a share of the whole.
void draw_share(const Ui& ui, Area bar, double share, ImU32 color) {
    const float part = share > 0.0 ? std::min(1.0F, static_cast<float>(share)) : 0.0F;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(bar.low, bar.high, ui.theme.raised, ui.px(1.5F));
    if (part > 0.0F) list.AddRectFilled(bar.low, {bar.low.x + bar.width() * part, bar.high.y}, color, ui.px(1.5F));
}

// The number with a bar that shows its share of the highest possible value.
void draw_measure(const Ui& ui, const core::heads::HeadScore& score, core::heads::PatternMeasure measure,
                  CellStyle style, Area line) {
    const double value = score.value(measure), top = core::heads::highest_possible(measure, score.keys);
    const float number = compat::font_size(ui.fonts.mono_small);
    const float y = line.low.y + (style.dense ? ui.px(1) : number + ui.px(2)), height = style.dense ? number : ui.px(3);
    draw_share(ui, {{line.low.x, y}, {line.high.x, y + height}}, value / top,
               with_alpha(color_of(Meaning::attention), style.dense ? 0.45F : 1.0F));
    const float left = line.low.x + ui.px(style.dense ? 2 : 0);
    const float end =
        left + draw_text(ui, ui.number(), {left, line.low.y}, core::fixed_text(value, 2), line.high.x - left);
    // What the head does, where there is room for the words.
    const auto [habit, words] = core::heads::habit_of(score);
    const float start = line.high.x - compat::text_size(ui.fonts.caption, words).x;
    if (!style.dense && start > end + ui.px(8))
        draw_text(ui, {ui.fonts.caption, habit ? ui.theme.text : ui.theme.muted}, {start, line.low.y}, words);
}

void head_tooltip(const Ui& ui, const core::Session& session, const Step& pattern, const core::heads::HeadScore& score,
                  float factor) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.number(), tr("{attention}  head {head}", {{"attention", score.attention}, {"head", score.head}}));
    for (const core::heads::PatternMeasure measure : core::heads::kPatternMeasures) {
        const std::string value = core::number_text(score.value(measure), 3);
        const std::string line = measure == core::heads::PatternMeasure::entropy
                                     ? tr("{measure}  {bits} bits, like uniform over {keys} keys",
                                          {{"measure", core::heads::measure_name(measure)},
                                           {"bits", value},
                                           {"keys", core::number_text(std::exp2(score.value(measure)), 3)}})
                                     : std::string(core::heads::measure_name(measure)) + "  " + value;
        text_line(ui.note(), line);
    }
    if (factor != 1.0F)
        text_line({ui.fonts.caption, ui.theme.warning},
                  factor == 0.0F ? tr("switched off") : "z " + factor_text(factor));
    const core::Slice slice = core::slice_of(pattern, {session.cursor().place.batch, score.head}, pattern.axes[1].size);
    const Sentence note = core::step::note_of_small_picture(*session.shown().run, pattern, slice);
    if (!note.empty()) text_line(ui.note(), tr(note));
    text_line(ui.note(), tr("Click: see it large (Enter for the outlined head)"));
    ImGui::EndTooltip();
}

// The dot: filled means on. Shift+click solos the head.
void draw_switch(const Ui& ui, const core::Session& session, const core::heads::HeadScore& score, float factor,
                 Area box, Commands& commands) {
    const bool clicked = press_at("switch", box);
    const bool hovered = ImGui::IsItemHovered(), off = factor == 0.0F;
    tooltip(off ? tr("Switch this head on")
                : tr("Switch this head off. With Shift: switch off all the others of its attention (solo)"));
    if (clicked && ImGui::GetIO().KeyShift) {
        const Index heads = session.shown().scenario.query_heads();
        commands.push_back(core::command::SoloHead{
            score.attention, score.head,
            !core::is_solo(session.fitting_scenario().edits, score.attention, score.head, heads)});
    } else if (clicked) {
        commands.push_back(core::command::ScaleHeadTo{score.attention, score.head, off ? 1.0F : 0.0F});
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
std::string name_of(const Ui& ui, const core::heads::HeadScore& score, float width) {
    const std::string layer = std::to_string(score.layer), head = std::to_string(score.head);
    const std::string whole = tr("layer {layer} head {head}", {{"layer", layer}, {"head", head}});
    return compat::text_size(ui.fonts.caption, whole).x <= width ? whole : "L" + layer + "H" + head;
}

// The room for the words beside a picture.
float width_of_words(const Ui& ui) { return ui.px(120); }

float line_of_words(const Ui& ui) { return compat::font_size(ui.fonts.caption) + ui.px(4); }

// "0 · 3", what the head does most of the time, its measure, and the answer without it; as much as there is room for.
void draw_words(const Ui& ui, const core::Session& session, const HeadsTabState& heads,
                const core::heads::HeadScore& score, float factor, const AnswerWithout& answer, Area area,
                Commands& commands) {
    const float line = line_of_words(ui);
    views::Rows rows{area};
    const auto next = [&] {
        return rows.rest.height() >= line - ui.px(3) ? std::optional(rows.next(line)) : std::nullopt;
    };
    if (const auto top = next()) {
        const float text = compat::font_size(ui.fonts.caption);
        draw_switch(ui, session, score, factor, {top->low, {top->low.x + ui.px(12), top->low.y + text}}, commands);
        draw_text(ui, ui.caption(), {top->low.x + ui.px(16), top->low.y},
                  tr("{layer} · {head}", {{"layer", score.layer}, {"head", score.head}}), top->width() - ui.px(16));
    }
    const auto [habit, words] = core::heads::habit_of(score);
    if (const auto place = next())
        draw_text(ui, {ui.fonts.caption, habit ? ui.theme.text : ui.theme.muted}, place->low, words, place->width());
    const auto without = answer.without.find({score.attention, score.head});
    const auto say_measure = [&] {
        const auto place = next();
        if (!place) return;
        const std::string_view unit = core::heads::measure_unit(heads.measure);
        const double value = score.value(heads.measure);
        const float end = draw_text(ui, ui.number(), place->low, core::fixed_text(value, 2), place->width());
        draw_text(ui, ui.note(), {place->low.x + end + ui.px(5), place->low.y},
                  unit.empty() ? core::heads::measure_name(heads.measure) : unit, place->width() - end - ui.px(5));
    };
    const auto bar = [&](double share, ImU32 color) {
        if (rows.rest.height() >= ui.px(4)) draw_share(ui, rows.next(ui.px(4)), share, color);
    };
    if (without == answer.without.end()) {
        say_measure();
        return bar(score.value(heads.measure) / core::heads::highest_possible(heads.measure, score.keys),
                   color_of(Meaning::attention));
    }
    if (rows.rest.height() >= 2.0F * line) say_measure();
    const double share_left = without->second;
    const ImU32 color = share_left < 0.5 * answer.with_all   ? ui.theme.error
                        : share_left < 0.9 * answer.with_all ? ui.theme.warning
                                                             : ui.theme.accent;
    if (const auto place = next()) {
        const std::string share = core::generate::percent_text(share_left);
        const float width = compat::text_size(ui.fonts.mono_small, share).x;
        const std::string whole = tr("off: {token}", {{"token", answer.token}});
        const float room = place->width() - width - ui.px(6);
        const bool fits = compat::text_size(ui.fonts.caption, whole).x <= room;
        draw_text(ui, ui.note(), place->low, fits ? whole : tr("off"), room);
        draw_text(ui, {ui.fonts.mono_small, color == ui.theme.accent ? ui.theme.text : color},
                  {place->high.x - width, place->low.y}, share);
    }
    bar(share_left, color);
}

// The token whose lines alone are drawn, and its weights on those of the other column.
struct LitToken {
    std::optional<PatternToken> token;
    std::vector<float> weights;

    [[nodiscard]] bool weighs(bool keys) const { return token && token->is_key != keys && !weights.empty(); }
};

struct Columns {
    Area cells;  // between the two columns of tokens
    float query_pitch, key_pitch;
    float label;  // the most room for a label

    [[nodiscard]] float query_y(Index i) const { return cells.low.y + (static_cast<float>(i) + 0.5F) * query_pitch; }
    [[nodiscard]] float key_y(Index i) const { return cells.low.y + (static_cast<float>(i) + 0.5F) * key_pitch; }
};

// A weight, always in the same few characters.
std::string number(float value) {
    return value > 0.0F && value < 0.0005F ? "<0.001" : core::fixed_text(static_cast<double>(value), 3);
}

float widest(const Ui& ui, const std::vector<std::string>& labels, float most) {
    float width = 0.0F;
    for (const std::string& label : labels) width = std::max(width, compat::text_size(ui.fonts.mono_small, label).x);
    return std::min(width, most);
}

Columns lay_out(const Ui& ui, const core::Heatmap& h, Area area) {
    const float line = compat::font_size(ui.fonts.mono_small), most = area.width() * 0.2F;
    // While a token is lit, its weights are beyond the labels of the other column.
    const float weights = compat::text_size(ui.fonts.mono_small, "<0.001").x + ui.px(20);
    const Area cells = {{area.low.x + widest(ui, h.row_labels, most) + weights, area.low.y + (line + ui.px(6)) * 2},
                        {area.high.x - widest(ui, h.column_labels, most) - weights, area.high.y - line - ui.px(8)}};
    const auto pitch = [&](Index count) { return std::min(cells.height() / static_cast<float>(count), ui.px(56)); };
    return {cells, pitch(h.rows), pitch(h.columns), most};
}

// ---- lines

// As thick as its weight, thinner if tokens crowd; its opacity is its weight relative to the largest in the picture.
// The lightest can still be seen.
void draw_line(const Ui& ui, const Columns& c, Index query, Index key, float weight, float largest) {
    const float most = std::min(ui.px(8), std::max(ui.px(1.5F), std::min(c.query_pitch, c.key_pitch) * 0.8F));
    const ImU32 color = with_alpha(ink_of(Meaning::attention, ui.theme), 0.4F + 0.6F * weight / largest);
    ImGui::GetWindowDrawList()->AddLine({c.cells.low.x, c.query_y(query)}, {c.cells.high.x, c.key_y(key)}, color,
                                        ui.px(1.0F) + most * weight);
}

void draw_lines(const Ui& ui, const core::PatternLines& lines, const Columns& c, const LitToken& lit) {
    if (!lit.token)
        for (const auto& [query, key, weight] : lines.lines)
            draw_line(ui, c, query, key, std::min(weight, 1.0F), lines.largest);
    for (Index i = 0; i < std::ssize(lit.weights); ++i)
        if (const float weight = lit.weights[static_cast<std::size_t>(i)]; weight > 0.0F)
            draw_line(ui, c, lit.token->is_key ? i : lit.token->index, lit.token->is_key ? lit.token->index : i,
                      std::min(weight, 1.0F), lines.largest);
}

// ---- tokens

bool is_nan_row(const core::PatternLines& lines, Index query) {
    return query < std::ssize(lines.broken) && lines.broken[static_cast<std::size_t>(query)];
}

// What a label is worth if they crowd: its weight on the lit token; the lit token itself is worth the most.
std::vector<float> worth_of(const core::Heatmap& h, bool keys, const LitToken& lit) {
    std::vector<float> worth(static_cast<std::size_t>(keys ? h.columns : h.rows), 0.0F);
    if (lit.token && lit.token->is_key == keys) worth[static_cast<std::size_t>(lit.token->index)] = 1.0F;
    for (std::size_t i = 0; lit.weighs(keys) && i < worth.size(); ++i)
        worth[i] = std::isnan(lit.weights[i]) ? 0.0F : lit.weights[i];
    return worth;
}

// The labels of a column that are drawn. Letters are lower than their line.
std::vector<bool> labelled_tokens(const Ui& ui, const core::Heatmap& h, const Columns& c, bool keys,
                                  const LitToken& lit) {
    std::vector<float> at;
    for (Index i = 0; i < (keys ? h.columns : h.rows); ++i) at.push_back(keys ? c.key_y(i) : c.query_y(i));
    return core::heads::labels_with_room(at, worth_of(h, keys, lit), compat::font_size(ui.fonts.mono_small) * 0.75F);
}

// A column of tokens; while a token of the other column is lit, with their weights.
void draw_tokens(const Ui& ui, const core::Heatmap& h, const core::PatternLines& lines, const Columns& c, bool keys,
                 const LitToken& lit) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto& labels = keys ? h.column_labels : h.row_labels;
    const float x = keys ? c.cells.high.x : c.cells.low.x, side = keys ? 1.0F : -1.0F;
    const float line = compat::font_size(ui.fonts.mono_small);
    const std::vector<bool> drawn = labelled_tokens(ui, h, c, keys, lit);
    const ImU32 dot = color_of(keys ? Meaning::key : Meaning::query);
    const auto text = [&](const std::string& what, float distance, float y, ImU32 ink) {
        const float width = compat::text_size(ui.fonts.mono_small, what).x;
        const float left = keys ? x + distance : x - distance - width;
        draw_text(ui, {ui.fonts.mono_small, ink}, {left, y - line * 0.5F}, what);
    };
    const float beyond = widest(ui, labels, c.label) + ui.px(18);
    for (Index i = 0; i < static_cast<Index>(labels.size()); ++i) {
        const float y = keys ? c.key_y(i) : c.query_y(i);
        const float pitch = keys ? c.key_pitch : c.query_pitch;
        if (pitch >= 1.0F || drawn[static_cast<std::size_t>(i)])
            list.AddCircleFilled({x + side * ui.px(1), y}, std::min(ui.px(3), std::max(pitch, 1.0F) * 0.4F), dot, 12);
        const bool on = lit.token == PatternToken{keys, i};
        if (!drawn[static_cast<std::size_t>(i)]) continue;
        const bool broken = !keys && is_nan_row(lines, i);
        const std::string label =
            fitted(ui.fonts.mono_small, broken ? "NaN" : labels[static_cast<std::size_t>(i)], c.label);
        const float weight = lit.weighs(keys) ? lit.weights[static_cast<std::size_t>(i)] : 0.0F;
        // In reading order, from left to right: a query's weight comes before its label.
        if (weight > 0.0F && !keys) text(number(weight), beyond, y, ui.theme.muted);
        const bool no_key = keys && i >= h.own_columns();
        text(label, ui.px(8), y,
             broken   ? ui.theme.error
             : on     ? ui.theme.accent
             : no_key ? ui.theme.muted
                      : ui.theme.text);
        if (weight > 0.0F && keys) text(number(weight), beyond, y, ui.theme.muted);
    }
}

// Below all lines, or above them: it covers none.
void token_tooltip(const Ui& ui, const core::Heatmap& h, const LitToken& lit, bool broken, Area lines) {
    if (!begin_tooltip_beside(lines)) return;
    const PatternToken token = *lit.token;
    const auto weight = [&](Index other) { return lit.weights[static_cast<std::size_t>(other)]; };
    const auto label = [&](bool key, Index i) {
        if (key && i >= h.own_columns()) return core::hidden_text(core::hidden_by::no_key);
        const std::string& token_text = (key ? h.column_labels : h.row_labels)[static_cast<std::size_t>(i)];
        return tr("{axis} {index} “{token}”", {{"axis", key ? "key" : "query"}, {"index", i}, {"token", token_text}});
    };
    const std::string here = label(token.is_key, token.index);
    text_line(ui.number(), token.is_key ? tr("{key} is attended to by", {{"key", here}})
                                        : tr("{query} attends to", {{"query", here}}));
    std::vector<Index> others;
    for (Index i = 0; i < std::ssize(lit.weights); ++i)
        if (weight(i) > 0.0F) others.push_back(i);
    std::stable_sort(others.begin(), others.end(), [&](Index a, Index b) { return weight(a) > weight(b); });
    if (broken)
        text_line({ui.fonts.caption, ui.theme.error}, tr("nothing: every key is masked, so the weights are NaN"));
    for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 6); ++i)
        text_line({ui.fonts.mono_small, ui.theme.muted},
                  number(weight(others[i])) + "  " + label(!token.is_key, others[i]));
    ImGui::EndTooltip();
}

// The token whose row, on its side of the picture, is under the mouse.
std::optional<PatternToken> token_at(const core::Heatmap& h, const Columns& c, Area area, ImVec2 mouse) {
    const bool key = mouse.x > (area.low.x + area.high.x) * 0.5F;
    const float x = key ? c.cells.high.x : c.cells.low.x;
    // The area is its label, and a little of where its lines start.
    if (key ? mouse.x < x - c.cells.width() * 0.2F : mouse.x > x + c.cells.width() * 0.2F) return std::nullopt;
    const auto index = static_cast<Index>(std::floor((mouse.y - c.cells.low.y) / (key ? c.key_pitch : c.query_pitch)));
    if (index < 0 || index >= (key ? h.columns : h.rows)) return std::nullopt;
    return PatternToken{key, index};
}

std::optional<PatternToken> use_mouse(const core::Heatmap& h, const Columns& c, std::optional<PatternToken>& pinned,
                                      Area area) {
    const bool clicked = click_at("bipartite", {{area.low.x, c.cells.low.y}, {area.high.x, c.cells.high.y}});
    if (!ImGui::IsItemHovered()) return std::nullopt;
    const auto token = token_at(h, c, area, ImGui::GetIO().MousePos);
    if (token) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (clicked) pinned = token == pinned ? std::nullopt : token;
    return token;
}

void draw_captions(const Ui& ui, const core::PatternLines& lines, const Columns& c, bool pinned, Area area) {
    const float line = compat::font_size(ui.fonts.caption);
    draw_text(ui, ui.note(), area.low, tr("Each line is a weight: the thicker, the larger."), area.width());
    const float y = area.low.y + line + ui.px(6);
    const float width = compat::text_size(ui.fonts.caption, "query").x;
    draw_text(ui, {ui.fonts.caption, ink_of(Meaning::query, ui.theme)}, {c.cells.low.x - width, y}, "query");
    draw_text(ui, {ui.fonts.caption, ink_of(Meaning::key, ui.theme)}, {c.cells.high.x, y}, "key");
    const std::string below = pinned ? tr("Click the token again to release it.")
                              : lines.leaves_out
                                  ? tr("Only weights above {number}; point at a token to see all of its lines.",
                                       {{"number", number(lines.least)}})
                                  : tr("Point at a token to see only its lines; click to keep them.");
    draw_text(ui, ui.note(), {area.low.x, area.high.y - line}, below, area.width());
}

}  // namespace

float side_of_picture(const Ui& ui, CellStyle style, ImVec2 cell) {
    return style.beside ? std::min(cell.x - width_of_words(ui), cell.y)
                        : std::min(cell.x, cell.y - cell_text_height(ui, style));
}

float cell_text_height(const Ui& ui, CellStyle style) {
    if (style.few) return style.beside ? 0.0F : 4.0F * line_of_words(ui) + ui.px(8);
    if (style.alone) return ui.px(2);
    const float line = compat::font_size(ui.fonts.mono_small);
    return line + ui.px(style.dense ? 4 : 12) + (style.named ? line + ui.px(3) : 0.0F);
}

void draw_head_cell(const Ui& ui, const core::Session& session, ViewState& state, const core::heads::HeadScore& score,
                    const AnswerWithout& answer, CellStyle style, Area box, Commands& commands) {
    HeadsTabState& heads = state.part<HeadsTabState>();
    const Step& pattern = *session.shown().run->plan().step_of(score.attention, AttentionStep::pattern);
    const float factor = core::head_factor(session.fitting_scenario().edits, score.attention, score.head);
    const float line = compat::font_size(ui.fonts.mono_small), gap = ui.px(style.alone ? 1 : style.dense ? 3 : 4);
    const float name = style.named ? line + ui.px(3) : 0.0F;
    const Area inner = {{box.low.x + gap, box.low.y}, {box.high.x - gap, box.high.y}};
    const float beside = style.beside ? width_of_words(ui) : 0.0F;
    const Area picture = picture_box(*session.shown().run, pattern,
                                     {{inner.low.x, inner.low.y + name},
                                      {inner.high.x - beside, inner.high.y - cell_text_height(ui, style) + name}});
    const float under = picture.high.y + ui.px(style.dense ? 1 : 3);
    ImGui::PushID(static_cast<int>(pattern.id));
    ImGui::PushID(static_cast<int>(score.head));

    ImGui::SetCursorScreenPos(inner.low);
    std::string head;  // for whoever doesn't see it
    if (noting_document() != nullptr)
        head = tr("{attention} head {head}", {{"attention", score.attention}, {"head", score.head}});
    if (press_area("open", {inner.width() - beside, std::max(1.0F, picture.high.y - inner.low.y)}, head)) {
        commands.push_back(core::command::GoTo{pattern.name});
        commands.push_back(core::command::ChooseHead{score.head});
        heads.attention = score.attention;
        heads.opened = true;
        heads.pinned.reset();
    }
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) head_tooltip(ui, session, pattern, score, factor);
    if (style.named) draw_text(ui, ui.note(), inner.low, name_of(ui, score, inner.width()), inner.width());
    if (!draw_picture(ui, session, heads, pattern, score.head, style.weights, picture)) state.busy = true;
    if (factor != 1.0F) draw_badge(ui, factor, picture);
    if (style.few) {
        const Area words =
            style.beside ? Area{{picture.high.x + ui.px(8), picture.low.y}, {picture.high.x + beside, inner.high.y}}
                         : Area{{inner.low.x, under + ui.px(2)}, inner.high};
        draw_words(ui, session, heads, score, factor, answer, words, commands);
    } else if (!style.alone) {
        const float left = style.dense ? inner.low.x : picture.low.x;
        draw_switch(ui, session, score, factor, {{left, under}, {left + ui.px(12), under + line}}, commands);
        draw_measure(ui, score, heads.measure, style,
                     {{left + ui.px(style.dense ? 11 : 14), under}, {inner.high.x, under + line}});
    }

    ImDrawList& list = *ImGui::GetWindowDrawList();
    const double top = core::heads::highest_possible(heads.measure, score.keys);
    if (!core::heads::passes(score, heads.measure, {static_cast<double>(heads.threshold) * top, heads.at_most}))
        list.AddRectFilled(box.low, box.high, with_alpha(ui.theme.background, 0.8F));
    if (hovered)
        compat::add_rect(list, {picture.low.x - 2, picture.low.y - 2}, {picture.high.x + 2, picture.high.y + 2},
                         ui.theme.text, 0.0F, ui.px(1.5F));
    else if (heads.attention == score.attention && session.cursor().place.head == score.head)
        compat::add_rect(list, {picture.low.x - 2, picture.low.y - 2}, {picture.high.x + 2, picture.high.y + 2},
                         ui.theme.accent, 0.0F, ui.px(1.5F));
    ImGui::PopID();
    ImGui::PopID();
}

std::optional<PatternToken> draw_bipartite(const Ui& ui, const core::Heatmap& pattern, const core::PatternLines& lines,
                                           const TokenWeights& weights_of, std::optional<PatternToken> lit,
                                           std::optional<PatternToken>& pinned, Area area) {
    const Columns columns = lay_out(ui, pattern, area);
    const std::optional<PatternToken> hovered = use_mouse(pattern, columns, pinned, area);
    if (pinned && pinned->index >= (pinned->is_key ? pattern.columns : pattern.rows)) pinned.reset();
    LitToken shown = {hovered ? hovered : lit ? lit : pinned, {}};
    if (shown.token) shown.weights = weights_of(*shown.token);
    draw_captions(ui, lines, columns, pinned.has_value(), area);
    draw_lines(ui, lines, columns, shown);
    draw_tokens(ui, pattern, lines, columns, false, shown);
    draw_tokens(ui, pattern, lines, columns, true, shown);
    if (hovered) token_tooltip(ui, pattern, shown, !hovered->is_key && is_nan_row(lines, hovered->index), area);
    return hovered;
}

}  // namespace decoderscope::views::heads
