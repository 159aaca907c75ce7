#include "app/views/tabs/canvas/tab.h"

#include "app/core/run/step_picture.h"
#include "app/views/frame/cards.h"
#include "app/views/frame/place_choices.h"
#include "app/views/strip/strip.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views::canvas {

namespace {

// A notch of the wheel, or a press of + or −.
constexpr double kNotch = 1.2, kKeyNotch = 1.5;
// Seconds that the camera is under way.
constexpr double kFlight = 0.45;
// A cell gets no larger than this.
constexpr float kLargestCell = 160.0F;

// ---- the camera

float margin(const Ui& ui) { return ui.px(6); }

Camera whole(const Scene& s) { return fitted(s.area, {0, 0, s.layout.width, s.layout.height}, margin(s.ui)); }

void fly(const Scene& s, const Camera& to) {
    if (s.state.reduces_motion()) {
        s.tab.camera = to;
        return;
    }
    s.tab.flies_from = s.tab.camera;
    s.tab.flies_to = to;
    s.tab.flown = 0.0;
}

void show_whole(const Scene& s) {
    fly(s, whole(s));
    s.tab.is_whole = true;
}

// What the person does with the camera ends its flight.
void take_over(const Scene& s) {
    s.tab.flies_from.reset();
    s.tab.flies_to.reset();
    s.tab.is_whole = false;
}

void advance(const Scene& s) {
    CanvasTabState& tab = s.tab;
    if (tab.flies_to) {
        if (tab.is_whole) tab.flies_to = whole(s);
        tab.flown = std::min(tab.flown + static_cast<double>(ImGui::GetIO().DeltaTime) / kFlight, 1.0);
        const double eased = tab.flown * tab.flown * (3.0 - 2.0 * tab.flown);
        tab.camera = between(*tab.flies_from, *tab.flies_to, eased);
        s.state.busy = true;
        if (tab.flown < 1.0) return;
        tab.flies_from.reset();
        tab.flies_to.reset();
    } else if (tab.is_whole || tab.camera.scale < whole(s).scale) {  // as when the window has grown since
        tab.is_whole = true;
        tab.camera = whole(s);
    }
}

double largest_scale(const Scene& s) { return static_cast<double>(s.ui.px(kLargestCell)) * s.layout.densest; }

void zoom(const Scene& s, ImVec2 at, double factor) {
    const double least = whole(s).scale, now = s.tab.camera.scale;
    const double then = std::clamp(now * factor, least, std::max(largest_scale(s), least));
    take_over(s);
    s.tab.camera.zoom_at(s.area, at, then / now);
    // All the way out, it is the whole.
    if (then <= least * 1.001) show_whole(s);
}

void pan(const Scene& s, ImVec2 pixels) {
    take_over(s);
    s.tab.camera.pan(pixels);
    Point& middle = s.tab.camera.middle;
    middle.x = std::clamp(middle.x, 0.0, s.layout.width);
    middle.y = std::clamp(middle.y, 0.0, s.layout.height);
}

Camera fitted_to(const Scene& s, const core::canvas::Placed& placed) {
    Box box = placed.at;
    box.y -= core::canvas::kStepName;
    box.height += core::canvas::kStepName;
    Camera to = fitted(s.area, box, s.ui.px(48));
    to.scale = std::min(to.scale, largest_scale(s));
    return to;
}

// A step that was gone to elsewhere, and a cell that was moved to by a key, come into sight; the size stays.
void follow(const Scene& s) {
    const core::Cursor& now = s.session.cursor();
    const bool moved = now.step != s.tab.followed.step || now.cell != s.tab.followed.cell;
    s.tab.followed = now;
    const core::canvas::Placed* placed = s.layout.find(s.session.step().id);
    if (!moved || s.tab.is_whole || placed == nullptr) return;
    Box box = placed->at;
    if (now.cell)
        for (Index head = 0; head < placed->heads; ++head) {
            const Tile tile = tile_of(s, *placed, head);
            const auto spot = tile.slice.find(*now.cell);
            const Box picture = placed->picture(head);
            const double width = picture.width / static_cast<double>(tile.columns),
                         height = picture.height / static_cast<double>(tile.rows);
            if (spot)
                box = {picture.x + static_cast<double>(spot->second) * width,
                       picture.y + static_cast<double>(spot->first) * height, width, height};
        }
    const Area at = s.on_screen(box);
    const float around = s.ui.px(24);
    const bool is_seen = at.low.x >= s.area.low.x + around && at.high.x <= s.area.high.x - around &&
                         at.low.y >= s.area.low.y + around && at.high.y <= s.area.high.y - around;
    const bool fills = at.width() > s.area.width() * 0.8F || at.height() > s.area.height() * 0.8F;
    if (is_seen || (fills && s.is_seen(at))) return;
    fly(s, {{box.x + box.width * 0.5, box.y + box.height * 0.5}, s.tab.camera.scale});
}

// The picture that a point is in, or the nearest.
const core::canvas::Placed* nearest(const core::canvas::Layout& layout, Point to) {
    const auto distance = [&](const core::canvas::Placed& placed) {
        const Box& box = placed.at;
        return std::hypot(to.x - std::clamp(to.x, box.x, box.right()), to.y - std::clamp(to.y, box.y, box.bottom()));
    };
    const auto found = std::ranges::min_element(layout.pictures, {}, distance);
    return found == layout.pictures.end() ? nullptr : &*found;
}

std::optional<Look> look_of(const Scene& s) {
    if (s.tab.is_whole) return std::nullopt;
    const Camera& camera = s.tab.flies_to ? *s.tab.flies_to : s.tab.camera;
    const core::canvas::Placed* placed = nearest(s.layout, camera.middle);
    if (placed == nullptr) return std::nullopt;
    const Box& box = placed->at;
    return Look{s.plan()[placed->step].name,
                {(camera.middle.x - box.x) / box.width, (camera.middle.y - box.y) / box.height},
                static_cast<double>(s.area.width()) / camera.scale};
}

// What is looked at stays the same number while the camera does: the way to the camera and back rounds, and a session
// that was opened would be another.
void keep_look(CanvasTabState& tab, std::optional<Look> now) {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(a)); };
    const std::optional<Look>& was = tab.look;
    const bool stays = was && now && was->step == now->step && near(was->at.x, now->at.x) &&
                       near(was->at.y, now->at.y) && near(was->across, now->across);
    if (!stays) tab.look = std::move(now);
}

// Of a picture that this run doesn't have, the whole.
void look_at(const Scene& s, const Look& look) {
    const Ref step = s.plan().find(look.step);
    const core::canvas::Placed* placed = step == nullptr ? nullptr : s.layout.find(step->id);
    if (placed == nullptr) return show_whole(s);
    const Box& box = placed->at;
    const double least = whole(s).scale;
    fly(s, {{box.x + look.at.x * box.width, box.y + look.at.y * box.height},
            std::clamp(static_cast<double>(s.area.width()) / look.across, least, std::max(largest_scale(s), least))});
    s.tab.is_whole = false;
    s.tab.followed = s.session.cursor();  // this place was asked for, not the selection's
}

// What was asked for since the last frame.
void do_asked(const Scene& s) {
    const CanvasAsked asked = std::exchange(s.tab.asked, {});
    const ImVec2 middle = {(s.area.low.x + s.area.high.x) * 0.5F, (s.area.low.y + s.area.high.y) * 0.5F};
    if (asked.zoom != 1.0) zoom(s, middle, asked.zoom);
    if (asked.pan.x != 0.0F || asked.pan.y != 0.0F)
        pan(s, {asked.pan.x * s.area.width() * 0.1F, asked.pan.y * s.area.height() * 0.1F});
    if (asked.whole) show_whole(s);
    if (asked.look) look_at(s, *asked.look);
}

// ---- the mouse, and fingers, which come as one

void click(const Scene& s, const Tile& tile, ImVec2 at, Commands& commands) {
    const ImVec2 cell = tile.cell();
    const bool can_be_hit = std::min(cell.x, cell.y) >= s.ui.px(2);
    if (!can_be_hit || s.session.shown().run->value(tile.step.id).empty()) {
        commands.push_back(core::command::GoTo{tile.step.name});
        if (tile.placed.heads > 1) commands.push_back(core::command::ChooseHead{tile.place.head});
        return;
    }
    const auto [row, column] = spot_in(tile, at);
    const core::ShownNumber number =
        core::number_at(s.session.shown().run_of(tile.step), tile.step, tile.slice, row, column);
    if (number.step->name == s.session.cursor().step)
        commands.push_back(core::command::SelectCell{number.cell});
    else
        commands.push_back(core::command::Follow{number.step->name, number.cell});
}

// A double click shows all of a picture, or, if it is shown so, or beside all pictures, the whole.
void double_click(const Scene& s, const std::optional<Tile>& tile) {
    if (!tile) return show_whole(s);
    const Camera to = fitted_to(s, tile->placed);
    const bool is_there =
        std::abs(to.scale / s.tab.camera.scale - 1.0) < 0.02 &&
        std::hypot(to.middle.x - s.tab.camera.middle.x, to.middle.y - s.tab.camera.middle.y) * to.scale <
            static_cast<double>(s.ui.px(4));
    if (is_there) return show_whole(s);
    fly(s, to);
    s.tab.is_whole = false;
}

void use_mouse(const Scene& s, Commands& commands) {
    ImGui::SetCursorScreenPos(s.area.low);
    ImGui::InvisibleButton("canvas", {std::max(s.area.width(), 1.0F), std::max(s.area.height(), 1.0F)},
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
    const ImGuiIO& io = ImGui::GetIO();
    const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
    if (hovered && io.MouseWheel != 0.0F) zoom(s, io.MousePos, std::pow(kNotch, static_cast<double>(io.MouseWheel)));
    if (hovered && io.MouseWheelH != 0.0F) pan(s, {io.MouseWheelH * s.ui.px(40), 0});
    // A quick drag may still move in the frame that releases the button.
    const auto is_far = [&](ImGuiMouseButton button) {
        const ImVec2 from = io.MouseClickedPos[button];
        return std::abs(io.MousePos.x - from.x) + std::abs(io.MousePos.y - from.y) >= 4.0F;
    };
    const auto drags = [&](ImGuiMouseButton button) {
        return (ImGui::IsMouseDown(button) || ImGui::IsMouseReleased(button)) && is_far(button);
    };
    const bool held = active || ImGui::IsItemDeactivated();
    const bool moves = io.MouseDelta.x != 0.0F || io.MouseDelta.y != 0.0F;
    if (held && moves && (drags(ImGuiMouseButton_Left) || drags(ImGuiMouseButton_Middle))) pan(s, io.MouseDelta);
    if (!hovered) return;
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) return double_click(s, tile_at(s, io.MousePos));
    const bool clicked = ImGui::IsMouseReleased(ImGuiMouseButton_Left) && !is_far(ImGuiMouseButton_Left);
    if (!clicked || !s.area.contains(io.MouseClickedPos[ImGuiMouseButton_Left])) return;
    if (const std::optional<Tile> tile = tile_at(s, io.MousePos)) click(s, *tile, io.MousePos, commands);
}

// What is under the mouse, in words: the number, if it can be seen; from afar the step.
void explain(const Scene& s, const std::optional<Tile>& tile) {
    if (!tile || ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4.0F)) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const core::Value<core::step::ShownHeatmap> shown = seen_closely(s, *tile);
    if (!shown) {
        HeatmapGesture gesture;
        gesture.cell = {mouse, {mouse.x + 1.0F, mouse.y + 1.0F}};
        place_cell_tooltip(s.ui, gesture, 7, s.on_screen(tile->placed.at));
        strip::step_tooltip(s.ui, s.session, tile->step);
        return;
    }
    const HeatmapLayout l = layout_of(s, *tile, shown->heatmap);
    if (!l.cells.contains(mouse)) return;
    const Spot spot = spot_in(*tile, mouse);
    HeatmapGesture gesture;
    gesture.hovered = spot;
    gesture.cells = l.cells;
    gesture.cell = box_of(l, {spot.first, spot.second, 1, 1});
    const core::ShownNumber number =
        core::number_at(s.session.shown().run_of(tile->step), tile->step, tile->slice, spot.first, spot.second);
    s.state.hovered = {number.step->name, number.cell};
    cell_tooltip(s.ui, s.session, tile->step, *shown, tile->slice, gesture);
}

// ---- below the canvas

std::vector<FlowItem> controls(const Scene& s, Commands& commands) {
    CanvasTabState& tab = s.tab;
    const auto press = [&](std::string text, const char* id, std::string tip, float gap, auto act) {
        const float width = button_width(text.c_str());
        return FlowItem{width, gap, [label = labelled(text, id), tip = std::move(tip), act] {
                            if (focusable(ImGui::Button(label.c_str()), label)) act();
                            tooltip(tip.c_str());
                        }};
    };
    std::vector<FlowItem> items;
    items.push_back(
        press(tr("Whole"), "whole", tr("Show the whole model (Shift+Z)"), 0.0F, [&tab] { tab.asked.whole = true; }));
    items.push_back(press("+", "closer", tr("Zoom in (+)"), s.ui.px(4), [&tab] { tab.asked.zoom = kKeyNotch; }));
    items.push_back(
        press("−", "farther", tr("Zoom out (−)"), s.ui.px(4), [&tab] { tab.asked.zoom = 1.0 / kKeyNotch; }));
    items.push_back(toggle_item(s.ui, tr("Weights"), "weights", tab.weights,
                                tr("Show the weights beside the steps that read them"), s.ui.px(12), [&tab] {
                                    tab.weights = !tab.weights;
                                    tab.is_whole = true;
                                }));
    if (s.session.shown().scenario.batch() > 1) items.push_back(batch_item(s.ui, s.session, s.ui.px(16), commands));
    return items;
}

constexpr auto kMeanings =
    std::to_array<std::pair<Meaning, Phrase>>({{Meaning::query, message("query")},
                                               {Meaning::key, message("key")},
                                               {Meaning::value, message("value")},
                                               {Meaning::attention, message_c("colour", "attention")},
                                               {Meaning::mlp, message("MLP")},
                                               {Meaning::norm, message("norm")},
                                               {Meaning::residual, message("residual stream")}});

// What the colours mean, as many as there is room for: all or none.
void draw_meanings(const Ui& ui, Area area) {
    float width = 0.0F;
    const auto width_of = [&](const Phrase& name) {
        return ui.px(14) + compat::text_size(ui.fonts.caption, tr(name)).x + ui.px(12);
    };
    for (const auto& [meaning, name] : kMeanings) width += width_of(name);
    if (width > area.width()) return;
    const float line = compat::font_size(ui.fonts.caption);
    ImVec2 at = {area.high.x - width + ui.px(12), area.low.y + (area.height() - line) * 0.5F};
    for (const auto& [meaning, name] : kMeanings) {
        const float side = ui.px(9);
        const ImVec2 low = {at.x, at.y + (line - side) * 0.5F};
        ImGui::GetWindowDrawList()->AddRectFilled(low, {low.x + side, low.y + side}, color_of(meaning), ui.px(2));
        draw_text(ui, ui.note(), {at.x + ui.px(14), at.y}, tr(name));
        at.x += width_of(name);
    }
}

// ---- the tab

Json save(const ViewState& state) {
    const CanvasTabState& tab = state.part<CanvasTabState>();
    Json json = {{"weights", tab.weights}};
    if (const std::optional<Look>& look = tab.look)
        json["look"] = {{"step", look->step}, {"x", look->at.x}, {"y", look->at.y}, {"across", look->across}};
    return json;
}

Look read_look(JsonObject json) {
    constexpr Index kFarthest = 1'000'000;
    Look look{json.text("step"), {json.number("x"), json.number("y")}, json.number("across")};
    if (!(std::abs(look.at.x) <= static_cast<double>(kFarthest) &&
          std::abs(look.at.y) <= static_cast<double>(kFarthest)))
        json.fail("x", message("expected a place of at most {most}", {{"most", kFarthest}}));
    if (!(look.across > 0.0 && look.across <= static_cast<double>(kFarthest)))
        json.fail("across", message("expected more than 0 and at most {most}", {{"most", kFarthest}}));
    json.finish();
    return look;
}

// The camera glides to what a session of the same model looks at.
void restore(ViewState& state, JsonObject* saved) {
    const bool weights = saved != nullptr && saved->boolean("weights");
    std::optional<Look> look;
    if (saved != nullptr && saved->find("look") != nullptr) look = read_look(saved->object("look"));
    CanvasTabState& tab = state.part<CanvasTabState>();
    tab.weights = weights;
    tab.asked = {.whole = !look, .look = look};
    tab.look = std::move(look);
}

bool is_open(const ViewState& state) { return state.tab == kCanvasTab; }

// A key that acts where the canvas is open.
Action on_canvas(Sentence label, Key key, Mods mods, bool repeats, void (*ask)(CanvasTabState&)) {
    return {.label = std::move(label),
            .key = key,
            .mods = mods,
            .repeats = repeats,
            .run = [ask](const core::Session&, ViewState& state, Commands&) {
                if (is_open(state)) ask(state.part<CanvasTabState>());
            }};
}

std::vector<Action> actions_of_canvas() {
    Action plus = on_canvas(message("On the canvas: zoom in"), Key::plus, {}, true,
                            [](CanvasTabState& tab) { tab.asked.zoom *= kKeyNotch; });
    Action also_plus = plus;  // where it is printed above "="
    also_plus.key = Key::equal;
    also_plus.mods = with_shift;
    also_plus.listed = false;
    return {
        plus,
        also_plus,
        on_canvas(message("On the canvas: zoom out"), Key::minus, {}, true,
                  [](CanvasTabState& tab) { tab.asked.zoom /= kKeyNotch; }),
        on_canvas(message("On the canvas: move right"), Key::right, with_shift, true,
                  [](CanvasTabState& tab) { tab.asked.pan.x -= 1.0F; }),
        on_canvas(message("On the canvas: move left"), Key::left, with_shift, true,
                  [](CanvasTabState& tab) { tab.asked.pan.x += 1.0F; }),
        on_canvas(message("On the canvas: move down"), Key::down, with_shift, true,
                  [](CanvasTabState& tab) { tab.asked.pan.y -= 1.0F; }),
        on_canvas(message("On the canvas: move up"), Key::up, with_shift, true,
                  [](CanvasTabState& tab) { tab.asked.pan.y += 1.0F; }),
        {.label = message("Canvas: show the whole model"),
         .key = Key::z,
         .mods = with_shift,
         .run =
             [](const core::Session&, ViewState& state, Commands&) {
                 state.tab = kCanvasTab;
                 state.part<CanvasTabState>().asked.whole = true;
             }},
        {.label = message("From the canvas to the selected tensor in Step"),
         .key = Key::enter,
         .run =
             [](const core::Session&, ViewState& state, Commands&) {
                 if (is_open(state)) state.tab = core::files::kStepTab;
             }},
    };
}

// Another model is shown whole.
void forget_camera(const core::Session& session, CanvasTabState& tab) {
    const std::shared_ptr<const load::ModelInfo> now = load::about(session.shown().scenario.opened());
    const std::weak_ptr<const void> same = now;
    if (!tab.model.owner_before(same) && !same.owner_before(tab.model)) return;
    tab.model = same;
    tab.is_whole = true;
    tab.flies_from.reset();
    tab.flies_to.reset();
    tab.textures = StepTextures("canvas");
}

// The form of the area, in few steps, so that what is drawn keeps its place while the window's edge is dragged a bit.
double aspect_of(Area area) {
    const double aspect = static_cast<double>(area.width() / std::max(area.height(), 1.0F));
    return std::clamp(std::round(aspect * 5.0) / 5.0, 0.4, 4.0);
}

Point middle_of(Area area) {
    return {(static_cast<double>(area.low.x) + static_cast<double>(area.high.x)) * 0.5,
            (static_cast<double>(area.low.y) + static_cast<double>(area.high.y)) * 0.5};
}

void draw_canvas_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    CanvasTabState& tab = state.part<CanvasTabState>();
    forget_camera(session, tab);
    const core::Snapshot& shown = session.shown();
    const float bar = state.stage_alone() ? 0.0F : ImGui::GetFrameHeight(), pad = ui.px(16);
    const Area inner =
        tab.area = {{area.low.x, area.low.y + 1.0F}, {area.high.x, area.high.y - bar - ui.px(bar > 0.0F ? 8 : 0)}};
    const auto layout = core::canvas::shown_layout(session.derived(), shown.run, tab.weights, aspect_of(inner));
    const auto outline = core::step::shown_outline(session.derived(), shown.run);
    begin_part("canvas", inner, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    const Scene scene{ui, session, state, tab, inner, *layout, outline->blocks};
    advance(scene);
    do_asked(scene);
    use_mouse(scene, commands);
    const bool hovered = ImGui::IsItemHovered();
    follow(scene);
    keep_look(tab, look_of(scene));
    const std::optional<Tile> pointed = hovered ? tile_at(scene, ImGui::GetIO().MousePos) : std::nullopt;
    state.hovered.reset();
    draw_frames(scene);
    draw_tiles(scene, pointed);
    explain(scene, pointed);
    ImGui::EndChild();
    if (bar <= 0.0F) return;
    const std::vector<FlowItem> items = controls(scene, commands);
    const Area below = {{area.low.x + pad, area.high.y - bar - ui.px(4)}, {area.high.x - pad, area.high.y - ui.px(4)}};
    float used = 0.0F;
    for (const FlowItem& item : items) used += item.width + item.gap;
    draw_flow(ui, items, below, 1);
    draw_meanings(ui, {{below.low.x + used + ui.px(16), below.low.y}, below.high});
}

}  // namespace

Tab canvas_tab() {
    return {.id = kCanvasTab,
            .title = message("The whole pass"),
            .question = message("What does the whole pass look like?"),
            .key = Key::z,
            .term = "canvas",
            .draw = draw_canvas_tab,
            .actions = actions_of_canvas,
            .save = save,
            .restore = restore,
            .about_steps = false,
            .aside = true,
            .in_between = true};
}

std::optional<Area> picture_on_canvas(const core::Session& session, const CanvasTabState& state,
                                      const std::string& step, Index head) {
    const auto layout =
        core::canvas::shown_layout(session.derived(), session.shown().run, state.weights, aspect_of(state.area));
    const Ref found = session.shown().run->plan().find(step);
    const core::canvas::Placed* placed = found == nullptr ? nullptr : layout->find(found->id);
    if (placed == nullptr) return std::nullopt;
    return state.camera.on_screen(state.area, placed->picture(head));
}

ImVec2 Camera::on_screen(Area area, Point at) const {
    const Point origin = middle_of(area);
    return {static_cast<float>(origin.x + (at.x - middle.x) * scale),
            static_cast<float>(origin.y + (at.y - middle.y) * scale)};
}

Area Camera::on_screen(Area area, const Box& box) const {
    return {on_screen(area, Point{box.x, box.y}), on_screen(area, Point{box.right(), box.bottom()})};
}

Point Camera::under(Area area, ImVec2 screen) const {
    const Point origin = middle_of(area);
    return {middle.x + (static_cast<double>(screen.x) - origin.x) / scale,
            middle.y + (static_cast<double>(screen.y) - origin.y) / scale};
}

void Camera::zoom_at(Area area, ImVec2 screen, double factor) {
    const Point fixed = under(area, screen);
    scale *= factor;
    middle = {fixed.x - (fixed.x - middle.x) / factor, fixed.y - (fixed.y - middle.y) / factor};
}

void Camera::pan(ImVec2 pixels) {
    middle.x -= static_cast<double>(pixels.x) / scale;
    middle.y -= static_cast<double>(pixels.y) / scale;
}

Camera fitted(Area area, const Box& box, float around) {
    const double width = static_cast<double>(std::max(area.width() - 2.0F * around, 1.0F)),
                 height = static_cast<double>(std::max(area.height() - 2.0F * around, 1.0F));
    return {{box.x + box.width * 0.5, box.y + box.height * 0.5},
            std::min(width / std::max(box.width, 1e-6), height / std::max(box.height, 1e-6))};
}

Camera between(const Camera& from, const Camera& to, double part) {
    const double scale = from.scale * std::pow(to.scale / from.scale, part);
    // What is in the middle moves as a point does that is zoomed at.
    const double whole = 1.0 / from.scale - 1.0 / to.scale;
    const double along =
        std::abs(whole) * std::min(from.scale, to.scale) < 1e-3 ? part : (1.0 / from.scale - 1.0 / scale) / whole;
    return {
        {from.middle.x + (to.middle.x - from.middle.x) * along, from.middle.y + (to.middle.y - from.middle.y) * along},
        scale};
}

}  // namespace decoderscope::views::canvas
