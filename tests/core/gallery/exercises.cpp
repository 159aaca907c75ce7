#include "tests/core/gallery/exercises.h"

#include "app/core/lessons/judge.h"
#include "app/core/lessons/library.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <variant>

namespace decoderscope::testing {

using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::mutations;

namespace {

Index length_of_row(const Inputs& inputs, Index row) {
    Index length = inputs.tokens.dim(1);
    if (inputs.attention_mask.empty()) return length;
    while (length > 0 && inputs.attention_mask.at(Cell{row, length - 1}) == 0.0F) --length;
    return length;
}

Exercise read(const lessons::LessonCard& card) {
    Exercise exercise{
        .name = card.name, .lesson = lessons::find_lesson(card.name), .bug = {}, .mutant = {}, .right = {}};
    const lessons::Page& report = exercise.lesson->pages.front();
    for (const lessons::Block& block : report.blocks) {
        if (const auto* place = std::get_if<lessons::Place>(&block))
            exercise.mutant = lessons::scenario_of(*place, *exercise.lesson);
        if (const auto* question = std::get_if<lessons::Question>(&block))
            exercise.bug = std::get<lessons::ByBug>(question->answer);
    }
    exercise.right = exercise.mutant;
    exercise.right.mutation.clear();
    return exercise;
}

}  // namespace

const Mutation* Exercise::mutation() const { return mutation_of(mutant); }
bool Exercise::is_false_alarm() const { return mutation() == nullptr || mutation()->harmless; }

const std::vector<Exercise>& exercises() {
    static const std::vector<Exercise> all = [] {
        std::vector<Exercise> read_ones;
        for (const lessons::LessonCard& card : lessons::lesson_cards())
            if (card.kind == lessons::LessonKind::bug) read_ones.push_back(read(card));
        return read_ones;
    }();
    return all;
}

const Exercise& exercise_with(const std::string& mutation) {
    const auto found =
        std::ranges::find(exercises(), mutation, [](const Exercise& one) { return one.mutant.mutation; });
    if (found == exercises().end()) throw Error("no exercise with {mutation}", {{"mutation", mutation}});
    return *found;
}

std::shared_ptr<const Run> run_of(const Scenario& scenario) { return execute(plan_of(scenario)); }

double Reading::mean(std::size_t first, std::size_t count) const {
    const auto begin = probability.begin() + static_cast<std::ptrdiff_t>(first);
    return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0) / static_cast<double>(count);
}

Reading reading_of(const Scenario& scenario) {
    const std::shared_ptr<const Run> run = run_of(scenario);
    const Tensor& logits = run->value("logits");  // [batch, pos, vocab]
    Reading reading;
    for (const float logit : logits.values()) reading.nans += std::isnan(logit) ? 1 : 0;
    const Index length = length_of_row(scenario.inputs, 0);
    for (Index pos = 0; pos + 1 < length; ++pos) {
        const auto next = static_cast<Index>(scenario.inputs.tokens.at(Cell{0, pos + 1}));
        const auto at = [&](Index token) { return static_cast<double>(logits.at(Cell{0, pos, token})); };
        double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
        for (Index token = 0; token < logits.dim(2); ++token) largest = std::max(largest, at(token));
        for (Index token = 0; token < logits.dim(2); ++token) sum += std::exp(at(token) - largest);
        reading.probability.push_back(std::exp(at(next) - largest) / sum);
        reading.hits += at(next) == largest ? 1 : 0;
    }
    return reading;
}

double leak_of(const Scenario& scenario) {
    Scenario other = scenario;
    const Index positions = scenario.inputs.tokens.dim(1);
    std::vector<Index> last;
    for (Index row = 0; row < scenario.inputs.tokens.dim(0); ++row) {
        last.push_back(length_of_row(scenario.inputs, row) - 1);
        float& token = other.inputs.tokens.writable()[static_cast<std::size_t>(row * positions + last.back())];
        token = token > 5.0F ? 4.0F : 7.0F;
    }
    const Tensor before = run_of(scenario)->value("logits"), after = run_of(other)->value("logits");
    double leak = 0.0;
    for (Index i = 0; i < before.size(); ++i) {
        const Cell cell = before.cell(i);
        if (cell[1] >= last[static_cast<std::size_t>(cell[0])]) continue;
        leak = std::max(leak, std::abs(static_cast<double>(before.at(cell)) - static_cast<double>(after.at(cell))));
    }
    return leak;
}

double difference(const Tensor& a, const Tensor& b) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity(), kFill = 1e8;
    double magnitude = 0.0, largest = 0.0;
    for (std::size_t i = 0; i < a.values().size(); ++i) {
        const auto x = static_cast<double>(a.values()[i]), y = static_cast<double>(b.values()[i]);
        if (std::abs(x) < kFill) magnitude = std::max(magnitude, std::abs(x));
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        largest = std::max(largest, std::isfinite(x) && std::isfinite(y) ? std::abs(x - y) : kInfinity);
    }
    return largest == 0.0 ? 0.0 : largest / std::max(magnitude, 1e-30);
}

}  // namespace decoderscope::testing
