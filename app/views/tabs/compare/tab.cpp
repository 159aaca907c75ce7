#include "app/views/tabs/compare/tab.h"

#include "app/core/run/bounds.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/run/settings_that_fit.h"
#include "app/views/frame/stale.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"
#include "engine/load/recorded_run.h"

#include <algorithm>

namespace decoderscope::views::compare {

namespace {

namespace bounds = core::bounds;

// ---- A and B

// The session's names for our companion runs.
constexpr const char *kLeftRun = "norms.left", *kRightRun = "norms.right", *kOtherRun = "diff";

core::Variation variation_of(const NormsState& norms, NormPlacement placement) {
    return {.overrides = {{"norm_placement", core::place_of_norms(placement).word}},
            .layers = norms.layers,
            .gain_factor = norms.gain_factor,
            .shift_factor = norms.shift_factor};
}

// How B differs from this run, where it has to be computed: in the configuration, or in dropout, which is a difference
// like an edit.
std::optional<core::Variation> variation_of(const core::Scenario& scenario, const CompareTabState& tab) {
    if (tab.against == Against::configuration && !tab.option.first.empty())
        return core::Variation{.overrides = {tab.option}};
    if (tab.against == Against::unedited && scenario.dropout_seed)
        return core::Variation{.without_edits = true, .without_dropout = true};
    return std::nullopt;
}

Sentence label_of(const core::Scenario& scenario, const CompareTabState& tab) {
    if (tab.against == Against::configuration) return Sentence::verbatim(tab.option.first + " = " + tab.option.second);
    if (!scenario.dropout_seed) return message("without edits");
    return core::is_edited(scenario) ? message("without edits and dropout") : message("without dropout");
}

// Both are companions, so that they always belong to the same state.
Compared both_norms(const core::Session& session, const CompareTabState& tab) {
    const core::Snapshot& shown = session.shown();
    const core::Places places = compared_places(session, tab);
    const auto title = [](NormPlacement place) { return Sentence(core::place_of_norms(place).title); };
    Compared both{.name = title(places.left), .label = title(places.right)};
    for (const char* name : {kLeftRun, kRightRun}) {
        const auto found = shown.companions.find(name);
        if (found == shown.companions.end() || found->second.error.empty()) continue;
        both.missing = tr(found->second.error);
        both.failed = true;
        return both;
    }
    const core::Companion *left = shown.companion(kLeftRun), *right = shown.companion(kRightRun);
    if (left != nullptr && right != nullptr) {
        both.scenario = &left->scenario;
        both.run = left->run;
        both.of = both.b = right->run;
        // As they are, while others are being computed.
        both.name = title(left->scenario.config().placement());
        both.label = title(right->scenario.config().placement());
    } else {
        both.missing = tr("Computing both runs …");
        both.coming = true;
    }
    return both;
}

void compare_with_companion(Compared& both, const core::Snapshot& shown, const CompareTabState& tab) {
    const auto found = shown.companions.find(kOtherRun);
    const bool is_asked =
        found != shown.companions.end() && found->second.variation == variation_of(shown.scenario, tab);
    if (is_asked && !found->second.error.empty()) {
        both.missing = tr(found->second.error);
        both.failed = true;
    } else if (is_asked && shown.companion(kOtherRun) != nullptr) {
        both.of = both.b = found->second.run;
    } else {
        both.missing = tr("Computing the same run with {label} …", {{"label", both.label}});
        both.coming = true;
    }
}

core::ReferenceRun reference_for(const core::Session& session, const CompareTabState& tab, const Compared& both) {
    const core::Snapshot& shown = session.shown();
    if (both.of == shown.pinned && shown.pinned && tab.against == Against::pinned) return *shown.pinned;
    if (both.b == nullptr) return *shown.trace_file;
    return core::reference_of(both.label.english(), both.b);  // its name is written to files
}

core::Side side_a(const Compared& both) { return {both.name, *both.scenario, both.run}; }

core::Value<core::diff::ShownComparison> comparison_of(const core::Session& session, const CompareTabState& tab,
                                                       const Compared& both) {
    if (both.of == nullptr) return {};
    return core::diff::shown_comparison(
        session.derived(), both.run, both.of, tab.tolerance, [&] { return reference_for(session, tab, both); },
        tab.part);
}

// The scenario of B's run, where it is known: of the same inputs as A.
const core::Scenario* scenario_of_b(const core::Snapshot& shown, const CompareTabState& tab) {
    if (tab.against == Against::norms) return &shown.companions.at(kRightRun).scenario;
    if (tab.against == Against::configuration) return &shown.companions.at(kOtherRun).scenario;
    return tab.against == Against::pinned ? shown.pinned->scenario.get() : &shown.scenario;
}

// Both, if B is a run of the same inputs.
std::optional<core::Both<core::Side>> sides_of(const core::Session& session, const CompareTabState& tab,
                                               const Compared& both) {
    const core::Scenario* scenario = both.b == nullptr ? nullptr : scenario_of_b(session.shown(), tab);
    if (scenario == nullptr) return std::nullopt;
    return core::Both<core::Side>{{both.name.empty() ? Sentence(message("now")) : both.name, *both.scenario, both.run},
                                  {both.label, *scenario, both.b}};
}

// Takes over the two runs once both are complete. Until then the last two stay shown, but not where no two will be.
void take_runs(const core::Session& session, CompareTabState& tab, const Compared& both) {
    if (both.b == nullptr && !both.coming) tab.runs.reset();
    const bool known = tab.runs && tab.runs->left.run == both.run && tab.runs->right.run == both.b;
    if (both.b == nullptr || known) return;
    if (auto sides = sides_of(session, tab, both)) tab.runs = std::move(sides);
}

// The current step if it is computed; for a weight or an input, the first step that reads it.
const Step& computed_step(const core::Session& session) {
    const Step& step = session.step();
    return step.is_source() ? session.shown().run->plan()[session.timeline()[session.timeline_position()]] : step;
}

// A step's block; the first of its stack for a step outside the blocks.
std::string block_or_first(const Plan& plan, const Step& step) {
    if (!step.block.empty()) return step.block;
    const std::vector<std::string> blocks = plan.blocks(step.stack);
    return blocks.empty() ? std::string() : blocks.front();
}

std::optional<Scene> scene_in(const core::Session& session, const CompareTabState& tab,
                              const core::Both<core::Side>& runs) {
    if (!core::fit_together(runs.left.scenario, session.shown().scenario)) return std::nullopt;
    const Step& here = computed_step(session);
    const bool still_there = tab.chosen && tab.chosen->at == here.name;
    return Scene{runs,
                 here,
                 here.stack,
                 block_or_first(session.shown().run->plan(), here),
                 still_there ? tab.chosen->norm : std::string(),
                 tab.against == Against::norms && tab.norms.layers.has_value()};
}

// The row that is explained is that of the selected position, until another one is chosen here.
void follow_selection(const core::Session& session, CompareTabState& tab) {
    const std::optional<Cell>& cell = session.cursor().cell;
    const Step& step = session.step();
    const auto now = cell ? std::optional(std::pair(step.name, *cell)) : std::nullopt;
    if (now == tab.followed) return;
    tab.followed = now;
    if (!cell) return;
    const core::TokenSequence sequence =
        computed_step(session).stack == StackKind::encoder ? core::TokenSequence::source : core::TokenSequence::target;
    if (const auto position = core::position_of(step, *cell, sequence, session.cursor().place.batch))
        tab.row = *position;
}

// ---- what the tab offers the window

// Another norm placement, if this architecture has it.
struct OtherNorm {
    bool possible = false;
};

std::optional<Suggestion> suggest(const core::Session& session) {
    const core::Scenario& scenario = session.shown().scenario;
    if (!scenario.computes()) return std::nullopt;
    const Overrides::value_type flip = core::flipped_norm(scenario);
    const core::Value<OtherNorm> norm = session.derived().get<OtherNorm>({session.shown().run}, std::tuple<>(), [&] {
        return OtherNorm{core::why_not(scenario, flip.first, flip.second).empty()};
    });
    if (!norm->possible) return std::nullopt;
    return Suggestion{
        .title = scenario.config().norm_first ? tr("Flip it to Post-Norm") : tr("Flip it to Pre-Norm"),
        .tab = std::string(core::files::kNormsTab),
        .commands = {core::command::SetOption{flip.first, flip.second},
                     core::command::Tell{message("The same weights with the other norm placement: the curves show what "
                                                 "that does by depth. Undo (Ctrl+Z) flips it back."),
                                         false}}};
}

void add_exports(ExportScene& scene) {
    const CompareTabState& tab = scene.state.part<CompareTabState>();
    const NormsState& norms = tab.norms;
    const Against against = against_now(scene.session, tab);
    if (against == Against::bisect) return;
    if (against == Against::norms && norms.view == View::gradients) {
        const auto measured =
            core::norms::measured_growth(scene.session.derived(), scene.session.fitting_scenario().model(),
                                         norms.growth, core::norms::Depths::chosen, norms.growth_progress);
        if (!norms.growth_stopped && measured)
            scene.add_if_any(tr("Gradients by layer"), "gradients-by-layer",
                             [&] { return core::norms::growth_exhibit(measured->schemes, norms.growth); });
        return;
    }
    const Compared both = compared_now(scene.session, tab);
    const std::optional<core::Both<core::Side>> runs = sides_of(scene.session, tab, both);
    const std::optional<Scene> shown = runs ? scene_in(scene.session, tab, *runs) : std::nullopt;
    const auto add_curves = [&] {
        if (!shown) return;
        scene.add(
            tr("The curves by depth"), "norm-curves",
            [own = scene.shown.scenario, runs = *runs, stack = shown->stack, against] {
                const core::Both<std::string> names = {tr(runs.left.name), tr(runs.right.name)};
                core::Exhibit exhibit =
                    core::norms::depth_exhibit(own, core::norms::depth_curves(*runs.left.run, stack),
                                               core::norms::depth_curves(*runs.right.run, stack), names);
                if (against != Against::norms)
                    exhibit.subtitle = tr("{first} and {second}", {{"first", names.left}, {"second", names.right}});
                return exhibit;
            });
    };
    const auto add_step = [&] {
        if (both.of == nullptr || scene.step.is_source()) return;
        scene.add_if_any(tr("A, B and the difference"), scene.step.name + ".difference", [&] {
            const core::Side a = side_a(both);
            const Ref step = a.run->plan().find(scene.step.name);
            return step == nullptr ? std::nullopt
                                   : core::diff::difference_exhibit(a, reference_for(scene.session, tab, both), *step,
                                                                    scene.place, tab.tolerance);
        });
    };
    const auto add_row = [&] {
        const std::string norm = shown ? explained_norm(*shown) : std::string();
        if (norm.empty()) return;
        scene.add_if_any(tr("One row of {norm}", {{"norm", norm}}), norm + ".row",
                         [&] { return core::norms::norm_row_exhibit(shown->runs, norm, scene.place.batch, tab.row); });
    };
    // What is shown comes first.
    const View view = tab.shown_view();
    if (view == View::step) add_step();
    if (view == View::row) add_row();
    add_curves();
    if (view != View::step) add_step();
    if (view != View::row) add_row();
}

void pin(const core::Session&, ViewState& state, Commands& commands) {
    state.tab = core::files::kDiffTab;
    state.part<CompareTabState>().against = Against::pinned;
    commands.push_back(core::command::Pin{});
}

std::vector<Action> actions_of_runs() {
    return {{.label = message("Pin this run to compare later runs with it"), .run = pin}};
}

// A trace from another program, to compare with.
std::optional<core::Command> take_file(const core::Session& session, ViewState& state, const std::string& path) {
    const bool recording = load::is_recording(path);
    if (!recording && !path.ends_with(".safetensors")) return std::nullopt;
    CompareTabState& tab = state.part<CompareTabState>();
    // What our names don't tell is aligned by bisecting; two recordings are compared by their names.
    const bool bisects = session.fitting_scenario().computes() && (recording || tab.against == Against::bisect);
    return bisects ? bisect_with_file(tab, path) : compare_with_file(tab, path);
}

void leave(ViewState& state) {
    CompareTabState& tab = state.part<CompareTabState>();
    tab.shown = {};
    tab.drawn = {};
    tab.runs.reset();
}

void open_norms(ViewState& state) {
    CompareTabState& tab = state.part<CompareTabState>();
    if (tab.against != Against::norms) tab.other = tab.against;
    tab.against = Against::norms;
}

void open_other(ViewState& state) {
    CompareTabState& tab = state.part<CompareTabState>();
    if (tab.against == Against::norms) tab.against = tab.other;
}

// ---- what it saves

Json saved_norms(const CompareTabState& tab) {
    const NormsState& norms = tab.norms;
    Json json = {{"view", kViewNames[static_cast<std::size_t>(norms.view)]},
                 {"gain", float_to_json(norms.gain_factor)},
                 {"shift", float_to_json(norms.shift_factor)},
                 {"row", tab.row}};
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

// The file to compare with is not saved here: the session knows and saves it.
Json save(const ViewState& state) {
    const CompareTabState& tab = state.part<CompareTabState>();
    const auto name = [](Against against) { return kAgainstNames[static_cast<std::size_t>(against)]; };
    Json json = {{"with", name(tab.against)}, {"tolerance", tab.tolerance}, {"norms", saved_norms(tab)}};
    if (tab.against == Against::norms && tab.other != Against::unedited) json["other"] = name(tab.other);
    if (tab.view != View::step) json["view"] = kViewNames[static_cast<std::size_t>(tab.view)];
    save_option(json, tab.option);
    const core::BisectInputs& question = tab.bisect.question;
    if (question.tolerance) json["bisect"]["tolerance"] = *question.tolerance;
    for (const core::ChosenMatch& match : question.chosen) json["bisect"]["matches"][match.theirs] = match.ours;
    return json;
}

NormPlacement restored_place(JsonObject& json, const char* key) {
    std::vector<const char*> words;
    for (const core::PlaceOfNorms& place : core::places_of_norms()) words.push_back(place.word);
    return core::places_of_norms()[json.word(key, words)].placement;
}

core::norms::GrowthChoice restored_growth(JsonObject json) {
    core::norms::GrowthChoice growth;
    growth.layers = json.within("layers", bounds::kGrowthLayers, growth.layers);
    growth.d_model = json.within("d_model", bounds::kGrowthWidth, growth.d_model);
    growth.seeds = json.within("seeds", bounds::kGrowthSeeds, growth.seeds);
    growth.encoder = json.boolean("encoder", growth.encoder);
    if (json.find("init") != nullptr) growth.xavier = json.word("init", std::array{"pytorch", "xavier"}) == 1;
    json.finish();
    return growth;
}

void restore_norms(CompareTabState& tab, JsonObject json) {
    NormsState& norms = tab.norms;
    if (json.find("view") != nullptr) norms.view = static_cast<View>(json.word("view", kViewNames));
    if (json.find("layers") != nullptr) norms.layers = json.within("layers", bounds::kStackedLayers);
    norms.gain_factor = json.within("gain", bounds::kNormFactor, norms.gain_factor);
    norms.shift_factor = json.within("shift", bounds::kNormFactor, norms.shift_factor);
    if (json.find("row") != nullptr) tab.row = json.index("row");
    if (json.find("left") != nullptr || json.find("right") != nullptr)
        norms.places = {restored_place(json, "left"), restored_place(json, "right")};
    if (norms.places && norms.places->left == norms.places->right)
        json.fail("right", message("expected a placement other than left's"));
    if (json.find("gradients") != nullptr) norms.growth = restored_growth(json.object("gradients"));
    json.finish();
}

core::BisectInputs restored_question(JsonObject json) {
    core::BisectInputs question;
    if (json.find("tolerance") != nullptr) question.tolerance = json.within("tolerance", bounds::kBisectTolerance);
    if (const Json* matches = json.find("matches")) {
        if (!matches->is_object())
            json.fail("matches", message("expected an object of recorded tensors and our steps"));
        for (const auto& [theirs, ours] : matches->items()) {
            if (!ours.is_string()) json.fail("matches." + theirs, message("expected a step's name, or \"\" for none"));
            question.chosen.push_back({theirs, ours.get<std::string>()});
        }
    }
    json.finish();
    return question;
}

void restore(ViewState& state, JsonObject* saved) {
    CompareTabState read;
    if (saved != nullptr) {
        JsonObject& json = *saved;
        if (json.find("with") != nullptr) read.against = static_cast<Against>(json.word("with", kAgainstNames));
        if (json.find("other") != nullptr) read.other = static_cast<Against>(json.word("other", kAgainstNames));
        if (read.other == Against::norms) json.fail("other", message("expected one of the others"));
        if (json.find("view") != nullptr) read.view = static_cast<View>(json.word("view", kViewNames));
        read.tolerance = json.within("tolerance", bounds::kTolerance, read.tolerance);
        read.option = restored_option(json);
        read.typed = json.text("file", "");
        if (json.find("norms") != nullptr) restore_norms(read, json.object("norms"));
        if (json.find("bisect") != nullptr) read.bisect.question = restored_question(json.object("bisect"));
    }
    read.bisect.path = read.typed;
    CompareTabState& tab = state.part<CompareTabState>();
    read.norms.growth_progress = tab.norms.growth_progress;  // what is under way goes on
    read.norms.growth_depth_progress = tab.norms.growth_depth_progress;
    tab = std::move(read);
}

// ---- the tab

void draw_steps(const Ui& ui, const core::Session& session, ViewState& state, const Compared& both, Area area,
                Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    if (tab.against != Against::pinned) tab.part = core::diff::Listed::steps;
    tab.shown = comparison_of(session, tab, both);
    tab.drawn.take(load::about(session.shown().scenario.opened()), tab.shown, [&] { return side_a(both); });
    draw_answer(
        ui, "coming-difference", tab.drawn, area, commands,
        [&](const core::diff::ShownComparison&, Commands& heard) { draw_comparison(ui, session, state, area, heard); },
        [&](Area note) {
            std::string text = both.missing;
            if (both.of != nullptr) {
                const double done =
                    core::diff::comparison_progress(session.derived(), both.run, both.of, tab.tolerance, tab.part);
                text = tr("Comparing … {percent} %", {{"percent", static_cast<int>(100.0 * done)}});
            }
            text_block(ui, ui.hint(), note, text);
        });
}

// What is said of blocks and norms that the model has no weights for; empty if it has all that are shown.
std::string added_text(const Scene& scene) {
    std::string text;
    const core::Scenario& left = scene.runs.left.scenario;
    const Index own = left.model()->config().num_layers, blocks = left.config().num_layers;
    if (blocks > own)  // whose norms are as fresh
        return " " + tr("Untrained: blocks {first} to {last} have fresh weights, so the answers mean nothing.",
                        {{"first", own}, {"last", blocks - 1}});
    for (const core::Side* side : {&scene.runs.left, &scene.runs.right})
        if (side->scenario.adds_norms())
            text += " " + tr("{placement} has norms that this model lacks: they get gain 1 and shift 0.",
                             {{"placement", side->name}});
    return text;
}

// What needs so much height scrolls where there is less.
void draw_tall(Area area, float least, const std::function<void(Area)>& draw) {
    if (area.height() >= least) return draw(area);
    scrolled("both", area, [&](ImVec2 low) {
        draw({low, {low.x + ImGui::GetContentRegionAvail().x, low.y + least}});
        return low.y + least;
    });
}

void draw_runs(const Ui& ui, const core::Session& session, ViewState& state, const Compared& both, Area area,
               Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    const std::optional<Scene> scene = scene_of(session, tab);
    if (!scene) {
        text_block(ui, ui.hint(), area, both.missing);
        return;
    }
    const float sentence = text_block(ui, ui.body(), area, sentence_of(session, tab, *scene) + added_text(*scene));
    area.low.y += std::max(ui.px(46), sentence + ui.px(8));  // the same where the sentence takes one line
    const float least = height_of_both(ui, session, tab, *scene, area);
    const auto draw_in_area = [&](Commands& heard) {
        draw_tall(area, least, [&](Area room) { draw_both_runs(ui, session, state, *scene, room, heard); });
    };
    if (both.of != nullptr) return draw_in_area(commands);
    draw_stale(ui, "coming-norms", area, draw_in_area,
               [&](Area note) { text_block(ui, ui.hint(), note, both.missing); });
}

void draw(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    tab.against = against_now(session, tab);
    if (!session.shown().scenario.computes()) tab.view = View::step;
    follow_selection(session, tab);
    state.hovered.reset();
    tab.shown = {};
    const float pad = ui.px(16);
    Area rest = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(8)}};
    draw_choices_of_both(ui, session, state, rest, commands);
    const Against against = tab.against;  // as was chosen just now
    if (against == Against::norms && tab.norms.view == View::gradients)
        return draw_tall(rest, ui.px(rest.width() < ui.px(620) ? 680.0F : 500.0F),
                         [&](Area room) { draw_growth(ui, session, tab, room, commands); });
    const bool of_a_file = against == Against::file || against == Against::bisect;
    if (of_a_file && !session.shown().trace_file && !session.reading_trace().empty()) {
        draw_empty_page(ui, rest, "", tr("Reading {name}", {{"name", session.reading_trace()}}), ui.theme.muted);
        return;
    }
    if (against == Against::bisect)
        return draw_tall(rest, ui.px(410), [&](Area room) { draw_bisect_page(ui, session, state, room, commands); });
    const Compared both = compared_now(session, tab);
    take_runs(session, tab, both);
    if (both.of == nullptr && !both.coming) {
        draw_empty_page(ui, rest, both.failed ? tr("This run can't be computed") : "", both.missing,
                        both.failed ? ui.theme.error : ui.theme.muted);
        return;
    }
    if (against == Against::file || tab.shown_view() == View::step)
        return draw_tall(rest, ui.px(410), [&](Area room) { draw_steps(ui, session, state, both, room, commands); });
    draw_runs(ui, session, state, both, rest, commands);
}

}  // namespace

Tab compare_tab() {
    return {
        .id = core::files::kCompareTab,
        .title = message("Compare"),
        .question = message("How do two runs differ, and where first?"),
        .term = "difference",
        .draw = draw,
        .pages = {{core::files::kNormsTab, message("Norms"), message("What does the norm placement change?"), Key::n,
                   "norm", open_norms},
                  {core::files::kDiffTab, message("Diff"), message("What changed?"), Key::c, "difference", open_other}},
        .inspect = inspect_both,
        .suggest = suggest,
        .companion_runs = companion_runs,
        .leave = leave,
        .add_exports = add_exports,
        .actions = actions_of_runs,
        .save = save,
        .restore = restore,
        .selectors = selectors_of_both,
        .take_file = take_file};
}

core::Command bisect_with_file(CompareTabState& tab, const std::string& path) {
    tab.against = Against::bisect;
    tab.typed = path;
    return core::command::CompareWithFile{path};
}

core::Command compare_with_file(CompareTabState& tab, const std::string& path) {
    tab.against = Against::file;
    tab.typed = path;
    if (tab.tolerance == 0.0) tab.tolerance = 1e-5;
    return core::command::CompareWithFile{path};
}

Against against_now(const core::Session& session, const CompareTabState& tab) {
    return tab.against == Against::norms && !session.shown().scenario.computes() ? tab.other : tab.against;
}

core::Places compared_places(const core::Session& session, const CompareTabState& tab) {
    return tab.norms.places.value_or(core::first_places(session.shown().scenario.config()));
}

core::CompanionRuns companion_runs(const core::Session& session, const ViewState& state) {
    const CompareTabState& tab = state.part<CompareTabState>();
    if (against_now(session, tab) == Against::norms) {
        const core::Places places = compared_places(session, tab);
        return {{kLeftRun, variation_of(tab.norms, places.left)}, {kRightRun, variation_of(tab.norms, places.right)}};
    }
    const auto variation = variation_of(session.fitting_scenario(), tab);
    return variation ? core::CompanionRuns{{kOtherRun, *variation}} : core::CompanionRuns();
}

Compared compared_now(const core::Session& session, const CompareTabState& tab) {
    const core::Snapshot& shown = session.shown();
    Compared both{.scenario = &shown.scenario, .run = shown.run, .label = label_of(shown.scenario, tab)};
    switch (tab.against) {
        case Against::norms:
            return both_norms(session, tab);
        case Against::unedited:
            if (!shown.scenario.dropout_seed)
                both.of = both.b = shown.unedited;
            else
                compare_with_companion(both, shown, tab);
            break;
        case Against::configuration:
            compare_with_companion(both, shown, tab);
            break;
        case Against::pinned:
            both.of = shown.pinned;
            if (!shown.pinned)
                both.missing =
                    tr("No run is pinned yet. Pin this one, change something, and see here what it changed.");
            else
                both.b = shown.pinned->run, both.label = Sentence::verbatim(shown.pinned->label);
            break;
        case Against::bisect:
            break;
        case Against::file:
            both.of = shown.trace_file;
            if (!shown.trace_file)
                both.missing =
                    tr("No file is open. “decoderscope trace” writes one; so does safetensors.torch.save_file in "
                       "PyTorch, with the same names. Type its path above, or drop it here.");
            break;
    }
    return both;
}

std::optional<Scene> scene_of(const core::Session& session, const CompareTabState& tab) {
    return tab.runs ? scene_in(session, tab, *tab.runs) : std::nullopt;
}

void go_to_largest(const core::Session& session, const core::TensorDifference& difference, Commands& commands) {
    const Ref step = session.shown().run->plan().find(difference.name);
    if (step == nullptr) return;
    commands.push_back(core::command::GoTo{difference.name});
    if (difference.cell.size() != step->axes.size()) return;
    const core::Place now = session.cursor().place;
    const core::Place place = core::place_of(*step, difference.cell, now, session.shown().scenario.query_heads());
    if (place.batch != now.batch) commands.push_back(core::command::ChooseBatch{place.batch});
    if (place.head != now.head) commands.push_back(core::command::ChooseHead{place.head});
}

}  // namespace decoderscope::views::compare
