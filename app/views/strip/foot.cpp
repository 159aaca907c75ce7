#include "app/core/compare/effect_of_edits.h"
#include "app/core/compare/transformer_lens.h"
#include "app/core/run/cursor.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/step/tiles.h"
#include "app/views/frame/tab.h"
#include "app/views/strip/strip.h"
#include "app/views/tabs/checks/checks.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::strip {

namespace {

// Between two things that the foot says.
const std::string kFootGap = "  ";

void transport(const Ui& ui, ViewState& state, Commands& commands) {
    if (icon_button(ui, "first", Icon::first, true, tr("First step (Home)")))
        commands.push_back(core::command::GoFirst{});
    ImGui::SameLine(0, ui.px(4));
    if (icon_button(ui, "back", Icon::back, true, tr("Step back (←)"))) commands.push_back(core::command::Move{-1});
    ImGui::SameLine(0, ui.px(4));
    // The one thing to press that is meant for everybody.
    ImGui::PushStyleColor(ImGuiCol_Button, ui.theme.accent);
    ImGui::PushStyleColor(ImGuiCol_Text, ui.theme.background);
    if (button(state.playing ? tr("Pause") : tr("Play"), "play", ui.px(96))) state.playing = !state.playing;
    ImGui::PopStyleColor(2);
    tooltip(tr("The whole pass in twelve seconds (Space)"));
    ImGui::SameLine(0, ui.px(4));
    if (icon_button(ui, "forward", Icon::forward, true, tr("Next step (→)")))
        commands.push_back(core::command::Move{1});
}

bool is_edited(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    return core::is_edited(shown.scenario) && shown.run != shown.unedited;
}

// A text in the middle of an area, behind a title, if it has one: in one line, or in two smaller ones.
void say_in(const Ui& ui, Area area, ImU32 color, const std::string& title, std::string text) {
    const float middle = (area.low.y + area.high.y) * 0.5F;
    const float begin = compat::text_size(ui.fonts.text, title).x;
    if (begin + compat::text_size(ui.fonts.text, text).x <= area.width()) {
        const float y = middle - compat::font_size(ui.fonts.text) * 0.5F;
        draw_text(ui, ui.body(), {area.low.x, y}, title);
        draw_text(ui, {ui.fonts.text, color}, {area.low.x + begin, y}, text);
        return;
    }
    text.insert(0, title);
    constexpr std::size_t kMost = 2;
    const auto lines = std::min(kMost, lines_of(ui.fonts.caption, text, area.width()).size());
    const float pitch = compat::font_size(ui.fonts.caption) + ui.px(4);
    draw_prose(ui, {area.low.x, middle - pitch * static_cast<float>(lines) * 0.5F}, area.width(), color, text,
               static_cast<int>(lines));
}

// What the edits did to the output, and how many steps they reach.
void reach_line(const Ui& ui, const core::Session& session, Area area) {
    const core::Snapshot& shown = session.shown();
    const core::Value<core::diff::Reach> reach = core::diff::shown_reach(session.derived(), shown);
    if (!reach) return say_in(ui, area, ui.theme.muted, "", tr("Comparing with the unedited run …"));
    std::string text = tr(core::diff::reach_sentence(shown.scenario, *reach));
    if (reach->first)
        text += kFootGap + kChangedMark + " " + tr(core::diff::changed_tensors_sentence(*shown.run, *reach));
    say_in(ui, area, ui.theme.text, "", text);
    click_at("reach", area);
    tooltip(text.c_str());
}

// What the current step does, or, in a tab that isn't about steps, what that answers.
void step_line(const Ui& ui, const core::Session& session, const ViewState& state, Area area) {
    const Tab* open = find_tab(state.tab);
    if (open != nullptr && open->id != core::files::kStepTab)
        return say_in(ui, area, ui.theme.text, "", tr(open->question));
    const Step& step = session.step();
    say_in(ui, area, ui.theme.muted, core::step::title_of(step) + kFootGap, core::step::sentence_of(step));
}

// Seconds of the pass that the pictures of the unfolded block have, and those of all other blocks together.
constexpr double kInside = 9.5, kOutside = 2.5;

struct Stop {
    std::string step;
    double seconds = 0.0;
};

// What remembers a pass that is played.
struct Playing {
    std::vector<Stop> stops;
    std::size_t next = 0;
    double next_at = 0.0;  // seconds, ImGui's clock
    std::string reached;   // the step that was gone to last
};

std::vector<Stop> stops_of(const core::Session& session, const Unfolded& unfolded) {
    const Plan& plan = session.shown().run->plan();
    const auto outline = core::step::shown_outline(session.derived(), session.shown().run);
    std::vector<Stop> stops;
    std::vector<bool> inside;
    for (const Line& line : lay_out(plan, outline->blocks, unfolded, false, 0.0F, 1000.0F, 1.0F)) {
        for (const Item& item : line.items) {
            if (item.kind == Item::Kind::joint || item.kind == Item::Kind::pass) continue;
            stops.push_back({plan[item.shown].name});
            inside.push_back(item.kind != Item::Kind::block);
        }
    }
    const auto many = static_cast<double>(std::ranges::count(inside, true)),
               others = static_cast<double>(inside.size()) - many;
    for (std::size_t i = 0; i < stops.size(); ++i) stops[i].seconds = inside[i] ? kInside / many : kOutside / others;
    return stops;
}

// The first stop behind a place of the timeline; the first of all, if none is.
std::size_t stop_behind(const core::Session& session, const std::vector<Stop>& stops) {
    const std::size_t here = session.timeline_position();
    const auto place = [&](const Stop& stop) {
        const StepId id = session.shown().run->plan().find(stop.step)->id;
        return static_cast<std::size_t>(std::ranges::find(session.timeline(), id) - session.timeline().begin());
    };
    const auto behind = std::ranges::find_if(stops, [&](const Stop& stop) { return place(stop) > here; });
    return behind == stops.end() ? 0 : static_cast<std::size_t>(behind - stops.begin());
}

// Where the model opened, nobody has chosen a place yet.
bool is_as_opened(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    return session.cursor().step == core::opening_cursor(shown.scenario, shown.run->plan()).step;
}

}  // namespace

float foot_height(const Ui& ui) { return ui.px(is_low_window(ui) ? 40 : 56); }

void draw_foot(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.panel);
    list.AddLine(area.low, {area.high.x, area.low.y}, ui.theme.line);
    const float middle = (area.low.y + area.high.y) * 0.5F;
    ImGui::SetCursorScreenPos({area.low.x + ui.px(16), middle - ImGui::GetFrameHeight() * 0.5F});
    transport(ui, state, commands);
    const float begin = ImGui::GetItemRectMax().x + ui.px(16), end = area.high.x - ui.px(16);
    const std::string number =
        tr("step {number} of {all}", {{"number", session.timeline_position() + 1}, {"all", session.timeline().size()}});
    const std::string mark = checks::checks_mark(session, state);
    const float right =
        end - std::max(compat::text_size(ui.fonts.mono_small, number).x, compat::text_size(ui.fonts.caption, mark).x);
    const float small = compat::font_size(ui.fonts.mono_small);
    draw_text(ui, {ui.fonts.mono_small, ui.theme.muted},
              {right, middle - (mark.empty() ? small * 0.5F : small + ui.px(2))}, number);
    checks::draw_checks_mark(ui, session, state, {right, middle + ui.px(2)});
    const Area text = {{begin, area.low.y + ui.px(2)}, {right - ui.px(16), area.high.y - ui.px(2)}};
    if (text.width() < ui.px(40)) return;
    // What takes longer than a moment says how long.
    const bool waits = session.stale() && session.progress().seconds_left(core::JobRunner::Clock::now()).has_value();
    if (waits)
        return static_cast<void>(
            draw_text(ui, ui.note(), text.low, tr(core::computing_sentence(session.progress())), text.width()));
    if (is_edited(session)) return reach_line(ui, session, text);
    step_line(ui, session, state, text);
}

void step_tooltip(const Ui& ui, const core::Session& session, const Step& step) {
    if (!compat::begin_tooltip()) return;
    const float width = ui.px(340);
    const OpDescription about = step.operation.about();
    text_line(ui.number(), step.name);
    paragraph(ui.number(), about.formula, width);
    text_line(ui.note(), std::string(about.name) + "   " + axes_text(step.axes) + " " + shape_text(step.axes));
    paragraph(ui.caption(), core::step::sentence_of(step), width);
    const core::Slice slice = core::slice_of(step, session.cursor().place, session.shown().scenario.query_heads());
    const Sentence few_rows = core::step::note_of_small_picture(session.shown().run_of(step), step, slice);
    if (!few_rows.empty()) text_line(ui.note(), tr(few_rows));
    const std::string hook = core::diff::transformer_lens_name(session.shown().run->plan(), step);
    if (!hook.empty()) text_line(ui.note(), tr("TransformerLens: {name}", {{"name", hook}}));
    const core::Value<core::diff::Reach> reach = core::diff::shown_reach(session.derived(), session.shown());
    if (reach && reach->has(step.id))
        text_line(ui.caption(), tr("{mark} changed by the edits", {{"mark", kChangedMark}}));
    const core::Notes notes = session.seen_notes();
    for (const core::Note* note : core::notes_of(notes, step.name))
        if (note->cell.empty()) paragraph(ui.caption(), note->text, width);
    if (const auto& overlay = session.overlay())
        if (const core::OverlayValue* number = core::number_of(*overlay, step.name)) {
            paragraph(ui.caption(), core::overlay_sentence(*overlay, step.name, *number), width);
            if (!number->text.empty()) paragraph(ui.caption(), number->text, width);
        }
    ImGui::EndTooltip();
}

void play(const core::Session& session, ViewState& state, Commands& commands) {
    Playing& playing = state.part<Playing>();
    if (!state.playing) {
        playing.stops.clear();
        return;
    }
    const double now = ImGui::GetTime();
    if (state.dialog != Dialog::none) playing.next_at = now + 1.0;  // it waits behind a dialog
    if (playing.stops.empty() || session.cursor().step != playing.reached) {
        const bool begins = playing.stops.empty(), paused_here = session.cursor().step == playing.reached;
        playing.stops = stops_of(session, state.part<Unfolded>());
        playing.next = begins && !paused_here && is_as_opened(session) ? 0 : stop_behind(session, playing.stops);
        if (begins) playing.next_at = now;
    }
    if (now < playing.next_at) return;
    if (playing.stops.empty() || playing.next >= playing.stops.size()) {
        state.playing = false;
        return;
    }
    const Stop& stop = playing.stops[playing.next++];
    playing.reached = stop.step;
    playing.next_at = now + stop.seconds;
    commands.push_back(core::command::GoTo{stop.step});
}

}  // namespace decoderscope::views::strip
