
#include "app/core/ask/question.h"
#include "app/core/generate/prediction.h"
#include "app/core/run/output_moves.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/place_choices.h"
#include "app/views/tabs/heads/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope::views::heads {

namespace {

// ---- the choices above the grid

float width_of(std::span<const char* const> labels, const Ui& ui) {
    float width = 0.0F;
    for (const char* label : labels) width += button_width(label) + ui.px(2);
    return width;
}

// The choice of the kind of attention; nothing for a model with a single kind.
void add_kinds(std::vector<FlowItem>& items, const Ui& ui, const core::Session& session, HeadsTabState& heads) {
    std::vector<core::heads::AttentionKind> kinds;
    std::vector<const char*> names;
    const std::array<const char*, 3> all_names = {tr("Self"), tr("Cross"), tr("Encoder")};
    for (const core::heads::AttentionKind kind : core::heads::kAttentionKinds) {
        if (core::heads::attentions_of_kind(session.shown().run->plan(), kind).empty()) continue;
        kinds.push_back(kind);
        names.push_back(all_names[static_cast<std::size_t>(kind)]);
    }
    if (kinds.size() < 2) return;
    items.push_back({width_of(names, ui), 0.0F, [&ui, &heads, kinds, names] {
                         const auto chosen = std::find(kinds.begin(), kinds.end(), heads.kind) - kinds.begin();
                         const int clicked = segmented(ui, "kind", names, static_cast<int>(chosen));
                         if (clicked >= 0) heads.kind = kinds[static_cast<std::size_t>(clicked)];
                     }});
}

// "≥ ──▮──── 0.50"
void choose_threshold(const Ui& ui, HeadsTabState& heads, double top) {
    if (toggle_button(ui, heads.at_most ? "≤" : "≥", false,
                      tr("Which heads stay bright: those from the threshold up, or down from it"))) {
        heads.at_most = !heads.at_most;
        heads.threshold = 1.0F - heads.threshold;
    }
    ImGui::SameLine(0, ui.px(2));
    const bool all = heads.at_most ? heads.threshold >= 1.0F : heads.threshold <= 0.0F;
    const std::string text = core::fixed_text(static_cast<double>(heads.threshold) * top, 2);
    ImGui::SetNextItemWidth(ui.px(88));
    ImGui::SliderFloat("##threshold", &heads.threshold, 0.0F, 1.0F, "", ImGuiSliderFlags_NoInput);
    if (!ImGui::IsItemActive()) tooltip(tr("Dims the heads on the other side of this value of the measure"));
    ImGui::SameLine(0, ui.px(8));
    ImGui::AlignTextToFramePadding();
    text_line({ui.fonts.caption, all ? ui.theme.muted : ui.theme.text}, all ? tr("all heads") : text);
}

// In which order the heads stand, by which measure, and which of them are dimmed, behind one button.
FlowItem order_item(const Ui& ui, HeadsTabState& heads, double top) {
    const std::array<const char*, 3> orders = {tr("By layer"), tr("Highest first"), tr("Lowest first")};
    const std::string label = std::string(core::heads::measure_name(heads.measure)) + " · " +
                              orders[static_cast<std::size_t>(heads.order)] + "  ▾";
    return {
        button_width(label.c_str()), ui.px(16), [&ui, &heads, top, orders, label] {
            if (!begin_menu_below(ui, label, "order", tr("Sort the heads, by another measure, or dim some of them")))
                return;
            const int clicked = segmented(ui, "orders", orders, static_cast<int>(heads.order));
            if (clicked >= 0) heads.order = static_cast<core::heads::HeadOrder>(clicked);
            for (const core::heads::PatternMeasure measure : core::heads::kPatternMeasures) {
                const std::string name(core::heads::measure_name(measure));
                if (toggle_button(ui, name.c_str(), heads.measure == measure,
                                  std::string(core::heads::measure_sentence(measure)).c_str()))
                    heads.measure = measure;
            }
            choose_threshold(ui, heads, top);
            ImGui::EndPopup();
        }};
}

// What the page is, and at the right, or below in a narrow window, its choices. Returns the height used.
float draw_title(const Ui& ui, const core::Session& session, HeadsTabState& heads, std::size_t count, double top,
                 Area area, Commands& commands) {
    std::vector<FlowItem> items;
    add_kinds(items, ui, session, heads);
    if (session.shown().scenario.batch() > 1) items.push_back(batch_item(ui, session, ui.px(16), commands));
    items.push_back(order_item(ui, heads, top));
    const PageTitle title = {tr("What each head looks at"),
                             tr_n("{count} head; a click opens it", "{count} heads; a click opens one", count)};
    return draw_titled(ui, title, items, area, control_lines(ui, area.height()));
}

// What the measure tells, and what the colours mean: in one line, or one below the other; without room for that in a
// low page, the colours alone. Returns the y below.
float draw_caption(const Ui& ui, const HeadsTabState& heads, core::Range weights, Area line, bool low) {
    const std::string most = core::short_number_text(static_cast<double>(weights.high), 3);
    const auto number = [&](const std::string& text) { return compat::text_size(ui.fonts.mono_small, text).x; };
    const float bar = ui.px(64), word = compat::text_size(ui.fonts.caption, tr("weight")).x;
    const float start = line.high.x - bar - number("0") - number(most) - word - ui.px(18);
    const std::string sentence(core::heads::measure_sentence(heads.measure));
    const float room = start - line.low.x - ui.px(12);
    // The longest of the sentences has room: another measure moves nothing.
    bool beside = true;
    std::size_t lines = 1;
    for (const core::heads::PatternMeasure measure : core::heads::kPatternMeasures) {
        const std::string any(core::heads::measure_sentence(measure));
        beside = beside && compat::text_size(ui.fonts.caption, any).x <= room;
        lines = std::max(lines, lines_of(ui.fonts.caption, any, line.width()).size());
    }
    if (beside) {
        draw_text(ui, ui.note(), line.low, sentence);
    } else if (!low) {
        constexpr std::size_t kMost = 3;
        draw_prose(ui, line.low, line.width(), ui.theme.muted, sentence, kMost);
        const float height =
            (compat::font_size(ui.fonts.caption) + ui.px(4)) * static_cast<float>(std::min(lines, kMost));
        line = {{line.low.x, line.low.y + height}, {line.high.x, line.high.y + height}};
    }
    float x = start;
    x += draw_text(ui, ui.note(), {x, line.low.y}, tr("weight")) + ui.px(8);
    x += draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {x, line.low.y}, "0") + ui.px(5);
    const float middle = (line.low.y + line.high.y) * 0.5F;
    draw_color_bar(ui, {{x, middle - ui.px(4)}, {x + bar, middle + ui.px(4)}}, {0.0F, 1.0F}, core::Scale::sequential,
                   ui.theme.sequential, 32);
    draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {x + bar + ui.px(5), line.low.y}, most);
    click_at("legend", {{start, line.low.y}, line.high});
    tooltip(
        tr("The colours of all heads span the same weights, from 0 to the largest of this grid, so that heads can be "
           "compared"));
    return line.high.y;
}

// ---- the grid

constexpr Index kFewHeads = 24;  // that have room for words

// What goes on with the shown text, and how likely that stays without each head.
AnswerWithout answer_without(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    if (!shown.scenario.computes()) return {};
    const auto next =
        core::generate::next_answer(session.derived(), shown.scenario, shown.run, session.cursor().place.batch);
    const Ref output = core::output_step(shown.run->plan());
    if (!next || !next->shown || next->shown->likely.empty() || output == nullptr) return {};
    const core::generate::Answer& answer = next->shown->likely.front();
    const core::ask::SweepQuestion question = {
        core::ask::names_of_each().front(), "softmax(" + output->name + ", -1)[" + std::to_string(next->row) + ", " +
                                                std::to_string(next->position) + ", " + std::to_string(answer.token) +
                                                "]"};
    const auto sweep = core::ask::shown_sweep(session.derived(), shown, question, nullptr);
    if (!sweep || !sweep->error.empty()) return {};
    AnswerWithout found{core::token_text(shown.scenario.tokenizer(), answer.token), answer.probability, {}};
    for (const core::ask::Result& result : sweep->sweep.results) {
        const core::Variation without = sweep->points.at(result.point).variation;
        const ScaleHead& head = std::get<ScaleHead>(without.more_edits.front());
        if (result.value.size() == 1) found.without[{head.attention, head.head}] = core::ask::number_of(result);
    }
    return found;
}

// Where the heads are: one column per head of a layer; those of a single layer in as many lines as make them largest.
struct Grid {
    Index columns = 1, rows = 1;
    bool in_layers = false;  // a line is a layer
    ImVec2 cell, origin;
    CellStyle style;
};

Index lines(Index count, Index columns) { return (count + columns - 1) / columns; }

ImVec2 cell_of(Index count, Index columns, Area area) {
    return {area.width() / static_cast<float>(columns), area.height() / static_cast<float>(lines(count, columns))};
}

// How many of a single layer's heads stand in a line.
Index most_legible_columns(const Ui& ui, Index count, CellStyle style, Area area) {
    const auto side = [&](Index columns) { return side_of_picture(ui, style, cell_of(count, columns, area)); };
    Index best = count;
    for (Index columns = count - 1; columns >= 1; --columns)
        if (side(columns) > side(best)) best = columns;
    return best;
}

// A few heads, with words: a layer's stay in one line, as long as it isn't the only one.
Grid lay_out_few(const Ui& ui, Index count, Index in_layer, core::Range weights, Area area) {
    Grid grid;
    float best = -1.0F;
    for (Index columns = 1; columns <= count; ++columns) {
        if (columns % in_layer != 0 && count != in_layer) continue;
        for (const bool beside : {true, false}) {
            const CellStyle style = {.few = true, .beside = beside, .weights = weights};
            const ImVec2 cell = cell_of(count, columns, area);
            const float side = side_of_picture(ui, style, {cell.x - ui.px(16), cell.y - ui.px(10)}) *
                               (beside ? 1.25F : 1.0F);  // what is read stands better beside its picture
            if (side <= best) continue;
            best = side;
            grid = {columns, lines(count, columns), false, cell, area.low, style};
        }
    }
    grid.cell.y = std::max(grid.cell.y, ui.px(52) + cell_text_height(ui, grid.style));
    return grid;
}

Grid lay_out(const Ui& ui, const std::vector<core::heads::HeadScore>& scores, core::Range weights, bool by_layer,
             Area area) {
    Grid grid;
    const auto count = static_cast<Index>(scores.size());
    for (const core::heads::HeadScore& score : scores) grid.columns = std::max(grid.columns, score.head + 1);
    if (count <= kFewHeads) return lay_out_few(ui, count, grid.columns, weights, area);
    grid.in_layers = by_layer;
    if (grid.columns == count) {
        const Index columns = most_legible_columns(ui, count, {.named = true, .weights = weights}, area);
        grid.in_layers = by_layer && columns == count;
        grid.columns = columns;
    }
    grid.rows = lines(count, grid.columns);
    const float left = grid.in_layers ? ui.px(44) : 0.0F, top = grid.in_layers ? ui.px(18) : 0.0F;
    const float room = area.height() - top, height = room / static_cast<float>(grid.rows);
    grid.style = {.named = !grid.in_layers, .weights = weights, .dense = height < ui.px(grid.in_layers ? 72 : 88)};
    const bool alone = height - cell_text_height(ui, grid.style) < ui.px(30);
    if (alone) grid.style = {.weights = weights, .dense = true, .alone = true};
    const float text = cell_text_height(ui, grid.style), least = text + ui.px(grid.in_layers || alone ? 15 : 36);
    const float width = std::min((area.width() - left) / static_cast<float>(grid.columns),
                                 std::max(ui.px(alone ? 24 : 220), height - text));
    // In a narrow window patterns are higher than they are wide, rather than leave the height free.
    constexpr float kHighest = 1.5F;
    grid.cell = {width, std::clamp(height, least, std::max(least, width * kHighest + text))};
    if (least > height)
        grid.cell.x = (area.width() - left - ImGui::GetStyle().ScrollbarSize) / static_cast<float>(grid.columns);
    grid.origin = {area.low.x + left, area.low.y + top};
    return grid;
}

void draw_head_numbers(const Ui& ui, const Grid& grid, float left) {
    draw_text(ui, ui.note(), {left, grid.origin.y - ui.px(17)}, tr("layer"));
    for (Index head = 0; head < grid.columns; ++head) {
        const std::string text = tr("head {head}", {{"head", head}});
        const float middle = grid.origin.x + (static_cast<float>(head) + 0.5F) * grid.cell.x;
        const std::string fits =
            compat::text_size(ui.fonts.caption, text).x < grid.cell.x - ui.px(4) ? text : std::to_string(head);
        draw_text(ui, ui.note(),
                  {middle - compat::text_size(ui.fonts.caption, fits).x * 0.5F, grid.origin.y - ui.px(17)}, fits);
    }
}

void draw_grid(const Ui& ui, const core::Session& session, ViewState& state, const core::heads::MeasuredHeads& measured,
               Area area, Commands& commands) {
    const std::vector<core::heads::HeadScore>& scores = measured.scores;
    const HeadsTabState& heads = state.part<HeadsTabState>();
    const bool by_layer = heads.order == core::heads::HeadOrder::by_layer;
    const Grid grid = lay_out(ui, scores, measured.weights, by_layer, area);
    if (grid.in_layers) draw_head_numbers(ui, grid, area.low.x);
    const AnswerWithout answer = grid.style.few ? answer_without(session) : AnswerWithout{};
    const std::vector<std::size_t> order = core::heads::ordered(scores, heads.measure, heads.order);
    const float edge = ui.px(2);  // room for the first row's outline
    const float half_line = compat::font_size(ui.fonts.mono_small) * 0.5F;
    scrolled("heads", {{area.low.x, grid.origin.y - edge}, area.high}, [&](ImVec2 start) {
        const ImVec2 origin = {grid.origin.x, start.y + edge};
        for (std::size_t place = 0; place < order.size(); ++place) {
            const auto row = static_cast<Index>(place) / grid.columns,
                       column = static_cast<Index>(place) % grid.columns;
            const ImVec2 low = {origin.x + static_cast<float>(column) * grid.cell.x,
                                origin.y + static_cast<float>(row) * grid.cell.y};
            const float apart = grid.style.few ? ui.px(10) : 0.0F;
            const Area box = {low, {low.x + grid.cell.x, low.y + grid.cell.y - apart}};
            if (!ImGui::IsRectVisible(box.low, box.high)) continue;
            if (grid.in_layers && column == 0)
                draw_text(ui, ui.number(),
                          {area.low.x + ui.px(10),
                           box.low.y + (grid.cell.y - cell_text_height(ui, grid.style)) * 0.5F - half_line},
                          std::to_string(scores[order[place]].layer));
            draw_head_cell(ui, session, state, scores[order[place]], answer, grid.style, box, commands);
        }
        return origin.y + grid.cell.y * static_cast<float>(grid.rows);
    });
}

}  // namespace

void draw_heads_grid(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    HeadsTabState& heads = state.part<HeadsTabState>();
    const core::Snapshot& shown = session.shown();
    const core::Value<core::heads::MeasuredHeads> known = core::heads::measured_heads(
        session.derived(), shown.scenario, shown.run, heads.kind, session.cursor().place.batch);
    if (!known) {
        draw_text(ui, ui.hint(), area.low, tr("Measuring the heads …"));
        return;
    }
    const core::heads::MeasuredHeads& measured = *known;
    heads.pictures.begin_frame();
    const double top =
        measured.scores.empty() ? 1.0 : core::heads::highest_possible(heads.measure, measured.scores.front().keys);
    const float least = ui.px(96);
    const auto draw_from = [&](ImVec2 start) {
        const Area whole = {start, {start.x + area.width(), start.y + area.height()}};
        float y = start.y + draw_title(ui, session, heads, measured.scores.size(), top, whole, commands) + ui.px(2);
        const float line = compat::font_size(ui.fonts.caption);
        y = draw_caption(ui, heads, measured.weights, {{start.x, y}, {whole.high.x, y + line}},
                         control_lines(ui, area.height()) == 1) +
            ui.px(12);
        heads.choices = y - start.y;
        const float bottom = std::max(whole.high.y, y + least);
        draw_grid(ui, session, state, measured, {{start.x, y}, {whole.high.x, bottom}}, commands);
        return bottom;
    };
    if (heads.choices > area.height() - least)  // in a low window the choices scroll with the grid
        scrolled("heads-tab", with_scroll_bar(area), draw_from);
    else
        static_cast<void>(draw_from(area.low));
    state.hovered.reset();
}

}  // namespace decoderscope::views::heads
