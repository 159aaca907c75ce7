#include "app/views/shell/workspace.h"

#include "app/views/dialogs/dialogs.h"
#include "app/views/dialogs/talk.h"
#include "app/views/frame/guarded.h"
#include "app/views/frame/stale.h"
#include "app/views/frame/terms.h"
#include "app/views/frame/window_layout.h"
#include "app/views/input/input_bar.h"
#include "app/views/inspector/inspector.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/map/map.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "app/views/widgets/row_layout.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace decoderscope::views::shell {

namespace {

constexpr double kSecondsPerStep = 0.8;

// Heights, in pixels at a scale of 1: of the bars, and of one that can't be drawn and says why.
constexpr float kToolbar = 44.0F, kTabBar = 40.0F, kFailedBar = 84.0F;

struct Playing {
    double next_step_at = 0.0;  // seconds, ImGui's clock
};

// While playing, advances a step at intervals; stops at the end.
void play(const core::Session& session, ViewState& state, Commands& commands) {
    const double now = ImGui::GetTime();
    double& next = state.part<Playing>().next_step_at;
    const bool waits = state.playing && now < next;
    if (!waits) next = now + kSecondsPerStep;
    if (waits || !state.playing) return;
    if (session.timeline_position() + 1 == session.timeline().size())
        state.playing = false;
    else
        commands.push_back(core::command::Move{1});
}

// ---- the stage and its tabs

// What is opened from behind "More" stays among the tabs.
void keep_among_tabs(ViewState& state, const Tab& tab) {
    std::vector<std::string>& more = state.settings.more_tabs;
    if (state.is_calm() && !tab.first_hour && !tab.in_between && std::ranges::find(more, tab.id) == more.end())
        more.emplace_back(tab.id);
}

void change_tab(ViewState& state) {
    if (const Tab* opened = find_tab(state.tab)) keep_among_tabs(state, *opened);
    if (const Tab* left = find_tab(state.open_tab); left != nullptr && left->leave != nullptr) left->leave(state);
    state.tab_before = std::exchange(state.open_tab, state.tab);
}

// Those that the open tab, and the inspector where the tab leaves it to explain a cell, need for what they show.
core::CompanionRuns needed_runs(const core::Session& session, const ViewState& state) {
    const Tab* open = find_tab(state.open_tab);
    if (open == nullptr || !has_something(*open, session)) return {};
    core::CompanionRuns needed;
    if (open->companion_runs != nullptr) needed = open->companion_runs(session, state);
    if (open->inspect == nullptr || open->explains_cells) needed.merge(inspector::what_if_runs(session, state));
    return needed;
}

}  // namespace

void keep_companions(const core::Session& session, const ViewState& state, Commands& commands) {
    const core::CompanionRuns needed = needed_runs(session, state), kept = session.companion_runs();
    for (const auto& [name, variation] : kept)
        if (!needed.contains(name)) commands.push_back(core::command::RequestAuxRun{name, std::nullopt});
    for (const auto& [name, variation] : needed)
        if (const auto known = kept.find(name); known == kept.end() || known->second != variation)
            commands.push_back(core::command::RequestAuxRun{name, variation});
}

namespace {

// A tab that needs more height than there is keeps it, and scrolls.
void draw_scrolled(const Ui& ui, const core::Session& session, ViewState& state, const Tab& tab, Area area,
                   float height, Commands& commands) {
    begin_part("stage", area);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const Area content = {start, {start.x + ImGui::GetContentRegionAvail().x, start.y + height}};
    tab.draw(ui, session, state, content, commands);
    ImGui::SetCursorScreenPos({start.x, content.high.y - 1});
    ImGui::Dummy({1, 1});
    ImGui::EndChild();
}

// `closed`: a lesson's question withholds it.
std::string tab_tip(const Tab& tab, bool closed) {
    if (closed) return tr("Closed while the lesson's question is open");
    if (tab.key == Key::none) return tr(tab.question);
    return tr("{question} ({key})", {{"question", tr(tab.question)}, {"key", key_text(tab.key)}});
}

constexpr float kTabGap = 4.0F;

// The tabs that are drawn, and those behind "More".
struct TabRow {
    std::vector<const Tab*> drawn, more;
};

TabRow tab_row(const core::Session& session, const ViewState& state) {
    TabRow row;
    const Tab* last = nullptr;
    const std::vector<std::string>& asked = state.settings.more_tabs;
    for (const Tab& tab : tabs()) {
        if (tab.id != state.tab && !is_about(tab, session)) continue;
        // What is looked at in between has its link under the map; open, it comes last, so that no other moves.
        if (tab.in_between) {
            if (tab.id == state.tab) last = &tab;
            continue;
        }
        const bool drawn = !state.is_calm() || tab.first_hour || tab.id == state.tab ||
                           std::ranges::find(asked, tab.id) != asked.end();
        (drawn ? row.drawn : row.more).push_back(&tab);
    }
    if (last != nullptr) row.drawn.push_back(last);
    return row;
}

// How much narrower than usual the padding and the gaps of the drawn tabs must be to fit; 1 if they fit.
float shrink_of(const Ui& ui, const TabRow& row, float room) {
    const auto count = static_cast<float>(row.drawn.size() + (row.more.empty() ? 0 : 1));
    float titles = row.more.empty() ? 0.0F : ImGui::CalcTextSize(more_label().c_str()).x;
    for (const Tab* tab : row.drawn) titles += ImGui::CalcTextSize(tr(tab->title)).x;
    return std::min(
        (room - titles) / (count * 2.0F * ImGui::GetStyle().FramePadding.x + (count - 1.0F) * ui.px(kTabGap)), 1.0F);
}

// Moves the last tabs behind "More" until those before them, and the open one, can be told apart.
void leave_room(const Ui& ui, const ViewState& state, TabRow& row, float room) {
    constexpr float kLeastShrink = 0.75F;
    while (row.drawn.size() > 1 && shrink_of(ui, row, room) < kLeastShrink) {
        auto last = row.drawn.end() - 1;
        if ((*last)->id == state.tab) --last;
        row.more.insert(row.more.begin(), *last);
        row.drawn.erase(last);
    }
}

bool is_closed(const ViewState& state, const Tab& tab) {
    return state.withheld.diff && tab.id == core::files::kDiffTab;
}

void draw_tab(const Ui& ui, ViewState& state, const Tab& tab) {
    const std::string title = labelled(tr(tab.title), tab.id);
    const bool closed = is_closed(state, tab);
    const std::string tip = tab_tip(tab, closed);
    if (closed) ImGui::PushStyleColor(ImGuiCol_Text, ui.theme.muted);
    if (toggle_button(ui, title.c_str(), state.tab == tab.id, nullptr) && !closed) state.tab = tab.id;
    if (closed) ImGui::PopStyleColor();
    const core::glossary::GlossaryTerm* term = closed ? nullptr : core::glossary::find_term(tab.term);
    explain_term(ui, state, term, tip);
    if (term == nullptr) tooltip(tip.c_str());
}

// The tabs behind "More", each with its question.
void draw_more_tabs(const Ui& ui, ViewState& state, const std::vector<const Tab*>& more) {
    if (button(more_label(), "more-tabs")) ImGui::OpenPopup("more-tabs");
    tooltip(tr("More tabs; those that you open stay here"));
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)});
    if (!ImGui::BeginPopup("more-tabs")) return;
    for (const Tab* tab : more)
        if (!is_closed(state, *tab) && press_row(labelled(tr(tab_label(*tab)).c_str(), tab->id).c_str()))
            state.tab = tab->id;
    ImGui::EndPopup();
}

// The titles of the tabs.
void draw_tabs(const Ui& ui, const core::Session& session, ViewState& state, Area area) {
    const float bar = ui.px(kTabBar), left = ui.px(16);
    TabRow row = tab_row(session, state);
    leave_room(ui, state, row, area.width() - left);
    const float shrink = std::max(shrink_of(ui, row, area.width() - left), 0.2F), gap = ui.px(kTabGap) * shrink;
    ImGui::SetCursorScreenPos({area.low.x + left, area.low.y + ui.px(6)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        ImVec2(ImGui::GetStyle().FramePadding.x * shrink, ImGui::GetStyle().FramePadding.y));
    for (const Tab* tab : row.drawn) {
        if (tab != row.drawn.front()) ImGui::SameLine(0, gap);
        draw_tab(ui, state, *tab);
    }
    if (!row.more.empty()) {
        ImGui::SameLine(0, gap);
        draw_more_tabs(ui, state, row.more);
    }
    ImGui::PopStyleVar();
    ImGui::GetWindowDrawList()->AddLine({area.low.x, area.low.y + bar}, {area.high.x, area.low.y + bar}, ui.theme.line);
}

// As above, at the top of an area. Returns where they end.
float draw_tabs_at_top(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const float end = area.low.y + ui.px(kTabBar);
    draw_guarded(ui, session, state, "tabs", {area.low, {area.high.x, end}}, commands,
                 [&](Commands&) { draw_tabs(ui, session, state, area); });
    return end;
}

// A part that shows something of a run. While what is typed can't be run, it is that of the input before: grey, and
// nothing in it acts.
void draw_of_run(const Ui& ui, const core::Session& session, ViewState& state, const char* part, Area area,
                 Commands& commands, const std::function<void(Commands&)>& draw,
                 const std::function<void(Area)>& note = {}) {
    draw_guarded(ui, session, state, part, area, commands, [&](Commands& heard) {
        if (session.input_error().empty()) return draw(heard);
        draw_stale(
            ui, (std::string(part) + "-before").c_str(),
            [&](Commands& unheard) {
                draw(unheard);
                return area;
            },
            note);
    });
}

// The stage: the open tab.
void draw_open_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    if (state.tab != state.open_tab) change_tab(state);
    state.stage = area;
    const Tab* open = find_tab(state.tab);
    if (open == nullptr) return;
    if (state.withheld.stage) {
        draw_empty_page(ui, area, tr("Closed while the lesson's question is open"),
                        tr("The answer could be read here. It opens again once the question is answered or skipped."),
                        ui.theme.muted);
        return;
    }
    if (!is_about(*open, session) && session.shown().scenario.computes()) {
        draw_empty_page(ui, area, tr(open->title), tr(open->missing), ui.theme.muted);
        return;
    }
    if (!has_something(*open, session)) {
        draw_empty_page(ui, area, tr("Recorded elsewhere"),
                        tr("This tab shows what a model computes. A recording has no weights to compute with: its "
                           "tensors are in the Step tab, and Diff compares them."),
                        ui.theme.muted);
        return;
    }
    const float least = open->least_height == nullptr ? 0.0F : ui.px(open->least_height(area.width() / ui.fonts.scale));
    if (area.height() >= least) return open->draw(ui, session, state, area, commands);
    draw_scrolled(ui, session, state, *open, area, least, commands);
}

// The open tab, between the numbers that are watched and what it says in words.
void draw_stage(const Ui& ui, const core::Session& session, ViewState& state, Area whole, Commands& commands) {
    float watches = ui.px(kFailedBar);
    draw_guarded(ui, session, state, "watches", {whole.low, {whole.high.x, whole.low.y + watches}}, commands,
                 [&](Commands& heard) {
                     watches = state.withheld.stage ? 0.0F : draw_watches(ui, session, state, whole, heard);
                 });
    float said = ui.px(kFailedBar);
    draw_guarded(ui, session, state, "said", {{whole.low.x, whole.high.y - said}, whole.high}, commands,
                 [&](Commands& heard) {
                     const float talk = dialogs::draw_talk(ui, session, state, whole, heard);
                     const Area above = {whole.low, {whole.high.x, whole.high.y - talk}};
                     said = talk + (state.withheld.stage ? 0.0F : draw_said(ui, session, state, above, heard));
                 });
    const Area area = {{whole.low.x, whole.low.y + watches}, {whole.high.x, whole.high.y - said}};
    draw_of_run(
        ui, session, state, "stage", area, commands,
        [&](Commands& heard) { draw_open_tab(ui, session, state, area, heard); },
        [&](Area note) {
            text_block(ui, ui.fonts.text, ui.theme.muted, note,
                       tr("{error}. The run still shows the previous input.", {{"error", session.input_error()}}));
        });
}

// ---- the panels around the stage

// Toolbar, input and what is offered, one below the other. Returns where they end.
float draw_bars(const Ui& ui, const core::Session& session, ViewState& state, Area whole, Commands& commands) {
    float y = whole.low.y;
    // `draw` returns the height that it takes of the area; what can't be drawn takes `failed`.
    const auto bar = [&](const char* part, float failed, const std::function<float(Area, Commands&)>& draw) {
        const Area rest = {{whole.low.x, y}, whole.high};
        float height = ui.px(failed);
        draw_guarded(ui, session, state, part, {rest.low, {rest.high.x, y + height}}, commands,
                     [&](Commands& heard) { height = draw(rest, heard); });
        y += height;
    };
    bar("toolbar", kToolbar, [&](Area rest, Commands& heard) {
        draw_toolbar(ui, session, state, {rest.low, {rest.high.x, rest.low.y + ui.px(kToolbar)}}, heard);
        return ui.px(kToolbar);
    });
    bar("input", kFailedBar, [&](Area rest, Commands& heard) {
        const float height = input::input_bar_height(ui, session, state);
        input::draw_input_bar(ui, session, state, {rest.low, {rest.high.x, rest.low.y + height}}, heard);
        return height;
    });
    bar("recovery", kFailedBar,
        [&](Area rest, Commands& heard) { return draw_recovery_bar(ui, session, state, rest, heard); });
    bar("introduction", kFailedBar,
        [&](Area rest, Commands& heard) { return draw_introduction(ui, session, state, rest, heard); });
    return y;
}

// Messages at the upper or lower edge of an area. Returns their height.
enum class Edge { upper, lower };
float draw_messages_at(const Ui& ui, const core::Session& session, ViewState& state, Area area, Edge edge,
                       Commands& commands) {
    const auto at_edge = [&](float height) {
        const float low = edge == Edge::upper ? area.low.y : area.high.y - height;
        return Area{{area.low.x, low}, {area.high.x, low + height}};
    };
    float height = ui.px(kFailedBar);
    draw_guarded(ui, session, state, "messages", at_edge(height), commands, [&](Commands& heard) {
        height = messages_height(ui, session, state, area.width());
        draw_messages(ui, session, state, at_edge(height), heard);
    });
    return height;
}

// ---- the panels side by side

// What is left of a folded panel at the window's edge: a button that brings it back. Returns whether it was pressed.
bool draw_rail(const Ui& ui, const char* id, Area area, Icon icon, const char* tip) {
    ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.panel);
    const float size = ImGui::GetFrameHeight();
    ImGui::SetCursorScreenPos({area.low.x + (area.width() - size) * 0.5F, area.low.y + ui.px(8)});
    return icon_button(ui, id, icon, true, tip);
}

// A panel's edge that is dragged. The wanted width changes only then: what lack of room takes away comes back with the
// room.
void draw_edge(const Ui& ui, const char* id, Area area, float drawn, float least, float most, float direction,
               float& wanted) {
    float width = drawn;
    splitter(ui, id, area, width, direction, least, most);
    if (ImGui::IsItemActive() && width != drawn) wanted = width;
}

// Whether map and timeline have anything to say beside the open tab.
bool is_about_steps(const ViewState& state) {
    if (state.withheld.stage) return false;
    const Tab* open = find_tab(state.tab);
    return open == nullptr || open->about_steps == nullptr || open->about_steps(state);
}

void draw_side_by_side(const Ui& ui, const core::Session& session, ViewState& state, Area whole, Commands& commands) {
    const float bar = ui.px(kSplitter), scale = ui.fonts.scale;
    const float top = draw_bars(ui, session, state, whole, commands);
    const bool steps = is_about_steps(state);
    const float bottom = steps ? whole.high.y - map::timeline_height(ui, session, state)
                               : whole.high.y - ui.px(12);  // a page that scrolls ends above the window's edge
    core::files::Settings& settings = state.settings;
    const PanelWidths panels = state.panels =
        fit_panels(whole.width() / scale, {.map = settings.map_width,
                                           .inspector = settings.inspector_width,
                                           .map_folded = settings.map_folded || !steps,
                                           .inspector_folded = settings.inspector_folded,
                                           .map_first = state.map_first});

    const float map_end = whole.low.x + panels.map * scale, inspector_start = whole.high.x - panels.inspector * scale;
    float low = whole.low.x + ui.px(kRail), high = whole.high.x - ui.px(kRail);
    if (panels.map > 0.0F) {
        low = map_end + bar;
        draw_edge(ui, "map-edge", {{map_end, top}, {low, bottom}}, panels.map, kLeastMap, panels.most_map, 1.0F,
                  settings.map_width);
        const Area map = {{whole.low.x, top}, {map_end, bottom}};
        draw_of_run(ui, session, state, "map", map, commands,
                    [&](Commands& heard) { map::draw_map(ui, session, state, map, heard); });
    } else if (!steps) {
        low = whole.low.x;
    } else {
        const Area rail = {{whole.low.x, top}, {low, bottom}};
        if (draw_rail(ui, "unfold-map", rail, Icon::forward, tr("Show the map (F2)"))) show_map(state, true);
    }
    if (panels.inspector > 0.0F) {
        high = inspector_start - bar;
        draw_edge(ui, "inspector-edge", {{high, top}, {inspector_start, bottom}}, panels.inspector, kLeastInspector,
                  panels.most_inspector, -1.0F, settings.inspector_width);
        // What is said takes the foot of its column: there nothing moves when it comes, and nothing is covered.
        const Area column = {{inspector_start, top}, {whole.high.x, bottom}};
        const float said = draw_messages_at(ui, session, state, column, Edge::lower, commands);
        const Area room = {column.low, {column.high.x, bottom - said}};
        draw_of_run(ui, session, state, "inspector", room, commands,
                    [&](Commands& heard) { inspector::draw_inspector(ui, session, state, room, heard); });
    } else {
        const Area rail = {{high, top}, {whole.high.x, bottom}};
        if (draw_rail(ui, "unfold-inspector", rail, Icon::back, tr("Show the inspector (F3)")))
            show_inspector(state, true);
    }
    const float tabs_end = draw_tabs_at_top(ui, session, state, {{low, top}, {high, bottom}}, commands);
    const std::array<Area, 8> parts = {Area{},
                                       {{whole.low.x, whole.low.y + ui.px(kToolbar)}, {whole.high.x, top}},
                                       {whole.low, {whole.high.x, whole.low.y + ui.px(kToolbar)}},
                                       {{whole.low.x, top}, {low, bottom}},
                                       {{low, top}, {high, tabs_end}},
                                       {{low, tabs_end}, {high, bottom}},
                                       {{whole.low.x, bottom}, whole.high},
                                       {{high, top}, {whole.high.x, bottom}}};
    guarded(commands, [&](Commands&) { lesson_panel::draw_lesson_pointer(ui, state, parts); });
    draw_stage(ui, session, state, {{low, tabs_end}, {high, bottom}}, commands);
    if (panels.inspector <= 0.0F) {
        const float width = std::min(ui.px(core::files::Settings().inspector_width), high - low);
        draw_messages_at(ui, session, state, {{high - width, tabs_end}, {high, bottom}}, Edge::lower, commands);
    }
    if (!steps) return;
    ImGui::GetWindowDrawList()->AddLine({whole.low.x, bottom}, {whole.high.x, bottom}, ui.theme.line);
    const Area timeline = {{whole.low.x, bottom + 1}, whole.high};
    draw_of_run(ui, session, state, "timeline", timeline, commands,
                [&](Commands& heard) { map::draw_timeline(ui, session, state, timeline, heard); });
}

// ---- the lecture hall: the stage alone, and the panels over it when they are asked for

void draw_presentation(const Ui& ui, const core::Session& session, ViewState& state, Area whole, Commands& commands) {
    PresentationState& slides = state.presentation;
    if (state.part<input::InputBarState>().focus) slides.asked[static_cast<std::size_t>(SlidePanel::bars)] = true;
    // A page that scrolls ends above the edge of the screen.
    draw_stage(ui, session, state, {whole.low, {whole.high.x, whole.high.y - ui.px(4)}}, commands);
    const float top = whole.low.y + std::max(slides.bars_height, ui.px(84)),
                bottom = whole.high.y - map::timeline_height(ui, session, state);
    const float map = std::max(state.settings.map_width, kLeastMap) * ui.fonts.scale,
                inspector = std::max(state.settings.inspector_width, kLeastInspector) * ui.fonts.scale;
    // By SlidePanel. Panels at the sides are between those above and below.
    const std::array<Area, kSlidePanels> areas = {
        Area{whole.low, {whole.high.x, top}}, Area{{whole.low.x, top}, {whole.low.x + map, bottom}},
        Area{{whole.high.x - inspector, top}, {whole.high.x, bottom}}, Area{{whole.low.x, bottom}, whole.high}};
    const float edge = state.embedded ? -ui.px(1) : ui.px(6);
    if (advance(slides, areas, whole, !state.reduces_motion(), edge)) state.busy = true;
    const auto draw = [&](SlidePanel panel, const char* part, const std::function<void(Area, Commands&)>& contents) {
        const auto i = static_cast<std::size_t>(panel);
        if (slides.visible[i] <= 0.0F) return;
        const Area area = slid(areas[i], panel, slides.visible[i]);
        begin_part((std::string("slide-") + part).c_str(), area, ImGuiWindowFlags_NoScrollbar);
        ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.panel);
        draw_guarded(ui, session, state, part, area, commands, [&](Commands& heard) { contents(area, heard); });
        compat::add_rect(*ImGui::GetWindowDrawList(), area.low, area.high, ui.theme.line);
        ImGui::EndChild();
    };
    const bool steps = is_about_steps(state);
    if (steps)
        draw(SlidePanel::map, "map",
             [&](Area area, Commands& heard) { map::draw_map(ui, session, state, area, heard); });
    draw(SlidePanel::inspector, "inspector",
         [&](Area area, Commands& heard) { inspector::draw_inspector(ui, session, state, area, heard); });
    if (steps)
        draw(SlidePanel::timeline, "timeline",
             [&](Area area, Commands& heard) { map::draw_timeline(ui, session, state, area, heard); });
    draw(SlidePanel::bars, "bars", [&](Area area, Commands& heard) {
        const float bars = draw_bars(ui, session, state, area, heard);
        const float end =
            bars + draw_messages_at(ui, session, state, {{area.low.x, bars}, area.high}, Edge::upper, heard);
        slides.bars_height = draw_tabs_at_top(ui, session, state, {{area.low.x, end}, area.high}, heard) - area.low.y;
    });
}

// Within another page the pointer comes over the edges all the time: panels come by their keys alone. What failed is
// said above the stage.
void draw_embedded(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    Area whole = {{0, 0}, ImGui::GetIO().DisplaySize};
    if (session.message() && session.message()->failed)
        whole.low.y += draw_messages_at(ui, session, state, whole, Edge::upper, commands);
    draw_presentation(ui, session, state, whole, commands);
}

// Whether Esc closes a list or a menu, before anything else. A dialog has its own answer to Esc.
bool escape_closes_popup(const ViewState& state) {
    return pressed(Key::escape) && compat::open_popups() > (state.dialog == Dialog::none ? 0 : 1);
}

// The room that everything is laid out in: the window, or what a window must have at least. What is beyond the edge of
// a smaller one is cut off.
Area room(const Ui& ui) {
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    return {{0, 0}, {std::max(window.x, ui.px(kLeastRoom.x)), std::max(window.y, ui.px(kLeastRoom.y))}};
}

bool shows_them_how(const Commands::value_type& asked) {
    return as<core::command::SelectCell>(asked) != nullptr || as<core::command::Follow>(asked) != nullptr ||
           as<core::command::PaintMask>(asked) != nullptr;
}

// The model that the pictures' zooms are of.
struct ZoomedModel {
    std::shared_ptr<const load::ModelInfo> model;
};

// Another model's pictures are shown whole.
void forget_zooms(const core::Session& session, ViewState& state) {
    std::shared_ptr<const load::ModelInfo> now = load::about(session.shown().scenario.opened());
    ZoomedModel& zoomed = state.part<ZoomedModel>();
    if (zoomed.model == now) return;
    zoomed.model = std::move(now);
    state.viewports.clear();
}

}  // namespace

Commands draw_workspace(const Ui& given, const core::Session& session, ViewState& state) {
    Ui ui = given;
    ui.large_pointer = state.presenting || state.settings.large_pointer;
    Commands commands;
    session.derived().next_frame();
    forget_zooms(session, state);
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ImGui::Begin("workspace", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar();
    const bool completes = state.dialog == Dialog::open_model || state.dialog == Dialog::formula;
    state.focus.begin(completes && typing());
    state.document.begin();
    const bool popup_ends = escape_closes_popup(state);
    guarded(commands, [&](Commands& heard) { run_shortcuts(session, state, heard); });
    state.part<GlossaryState>().pointed_at.clear();
    forget_text_under_mouse();
    play(session, state, commands);
    guarded(commands, [&](Commands& heard) { lesson_panel::follow_lesson(session, state, heard); });
    lesson_panel::withhold(session, state, commands);  // what a key asked for
    const Area whole = room(ui);
    if (state.embedded)
        draw_embedded(ui, session, state, commands);
    else if (state.presenting)
        draw_presentation(ui, session, state, whole, commands);
    else
        draw_side_by_side(ui, session, state, whole, commands);
    state.paced = state.paced || state.playing;
    guarded(commands, [&](Commands& heard) { keep_companions(session, state, heard); });
    lesson_panel::withhold(session, state, commands);
    guarded(commands, [&](Commands& heard) { dialogs::draw_dialogs(ui, session, state, heard); });
    if (popup_ends) compat::close_last_popup();
    state.focus.end();
    state.document.end();
    state.busy = state.busy || state.focus.moved();
    ImGui::End();
    if (std::any_of(commands.begin(), commands.end(), shows_them_how)) state.settings.hint_done = true;
    return commands;
}

}  // namespace decoderscope::views::shell
