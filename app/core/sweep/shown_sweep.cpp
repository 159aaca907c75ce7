#include "app/core/sweep/shown_sweep.h"

#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/sweep/each.h"
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

namespace decoderscope::core::sweep {

namespace {

constexpr char kAnd = ';';

// How the shown model would be trained.
struct OwnTraining {
    static constexpr std::size_t kKept = 1;
    std::shared_ptr<const train::Recipe> recipe;
};

// ---- forms

bool is_one_number(const Tensor& value) { return value.size() == 1; }

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
    if (sweep.row.empty() || is_one_number(value)) {
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

// The longest of what the table's lines are called.
std::string longest_name(const Sweep& sweep) {
    std::string longest;
    for (const Result& result : sweep.results)
        if (std::string name = tr(where_sentence(sweep, result)); characters(name).size() > characters(longest).size())
            longest = std::move(name);
    return longest;
}

// ---- curves

std::string title_of(const Sweep& sweep) { return sweep.row.empty() ? tr("predictions changed") : sweep.title; }

// "q 3 “a”", or the row itself if it is one number.
std::string name_of_curve(const Scenario& scenario, const Sweep& sweep, Index number) {
    if (sweep.row.empty() || is_one_number(sweep.results.front().value)) return title_of(sweep);
    const Tensor& value = sweep.results.front().value;
    return PlaceNames(scenario, *sweep.step, long_axes(value), 0).place(value.cell(number));
}

double number_of(const Result& result, Index number) {
    return result.value.empty() ? number_of(result)
                                : static_cast<double>(result.value.values()[static_cast<std::size_t>(number)]);
}

// The row without any change, all along the curve.
DepthCurve unswept_curve(const Sweep& sweep, Index number) {
    DepthCurve curve{.name = tr("(unswept)")};
    const auto value = static_cast<double>(sweep.unswept->values()[static_cast<std::size_t>(number)]);
    for (std::size_t i : {std::size_t{0}, sweep.results.size() - 1})
        curve.points.push_back({static_cast<double>(i), value, {}});
    return curve;
}

Chart chart_of(const Scenario& scenario, const Sweep& sweep) {
    Chart chart{.name = "sweep",
                .title = title_of(sweep),
                .caption = tr("by {varied}", {{"varied", sweep.varied.front()}}),
                .blocks = static_cast<Index>(sweep.results.size()) - 1,
                .may_be_logarithmic = true,
                .curves = {},
                .across = sweep.varied.front()};
    for (const Result& result : sweep.results) chart.names.push_back(tr(result.at[0].text));
    const Index count = sweep.row.empty() ? 1 : sweep.results.front().value.size();
    for (Index number = 0; number < count; ++number) {
        DepthCurve curve{.name = name_of_curve(scenario, sweep, number)};
        for (std::size_t i = 0; i < sweep.results.size(); ++i)
            curve.points.push_back({static_cast<double>(i), number_of(sweep.results[i], number), chart.names[i]});
        const Rgba color = curve_color(static_cast<std::size_t>(number));
        chart.curves.push_back({curve.name, std::move(curve), color});
        if (sweep.unswept && sweep.unswept->axes() == sweep.results.front().value.axes())
            chart.curves.push_back({tr("(unswept)"), unswept_curve(sweep, number), color, true});
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

void finish(Heatmap& heatmap) {
    const bool below = std::ranges::any_of(heatmap.values, [](float value) { return value < 0.0F; });
    heatmap.scale = below ? Scale::diverging : Scale::sequential;
    heatmap.range = range_of(heatmap.values, heatmap.scale);
}

// Two things that vary, and one number of each run.
Heatmap grid_of(const Sweep& sweep) {
    Heatmap grid{.title = title_of(sweep), .row_axis = sweep.varied[0], .column_axis = sweep.varied[1]};
    const auto add_new = [](std::vector<std::string>& labels, const At& at) {
        const std::string text = tr(at.text);
        if (std::ranges::find(labels, text) == labels.end()) labels.push_back(text);
    };
    for (const Result& result : sweep.results) {
        add_new(grid.row_labels, result.at[0]);
        add_new(grid.column_labels, result.at[1]);
        grid.values.push_back(static_cast<float>(number_of(result)));
    }
    grid.rows = static_cast<Index>(grid.row_labels.size());
    grid.columns = static_cast<Index>(grid.column_labels.size());
    grid.values.resize(static_cast<std::size_t>(grid.rows * grid.columns),
                       std::numeric_limits<float>::quiet_NaN());  // if it was stopped
    finish(grid);
    return grid;
}

std::vector<std::string> labels_along(const Scenario& scenario, const Sweep& sweep, std::size_t axis) {
    return axis_labels(scenario, *sweep.step, axis, 0);
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
                    .column_labels = labels_along(scenario, sweep, axis)};
    for (const Result& result : sweep.results) {
        picture.row_labels.push_back(label_of(result));
        picture.values.insert(picture.values.end(), result.value.values().begin(), result.value.values().end());
    }
    finish(picture);
    return picture;
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
                    .row_labels = labels_along(scenario, sweep, rows),
                    .column_labels = labels_along(scenario, sweep, columns)};
    const auto size = static_cast<std::size_t>(picture.rows * picture.columns);
    const auto values = result.value.values().subspan(static_cast<std::size_t>(matrix) * size, size);
    picture.values.assign(values.begin(), values.end());
    const Cell cell = result.value.cell(matrix * picture.rows * picture.columns);
    const std::vector<std::size_t> outer(axes.begin(), axes.end() - 2);
    picture.subtitle = PlaceNames(scenario, *sweep.step, outer, 0).place(cell);
    finish(picture);
    return picture;
}

Index matrices_of(const Tensor& value) {
    const std::vector<std::size_t> axes = long_axes(value);
    return value.size() / (value.dim(axes[axes.size() - 2]) * value.dim(axes.back()));
}

// All in one range of colours, so that they can be compared.
void share_range(std::vector<Heatmap>& pictures) {
    if (pictures.empty()) return;
    Range range = pictures.front().range;
    const bool diverging =
        std::ranges::any_of(pictures, [](const Heatmap& one) { return one.scale == Scale::diverging; });
    for (const Heatmap& one : pictures) range = spanning(range, one.range);
    if (diverging) range.low = -(range.high = std::max(range.high, -range.low));
    for (Heatmap& one : pictures) {
        one.scale = diverging ? Scale::diverging : Scale::sequential;
        one.range = range;
    }
}

std::vector<Heatmap> pictures_of(const Scenario& scenario, const Sweep& sweep, Form form) {
    std::vector<Heatmap> pictures;
    if (form == Form::grid) pictures.push_back(grid_of(sweep));
    if (form == Form::rows) pictures.push_back(rows_of(scenario, sweep));
    if (form != Form::pictures) return pictures;
    for (const Result& result : sweep.results)
        for (Index matrix = 0; matrix < matrices_of(result.value) && pictures.size() < kMostPictures; ++matrix)
            pictures.push_back(matrix_of(scenario, sweep, result, matrix));
    share_range(pictures);
    return pictures;
}

// ---- a table as a picture

// A column of the table, in its order.
Heatmap column_of(const ShownSweep& shown, const std::string& title, const std::function<double(const Result&)>& of) {
    std::string varied;
    for (const std::string& name : shown.sweep.varied) varied += (varied.empty() ? "" : "; ") + name;
    Heatmap column{.title = title,
                   .row_axis = varied,
                   .column_axis = "value",
                   .rows = static_cast<Index>(shown.order.size()),
                   .columns = 1,
                   .column_labels = {"0"}};
    for (const std::size_t i : shown.order) {
        const Result& result = shown.sweep.results[i];
        column.row_labels.push_back(label_of(result));
        column.values.push_back(static_cast<float>(of(result)));
    }
    finish(column);
    return column;
}

double changed_of(const Result& result) {
    return result.predictions_changed ? static_cast<double>(*result.predictions_changed)
                                      : std::numeric_limits<double>::quiet_NaN();
}

// ---- asking

std::vector<std::string> things_that_vary(const std::string& vary) {
    std::vector<std::string> things(1);
    for (const char c : vary) {
        if (c == kAnd)
            things.emplace_back();
        else
            things.back() += c;
    }
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

// What a table, curves or a picture show, with what they show it of.
void arrange(ShownSweep& shown, const Scenario& scenario) {
    check_alike(shown.sweep);
    shown.form = form_of(shown.sweep);
    shown.order = largest_first(shown.sweep);
    shown.longest_name = longest_name(shown.sweep);
    if (shown.form == Form::curves) shown.chart = chart_of(scenario, shown.sweep);
    shown.pictures = pictures_of(scenario, shown.sweep, shown.form);
    if (shown.form == Form::pictures)
        shown.left_out =
            shown.sweep.results.size() * static_cast<std::size_t>(matrices_of(shown.sweep.results.front().value)) -
            shown.pictures.size();
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
    return is_one_number(result.value) ? static_cast<double>(result.value.values()[0])
                                       : std::numeric_limits<double>::quiet_NaN();
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

Asked asked(const Snapshot& shown, const SweepQuestion& question,
            const std::shared_ptr<const train::Recipe>& training) {
    Asked asked{.unswept = {.scenario = shown.scenario, .run = shown.run, .row = {}}, .points = {}};
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
        const Asked ready = asked(shown, question, training);
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
                answer.points.at(0).training_seed
                    ? training->title
                    : message("{title}, seed {seed}", {{"title", training->title}, {"seed", training->seed}});
        progress->all = answer.points.count;
        const SweepOptions options{.output = OfOutput::effect, .done = &progress->done};
        Unswept unswept = ready.unswept;
        Points points = ready.points;
        answer.sweep = co_await swept(std::move(unswept), std::move(points), options);
        arrange(answer, shown.scenario);
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
            return static_cast<std::size_t>(line * pictures.front().columns + column);
        case Form::rows:
            return static_cast<std::size_t>(line);
        case Form::pictures:
            return picture / static_cast<std::size_t>(matrices_of(sweep.results.front().value));
        case Form::table:
        case Form::curves:
        case Form::found:
            break;
    }
    return static_cast<std::size_t>(column);
}

Sentence summary_sentence(const ShownSweep& shown) {
    if (shown.found) return found_sentence(*shown.found, text_of(shown.row));
    if (Sentence nan = nan_sentence(shown.sweep); !nan.empty()) return nan;
    const bool leave_out = shown.points.leave_out && shown.sweep.predicts;
    const Sentence changes =
        leave_out ? left_out_sentence(shown.sweep, shown.points.off) : changes_sentence(shown.sweep);
    if (shown.training.empty()) return changes;
    return message("{sentence} The weights are those of a training from new ones: {title}.",
                   {{"sentence", changes}, {"title", shown.training}});
}

Variation kept_variation(const ShownSweep& shown, std::size_t result) {
    return with_row(shown.points.at(shown.sweep.results[result].point), shown.row);
}

Sentence obstacle_to_keeping(const ShownSweep& shown, std::size_t result) {
    if (!shown.points.at(shown.sweep.results[result].point).training_step) return {};
    return message("Its weights are of a training: Train (F) saves and opens them.");
}

Variation found_variation(const ShownSweep& shown) { return with_row(shown.found->point, shown.row); }

Exhibit sweep_exhibit(const Scenario& scenario, const ShownSweep& shown) {
    Exhibit exhibit{.title = title_of(shown.sweep),
                    .subtitle = tr(summary_sentence(shown)),
                    .caption = caption_of(scenario, "sweep", "")};
    if (shown.form == Form::curves) exhibit.charts.push_back(chart_of(scenario, shown.sweep));
    if (shown.form == Form::table) {
        if (!shown.sweep.row.empty())
            exhibit.panels.push_back(panel_of(
                "sweep", column_of(shown, shown.sweep.title, [](const Result& result) { return number_of(result); })));
        if (shown.sweep.predicts)
            exhibit.panels.push_back(panel_of("predictions", column_of(shown, tr("predictions changed"), changed_of)));
    }
    for (Heatmap& picture : pictures_of(scenario, shown.sweep, shown.form))
        exhibit.panels.push_back(panel_of("sweep", std::move(picture)));
    for (std::size_t i = 0; shown.form == Form::pictures && i < exhibit.panels.size(); ++i)
        exhibit.panels[i].label = std::to_string(i);
    exhibit.columns = 4;
    exhibit.alike = shown.form == Form::pictures;
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

}  // namespace decoderscope::core::sweep
