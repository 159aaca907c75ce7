// How two lists of tensors differ, on plain values and against PyTorch.
#include "app/core/compare/comparison_text.h"
#include "app/core/compare/shown_comparison.h"
#include "app/core/compare/transformer_lens.h"
#include "app/core/run/comparison.h"
#include "app/core/run/scenario.h"
#include "engine/base/json.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/not_finite.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace decoderscope::testing;
using namespace decoderscope::core::diff;

namespace {

constexpr double kWithoutEnd = std::numeric_limits<double>::infinity();

Tensor row(std::initializer_list<float> values) {
    return {{{axis::d_model, static_cast<Index>(values.size())}}, values};
}

// One tensor on each side.
TensorDifference of_one(const Tensor& a, const Tensor& b, double tolerance = 0.0) {
    return compare({{"t", a}}, {{"t", b}}, tolerance).tensors.at(0);
}

NamedTensors trace_of(const Scenario& scenario) { return recorded_tensors(*execute(plan_of(scenario))); }

std::string name_of_first(const Comparison& comparison) {
    return comparison.first ? comparison.tensors[*comparison.first].name : "";
}

double number(const nlohmann::json& json) {
    if (json.is_number()) return json.get<double>();
    const auto text = json.get<std::string>();
    return text == "nan" ? static_cast<double>(kNan) : text == "inf" ? kWithoutEnd : -kWithoutEnd;
}

Tensor tensor_of(const nlohmann::json& json, const std::vector<Index>& shape) {
    Tensor tensor(unnamed(shape));
    std::ranges::transform(json, tensor.writable().begin(),
                           [](const auto& v) { return static_cast<float>(number(v)); });
    return tensor;
}

}  // namespace

TEST_CASE("the distance of two numbers: NaN has its own") {
    CHECK(distance_between(1.5F, -0.5F) == 2.0);
    CHECK(distance_between(-0.0F, 0.0F) == 0.0);
    CHECK(distance_between(kNan, kNan) == 0.0);
    CHECK(distance_between(kInfinity, kInfinity) == 0.0);
    CHECK(distance_between(-kInfinity, -kInfinity) == 0.0);
    CHECK(distance_between(kNan, 1.0F) == kWithoutEnd);
    CHECK(distance_between(1.0F, kNan) == kWithoutEnd);
    CHECK(distance_between(kNan, kInfinity) == kWithoutEnd);
    CHECK(distance_between(kInfinity, -kInfinity) == kWithoutEnd);
    CHECK(distance_between(-kInfinity, -1e9F) == kWithoutEnd);
    // No float overflows in between.
    CHECK(distance_between(3e38F, -3e38F) == Approx(6e38));
    CHECK(signed_difference(1.0F, 3.0F) == -2.0F);
    CHECK(std::isnan(signed_difference(kNan, kNan)));
    CHECK(signed_difference(-kInfinity, -kInfinity) == 0.0F);
    CHECK(std::isnan(signed_difference(kNan, 1.0F)));
    CHECK(signed_difference(-kInfinity, 1.0F) == -kInfinity);
}

TEST_CASE("a tensor's measures, against the formulas") {
    const TensorDifference d = of_one(row({1, 2, 3, -8}), row({1, 2.5F, 2, -8}), 0.5);
    CHECK(d.presence == Presence::in_both);
    CHECK(d.count == 4);
    CHECK(d.largest == 1.0);
    CHECK(d.mean == (0.5 + 1.0) / 4);
    CHECK(d.scale == 8.0);
    CHECK(d.relative() == 1.0 / 8);
    CHECK(d.over == 1);  // 0.5 is not more than 0.5
    CHECK(d.cell == Cell{2});
    CHECK(d.a == 3.0F);
    CHECK(d.b == 2.0F);
    CHECK(d.differs());
    CHECK_FALSE(of_one(row({1, 2}), row({1, 2.5F}), 0.5).differs());
    CHECK(of_one(row({0, 0}), row({0, kNan})).relative() == kWithoutEnd);
}

TEST_CASE("zeros of either sign are equal numbers, but not the same bits") {
    const Comparison comparison = compare({{"t", row({0.0F, 1})}}, {{"t", row({-0.0F, 1})}}, 0.0);
    CHECK_FALSE(comparison.differs());
    CHECK(comparison.largest == 0.0);
    CHECK_FALSE(comparison.same_bits);
    CHECK(verdict_of(comparison) == "Nothing differs: the numbers of 1 tensor are equal.");
}

TEST_CASE("the measures are PyTorch's") {
    const std::string path = std::string(DECODERSCOPE_TESTS_DIR) + "/reference/tabs_diff.json";
    const auto cases = nlohmann::json::parse(decoderscope::testing::read_bytes(path));
    REQUIRE(cases.size() >= 6);
    for (const auto& expected : cases) {
        const auto shape = expected["shape"].get<std::vector<Index>>();
        const Tensor a = tensor_of(expected["a"], shape), b = tensor_of(expected["b"], shape);
        INFO(expected["shape"].dump());
        const TensorDifference d = of_one(a, b, expected["tolerance"].get<double>());
        CHECK(d.largest == number(expected["largest"]));
        if (std::isinf(number(expected["mean"])))
            CHECK(std::isinf(d.mean));
        else
            CHECK(d.mean == Approx(number(expected["mean"])).epsilon(1e-12));
        CHECK(d.over == expected["over"].get<Index>());
        CHECK(d.differs() != expected["allclose"].get<bool>());
        if (d.largest > 0.0) {
            CHECK(d.scale == number(expected["scale"]));
            CHECK(d.cell == expected["cell"].get<Cell>());
            CHECK(distance_between(a.at(d.cell), b.at(d.cell)) == d.largest);
        }
    }
}

TEST_CASE("a tensor that is missing, surplus or of another shape is listed with that difference") {
    const Tensor wide({{axis::pos, 2}, {axis::d_model, 3}}, {1, 2, 3, 4, 5, 6});
    const Tensor tall({{axis::pos, 3}, {axis::d_model, 2}}, {1, 2, 3, 4, 5, 6});
    const NamedTensors a = {{"same", row({1})}, {"missing", row({1})}, {"turned", wide}, {"off", row({1})}};
    const NamedTensors b = {{"surplus", row({7})}, {"off", row({2})}, {"turned", tall}, {"same", row({1})}};
    const Comparison c = compare(a, b, 0.0);
    REQUIRE(c.tensors.size() == 5);
    CHECK(c.tensors[1].presence == Presence::only_in_a);
    CHECK(c.tensors[2].presence == Presence::other_shape);
    CHECK(presence_text(c.tensors[2], "A", "B") == "[2, 3] in A, [3, 2] in B");
    CHECK(c.tensors[4].name == "surplus");
    CHECK(c.tensors[4].presence == Presence::only_in_b);
    CHECK(c.in_both == 2);
    CHECK(c.over == 1);
    CHECK(c.unmatched == 3);
    CHECK(c.differs());
    CHECK(name_of_first(c) == "turned");
    std::vector<std::string> names;
    for (const std::size_t i : worst_first(c)) names.push_back(c.tensors[i].name);
    CHECK(names == std::vector<std::string>{"turned", "off", "missing", "surplus", "same"});
    CHECK(verdict_of(c) == "1 of 2 tensors differs; 3 are not in both or of another shape.");
    CHECK(difference_table(c, "the run", "the file").find("only in the file") != std::string::npos);
    CHECK_FALSE(compare({}, {}, 0.0).differs());
    // Axis names are not part of a shape: a file has none.
    CHECK_FALSE(of_one(wide, wide.with_axes({{"", 2}, {"", 3}})).differs());
}

TEST_CASE("the first step that differs by more than the tolerance, and the worst") {
    const NamedTensors a = {{"p", row({1})}, {"q", row({1})}, {"r", row({1})}, {"s", row({kNan})}};
    const NamedTensors b = {{"p", row({1.001F})}, {"q", row({1.5F})}, {"r", row({3})}, {"s", row({kNan})}};
    CHECK(name_of_first(compare(a, b, 0.0)) == "p");
    CHECK(name_of_first(compare(a, b, 0.01)) == "q");
    CHECK(name_of_first(compare(a, b, 1.0)) == "r");
    CHECK(name_of_first(compare(a, b, 2.0)).empty());
    CHECK(first_difference(compare(a, b, 0.01)).english() == "The first to differ is q, by up to 0.5 at [0]");
    CHECK(first_difference(compare(a, b, 2.0)).empty());
    CHECK(worst_first(compare(a, b, 2.0)) == std::vector<std::size_t>{2, 1, 0, 3});
    CHECK(verdict_of(compare(a, b, 2.0)) ==
          "None of 4 tensors differs by more than 2; 1 number is NaN in both and can't be compared.");
}

TEST_CASE("a run compared with itself differs in nothing, whatever it holds") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        Scenario scenario = scenario_of(make_bundled_model(model.name));
        const NamedTensors once = trace_of(scenario), again = trace_of(scenario);
        for (const auto& b : {once, again}) {
            const Comparison comparison = compare(once, b, 0.0);
            CHECK_FALSE(comparison.differs());
            CHECK_FALSE(comparison.first);
            CHECK(comparison.same_bits);
            CHECK(comparison.in_both == once.size());
            const std::string equal =
                "Nothing differs: " + std::to_string(once.size()) + " tensors are equal bit for bit";
            CHECK(verdict_of(comparison).starts_with(equal + (comparison.both_nan > 0 ? "; " : ".")));
        }
    }
}

TEST_CASE("the first step that an edit in a block changes is the one that was edited") {
    const auto model = make_bundled_model("causal-lm-as-meant");
    const NamedTensors plain = trace_of(scenario_of(model));
    for (Index layer = 0; layer < 5; ++layer) {
        const std::string block = "blocks." + std::to_string(layer);
        Scenario masked = scenario_of(model), scaled = masked, typed = masked;
        masked.edits = {MaskEdit{block + ".attn", 0, 1, 2, 0, false}};
        scaled.edits = {ScaleHead{block + ".attn", 3, 0.0F}};
        typed.edits = {SetCell{block + ".mlp.post", {1, 2, 5}, 9.0F}};
        CHECK(name_of_first(compare(trace_of(masked), plain, 0.0)) == block + ".attn.mask");
        CHECK(name_of_first(compare(trace_of(scaled), plain, 0.0)) == block + ".attn.z");
        const Comparison last = compare(trace_of(typed), plain, 0.0);
        CHECK(name_of_first(last) == block + ".mlp.post");
        CHECK(last.tensors[*last.first].over == 1);
        CHECK(last.tensors[*last.first].cell == Cell{1, 2, 5});
    }
}

TEST_CASE("swapping A and B swaps the numbers and keeps the measures") {
    const auto model = make_bundled_model("simple-decoder");
    const NamedTensors a = trace_of(scenario_of(model));
    const NamedTensors b = trace_of(with_override(scenario_of(model), "norm_first", "true"));
    const Comparison forth = compare(a, b, 1e-3), back = compare(b, a, 1e-3);
    CHECK(forth.over == back.over);
    CHECK(forth.largest == back.largest);
    for (const TensorDifference& d : forth.tensors) {
        const auto twin = std::ranges::find(back.tensors, d.name, &TensorDifference::name);
        REQUIRE(twin != back.tensors.end());
        CHECK(twin->largest == d.largest);
        CHECK(twin->over == d.over);
        CHECK(twin->a == d.b);
    }
}

TEST_CASE("a comparison made in parts gives the same result") {
    const auto model = make_bundled_model("simple-decoder");
    const NamedTensors a = trace_of(scenario_of(model));
    NamedTensors b = trace_of(with_override(scenario_of(model), "norm_first", "true"));
    b.emplace_back("surplus", row({1}));
    const Comparison whole = compare(a, b, 1e-3);
    Comparing comparing(a, b, 1e-3);
    int parts = 1;
    double before = -1.0;
    while (!comparing.advance(1)) {
        CHECK(comparing.progress() > before);
        before = comparing.progress();
        ++parts;
    }
    CHECK(parts > 10);
    CHECK(comparing.progress() == 1.0);
    CHECK(comparing.advance(1));
    REQUIRE(comparing.found().tensors.size() == whole.tensors.size());
    CHECK(comparing.found().over == whole.over);
    CHECK(comparing.found().unmatched == 1);
    for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
        CHECK(comparing.found().tensors[i].name == whole.tensors[i].name);
        CHECK(comparing.found().tensors[i].largest == whole.tensors[i].largest);
    }
}

TEST_CASE("heights in the strip go with the logarithm, up to the largest difference") {
    CHECK(ChartedDifferences{}.height(0.0, 1.0) == 0.0);
    CHECK(ChartedDifferences{}.height(1e-12, 1.0) > 0.0);
    CHECK(ChartedDifferences{}.height(1e-3, 1.0) == Approx(2.0 / 3));
    CHECK(ChartedDifferences{}.height(1e-6, 1.0) == Approx(1.0 / 3));
    CHECK(ChartedDifferences{}.height(1.0, 1.0) == 1.0);
    CHECK(ChartedDifferences{}.height(kWithoutEnd, 1.0) == 1.0);
    const Comparison comparison =
        compare({{"p", row({0})}, {"q", row({0})}, {"r", row({0})}, {"s", row({kNan})}},
                {{"p", row({0.76F})}, {"q", row({9.4F})}, {"r", row({38.1F})}, {"s", row({1})}}, 0.0);
    const double most = ChartedDifferences{}.most(comparison);
    CHECK(most == 100.0);
    CHECK(ChartedDifferences{}.height(0.76, most) < ChartedDifferences{}.height(9.4, most) - 0.05);
    CHECK(ChartedDifferences{}.height(9.4, most) < ChartedDifferences{}.height(38.1, most) - 0.05);
    CHECK(ChartedDifferences{}.height(38.1, most) < 1.0);
    CHECK(ChartedDifferences{}.most(compare({{"p", row({0})}}, {{"p", row({1e-4F})}}, 0.0)) == 1.0);
}

TEST_CASE("beside a run of another type, the strip is relative and has the type's own scale") {
    const auto run = [](const char* arithmetic) {
        Scenario scenario = scenario_of(make_bundled_model("causal-lm-as-meant"));
        scenario = with_override(std::move(scenario), "arithmetic", arithmetic);
        return execute(plan_of(scenario));
    };
    const auto exact = run("float32"), rounded = run("bfloat16"), finer = run("float16");
    CHECK_FALSE(charted_differences(*exact, exact.get()).floor);
    CHECK_FALSE(charted_differences(*rounded, nullptr).floor);
    CHECK(charted_differences(*exact, finer.get()).floor == 0x1p-11);
    const ChartedDifferences charted = charted_differences(*rounded, finer.get());
    CHECK(charted.type == Arithmetic::bfloat16);
    CHECK(charted.floor == 0x1p-8);  // half of 2⁻⁷, the gap between 1 and the next number
    const Comparison comparison = compare(recorded_tensors(*rounded), recorded_tensors(*exact), 0.0);
    const double most = charted.most(comparison);
    CHECK((most >= 0x1p-8 && most < 1.0));
    for (const TensorDifference& d : comparison.tensors) {
        CHECK(charted.of(d) == d.relative());
        if (d.name == "embed") CHECK((d.relative() > 0x1p-12 && d.relative() <= 0x1p-8));  // one rounding
    }
}

TEST_CASE("a tensor that is NaN in both is not equal: it can't be compared") {
    const TensorDifference d = of_one(row({1, kNan, 3}), row({1, kNan, 3}));
    CHECK(d.both_nan == 1);
    CHECK(equality_text(d, true) == "NaN in both at 1 of 3");
    CHECK(equality_text(of_one(row({1}), row({1})), true) == "equal bit for bit");
    const NamedTensors shared = {{"t", row({kNan, 2})}};
    CHECK(verdict_of(compare(shared, shared, 0.0)) ==
          "Nothing differs: 1 tensor is equal bit for bit; 1 number is NaN in both and can't be compared.");
}

TEST_CASE("measures as text") {
    CHECK(difference_text(0.0) == "0");
    CHECK(difference_text(kWithoutEnd) == "∞");
    const Comparison c = compare({{"t", Tensor({{axis::pos, 1234}})}}, {}, 0.0);
    CHECK(verdict_of(c) == "No tensor can be compared; 1 is not in both or of another shape.");
    const Tensor zeros({{axis::pos, 1234567}}, std::vector<float>(1234567));
    CHECK(measured_text(compare({{"t", zeros}}, {{"t", zeros}}, 0.0)) ==
          "1 tensor, 1,234,567 numbers compared, largest difference 0");
}

TEST_CASE("tensors go by TransformerLens' names where it has them") {
    const auto plan = plan_of(scenario_of(make_bundled_model("causal-lm")));
    const auto name = [&](const char* step) { return transformer_lens_name(*plan, *plan->find(step)); };
    CHECK(name("embed") == "hook_embed");
    CHECK(name("blocks.0.attn.pattern") == "blocks.0.attn.hook_pattern");
    CHECK(name("blocks.3.ln1.scale") == "blocks.3.ln1.hook_scale");
    CHECK(name("blocks.3.resid_post") == "blocks.3.hook_resid_post");
    CHECK(name("blocks.1.attn.masked_scores") == "blocks.1.attn.hook_attn_scores");
    CHECK(name("blocks.1.attn.attn_scores").empty());
    CHECK(name("blocks.1.attn.mask").empty());
    CHECK(name("logits").empty());
    CHECK(name("embed.weight").empty());
}

TEST_CASE("by position: the largest difference over all heads and features of one batch row") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const auto plain = execute(plan_of(scenario));
    scenario.edits = {ScaleHead{"blocks.0.attn", 1, 0.0F}};
    const auto run = execute(plan_of(scenario));
    Derived derived;
    const auto compared = shown_comparison(derived, run, plain, 0.0, [&] { return reference_of("plain", plain); });
    derived.finish();
    const auto comparison =
        compared ? compared : shown_comparison(derived, run, plain, 0.0, [&] { return reference_of("plain", plain); });
    REQUIRE(comparison);
    for (const char* name : {"blocks.0.attn_out", "blocks.1.attn.pattern", "logits"}) {
        for (const Index batch : {Index{0}, Index{1}}) {
            INFO(name << ", batch row " << batch);
            const Step& step = *run->plan().find(name);
            const auto by = shown_by_position(derived, scenario, comparison, step, batch);
            const Tensor &a = run->value(step.id), &b = plain->value(name);
            const std::size_t along = a.rank() == 4 ? 2 : 1;
            REQUIRE(by->positions.size() == static_cast<std::size_t>(a.dim(along)));
            for (std::size_t at = 0; at < by->positions.size(); ++at) {
                double largest = 0.0;
                for (Index i = 0; i < a.size(); ++i) {
                    const Cell cell = a.cell(i);
                    if (cell[0] == batch && cell[along] == static_cast<Index>(at))
                        largest = std::max(largest,
                                           std::abs(static_cast<double>(a.at(cell)) - static_cast<double>(b.at(cell))));
                }
                CHECK(by->positions[at].largest == largest);
                if (largest > 0.0) CHECK(by->positions[at].cell[along] == static_cast<Index>(at));
            }
        }
    }
}
