// What each step of a pass costs.
#include "app/core/ask/cost.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;

namespace {

struct Measured {
    Scenario scenario = scenario_of(load::make_bundled_model("reverse"));
    std::shared_ptr<const Plan> plan = plan_of(scenario);
    PassCost pass =
        finished(measured_cost(plan, kept_of(*plan, scenario.recording, std::nullopt), {.least = 3, .most = 3}));
};

std::uint64_t number(const Table& table, const TableRow& row, std::string_view title) {
    return std::get<std::uint64_t>(row.entries[table.titled(title).value()]);
}

}  // namespace

TEST_CASE("what is kept is what the run's tensors take, and each computed step has its time") {
    const Measured measured;
    const auto run = execute(measured.plan);
    std::uint64_t kept = 0;
    for (const StepCost& step : measured.pass.steps) {
        const Tensor& tensor = run->value(step.step);
        INFO((*measured.plan)[step.step].name);
        REQUIRE_FALSE(tensor.empty());
        const bool deferred = (*measured.plan)[step.step].operation.traits().deferred;
        CHECK(step.cost.kept_bytes == (deferred ? 0 : static_cast<std::uint64_t>(tensor.size()) * sizeof(float)));
        CHECK(step.cost.nanoseconds > 0);
        CHECK(step.cost.moved_bytes >= step.cost.kept_bytes);
        kept += step.cost.kept_bytes;
    }
    CHECK(kept == bytes_of_all(*measured.plan));
    CHECK(measured.pass.passes == 3);
    std::uint64_t weights = 0;
    for (const auto& [name, weight] : measured.scenario.weights()) weights += static_cast<std::uint64_t>(weight.size());
    CHECK(measured.pass.weight_bytes == weights * sizeof(float));
    // With less recorded, less is kept, and nothing else changes.
    const PassCost less = finished(measured_cost(
        measured.plan, kept_of(*measured.plan, Recording::patterns, std::nullopt), {.least = 1, .most = 1}));
    const Table all = cost_table(*measured.plan, measured.pass, Grouping::step, "order");
    const Table patterns = cost_table(*measured.plan, less, Grouping::step, "order");
    CHECK(number(patterns, *patterns.total, "memory") < number(all, *all.total, "memory"));
    CHECK(number(patterns, *patterns.total, "operations") == number(all, *all.total, "operations"));
}

TEST_CASE("steps, parts and blocks add up to the same total, whatever they are sorted by") {
    const Measured measured;
    Cost expected;
    for (const StepCost& step : measured.pass.steps) expected += step.cost;
    for (const Grouping grouping : {Grouping::step, Grouping::part, Grouping::block})
        for (const std::string_view sort : kSorts) {
            const Table table = cost_table(*measured.plan, measured.pass, grouping, sort);
            Cost sum;
            std::uint64_t steps = 0;
            double milliseconds = 0.0;
            std::set<std::string> names;
            const std::size_t counted = grouping == Grouping::step ? 2 : 0;  // behind part and block
            for (const TableRow& row : table.rows) {
                sum += {0, number(table, row, "memory"), number(table, row, "operations"), number(table, row, "moved")};
                milliseconds += std::get<double>(row.entries[table.titled("time").value()]);
                steps += std::get<std::uint64_t>(row.entries[counted]);
                names.insert(row.name.english());
                CHECK(measured.plan->find(row.step) != nullptr);
            }
            CHECK(milliseconds == Approx(static_cast<double>(expected.nanoseconds) / 1e6));
            sum.nanoseconds = expected.nanoseconds;
            CHECK(sum == expected);
            CHECK(number(table, *table.total, "memory") == expected.kept_bytes);
            CHECK(number(table, *table.total, "operations") == expected.operations);
            CHECK(number(table, *table.total, "moved") == expected.moved_bytes);
            CHECK(steps == measured.pass.steps.size());
            CHECK(names.size() == table.rows.size());
            CHECK(table.sorted_by == table.titled(sort));
            if (table.sorted_by)
                CHECK(std::ranges::is_sorted(table.rows, std::greater<>(), [&table](const TableRow& row) {
                    return number_of(row.entries[*table.sorted_by]);
                }));
        }
    const Table blocks = cost_table(*measured.plan, measured.pass, Grouping::block, "order");
    CHECK(std::ranges::count(blocks.rows, Sentence::verbatim("blocks.0"), &TableRow::name) == 1);
}

TEST_CASE("the backward pass has rows of its own, and takes about twice the products of the forward pass") {
    Scenario scenario = scenario_of(load::make_bundled_model("reverse"));
    scenario.gradient_target = "loss";
    const auto plan = plan_of(scenario);
    std::uint64_t forward = 0, backward = 0;
    for (const Step& step : plan->steps()) {
        if (step.is_source() || step.role == Role::on_demand) continue;
        (step.backward ? backward : forward) += counted_cost(*plan, step, KeptTensors{}).operations;
    }
    // Kaplan et al. 2020, section 2.1: "approximately twice the compute as the forwards pass".
    CHECK(static_cast<double>(backward) / static_cast<double>(forward) == Approx(2.0).margin(0.35));
}
