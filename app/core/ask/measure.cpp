#include "app/core/ask/measure.h"

#include "app/core/ask/question.h"
#include "app/core/figure/csv_and_json.h"
#include "app/core/generate/generator.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ostream>
#include <span>

namespace decoderscope::core::ask {

namespace {

// "attention_scale = 0.5; norm_first = true"
std::string text_of(const std::vector<std::string>& varied, const std::vector<At>& at) {
    std::string text;
    for (std::size_t i = 0; i < at.size(); ++i) text += (i == 0 ? "" : "; ") + varied[i] + " = " + at[i].text.english();
    return text;
}

// The scenario of one run, without the row. `trained`: the model of the point's training step; nullptr if it has none.
Scenario scenario_at(const Unswept& unswept, const Point& point, std::shared_ptr<const load::Model> trained) {
    Scenario scenario = unswept.scenario;
    if (trained != nullptr) scenario.set_model(std::move(trained));
    if (point.inputs) scenario.inputs = point.inputs(std::move(scenario.inputs));
    return varied(std::move(scenario), point.variation);
}

// The text with what is drawn behind it, which is returned as a text, too.
Resumable<std::pair<Scenario, std::string>> continued(Scenario scenario, Sample sample, std::stop_token stop) {
    std::string text;
    const Scenario start = scenario;
    for (Index row = 0; row < start.batch(); ++row) {
        generate::Generator generator(start, row, {.temperature = sample.temperature, .seed = *sample.seed});
        std::vector<Index> drawn;
        for (Index i = 0; i < sample.length && !stop.stop_requested(); ++i) {
            const std::optional<Index> token = generator.next();
            if (!token) break;
            drawn.push_back(*token);
            scenario = generate::with_token(std::move(scenario), row, *token);
            co_yield kPause;
        }
        if (row > 0) text += '\n';
        if (scenario.tokenizer().size() > 0)
            text += valid_utf8(scenario.tokenizer().decode(drawn));
        else
            for (const Index token : drawn)
                text += (text.empty() || text.back() == '\n' ? "" : " ") + std::to_string(token);
    }
    co_return std::pair(std::move(scenario), std::move(text));
}

// The plan of one run, with the row.
std::shared_ptr<const Plan> plan_at(const Unswept& unswept, const Point& point, Scenario scenario) {
    for (const AddRow& row : unswept.row.before) scenario.edits.emplace_back(with_numbers(row, point.numbers));
    if (unswept.row.added) scenario.edits.emplace_back(with_numbers(*unswept.row.added, point.numbers));
    return plan_of(with_gradients_read(std::move(scenario)));
}

const Step& row_in(const Plan& plan, const Row& row, std::size_t runs) {
    const Ref step = plan.find(row.tensor);
    if (step == nullptr) throw Error("{tensor}: this run has no such tensor", {{"tensor", row.tensor}});
    const Index numbers = element_count(step->axes);
    if (numbers > kMostNumbers / static_cast<Index>(runs))
        throw Error(
            "{row}: {numbers} numbers in each of {runs} runs, expected at most {most} in all: watch a mean, a sum or "
            "some of its cells",
            {{"row", row.tensor}, {"numbers", grouped(numbers)}, {"runs", runs}, {"most", grouped(kMostNumbers)}});
    return *step;
}

// How many predictions a run changed; nothing if its output can't be compared.
std::optional<Index> changed_predictions(const Unswept& unswept, const Step& output, const Run& run) {
    const Tensor &before = unswept.run->value(output.id), &after = run.value(output.name);
    if (after.axes() != before.axes() || before.rank() != 3) return std::nullopt;
    if (after.shares_values_with(before)) return 0;
    return count_of_changed_predictions(before, after, padding_of(unswept.scenario));
}

std::optional<Effect> effect_of(const Scenario& scenario, const OutputMoves& moves) {
    if (moves.output.empty()) return std::nullopt;
    return Effect{.output = moves.output,
                  .predicts = moves.predicts,
                  .positions = moves.positions,
                  .changed = static_cast<Index>(moves.changed.size()),
                  .lost = moves.lost,
                  .stays_nan = moves.stays_nan,
                  .largest = moves.largest,
                  .changes = changes_sentence(scenario, moves),
                  .said = moves_sentence(scenario, moves, Mood::would)};
}

// What is computed of each run.
struct Wanted {
    std::size_t runs = 0;
    OfOutput of_output = OfOutput::nothing;
    Ref output = nullptr;  // of the unswept run; nullptr if nothing is asked of it

    [[nodiscard]] bool predictions() const { return output != nullptr && predicts_tokens(*output); }
};

Wanted wanted_of(const Unswept& unswept, std::size_t runs, OfOutput of_output) {
    Wanted wanted{runs, of_output, of_output == OfOutput::nothing ? nullptr : output_step(unswept.run->plan())};
    if (of_output == OfOutput::predictions && !wanted.predictions()) wanted.output = nullptr;
    return wanted;
}

struct Computed {
    Result result;
    std::optional<Step> row;
};

// One run's row, and what it changed. Nothing if it was stopped.
Resumable<std::optional<Computed>> computed_at(const Unswept& unswept, Point point, Wanted wanted,
                                               std::stop_token stop) {
    std::shared_ptr<const load::Model> trained;
    if (point.training_step) {
        point.training.step = *point.training_step;
        Resumable<std::shared_ptr<const load::Model>> training = unswept.trained(point.training);
        while (!training.advance()) {
            if (stop.stop_requested()) co_return std::nullopt;
            co_yield kPause;
        }
        trained = training.result();
    }
    if (point.model) trained = point.model();
    std::pair<Scenario, std::string> begun{scenario_at(unswept, point, std::move(trained)), ""};
    if (point.sample.seed) {
        Scenario start = std::move(begun.first);
        const Sample sample = point.sample;
        begun = co_await continued(std::move(start), sample, stop);
    }
    if (!point.same_text()) wanted.output = nullptr;  // is as long as the text
    const std::shared_ptr<const Plan> plan = plan_at(unswept, point, std::move(begun.first));
    const Step* row = unswept.row.tensor.empty() ? nullptr : &row_in(*plan, unswept.row, wanted.runs);
    const NeededSteps needed = needed_steps(*plan, [&](const Step& step) {
        return &step == row || (wanted.output != nullptr && step.name == wanted.output->name);
    });
    const bool row_alone =
        row != nullptr && wanted.output == nullptr && unswept.row.added && unswept.row.before.empty();
    // By names: GCC 12 destroys temporary arguments of what is awaited twice.
    const ExecuteOptions options{.previous = unswept.run.get(),
                                 .stop = std::move(stop),
                                 .needed = &needed,
                                 .row_read = row_alone ? row_read_by(*unswept.row.added, *plan) : std::nullopt};
    const std::shared_ptr<const Run> run = co_await execute_in_slices(plan, options);
    if (run == nullptr) co_return std::nullopt;
    Computed computed;
    Result& result = computed.result;
    result.at = std::move(point.at);
    result.continuation = std::move(begun.second);
    if (row != nullptr) {
        result.value = run->value(row->id);
        computed.row = *row;
    }
    if (wanted.output != nullptr && wanted.of_output == OfOutput::effect) {
        const Tensor mask = padding_of(unswept.scenario);
        const OutputMoves moves = co_await output_moves(unswept.run, run, mask);
        result.effect = effect_of(unswept.scenario, moves);
        if (result.effect && result.effect->predicts) result.predictions_changed = result.effect->changed;
    } else if (wanted.output != nullptr) {
        result.predictions_changed = changed_predictions(unswept, *wanted.output, *run);
    }
    co_return computed;
}

// The row without any change; nothing if only the varied runs have it, or if it was stopped.
Resumable<std::optional<Tensor>> unswept_row(const Unswept& unswept, std::size_t runs, std::stop_token stop) {
    try {
        Point unchanged;
        const Wanted row_alone{.runs = runs};
        std::optional<Computed> plain = co_await computed_at(unswept, std::move(unchanged), row_alone, std::move(stop));
        if (plain) co_return std::move(plain->result.value);
    } catch (const Error&) {
        // As a row of what only dropout adds.
    }
    co_return std::nullopt;
}

}  // namespace

Resumable<Sweep> swept(Unswept unswept, Points points, SweepOptions options, std::stop_token stop) {
    // Where only numbers in the row's formula vary, every run's output is the same.
    const bool same_pass = points.count > 0 && points.at(0).is_same_pass();
    const Wanted wanted = wanted_of(unswept, points.count, same_pass ? OfOutput::nothing : options.output);
    Sweep sweep{.row = unswept.row.tensor,
                .title = text_of(unswept.row),
                .varied = points.varied,
                .predicts = wanted.predictions()};
    for (std::size_t i = 0; i < points.count && !stop.stop_requested(); ++i) {
        co_yield kPause;
        Point point = points.at(i);
        const std::string where = text_of(points.varied, point.at);
        try {
            std::optional<Computed> computed = co_await computed_at(unswept, std::move(point), wanted, stop);
            if (!computed) break;
            computed->result.point = i;
            sweep.results.push_back(std::move(computed->result));
            if (!sweep.step) sweep.step = std::move(computed->row);
        } catch (const Error& error) {
            throw Error("{where}: {why}", {{"where", where}, {"why", error.sentence()}});
        }
        if (options.done != nullptr) options.done->fetch_add(1, std::memory_order_relaxed);
    }
    const bool has_unswept = options.unswept && !sweep.row.empty() && points.at(0).numbers.empty();
    if (!has_unswept || stop.stop_requested()) co_return sweep;
    sweep.unswept = co_await unswept_row(unswept, points.count, stop);
    co_return sweep;
}

Sentence continuations_sentence(const Sweep& sweep) {
    std::map<std::string, std::size_t> times;
    for (const Result& result : sweep.results)
        if (!result.continuation.empty()) ++times[result.continuation];
    if (times.empty()) return {};
    const auto most = std::ranges::max_element(times, {}, [](const auto& one) { return one.second; });
    const Arguments arguments = {
        {"continuations", message_n("{count} continuation", "{count} continuations", sweep.results.size())},
        {"different", times.size()},
        {"text", most->first}};
    return message_n("{continuations}, {different} of them different; most often “{text}”, {count} time.",
                     "{continuations}, {different} of them different; most often “{text}”, {count} times.",
                     most->second, arguments);
}

void check_alike(const Sweep& sweep) {
    for (const Result& result : sweep.results)
        if (result.value.axes() != sweep.results.front().value.axes())
            throw Error("{row}: another shape in some of the runs, which no table can show: expected JSON",
                        {{"row", sweep.row}});
}

Sweep sorted(Sweep sweep) {
    const auto is_number = [](const Result& result) { return result.value.size() == 1; };
    if (!std::ranges::all_of(sweep.results, is_number))
        throw Error("{row}: more than one number in each run, expected one to sort by", {{"row", sweep.row}});
    std::ranges::stable_sort(sweep.results, [](const Result& a, const Result& b) {
        const float first = a.value.values()[0], second = b.value.values()[0];
        return std::isnan(first) || std::isnan(second) ? !std::isnan(first) && std::isnan(second) : first > second;
    });
    return sweep;
}

namespace {

// ---- JSON

OrderedJson at_json(const At& at) { return at.number ? OrderedJson(*at.number) : OrderedJson(at.text.english()); }

// The numbers from `next` on as lists within lists, by the axes from this one on.
OrderedJson nested(const Tensor& tensor, std::size_t axis, std::size_t& next) {
    if (axis == tensor.rank()) return float_to_json(tensor.values()[next++]);
    OrderedJson list = OrderedJson::array();
    for (Index i = 0; i < tensor.dim(axis); ++i) list.push_back(nested(tensor, axis + 1, next));
    return list;
}

OrderedJson value_json(const Tensor& tensor) {
    std::size_t next = 0;
    return nested(tensor, tensor.size() == 1 ? tensor.rank() : 0, next);
}

OrderedJson result_json(const Result& result, bool predicts) {
    OrderedJson json;
    if (result.at.size() == 1) {
        json["at"] = at_json(result.at[0]);
    } else {
        for (const At& at : result.at) json["at"].push_back(at_json(at));
    }
    if (!result.continuation.empty()) json["continuation"] = result.continuation;
    if (!result.value.empty()) json["value"] = value_json(result.value);
    if (predicts)
        json["predictions_changed"] = result.predictions_changed ? OrderedJson(*result.predictions_changed) : nullptr;
    return json;
}

}  // namespace

void write_json(std::ostream& out, const Sweep& sweep) {
    out << "[";
    for (std::size_t i = 0; i < sweep.results.size(); ++i)
        out << (i == 0 ? "\n  " : ",\n  ") << result_json(sweep.results[i], sweep.predicts).dump();
    out << "\n]\n";
}

Table table_of(const Sweep& sweep, int digits, std::size_t most_numbers) {
    check_alike(sweep);
    Table table{.about = sweep.varied.front(), .about_title = Sentence::verbatim(sweep.varied.front())};
    const auto titled = [](std::string name, Unit unit, int of_digits) {
        Sentence title = Sentence::verbatim(name);
        return Column{std::move(name), std::move(title), unit, of_digits};
    };
    for (std::size_t i = 1; i < sweep.varied.size(); ++i)
        table.columns.push_back(titled(sweep.varied[i], Unit::words, 0));
    const bool draws =
        std::ranges::any_of(sweep.results, [](const Result& result) { return !result.continuation.empty(); });
    if (draws) table.columns.push_back({"continuation", message("continuation"), Unit::words, 0});
    const Tensor first = sweep.results.empty() ? Tensor() : sweep.results.front().value;
    const auto numbers =
        std::min(static_cast<std::size_t>(sweep.row.empty() ? 0 : std::max<Index>(first.size(), 1)), most_numbers);
    for (std::size_t i = 0; i < numbers; ++i)
        table.columns.push_back(
            titled(first.size() <= 1 ? "value" : cell_name(sweep.row, first.cell(static_cast<Index>(i))), Unit::number,
                   digits));
    if (sweep.predicts)
        table.columns.push_back({"predictions_changed", message("predictions changed"), Unit::number, 6});
    const auto add = [&](std::vector<Entry>& entries, const Tensor& value, const Result* result) {
        for (std::size_t i = 0; i < numbers; ++i) entries.emplace_back(value.values()[i]);
        if (!sweep.predicts) return;
        entries.emplace_back();
        if (result != nullptr && result->predictions_changed)
            entries.back() = static_cast<std::uint64_t>(*result->predictions_changed);
    };
    for (const Result& result : sweep.results) {
        TableRow& row = table.rows.emplace_back(TableRow{.name = result.at.front().text, .entries = {}});
        for (std::size_t i = 1; i < result.at.size(); ++i) row.entries.emplace_back(result.at[i].text);
        if (draws) row.entries.emplace_back(Sentence::verbatim(result.continuation));
        add(row.entries, result.value, &result);
    }
    if (!sweep.unswept || sweep.unswept->axes() != first.axes()) return table;
    table.total = {.name = message("(unswept)"), .entries = std::vector<Entry>(sweep.varied.size() - (draws ? 0 : 1))};
    add(table.total->entries, *sweep.unswept, nullptr);
    return table;
}

namespace {

// NaN if a number of one of them is.
double largest_apart(std::span<const float> a, std::span<const float> b) {
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size() && !std::isnan(largest); ++i) {
        const double apart = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        if (!(apart <= largest)) largest = apart;
    }
    return largest;
}

}  // namespace

Table pairs_of(const Sweep& sweep, int digits) {
    constexpr std::size_t kMostPaired = 100;
    check_alike(sweep);
    if (sweep.row.empty() || sweep.results.size() > kMostPaired)
        throw Error("{count} runs can't be compared with each other, expected a row and at most {most} runs",
                    {{"count", sweep.results.size()}, {"most", kMostPaired}});
    std::string about;
    for (const std::string& varied : sweep.varied) about += (about.empty() ? "" : " × ") + varied;
    Table table{.about = about, .about_title = Sentence::verbatim(about)};
    for (const Result& one : sweep.results) {
        const Sentence name = where_sentence(sweep, one);
        table.columns.push_back({name.english(), name, Unit::number, digits});
        std::vector<Entry> entries(sweep.results.size());
        for (std::size_t other = 0; other < entries.size(); ++other)
            entries[other] = largest_apart(one.value.values(), sweep.results[other].value.values());
        table.rows.push_back({.name = name, .entries = std::move(entries)});
    }
    return table;
}

void write_csv(std::ostream& out, const Sweep& sweep) {
    core::write_csv(out, table_of(sweep, 0, std::numeric_limits<std::size_t>::max()));
}

void write_text(std::ostream& out, const Sweep& sweep) {
    constexpr std::size_t kMostColumns = 8;
    constexpr int kDigits = 6;
    Table table = table_of(sweep, kDigits, kMostColumns);
    const Index all = sweep.row.empty() || sweep.results.empty() ? 0 : sweep.results.front().value.size();
    if (all > static_cast<Index>(kMostColumns))
        table.notes = {message("The first {shown} of {all} numbers; files have all of them.",
                               {{"shown", kMostColumns}, {"all", all}})};
    if (Sentence drawn = continuations_sentence(sweep); !drawn.empty()) table.notes.push_back(std::move(drawn));
    core::write_text(out, table);
}

}  // namespace decoderscope::core::ask
