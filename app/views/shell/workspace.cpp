#include "app/views/shell/workspace.h"

#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/books.h"
#include "app/views/frame/guarded.h"
#include "app/views/frame/stale.h"
#include "app/views/input/input_bar.h"
#include "app/views/inspector/inspector.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/strip/strip.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope::views::shell {

namespace {

// Heights, in pixels at a scale of 1: of the bars, and of one that can't be drawn and says why.
constexpr float kToolbar = 48.0F, kTabBar = 40.0F, kFailedBar = 84.0F;

// ---- the stage and its tabs

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

std::string tab_tip(const Tab& tab) {
    const auto with_key = [](Phrase question, Key key) {
        return key == Key::none ? std::string(tr(question))
                                : tr("{question} ({key})", {{"question", tr(question)}, {"key", key_text(key)}});
    };
    std::string tip = with_key(tab.question, tab.key);
    for (const TabPage& page : tab.pages) tip += "\n" + with_key(page.question, page.key);
    return tip;
}

constexpr float kTabGap = 4.0F;

// The tabs that are drawn, those for which there is no room, behind "More", and the open one beside it, if it is one of
// these or is there only while it is open.
struct TabRow {
    std::vector<const Tab*> drawn, more;
    const Tab* last = nullptr;
};

TabRow tab_row(const core::Session& session, const ViewState& state) {
    TabRow row;
    for (const Tab& tab : tabs()) {
        if (!tab.aside && is_about(tab, session))
            row.drawn.push_back(&tab);
        else if (tab.id == state.tab)
            row.last = &tab;
    }
    return row;
}

// How much narrower than usual the padding and the gaps of the drawn tabs must be to fit; 1 if they fit.
float shrink_of(const Ui& ui, const TabRow& row, float room) {
    const auto count =
        static_cast<float>(row.drawn.size() + (row.more.empty() ? 0 : 1) + (row.last == nullptr ? 0 : 1));
    float titles = row.more.empty() ? 0.0F : ImGui::CalcTextSize(more_label().c_str()).x;
    if (row.last != nullptr) titles += ImGui::CalcTextSize(tr(row.last->title)).x;
    for (const Tab* tab : row.drawn) titles += ImGui::CalcTextSize(tr(tab->title)).x;
    return std::min(
        (room - titles) / (count * 2.0F * ImGui::GetStyle().FramePadding.x + (count - 1.0F) * ui.px(kTabGap)), 1.0F);
}

// Moves the last tabs behind "More" until those before them can be told apart. Returns how narrow they are.
float leave_room(const Ui& ui, const ViewState& state, TabRow& row, float room) {
    constexpr float kLeastShrink = 0.75F;
    while (row.drawn.size() > 1 && shrink_of(ui, row, room) < kLeastShrink) {
        if (row.drawn.back()->id == state.tab) row.last = row.drawn.back();
        row.more.insert(row.more.begin(), row.drawn.back());
        row.drawn.pop_back();
    }
    return std::max(shrink_of(ui, row, room), 0.2F);
}

void draw_tab(const Ui& ui, ViewState& state, const Tab& tab) {
    const std::string title = labelled(tr(tab.title), tab.id);
    const std::string tip = tab_tip(tab);
    if (toggle_button(ui, title.c_str(), state.tab == tab.id, nullptr)) state.tab = tab.id;
    const core::glossary::GlossaryTerm* term = core::glossary::find_term(tab.term);
    explain_term(ui, state, term, tip);
    if (term == nullptr) tooltip(tip.c_str());
}

// The tabs behind "More", each with its question.
void draw_more_tabs(const Ui& ui, ViewState& state, const std::vector<const Tab*>& more) {
    if (!begin_menu_below(ui, more_label(), "more-tabs", tr("More tabs"))) return;
    for (const Tab* tab : more)
        if (press_row(labelled(tr(tab_label(tab->title, tab->question)), tab->id).c_str(), tab->id == state.tab))
            state.tab = tab->id;
    ImGui::EndPopup();
}

constexpr float kSelectors = 80.0F;  // behind the tabs, at least: a button that opens them

// What the open tab lets one choose, at the right end behind the tabs, which end at `tabs_end`.
void draw_selectors(const Ui& ui, const core::Session& session, ViewState& state, float tabs_end, Area area,
                    Commands& commands) {
    const Tab* open = find_tab(state.tab);
    if (open == nullptr || open->selectors == nullptr) return;
    const std::vector<FlowItem> items = open->selectors(ui, session, state, commands);
    float width = 0.0F;
    for (const FlowItem& item : items) width += item.width + (&item == items.data() ? 0.0F : item.gap);
    const float right = area.high.x - ui.px(16), room = right - tabs_end - ui.px(8);
    if (items.empty() || room <= 0.0F) return;
    const float y = area.low.y + ui.px(6);
    draw_flow(ui, items, {{right - std::min(width, room), y}, {right + 1.0F, y + ImGui::GetFrameHeight()}}, 1);
}

// The titles of the tabs, from `left` on.
void draw_tabs(const Ui& ui, const core::Session& session, ViewState& state, Area area, float left,
               Commands& commands) {
    const float bar = ui.px(kTabBar);
    TabRow row = tab_row(session, state);
    const Tab* open = find_tab(state.tab);
    const float kept = open != nullptr && open->selectors != nullptr ? ui.px(kSelectors + 24) : 0.0F;
    const float shrink = leave_room(ui, state, row, area.high.x - left - kept), gap = ui.px(kTabGap) * shrink;
    ImGui::SetCursorScreenPos({left, area.low.y + ui.px(6)});
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
    if (row.last != nullptr) {
        ImGui::SameLine(0, gap);
        draw_tab(ui, state, *row.last);
    }
    ImGui::PopStyleVar();
    draw_selectors(ui, session, state, ImGui::GetItemRectMax().x, area, commands);
    ImGui::GetWindowDrawList()->AddLine({area.low.x, area.low.y + bar}, {area.high.x, area.low.y + bar}, ui.theme.line);
}

// As above, at the top of an area. Returns where they end.
float draw_tabs_at_top(const Ui& ui, const core::Session& session, ViewState& state, Area area, float left,
                       Commands& commands) {
    const float end = area.low.y + ui.px(kTabBar);
    draw_guarded(ui, session, state, "tabs", {area.low, {area.high.x, end}}, commands,
                 [&](Commands& heard) { draw_tabs(ui, session, state, area, left + ui.px(16), heard); });
    return end;
}

// A part that shows something of a run. While what is typed can't be run, it is that of the input before: grey, and
// nothing in it acts.
void draw_of_run(const Ui& ui, const core::Session& session, ViewState& state, const char* part, Area area,
                 Commands& commands, const std::function<void(Commands&)>& draw,
                 const std::function<void(Area)>& note = {}) {
    draw_guarded(ui, session, state, part, area, commands, [&](Commands& heard) {
        if (session.input_error().empty()) return draw(heard);
        if (draw_stale(ui, (std::string(part) + "-before").c_str(), area, draw, note)) state.busy = true;
    });
}

// The stage: the open tab.
void draw_open_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    if (state.tab != state.open_tab) {
        if (const Tab* left = find_tab(state.open_tab); left != nullptr && left->leave != nullptr) left->leave(state);
        state.tab_before = std::exchange(state.open_tab, state.tab);
    }
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
                           "tensors are in the Step tab, and Compare compares them."),
                        ui.theme.muted);
        return;
    }
    const float least = open->least_height == nullptr ? 0.0F : ui.px(open->least_height(session));
    if (area.height() >= least) return open->draw(ui, session, state, area, commands);
    scrolled("stage", area, [&](ImVec2 start) {
        const float end = start.y + least;
        open->draw(ui, session, state, {start, {start.x + ImGui::GetContentRegionAvail().x, end}}, commands);
        return end;
    });
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
            text_block(ui, ui.hint(), note,
                       tr("{error}. The run still shows the previous input.", {{"error", session.input_error()}}));
        });
}

// ---- the panels around the stage

// Toolbar and what is offered, one below the other. Returns where they end.
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
    bar("recovery", kFailedBar,
        [&](Area rest, Commands& heard) { return draw_recovery_bar(ui, session, state, rest, heard); });
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

// The inspector's edge that is dragged. The wanted width changes only then: what lack of room takes away comes back
// with the room.
void draw_edge(const Ui& ui, const char* id, Area area, float drawn, float least, float most, float direction,
               float& wanted) {
    float width = drawn;
    splitter(ui, id, area, width, direction, least, most);
    if (ImGui::IsItemActive() && width != drawn) wanted = width;
}

// What is looked at in between: it takes the room of the strip and of the tabs. nullptr, if another tab is open.
const Tab* open_in_between(const ViewState& state) {
    const Tab* open = find_tab(state.tab);
    return open != nullptr && open->in_between ? open : nullptr;
}

// The strip is closed with the stage.
bool has_strip(const ViewState& state) { return !state.withheld.stage && open_in_between(state) == nullptr; }

// Its title, and the way back, in place of the tabs.
void draw_title(const Ui& ui, ViewState& state, const Tab& tab, Area area) {
    const float x = area.low.x + ui.px(16);
    const float width = draw_text(ui, ui.title(), {x, area.low.y + ui.px(8)}, tr(tab.title));
    ImGui::SetCursorScreenPos({x + width + ui.px(16), area.low.y + ui.px(12)});
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Back to the strip ({key})", {{"key", key_text(tab.key)}}), 0))
        state.tab = state.tab_before;
}

void draw_side_by_side(const Ui& ui, const core::Session& session, ViewState& state, Area whole, Commands& commands) {
    const float bar = ui.px(kSplitter), scale = ui.fonts.scale;
    const float bars_end = draw_bars(ui, session, state, whole, commands);
    const float top = bars_end + (has_strip(state) ? strip::strip_height(ui, session, state) : 0.0F);
    const float bottom = whole.high.y - strip::foot_height(ui);
    const Area strip = {{whole.low.x, bars_end}, {whole.high.x, top}};
    if (has_strip(state))
        draw_of_run(ui, session, state, "strip", strip, commands,
                    [&](Commands& heard) { strip::draw_strip(ui, session, state, strip, heard); });
    core::files::Settings& settings = state.settings;
    const InspectorWidth inspector = state.inspector =
        fit_inspector(whole.width() / scale, settings.inspector_folded ? 0.0F : settings.inspector_width);
    const float inspector_start = whole.high.x - inspector.drawn * scale, low = whole.low.x;
    float high = whole.high.x - ui.px(kRail);
    if (inspector.drawn > 0.0F) {
        high = inspector_start - bar;
        draw_edge(ui, "inspector-edge", {{high, top}, {inspector_start, bottom}}, inspector.drawn, kLeastInspector,
                  inspector.most, -1.0F, settings.inspector_width);
        // What is said takes the lower end of its column, above the buttons: there nothing moves when it comes, and
        // nothing is covered.
        const Area column = {{inspector_start, top}, {whole.high.x, bottom}};
        const float foot = inspector::foot_height(ui, session, state);
        const float said =
            draw_messages_at(ui, session, state, {column.low, {column.high.x, bottom - foot}}, Edge::lower, commands);
        draw_of_run(ui, session, state, "inspector", column, commands,
                    [&](Commands& heard) { inspector::draw_inspector(ui, session, state, column, heard, said); });
    } else {
        const Area rail = {{high, top}, {whole.high.x, bottom}};
        if (draw_rail(ui, "unfold-inspector", rail, Icon::back, tr("Show the inspector (F3)")))
            settings.inspector_folded = false;
    }
    const Area below = {{low, top}, {high, bottom}};
    const Tab* between = open_in_between(state);
    float tabs_end = below.low.y + ui.px(kTabBar);
    if (between != nullptr)
        draw_guarded(ui, session, state, "tabs", {below.low, {below.high.x, tabs_end}}, commands,
                     [&](Commands&) { draw_title(ui, state, *between, below); });
    else
        tabs_end = draw_tabs_at_top(ui, session, state, below, low, commands);
    // By core::lessons::WindowPart.
    const std::array<Area, 8> parts = {Area{},
                                       {whole.low, {whole.high.x, whole.low.y + ui.px(kToolbar)}},
                                       {whole.low, {whole.high.x, whole.low.y + ui.px(kToolbar)}},
                                       strip,
                                       {{low, top}, {high, tabs_end}},
                                       {{low, tabs_end}, {high, bottom}},
                                       {{whole.low.x, bottom}, whole.high},
                                       {{high, top}, {whole.high.x, bottom}}};
    guarded(commands, [&](Commands&) { lesson_panel::draw_lesson_pointer(ui, state, parts); });
    draw_stage(ui, session, state, {{low, tabs_end}, {high, bottom}}, commands);
    if (inspector.drawn <= 0.0F) {
        const float width = std::min(ui.px(core::files::Settings().inspector_width), high - low);
        // Over pictures, not over the controls below them.
        const Area free = {{high - width, tabs_end}, {high, state.stage.high.y}};
        draw_messages_at(ui, session, state, free, Edge::lower, commands);
    }
    if (state.withheld.stage) return;
    const Area foot = {{whole.low.x, bottom}, whole.high};
    draw_of_run(ui, session, state, "foot", foot, commands,
                [&](Commands& heard) { strip::draw_foot(ui, session, state, foot, heard); });
}

// ---- the lecture hall: the stage alone, and the panels over it when they are asked for

void draw_presentation(const Ui& ui, const core::Session& session, ViewState& state, Area whole, Commands& commands) {
    PresentationState& slides = state.presentation;
    state.ringed.reset();  // what it asks for is said in the inspector
    if (state.part<input::InputBarState>().focus) slides.asked[static_cast<std::size_t>(SlidePanel::bars)] = true;
    // A page that scrolls ends above the edge of the screen.
    draw_stage(ui, session, state, {whole.low, {whole.high.x, whole.high.y - ui.px(4)}}, commands);
    const float strip_height = strip::strip_height(ui, session, state);
    const float top = whole.low.y + std::max(slides.bars_height, ui.px(84)),
                bottom = whole.high.y - strip_height - strip::foot_height(ui);
    const float inspector = std::max(state.settings.inspector_width, kLeastInspector) * ui.fonts.scale;
    // By SlidePanel. The inspector is between those above and below.
    const std::array<Area, kSlidePanels> areas = {Area{whole.low, {whole.high.x, top}},
                                                  Area{{whole.high.x - inspector, top}, {whole.high.x, bottom}},
                                                  Area{{whole.low.x, bottom}, whole.high}};
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
    draw(SlidePanel::inspector, "inspector",
         [&](Area area, Commands& heard) { inspector::draw_inspector(ui, session, state, area, heard); });
    if (!state.withheld.stage)
        draw(SlidePanel::strip, "strip", [&](Area area, Commands& heard) {
            const float end = area.low.y + strip_height;
            strip::draw_strip(ui, session, state, {area.low, {area.high.x, end}}, heard);
            strip::draw_foot(ui, session, state, {{area.low.x, end}, area.high}, heard);
        });
    draw(SlidePanel::bars, "bars", [&](Area area, Commands& heard) {
        const float bars = draw_bars(ui, session, state, area, heard);
        const float end =
            bars + draw_messages_at(ui, session, state, {{area.low.x, bars}, area.high}, Edge::upper, heard);
        slides.bars_height =
            draw_tabs_at_top(ui, session, state, {{area.low.x, end}, area.high}, area.low.x, heard) - area.low.y;
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

// The room that everything is laid out in: the window, or what a window must have at least. What is beyond the edge of
// a smaller one is cut off.
Area room(const Ui& ui) {
    const ImVec2 window = ImGui::GetIO().DisplaySize;
    return {{0, 0}, {std::max(window.x, ui.px(kLeastRoom.x)), std::max(window.y, ui.px(kLeastRoom.y))}};
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

// Another run may have been taken over since the last frame, of which the cell under the mouse was none.
void forget_pointed(const core::Session& session, ViewState& state) {
    if (!state.hovered) return;
    const Ref step = session.shown().run->plan().find(state.hovered->first);
    if (step == nullptr || !session.shown().run->value(step->id).contains(state.hovered->second)) state.hovered.reset();
}

}  // namespace

Commands draw_workspace(const Ui& given, const core::Session& session, ViewState& state) {
    Ui ui = given;
    ui.large_pointer = state.presenting || state.settings.large_pointer;
    Commands commands;
    session.derived().next_frame();
    forget_zooms(session, state);
    forget_pointed(session, state);
    open_page(state);
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
    // Esc closes a list or a menu before anything else. A dialog has its own answer to it.
    const bool popup_ends = pressed(Key::escape) && compat::open_popups() > (state.dialog == Dialog::none ? 0 : 1);
    const int popups = compat::open_popups();  // a popup may end by itself, too
    guarded(commands, [&](Commands& heard) { run_shortcuts(session, state, heard); });
    state.part<GlossaryState>().pointed_at.clear();
    forget_text_under_mouse();
    strip::play(session, state, commands);
    inspector::follow_first_minute(session, state);
    guarded(commands, [&](Commands& heard) { lesson_panel::follow_lesson(session, state, heard); });
    lesson_panel::withhold(session, state, commands);  // what a key asked for
    open_page(state);
    const Area whole = room(ui);
    if (state.embedded)
        draw_embedded(ui, session, state, commands);
    else if (state.presenting)
        draw_presentation(ui, session, state, whole, commands);
    else
        draw_side_by_side(ui, session, state, whole, commands);
    state.paced = state.paced || state.playing;
    let_message_go(session, state, commands);
    guarded(commands, [&](Commands& heard) { keep_companions(session, state, heard); });
    lesson_panel::withhold(session, state, commands);
    open_page(state);
    guarded(commands, [&](Commands& heard) { dialogs::draw_dialogs(ui, session, state, heard); });
    if (popup_ends) compat::close_popups_above(popups - 1);
    state.focus.end();
    state.document.end();
    state.busy = state.busy || state.focus.moved();
    ImGui::End();
    return commands;
}

}  // namespace decoderscope::views::shell
