#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "app/views/widgets/keys_and_mouse.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace decoderscope::views::compare {

namespace {

// One diagram while it is drawn downwards.
struct Diagram {
    const Ui& ui;
    const Plan& plan;
    const std::vector<core::step::OutlinePart>& parts;
    const std::string& here;  // the name of the current step
    std::string explained;    // the norm that is explained next to the diagrams; empty if none
    Area area;
    float row = 0.0F, gap = 0.0F;

    [[nodiscard]] float stream_x() const { return area.low.x + ui.px(12); }
    [[nodiscard]] float branch_x() const { return area.low.x + ui.px(34); }  // where a branch runs down
    [[nodiscard]] float bypass_x() const { return area.low.x + ui.px(21); }  // where it bypasses other branches
    [[nodiscard]] float top(std::size_t part) const { return area.low.y + static_cast<float>(part) * (row + gap); }
    [[nodiscard]] float middle(std::size_t part) const { return top(part) + row * 0.5F; }
};

bool is_sum(const core::step::OutlinePart& part) { return part.part == Part::add; }

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

bool is_here(const Diagram& d, const core::step::OutlinePart& part) {
    return std::any_of(part.steps.begin(), part.steps.end(), [&](StepId id) { return d.plan[id].name == d.here; });
}

std::string short_name(const Step& step) {
    return step.block.empty() ? step.name : step.name.substr(step.block.size() + 1);
}

// The lines out of the stream into each branch, through its parts, and back into the sum.
void draw_ways(const Diagram& d) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 grey = color_of(Meaning::residual);
    const float thick = d.ui.px(2.5F), thin = d.ui.px(1.5F);
    list.AddLine({d.stream_x(), d.middle(0)}, {d.stream_x(), d.area.high.y - d.ui.px(6)}, grey, thick);
    list.AddTriangleFilled({d.stream_x(), d.area.high.y}, {d.stream_x() - d.ui.px(5), d.area.high.y - d.ui.px(9)},
                           {d.stream_x() + d.ui.px(5), d.area.high.y - d.ui.px(9)}, grey);
    const auto line = [&](ImVec2 from, ImVec2 to) { list.AddLine(from, to, grey, thin); };
    // From below a part of a branch down to `y` at the next reader: straight if that is the next part, otherwise around
    // the parts between.
    const auto way_down = [&](std::size_t from, std::size_t to, float y) {
        const float bottom = d.top(from) + d.row, x = from + 1 == to ? d.branch_x() : d.bypass_x();
        if (x == d.branch_x()) return line({x, bottom}, {x, y});
        const float out = bottom + d.gap * 0.3F, back = std::min(y, d.top(to) - d.gap * 0.3F);
        line({d.branch_x(), bottom}, {d.branch_x(), out});
        line({d.branch_x(), out}, {x, out});
        line({x, out}, {x, back});
        line({x, back}, {d.branch_x(), back});
        line({d.branch_x(), back}, {d.branch_x(), y});
    };
    for (std::size_t i = 1; i < d.parts.size(); ++i) {
        bool begins = false, ends = false;
        for (const std::size_t read : d.parts[i].reads) {
            if (d.parts[read].on_stream) {
                begins = !d.parts[i].on_stream;
            } else {
                way_down(read, i, d.parts[i].on_stream ? d.middle(i) : d.top(i));
                ends = d.parts[i].on_stream;
            }
        }
        if (begins) {
            const float y = d.top(i) - d.gap * 0.5F;
            line({d.stream_x(), y}, {d.branch_x(), y});
            line({d.branch_x(), y}, {d.branch_x(), d.top(i)});
        }
        if (ends) line({d.branch_x(), d.middle(i)}, {d.stream_x() + d.ui.px(8), d.middle(i)});
    }
}

void draw_sum(const Diagram& d, float y, bool lit) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 color = lit ? d.ui.theme.accent : color_of(Meaning::residual);
    const ImVec2 at = {d.stream_x(), y};
    const float r = d.ui.px(8), arm = d.ui.px(4);
    list.AddCircleFilled(at, r, d.ui.theme.background, 24);
    list.AddCircle(at, r, color, 24, d.ui.px(lit ? 2 : 1.5F));
    list.AddLine({at.x - arm, at.y}, {at.x + arm, at.y}, color, d.ui.px(1.5F));
    list.AddLine({at.x, at.y - arm}, {at.x, at.y + arm}, color, d.ui.px(1.5F));
}

void draw_box(const Diagram& d, Area box, ImU32 color, ImU32 frame, bool lit, bool hovered) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(box.low, box.high, lit || hovered ? d.ui.theme.raised : d.ui.theme.panel, d.ui.px(4));
    list.AddRectFilled(box.low, {box.low.x + d.ui.px(4), box.high.y}, color, d.ui.px(2));
    compat::add_rect(list, box.low, box.high, frame, d.ui.px(4), d.ui.px(frame != d.ui.theme.line ? 1.5F : 1));
}

// Returns whether it was clicked.
bool draw_part(const Diagram& d, std::size_t number) {
    const core::step::OutlinePart& part = d.parts[number];
    const bool lit = is_here(d, part), node = is_sum(part) || part.part == Part::residual_stream;
    const float left = part.on_stream ? d.area.low.x : d.area.low.x + d.ui.px(24);
    const Area box = {{left, d.top(number)},
                      {part.on_stream ? d.area.high.x - d.ui.px(24) : d.area.high.x, d.top(number) + d.row}};
    const bool clicked = press_at("part", box, static_cast<Index>(number));
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    tooltip(tr("{tensor}\nClick to go there", {{"tensor", outcome(d, part).name}}).c_str());
    if (is_sum(part))
        draw_sum(d, d.middle(number), lit);
    else if (node)
        ImGui::GetWindowDrawList()->AddCircleFilled({d.stream_x(), d.middle(number)}, d.ui.px(4),
                                                    lit ? d.ui.theme.accent : color_of(Meaning::residual), 16);
    else
        draw_box(d, box, color_of(part.meaning),
                 lit                     ? d.ui.theme.accent
                 : is_explained(d, part) ? color_of(part.meaning)
                                         : d.ui.theme.line,
                 lit, hovered);
    const std::string title = node ? short_name(outcome(d, part)) : tr(part.title);
    const float x = node ? d.branch_x() + d.ui.px(7) : left + d.ui.px(10);
    const float y = d.middle(number) - compat::font_size(d.ui.fonts.caption) * 0.5F;
    draw_text(d.ui, d.ui.fonts.caption, {x, y}, lit || hovered || !node ? d.ui.theme.text : d.ui.theme.muted, title,
              (node ? d.area.high.x : box.high.x) - x - d.ui.px(2));
    return clicked;
}

struct Half {
    const char* id;
    NormPlacement core::Places::*which;  // the left one or the right one
    const core::PlaceOfNorms& place;
    const core::Side& run;
    const std::vector<core::step::OutlinePart>& parts;
    bool is_main = false;  // the one that the rest of the window shows
};

// Puts another place on this side; the one that is on the other side changes sides.
void choose_place(const core::Session& session, CompareTabState& tab, const Half& side, NormPlacement chosen) {
    core::Places places = compared_places(session, tab);
    if (places.left == chosen || places.right == chosen)
        std::swap(places.left, places.right);
    else
        places.*side.which = chosen;
    tab.norms.places = places;
}

// The title is a menu of the four places.
void draw_title(const Ui& ui, const core::Session& session, CompareTabState& tab, const Half& side, Area area) {
    const std::string title = tr(side.place.title);
    const float width = draw_text(ui, ui.fonts.text, area.low, ui.theme.text, title + " ▾", area.width());
    if (side.is_main)
        ImGui::GetWindowDrawList()->AddCircleFilled({area.low.x + width + ui.px(9), area.low.y + ui.px(9)}, ui.px(3.5F),
                                                    ui.theme.accent, 16);
    ImGui::SetCursorScreenPos(area.low);
    ImGui::PushID(side.id);
    if (ImGui::InvisibleButton("place", {area.width(), ui.px(20)})) ImGui::OpenPopup("places");
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    tooltip(side.is_main ? tr("The rest of the window shows this norm placement. Click to compare another.")
                         : tr("Click to compare another norm placement."));
    if (ImGui::BeginPopup("places")) {
        for (const core::PlaceOfNorms& place : core::places_of_norms()) {
            const bool chosen = place.placement == side.place.placement;
            const std::string label = std::string(tr(place.title)) + "   " + place.formula;
            if (ImGui::Selectable(labelled(label.c_str(), place.word).c_str(), chosen) && !chosen)
                choose_place(session, tab, side, place.placement);
            tooltip(tr(place.meaning));
        }
        ImGui::EndPopup();
    }
    ImGui::PopID();
}

void draw_diagram(const Ui& ui, const core::Session& session, CompareTabState& tab, const Scene& scene,
                  const Half& side, const std::string& explained, Area area, Commands& commands) {
    const float line = compat::font_size(ui.fonts.caption) + ui.px(3);
    draw_title(ui, session, tab, side, area);
    const float under = area.low.y + compat::font_size(ui.fonts.text) + ui.px(4);
    draw_text(ui, ui.fonts.mono_small, {area.low.x, under}, ui.theme.muted, side.place.formula, area.width());
    draw_text(ui, ui.fonts.caption, {area.low.x, under + line}, ui.theme.muted, scene.block, area.width());
    Diagram d{ui,         side.run.run->plan(),
              side.parts, scene.here.name,
              explained,  {{area.low.x, under + line * 2 + ui.px(4)}, area.high}};
    if (side.parts.empty()) return;
    const auto count = static_cast<float>(side.parts.size());
    const float pitch = std::min((d.area.height() - ui.px(10)) / count, ui.px(46));
    d.row = std::min(ui.px(28), pitch * 0.68F);
    d.gap = pitch - d.row;
    d.area.high.y = d.area.low.y + pitch * count + ui.px(10);
    draw_ways(d);
    ImGui::PushID(side.id);
    for (std::size_t i = 0; i < side.parts.size(); ++i)
        if (draw_part(d, i)) go_to_step(session, tab, scene, outcome(d, side.parts[i]).name, commands);
    ImGui::PopID();
    const Area below = {{area.low.x, d.area.high.y + ui.px(14)}, area.high};
    if (below.height() > line * 5.0F) text_block(ui, ui.fonts.caption, ui.theme.muted, below, tr(side.place.meaning));
}

}  // namespace

core::Value<core::Both<std::vector<core::step::OutlinePart>>> shown_diagrams(const core::Session& session,
                                                                             const core::Both<core::Side>& runs,
                                                                             const std::string& block) {
    using Diagrams = core::Both<std::vector<core::step::OutlinePart>>;
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

void draw_diagrams(const Ui& ui, const core::Session& session, CompareTabState& tab, const Scene& scene, Area area,
                   Commands& commands) {
    const auto diagrams = shown_diagrams(session, scene.runs, scene.block);
    const Grid halves = {area, 2, 1, {ui.px(16), 0}};
    const std::string explained = tab.norms.view == View::row ? explained_norm(scene) : std::string();
    const NormPlacement own = session.shown().scenario.config().placement();
    const auto draw = [&](const char* id, NormPlacement core::Places::*which, const core::Side& run,
                          const std::vector<core::step::OutlinePart>& parts, Area half) {
        const core::PlaceOfNorms& place = core::place_of_norms(run.scenario.config().placement());
        draw_diagram(ui, session, tab, scene, {id, which, place, run, parts, place.placement == own}, explained, half,
                     commands);
    };
    draw("left", &core::Places::left, scene.runs.left, diagrams->left, halves.cell(0));
    draw("right", &core::Places::right, scene.runs.right, diagrams->right, halves.cell(1));
}

}  // namespace decoderscope::views::compare
