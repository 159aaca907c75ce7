#include "app/views/tabs/diff/tab.h"

#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/diff/comparison_text.h"
#include "app/core/tabs/diff/effect_of_edits.h"
#include "app/views/frame/stale.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"
#include "engine/load/recorded_run.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::diff {

namespace {

constexpr std::string_view kId = core::files::kDiffTab;

// What the pictures of a step need with the lines above them, at a scale of 1.
constexpr float kLeastBelowList = 290.0F;

// The session's name for our companion run.
constexpr const char* kCompanion = "diff";

// How the run that is compared with differs from this one, where it has to be computed: in the configuration, or in
// dropout, which is a difference like an edit.
std::optional<core::Variation> variation_of(const core::Scenario& scenario, const DiffTabState& diff) {
    if (diff.against == Against::configuration && !diff.option.first.empty())
        return core::Variation{.overrides = {diff.option}};
    if (diff.against == Against::unedited && scenario.dropout_seed)
        return core::Variation{.without_edits = true, .without_dropout = true};
    return std::nullopt;
}

core::CompanionRuns companion_runs(const core::Session& session, const ViewState& state) {
    const auto variation = variation_of(session.scenario(), state.part<DiffTabState>());
    if (!variation) return {};
    return {{kCompanion, *variation}};
}

void leave(ViewState& state) {
    DiffTabState& diff = state.part<DiffTabState>();
    diff.shown = {};
    diff.drawn = {};
}

void pin(const core::Session&, ViewState& state, Commands& commands) {
    state.tab = kId;
    state.part<DiffTabState>().against = Against::pinned;
    commands.push_back(core::command::Pin{});
}

std::vector<Action> actions_of_runs() {
    return {{.label = message("Pin this run to compare later runs with it"), .run = pin}};
}

// The file to compare with is not saved here: the session knows and saves it.
Json save(const ViewState& state) {
    const DiffTabState& diff = state.part<DiffTabState>();
    Json json = {{"with", kAgainstNames[static_cast<std::size_t>(diff.against)]}, {"tolerance", diff.tolerance}};
    save_option(json, diff.option);
    const core::BisectInputs& question = diff.bisect.question;
    if (question.tolerance) json["bisect"]["tolerance"] = *question.tolerance;
    for (const core::ChosenMatch& match : question.chosen) json["bisect"]["matches"][match.theirs] = match.ours;
    return json;
}

core::BisectInputs restored_question(JsonObject json) {
    core::BisectInputs question;
    if (json.find("tolerance") != nullptr) question.tolerance = json.number("tolerance");
    if (question.tolerance && (!std::isfinite(*question.tolerance) || *question.tolerance <= 0.0))
        json.fail("tolerance", message("expected a number above 0"));
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
    DiffTabState read;
    if (saved != nullptr) {
        JsonObject& json = *saved;
        if (json.find("with") != nullptr) read.against = static_cast<Against>(json.word("with", kAgainstNames));
        if (json.find("tolerance") != nullptr) read.tolerance = json.number("tolerance");
        if (!std::isfinite(read.tolerance) || read.tolerance < 0.0)
            json.fail("tolerance", message("expected a number from 0"));
        read.option = restored_option(json);
        read.typed = json.text("file", "");
        if (json.find("bisect") != nullptr) read.bisect.question = restored_question(json.object("bisect"));
    }
    DiffTabState& diff = state.part<DiffTabState>();
    diff.against = read.against;
    diff.option = read.option;
    diff.tolerance = read.tolerance;
    diff.typed = read.typed;
    diff.bisect = {.path = read.typed, .question = read.bisect.question};
}

// A trace from another program, to compare with.
std::optional<core::Command> take_file(const core::Session& session, ViewState& state, const std::string& path) {
    const bool recording = load::is_recording(path);
    if (!recording && !path.ends_with(".safetensors")) return std::nullopt;
    DiffTabState& diff = state.part<DiffTabState>();
    // What our names don't tell is aligned by bisecting; two recordings are compared by their names.
    const bool bisects = session.scenario().computes() && (recording || diff.against == Against::bisect);
    return bisects ? bisect_with_file(diff, path) : compare_with_file(diff, path);
}

std::string label_of(const core::Scenario& scenario, const DiffTabState& diff) {
    if (diff.against == Against::configuration) return diff.option.first + " = " + diff.option.second;
    if (!scenario.dropout_seed) return tr("without edits");
    return !core::is_edited(scenario) ? tr("without dropout") : tr("without edits and dropout");
}

Compared compared_with_companion(const core::Snapshot& shown, const DiffTabState& diff) {
    Compared b{.label = label_of(shown.scenario, diff)};
    const auto found = shown.companions.find(kCompanion);
    if (found == shown.companions.end() || found->second.variation != variation_of(shown.scenario, diff)) {
        b.missing = tr("Computing the same run with {label} …", {{"label", b.label}});
        b.coming = true;
    } else if (!found->second.error.empty()) {
        b.missing = tr(found->second.error);
        b.failed = true;
    } else if (!found->second.run) {
        b.missing = tr("Computing the same run with {label} …", {{"label", b.label}});
        b.coming = true;
    } else {
        b.of = found->second.run;
    }
    return b;
}

Compared compared_with(const core::Snapshot& shown, const DiffTabState& diff) {
    switch (diff.against) {
        case Against::unedited:
            if (!shown.scenario.dropout_seed) return {.of = shown.unedited, .label = label_of(shown.scenario, diff)};
            return compared_with_companion(shown, diff);
        case Against::configuration:
            return compared_with_companion(shown, diff);
        case Against::pinned:
            if (shown.pinned)
                return {.of = shown.pinned, .label = tr("pinned: {label}", {{"label", shown.pinned->label}})};
            return {.missing =
                        tr("No run is pinned yet. Pin this one, change something, and see here what it changed.")};
        case Against::bisect:
            return {};
        case Against::file:
            if (shown.trace_file) return {.of = shown.trace_file, .label = shown.trace_file->label};
            return {.missing =
                        tr("No file is open. “decoderscope trace” writes one; so does safetensors.torch.save_file in "
                           "PyTorch, with the same names. Type its path above, or drop it here.")};
    }
    return {};
}

core::ReferenceRun reference_for(const core::Snapshot& shown, const DiffTabState& diff, const std::string& label) {
    switch (diff.against) {
        case Against::unedited: {
            const InEnglish english;  // it is written to files
            return core::reference_of(label_of(shown.scenario, diff), shown.scenario.dropout_seed
                                                                          ? shown.companions.at(kCompanion).run
                                                                          : shown.unedited);
        }
        case Against::configuration:
            return core::reference_of(label, shown.companions.at(kCompanion).run);
        case Against::pinned:
            return *shown.pinned;
        case Against::file:
        case Against::bisect:
            return *shown.trace_file;
    }
    return {};
}

// ---- if there is nothing to list

void draw_missing(const Ui& ui, const Compared& b, Area area) {
    draw_empty_page(ui, area, b.failed ? tr("This run can't be computed") : "", b.missing,
                    b.failed ? ui.theme.error : ui.theme.muted);
}

void draw_nothing_differs(const Ui& ui, const core::Session& session, ViewState& state, Area area) {
    DiffTabState& diff = state.part<DiffTabState>();
    const core::Comparison& comparison = diff.drawn.answer()->comparison;
    std::string text = core::diff::measured_text(comparison) + ".";
    const bool no_edits = diff.against == Against::unedited && !core::is_edited(session.shown().scenario);
    if (no_edits)
        text += std::string("\n\n") + tr("There are no edits yet, so both runs are the same. Paint a mask cell, switch "
                                         "a head off or overwrite a number, and this page shows what it affects.");
    const ImVec2 next = draw_empty_page(ui, area, core::diff::verdict_of(comparison), text, ui.theme.muted);
    if (!no_edits || !session.shown().scenario.computes()) return;
    ImGui::SetCursorScreenPos(next);
    if (const Overrides& set = session.shown().scenario.overrides(); !set.empty()) {
        const auto& [key, value] = set.back();
        if (link(ui, ui.fonts.text, ui.theme.accent,
                 tr("What did {key} = {value} change? →", {{"key", key}, {"value", value}}), 7002)) {
            diff.against = Against::configuration;
            diff.option = {key, core::own_value(session.shown().scenario, key)};
        }
        return;
    }
    const bool norm_first = session.shown().scenario.config().norm_first;
    if (link(ui, ui.fonts.text, ui.theme.accent,
             norm_first ? tr("What would Post-Norm change? →") : tr("What would Pre-Norm change? →"), 7002)) {
        diff.against = Against::configuration;
        diff.option = core::flipped_norm(session.shown().scenario);
    }
}

// ---- the result

// What the strip's bars are; of another model's run, what the step to this one did to the predictions.
std::string diff_caption(const core::Session& session, const ViewState& state) {
    const DiffTabState& diff = state.part<DiffTabState>();
    const core::diff::ShownComparison& drawn = *diff.drawn.answer();
    if (const core::ChartedDifferences charted = charted_differences(diff); charted.floor)
        return tr("|A − B| of each step, relative to its largest number; dashed: one rounding to {type}, {floor}",
                  {{"type", name_of(charted.type)}, {"floor", core::diff::difference_text(*charted.floor)}});
    if (!of_two_models(diff)) return tr("largest |A − B| of each step");
    const core::Snapshot& shown = diff.drawn.question();
    const core::Value<core::OutputMoves> cost =
        core::diff::shown_output_moves(session.derived(), shown.scenario, drawn.reference.run, shown.run);
    return cost && !cost->output.empty()
               ? tr("from B to A: {moves}",
                    {{"moves", core::moves_sentence(shown.scenario, *cost, core::Mood::happened)}})
               : std::string(diff.part == core::diff::Listed::weights ? tr("largest |A − B| of each weight")
                                                                      : tr("largest |A − B| of each step"));
}

// The text of the link to the first step that differs; empty if none does.
std::string first_link(const core::Comparison& comparison) {
    const Sentence first = core::diff::first_difference(comparison);
    return first.empty() ? "" : tr(first) + std::string(" →");
}

constexpr float kVerdictLine = 21.0F;

// Whether the strip's caption has room beside that link.
bool is_beside(const Ui& ui, const std::string& link, const std::string& caption, float width) {
    return compat::text_size(ui.fonts.caption, link).x + ui.px(24) + compat::text_size(ui.fonts.caption, caption).x <=
           width;
}

float verdict_height(const Ui& ui, const core::Session& session, const ViewState& state, float width) {
    const std::string first = first_link(state.part<DiffTabState>().drawn.answer()->comparison);
    return ui.px(is_beside(ui, first, diff_caption(session, state), width) ? kVerdictLine * 2 : kVerdictLine * 3);
}

void draw_verdict(const Ui& ui, const core::Session& session, const ViewState& state, Area area, Commands& commands) {
    const core::Comparison& comparison = state.part<DiffTabState>().drawn.answer()->comparison;
    draw_text(ui, ui.fonts.text, area.low, ui.theme.text, core::diff::verdict_of(comparison), area.width());
    const std::string first = first_link(comparison), caption = diff_caption(session, state);
    const bool beside = is_beside(ui, first, caption, area.width());
    const float y = area.low.y + ui.px(kVerdictLine) + ui.px(3);
    draw_text(ui, ui.fonts.caption, {area.low.x, beside ? y : y + ui.px(kVerdictLine) - ui.px(2)}, ui.theme.muted,
              fitted(ui.fonts.caption, caption, area.width()));
    if (first.empty()) return;
    const std::string shown = fitted(ui.fonts.caption, first, area.width());
    ImGui::SetCursorScreenPos({beside ? area.high.x - compat::text_size(ui.fonts.caption, shown).x : area.low.x, y});
    if (link(ui, ui.fonts.caption, ui.theme.accent, shown, 7001))
        go_to_largest(session, comparison.tensors[*comparison.first], commands);
    tooltip(tr("Go to the first step that differs by more than the tolerance, where it differs most"));
}

core::Value<core::diff::ShownComparison> comparison_with(const Compared& b, const core::Session& session,
                                                         const DiffTabState& diff) {
    if (b.of == nullptr) return {};
    const core::Snapshot& shown = session.shown();
    return core::diff::shown_comparison(
        session.derived(), shown.run, b.of, diff.tolerance, [&] { return reference_for(shown, diff, b.label); },
        diff.part);
}

void add_exports(ExportScene& scene) {
    const DiffTabState& diff = scene.state.part<DiffTabState>();
    if (diff.against == Against::bisect) return;
    const auto shown = comparison_with(compared_with(scene.session.shown(), diff), scene.session, diff);
    if (!shown) return;
    scene.add_if_any(tr("A, B and the difference"), scene.step.name + ".difference", [&] {
        return core::diff::difference_exhibit(scene.shown, shown->reference, scene.step, scene.place,
                                              shown->comparison.tolerance);
    });
}

int percent_compared(const core::Session& session, const DiffTabState& diff, const Compared& b) {
    return static_cast<int>(
        core::diff::comparison_progress(session.derived(), session.shown().run, b.of, diff.tolerance, diff.part) *
        100.0);
}

// The height of the list of steps: a share of the room, as the pictures are more important. 0 where it would leave them
// less than they need: then it is folded. Not for two models, because weights or steps are chosen in it.
float list_height(const Ui& ui, const DiffTabState& diff, float room) {
    const float height = std::clamp(room * 0.34F, ui.px(88), ui.px(320));
    return !of_two_models(diff) && room - height < ui.px(kLeastBelowList) ? 0.0F : height;
}

void draw_comparison(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const core::Comparison& comparison = state.part<DiffTabState>().drawn.answer()->comparison;
    if (!comparison.differs() && comparison.largest == 0.0) return draw_nothing_differs(ui, session, state, area);
    float y = area.low.y;
    const auto part = [&](float height, float gap) {
        const Area cut = {{area.low.x, y}, {area.high.x, y + height}};
        y += height + ui.px(gap);
        return cut;
    };
    draw_verdict(ui, session, state, part(verdict_height(ui, session, state, area.width()), 0), commands);
    draw_diff_strip(ui, session, state, part(std::max(ui.px(60), area.height() * 0.13F), 6), commands);
    const float list = list_height(ui, state.part<DiffTabState>(), area.high.y - y);
    if (list > 0.0F) draw_diff_list(ui, session, state, part(list, 10), commands);
    draw_diff_pictures(ui, session, state, {{area.low.x, y}, area.high}, list == 0.0F, commands);
}

}  // namespace

Tab diff_tab() {
    return {.id = kId,
            .title = message("Diff"),
            .question = message("What changed?"),
            .key = Key::c,
            .term = "difference",
            .draw = draw_diff_tab,
            .least_height = [](float) { return 480.0F; },
            .inspect = inspect_difference,
            .companion_runs = companion_runs,
            .leave = leave,
            .add_exports = add_exports,
            .actions = actions_of_runs,
            .save = save,
            .restore = restore,
            .take_file = take_file};
}

core::Command bisect_with_file(DiffTabState& diff, const std::string& path) {
    diff.against = Against::bisect;
    diff.typed = path;
    return core::command::CompareWithFile{path};
}

core::Command compare_with_file(DiffTabState& diff, const std::string& path) {
    diff.against = Against::file;
    diff.typed = path;
    if (diff.tolerance == 0.0) diff.tolerance = 1e-5;
    return core::command::CompareWithFile{path};
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

void draw_diff_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    DiffTabState& diff = state.part<DiffTabState>();
    const float pad = ui.px(16);
    const Area inner = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(8)}};
    state.hovered.reset();
    const core::Snapshot& shown = session.shown();
    const Compared b = compared_with(shown, diff);
    diff.shown = {};
    const float header = diff_header_height(ui, diff.against, inner.width());
    draw_diff_header(ui, session, state, {inner.low, {inner.high.x, inner.low.y + header}}, commands);
    const Area below = {{inner.low.x, inner.low.y + header}, inner.high};
    const bool of_a_file = diff.against == Against::file || diff.against == Against::bisect;
    if (of_a_file && !shown.trace_file && !session.reading_trace().empty()) {
        draw_empty_page(ui, below, "", tr("Reading {name}", {{"name", session.reading_trace()}}), ui.theme.muted);
        return;
    }
    if (diff.against == Against::bisect) return draw_bisect_page(ui, session, state, below, commands);
    if (b.of == nullptr && !b.coming) {
        draw_missing(ui, b, below);
        return;
    }
    if (diff.against != Against::pinned) diff.part = core::diff::Listed::steps;
    diff.shown = comparison_with(b, session, diff);
    diff.drawn.take(load::about(shown.scenario.opened()), diff.shown, [&] { return shown; });
    draw_answer(
        ui, "coming-difference", diff.drawn, below, commands,
        [&](Commands& heard) {
            draw_comparison(ui, session, state, below, heard);
            return below;
        },
        [&](Area note) {
            text_block(ui, ui.fonts.text, ui.theme.muted, note,
                       b.of == nullptr
                           ? b.missing
                           : tr("Comparing … {percent} %", {{"percent", percent_compared(session, diff, b)}}));
        });
}

}  // namespace decoderscope::views::diff
