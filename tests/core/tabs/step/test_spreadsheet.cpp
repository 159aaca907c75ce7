// A slice as a table: its order, and its text for other programs.
#include "app/core/run/scenario.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/tabs/step/spreadsheet.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/not_finite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::step;

namespace {

Heatmap table(Index rows, Index columns, std::vector<float> values) {
    Heatmap h;
    h.rows = rows;
    h.columns = columns;
    h.values = std::move(values);
    for (Index i = 0; i < rows; ++i) h.row_labels.push_back(std::to_string(i));
    for (Index i = 0; i < columns; ++i) h.column_labels.push_back(std::to_string(i));
    return h;
}

SheetOrder order_of(const Heatmap& h, const SheetSort& rows, const SheetSort& columns) {
    return {sorted_rows(h, rows), sorted_columns(h, columns), 0, 0};
}

}  // namespace

TEST_CASE("rows are sorted by a column and columns by a row, NaN last, equal ones in their own order") {
    const Heatmap h = table(4, 2, {1, 5, 3, kNan, 3, 7, -2, 6});
    CHECK(sorted_rows(h, {0, false}) == std::vector<Index>{1, 2, 0, 3});
    CHECK(sorted_rows(h, {0, true}) == std::vector<Index>{3, 0, 1, 2});
    CHECK(sorted_rows(h, {1, false}) == std::vector<Index>{2, 3, 0, 1});
    CHECK(sorted_rows(h, {1, true}) == std::vector<Index>{0, 3, 2, 1});
    CHECK(sorted_rows(h, {}) == std::vector<Index>{0, 1, 2, 3});
    CHECK(sorted_columns(h, {0, false}) == std::vector<Index>{1, 0});
    CHECK(sorted_columns(h, {3, true}) == std::vector<Index>{0, 1});
    CHECK(sorted_rows(h, {9, true}) == std::vector<Index>{0, 1, 2, 3});  // a column that another slice had
}

TEST_CASE("a head that is clicked again turns the order round, and then gives the original one back") {
    const SheetSort first = SheetSort{}.clicked(3);
    CHECK(first == SheetSort{3, false});
    CHECK(first.clicked(3) == SheetSort{3, true});
    CHECK(first.clicked(3).clicked(3) == SheetSort{});
    CHECK(first.clicked(4) == SheetSort{4, false});
}

TEST_CASE("the text has every digit of every number, in the order shown, with plain minuses") {
    Heatmap h = table(2, 3, {0.1F, -1e-12F, 3, -std::numeric_limits<float>::infinity(), kNan, -16777216.0F});
    h.row_labels = {"<bos>", "a\tb"};
    const SheetOrder order = order_of(h, {}, {0, false});
    CHECK(tab_separated(h, order, {0, 0, 2, 3}, true) ==
          "\t2\t0\t1\n0 <bos>\t3\t0.1\t-1e-12\n1 a b\t-16777216\t-inf\tNaN\n");
    CHECK(tab_separated(h, order, {0, 1, 1, 2}, false) == "0.1\t-1e-12\n");
}

TEST_CASE("floats come back from the text bit by bit") {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> exponent(-37.0F, 37.0F);
    std::vector<float> values;
    for (int i = 0; i < 200; ++i) values.push_back((i % 2 == 0 ? 1.0F : -1.0F) * std::pow(10.0F, exponent(random)));
    const Heatmap h = table(200, 1, values);
    const std::string text = tab_separated(h, order_of(h, {}, {}), {0, 0, 200, 1}, false);
    std::size_t at = 0;
    for (const float value : values) {
        const std::size_t end = text.find('\n', at);
        REQUIRE(std::stof(text.substr(at, end - at)) == value);
        at = end + 1;
    }
}

// The numbers of weights in fewer bits, as explanations show them.

TEST_CASE("a stored number is written with its scale and what both make") {
    CHECK(step::stored_text({6.0F, 0.0625F}) == "(0.0625 · 6 = 0.375)");
    CHECK(step::stored_text({-6.0F, 0.0625F}) == "(0.0625 · (−6) = −0.375)");
    CHECK(step::stored_text({3.0F, 0.5F, 0.25F}) == "(0.5 · 3 − 0.25 = 1.25)");
}

TEST_CASE("an explanation of what a GGUF file's matrix makes shows its stored numbers, and so does that of a weight") {
    const std::string path = DECODERSCOPE_TESTS_DIR "/reference/stored/models/llama/model.gguf";
    const Scenario scenario = scenario_of(load::load_model(path));
    const auto run = execute(plan_of(scenario));
    const auto texts = [&](const char* name, const Cell& cell) {
        const step::ReadExplanation read = step::read_explanation(scenario, *run, *run->plan().find(name), cell);
        std::string all;
        for (const Line& line : read.explanation.lines) {
            all += line.name;
            for (const Term& term : line.terms)
                for (const Factor& factor : term.factors) all += "|" + step::factor_text(factor, true);
        }
        return all;
    };
    CHECK(contains(texts("embed", {0, 1, 2}), " · "));                     // Q8_0
    CHECK(contains(texts("blocks.0.mlp.pre", {0, 1, 2}), " = "));          // MXFP4
    CHECK(contains(texts("blocks.0.mlp_out", {0, 1, 2}), " − "));          // Q4_K, with minima
    CHECK_FALSE(contains(texts("blocks.0.attn.v", {0, 0, 1, 2}), " = "));  // F16
    CHECK(contains(texts("layers.0.up_proj.weight", {0, 1}), "scale · stored number"));
    const auto written = testing::run({"explain", path, "--cell", "blocks.0.mlp.pre[0, 1, 2]"});
    CHECK(written.status == 0);
    CHECK(contains(written.out, " · ("));
}
