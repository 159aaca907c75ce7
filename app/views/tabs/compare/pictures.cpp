#include "app/core/compare/comparison_text.h"
#include "app/core/compare/shown_comparison.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/places.h"
#include "app/views/frame/matrices_view.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views::compare {

namespace {

// Keys of the three textures and widgets; other views use a step's number.
const std::uint64_t kKeys = heatmap_key("diff");

const core::TensorDifference* difference_of(const core::Comparison& comparison, const std::string& name) {
    const auto& all = comparison.tensors;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& d) { return d.name == name; });
    return found == all.end() ? nullptr : &*found;
}

// ---- the line above the pictures: the step, and which slice of it is shown

Index size_along(const Step& step, std::string_view name) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i)
        if (step.axes[i].name == name) return step.axes[i].size;
    return 1;
}

// Returns the right end of the room for the line's text.
float draw_steppers(const Ui& ui, const core::Session& session, bool of_norms, Area line, Commands& commands) {
    const Step& step = session.step();
    const core::Place place = session.cursor().place;
    float right = line.high.x;
    const auto moved = [&](const char* name, Index value, Index count) {
        if (count < 2) return 0;
        right -= counter_width(ui, name, value, count);
        ImGui::SetCursorScreenPos({right, line.low.y});
        const int by = counter(ui, name, value, count);
        right -= ui.px(12);
        return by;
    };
    const Index heads = size_along(step, axis::head) > 1 ? session.shown().scenario.query_heads() : 1;
    if (const int by = moved(tr("head"), place.head, heads); by != 0)
        commands.push_back(core::command::ChooseHead{place.head + by});
    if (const int by = moved(tr("batch"), place.batch, size_along(step, axis::batch)); by != 0)
        commands.push_back(core::command::ChooseBatch{place.batch + by});
    if (const Index block = core::block_number(step); of_norms && block >= 0) {
        const Config& config = session.shown().scenario.config();  // which a recording doesn't have
        const Index layers = step.stack == StackKind::decoder ? config.num_layers : config.encoder_layers;
        if (const int by = moved(tr("layer"), block, layers); by != 0) commands.push_back(core::command::MoveLayer{by});
    }
    return right;
}

// The name that opens the list of all steps if that is folded. Returns where it ends.
float open_folded_list(const Ui& ui, const core::Session& session, const CompareTabState& tab, Area line, float right,
                       Commands& commands) {
    const float width = std::min(ui.px(280), right - line.low.x);
    ImGui::SetCursorScreenPos(line.low);
    choose_step(ui, session, tab, width, commands);
    return line.low.x + width;
}

// The step's name, which opens the list of all if that is folded. Returns where it ends.
float draw_step_name(const Ui& ui, const core::Session& session, const CompareTabState& tab, const std::string& name,
                     Area line, float right, bool folded, Commands& commands) {
    if (!folded) {
        const float y = line.low.y + (ImGui::GetFrameHeight() - compat::font_size(ui.fonts.mono_small)) * 0.5F;
        return line.low.x +
               draw_text(ui, ui.fonts.mono_small, {line.low.x, y}, ui.theme.text, name, right - line.low.x);
    }
    return open_folded_list(ui, session, tab, line, right, commands);
}

void draw_step_line(const Ui& ui, const core::Session& session, const CompareTabState& tab,
                    const core::TensorDifference& d, Area line, bool folded, Commands& commands) {
    const float right = draw_steppers(ui, session, tab.against == Against::norms, line, commands);
    const float y = line.low.y + (ImGui::GetFrameHeight() - compat::font_size(ui.fonts.mono_small)) * 0.5F;
    const float x = draw_step_name(ui, session, tab, d.name, line, right, folded, commands) + ui.px(16);
    if (d.presence != core::Presence::in_both) return;
    if (d.largest == 0.0) {
        draw_text(ui, ui.fonts.caption, {x, y}, ui.theme.muted, core::diff::equality_text(d, true), right - x);
        return;
    }
    const std::string lead = tr("max {difference} at", {{"difference", core::diff::difference_text(d.largest)}}) + " ",
                      text = cell_name("", d.cell) + " →";
    const float lead_width = compat::text_size(ui.fonts.caption, lead).x;
    if (lead_width + compat::text_size(ui.fonts.caption, text).x > right - x) return;
    draw_text(ui, ui.fonts.caption, {x, y}, ui.theme.muted, lead);
    ImGui::SetCursorScreenPos({x + lead_width, y});
    if (link(ui, ui.fonts.caption, ui.theme.accent, text, 7201))
        commands.push_back(core::command::Follow{d.name, d.cell});
    tooltip(tr("Go to the cell with the largest difference and what it was computed from"));
}

// ---- by position

void say_position(const Ui& ui, const core::diff::DifferenceByPosition::At& at, std::size_t position) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.text, ui.theme.text,
              tr("position {position} “{token}”", {{"position", position}, {"token", at.token}}));
    text_line(ui.fonts.caption, ui.theme.muted,
              at.largest == 0.0
                  ? tr(at.both_nan ? message("NaN in A and B") : message("equal in A and B"))
                  : tr("max |A − B| {difference} at {cell}",
                       {{"difference", core::diff::difference_text(at.largest)}, {"cell", cell_name("", at.cell)}}));
    ImGui::EndTooltip();
}

// A bar per position of the step's sequence, as high as its largest difference, over its token; a click selects the
// cell where that is. Returns the height used: 0 if the step doesn't run over a sequence.
float draw_by_position(const Ui& ui, const core::Session& session, const CompareTabState& tab, Area area,
                       Commands& commands) {
    const core::Side& a = tab.drawn.question();
    const Step& step = *a.run->plan().find(session.step().name);
    const auto shown = core::diff::shown_by_position(session.derived(), a.scenario, tab.drawn.answer(), step,
                                                     session.cursor().place.batch);
    const auto& positions = shown->positions;
    if (positions.empty()) return 0.0F;
    const float line = compat::font_size(ui.fonts.caption), bars = ui.px(18), left = ui.px(88);
    const float pitch = std::min((area.width() - left) / static_cast<float>(positions.size()), ui.px(44));
    draw_text(ui, ui.fonts.caption, {area.low.x, area.low.y + bars - line}, ui.theme.muted, tr("by position"),
              left - ui.px(6));
    ImDrawList& list = *ImGui::GetWindowDrawList();
    double top = 0.0;
    for (const core::diff::DifferenceByPosition::At& at : positions)
        if (std::isfinite(at.largest)) top = std::max(top, at.largest);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const core::diff::DifferenceByPosition::At& at = positions[i];
        const float x = area.low.x + left + pitch * static_cast<float>(i);
        const double share = !std::isfinite(at.largest) ? 1.0 : top > 0.0 ? at.largest / top : 0.0;
        const float height = std::max(bars * static_cast<float>(share), ui.px(1));
        ImGui::SetCursorScreenPos({x, area.low.y});
        ImGui::PushID(static_cast<int>(i));
        const bool clicked = press_area("position", {std::max(pitch, 1.0F), bars + line + ui.px(2)});
        ImGui::PopID();
        const bool hovered = ImGui::IsItemHovered();
        list.AddRectFilled({x, area.low.y + bars - height}, {x + std::max(pitch - ui.px(2), 1.0F), area.low.y + bars},
                           at.largest > 0.0 ? color_of(step.meaning)
                           : at.both_nan    ? ui.theme.error
                                            : ui.theme.line);
        if (pitch > ui.px(14))
            draw_text(ui, ui.fonts.caption, {x, area.low.y + bars + ui.px(1)}, hovered ? ui.theme.text : ui.theme.muted,
                      at.token, pitch - ui.px(2));
        if (hovered) say_position(ui, at, i);
        if (clicked && !at.cell.empty()) {
            const core::Place now = session.cursor().place;
            const Index head = core::place_of(step, at.cell, now, a.scenario.query_heads()).head;
            if (head != now.head) commands.push_back(core::command::ChooseHead{head});
            commands.push_back(core::command::SelectCell{at.cell});
        }
    }
    return bars + line + ui.px(8);
}

// ---- the pictures

void cell_tooltip(const Ui& ui, const Step& step, const core::DifferencePictures& p, const Cell& cell, Spot spot) {
    if (!compat::begin_tooltip()) return;
    const auto value = [&](const core::Heatmap& h) { return h.at(spot.first, spot.second); };
    text_line(ui.fonts.mono_small, ui.theme.muted, cell_name(step.name, cell));
    text_line(ui.fonts.mono_small, ui.theme.text, "A      " + core::step::exact_number(value(p.a)));
    text_line(ui.fonts.mono_small, ui.theme.text, "B      " + core::step::exact_number(value(p.b)));
    const auto at = static_cast<std::size_t>(spot.first * p.a.columns + spot.second);
    const bool over = p.over.empty() || p.over[at] != 0;
    text_line(ui.fonts.mono_small, over ? ui.theme.text : ui.theme.muted,
              "A − B  " + core::step::exact_number(value(p.difference)));
    const auto place = [&](const std::string& axis, const std::string& label, Index index) {
        if (axis.empty()) return;
        text_line(ui.fonts.caption, ui.theme.muted, core::spoken_place(axis, index, label));
    };
    place(p.a.row_axis, p.a.row_labels[static_cast<std::size_t>(spot.first)], spot.first);
    place(p.a.column_axis, p.a.column_labels[static_cast<std::size_t>(spot.second)], spot.second);
    for (const auto& [side, h] : {std::pair{"A: ", &p.a}, std::pair{"B: ", &p.b}}) {
        if (!h->hidden.empty() && h->hidden[at] != core::hidden_by::nothing)
            text_line(ui.fonts.caption, ui.theme.warning, side + core::hidden_text(h->hidden[at]));
    }
    ImGui::EndTooltip();
}

void draw_three(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    const core::Side& a = tab.drawn.question();
    const Step& step = *a.run->plan().find(session.step().name);
    const core::Value<core::DifferencePictures> pictures =
        core::diff::shown_difference(session.derived(), a, tab.drawn.answer(), step, session.cursor().place);
    const core::Slice slice = core::slice_of(step, session.cursor().place, a.scenario.query_heads());
    const std::array<const core::Heatmap*, 3> heatmaps = {&pictures->a, &pictures->b, &pictures->difference};
    const Matrices matrices = {.heatmaps = heatmaps,
                               .key = kKeys,
                               .version = pictures.number(),
                               .color = color_of(step.meaning),
                               .stale = session.stale() && !tab.drawn.stale(),
                               .selected = session.cursor().cell ? slice.find(*session.cursor().cell) : std::nullopt,
                               .marked = &pictures->over};
    const MatricesGesture gesture =
        draw_matrices(ui, matrices, state, areas_of_three(ui, pictures->a, area), tab.hovered);
    if (gesture.clicked)
        commands.push_back(core::command::SelectCell{slice.cell(gesture.clicked->first, gesture.clicked->second)});
    if (const std::optional<Spot>& spot = tab.hovered) {
        const Cell cell = slice.cell(spot->first, spot->second);
        state.hovered = {step.name, cell};
        place_cell_tooltip(ui, gesture.pointed, 7, gesture.cells);
        cell_tooltip(ui, step, *pictures, cell, *spot);
    }
}

void draw_note(const Ui& ui, Area area, const std::string& text) {
    draw_text(ui, ui.fonts.caption, area.low, ui.theme.muted, text, area.width());
}

}  // namespace

void draw_pictures(const Ui& ui, const core::Session& session, ViewState& state, Area area, bool folded,
                   Commands& commands) {
    const CompareTabState& tab = state.part<CompareTabState>();
    const std::string& name = session.step().name;
    const core::TensorDifference* d = difference_of(tab.drawn.answer()->comparison, name);
    const Area line = {area.low, {area.high.x, area.low.y + ImGui::GetFrameHeight()}};
    Area below = {{area.low.x, line.high.y + ui.px(8)}, area.high};
    ImGui::GetWindowDrawList()->AddLine({area.low.x, area.low.y - ui.px(4)}, {area.high.x, area.low.y - ui.px(4)},
                                        ui.theme.line);
    if (d == nullptr) {
        if (folded) open_folded_list(ui, session, tab, line, line.high.x, commands);
        draw_note(ui, folded ? below : line,
                  tab.part == core::diff::Listed::weights
                      ? tr("Choose a weight above.")
                      : tr("{name} is not part of a trace. Choose a step above.", {{"name", name}}));
        return;
    }
    draw_step_line(ui, session, tab, *d, line, folded, commands);
    if (d->presence != core::Presence::in_both || tab.drawn.question().run->plan().find(name) == nullptr) {
        draw_note(ui, below,
                  tr("Nothing to subtract: {presence}.", {{"presence", core::diff::presence_text(*d, "A", "B")}}));
        return;
    }
    below.low.y += draw_by_position(ui, session, tab, below, commands);
    draw_three(ui, session, state, below, commands);
}

}  // namespace decoderscope::views::compare
