// Every ready row of the palette against numpy in float64 (tests/reference/ready_rows.py), on three models.
#include "app/core/run/comparison.h"
#include "app/core/sheet/draft.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/load/lens.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/sanitized.h"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

nlohmann::json expected() {
    return nlohmann::json::parse(read_text(DECODERSCOPE_TESTS_DIR "/reference/ready_rows.json"));
}

// The maps that ready_rows.py has, too.
std::shared_ptr<const load::FittedLens> lens_of(const Config& config) {
    load::FittedLens lens;
    for (Index block = 0; block + 1 < config.num_layers; ++block) {
        Tensor weight({{axis::out, config.d_model}, {axis::in, config.d_model}}), bias({{axis::out, config.d_model}});
        for (Index i = 0; i < weight.size(); ++i)
            weight.writable()[static_cast<std::size_t>(i)] = static_cast<float>(
                (i % (config.d_model + 1) == 0 ? 1.0 : 0.0) + 0.05 * std::cos(static_cast<double>(i + block)));
        for (Index i = 0; i < bias.size(); ++i)
            bias.writable()[static_cast<std::size_t>(i)] =
                static_cast<float>(0.1 * std::sin(static_cast<double>(i + block)));
        const std::string at = "fitted_lens.blocks." + std::to_string(block);
        lens.maps.emplace(at + ".weight", weight);
        lens.maps.emplace(at + ".bias", bias);
    }
    return std::make_shared<const load::FittedLens>(std::move(lens));
}

// The runs that rows are asked of, by their names in the reference.
Snapshot snapshot_of(const std::string& model, const std::string& run) {
    Snapshot shown{.scenario = scenario_of(load::load_model(model)), .run = nullptr};
    shown.unedited = execute(plan_of(shown.scenario));
    if (run == "edited") {
        shown.scenario.other_run = std::make_shared<const ReferenceRun>(reference_of("plain", shown.unedited));
        shown.scenario.edits = {ScaleHead{"blocks.0.attn", 1, 0.0F}};
    }
    if (run == "bfloat16") shown.scenario = with_override(shown.scenario, "arithmetic", "bfloat16");
    if (run == "dropped") shown.scenario.dropout_seed = 1;
    if (run == "gradients") shown.scenario.gradient_target = "loss";
    if (run == "lens") shown.scenario.set_lens(lens_of(shown.scenario.config()));
    shown.run = execute(plan_of(shown.scenario));
    return shown;
}

// A run, and the rows that it can have.
struct Asked {
    Snapshot shown;
    std::map<std::string, AddRow> fitting;
};
// By the names that they have in the table; `beside` is the step on the stage, if there is one.
Asked asked(const std::string& model, const std::string& run, const std::string& beside = "") {
    Asked asked{snapshot_of(model, run), {}};
    const Ref step = beside.empty() ? nullptr : asked.shown.run->plan().find(beside);
    for (const core::sheet::ReadyRow& ready : core::sheet::ready_rows(asked.shown, step))
        for (const core::sheet::ReadyRow& listed : core::sheet::ready_rows())
            if (listed.question.english() == ready.question.english())
                asked.fitting.emplace(row_name(listed.row), ready.row);
    return asked;
}

// The row's steps in a run of it.
std::map<std::string, Tensor> computed(const Run& run) {
    std::map<std::string, Tensor> steps;
    for (const Step& step : run.plan().steps())
        if (step.part == Part::own && step.role != Role::internal) steps.emplace(step.name, run.value(step.id));
    return steps;
}

// Two sums over all numbers, weighted by the cosine and the sine of their places, say whether one of them is wrong.
void check_sums(const Tensor& ours, const nlohmann::json& theirs, double tolerance) {
    std::vector<Index> shape;
    for (const Axis& axis : ours.axes()) shape.push_back(axis.size);
    const auto their_shape = theirs[0].get<std::vector<Index>>();
    CHECK((shape == their_shape || (ours.size() == 1 && their_shape.empty())));
    double cosines = 0.0, sines = 0.0;
    for (Index i = 0; i < ours.size(); ++i) {
        const auto number = static_cast<double>(ours.values()[static_cast<std::size_t>(i)]);
        cosines += std::cos(static_cast<double>(i + 1)) * number;
        sines += std::sin(static_cast<double>(i + 1)) * number;
    }
    const double allowed = tolerance * theirs[3].get<double>() + 1e-6;
    CHECK(std::abs(cosines - theirs[1].get<double>()) <= allowed);
    CHECK(std::abs(sines - theirs[2].get<double>()) <= allowed);
}

// An explanation ends in the number that was recorded.
void check_explanation(const Run& run, const std::string& name, const Tensor& values) {
    const Index cell = values.size() / 2;
    const auto recorded = static_cast<double>(values.values()[static_cast<std::size_t>(cell)]);
    const Explanation said = run.explain(run.plan().find(name)->id, values.cell(cell));
    CHECK(said.lines.back().value == Approx(recorded).epsilon(1e-4).margin(1e-6));
}

}  // namespace

TEST_CASE("beside a cross-attention or the encoder on the stage, rows that are of any attention are of that one") {
    const nlohmann::json reference = expected();
    const std::map<std::string, std::string> stages = {{"reverse cross", "blocks.0.cross_attn.pattern"},
                                                       {"reverse encoder", "encoder.blocks.0.attn.pattern"}};
    for (const auto& [stage, beside] : stages) {
        INFO(stage);
        const Asked at = asked("reverse", "plain", beside);
        std::size_t moved = 0;
        for (const auto& [name, of_row] : reference.items()) {
            if (!of_row.contains(stage)) continue;
            INFO(name);
            ++moved;
            Scenario scenario = at.shown.scenario;
            scenario.edits.emplace_back(at.fitting.at(name));
            const auto with_row = execute(plan_of(with_gradients_read(std::move(scenario))));
            const auto steps = computed(*with_row);
            CHECK(steps.size() == of_row[stage].size());
            for (const auto& [step, theirs] : of_row[stage].items()) {
                INFO(step);
                REQUIRE(steps.contains(step));
                check_sums(steps.at(step), theirs, 1e-5);
            }
        }
        CHECK(moved > 10);
    }
}

TEST_CASE("every ready row is what numpy makes of its title in float64, and is explained by that number") {
    const nlohmann::json reference = expected();
    std::map<std::pair<std::string, std::string>, Asked> runs;
    for (const core::sheet::ReadyRow& ready : testing::looked_at(core::sheet::ready_rows(), 4)) {
        const std::string name = row_name(ready.row);
        INFO(name);
        REQUIRE(reference.contains(name));  // a new row needs its own in ready_rows.py
        const nlohmann::json& of_row = reference[name];
        const auto run = of_row["run"].get<std::string>();
        CHECK(of_row.size() > 1);
        for (const char* model : {"reverse", "verses", "experts"}) {
            INFO(model);
            const auto key = std::pair{std::string(model), run};
            if (!runs.contains(key)) runs.emplace(key, asked(model, run));
            CHECK(runs.at(key).fitting.contains(name) == of_row.contains(model));
            if (!of_row.contains(model)) continue;
            Scenario scenario = runs.at(key).shown.scenario;
            scenario.edits.emplace_back(runs.at(key).fitting.at(name));
            const auto with_row = execute(plan_of(scenario));
            const auto steps = computed(*with_row);
            CHECK(steps.size() == of_row[model].size());
            for (const auto& [step, theirs] : of_row[model].items()) {
                INFO(step);
                REQUIRE(steps.contains(step));
                // Another order of computation rounds elsewhere, and to few digits.
                check_sums(steps.at(step), theirs, run == "bfloat16" ? 0.05 : 1e-5);
                check_explanation(*with_row, step, steps.at(step));
            }
        }
    }
    CHECK(reference.size() == core::sheet::ready_rows().size());
}
