#include "app/views/frame/cards.h"

#include "app/core/compare/transformer_lens.h"
#include "app/core/run/step_picture.h"
#include "app/core/text/places.h"
#include "app/views/frame/step_colors.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views {

namespace {

void paint(const core::Session& session, ViewState& state, const Step& step, const core::Slice& slice,
           const HeatmapGesture& gesture, Commands& commands) {
    MaskBrush& brush = state.part<MaskBrush>();
    const std::string attention = step.attention;
    const bool all_heads = ImGui::GetIO().KeyShift;
    const auto ask = [&](Spot spot, bool continues) {
        const Cell cell = slice.cell(spot.first, spot.second);
        commands.push_back(core::command::PaintMask{attention, cell[0],
                                                    all_heads ? std::nullopt : std::optional(cell[1]), cell[2], cell[3],
                                                    brush.keeps, continues});
    };
    const Spot now = *gesture.painted;
    if (gesture.paint_begins) {
        const Tensor& mask = session.shown().run->value(attention, AttentionStep::mask);
        brush.keeps =
            mask.at(slice.cell(now.first, now.second)) == 0.0F;  // the first cell is toggled; the others follow it
        ask(now, false);
    } else {
        for (const Spot& spot : core::cells_between(brush.last, now)) ask(spot, true);
    }
    brush.last = now;
}

}  // namespace

void cell_tooltip(const Ui& ui, const core::Session& session, const Step& step, const core::step::ShownHeatmap& shown,
                  const core::Slice& slice, const HeatmapGesture& gesture,
                  const core::Value<core::step::ShownTile>& tile) {
    const core::Heatmap& h = shown.heatmap;
    const Spot spot = *gesture.hovered;
    const Run& run = session.shown().run_of(step);
    const auto [of, cell] = core::number_at(run, step, slice, spot.first, spot.second);
    const bool is_own = of == &step;
    const Fonts& fonts = ui.fonts;
    const Theme& theme = ui.theme;
    std::vector<TooltipLine> lines = {{fonts.mono_small, theme.muted, cell_name(of->name, cell)}};
    const std::string hook = core::diff::transformer_lens_name(session.shown().run->plan(), *of);
    if (!hook.empty()) lines.push_back({fonts.caption, theme.muted, tr("TransformerLens: {name}", {{"name", hook}})});
    const float value =
        h.values.empty() ? core::step::one_number(run.value(of->id), cell) : h.at(spot.first, spot.second);
    lines.push_back({fonts.mono, theme.text, short_number(static_cast<double>(value))});
    const auto place = [&](const std::string& axis, const std::string& label, Index at) {
        if (axis.empty()) return;
        lines.push_back({fonts.caption, theme.muted, core::spoken_place(axis, at, label)});
    };
    place(h.row_axis, h.row_labels[static_cast<std::size_t>(spot.first)], spot.first);
    if (is_own) place(h.column_axis, h.column_labels[static_cast<std::size_t>(spot.second)], spot.second);
    const auto offset = static_cast<std::size_t>(spot.first * h.columns + spot.second);
    const std::uint8_t hidden = !h.hidden.empty() ? h.hidden[offset]
                                : h.values.empty() && step.masked_by && is_own
                                    ? core::hidden_keys(run, run.plan()[*step.masked_by], cell[0], cell[1],
                                                        cell[2])[static_cast<std::size_t>(cell[3])]
                                    : core::hidden_by::nothing;
    if (hidden != 0) lines.push_back({fonts.caption, theme.warning, core::hidden_text(hidden)});
    if (h.has_vanished(offset))
        lines.push_back({fonts.caption, theme.warning, std::string(core::mark_text(core::Mark::vanished))});
    if (tile ? tile->changed_at(spot.first, spot.second) : !shown.changed.empty() && shown.changed[offset] != 0) {
        const float before = core::step::one_number(session.shown().unedited->value(of->name), cell);
        lines.push_back({fonts.caption, theme.text,
                         tr("without edits {value}", {{"value", short_number(static_cast<double>(before))}})});
    }
    const core::Notes notes = session.seen_notes();
    for (const core::Note* note : core::notes_of(notes, of->name)) {
        const bool of_row =
            note->cell.size() + 1 == cell.size() && std::equal(note->cell.begin(), note->cell.end(), cell.begin());
        if (note->cell == cell || of_row) lines.push_back({fonts.caption, theme.text, note->text});
    }
    if (const auto& overlay = session.overlay())
        for (const core::OverlayValue& one : core::values_of(*overlay, of->name)) {
            if (one.cell != cell) continue;
            const std::string said = tr(
                "{file}: {value}", {{"file", overlay->name}, {"value", short_number(static_cast<double>(one.value))}});
            lines.push_back({fonts.caption, theme.text, said + (one.text.empty() ? "" : "  ") + one.text});
        }
    draw_cell_tooltip(ui, gesture, lines);
}

bool shows_mask(const core::Session& session, const Step& step) {
    return step.axes.size() == 4 && step.axes[3].name == axis::key &&
           session.shown().run->plan().step_of(step.attention, AttentionStep::mask) != nullptr;
}

void draw_card(const Ui& ui, const core::Session& session, ViewState& state, const Card& card,
               const std::optional<core::CellRect>& lit, Hovered& hovered, Commands& commands) {
    const Step& step = card.step;
    if (session.shown().run->value(step.id).empty()) {
        draw_text(ui, ui.note(), card.area.low, tr("{name}: being computed …", {{"name", step.name}}),
                  card.area.width());
        return;
    }
    const core::Place place = card.place.value_or(session.cursor().place);
    const auto shown = core::step::shown_card(session.derived(), session.shown(), step, place);
    core::Value<core::step::ShownTile> tile;
    const core::Slice slice = core::slice_of(step, place, session.shown().scenario.query_heads());
    const std::vector<core::NotedCell> notes = core::noted_cells(session.seen_notes(), step, slice);
    const std::vector<ColoredCell> colored = colored_cells(ui, session, step, slice);
    HeatmapDrawing drawing{.heatmap = shown->heatmap,
                           .key = heatmap_key(step.name),
                           .version = shown.number(),
                           .color = color_of(step.meaning),
                           .words = core::step::title_of(step),
                           .lit = lit,
                           .changed = &shown->changed,
                           .notes = notes,
                           .colored = colored,
                           .stale = session.stale(),
                           .paintable = shows_mask(session, step),
                           .painting = state.part<MaskBrush>().on && shows_mask(session, step),
                           .keeps_hittable = !state.presenting,
                           .scrolls_with = ImGui::GetScrollMaxY() > 0.0F};
    if (shown->heatmap.values.empty())
        drawing.tile = [&](const core::CellRect& seen) {
            tile = core::step::shown_tile(session.derived(), session.shown(), step, place, seen);
            if (!tile) return DrawnTile{.note = tr("rows are being read …")};
            return DrawnTile{tile->tile, &tile->heatmap, &tile->changed, tile.number(), tr(tile->note)};
        };
    if (state.ringed && card.is_result && state.ringed->first == step.name)
        drawing.ringed = slice.find(state.ringed->second);
    if (card.is_result && session.cursor().cell) drawing.selected = slice.find(*session.cursor().cell);
    const HeatmapGesture gesture = draw_heatmap(ui, drawing, state.viewports[drawing.key], card.area);
    const auto number = [&](Spot spot) {
        return core::number_at(session.shown().run_of(step), step, slice, spot.first, spot.second);
    };
    if (gesture.hovered) {
        const auto [of, cell] = number(*gesture.hovered);
        hovered = {of->name, cell};
        if (!gesture.painted) cell_tooltip(ui, session, step, *shown, slice, gesture, tile);
        if (gesture.painted) paint(session, state, step, slice, gesture, commands);
    }
    if (!gesture.clicked) return;
    const auto [of, cell] = number(*gesture.clicked);
    if (card.is_result && of == &step)
        commands.push_back(core::command::SelectCell{cell});
    else
        commands.push_back(core::command::Follow{of->name, cell});
}

}  // namespace decoderscope::views
