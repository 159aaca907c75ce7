// What each step of a pass costs.
#include "app/core/figure/csv_and_json.h"
#include "app/core/tabs/cost/cost.h"
#include "app/core/tabs/cost/cost_files.h"
#include "engine/base/json.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>

using namespace decoderscope;
using namespace decoderscope::core;
using core::cost::Cost;
using core::cost::CostTable;
using core::cost::Grouping;
using core::cost::SortedBy;

namespace {

struct Measured {
    Scenario scenario = scenario_of(load::make_bundled_model("reverse"));
    std::shared_ptr<const Plan> plan = plan_of(scenario);
    cost::PassCost pass = finished(cost::measured(plan, scenario.recording, {.least = 3, .most = 3}));
};

Cost sum_of(const CostTable& table) {
    Cost sum;
    for (const cost::CostRow& row : table.rows) sum += row.cost;
    return sum;
}

}  // namespace

TEST_CASE("what is kept is what the run's tensors take, and each computed step has its time") {
    const Measured measured;
    const auto run = execute(measured.plan);
    std::uint64_t kept = 0;
    for (const cost::StepCost& step : measured.pass.steps) {
        const Tensor& tensor = run->value(step.step);
        INFO((*measured.plan)[step.step].name);
        REQUIRE_FALSE(tensor.empty());
        const bool deferred = (*measured.plan)[step.step].operation.traits().deferred;
        CHECK(step.cost.kept_bytes == (deferred ? 0 : static_cast<std::uint64_t>(tensor.size()) * sizeof(float)));
        CHECK(step.cost.nanoseconds > 0);
        CHECK(step.cost.moved_bytes >= step.cost.kept_bytes);
        kept += step.cost.kept_bytes;
    }
    CHECK(kept == bytes_needed(*measured.plan, Recording::all));
    CHECK(measured.pass.passes == 3);
    std::uint64_t weights = 0;
    for (const auto& [name, weight] : measured.scenario.weights()) weights += static_cast<std::uint64_t>(weight.size());
    CHECK(measured.pass.weight_bytes == weights * sizeof(float));
    // With less recorded, less is kept, and nothing else changes.
    const cost::PassCost less = finished(cost::measured(measured.plan, Recording::patterns, {.least = 1, .most = 1}));
    const CostTable all = cost::cost_table(*measured.plan, measured.pass, Grouping::step, SortedBy::computed);
    const CostTable patterns = cost::cost_table(*measured.plan, less, Grouping::step, SortedBy::computed);
    CHECK(patterns.total.kept_bytes < all.total.kept_bytes);
    CHECK(patterns.total.operations == all.total.operations);
}

TEST_CASE("steps, parts and blocks add up to the same total, whatever they are sorted by") {
    const Measured measured;
    Cost expected;
    for (const cost::StepCost& step : measured.pass.steps) expected += step.cost;
    for (const Grouping grouping : {Grouping::step, Grouping::part, Grouping::block})
        for (const SortedBy sorted :
             {SortedBy::computed, SortedBy::time, SortedBy::memory, SortedBy::operations, SortedBy::moved}) {
            const CostTable table = cost::cost_table(*measured.plan, measured.pass, grouping, sorted);
            CHECK(table.total == expected);
            CHECK(sum_of(table) == expected);
            std::size_t steps = 0;
            std::set<std::string> names;
            for (const cost::CostRow& row : table.rows) {
                steps += row.steps;
                names.insert(row.name);
                CHECK(measured.plan->find(row.step) != nullptr);
            }
            CHECK(steps == measured.pass.steps.size());
            CHECK(names.size() == table.rows.size());
            if (sorted != SortedBy::computed)
                CHECK(std::ranges::is_sorted(table.rows, std::greater<>(), [sorted](const cost::CostRow& row) {
                    return cost::amount_of(row.cost, sorted);
                }));
        }
    const CostTable blocks = cost::cost_table(*measured.plan, measured.pass, Grouping::block, SortedBy::computed);
    CHECK(std::ranges::count(blocks.rows, "blocks.0", &cost::CostRow::name) == 1);
}

TEST_CASE("the backward pass has rows of its own, and takes about twice the products of the forward pass") {
    Scenario scenario = scenario_of(load::make_bundled_model("reverse"));
    scenario.gradient_target = "loss";
    const auto plan = plan_of(scenario);
    std::uint64_t forward = 0, backward = 0;
    for (const Step& step : plan->steps()) {
        if (step.is_source() || step.role == Role::on_demand) continue;
        (step.backward ? backward : forward) += cost::counted_cost(*plan, step, Recording::all).operations;
    }
    // Kaplan et al. 2020, section 2.1: "approximately twice the compute as the forwards pass".
    CHECK(static_cast<double>(backward) / static_cast<double>(forward) == Approx(2.0).margin(0.35));
}

TEST_CASE("a table of costs as JSON, CSV and text has each row and its numbers") {
    const Measured measured;
    const CostTable table = cost::cost_table(*measured.plan, measured.pass, Grouping::step, SortedBy::time);
    std::ostringstream json, csv, text;
    cost::write_json(json, table, measured.pass);
    const Json read = parse_json(json.str(), message("an object"));
    CHECK(read["by"] == "step");
    CHECK(read["passes"] == 3);
    REQUIRE(read["rows"].size() == table.rows.size());
    std::uint64_t operations = 0;
    for (const Json& row : read["rows"]) operations += row["operations"].get<std::uint64_t>();
    CHECK(read["total"]["operations"] == operations);
    CHECK(read["rows"][0]["name"] == table.rows[0].name);
    cost::write_csv(csv, table);
    const std::string lines = csv.str();
    CHECK(lines.starts_with("step,part,block,milliseconds,kept_bytes,operations,moved_bytes\r\n"));
    CHECK(static_cast<std::size_t>(std::ranges::count(lines, '\n')) == table.rows.size() + 1);
    cost::write_text(text, table, measured.pass);
    CHECK(text.str().find("\ntotal") != std::string::npos);
    CHECK(text.str().find("median of 3") != std::string::npos);
}

TEST_CASE("amounts are written to three digits with their unit") {
    CHECK(cost::amount_text(0) == "0");
    CHECK(cost::amount_text(640) == "640");
    CHECK(cost::amount_text(13'249) == "13.2 k");
    CHECK(cost::amount_text(1'250'000) == "1.25 M");
    CHECK(cost::byte_text(0) == "0");
    CHECK(cost::byte_text(96) == "96 B");
    CHECK(cost::byte_text(9'216) == "9.22 kB");
    CHECK(cost::time_text(13'240) == "13.2 µs");
    CHECK(cost::time_text(1'250'000) == "1.25 ms");
    CHECK(cost::time_text(2'000'000'000) == "2.00 s");
}
