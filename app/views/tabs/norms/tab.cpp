#include "app/views/tabs/norms/tab.h"

#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/settings_that_fit.h"
#include "app/core/tabs/norms/depth_curves.h"
#include "app/core/tabs/norms/shown_norms.h"
#include "app/views/frame/stale.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::views::norms {

namespace {

void add_growth(ExportScene& scene, const NormsTabState& norms) {
    if (norms.growth_stopped) return;
    if (const auto measured = core::norms::measured_growth(scene.session.derived(), scene.session.scenario().model(),
                                                           norms.growth, norms.growth_progress))
        scene.add_if_any(tr("Gradients by layer"), "gradients-by-layer",
                         [&] { return core::norms::growth_exhibit(measured->schemes, norms.growth); });
}

// The two runs, once both are complete.
std::optional<core::BothNorms<core::Companion>> both_runs(const core::Session& session) {
    const core::Companion* left = session.shown().companion(kLeftRun);
    const core::Companion* right = session.shown().companion(kRightRun);
    if (left == nullptr || right == nullptr) return std::nullopt;
    return core::BothNorms<core::Companion>{*left, *right};
}

// A step's block; the first of its stack for a step outside the blocks.
std::string block_or_first(const Plan& plan, const Step& step) {
    if (!step.block.empty()) return step.block;
    const std::vector<std::string> blocks = plan.blocks(step.stack);
    return blocks.empty() ? std::string() : blocks.front();
}

void add_exports(ExportScene& scene) {
    const NormsTabState& norms = scene.state.part<NormsTabState>();
    if (norms.view == NormsView::gradients) return add_growth(scene, norms);
    const std::optional<core::BothNorms<core::Companion>> both = both_runs(scene.session);
    if (!both) return;
    const core::ShownRun left = {both->left.scenario, both->left.run}, right = {both->right.scenario, both->right.run};
    const StackKind stack = scene.step.stack;
    scene.add(tr("The curves by depth"), "norm-curves", [own = scene.shown.scenario, left, right, stack] {
        return core::norms::depth_exhibit(own, core::norms::depth_curves(*left.run, stack),
                                          core::norms::depth_curves(*right.run, stack),
                                          {left.scenario.config().placement(), right.scenario.config().placement()});
    });
    if (!scene.step.is_source())
        scene.add_if_any(tr("The same step in both"), scene.step.name + ".norms",
                         [&] { return core::norms::norms_step_exhibit(left, right, scene.step.name, scene.place); });
    const std::string block = block_or_first(left.run->plan(), scene.step);
    const std::vector<std::string> rows = core::norms::norms_of_block(left.run->plan(), block, stack);
    std::string norm = rows.empty() ? "" : rows.front();
    for (const std::string& name : rows)
        if (name == scene.step.norm) norm = name;
    scene.add_if_any(tr("One row of {norm}", {{"norm", norm}}), norm + ".row",
                     [&] { return core::norms::norm_row_exhibit(left, right, norm, scene.place.batch, norms.row); });
    const auto shown = static_cast<std::ptrdiff_t>(norms.view);
    if (shown < static_cast<std::ptrdiff_t>(scene.choices.size()))
        std::rotate(scene.choices.begin(), scene.choices.begin() + shown, scene.choices.begin() + shown + 1);
}

// The other place of the norm, if this architecture has it.
struct OtherNorm {
    bool possible = false;
};

std::optional<Suggestion> suggest(const core::Session& session) {
    const core::Scenario& scenario = session.shown().scenario;
    const bool norm_first = scenario.config().norm_first;
    const Overrides::value_type flip = core::flipped_norm(scenario);
    const core::Value<OtherNorm> norm = session.derived().get<OtherNorm>({session.shown().run}, std::tuple<>(), [&] {
        return OtherNorm{core::why_not(scenario, flip.first, flip.second).empty()};
    });
    if (!norm->possible) return std::nullopt;
    return Suggestion{
        .title = norm_first ? tr("Flip it to Post-Norm") : tr("Flip it to Pre-Norm"),
        .commands = {core::command::SetOption{flip.first, flip.second},
                     core::command::Tell{message("The same weights with the other norm placement: the curves show what "
                                                 "that does by depth. Undo (Ctrl+Z) flips it back."),
                                         false}}};
}

core::Variation variation_of(const NormsTabState& norms, NormPlacement placement) {
    return {.overrides = {{"norm_placement", core::place_of_norms(placement).word}},
            .layers = norms.layers,
            .gain_factor = norms.gain_factor,
            .shift_factor = norms.shift_factor};
}

// Both runs are companions, so that they always belong to the same state.
core::CompanionRuns companion_runs(const core::Session& session, const ViewState& state) {
    const NormsTabState& norms = state.part<NormsTabState>();
    const core::Places places = compared_places(session, norms);
    return {{kLeftRun, variation_of(norms, places.left)}, {kRightRun, variation_of(norms, places.right)}};
}

void leave(ViewState& state) { state.part<NormsTabState>().shown.reset(); }

Json save(const ViewState& state) {
    const NormsTabState& norms = state.part<NormsTabState>();
    Json json = {{"view", kNormsViewNames[static_cast<std::size_t>(norms.view)]},
                 {"gain", float_to_json(norms.gain_factor)},
                 {"shift", float_to_json(norms.shift_factor)},
                 {"row", norms.row}};
    if (norms.layers) json["layers"] = *norms.layers;
    if (norms.places) {
        json["left"] = core::place_of_norms(norms.places->left).word;
        json["right"] = core::place_of_norms(norms.places->right).word;
    }
    if (const core::norms::GrowthChoice& growth = norms.growth; growth != core::norms::GrowthChoice())
        json["gradients"] = {{"layers", growth.layers},
                             {"d_model", growth.d_model},
                             {"seeds", growth.seeds},
                             {"encoder", growth.encoder},
                             {"init", growth.xavier ? "xavier" : "pytorch"}};
    return json;
}

NormPlacement restored_place(JsonObject& json, const char* key) {
    std::vector<const char*> words;
    for (const core::PlaceOfNorms& place : core::places_of_norms()) words.push_back(place.word);
    return core::places_of_norms()[json.word(key, words)].placement;
}

// At least 1, where it is given.
void restore_count(JsonObject& json, const char* key, Index& count) {
    if (json.find(key) == nullptr) return;
    count = json.index(key);
    if (count < 1) json.fail(key, message("expected at least 1"));
}

void restore_factor(JsonObject& json, const char* key, float& factor) {
    if (json.find(key) == nullptr) return;
    factor = json.real(key);
    if (!std::isfinite(factor)) json.fail(key, message("expected a finite number"));
}

core::norms::GrowthChoice restored_growth(JsonObject json) {
    core::norms::GrowthChoice growth;
    restore_count(json, "layers", growth.layers);
    restore_count(json, "d_model", growth.d_model);
    restore_count(json, "seeds", growth.seeds);
    growth.encoder = json.boolean("encoder", growth.encoder);
    if (json.find("init") != nullptr) growth.xavier = json.word("init", std::array{"pytorch", "xavier"}) == 1;
    json.finish();
    return growth;
}

void restore(ViewState& state, JsonObject* saved) {
    NormsTabState read;
    if (saved != nullptr) {
        JsonObject& json = *saved;
        if (json.find("view") != nullptr) read.view = static_cast<NormsView>(json.word("view", kNormsViewNames));
        if (json.find("layers") != nullptr) restore_count(json, "layers", read.layers.emplace());
        restore_factor(json, "gain", read.gain_factor);
        restore_factor(json, "shift", read.shift_factor);
        if (json.find("row") != nullptr) read.row = json.index("row");
        if (json.find("left") != nullptr || json.find("right") != nullptr)
            read.places = {restored_place(json, "left"), restored_place(json, "right")};
        if (read.places && read.places->left == read.places->right)
            json.fail("right", message("expected a placement other than left's"));
        if (json.find("gradients") != nullptr) read.growth = restored_growth(json.object("gradients"));
    }
    NormsTabState& norms = state.part<NormsTabState>();
    norms.view = read.view;
    norms.layers = read.layers;
    norms.gain_factor = read.gain_factor;
    norms.shift_factor = read.shift_factor;
    norms.row = read.row;
    norms.places = read.places;
    norms.growth = read.growth;
}

constexpr std::array<Index, 3> kDepths = {6, 12, 36};

// ---- the row of switches

// Whether there is no room for diagrams and view side by side.
bool is_narrow(const Ui& ui, Area area) { return area.width() < ui.px(620); }

// The width of a label, and of buttons behind it.
float labelled_width(const Ui& ui, const char* title, std::span<const std::string> choices) {
    float width = compat::text_size(ui.fonts.caption, title).x + ui.px(6);
    for (const std::string& choice : choices) width += button_width(choice.c_str()) + ui.px(2);
    return width;
}

void add_views(std::vector<FlowItem>& items, const Ui& ui, NormsTabState& norms) {
    struct Choice {
        NormsView view;
        Phrase title, tip;
    };
    static constexpr std::array choices = {
        Choice{NormsView::depth, message("By depth"),
               message("How the residual stream, the updates and the norms change from block to block")},
        Choice{NormsView::step, message("Same step"), message("The current step in both, and the difference")},
        Choice{NormsView::row, message("One row"), message("What one norm does to one row of numbers")},
        Choice{NormsView::gradients, message("Gradients"),
               message("How gradients grow from layer to layer before any training, by norm placement")}};
    for (const Choice& choice : choices)
        items.push_back(toggle_item(ui, tr(choice.title), choice.title.english(), norms.view == choice.view,
                                    tr(choice.tip), ui.px(2), [&norms, choice] { norms.view = choice.view; }));
}

void depth_switch(const Ui& ui, const core::Session& session, NormsTabState& norms) {
    const Index own = session.shown().scenario.config().num_layers;
    word_before(ui, tr("blocks"));
    if (toggle_button(ui, (std::to_string(own) + "##own").c_str(), !norms.layers,
                      tr("As many blocks as the model has")))
        norms.layers.reset();
    for (const Index depth : kDepths) {
        if (depth == own) continue;
        ImGui::SameLine(0, ui.px(2));
        const std::string tip = depth < own
                                    ? tr_n("Only the first block", "Only the first {count} blocks", depth)
                                    : tr_n("Stack {count} block.",
                                           "Stack {count} blocks: the added ones get fresh weights, as PyTorch would "
                                           "initialise them, from a seed. The model itself does not change.",
                                           depth);
        if (toggle_button(ui, std::to_string(depth).c_str(), norms.layers == depth, tip.c_str())) norms.layers = depth;
    }
}

// The value of `norm`: the model's own kind if it is one of LayerNorm's (or RMSNorm's), otherwise the plain one.
const char* norm_word(const core::Session& session, bool layernorm) {
    const NormKind own = session.scenario().model()->config().norm;
    if (layernorm) return own == NormKind::layernorm_std ? "layernorm_std" : "layernorm";
    return own == NormKind::rmsnorm_plus_one ? "rmsnorm_plus_one" : "rmsnorm";
}

// Only a model that has it can be switched back to it: no other has its alphas.
bool has_dynamic_tanh(const core::Session& session) {
    return session.scenario().model()->config().norm == NormKind::dynamic_tanh;
}

void kind_switch(const Ui& ui, const core::Session& session, Commands& commands) {
    static constexpr std::array<const char*, 3> labels = {"LayerNorm", "RMSNorm", "tanh"};
    const NormKind kind = session.scenario().config().norm;
    const int now = kind == NormKind::dynamic_tanh ? 2 : is_centred(kind) ? 0 : 1;
    const int clicked = segmented(ui, "kind", std::span(labels).first(has_dynamic_tanh(session) ? 3 : 2), now);
    if (clicked >= 0 && clicked != now)
        commands.push_back(
            core::command::SetOption{"norm", clicked == 2 ? "dynamic_tanh" : norm_word(session, clicked == 0)});
}

std::string eps_text(double eps) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", eps);
    return text;
}

std::vector<double> eps_choices(const core::Session& session) {
    const double own = core::norms::own_norm_eps(session.derived(), session.scenario()),
                 now = session.scenario().config().layer_norm_eps;
    std::vector<double> choices = {own};
    for (const double other : {0.01, 1.0, now})
        if (std::ranges::find(choices, other) == choices.end()) choices.push_back(other);
    return choices;
}

void eps_switch(const Ui& ui, const core::Session& session, std::span<const double> choices, Commands& commands) {
    word_before(ui, "eps");
    const double now = session.scenario().config().layer_norm_eps;
    for (const double choice : choices) {
        if (choice != choices.front()) ImGui::SameLine(0, ui.px(2));
        const std::string text = eps_text(choice);
        if (toggle_button(ui, text.c_str(), now == choice,
                          tr("Added to the variance under the root: keeps the scale away from 0")) &&
            now != choice)
            commands.push_back(core::command::SetOption{"layer_norm_eps", text});
    }
}

// Gains or shifts as the model has them, or scaled: only in these two runs.
struct Factor {
    std::string text;
    float factor;
};

FlowItem factor_item(const Ui& ui, const char* title, std::vector<Factor> choices, float& factor, const char* tip) {
    std::vector<std::string> texts;
    for (const Factor& choice : choices) texts.push_back(choice.text);
    return {labelled_width(ui, title, texts), ui.px(16), [&ui, title, choices = std::move(choices), &factor, tip] {
                word_before(ui, title);
                ImGui::PushID(title);
                for (const Factor& choice : choices) {
                    if (&choice != &choices.front()) ImGui::SameLine(0, ui.px(2));
                    if (toggle_button(ui, choice.text.c_str(), factor == choice.factor, tip)) factor = choice.factor;
                }
                ImGui::PopID();
            }};
}

// The pages; and, but for that of gradients, which brings its own, what both runs are computed with.
std::vector<FlowItem> switches_of(const Ui& ui, const core::Session& session, NormsTabState& norms, bool narrow,
                                  Commands& commands) {
    std::vector<FlowItem> items;
    add_views(items, ui, norms);
    if (norms.view == NormsView::gradients) return items;
    if (narrow)
        items.push_back(toggle_item(ui, tr("Diagrams"), "diagrams", norms.diagrams,
                                    tr("Both diagrams in place of the view: there is no room for them beside it"),
                                    ui.px(2), [&norms] { norms.diagrams = !norms.diagrams; }));
    const std::string own = std::to_string(session.shown().scenario.config().num_layers);
    const std::vector<std::string> depths = {own, "6", "12", "36"};
    items.push_back({labelled_width(ui, tr("blocks"), depths), ui.px(16),
                     [&ui, &session, &norms] { depth_switch(ui, session, norms); }});
    items.push_back({button_width("LayerNorm") + button_width("RMSNorm") + ui.px(4), ui.px(16),
                     [&ui, &session, &commands] { kind_switch(ui, session, commands); }});
    const std::vector<double> eps = eps_choices(session);
    std::vector<std::string> texts;
    for (const double value : eps) texts.push_back(eps_text(value));
    items.push_back({labelled_width(ui, "eps", texts), ui.px(16),
                     [&ui, &session, &commands, eps] { eps_switch(ui, session, eps, commands); }});
    items.push_back(factor_item(
        ui, tr("gain ×"), {{"½", 0.5F}, {"1", 1.0F}, {"2", 2.0F}}, norms.gain_factor,
        tr("Multiplies the gains of all norms, in these two runs only. To change a single gain, go to One row.")));
    items.push_back(factor_item(
        ui, tr("shift ×"), {{"0", 0.0F}, {"1", 1.0F}}, norms.shift_factor,
        tr("Multiplies the shifts of all norms, in these two runs only. An untrained model has shifts of 0.")));
    return items;
}

// Returns the height used.
float draw_switches(const Ui& ui, const core::Session& session, NormsTabState& norms, Area area, Commands& commands) {
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(3)));
    const std::vector<FlowItem> items = switches_of(ui, session, norms, is_narrow(ui, area), commands);
    const float height = flow_height(ui, items, area.width());
    draw_flow(ui, items, area);
    ImGui::PopStyleVar();
    return height + ui.px(2);
}

// ---- what is shown

// The current step if it is computed; for a weight or an input, the first step that reads it.
const Step& computed_step(const core::Session& session) {
    const Step& step = session.step();
    return step.is_source() ? session.shown().run->plan()[session.timeline()[session.timeline_position()]] : step;
}

// Takes over the two runs once both are complete, and returns whether they are. Until then the last two stay shown.
bool take_runs(const core::Session& session, NormsTabState& norms) {
    std::optional<core::BothNorms<core::Companion>> both = both_runs(session);
    if (!both) return false;
    norms.shown = std::move(both);
    return true;
}

// What is said of norms that the model has no weights for; empty if it has all that are shown.
std::string added_norms_text(const NormsScene& scene) {
    std::string text;
    for (const core::Companion* run : {&scene.runs.left, &scene.runs.right})
        if (run->scenario.adds_norms())
            text += " " + tr("{placement} has norms that this model lacks: they get gain 1 and shift 0.",
                             {{"placement", norms_place_of(*run).title}});
    return text;
}

std::string sentence_of(const core::Session& session, ViewState& state, const NormsScene& scene) {
    switch (state.part<NormsTabState>().view) {
        case NormsView::depth: {
            const auto curves = shown_curves(session, scene);
            return core::norms::depth_sentence(curves->left, curves->right, scene.places());
        }
        case NormsView::step: {
            const auto shown = shown_pair(session, scene);
            const std::optional<core::norms::StepPair>& pair = *shown;
            return pair ? core::norms::pair_sentence(*pair, scene.here.name) : std::string();
        }
        case NormsView::row: {
            const auto shown = shown_rows(session, state, scene);
            const core::BothNorms<std::optional<core::norms::NormRow>>& rows = *shown;
            const auto finding = [](const core::Companion& run, const std::optional<core::norms::NormRow>& row) {
                if (!row) return std::string();
                return tr("{placement} {finding}", {{"placement", norms_place_of(run).title},
                                                    {"finding", core::norms::norm_row_sentence(*row)}});
            };
            const std::string left = finding(scene.runs.left, rows.left), right = finding(scene.runs.right, rows.right);
            return left + (left.empty() || right.empty() ? "" : " ") + right;
        }
        case NormsView::gradients:
            break;
    }
    return {};
}

void draw_view(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene, Area area,
               Commands& commands) {
    switch (state.part<NormsTabState>().view) {
        case NormsView::depth:
            return draw_norms_by_depth(ui, session, state, scene, area, commands);
        case NormsView::step:
            return draw_norms_step(ui, session, state, scene, area, commands);
        case NormsView::row:
            return draw_norms_row(ui, session, state, scene, area, commands);
        case NormsView::gradients:
            break;
    }
}

// The message for a missing run: it is being computed, or why it can't be.
std::string waiting_text(const core::Session& session) {
    for (const char* name : {kLeftRun, kRightRun}) {
        const auto found = session.shown().companions.find(name);
        if (found != session.shown().companions.end() && !found->second.error.empty())
            return tr("This can't be computed: {error}", {{"error", found->second.error}});
    }
    return tr("Computing both runs …");
}

// The row that is explained is that of the selected position, until another one is chosen here.
void follow_selection(const core::Session& session, NormsTabState& norms) {
    const std::optional<Cell>& cell = session.cursor().cell;
    const Step& step = session.step();
    const std::optional<SelectedCell> now = cell ? std::optional(SelectedCell{step.name, *cell}) : std::nullopt;
    if (now == norms.followed) return;
    norms.followed = now;
    if (!cell) return;
    const core::TokenSequence sequence =
        computed_step(session).stack == StackKind::encoder ? core::TokenSequence::source : core::TokenSequence::target;
    if (const auto position = core::position_of(step, *cell, sequence, session.cursor().place.batch))
        norms.row = *position;
}

void draw_both(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene, Area area,
               Commands& commands) {
    if (is_narrow(ui, area) && state.part<NormsTabState>().diagrams)
        return draw_norm_diagrams(ui, session, state, scene, area, commands);
    if (is_narrow(ui, area)) return draw_view(ui, session, state, scene, area, commands);
    const float diagrams = std::min(ui.px(320), area.width() * 0.44F);
    draw_norm_diagrams(ui, session, state, scene, {area.low, {area.low.x + diagrams, area.high.y}}, commands);
    draw_view(ui, session, state, scene, {{area.low.x + diagrams + ui.px(20), area.low.y}, area.high}, commands);
}

}  // namespace

Tab norms_tab() {
    return {
        .id = "norms",
        .title = message("Norms"),
        .question = message("What does the norm placement change?"),
        .key = Key::n,
        .term = "norm",
        .draw = draw_norms_tab,
        .least_height = [](float width) { return width < 652.0F ? 740.0F : 640.0F; },
        .inspect = inspect_norms,
        .suggest = suggest,
        .companion_runs = companion_runs,
        .leave = leave,
        .add_exports = add_exports,
        .save = save,
        .restore = restore,
        .about_steps = [](const ViewState& state) { return state.part<NormsTabState>().view != NormsView::gradients; },
        .first_hour = true,
        .computes = true};
}

NormsScene norms_scene(const core::Session& session, const NormsTabState& norms) {
    const Step& here = computed_step(session);
    const std::string block = block_or_first(session.shown().run->plan(), here);
    const bool still_there = norms.chosen && norms.chosen->at == here.name;
    return {*norms.shown, here, here.stack, block, still_there ? norms.chosen->norm : std::string()};
}

void draw_norms_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    follow_selection(session, state.part<NormsTabState>());
    const float pad = ui.px(16);
    Area rest = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(10)}};
    rest.low.y += draw_switches(ui, session, state.part<NormsTabState>(), rest, commands);
    if (state.part<NormsTabState>().view == NormsView::gradients)
        return draw_norms_gradients(ui, session, state, rest, commands);
    const bool there = take_runs(session, state.part<NormsTabState>());
    if (!there) text_block(ui, ui.fonts.text, ui.theme.muted, rest, waiting_text(session));
    if (!state.part<NormsTabState>().shown) return;
    const NormsScene scene = norms_scene(session, state.part<NormsTabState>());
    const float sentence = there ? text_block(ui, ui.fonts.text, ui.theme.text, rest,
                                              sentence_of(session, state, scene) + added_norms_text(scene))
                                 : 0.0F;
    rest.low.y += std::max(ui.px(56), sentence + ui.px(12));
    const auto draw = [&](Commands& heard) {
        draw_both(ui, session, state, scene, rest, heard);
        return rest;
    };
    if (there)
        static_cast<void>(draw(commands));
    else
        draw_stale(ui, "coming-norms", draw, {});  // what is coming is said above
}

}  // namespace decoderscope::views::norms
