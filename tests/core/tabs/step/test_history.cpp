// The history of a coordinate of the residual stream: who wrote what into it.
#include "app/core/tabs/step/history.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/fixture_scenario.h"
#include "tests/engine/dice.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using core::step::Contributor;
using core::step::History;
using core::step::HistoryRow;

namespace {

// The size of what a row of a tensor is made of, for what rounding may do to its numbers.
double size_of_row(const Run& run, const Step& step, const Cell& cell) {
    double most = 1.0;
    for (const float value : run.value(step.id).row({cell[0], cell[1], 0}))
        most = std::max(most, std::abs(static_cast<double>(value)));
    return most;
}

// The law: the total runs from nothing to the cell, row by row.
void check_totals(const std::shared_ptr<const Run>& shared, const Step& step, const Cell& cell) {
    INFO(cell_name(step.name, cell));
    const Run& run = *shared;
    const History history = finished(step::history_of(shared, step.id, cell));
    REQUIRE_FALSE(history.rows.empty());
    double total = 0.0;
    for (const HistoryRow& row : history.rows) {
        total += row.write;
        CHECK(row.total == Approx(total).margin(1e-9));
        const Ref written = run.plan().find(row.step);
        REQUIRE(written != nullptr);
        CHECK(row.cell.size() == written->axes.size());
    }
    const float value = run.value(step.id).at(cell);
    CHECK(history.value == value);
    CHECK(total == Approx(static_cast<double>(value)).margin(1e-5 * size_of_row(run, step, cell)));
}

// A head's write by its own definition, in double: z · W_O[column, head · d_head + d].
double written_by_head(const Run& run, const std::string& attention, Index batch, Index head, Index position,
                       Index column) {
    const Ref out = run.plan().step_of(attention, AttentionStep::out);
    const Tensor& z = run.value(attention, AttentionStep::z);
    const Tensor& weight = run.operand(*out, OperandRole::weight);
    double sum = 0.0;
    for (Index d = 0; d < z.dim(3); ++d)
        sum += static_cast<double>(z.at(Cell{batch, head, position, d})) *
               static_cast<double>(weight.at(Cell{column, head * z.dim(3) + d}));
    return sum;
}

}  // namespace

TEST_CASE("the running total ends in the cell, and a head's row is its z through its part of W_O") {
    for (const char* norm_first : {"true", "false"}) {
        Scenario scenario = scenario_of(load::make_bundled_model("causal-lm"));
        scenario.set_overrides({{"norm_first", norm_first}});
        const auto run = execute(plan_of(scenario));
        const Plan& plan = run->plan();
        for (const Step& step : plan.steps())
            if (step::is_stream(plan, step)) check_totals(run, step, {0, 2, 5});
        const Step& last = *plan.find("blocks.1.resid_post");
        const Index keys = last.axes[1].size;
        const History history = finished(step::history_of(run, last.id, {0, 1, 5}));
        Index heads = 0;
        for (const HistoryRow& row : history.rows) {
            if (row.writer.kind != Contributor::head) continue;
            ++heads;
            const std::string attention = "blocks." + std::to_string(row.writer.layer) + ".attn";
            CHECK(row.write == Approx(written_by_head(*run, attention, 0, *row.writer.head, 1, 5)).margin(1e-6));
            // Position 1 sees itself and the one before it.
            REQUIRE(row.keys.size() == static_cast<std::size_t>(keys));
            for (Index key = 0; key < keys; ++key) {
                const step::GatheredKey& gathered = row.keys[static_cast<std::size_t>(key)];
                CHECK(gathered.hidden == (key > 1 ? hidden_by::causal : hidden_by::nothing));
                if (key > 1) CHECK(gathered.weight == 0.0F);
            }
            CHECK(step::hidden_sentence(row).english().starts_with("The mask hides " + std::to_string(keys - 2) +
                                                                   " of " + std::to_string(keys) + " keys: 2"));
        }
        CHECK(heads == 2 * scenario.query_heads());
        const bool has_norms = std::ranges::any_of(
            history.rows, [](const HistoryRow& row) { return row.writer.kind == Contributor::norm; });
        CHECK(has_norms == (std::string(norm_first) == "false"));
    }
}

TEST_CASE("histories end in their cell whatever the architecture") {
    std::vector<Scenario> scenarios;
    for (const load::BundledModel& model : load::bundled_models())
        scenarios.push_back(scenario_of(load::make_bundled_model(model.name)));
    for (const char* name :
         {"gemma-2-like", "olmo-2-like", "gpt-neox-like", "granite-like", "deepnorm", "experts-encdec",
          "deepseek-v3-like", "attention-only-post", "peri-encdec", "embedding-norm-encdec", "scaled-updates-parallel",
          "qwen-2-moe-like", "dynamic-tanh", "gpt-oss-like"})
        scenarios.push_back(testing::fixture_scenario(name));
    Dice dice(17);
    for (const Scenario& scenario : scenarios) {
        INFO(scenario.about().name);
        const auto run = execute(plan_of(scenario));
        for (const Step& step : run->plan().steps()) {
            if (!step::is_stream(run->plan(), step) || run->value(step.id).empty()) continue;
            const Cell cell = run->value(step.id).cell(dice.below(run->value(step.id).size()));
            if (std::isfinite(run->value(step.id).at(cell))) check_totals(run, step, cell);
        }
    }
}

TEST_CASE("an edit of the stream is a row, and what it set is the total") {
    Scenario scenario = scenario_of(load::make_bundled_model("causal-lm"));
    scenario.edits = {SetCell{"blocks.0.resid_mid", {0, 1, 5}, 3.25F}, ScaleHead{"blocks.1.attn", 0, 0.0F}};
    const auto run = execute(plan_of(scenario));
    const Step& last = *run->plan().find("blocks.1.resid_post");
    check_totals(run, last, {0, 1, 5});
    const History history = finished(step::history_of(run, last.id, {0, 1, 5}));
    const auto edit =
        std::ranges::find(history.rows, Contributor::edit, [](const HistoryRow& row) { return row.writer.kind; });
    REQUIRE(edit != history.rows.end());
    CHECK(edit->step == "blocks.0.resid_mid");
    CHECK(edit->total == Approx(3.25).epsilon(1e-6));
    for (const HistoryRow& row : history.rows)
        if (row.writer.kind == Contributor::head && row.writer.layer == 1 && row.writer.head == Index{0})
            CHECK(row.write == 0.0);
}

TEST_CASE("what is no step of the stream has no history") {
    const auto plan = plan_of(scenario_of(load::make_bundled_model("causal-lm")));
    for (const char* name : {"blocks.0.attn.z", "blocks.0.mlp_out", "blocks.0.attn_out", "logits", "embed"})
        CHECK_FALSE(step::is_stream(*plan, *plan->find(name)));
    CHECK(step::is_stream(*plan, *plan->find("blocks.0.resid_mid")));
}
