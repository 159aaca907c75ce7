// An attention's sink beside its pattern: a column that isn't a key, with which each row adds up to 1.
#include "app/core/checks/invariants.h"
#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/exhibit.h"
#include "app/core/figure/numpy.h"
#include "app/core/figure/picture_files.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/step_picture.h"
#include "app/core/tabs/step/row_reading.h"
#include "app/core/text/numbers.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/fixture_scenario.h"
#include "tests/engine/contains.h"

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::checks;

namespace {

ShownRun shown(const std::string& fixture, std::vector<Edit> edits = {}) {
    Scenario scenario = fixture_scenario(fixture);
    scenario.edits = std::move(edits);
    auto run = execute(plan_of(scenario));
    return {std::move(scenario), std::move(run)};
}

const Step& pattern_of(const ShownRun& run) { return *run.run->plan().find("blocks.0.attn.pattern"); }

// As gpt-oss computes it: torch.cat([scores, sinks], -1).softmax(-1), here in double precision.
std::vector<double> softmax_with_sink(const ShownRun& of, Index head, Index query) {
    const Tensor &scores = of.run->value("blocks.0.attn.masked_scores"),
                 &sinks = of.run->value("layers.0.self_attn.sinks");
    std::vector<double> weights;
    for (Index key = 0; key < scores.dim(3); ++key)
        weights.push_back(std::exp(static_cast<double>(scores.at(Cell{0, head, query, key}))));
    weights.push_back(std::exp(static_cast<double>(sinks.at(Cell{head}))));
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    for (double& weight : weights) weight /= sum;
    return weights;
}

template <class Write>
std::string written(const Write& write) {
    std::ostringstream out;
    write(out);
    return out.str();
}

}  // namespace

TEST_CASE("the sink is a column beside the keys, hatched as no key, and each row sums to 1 with it") {
    for (const char* fixture : {"sinks", "sinks-nothing-left", "sinks-soft-mask", "gpt-oss-like"}) {
        INFO(fixture);
        const ShownRun run = shown(fixture);
        const Step& pattern = pattern_of(run);
        for (Index head = 0; head < pattern.axes[1].size; ++head) {
            const Heatmap picture = picture_of(run.scenario, *run.run, pattern, {0, head});
            REQUIRE(picture.has_sink);
            CHECK(picture.own_columns() == pattern.axes[3].size);
            CHECK(picture.column_labels.back() == "sink");
            for (Index row = 0; row < picture.rows; ++row) {
                double sum = 0.0;
                for (Index column = 0; column < picture.columns; ++column)
                    sum += static_cast<double>(picture.at(row, column));
                CHECK(sum == Approx(1.0).margin(1e-6));
                CHECK(picture.hidden[static_cast<std::size_t>((row + 1) * picture.columns - 1)] == hidden_by::no_key);
                CHECK(picture.at(row, picture.own_columns()) <= picture.range.high);
            }
        }
    }
}

TEST_CASE("the sink's column holds what PyTorch's softmax over scores and sink drops") {
    const ShownRun run = shown("sinks");
    const Step& pattern = pattern_of(run);
    for (Index head = 0; head < pattern.axes[1].size; ++head) {
        const Heatmap picture = picture_of(run.scenario, *run.run, pattern, {0, head});
        for (Index query = 0; query < picture.rows; ++query) {
            const std::vector<double> expected = softmax_with_sink(run, head, query);
            for (Index column = 0; column < picture.columns; ++column)
                CHECK(static_cast<double>(picture.at(query, column)) ==
                      Approx(expected[static_cast<std::size_t>(column)]).margin(1e-6));
        }
    }
}

TEST_CASE("only a pattern with a sink has the column; a cell of it is one of the sink's tensor") {
    const ShownRun run = shown("sinks");
    const Plan& plan = run.run->plan();
    CHECK(sink_beside(*run.run, *plan.find("blocks.0.cross_attn.pattern")) == nullptr);
    CHECK(sink_beside(*run.run, *plan.find("blocks.0.attn.masked_scores")) == nullptr);
    const Step& pattern = pattern_of(run);
    const Slice slice = slice_of(pattern, {0, 1}, run.scenario.query_heads());
    const ShownNumber key = number_at(*run.run, pattern, slice, 2, 1),
                      sink = number_at(*run.run, pattern, slice, 2, slice.columns());
    CHECK(key.step == &pattern);
    CHECK(key.cell == Cell{0, 1, 2, 1});
    CHECK(sink.step->name == "blocks.0.attn.sink");
    CHECK(sink.cell == Cell{0, 1, 2, 0});
}

TEST_CASE("figures, CSV and JSON have the sink beside the keys; arrays are the tensor alone") {
    const ShownRun run = shown("sinks");
    const Step& pattern = pattern_of(run);
    const Exhibit one = step_exhibit(run, pattern, {0, 1}),
                  all = gathered_exhibit(run, pattern, {0, 0}, {.all_heads = true});
    const Heatmap picture = picture_of(run.scenario, *run.run, pattern, {0, 1});
    const auto keys = static_cast<std::size_t>(pattern.axes[3].size);
    for (const Exhibit* exhibit : {&one, &all}) {
        const std::string svg = written([&](std::ostream& out) { write_svg(out, exhibit_figure(*exhibit, {})); });
        CHECK(contains(svg, "no key: the sink"));
        CHECK(contains(svg, ">sink<"));
        for (const NamedArray& array : arrays_of(*exhibit)) {
            CHECK(array.shape.back() == pattern.axes[3].size);
            std::size_t count = 0;
            array.for_each_piece([&](std::span<const float> values) { count += values.size(); });
            CHECK(count == static_cast<std::size_t>(array.size()));
        }
    }
    const std::string csv = written([&](std::ostream& out) { write_csv(out, one); });
    CHECK(contains(csv.substr(0, csv.find('\r')), ",sink"));
    CHECK(contains(written([&](std::ostream& out) { write_csv(out, all); }), ",no key\r\n"));
    const Json json = Json::parse(written([&](std::ostream& out) { write_json(out, one); }));
    CHECK(json["columns"].size() == keys);
    REQUIRE(json["sink"].size() == static_cast<std::size_t>(picture.rows));
    for (Index row = 0; row < picture.rows; ++row) {
        CHECK(json["values"][static_cast<std::size_t>(row)].size() == keys);
        CHECK(json["sink"][static_cast<std::size_t>(row)].get<float>() == picture.at(row, picture.own_columns()));
    }
}

TEST_CASE("the law about rows counts the sink, and is broken where its weight is another") {
    const auto law = [](const ShownRun& run) {
        return measure_invariants(*run.run, run.scenario.config())->of(Law::pattern_rows);
    };
    const ShownRun run = shown("sinks");
    std::size_t rows = 0;
    for (const Step& step : run.run->plan().steps())
        if (step.is_pattern) rows += static_cast<std::size_t>(run.run->value(step.id).size() / step.axes[3].size);
    CHECK(law(run).verdict == Verdict::kept);
    CHECK(law(run).checked == rows);
    const Invariant broken = law(shown("sinks", {SetCell{"blocks.0.attn.sink", {0, 1, 2, 0}, 0.9F}}));
    CHECK(broken.verdict == Verdict::broken);
    CHECK(broken.step == "blocks.0.attn.pattern");
    CHECK(std::vector(broken.cell.begin(), broken.cell.begin() + 3) == std::vector<Index>{0, 1, 2});
    // A query that may see no key gives all to the sink: 0 everywhere, and no NaN.
    CHECK(law(shown("sinks-nothing-left")).verdict == Verdict::kept);
}

TEST_CASE("a weight is explained by a sum of which the sink is the last term, and its row says what the sink takes") {
    const ShownRun run = shown("sinks");
    const Step& pattern = pattern_of(run);
    const Cell cell = {0, 1, 2, 1};
    const Explanation explanation = run.run->explain(pattern.id, cell);
    const Line& sum = explanation.lines[1];
    REQUIRE(sum.terms.size() == static_cast<std::size_t>(pattern.axes[3].size) + 1);
    const Factor& sink = sum.terms.back().factors.front();
    CHECK(run.run->plan()[pattern.operands[sink.cell->operand]].name == "layers.0.self_attn.sinks");
    CHECK(sink.cell->cell == Cell{1});
    const float taken = run.run->value("blocks.0.attn.sink").at(Cell{0, 1, 2, 0});
    const auto reading = step::read_pattern_row(run.scenario, *run.run, pattern, cell);
    REQUIRE(reading->sink);
    CHECK(*reading->sink == static_cast<double>(taken));
    CHECK(contains(tr(step::sink_sentence(*reading)), short_number_text(static_cast<double>(taken), 3)));
}
