#include "app/views/tabs/experts/tab.h"

#include "app/core/compare/effect_of_edits.h"
#include "app/core/run/output_moves.h"
#include "app/core/tabs/experts/shown_experts.h"
#include "app/views/frame/books.h"
#include "app/views/frame/place_choices.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

namespace decoderscope::views::experts {

namespace {

// The mixture that the tab shows; nothing if the run has none.
std::optional<MixtureSteps> shown_mixture(const core::Session& session, const ExpertsTabState& experts) {
    const Plan& plan = session.shown().run->plan();
    if (std::optional<MixtureSteps> chosen = mixture_called(plan, experts.mlp)) return chosen;
    const std::vector<MixtureSteps> all = mixtures(plan);
    if (all.empty()) return std::nullopt;
    const auto here =
        std::ranges::find_if(all, [&](const MixtureSteps& one) { return one.mixed->block == session.step().block; });
    return here == all.end() ? all.front() : *here;
}

// The chosen expert and position, within what the run has now.
struct ChosenExpert {
    Index expert = 0;
    std::optional<Index> position;
};
ChosenExpert chosen_expert(const MixtureSteps& mixture, const ExpertsTabState& experts) {
    ChosenExpert chosen = {std::min(experts.expert, mixture.experts() - 1), experts.position};
    if (chosen.position && *chosen.position >= mixture.scores->axes[1].size) chosen.position.reset();
    return chosen;
}

void add_exports(ExportScene& scene) {
    const core::Snapshot& shown = scene.session.shown();
    const std::optional<MixtureSteps> mixture = shown_mixture(scene.session, scene.state.part<ExpertsTabState>());
    if (!mixture) return;
    core::Derived& derived = scene.session.derived();
    const auto routing = core::experts::shown_routing(derived, shown, mixture->name, scene.place.batch);
    const auto loads = core::experts::shown_loads(derived, shown, scene.place.batch);
    if (!routing || !loads) return;
    scene.add(tr("Which expert gets which token"), mixture->name + ".experts",
              [scenario = shown.scenario, routing, loads, batch = scene.place.batch] {
                  return core::experts::experts_exhibit(scenario, *routing, *loads, batch);
              });
}

// Switches off the expert that has most to do in the first mixture.
std::optional<Suggestion> suggest(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    const std::vector<MixtureSteps> all = mixtures(shown.run->plan());
    if (all.empty()) return std::nullopt;
    const Index batch = session.cursor().place.batch;
    const auto routing = core::experts::shown_routing(session.derived(), shown, all.back().name, batch);
    if (!routing) return std::nullopt;
    const auto busiest = std::ranges::max_element(
        routing->loads, {}, [](const core::experts::ExpertLoad& load) { return load.positions.size(); });
    const RouteExpert off = {all.back().name, busiest - routing->loads.begin()};
    return Suggestion{
        .title = tr("Switch off expert {expert}", {{"expert", off.expert}}),
        .commands = {core::command::UseExpert{off},
                     core::command::Tell{
                         message("Its tokens now go to the next best experts: the line at the top says what that does "
                                 "to the predictions. Undo (Ctrl+Z) switches it on again."),
                         false}},
        .done = core::experts::use_of(session.fitting_scenario().edits, off) == core::experts::Use::off};
}

// What is drawn in one frame.
struct Scene {
    const Ui& ui;
    const core::Session& session;
    ExpertsTabState& experts;
    MixtureSteps mixture;
    ChosenExpert chosen;
    Index batch;
    Commands& commands;

    // The chosen expert, at the chosen position or everywhere.
    [[nodiscard]] RouteExpert place(bool everywhere, bool alone) const {
        RouteExpert place = {mixture.name, chosen.expert};
        place.alone = alone;
        if (!everywhere && chosen.position) {
            place.batch = batch;
            place.pos = chosen.position;
        }
        return place;
    }
};

// ---- the row of switches

std::vector<FlowItem> counters(const Scene& s) {
    const std::vector<MixtureSteps> all = mixtures(s.session.shown().run->plan());
    const auto now = std::ranges::find(all, s.mixture.name, &MixtureSteps::name) - all.begin();
    const float gap = s.ui.px(16);
    return {counter_item(s.ui, tr("mixture"), now, static_cast<Index>(all.size()), 0.0F,
                         [&s, all](Index mixture) { s.experts.mlp = all[static_cast<std::size_t>(mixture)].name; }),
            counter_item(s.ui, tr("expert"), s.chosen.expert, s.mixture.experts(), gap,
                         [&s](Index expert) { s.experts.expert = expert; }),
            batch_item(s.ui, s.session, gap, s.commands)};
}

// One switch: makes the edit, or takes it back if it is made.
FlowItem expert_switch(const Scene& s, RouteExpert edit, std::string label, const char* id, std::string tip,
                       float gap) {
    const bool on =
        std::ranges::find(s.session.fitting_scenario().edits, Edit(edit)) != s.session.fitting_scenario().edits.end();
    return toggle_item(s.ui, std::move(label), id, on, std::move(tip), gap, [&s, edit, on] {
        s.commands.push_back(core::command::UseExpert{edit, on});
    });
}

std::vector<FlowItem> switches(const Scene& s) {
    const float near = s.ui.px(4), far = s.ui.px(16);
    std::vector<FlowItem> items = counters(s);
    items.push_back(expert_switch(s, s.place(true, false), tr("Off"), "off",
                                  tr("The router's score of this expert becomes 0 at every position: the next best "
                                     "takes its place"),
                                  far));
    items.push_back(expert_switch(s, s.place(true, true), tr("Solo"), "alone",
                                  tr("Every position goes to this expert alone, with all of the weight"), near));
    if (!s.chosen.position) return items;
    const std::initializer_list<Argument> position = {{"position", *s.chosen.position}};
    items.push_back(expert_switch(s, s.place(false, false), tr("Off at {position}", position), "off-here",
                                  tr("The same at the chosen position only"), far));
    items.push_back(expert_switch(s, s.place(false, true), tr("Solo at {position}", position), "alone-here",
                                  tr("The chosen position goes to this expert alone, with all of the weight"), near));
    return items;
}

// ---- the effect of the edits

std::string effect_text(const Scene& s) {
    const core::Snapshot& shown = s.session.shown();
    if (shown.unedited == shown.run)
        return tr(
            "Click an expert to choose it, then switch it off or send every position to it: the effect on the "
            "predictions appears here.");
    const auto moves = core::diff::shown_output_moves(s.session.derived(), shown.scenario, shown.unedited, shown.run);
    if (!moves) return tr("Measuring …");
    return tr(
        core::against_unedited(shown.scenario, core::moves_sentence(shown.scenario, *moves, core::Mood::happened)));
}

// ---- the pictures

void choose(const Scene& s, Index expert, Index position) {
    s.experts.expert = expert;
    s.experts.position = position;
    s.experts.mlp = s.mixture.name;
    s.commands.push_back(core::command::Follow{s.mixture.scores->name, {s.batch, position, expert}});
}

void draw_weights(const Scene& s, const core::Value<core::experts::ShownRouting>& routing, ViewState& state,
                  Area area) {
    const std::uint64_t key = heatmap_key("experts");
    std::optional<Spot> selected;
    if (s.chosen.position) selected = Spot{s.chosen.expert, *s.chosen.position};
    const HeatmapGesture gesture = draw_heatmap(s.ui,
                                                {.heatmap = routing->weights,
                                                 .key = key,
                                                 .version = routing.number(),
                                                 .color = color_of(Meaning::mlp),
                                                 .selected = selected,
                                                 .lit = core::CellRect{s.chosen.expert, 0, 1, routing->weights.columns},
                                                 .stale = s.session.stale(),
                                                 .legend = Legend::bar,
                                                 .grid = true},
                                                state.viewports[key], area);
    if (gesture.clicked) choose(s, gesture.clicked->first, gesture.clicked->second);
    if (!gesture.hovered) return;
    const auto [expert, position] = *gesture.hovered;
    const std::string said = tr(
        core::experts::place_sentence(*s.session.shown().run, s.mixture, routing->routing, s.batch, position, expert));
    const std::string& token = routing->position_labels[static_cast<std::size_t>(position)];
    const std::array<TooltipLine, 3> lines = {
        TooltipLine{s.ui.fonts.mono_small, s.ui.theme.text,
                    tr("position {position} “{token}”", {{"position", position}, {"token", token}})},
        TooltipLine{s.ui.fonts.caption, s.ui.theme.text, said},
        TooltipLine{s.ui.fonts.caption, s.ui.theme.muted, tr("Click to explain its score")}};
    draw_cell_tooltip(s.ui, gesture, lines);
}

void draw_loads(const Scene& s, const core::Value<core::experts::ShownLoads>& loads, ViewState& state, Area area) {
    const std::uint64_t key = heatmap_key("experts", 1);
    const HeatmapGesture gesture = draw_heatmap(s.ui,
                                                {.heatmap = loads->loads,
                                                 .key = key,
                                                 .version = loads.number(),
                                                 .color = color_of(Meaning::mlp),
                                                 .legend = Legend::bar,
                                                 .grid = true},
                                                state.viewports[key], area);
    if (!gesture.clicked) return;
    s.experts.mlp = loads->mixtures[static_cast<std::size_t>(gesture.clicked->first)];
    s.experts.expert = gesture.clicked->second;
}

// The tokens of each expert, in lines; those of the chosen one stand out.
void draw_tokens(const Scene& s, const core::experts::ShownRouting& routing, Area area) {
    const Ui& ui = s.ui;
    begin_part("tokens", area);
    text_line(ui.body(), tr("The tokens that each expert gets"));
    const float row = compat::font_size(ui.fonts.mono_small) + ui.px(5);
    const float number = compat::text_size(ui.fonts.mono_small, "000 ×000").x + ui.px(10);
    const float width = ImGui::GetContentRegionAvail().x;
    for (std::size_t expert = 0; expert < routing.loads.size(); ++expert) {
        const core::experts::ExpertLoad& load = routing.loads[expert];
        const bool chosen = static_cast<Index>(expert) == s.chosen.expert;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::PushID(static_cast<int>(expert));
        if (ImGui::InvisibleButton("expert", {width, row})) s.experts.expert = static_cast<Index>(expert);
        ImGui::PopID();
        if (ImGui::IsItemHovered() || chosen)
            ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + row}, ui.theme.raised);
        draw_text(ui, {ui.fonts.mono_small, chosen ? ui.theme.text : ui.theme.muted},
                  {at.x + ui.px(2), at.y + ui.px(2)},
                  std::to_string(expert) + " ×" + std::to_string(load.positions.size()), number);
        std::string tokens;
        for (const Index position : load.positions)
            tokens += (tokens.empty() ? "" : " ") + routing.position_labels[static_cast<std::size_t>(position)];
        draw_text(ui, ui.number(), {at.x + number, at.y + ui.px(2)}, tokens, width - number - ui.px(4));
    }
    ImGui::EndChild();
}

void draw_experts_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    ExpertsTabState& experts = state.part<ExpertsTabState>();
    const std::optional<MixtureSteps> mixture = shown_mixture(session, experts);
    if (!mixture) return;
    const Scene scene = {
        ui, session, experts, *mixture, chosen_expert(*mixture, experts), session.cursor().place.batch, commands};
    const float pad = ui.px(16), gap = ui.px(10);
    Area rest = {{area.low.x + pad, area.low.y + gap}, {area.high.x - pad, area.high.y - ui.px(8)}};
    draw_flow_on_top(ui, switches(scene), rest, gap);
    rest.low.y += text_block(ui, ui.caption(), rest, effect_text(scene)) + gap;
    const core::Snapshot& shown = session.shown();
    const auto routing = core::experts::shown_routing(session.derived(), shown, mixture->name, scene.batch);
    if (routing && !routing->nothing_left.empty())
        rest.low.y += text_block(ui, {ui.fonts.caption, ui.theme.warning}, rest, tr(routing->nothing_left)) + gap;
    const auto loads = core::experts::shown_loads(session.derived(), shown, scene.batch);
    if (!routing || !loads) {
        draw_text(ui, ui.note(), rest.low, tr("Computing {output} …", {{"output", mixture->name}}));
        return;
    }
    const float wanted = fitted_height(ui, routing->weights, rest.width(), rest.height() * 0.6F);
    const float weights = std::max(wanted, std::min(rest.height() * 0.45F, ui.px(240)));
    draw_weights(scene, routing, state, {rest.low, {rest.high.x, rest.low.y + weights}});
    const float top = rest.low.y + weights + gap, middle = rest.low.x + std::floor(rest.width() * 0.45F);
    draw_loads(scene, loads, state, {{rest.low.x, top}, {middle - gap, rest.high.y}});
    draw_tokens(scene, *routing, {{middle + gap, top}, rest.high});
}

// The chosen expert in words and numbers, and the tokens that it gets.
void inspect_experts(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const ExpertsTabState& experts = state.part<ExpertsTabState>();
    term_line(ui, state, ui.title(), tr("Experts"), core::glossary::find_term("expert"));
    const std::optional<MixtureSteps> mixture = shown_mixture(session, experts);
    if (!mixture) return;
    const Index batch = session.cursor().place.batch;
    const auto routing = core::experts::shown_routing(session.derived(), session.shown(), mixture->name, batch);
    if (!routing) return text_line(ui.note(), tr("Measuring …"));
    const ChosenExpert chosen = chosen_expert(*mixture, experts);
    paragraph({ui.fonts.mono, ui.theme.text},
              tr("{mlp} expert {expert}", {{"mlp", mixture->name}, {"expert", chosen.expert}}));
    const core::experts::ExpertLoad& load = routing->loads[static_cast<std::size_t>(chosen.expert)];
    paragraph(ui.caption(), tr(core::experts::load_sentence(routing->routing, chosen.expert, load)));
    if (!chosen.position) return;
    paragraph(ui.caption(), tr(core::experts::place_sentence(*session.shown().run, *mixture, routing->routing, batch,
                                                             *chosen.position, chosen.expert)));
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Where it was chosen"), 9500))
        commands.push_back(core::command::Follow{mixture->expert->name, {batch, *chosen.position, 0}});
    tooltip(mixture->expert->name.c_str());
}

}  // namespace

Tab experts_tab() {
    return {.id = "experts",
            .title = message("Experts"),
            .question = message("Which token goes to which expert?"),
            .key = Key::e,
            .term = "expert",
            .draw = draw_experts_tab,
            .least_height = [](const core::Session&) { return 420.0F; },
            .inspect = inspect_experts,
            .explains_cells = true,
            .suggest = suggest,
            .add_exports = add_exports,
            .computes = true,
            .about_this =
                [](const core::Session& session) {
                    const core::Scenario& scenario = session.shown().scenario;
                    return scenario.computes() && scenario.config().experts > 0;
                },
            .missing = message("All positions go through the same MLP in this model. This tab shows mixtures of "
                               "experts; the bundled model experts has two.")};
}

}  // namespace decoderscope::views::experts
