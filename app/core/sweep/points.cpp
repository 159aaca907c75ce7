#include "app/core/sweep/points.h"

#include "app/core/run/labels.h"
#include "app/core/sweep/each.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/formulas/print.h"
#include "engine/formulas/words.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace decoderscope::core::sweep {

namespace {

constexpr std::string_view kHead = ".head.", kSeed = "dropout_seed", kTrainingStep = "training_step",
                           kTrainingSeed = "training_seed", kTo = "..";

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
    Number number{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// ---- the values

// A value as it is written, and as a number if it is one.
struct Written {
    std::string text;
    std::optional<double> number;
};

Written value_of(double number) { return {formulas::written(number, formulas::Script::ascii), number}; }

// The number next to it that has 15 digits: what is computed with is then what is shown, 0.3 and not
// 0.30000000000000004.
double rounded(double number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.15g", number);
    return number_from(text.data()).value_or(number);
}

[[noreturn]] void fail(std::string_view what, const Sentence& why) {
    throw Error("“{what}”: {why}", {{"what", what}, {"why", why}});
}

void check_count(std::string_view what, std::size_t count) {
    if (count > kMostPoints)
        fail(what, message("a sweep of {count} runs, expected at most {most}",
                           {{"count", grouped(static_cast<Index>(count))}, {"most", grouped(kMostPoints)}}));
}

// "A..B:N"
std::vector<Written> range_of(std::string_view what, std::string_view text) {
    const std::size_t dots = text.find(kTo), colon = text.find(':', dots);
    const auto first = number_from(trimmed(text.substr(0, dots)));
    const auto last = number_from(trimmed(text.substr(dots + kTo.size(), colon - dots - kTo.size())));
    const std::uint64_t count =
        colon == std::string_view::npos ? 0 : whole_number<std::uint64_t>(trimmed(text.substr(colon + 1))).value_or(0);
    if (!first || !last || count < 2)
        fail(what, message("expected a range A..B:N of two numbers and how many to take, at least 2, such as 0..1:5"));
    if (*first >= *last)
        fail(what, message("a range from a number to one that is not larger, expected the smaller first"));
    check_count(what, count);
    std::vector<Written> values;
    for (std::size_t i = 0; i < count; ++i) {
        const double part = static_cast<double>(i) / static_cast<double>(count - 1);
        values.push_back(value_of(rounded(*first * (1.0 - part) + *last * part)));
    }
    return values;
}

// "x,y,z"
std::vector<Written> list_of(std::string_view what, std::string_view text) {
    std::vector<Written> values;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view one = trimmed(text.substr(begin, end - begin));
        if (one.empty()) fail(what, message("expected values behind “=”: A..B:N, or x,y,z"));
        values.push_back({std::string(one), number_from(one)});
        begin = end + 1;
    }
    check_count(what, values.size());
    return values;
}

std::vector<Written> values_in(std::string_view what, std::string_view text) {
    return text.find(kTo) == std::string_view::npos ? list_of(what, text) : range_of(what, text);
}

// ---- what they are values of

void change_key(Point& point, const std::string& key, const Written& value) {
    point.variation.overrides.emplace_back(key, value.text);
}

double need_number(std::string_view what, const Written& value) {
    if (!value.number) fail(what, message("“{value}” is no finite number", {{"value", value.text}}));
    return *value.number;
}

float need_float(std::string_view what, const Written& value) {
    const auto number = static_cast<float>(need_number(what, value));
    if (!std::isfinite(number))
        fail(what, message("“{value}” is beyond what a 32-bit float holds", {{"value", value.text}}));
    return number;
}

std::uint64_t need_seed(std::string_view what, const Written& value) {
    const auto seed = whole_number<std::uint64_t>(value.text);
    if (!seed) fail(what, message("“{value}” is no seed, expected a whole number from 0 on", {{"value", value.text}}));
    return *seed;
}

Index need_step(const Written& value) {
    const auto step = whole_number<Index>(value.text);
    if (!step || *step < 0)
        fail(kTrainingStep,
             message("“{value}” is no step of a training, expected a whole number from 0 on", {{"value", value.text}}));
    return *step;
}

// What one value changes. Throws Error if it can't be one.
using Change = std::function<void(Point&, const Written&)>;

// "blocks.0.attn.head.3"; nothing if it names no head of the model.
std::optional<ScaleHead> head_named(std::string_view name, const Plan& plan) {
    const std::size_t at = name.rfind(kHead);
    if (at == std::string_view::npos) return std::nullopt;
    const auto head = whole_number<Index>(name.substr(at + kHead.size()));
    const Ref z = plan.step_of(name.substr(0, at), AttentionStep::z);
    if (!head || z == nullptr || *head < 0 || *head >= z->axes[1].size) return std::nullopt;
    return ScaleHead{std::string(name.substr(0, at)), *head};
}

bool is_key(const Config& config, std::string_view name) {
    return std::ranges::any_of(config_values(config), [&](const auto& key) { return key.first == name; });
}

// Everything that a name may be, for whoever has mistyped one.
std::vector<std::string> known_names(const Unswept& unswept) {
    std::vector<std::string> known = names_of_each();
    known.emplace_back(kSeed);
    known.emplace_back(kTrainingStep);
    known.emplace_back(kTrainingSeed);
    known.emplace_back(kTemperature);
    for (const auto& [key, value] : config_values(unswept.scenario.config())) known.push_back(key);
    const Plan& plan = unswept.run->plan();
    for (const std::string& attention : plan.attentions())
        if (const Ref z = plan.step_of(attention, AttentionStep::z))
            for (Index head = 0; head < z->axes[1].size; ++head)
                known.push_back(attention + std::string(kHead) + std::to_string(head));
    return known;
}

[[noreturn]] void fail_unknown(std::string_view name, const Unswept& unswept) {
    if (name == kTemperature)
        throw Error(
            "temperature: the row doesn't name it, expected a formula that does, such as softmax(logits / temperature, "
            "dim=-1)");
    throw Error(formulas::with_nearest(
        message(
            "“{name}” can't be varied, expected a configuration key, dropout_seed, a cell (blocks.0.attn.z[0, 1, 2, "
            "3]), a head (blocks.0.attn.head.0), a number that the row's formula names, or {each}",
            {{"name", name}, {"each", list_of_each()}}),
        name, known_names(unswept)));
}

Change change_of(std::string_view name, const Unswept& unswept) {
    const std::string whole(name);
    if (name == kSeed)
        return [](Point& point, const Written& value) { point.variation.dropout_seed = need_seed(kSeed, value); };
    if (name == kTrainingStep || name == kTrainingSeed) {
        if (!unswept.trained)
            throw Error(
                "{name}: no training of this model is known, expected one in Train (F) or, on the command line, how: "
                "--task, --data or --lines, and --lr",
                {{"name", name}});
        if (name == kTrainingStep)
            return [](Point& point, const Written& value) { point.training_step = need_step(value); };
        return [](Point& point, const Written& value) { point.training_seed = need_seed(kTrainingSeed, value); };
    }
    if (name.find('[') != std::string_view::npos) {
        const CellName cell = parse_cell_name(name);
        const Ref step = unswept.run->plan().find(cell.tensor);
        if (step == nullptr)
            throw Error("{tensor}: this run has no such tensor, expected a name of its trace, a weight or an input",
                        {{"tensor", cell.tensor}});
        check_cell(cell, step->axes);
        return [whole, cell](Point& point, const Written& value) {
            point.variation.more_edits.emplace_back(SetCell{cell.tensor, cell.cell, need_float(whole, value)});
        };
    }
    if (const std::optional<ScaleHead> head = head_named(name, unswept.run->plan()))
        return [whole, head](Point& point, const Written& value) {
            ScaleHead scaled = *head;
            scaled.factor = need_float(whole, value);
            point.variation.more_edits.emplace_back(std::move(scaled));
        };
    if (is_key(unswept.scenario.config(), name))
        return [whole](Point& point, const Written& value) { change_key(point, whole, value); };
    if (!names_number(unswept.row, name, unswept.run->plan())) fail_unknown(name, unswept);
    return [whole](Point& point, const Written& value) { point.numbers[whole] = need_number(whole, value); };
}

Points values_of(std::string_view what, const Unswept& unswept) {
    const std::size_t equals = what.find('=');
    const std::string_view name = trimmed(what.substr(0, equals));
    if (name.empty())
        fail(what,
             message("expected what varies, as in attention_scale=0.1..1:10, norm_first=true,false or each head"));
    const Change change = change_of(name, unswept);
    if (equals == std::string_view::npos) fail(what, message("expected values behind “=”: A..B:N, or x,y,z"));
    std::vector<Written> values = values_in(what, what.substr(equals + 1));
    Points points{{std::string(name)}, values.size(), [change, values](std::size_t i) {
                      Point point{.at = {{Sentence::verbatim(values[i].text), values[i].number, true}}};
                      change(point, values[i]);
                      return point;
                  }};
    for (std::size_t i = 0; i < points.count; ++i) static_cast<void>(points.at(i));  // each value can be one
    return points;
}

Points combined(Points a, Points b) {
    const std::size_t count = a.count * b.count, columns = b.count;
    std::vector<std::string> varied = a.varied;
    varied.insert(varied.end(), b.varied.begin(), b.varied.end());
    std::string names;
    for (const std::string& name : varied) names += (names.empty() ? "" : " × ") + name;
    check_count(names, count);
    return {std::move(varied), count, [a = std::move(a), b = std::move(b), columns](std::size_t i) {
                Point point = a.at(i / columns);
                Point more = b.at(i % columns);
                const auto append = [](auto& to, auto& from) {
                    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
                };
                append(point.at, more.at);
                append(point.variation.overrides, more.variation.overrides);
                append(point.variation.more_edits, more.variation.more_edits);
                if (more.variation.dropout_seed) point.variation.dropout_seed = more.variation.dropout_seed;
                if (more.training_step) point.training_step = more.training_step;
                if (more.training_seed) point.training_seed = more.training_seed;
                point.numbers.merge(more.numbers);
                return point;
            }};
}

}  // namespace

Points points_of(std::string_view what, const Unswept& unswept) {
    what = trimmed(what);
    Points points = is_each(what) ? each_of(what, unswept) : values_of(what, unswept);
    check_count(what, points.count);
    return points;
}

Points points_of(std::span<const std::string> things, const Unswept& unswept) {
    Points points = points_of(things.front(), unswept);
    for (const std::string& thing : things.subspan(1)) points = combined(std::move(points), points_of(thing, unswept));
    const auto varies = [&](std::string_view name) {
        return std::ranges::find(points.varied, name) != points.varied.end();
    };
    if (varies(kSeed) && !varies("dropout") && unswept.scenario.config().dropout == 0.0)
        throw Error(
            "dropout_seed: the dropout of this model is 0, so that every seed gives the same run; expected a model "
            "with dropout, or dropout=0.1 varied with it");
    if (varies(kTrainingSeed) && !varies(kTrainingStep))
        throw Error(
            "training_seed: after how many steps is not said, expected training_step varied with it, as in "
            "training_step=300");
    return points;
}

}  // namespace decoderscope::core::sweep
