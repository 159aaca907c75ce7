#include "app/core/report/run_differences.h"

#include "app/core/compare/comparison_text.h"
#include "app/core/compare/shown_comparison.h"
#include "app/core/report/html_page.h"
#include "app/core/run/comparison.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/open_model.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/bisect/bisection_text.h"
#include "app/core/tabs/bisect/given.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"
#include "engine/graph/explanation.h"
#include "engine/trace/layout.h"

#include <algorithm>
#include <limits>
#include <map>
#include <ostream>
#include <string_view>
#include <utility>

namespace decoderscope::core::report {

namespace {

using bisect::TensorCheck;

std::string first_of(const RunDifferences& differences) {
    return differences.found.first ? differences.found.checks[*differences.found.first].ours : std::string();
}

std::string largest_of(const RunDifferences& differences) {
    return differences.furthest ? bisect::difference_of(differences.found.checks[*differences.furthest])
                                : std::string();
}

std::size_t differing(const RunDifferences& differences) {
    return static_cast<std::size_t>(std::ranges::count_if(differences.found.checks, &TensorCheck::differs));
}

// What was found, in a few sentences.
std::vector<std::string> findings(const RunDifferences& of) {
    std::vector<std::string> lines = {tr("Here: {here}; there: {there}.", {{"here", of.here}, {"there", of.there}})};
    for (std::string& line : bisect::bisection_head(of.found)) lines.push_back(std::move(line));
    if (!of.moved.empty())
        lines.push_back(
            tr("From {here} to {there}: {moved}", {{"here", of.here}, {"there", of.there}, {"moved", of.moved}}));
    for (std::string& line : bisect::bisection_notes(of.found)) lines.push_back(std::move(line));
    return lines;
}

std::string overview_of(const ComparedRuns& all) {
    return tr_n("{count} run beside {first}", "{count} runs beside {first}", all.differences.size(),
                {{"first", all.runs.front().label}});
}

std::vector<std::string> overview_columns() {
    return {tr("run"), tr("what was found"), tr("first difference"), tr("largest, of the magnitude")};
}

// ---- HTML

void facts(Page& page, const ComparedRuns& all) {
    std::vector<std::pair<std::string, std::string>> about;
    for (const ComparedRun& run : all.runs)
        about.emplace_back(run.label, run.trace != nullptr ? tr(run.shown.scenario.about().description)
                                                           : description_of(run.shown.scenario));
    page.facts(about);
}

void overview(Page& page, const ComparedRuns& all) {
    Page::Table table{overview_of(all), overview_columns(), {}};
    for (std::size_t i = 0; i < all.differences.size(); ++i) {
        const RunDifferences& of = all.differences[i];
        table.rows.push_back({{{all.runs[i + 1].label, "run" + std::to_string(i + 1)}},
                              {{verdict_of(of), ""}},
                              {{first_of(of), ""}},
                              {{largest_of(of), ""}}});
    }
    page.table(table);
}

// Every step that was compared, in the order of computation.
void steps(Page& page, const RunDifferences& of) {
    Page::Table table{tr("Steps in the order of computation"),
                      {tr("step"), tr("largest, of the magnitude"), "", tr("where"), of.here, of.there},
                      {}};
    for (const TensorCheck& check : of.found.checks) {
        const std::string name = check.ours == check.theirs
                                     ? check.ours
                                     : tr("{ours}, theirs {theirs}", {{"ours", check.ours}, {"theirs", check.theirs}});
        const auto number = [&](float value) {
            return check.cell.empty() ? std::string() : short_number(static_cast<double>(value));
        };
        table.rows.push_back({{{name, ""}},
                              {{bisect::difference_of(check), ""}},
                              {{check.differs ? std::string(tr("differs")) : std::string(), ""}},
                              {{check.cell.empty() ? std::string() : cell_name("", check.cell), ""}},
                              {{number(check.our_value), ""}},
                              {{number(check.their_value), ""}}});
    }
    page.table(table);
}

void pair(Page& page, const ComparedRuns& all, std::size_t i) {
    const RunDifferences& of = all.differences[i];
    page.section(tr("{run} beside {first}", {{"run", all.runs[i + 1].label}, {"first", all.runs.front().label}}),
                 "run" + std::to_string(i + 1));
    for (const std::string& line : findings(of)) page.paragraph(line);
    if (!of.causes.empty()) {
        page.subsection(tr("Why"));
        page.list(of.causes);
    }
    if (!of.missing.empty()) {
        page.subsection(tr("Not in both"));
        page.list(of.missing);
    }
    for (const Exhibit& picture : of.pictures) page.figure(picture);
    steps(page, of);
}

// ---- Markdown

// A name or a sentence as text: nothing in it is markup, and it ends no cell of a table.
std::string plain(std::string_view text) {
    constexpr std::string_view kMarks = "\\`*<>|~";  // an underscore within a word marks nothing
    std::string written;
    for (const char c : text) {
        const bool link = c == '(' && written.ends_with(']');
        if (link || kMarks.find(c) != std::string_view::npos) written += '\\';
        written += c == '\n' ? ' ' : c;
    }
    return written;
}

std::string row_of(const std::vector<std::string>& cells) {
    std::string row = "|";
    for (const std::string& cell : cells) row += " " + plain(cell) + " |";
    return row + "\n";
}

std::string bullets(const std::vector<std::string>& lines, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) text += "- " + plain(lines[i]) + "\n";
    if (lines.size() > most)
        text += "- " + plain(tr_n("… and {count} more", "… and {count} more", lines.size() - most)) + "\n";
    return text;
}

using bisect::Bisection;

// ---- two models, or two recordings: tensors of one name

TensorCheck check_of(const TensorDifference& difference, double tolerance) {
    TensorCheck check;
    check.ours = check.theirs = difference.name;
    check.other_shape = difference.presence == Presence::other_shape;
    const double without_end = std::numeric_limits<double>::infinity();
    check.largest = check.other_shape ? without_end : difference.largest;
    check.relative = check.other_shape ? without_end : difference.relative();
    check.cell = difference.cell;
    check.our_value = difference.a;
    check.their_value = difference.b;
    check.differs = check.relative > tolerance;
    return check;
}

double tolerance_of(const ComparedRun& a, const ComparedRun& b) {
    double most = bisect::kUsualTolerance;
    for (const ComparedRun* run : {&a, &b})
        if (run->trace != nullptr) most = std::max(most, bisect::coarse_tolerance(bisect::arithmetic_of(*run->trace)));
    return most;
}

bool is_one_sided(const TensorDifference& difference) {
    return difference.presence == Presence::only_in_a || difference.presence == Presence::only_in_b;
}

Comparison compared_by_name(const ComparedRun& a, const ComparedRun& b) {
    Comparison comparison = compare(recorded_tensors(*a.shown.run), recorded_tensors(*b.shown.run), 0.0);
    if (comparison.in_both == 0)
        throw Error(
            "{b}: none of its tensors has the name and shape of one of {a}'s; expected runs of one architecture",
            {{"b", b.label}, {"a", a.label}});
    return comparison;
}

std::vector<std::string> missing_in(const Comparison& comparison, const ComparedRun& a, const ComparedRun& b) {
    std::vector<std::string> missing;
    for (const TensorDifference& difference : comparison.tensors)
        if (is_one_sided(difference))
            missing.push_back(tr("{tensor}: {where}", {{"tensor", difference.name},
                                                       {"where", diff::presence_text(difference, a.label, b.label)}}));
    return missing;
}

Bisection judged_by(double tolerance, const Comparison& comparison) {
    Bisection found;
    found.tolerance = tolerance;
    found.by_tolerance = true;
    for (const TensorDifference& difference : comparison.tensors)
        if (!is_one_sided(difference)) found.checks.push_back(check_of(difference, tolerance));
    bisect::summarise(found);
    return found;
}

// ---- what makes two differ

using Settings = std::map<std::string, std::string, std::less<>>;

Settings settings_of(const ComparedRun& run) {
    if (run.trace != nullptr) return run.trace->hyperparameters;
    const Overrides values = config_values(run.shown.scenario.config());
    return {values.begin(), values.end()};
}

std::vector<std::string> other_settings(const ComparedRun& a, const ComparedRun& b) {
    constexpr std::size_t kMost = 12;
    std::vector<std::string> lines;
    const Settings of_b = settings_of(b);
    for (const auto& [key, value] : settings_of(a)) {
        const auto other = of_b.find(key);
        if (other == of_b.end() || other->second == value) continue;
        lines.push_back(tr("{key}: {a} in {run}, {b} in {other}",
                           {{"key", key}, {"a", value}, {"run", a.label}, {"b", other->second}, {"other", b.label}}));
    }
    if (lines.size() <= kMost) return lines;
    const std::size_t more = lines.size() - kMost;
    lines.resize(kMost);
    lines.push_back(tr_n("… and {count} more setting", "… and {count} more settings", more));
    return lines;
}

std::string edits_of(const ComparedRun& run) {
    constexpr std::size_t kMost = 5;
    const std::vector<std::string> edits = texts_of_edits(run.shown.scenario.edits);
    if (edits.empty()) return tr("No edits in {run}", {{"run", run.label}});
    return tr_n("{count} edit in {run}: {edits}", "{count} edits in {run}: {edits}", edits.size(),
                {{"run", run.label}, {"edits", first_of_edits(edits, kMost)}});
}

NamedTensors weights(const ComparedRun& run) {
    if (run.trace == nullptr) return diff::weights_of(*run.shown.run);
    NamedTensors named;
    for (const trace::TraceTensor& parameter : run.trace->parameters)
        named.emplace_back(parameter.name, parameter.values);
    return named;
}

// "Weights: 2 of 40 tensors differ. Furthest: lm_head.weight, by 0.1 of its magnitude."; empty if they are the same.
std::string other_weights(const ComparedRun& a, const ComparedRun& b) {
    const Comparison comparison = compare(weights(a), weights(b), 0.0);
    if (comparison.over == 0) return {};
    for (const std::size_t at : diff::furthest_first(comparison)) {
        const TensorDifference& furthest = comparison.tensors[at];
        if (furthest.presence != Presence::in_both) continue;
        return tr("Weights: {verdict} Furthest: {tensor}, by {relative} of its magnitude.",
                  {{"verdict", diff::verdict_of(comparison)},
                   {"tensor", furthest.name},
                   {"relative", diff::difference_text(furthest.relative())}});
    }
    return {};
}

// What was asked for: settings, edits, weights.
std::vector<std::string> other_wishes(const ComparedRun& a, const ComparedRun& b) {
    std::vector<std::string> lines = other_settings(a, b);
    if (const std::string line = other_weights(a, b); !line.empty()) lines.push_back(line);
    const Scenario &left = a.shown.scenario, &right = b.shown.scenario;
    if (left.edits != right.edits)
        for (const ComparedRun* run : {&a, &b}) lines.push_back(edits_of(*run));
    for (const ComparedRun* run : {&a, &b}) {
        const Scenario& scenario = run->shown.scenario;
        if (left.mutation != right.mutation && !scenario.mutation.empty())
            lines.push_back(
                tr("{run} computes with the mistake {name}", {{"run", run->label}, {"name", scenario.mutation}}));
        if (left.dropout_seed != right.dropout_seed && scenario.dropout_seed)
            lines.push_back(tr("Dropout is on in {run}", {{"run", run->label}}));
    }
    return lines;
}

std::vector<std::string> bisected_causes(const Bisection& found) {
    std::vector<std::string> lines;
    if (found.causes.empty() || !found.relation.empty()) lines.push_back(bisect::without_cause(found));
    for (const bisect::Cause& cause : found.causes)
        if (cause.explains || lines.empty()) lines.push_back(bisect::cause_line(cause));
    for (const bisect::Cause& cause : found.further)
        lines.push_back(tr("And then: {cause}", {{"cause", bisect::cause_line(cause)}}));
    return lines;
}

// A recording with its parameters, as the model that made it; nothing if it can't be opened as one.
std::optional<Scenario> model_of(const ComparedRun& run) {
    const load::RecordedRun* recorded = run.shown.scenario.recorded();
    if (recorded == nullptr || !recorded->has_parameters) return std::nullopt;
    try {
        return scenario_of(open_model(run.trace->path, OpenAs::model));
    } catch (const Error&) {
        return std::nullopt;
    }
}

// A recording computed again: as the model that it holds, if that agrees with it.
std::optional<ComparedRun> computed_again(const ComparedRun& run) {
    std::optional<Scenario> model = model_of(run);
    if (!model) return std::nullopt;
    try {
        if (bisect::bisect(*model, *run.trace, {.seek_causes = false}).first) return std::nullopt;
        ComparedRun again{run.label, {}, nullptr};
        again.shown.scenario = on_recorded_input(*std::move(model), *run.trace);
        again.shown.run = execute(plan_of(again.shown.scenario));
        return again;
    } catch (const Error&) {  // nothing in it is a tensor of this model, or it was given something else
        return std::nullopt;
    }
}

// The likeliest cause of each difference, one after the other, where they explain all of it; otherwise empty.
std::vector<bisect::Cause> whole_chain(const Bisection& found) {
    std::vector<bisect::Cause> chain;
    if (found.causes.empty() || !found.causes.front().explains) return chain;
    chain.push_back(found.causes.front());
    chain.insert(chain.end(), found.further.begin(), found.further.end());
    return chain.back().all_agree ? chain : std::vector<bisect::Cause>();
}

// The mistakes in one of two recordings: with them, the model in the other one computes what was recorded. What the
// other one has, too, is how that model is written. Empty if there are none.
std::vector<std::string> cause_between(const ComparedRun& right, const ComparedRun& wrong, double tolerance) {
    const std::optional<Scenario> model = model_of(right);
    if (!model) return {};
    std::vector<bisect::Cause> mistakes;
    try {
        const Bisection own = bisect::bisect(*model, *right.trace, {.tolerance = tolerance});
        const std::vector<bisect::Cause> as_written = whole_chain(own);
        if (own.first && as_written.empty()) return {};
        mistakes = whole_chain(bisect::bisect(*model, *wrong.trace, {.tolerance = tolerance}));
        for (const bisect::Cause& known : as_written)
            std::erase_if(mistakes, [&](const bisect::Cause& cause) { return cause.name == known.name; });
    } catch (const Error&) {  // nothing in the other one is a tensor of this model
        return {};
    }
    std::vector<std::string> lines;
    for (const bisect::Cause& cause : mistakes)
        lines.push_back(
            tr("{name}: {cause} With it, {right} becomes {wrong}.",
               {{"name", cause.name}, {"cause", cause.sentence}, {"right", right.label}, {"wrong", wrong.label}}));
    return lines;
}

std::vector<std::string> causes_by_name(const ComparedRun& a, const ComparedRun& b, double tolerance) {
    std::vector<std::string> lines;
    if (a.trace != nullptr) lines = cause_between(a, b, tolerance);
    if (a.trace != nullptr && lines.empty()) lines = cause_between(b, a, tolerance);
    const std::vector<std::string> wishes = other_wishes(a, b);
    lines.insert(lines.end(), wishes.begin(), wishes.end());
    return lines;
}

// ---- pictures

// Theirs as a step of ours: under its name, in its shape. Nothing if it is laid out differently.
std::optional<ReferenceRun> beside(const ComparedRun& here, const ComparedRun& there, const TensorCheck& check) {
    const Ref step = here.shown.run->plan().find(check.ours);
    const Tensor ours = step == nullptr ? Tensor() : here.shown.run->value(step->id);
    if (ours.empty()) return std::nullopt;
    if (here.trace != nullptr || there.trace == nullptr) return reference_of(there.label, there.shown.run);
    const auto both = trace::laid_out(ours, there.trace->tensors[check.match.tensor].values, check.match.placed);
    if (!both || sizes_of(both->theirs.axes()) != sizes_of(ours.axes())) return std::nullopt;
    ReferenceRun other;
    other.label = there.label;
    other.tensors = {{check.ours, both->theirs.with_axes(ours.axes())}};
    return other;
}

std::optional<Exhibit> picture_of(const ComparedRun& here, const ComparedRun& there, const RunDifferences& of,
                                  std::size_t at) {
    const TensorCheck& check = of.found.checks[at];
    if (check.cell.empty()) return std::nullopt;
    const auto other = beside(here, there, check);
    if (!other) return std::nullopt;
    const Step& step = *here.shown.run->plan().find(check.ours);
    const Place place = place_of(step, check.cell, {}, here.shown.scenario.query_heads());
    const double magnitude = check.largest / check.relative;
    return diff::difference_exhibit({{}, here.shown.scenario, here.shown.run}, *other, step, place,
                                    of.found.tolerance * magnitude);
}

std::optional<std::size_t> furthest_of(const Bisection& found) {
    std::optional<std::size_t> furthest;
    for (std::size_t i = 0; i < found.checks.size(); ++i)
        if (found.checks[i].differs && (!furthest || found.checks[i].relative > found.checks[*furthest].relative))
            furthest = i;
    return furthest;
}

Sentence output_moved(const ComparedRun& here, const ComparedRun& there) {
    if (here.trace != nullptr || there.trace != nullptr) return {};
    const Scenario& scenario = here.shown.scenario;
    const OutputMoves moves = finished(output_moves(here.shown.run, there.shown.run, padding_of(scenario)));
    return moves_sentence(scenario, moves, Mood::happened);
}

// A recording is compared with the decoder as it should be.
void refuse_mistake(const ComparedRun& run) {
    const std::string& mistake = run.shown.scenario.mutation;
    if (!mistake.empty())
        throw Error("{run}: {name} is a mistake; bisect compares with the decoder as it should be",
                    {{"run", run.label}, {"name", mistake}});
}

}  // namespace

ComparedRuns compared(std::vector<ComparedRun> runs, std::optional<double> tolerance) {
    ComparedRuns all;
    all.runs = std::move(runs);
    for (std::size_t i = 1; i < all.runs.size(); ++i)
        all.differences.push_back(differences_between(all.runs.front(), all.runs[i], tolerance));
    return all;
}

std::string verdict_of(const RunDifferences& of) {
    std::string verdict;
    for (const Sentence& sentence : of.found.apart) verdict += tr("Differs: {how}.", {{"how", sentence}}) + " ";
    verdict += of.found.first ? tr_n("{count} of {all} steps differs, first {step}.",
                                     "{count} of {all} steps differ, first {step}.", differing(of),
                                     {{"all", of.found.checks.size()}, {"step", first_of(of)}})
                              : tr_n("{count} step agrees.", "{count} steps agree.", of.found.agreed_before);
    if (!of.missing.empty())
        verdict += " " + tr_n("{count} is not in both.", "{count} are not in both.", of.missing.size());
    for (const Sentence& sentence : of.found.not_compared)
        verdict += " " + tr("Not compared: {sentence}.", {{"sentence", sentence}});
    return verdict;
}

void write_differences(std::ostream& out, const ComparedRuns& all) {
    Page page(out, overview_of(all),
              tr("How runs differ, as Decoderscope {version} found it.", {{"version", DECODERSCOPE_VERSION}}));
    facts(page, all);
    overview(page, all);
    for (std::size_t i = 0; i < all.differences.size(); ++i) pair(page, all, i);
}

std::string differences_markdown(const ComparedRuns& all) {
    constexpr std::size_t kMostLines = 8;
    std::string text =
        "**" + plain(overview_of(all)) + "**\n\n" + row_of(overview_columns()) + "| --- | --- | --- | --- |\n";
    for (std::size_t i = 0; i < all.differences.size(); ++i) {
        const RunDifferences& of = all.differences[i];
        text += row_of({all.runs[i + 1].label, verdict_of(of), first_of(of), largest_of(of)});
    }
    for (const RunDifferences& of : all.differences) {
        if (!of.differs() && !of.in_part()) continue;
        text += "\n" + bullets(findings(of), kMostLines);
        if (!of.causes.empty()) text += "\n" + plain(tr("Why")) + ":\n\n" + bullets(of.causes, kMostLines);
        if (!of.missing.empty()) text += "\n" + plain(tr("Not in both")) + ":\n\n" + bullets(of.missing, kMostLines);
    }
    return text;
}

namespace {

// Two recordings, one of which is a model's that computes it again: the other one is then judged by what rounding
// leaves open on this model, as beside any model.
std::optional<RunDifferences> judged_by_model(const ComparedRun& a, const ComparedRun& b) {
    if (a.trace == nullptr || b.trace == nullptr) return std::nullopt;
    for (const auto& [known, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        const std::optional<ComparedRun> model = computed_again(*known);
        if (!model) continue;
        RunDifferences made = differences_between(*model, *other, std::nullopt);
        made.missing = missing_in(compared_by_name(a, b), a, b);
        made.found.apart = bisect::given_apart(*a.trace, *b.trace);
        for (std::string& wish : other_wishes(a, b)) made.causes.push_back(std::move(wish));
        return made;
    }
    return std::nullopt;
}

}  // namespace

RunDifferences differences_between(const ComparedRun& a, const ComparedRun& b, std::optional<double> tolerance) {
    if (!tolerance)
        if (std::optional<RunDifferences> judged = judged_by_model(a, b)) return *std::move(judged);
    const bool bisects = (a.trace == nullptr) != (b.trace == nullptr);
    const bool turned = bisects && a.trace != nullptr;
    const ComparedRun &here = turned ? b : a, &there = turned ? a : b;
    RunDifferences made;
    made.here = here.label;
    made.there = there.label;
    if (bisects) refuse_mistake(here);
    if (bisects) {
        made.found = bisect::bisect(here.shown.scenario, *there.trace, {.tolerance = tolerance});
    } else {
        const Comparison comparison = compared_by_name(here, there);
        made.missing = missing_in(comparison, here, there);
        made.found = judged_by(tolerance.value_or(tolerance_of(a, b)), comparison);
        if (a.trace != nullptr) made.found.apart = bisect::given_apart(*a.trace, *b.trace);
    }
    std::erase_if(made.found.checks, [](const TensorCheck& check) { return !check.is_computed; });
    bisect::summarise(made.found);
    if (!bisects && there.trace != nullptr) bisect::name_line(made.found, *there.trace);
    made.moved = output_moved(here, there);
    made.furthest = furthest_of(made.found);
    if (made.found.first)
        made.causes = bisects ? bisected_causes(made.found) : causes_by_name(here, there, made.found.tolerance);
    for (const auto& at : {made.found.first, made.furthest})
        if (at && (made.pictures.empty() || at != made.found.first))
            if (auto picture = picture_of(here, there, made, *at)) made.pictures.push_back(std::move(*picture));
    return made;
}

}  // namespace decoderscope::core::report
