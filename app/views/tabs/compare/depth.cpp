#include "app/views/frame/curves_view.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <tuple>

namespace decoderscope::views::compare {

namespace {

// What strokes and colours mean, in a line or more: of the two runs, of what is added to the stream, and of the norms,
// which are paler in their order.
std::vector<FlowItem> legend_of(const Ui& ui, const core::norms::ShownDepth& shown, const Scene& scene, float most) {
    std::vector<FlowItem> items;
    const auto add = [&](const std::string& text, ImU32 color, std::optional<bool> dashed) {
        const float sample = ui.px(24),
                    width = std::min(sample + ui.px(6) + compat::text_size(ui.fonts.caption, text).x, most);
        items.push_back(
            {width, ui.px(18), [&ui, text, color, dashed, sample, width] {
                 const ImVec2 at = ImGui::GetCursorScreenPos();
                 const float line = compat::font_size(ui.fonts.caption), middle = at.y + line * 0.5F + 1;
                 if (dashed)
                     draw_line_sample(ui, {at.x, middle}, sample, color, *dashed);
                 else
                     ImGui::GetWindowDrawList()->AddRectFilled({at.x, middle - ui.px(2)},
                                                               {at.x + sample, middle + ui.px(2)}, color, ui.px(1));
                 draw_text(ui, ui.note(), {at.x + sample + ui.px(6), at.y}, text, width - sample - ui.px(6));
                 ImGui::Dummy({width, line});
             }});
    };
    add("A  " + tr(scene.runs.left.name), ui.theme.text, false);
    add("B  " + tr(scene.runs.right.name), ui.theme.accent, true);
    for (const core::Chart& chart : shown.charts) {
        if (chart.name != "update") continue;
        for (const core::ChartCurve& curve : chart.curves)
            if (!curve.dashed) add(tr(title_of(curve.curve.part)), color_of(ui, curve), std::nullopt);
    }
    add(tr("norms, paler in their order"), color_of(Meaning::norm), std::nullopt);
    return items;
}

std::size_t columns_in(const Ui& ui, float width) { return width < ui.px(1000) ? 2 : 3; }

void draw_by_depth(const Ui& ui, const core::Session& session, CompareTabState& tab, const Scene& scene, Area area,
                   Commands& commands) {
    const core::Value<core::norms::ShownDepth> shown = shown_by_depth(session, scene);
    draw_flow_on_top(ui, legend_of(ui, *shown, scene, area.width()), area, 0.0F);
    const std::size_t columns = columns_in(ui, area.width());
    const Grid grid = {area, columns, (shown->charts.size() + columns - 1) / columns, {ui.px(20), ui.px(14)}};
    const std::string step = draw_curves_in_grid(ui, shown->charts, grid, tab.marked_depth, session.shown().run->plan(),
                                                 tr("A block with fresh weights, stacked here only"));
    if (!step.empty()) commands.push_back(core::command::GoTo{step});
}

// One diagram: the stream runs from left to right along its lower edge, and what is added to it lies above.
struct Diagram {
    const Ui& ui;
    const Plan& plan;
    const std::vector<core::step::OutlinePart>& parts;
    const std::string& here;       // the name of the current step
    const std::string& explained;  // the norm that is explained below the diagrams; empty if none
    Area area;
    std::vector<float> left, right;  // of each part
    float gap = 0.0F;

    [[nodiscard]] float stream() const { return area.high.y - ui.px(14); }
    [[nodiscard]] float branch() const { return stream() - ui.px(38); }  // along which a branch runs
    [[nodiscard]] float bypass() const { return stream() - ui.px(18); }  // where it passes below other branches
    [[nodiscard]] float middle(std::size_t part) const { return (left[part] + right[part]) * 0.5F; }
};

constexpr float kNode = 18.0F, kGap = 12.0F, kBox = 106.0F, kLeastBox = 46.0F, kTitle = 24.0F, kHeight = 92.0F;

bool is_sum(const core::step::OutlinePart& part) { return part.part == Part::add; }
// A place on the stream rather than something that computes.
bool is_node(const core::step::OutlinePart& part) { return is_sum(part) || part.part == Part::residual_stream; }

// How wide its boxes can be; the longest diagram has the narrowest.
float box_width(const Ui& ui, const std::vector<core::step::OutlinePart>& parts, float width) {
    const auto nodes = static_cast<float>(std::ranges::count_if(parts, is_node));
    const auto count = static_cast<float>(parts.size());
    const float room = width - nodes * ui.px(kNode) - count * ui.px(kGap);
    return std::min(room / std::max(count - nodes, 1.0F), ui.px(kBox));
}

void lay_out(Diagram& d) {
    d.gap = d.ui.px(kGap);
    const float box = std::max(box_width(d.ui, d.parts, d.area.width()), 1.0F);
    float x = d.area.low.x;
    for (const core::step::OutlinePart& part : d.parts) {
        d.left.push_back(x);
        d.right.push_back(x += is_node(part) ? d.ui.px(kNode) : box);
        x += d.gap;
    }
}

using Diagrams = core::Both<std::vector<core::step::OutlinePart>>;

float half_of(const Ui& ui, float width) { return (width - ui.px(24)) * 0.5F; }

// Whether half the width is enough for each.
bool are_beside(const Ui& ui, const Diagrams& both, float width) {
    const float half = half_of(ui, width);
    return std::min(box_width(ui, both.left, half), box_width(ui, both.right, half)) >= ui.px(kLeastBox);
}

// A part's result: its last step that is always computed.
const Step& outcome(const Diagram& d, const core::step::OutlinePart& part) {
    for (auto id = part.steps.rbegin(); id != part.steps.rend(); ++id)
        if (d.plan[*id].role != Role::on_demand) return d.plan[*id];
    return d.plan[part.steps.front()];
}

bool is_explained(const Diagram& d, const core::step::OutlinePart& part) {
    const Ref norm = d.plan.step_of(d.explained, NormStep::normalized);
    return norm != nullptr && std::ranges::find(part.steps, norm->id) != part.steps.end();
}

// The lines out of the stream into each branch, through its parts, and back into the sum.
void draw_ways(const Diagram& d) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 grey = color_of(Meaning::residual);
    const float end = d.right.back() + d.gap;
    list.AddLine({d.area.low.x, d.stream()}, {end, d.stream()}, grey, d.ui.px(2.5F));
    list.AddTriangleFilled({end, d.stream()}, {end - d.ui.px(9), d.stream() + d.ui.px(5)},
                           {end - d.ui.px(9), d.stream() - d.ui.px(5)}, grey);
    const auto line = [&](ImVec2 from, ImVec2 to) { list.AddLine(from, to, grey, d.ui.px(1.5F)); };
    // From a part of a branch to `x` at the next reader: straight if that is the next part, otherwise below the parts
    // between.
    const auto way = [&](std::size_t from, std::size_t to, float x) {
        const float start = d.right[from];
        if (from + 1 == to) return line({start, d.branch()}, {x, d.branch()});
        const float out = start + d.gap * 0.3F, back = std::min(x, d.left[to] - d.gap * 0.3F);
        line({start, d.branch()}, {out, d.branch()});
        line({out, d.branch()}, {out, d.bypass()});
        line({out, d.bypass()}, {back, d.bypass()});
        line({back, d.bypass()}, {back, d.branch()});
        line({back, d.branch()}, {x, d.branch()});
    };
    for (std::size_t i = 1; i < d.parts.size(); ++i) {
        bool begins = false, ends = false;
        for (const std::size_t read : d.parts[i].reads) {
            if (d.parts[read].on_stream) {
                begins = !d.parts[i].on_stream;
            } else {
                way(read, i, d.parts[i].on_stream ? d.middle(i) : d.left[i]);
                ends = d.parts[i].on_stream;
            }
        }
        if (begins) {
            const float x = d.left[i] - d.gap * 0.5F;
            line({x, d.stream()}, {x, d.branch()});
            line({x, d.branch()}, {d.left[i], d.branch()});
        }
        if (ends) line({d.middle(i), d.branch()}, {d.middle(i), d.stream() - d.ui.px(8)});
    }
}

void draw_sum(const Diagram& d, float x, bool lit) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 color = lit ? d.ui.theme.accent : color_of(Meaning::residual);
    const ImVec2 at = {x, d.stream()};
    const float r = d.ui.px(8), arm = d.ui.px(4);
    list.AddCircleFilled(at, r, d.ui.theme.background, 24);
    list.AddCircle(at, r, color, 24, d.ui.px(lit ? 2 : 1.5F));
    list.AddLine({at.x - arm, at.y}, {at.x + arm, at.y}, color, d.ui.px(1.5F));
    list.AddLine({at.x, at.y - arm}, {at.x, at.y + arm}, color, d.ui.px(1.5F));
}

// What it is, in as many letters as there is room for.
std::string title_in(const Diagram& d, const core::step::OutlinePart& part, float width) {
    ImFont* font = d.ui.fonts.caption;
    const char* title = tr(part.title);
    if (compat::text_size(font, title).x <= width) return title;
    return fitted(font,
                  part.part == Part::self_attention    ? tr("Attention")
                  : part.part == Part::cross_attention ? tr("cross")
                  : part.boxes.size() == 1             ? tr(part.boxes.front().caption)
                                                       : title,
                  width);
}

void draw_box(const Diagram& d, const core::step::OutlinePart& part, Area box, bool lit, bool hovered) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Ui& ui = d.ui;
    const ImU32 color = color_of(part.meaning);
    const ImU32 frame = lit ? ui.theme.accent : is_explained(d, part) ? color : ui.theme.line;
    list.AddRectFilled(box.low, box.high, lit || hovered ? ui.theme.raised : ui.theme.panel, ui.px(4));
    list.AddRectFilled(box.low, {box.low.x + ui.px(4), box.high.y}, color, ui.px(2));
    compat::add_rect(list, box.low, box.high, frame, ui.px(4), ui.px(frame != ui.theme.line ? 1.5F : 1));
    const std::string title = title_in(d, part, box.width() - ui.px(9));
    const float room = box.width() - ui.px(4) - compat::text_size(ui.fonts.caption, title).x;
    draw_text(
        ui, ui.caption(),
        {box.low.x + ui.px(4) + room * 0.5F, (box.low.y + box.high.y - compat::font_size(ui.fonts.caption)) * 0.5F},
        title);
}

// Returns whether it was clicked.
bool draw_part(const Diagram& d, std::size_t number) {
    const core::step::OutlinePart& part = d.parts[number];
    const bool lit = std::ranges::any_of(part.steps, [&](StepId id) { return d.plan[id].name == d.here; });
    const float y = part.on_stream ? d.stream() : d.branch(), half = d.ui.px(13);
    const Area box = {{d.left[number], y - half}, {d.right[number], y + half}};
    const std::string& name = outcome(d, part).name;
    const bool clicked = press_at("part", box, static_cast<Index>(number), name);
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    tooltip(tr("{tensor}\nClick to go there", {{"tensor", name}}).c_str());
    if (is_sum(part))
        draw_sum(d, d.middle(number), lit);
    else if (is_node(part))
        ImGui::GetWindowDrawList()->AddCircleFilled({d.middle(number), d.stream()}, d.ui.px(4),
                                                    lit ? d.ui.theme.accent : color_of(Meaning::residual), 16);
    else
        draw_box(d, part, box, lit, hovered);
    return clicked;
}

// "A  Pre-Norm   x + f(norm(x))". A dot: the rest of the window shows this one.
void draw_title(const Ui& ui, const char* letter, const core::PlaceOfNorms& place, bool is_main, Area area) {
    float x = area.low.x + draw_text(ui, ui.hint(), area.low, letter) + ui.px(8);
    x += draw_text(ui, ui.body(), {x, area.low.y}, tr(place.title), area.high.x - x) + ui.px(8);
    if (is_main) {
        ImGui::GetWindowDrawList()->AddCircleFilled({x + ui.px(2), area.low.y + ui.px(9)}, ui.px(3.5F), ui.theme.accent,
                                                    16);
        x += ui.px(14);
    }
    const float low = area.low.y + compat::font_size(ui.fonts.text) - compat::font_size(ui.fonts.mono_small) - 1.0F;
    draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {x, low}, place.formula, area.high.x - x);
    std::vector<std::string> told = {tr(place.title), tr(place.meaning)};
    if (is_main) told.emplace_back(tr("The rest of the window shows this norm placement."));
    area_tooltip(ui, {area.low, {area.high.x, area.low.y + ui.px(kTitle)}}, told);
}

float height_of_diagrams(const Ui& ui, const core::Session& session, const Scene& scene, float width) {
    const auto diagrams = shown_diagrams(session, scene.runs, scene.block);
    return ui.px(kHeight + 8) * (are_beside(ui, *diagrams, width) ? 1.0F : 2.0F);
}

// Both block diagrams, side by side where there is room, at the top of the area, which is then what is left below. A
// click on a part goes there.
void draw_diagrams(const Ui& ui, const core::Session& session, CompareTabState& tab, const Scene& scene, Area& area,
                   Commands& commands) {
    const auto diagrams = shown_diagrams(session, scene.runs, scene.block);
    const std::string explained = tab.norms.view == View::row ? explained_norm(scene) : std::string();
    const NormPlacement own = session.shown().scenario.config().placement();
    const float half = half_of(ui, area.width());
    const bool beside = are_beside(ui, *diagrams, area.width());
    const auto draw = [&](const char* letter, const core::Side& run, const std::vector<core::step::OutlinePart>& parts,
                          Area room) {
        const core::PlaceOfNorms& place = core::place_of_norms(run.scenario.config().placement());
        draw_title(ui, letter, place, place.placement == own, room);
        if (parts.empty()) return;
        Diagram d{ui, run.run->plan(), parts, scene.here.name, explained, room, {}, {}};
        lay_out(d);
        draw_ways(d);
        ImGui::PushID(letter);
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (draw_part(d, i)) go_to_step(session, tab, scene, outcome(d, parts[i]).name, commands);
        ImGui::PopID();
    };
    Rows rows = {area};
    const Area first = rows.next(ui.px(kHeight), ui.px(8));
    if (beside) {
        draw("A", scene.runs.left, diagrams->left, {first.low, {first.low.x + half, first.high.y}});
        draw("B", scene.runs.right, diagrams->right, {{first.high.x - half, first.low.y}, first.high});
    } else {
        draw("A", scene.runs.left, diagrams->left, first);
        draw("B", scene.runs.right, diagrams->right, rows.next(ui.px(kHeight), ui.px(8)));
    }
    area = rows.rest;
}

}  // namespace

core::Value<Diagrams> shown_diagrams(const core::Session& session, const core::Both<core::Side>& runs,
                                     const std::string& block) {
    const auto parts = [&](const core::Side& side) {
        std::vector<core::step::OutlinePart> found;
        for (core::step::OutlineBlock& outlined : core::step::outline_of(side.run->plan()))
            if (outlined.name == block) found = std::move(outlined.parts);
        return found;
    };
    return session.derived().get<Diagrams>({runs.left.run, runs.right.run}, std::tie(block), [&] {
        return Diagrams{parts(runs.left), parts(runs.right)};
    });
}

core::Value<core::norms::ShownDepth> shown_by_depth(const core::Session& session, const Scene& scene) {
    return core::norms::shown_depth(session.derived(), scene.runs, scene.stack);
}

std::string sentence_of(const core::Session& session, const CompareTabState& tab, const Scene& scene) {
    if (tab.shown_view() == View::depth) {
        const core::Value<core::norms::ShownDepth> shown = shown_by_depth(session, scene);
        return core::norms::depth_sentence(shown->curves.left, shown->curves.right,
                                           {tr(scene.runs.left.name), tr(scene.runs.right.name)});
    }
    const auto rows = shown_rows(session, tab, scene);
    std::string text;
    const auto add = [&](const core::Side& side, const std::optional<core::norms::NormRow>& row) {
        if (row)
            text += (text.empty() ? "" : " ") +
                    tr("{placement} {finding}",
                       {{"placement", side.name}, {"finding", core::norms::norm_row_sentence(*row)}});
    };
    add(scene.runs.left, rows->left);
    add(scene.runs.right, rows->right);
    return text;
}

float height_of_both(const Ui& ui, const core::Session& session, const CompareTabState& tab, const Scene& scene,
                     Area room) {
    const float diagrams = tab.against == Against::norms ? height_of_diagrams(ui, session, scene, room.width()) : 0.0F;
    if (tab.shown_view() == View::row)
        return std::max(room.height(), diagrams + ui.px(room.width() < ui.px(620) ? 680.0F : 460.0F));
    // Of the charts, two rows are seen at once.
    const float above = diagrams + ui.px(32), two = std::max(room.height() - above, ui.px(320));
    return above + (columns_in(ui, room.width()) == 2 ? two * 1.5F : two);
}

void draw_both_runs(const Ui& ui, const core::Session& session, ViewState& state, const Scene& scene, Area area,
                    Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    if (tab.against == Against::norms) draw_diagrams(ui, session, tab, scene, area, commands);
    if (tab.shown_view() == View::row) return draw_norm_row(ui, session, tab, scene, area, commands);
    draw_by_depth(ui, session, tab, scene, area, commands);
}

}  // namespace decoderscope::views::compare
