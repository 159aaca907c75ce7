#include "app/core/ask/question.h"

#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/train/step_models.h"
#include "app/core/train/training_plan.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/tables.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace decoderscope::core::ask {

namespace {

constexpr int kDigits = 5;

// How the shown model would be trained.
struct OwnTraining {
    static constexpr std::size_t kKept = 1;
    std::shared_ptr<const train::Recipe> recipe;
};

// ---- forms

// The axes along which there is more than one number.
std::vector<std::size_t> long_axes(const Tensor& value) {
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < value.rank(); ++i)
        if (value.dim(i) > 1) axes.push_back(i);
    return axes;
}

Form form_of(const Sweep& sweep) {
    const bool by_number =
        sweep.varied.size() == 1 && sweep.results.size() > 2 &&
        std::ranges::all_of(sweep.results, [](const Result& one) { return one.at[0].number.has_value(); });
    const Tensor& value = sweep.results.front().value;
    if (sweep.row.empty() || value.size() == 1) {
        if (!continuations_sentence(sweep).empty()) return Form::table;
        if (sweep.varied.size() == 2) return Form::grid;
        return by_number ? Form::curves : Form::table;
    }
    if (long_axes(value).size() > 1) return Form::pictures;
    return by_number && static_cast<std::size_t>(value.size()) <= kMostCurves ? Form::curves : Form::rows;
}

// The largest number first, NaN last; of equal ones, what changes most.
std::vector<std::size_t> largest_first(const Sweep& sweep) {
    std::vector<std::size_t> order(sweep.results.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
        const Result& result = sweep.results[i];
        const double number = number_of(result);
        return std::make_tuple(std::isnan(number), std::isnan(number) ? 0.0 : -number,
                               -result.predictions_changed.value_or(0), result.effect ? -result.effect->largest : 0.0);
    };
    std::ranges::stable_sort(order, {}, key);
    return order;
}

// ---- curves

std::string title_of(const Sweep& sweep) { return sweep.row.empty() ? tr("predictions changed") : sweep.title; }

// A curve for each of the row's numbers, "q 3 “a”", and beside it the number without any change.
Chart chart_of(const Scenario& scenario, const Sweep& sweep) {
    Chart chart{.name = "sweep",
                .title = title_of(sweep),
                .caption = tr("by {varied}", {{"varied", sweep.varied.front()}}),
                .blocks = static_cast<Index>(sweep.results.size()) - 1,
                .may_be_logarithmic = true,
                .curves = {},
                .across = sweep.varied.front()};
    for (const Result& result : sweep.results) {
        if (result.predictions_changed.value_or(0) > 0) chart.marks.push_back(static_cast<double>(chart.names.size()));
        chart.names.push_back(tr(result.at[0].text));
    }
    const Tensor& first = sweep.results.front().value;
    const auto count = static_cast<std::size_t>(sweep.row.empty() ? 1 : first.size());
    const auto number_in = [](const Tensor& value, std::size_t n) { return static_cast<double>(value.values()[n]); };
    for (std::size_t n = 0; n < count; ++n) {
        DepthCurve curve{.name = title_of(sweep)}, unswept{.name = tr("(unswept)")};
        if (count > 1)
            curve.name =
                PlaceNames(scenario, *sweep.step, long_axes(first), 0).place(first.cell(static_cast<Index>(n)));
        for (const Result& result : sweep.results) {
            const std::size_t i = curve.points.size();
            curve.points.push_back({static_cast<double>(i),
                                    sweep.row.empty() ? number_of(result) : number_in(result.value, n),
                                    chart.names[i]});
        }
        const Rgba color = curve_color(n);
        if (sweep.unswept && sweep.unswept->axes() == first.axes())
            unswept.points = {{0.0, number_in(*sweep.unswept, n), {}},
                              {static_cast<double>(chart.blocks), number_in(*sweep.unswept, n), {}}};
        chart.curves.push_back({curve.name, std::move(curve), color});
        if (!unswept.points.empty()) chart.curves.push_back({unswept.name, std::move(unswept), color, true});
    }
    return chart;
}

// ---- pictures

// What varies in a run, and what it is there: "0.5; true".
std::string label_of(const Result& result) {
    std::string label;
    for (const At& at : result.at) label += (label.empty() ? "" : "; ") + tr(at.text);
    return label;
}

Heatmap colored(Heatmap picture) {
    const bool below = std::ranges::any_of(picture.values, [](float value) { return value < 0.0F; });
    picture.scale = below ? Scale::diverging : Scale::sequential;
    picture.range = range_of(picture.values, picture.scale);
    return picture;
}

// Two things that vary, and one number of each run: by their places, because a value may be there twice.
Heatmap grid_of(const ShownSweep& shown) {
    const Sweep& sweep = shown.sweep;
    const Points& points = shown.points;
    Heatmap grid{.title = title_of(sweep),
                 .row_axis = sweep.varied[0],
                 .column_axis = sweep.varied[1],
                 .rows = static_cast<Index>(points.count / points.columns),
                 .columns = static_cast<Index>(points.columns)};
    for (std::size_t i = 0; i < points.count; i += points.columns)
        grid.row_labels.push_back(tr(points.at(i).at[0].text));
    for (std::size_t i = 0; i < points.columns; ++i) grid.column_labels.push_back(tr(points.at(i).at[1].text));
    grid.values.assign(points.count, std::numeric_limits<float>::quiet_NaN());  // if it was stopped
    for (const Result& result : sweep.results) grid.values[result.point] = static_cast<float>(number_of(result));
    return colored(std::move(grid));
}

// A row for each run.
Heatmap rows_of(const Scenario& scenario, const Sweep& sweep) {
    const Tensor& first = sweep.results.front().value;
    const std::size_t axis = long_axes(first).front();
    Heatmap picture{.title = sweep.title,
                    .row_axis = sweep.varied.front(),
                    .column_axis = std::string(first.axes()[axis].name),
                    .rows = static_cast<Index>(sweep.results.size()),
                    .columns = first.dim(axis),
                    .column_labels = axis_labels(scenario, *sweep.step, axis, 0)};
    for (const Result& result : sweep.results) {
        picture.row_labels.push_back(label_of(result));
        picture.values.insert(picture.values.end(), result.value.values().begin(), result.value.values().end());
    }
    return colored(std::move(picture));
}

// A matrix of one run: the row's last two long axes, at one place of those before them.
Heatmap matrix_of(const Scenario& scenario, const Sweep& sweep, const Result& result, Index matrix) {
    const std::vector<std::size_t> axes = long_axes(result.value);
    const std::size_t rows = axes[axes.size() - 2], columns = axes.back();
    Heatmap picture{.title = tr(where_sentence(sweep, result)),
                    .row_axis = std::string(result.value.axes()[rows].name),
                    .column_axis = std::string(result.value.axes()[columns].name),
                    .rows = result.value.dim(rows),
                    .columns = result.value.dim(columns),
                    .row_labels = axis_labels(scenario, *sweep.step, rows, 0),
                    .column_labels = axis_labels(scenario, *sweep.step, columns, 0)};
    const auto size = static_cast<std::size_t>(picture.rows * picture.columns);
    const auto values = result.value.values().subspan(static_cast<std::size_t>(matrix) * size, size);
    picture.values.assign(values.begin(), values.end());
    const Cell cell = result.value.cell(matrix * picture.rows * picture.columns);
    const std::vector<std::size_t> outer(axes.begin(), axes.end() - 2);
    picture.subtitle = PlaceNames(scenario, *sweep.step, outer, 0).place(cell);
    return colored(std::move(picture));
}

Index matrices_of(const Tensor& value) {
    const std::vector<std::size_t> axes = long_axes(value);
    return value.size() / (value.dim(axes[axes.size() - 2]) * value.dim(axes.back()));
}

std::vector<Heatmap> pictures_of(const Scenario& scenario, const ShownSweep& shown, std::size_t most) {
    const Sweep& sweep = shown.sweep;
    if (shown.form == Form::grid) return {grid_of(shown)};
    if (shown.form == Form::rows) return {rows_of(scenario, sweep)};
    std::vector<Heatmap> pictures;
    for (const Result& result : sweep.results)
        for (Index matrix = 0; matrix < matrices_of(result.value) && pictures.size() < most; ++matrix)
            pictures.push_back(matrix_of(scenario, sweep, result, matrix));
    // All in one range of colours, so that they can be compared.
    std::vector<float> ends;
    for (const Heatmap& one : pictures) ends.insert(ends.end(), {one.range.low, one.range.high});
    const Heatmap all = colored({.values = std::move(ends)});
    for (Heatmap& one : pictures) {
        one.scale = all.scale;
        one.range = all.range;
    }
    return pictures;
}

// ---- tables

double changed_of(const Result& result) {
    return result.predictions_changed ? static_cast<double>(*result.predictions_changed)
                                      : std::numeric_limits<double>::quiet_NaN();
}

std::string names_of(const std::vector<std::string>& varied) {
    std::string names;
    for (const std::string& name : varied) names += (names.empty() ? "" : "; ") + name;
    return names;
}

// The runs, the largest number first, and what each does to the output.
Table table_of(const ShownSweep& shown) {
    const Table runs = ask::table_of(shown.sweep, kDigits, 1);
    Table table{.about = names_of(shown.sweep.varied), .columns = runs.columns, .rows = {}};
    for (Column& column : table.columns)
        if (column.unit == Unit::number)
            column.title = column.name == "value" ? Sentence::verbatim(shown.sweep.title) : message("predictions");
    const bool has_effects =
        std::ranges::any_of(shown.sweep.results, [](const Result& result) { return result.effect.has_value(); });
    if (has_effects) table.columns.push_back({"effect", Sentence::verbatim(" ")});
    for (const std::size_t i : shown.order) {
        const Result& result = shown.sweep.results[i];
        TableRow& row = table.rows.emplace_back(runs.rows[i]);
        row.name = where_sentence(shown.sweep, result);
        if (has_effects) row.entries.emplace_back();
        if (result.effect)
            row.entries.back() = result.effect->changes.empty() ? result.effect->said : result.effect->changes;
    }
    return table;
}

// A column of the table as a picture, in its order.
Heatmap column_of(const ShownSweep& shown, const std::string& title, double (*of)(const Result&)) {
    Heatmap column{.title = title,
                   .row_axis = names_of(shown.sweep.varied),
                   .column_axis = "value",
                   .rows = static_cast<Index>(shown.order.size()),
                   .columns = 1,
                   .column_labels = {"0"}};
    for (const std::size_t i : shown.order) {
        column.row_labels.push_back(label_of(shown.sweep.results[i]));
        column.values.push_back(static_cast<float>(of(shown.sweep.results[i])));
    }
    return colored(std::move(column));
}

// ---- asking

std::vector<std::string> things_that_vary(const std::string& vary) {
    std::vector<std::string> things(1);
    for (const char c : vary)
        if (c == ';')
            things.emplace_back();
        else
            things.back() += c;
    return things;
}

// Why the output of some runs can't be compared; empty if all can be.
Sentence nan_sentence(const Sweep& sweep) {
    const auto stays = [](const Result& result) { return result.effect && result.effect->stays_nan > 0; };
    const auto count = std::ranges::count_if(sweep.results, stays);
    if (count == 0) return {};
    return message_n("In {count} run, {output} still has NaN, which can't be compared.",
                     "In {count} runs, {output} still has NaN, which can't be compared.", count,
                     {{"output", std::ranges::find_if(sweep.results, stays)->effect->output}});
}

// How many of those that are left out, one at a time, change no prediction.
Sentence left_out_sentence(const Sweep& sweep, std::size_t off) {
    const auto changes_none = [](const Result& result) { return result.predictions_changed == 0; };
    const Sentence safe =
        message_n("{safe} of {count} can be left out without changing a prediction.",
                  "{safe} of {count} can each be left out without changing a prediction.", sweep.results.size(),
                  {{"safe", std::ranges::count_if(sweep.results, changes_none)}});
    if (off == 0) return safe;
    return message(
        "{rest} {off}",
        {{"rest", safe}, {"off", message_n("{count} more is off already.", "{count} more are off already.", off)}});
}

// In how many runs predictions change, and where first.
Sentence changes_sentence(const Sweep& sweep) {
    const Sentence runs = message_n("{count} run", "{count} runs", sweep.results.size());
    if (!sweep.predicts) return message("{runs}.", {{"runs", runs}});
    const auto changes = [](const Result& result) { return result.predictions_changed.value_or(0) > 0; };
    const auto changed = std::ranges::count_if(sweep.results, changes);
    if (changed == 0) return message("{runs}; no prediction changes in any of them.", {{"runs", runs}});
    const Result& first = *std::ranges::find_if(sweep.results, changes);
    return message_n("{runs}; predictions change in {count} of them, {where}.",
                     "{runs}; predictions change in {count} of them, first at {where}.", changed,
                     {{"runs", runs}, {"where", where_sentence(sweep, first)}});
}

// What a run differs in, and the row as its formula is there.
Variation with_row(Point point, const Row& row) {
    if (row.added) point.variation.more_edits.emplace_back(with_numbers(*row.added, point.numbers));
    return std::move(point.variation);
}

// ---- proposals

constexpr const char* kAround = ":21";

// Two round numbers around one, neither of them negative if it must not be.
std::string range_around(double value, bool positive) {
    const double size = std::max(std::abs(value), 1e-30);
    const double decade = std::pow(10.0, std::floor(std::log10(size)));
    const double high = value == 0.0 ? 1.0 : std::ceil((value + size) / decade) * decade;
    const double low = positive ? high / 20.0 : value == 0.0 ? -1.0 : std::floor((value - size) / decade) * decade;
    const auto text = [](double number) { return short_number_text(number, 6); };
    std::string range = text(low) + ".." + text(high) + kAround;
    for (std::size_t minus = range.find("−"); minus != std::string::npos; minus = range.find("−"))
        range.replace(minus, std::string_view("−").size(), "-");
    return range;
}

// Whether this run has what it varies, and what the row reads.
bool can_be_asked(const Snapshot& shown, const SweepQuestion& question,
                  const std::shared_ptr<const train::Recipe>& training) {
    try {
        static_cast<void>(asked(shown, question, training));
        return question.seek.empty() || shown.scenario.computes();
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

// ---- the answer

double number_of(const Result& result) {
    if (result.value.empty()) return changed_of(result);
    return result.value.size() == 1 ? static_cast<double>(result.value.values()[0])
                                    : std::numeric_limits<double>::quiet_NaN();
}

std::string text_of_value(const Result& result) {
    constexpr std::size_t few = 6;
    const std::span<const float> numbers = result.value.values();
    std::string text;
    for (const float value : numbers.first(std::min(few, numbers.size())))
        text += (text.empty() ? "" : ", ") + number_text(static_cast<double>(value), kDigits);
    return text + (numbers.size() > few ? " …" : "");
}

Sentence where_sentence(const Sweep& sweep, const Result& result) {
    Sentence all;
    for (std::size_t i = 0; i < result.at.size(); ++i) {
        const Arguments one = {{"name", sweep.varied[i]}, {"value", result.at[i].text}};
        const Sentence where =
            result.at[i].is_value ? Sentence(message("{name} = {value}", one)) : Sentence(result.at[i].text);
        all = i == 0 ? where : message("{before}; {where}", {{"before", all}, {"where", where}});
    }
    return all;
}

AskedSweep asked(const Snapshot& shown, const SweepQuestion& question,
                 const std::shared_ptr<const train::Recipe>& training) {
    AskedSweep asked{.unswept = {.scenario = shown.scenario, .run = shown.run, .row = {}}, .points = {}};
    const std::shared_ptr<const load::Model>& model = shown.scenario.model();  // a recording has nothing to vary
    if (training) asked.unswept.trained = train::models_by_step(training, model);
    const bool seeks = !trimmed(question.seek).empty();
    if (seeks || !trimmed(question.row).empty()) asked.unswept.row = row_from(question.row, shown.run->plan());
    if (const std::optional<AddRow>& row = asked.unswept.row.added)  // in place of one that was kept before
        std::erase_if(asked.unswept.scenario.edits, [&](const Edit& edit) {
            const auto* own = std::get_if<AddRow>(&edit);
            return own != nullptr && row_name(*own) == row_name(*row);
        });
    if (seeks) return asked;
    const std::vector<std::string> things = things_that_vary(question.vary);
    if (things.size() > 2)
        throw Error("“{vary}”: {count} things that vary, expected one, or two with a “;” between them",
                    {{"vary", question.vary}, {"count", things.size()}});
    asked.points = points_of(things, asked.unswept);
    return asked;
}

Resumable<ShownSweep> answered(Snapshot shown, SweepQuestion question, SharedProgress progress,
                               std::shared_ptr<const train::Recipe> training) {
    if (progress == nullptr) progress = std::make_shared<WorkProgress>();
    progress->done = 0;
    progress->all = 0;
    ShownSweep answer;
    try {
        const AskedSweep ready = asked(shown, question, training);
        answer.row = ready.unswept.row;
        if (!trimmed(question.seek).empty()) {
            answer.form = Form::found;
            Unswept from = ready.unswept;
            std::string vary = question.vary;
            answer.found =
                co_await sought(std::move(from), std::move(vary), target_from(question.seek), &progress->done);
            co_return answer;
        }
        answer.points = ready.points;
        if (training && answer.points.at(0).training_step)
            answer.training =
                answer.points.at(0).training.seed
                    ? training->title
                    : message("{title}, seed {seed}", {{"title", training->title}, {"seed", training->seed}});
        progress->all = answer.points.count;
        const SweepOptions options{.output = OfOutput::effect, .done = &progress->done};
        Unswept unswept = ready.unswept;
        Points points = ready.points;
        answer.sweep = co_await swept(std::move(unswept), std::move(points), options);
        check_alike(answer.sweep);
        answer.form = form_of(answer.sweep);
        answer.order = largest_first(answer.sweep);
    } catch (const Error& error) {
        answer.error = error.sentence();
    }
    co_return answer;
}

Value<ShownSweep> shown_sweep(Derived& derived, const Snapshot& shown, const SweepQuestion& question,
                              const SharedProgress& progress, const std::shared_ptr<const train::Recipe>& training) {
    return derived.later<ShownSweep>({shown.run, shown.scenario.other_run, training},
                                     std::make_tuple(question.vary, question.row, question.seek),
                                     [&] { return answered(shown, question, progress, training); });
}

std::shared_ptr<const train::Recipe> training_of(Derived& derived, const Snapshot& shown,
                                                 std::span<const train::SeenTraining> seen) {
    if (!shown.scenario.computes()) return nullptr;
    const std::string config = config_to_json(shown.scenario.config());
    const auto found = std::ranges::find_if(
        seen, [&](const train::SeenTraining& one) { return config_to_json(one.recipe->config) == config; });
    if (found != seen.end()) return found->recipe;
    const std::shared_ptr<const load::Model>& model = shown.scenario.model();
    return derived
        .get<OwnTraining>({model}, std::tie(config),
                          [&] { return OwnTraining{train::recipe_for(*model, shown.scenario.config())}; })
        ->recipe;
}

std::size_t ShownSweep::result_at(std::size_t picture, Index line, Index column) const {
    switch (form) {
        case Form::grid:
            return static_cast<std::size_t>(line) * points.columns + static_cast<std::size_t>(column);
        case Form::rows:
            return static_cast<std::size_t>(line);
        case Form::pictures:
            return picture / static_cast<std::size_t>(matrices_of(sweep.results.front().value));
        case Form::table:
            return order[static_cast<std::size_t>(line)];
        case Form::curves:
        case Form::found:
            break;
    }
    return static_cast<std::size_t>(column);
}

Sentence summary_sentence(const ShownSweep& shown) {
    if (shown.found) return found_sentence(*shown.found, text_of(shown.row));
    if (Sentence nan = nan_sentence(shown.sweep); !nan.empty()) return nan;
    if (Sentence drawn = continuations_sentence(shown.sweep); !drawn.empty()) return drawn;
    const bool leave_out = shown.points.leave_out && shown.sweep.predicts;
    Sentence changes = leave_out ? left_out_sentence(shown.sweep, shown.points.off) : changes_sentence(shown.sweep);
    if (shown.form == Form::table && !shown.sweep.row.empty()) {
        const Result& first = shown.sweep.results[shown.order.front()];
        changes = message(
            "{sentence} The largest number is {number}, {where}.",
            {{"sentence", changes}, {"number", text_of_value(first)}, {"where", where_sentence(shown.sweep, first)}});
    }
    if (shown.training.empty()) return changes;
    return message("{sentence} The weights are those of a training from new ones: {title}.",
                   {{"sentence", changes}, {"title", shown.training}});
}

Variation kept_variation(const ShownSweep& shown, std::size_t result) {
    return with_row(shown.points.at(shown.sweep.results[result].point), shown.row);
}

Sentence obstacle_to_keeping(const ShownSweep& shown, std::size_t result) {
    const Point point = shown.points.at(shown.sweep.results[result].point);
    if (!point.same_text()) return message("Its text is another one: type it, or draw it in Generate.");
    if (!point.training_step) return {};
    return message("Its weights are of a training: Train (F) saves and opens them.");
}

Variation found_variation(const ShownSweep& shown) { return with_row(shown.found->point, shown.row); }

Answer answer_of(const Scenario& scenario, const ShownSweep& shown, std::size_t most_pictures) {
    if (!shown.error.empty()) return {.said = {shown.error}};
    Answer answer{.title = Sentence::verbatim(title_of(shown.sweep)),
                  .subtitle = summary_sentence(shown),
                  .said = {summary_sentence(shown)}};
    if (shown.found) return answer;
    AnswerPart part{.name = "sweep", .meaning = Meaning::attention};
    if (shown.form == Form::table) {
        part.table = table_of(shown);
    } else if (shown.form == Form::curves) {
        part.chart = chart_of(scenario, shown.sweep);
    } else {
        part.pictures = pictures_of(scenario, shown, most_pictures);
        const Tensor& value = shown.sweep.results.front().value;
        const std::size_t all = shown.form == Form::pictures
                                    ? shown.sweep.results.size() * static_cast<std::size_t>(matrices_of(value))
                                    : part.pictures.size();
        if (all > part.pictures.size())
            answer.said.push_back(message_n("{count} picture more is in the export.",
                                            "{count} pictures more are in the export.", all - part.pictures.size()));
    }
    answer.parts.push_back(std::move(part));
    return answer;
}

Exhibit sweep_exhibit(const Scenario& scenario, const ShownSweep& shown) {
    Answer answer = answer_of(scenario, shown, std::numeric_limits<std::size_t>::max());
    const bool is_table = shown.form == Form::table;
    if (is_table) answer.parts.clear();
    Exhibit exhibit = exhibit_of(answer);
    exhibit.caption = caption_of(scenario, "sweep", "");
    if (is_table && !shown.sweep.row.empty())
        exhibit.panels.push_back(panel_of("sweep", column_of(shown, shown.sweep.title, number_of)));
    if (is_table && shown.sweep.predicts)
        exhibit.panels.push_back(panel_of("predictions", column_of(shown, tr("predictions changed"), changed_of)));
    exhibit.alike = shown.form == Form::pictures;
    for (std::size_t i = 0; exhibit.alike && i < exhibit.panels.size(); ++i)
        exhibit.panels[i].label = std::to_string(i);
    exhibit.columns = 4;
    return exhibit;
}

// ---- what can be asked

const std::vector<ReadyQuestion>& ready_questions() {
    static const std::vector<ReadyQuestion> all = [] {
        std::vector<ReadyQuestion> questions;
        for (const OrderedJson& one : asset_table("sweeps")) {
            const auto text = [&](const char* key) { return one.value(key, std::string()); };
            questions.push_back({{text("vary"), text("row"), text("seek")},
                                 asset_phrase(one.at("title").get_ref<const std::string&>()),
                                 text("words")});
        }
        return questions;
    }();
    return all;
}

Value<ReadyQuestions> ready_questions(Derived& derived, const Snapshot& shown, const OnStage& stage,
                                      const std::shared_ptr<const train::Recipe>& training) {
    const Index head = std::max<Index>(stage.place.head, 0);
    const auto make = [&] {
        const Arguments places = {{"attention", stage.attention}, {"batch", stage.place.batch}, {"head", head}};
        ReadyQuestions ready;
        for (ReadyQuestion one : ready_questions()) {
            one.question.row =
                filled(one.question.row, places, [](const Sentence& sentence) { return sentence.english(); });
            if (can_be_asked(shown, one.question, training)) ready.fitting.push_back(std::move(one));
        }
        return ready;
    };
    return derived.get<ReadyQuestions>({shown.run, shown.scenario.other_run, training},
                                       std::tie(stage.attention, stage.place.batch, head), make);
}

Value<Proposals> proposals(Derived& derived, const Snapshot& shown, const std::string& row, const std::string& step,
                           const std::optional<Cell>& cell) {
    const Cell key = cell.value_or(Cell());
    return derived.get<Proposals>({shown.run}, std::tie(row, step, key), [&] {
        Proposals made;
        const Plan& plan = shown.run->plan();
        const Ref at = plan.find(step);
        const Tensor values = at == nullptr ? Tensor() : shown.run->value(at->id);
        if (cell && values.contains(*cell)) {
            const std::string name = cell_name(step, *cell);
            made.vary.push_back(name + "=" + range_around(static_cast<double>(values.at(*cell)), false));
            made.rows.push_back(name);
        }
        std::ranges::copy_if(names_of_each(), std::back_inserter(made.vary), [&](const std::string& each) {
            return can_be_asked(shown, {each, {}}, nullptr);
        });
        for (const auto& [name, value] : config_values(shown.scenario.config())) {
            const std::optional<double> number = number_from(value);
            if (number && value.find_first_of(".e") != std::string::npos)
                made.vary.push_back(name + "=" + range_around(*number, *number >= 0.0));
        }
        if (shown.scenario.config().dropout > 0.0) made.vary.emplace_back("dropout_seed=1..10:10");
        if (row.find(kTemperature) != std::string::npos) made.vary.push_back(std::string(kTemperature) + "=0.1..2:20");
        for (const Edit& edit : shown.scenario.edits)
            if (const auto* own = std::get_if<AddRow>(&edit)) made.rows.push_back(row_name(*own));
        if (at != nullptr) made.rows.push_back(step);
        return made;
    });
}

}  // namespace decoderscope::core::ask
