#include "app/core/run/cursor.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/strip/strip.h"
#include "app/views/strip/strip_layout.h"

#include <algorithm>
#include <string>
#include <vector>

namespace decoderscope::views::strip {

namespace {

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

void play(const core::Session& session, ViewState& state, Commands& commands) {
    Playing& playing = state.part<Playing>();
    if (!state.playing) {
        playing.stops.clear();
        return;
    }
    const double now = ImGui::GetTime();
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
