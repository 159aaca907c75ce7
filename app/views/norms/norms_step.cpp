#include "app/core/step/explanation_text.h"
#include "app/core/text/labels.h"
#include "app/views/norms/norms_parts.h"
#include "app/views/widgets/cell_tooltip.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope {

namespace {

// Keys of the three pictures' textures and widgets; no step's number is that high.
constexpr std::uint64_t kFirstKey = 0x4E0000000001ULL;

struct Picture {
    const Heatmap& heatmap;
    Area area;
};

// Square pictures two in a row, wide ones below one another.
std::array<Area, 3> arrange(const Ui& ui, const StepPair& pair, Area area) {
    const float gap = ui.px(16);
    const bool wide = pair.a.columns > 12 && pair.a.columns > 2 * pair.a.rows;
    std::array<Area, 3> places;
    if (wide) {
        float y = area.low.y;
        const float most = (area.height() - gap * 2) / 3.0F;
        for (std::size_t i = 0; i < places.size(); ++i) {
            const Heatmap& heatmap = i == 2 ? pair.difference : pair.a;
            const float height = fitted_height(ui, heatmap, area.width(), most);
            places[i] = {{area.low.x, y}, {area.high.x, y + height}};
            y += height + gap;
        }
        return places;
    }
    const float half = (area.width() - gap) * 0.5F, most = (area.height() - gap) * 0.5F;
    const float top = fitted_height(ui, pair.a, half, most), bottom = fitted_height(ui, pair.difference, half, most);
    places[0] = {area.low, {area.low.x + half, area.low.y + top}};
    places[1] = {{area.high.x - half, area.low.y}, {area.high.x, area.low.y + top}};
    places[2] = {{area.low.x, area.low.y + top + gap}, {area.low.x + half, area.low.y + top + gap + bottom}};
    return places;
}

void pair_tooltip(const Ui& ui, const NormsScene& scene, const StepPair& pair, const std::string& name, Spot spot) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.mono_small, ui.theme.muted, name);
    const auto number = [&](const Heatmap& heatmap, const char* label) {
        text_line(ui.fonts.mono_small, ui.theme.text,
                  short_number(static_cast<double>(heatmap.at(spot.first, spot.second))));
        ImGui::SameLine(ui.px(80));
        text_line(ui.fonts.caption, ui.theme.muted, label);
    };
    number(pair.a, tr(norms_place_of(scene.runs.left).title));
    number(pair.b, tr(norms_place_of(scene.runs.right).title));
    const auto offset = static_cast<std::size_t>(spot.first * pair.a.columns + spot.second);
    const bool hidden = !pair.difference.hidden.empty() && pair.difference.hidden[offset] != 0;
    if (hidden)
        text_line(
            ui.fonts.caption, ui.theme.warning,
            tr("{hidden}: left out of the difference", {{"hidden", hidden_text(pair.difference.hidden[offset])}}));
    else
        number(pair.difference, tr("difference"));
    ImGui::EndTooltip();
}

// Which slice of the tensor is shown.
void draw_place(const Ui& ui, const Session& session, const NormsScene& scene, Area area, Commands& commands) {
    ImGui::SetCursorScreenPos(area.low);
    ImGui::BeginGroup();
    const Place place = session.cursor().place;
    const Config& config = session.shown().scenario.config();
    const auto has = [&](std::string_view name) {
        return std::any_of(scene.here.axes.begin(), scene.here.axes.end(),
                           [&](const Axis& axis) { return axis.name == name; });
    };
    if (has(axis::batch)) {
        const int moved = counter(ui, tr("batch"), place.batch, session.shown().scenario.inputs.batch());
        if (moved != 0) commands.push_back(command::ChooseBatch{place.batch + moved});
        ImGui::SameLine(0, ui.px(16));
    }
    if (has(axis::head)) {
        const int moved = counter(ui, tr("head"), place.head, config.nhead);
        if (moved != 0) commands.push_back(command::ChooseHead{place.head + moved});
        ImGui::SameLine(0, ui.px(16));
    }
    if (const Index block = block_number(scene.here); block >= 0) {
        const int moved =
            counter(ui, tr("layer"), block, scene.prefix.empty() ? config.num_layers : config.encoder_layers);
        if (moved != 0) commands.push_back(command::MoveLayer{moved});
    }
    ImGui::EndGroup();
}

}  // namespace

void draw_norms_step(const Ui& ui, const Session& session, ViewState& state, const NormsScene& scene, Area area,
                     Commands& commands) {
    const float choices = ui.px(32), line = compat::font_size(ui.fonts.mono_small) + ui.px(12);
    draw_place(ui, session, scene, {{area.low.x, area.high.y - choices}, area.high}, commands);
    const Value<std::optional<StepPair>> shown = shown_pair(session, scene);
    const std::optional<StepPair>& pair = *shown;
    if (!pair) {
        text_block(
            ui, ui.fonts.text, ui.theme.muted, area,
            tr("{name} is not computed in both runs, so there is nothing to compare.", {{"name", scene.here.name}}));
        return;
    }
    draw_text(ui, ui.fonts.mono_small, area.low, ui.theme.text, scene.here.name, area.width());
    const float note = compat::font_size(ui.fonts.caption) + ui.px(8);
    const Area pictures = {{area.low.x, area.low.y + line}, {area.high.x, area.high.y - choices - note}};
    const std::array<Area, 3> places = arrange(ui, *pair, pictures);
    const std::array<const Heatmap*, 3> heatmaps = {&pair->a, &pair->b, &pair->difference};
    const Slice slice = slice_of(scene.here, session.cursor().place, session.shown().scenario.config().nhead);
    for (std::size_t i = 0; i < places.size(); ++i) {
        HeatmapDrawing drawing{.heatmap = *heatmaps[i],
                               .key = kFirstKey + i,
                               .version = shown.number(),
                               .color = color_of(scene.here.meaning),
                               .stale = session.stale(),
                               .scrolls_with = ImGui::GetScrollMaxY() > 0.0F};
        if (session.cursor().cell) drawing.selected = slice.find(*session.cursor().cell);
        // All three share zoom and position.
        const HeatmapGesture gesture = draw_heatmap(ui, drawing, state.viewports[kFirstKey], places[i]);
        if (gesture.hovered) {
            place_cell_tooltip(ui, gesture, 4);
            pair_tooltip(ui, scene, *pair,
                         cell_name(scene.here.name, slice.cell(gesture.hovered->first, gesture.hovered->second)),
                         *gesture.hovered);
        }
        if (!gesture.clicked) continue;
        commands.push_back(command::SelectCell{slice.cell(gesture.clicked->first, gesture.clicked->second)});
        if (pair->a.row_axis == axis::pos) state.lab<NormsTabState>().row = gesture.clicked->first;
    }
    draw_text(
        ui, ui.fonts.caption, {area.low.x, places[2].high.y + ui.px(4)}, ui.theme.muted,
        tr("Orange: more under {first}, blue: under {second}.",
           {{"first", norms_place_of(scene.runs.left).title}, {"second", norms_place_of(scene.runs.right).title}}),
        area.width());
}

}  // namespace decoderscope
