// Runs in bfloat16 and float16: how numbers are rounded (against Eigen's types, and IEEE 754's limits), and where steps
// round (against PyTorch, step by step).
#include "engine/decoder/initial_weights.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "engine/model/inputs.h"
#include "engine/tensor/arithmetic.h"
#include "tests/catch.h"
#include "tests/engine/dice.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

#include <Eigen/Core>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

using namespace decoderscope::testing;

namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

float by_eigen(float x, Arithmetic type) {
    return type == Arithmetic::bfloat16 ? static_cast<float>(Eigen::bfloat16(x)) : static_cast<float>(Eigen::half(x));
}

bool same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

constexpr std::array kSmall = {Arithmetic::bfloat16, Arithmetic::float16};

bool is_of(const Tensor& tensor, Arithmetic type) {
    return std::ranges::all_of(tensor.values(), [type](float x) { return same(x, by_eigen(x, type)); });
}

std::shared_ptr<const Run> small_run(std::string_view arithmetic, std::vector<Edit> edits = {}) {
    SmallModel model = small_model({{"num_layers", "2"}, {"arithmetic", std::string(arithmetic)}});
    model.edits = std::move(edits);
    return model.run();
}

// The numbers between which a step may choose where a sum lies near the middle of two.
double ulps_apart(float a, float b, Arithmetic type) {
    if (same(a, b)) return 0.0;
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return std::abs(x - y) / std::max(ulp_at(x, type), ulp_at(y, type));
}

}  // namespace

TEST_CASE("numbers are rounded as Eigen's types round them: near every boundary, at the ends, and at random") {
    std::vector<float> numbers = {0.0F,
                                  -0.0F,
                                  65504.0F,
                                  65519.9F,
                                  65520.0F,
                                  -65520.0F,
                                  3.4e38F,
                                  kInfinite,
                                  -kInfinite,
                                  5.96e-8F,
                                  2.98e-8F,
                                  2.981e-8F,
                                  6.1e-5F,
                                  1e-40F,
                                  -1e9F,
                                  1.0F / 3,
                                  0.0003333F,
                                  1.4e-45F,
                                  std::numeric_limits<float>::quiet_NaN()};
    // Each number of either type, the middle of it and the next, and what lies on both sides of that.
    for (std::uint32_t high = 0; high < 0x10000U; ++high)
        for (const std::uint32_t low : {0x0000U, 0x0FFFU, 0x1000U, 0x1001U, 0x3000U, 0x7FFFU, 0x8000U, 0x8001U})
            numbers.push_back(std::bit_cast<float>(high << 16 | low));
    Dice dice(7);
    for (int i = 0; i < 100'000; ++i)
        numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(dice.below(Index{1} << 32))));
    for (const Arithmetic type : kSmall) {
        std::vector<float> all = numbers;
        round_all(all, type);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const float expected = by_eigen(numbers[i], type);
            wrong += same(all[i], expected) && same(rounded(numbers[i], type), expected) ? 0U : 1U;
        }
        CHECK(wrong == 0);
    }
    CHECK(rounded(65520.0F, Arithmetic::float16) == kInfinite);
    CHECK(rounded(-1e9F, Arithmetic::float16) == -kInfinite);
    CHECK(rounded(2.9e-8F, Arithmetic::float16) == 0.0F);
}

TEST_CASE("an ulp is the distance to the next number of the type") {
    CHECK(ulp_at(1.0, Arithmetic::bfloat16) == std::exp2(-7));
    CHECK(ulp_at(-1.99, Arithmetic::bfloat16) == std::exp2(-7));
    CHECK(ulp_at(1.0, Arithmetic::float16) == std::exp2(-10));
    CHECK(ulp_at(1.0, Arithmetic::float32) == static_cast<double>(std::numeric_limits<float>::epsilon()));
    CHECK(ulp_at(0.0, Arithmetic::float16) == std::exp2(-24));
    CHECK(ulp_at(1e-7, Arithmetic::float16) == std::exp2(-24));
    CHECK(std::isnan(ulp_at(std::numeric_limits<double>::infinity(), Arithmetic::float16)));
}

TEST_CASE("all that a run records is of its type, but for masks and what norms divide by") {
    for (const Arithmetic type : kSmall) {
        const auto run = small_run(name_of(type));
        std::size_t rounded_steps = 0, exact = 0;
        for (const Step& step : run->plan().steps()) {
            const Tensor& value = run->value(step.id);
            if (value.empty()) continue;
            CAPTURE(step.name);
            if (step.operation.arithmetic() == type) {
                CHECK(is_of(value, type));
                ++rounded_steps;
            } else {
                exact += is_of(value, type) ? 0U : 1U;
                CHECK((step.role == Role::input || step.norm != "" || values_of(run->plan(), step) == Values::mask ||
                       step.operation.traits().fill));
            }
        }
        CHECK(rounded_steps > 40);
        CHECK(exact > 0);  // the norms' scales
        CHECK_FALSE(is_of(small_run("float32")->value("blocks.0.attn.q"), type));
    }
}

TEST_CASE("an explanation ends with the stored number, and adds up to it") {
    for (const Arithmetic type : kSmall) {
        const auto run = small_run(name_of(type));
        std::size_t told = 0;
        for (const Step& step : run->plan().steps()) {
            const Tensor& value = run->value(step.id);
            if (step.is_source() || value.empty()) continue;
            CAPTURE(step.name);
            const Cell cell = value.cell(value.size() - 1);
            const Explanation explanation = run->explain(step.id, cell);
            const auto stored = static_cast<double>(value.at(cell));
            if (!std::isfinite(stored)) continue;
            const bool rounds = step.operation.arithmetic() != Arithmetic::float32;
            CHECK(std::abs(explanation.lines.back().value - stored) <= (rounds ? 0.0 : 1e-5 * std::abs(stored) + 1e-6));
            told += explanation.lines.back().name == "as " + std::string(name_of(type)) ? 1U : 0U;
        }
        CHECK(told > 20);
    }
}

TEST_CASE("an edited number is stored in the run's type, too, and one more edit leaves the same bits as a fresh run") {
    const SetCell cell{"blocks.0.attn.z", {0, 1, 2, 1}, 0.1F};
    const auto run = small_run("bfloat16", {cell});
    CHECK(run->value("blocks.0.attn.z").at(cell.index) == rounded(0.1F, Arithmetic::bfloat16));
    SmallModel model = small_model({{"num_layers", "2"}, {"arithmetic", "bfloat16"}});
    const auto before = model.run();
    model.edits = {cell};
    CHECK(first_difference(*model.run(before.get()), *run).empty());
    // Weights are rounded once for all plans that read them.
    CHECK(before->value("layers.0.self_attn.q_proj.weight")
              .shares_values_with(model.run()->value("layers.0.self_attn.q_proj.weight")));
}

TEST_CASE("each step rounds as PyTorch does, from the same operands") {
    for (const std::string name : {"llama-bfloat16", "neox-float16"}) {
        const std::string folder = DECODERSCOPE_TESTS_DIR "/reference/rounding/" + name;
        std::stringstream json;
        json << std::ifstream(folder + "/config.json").rdbuf();
        const Config config = parse_config(json.str());
        const Weights weights = decoder::initial_weights(config, 11);
        const Inputs inputs = load_inputs(folder + "/inputs.safetensors", config);
        const auto plan = decoder::plan_decoder({config, &weights, inputs, {}, std::nullopt});
        const SafetensorsFile expected(folder + "/expected.safetensors");
        std::vector<Tensor> values(plan->steps().size());
        std::size_t compared = 0, off = 0, numbers = 0;
        for (const Step& step : plan->steps()) {
            if (step.role == Role::on_demand) continue;
            Operands operands;
            for (const StepId id : step.operands) operands.add(values[id]);
            Tensor& value = values[step.id];
            value = step.is_source() ? step.source : step.operation.compute(operands, step.axes);
            if (step.is_source() || !expected.contains(step.name)) continue;
            CAPTURE(step.name);
            const Tensor theirs = expected.floats(step.name).with_axes(step.axes);
            const bool exact = step.operation.arithmetic() == Arithmetic::float32;
            for (std::size_t i = 0; i < theirs.values().size(); ++i) {
                const float a = value.values()[i], b = theirs.values()[i];
                if (exact)
                    CHECK((same(a, b) || std::abs(a - b) <= 1e-6F * std::abs(b)));
                else
                    CHECK(ulps_apart(a, b, config.arithmetic) <= 1.0);
                off += same(a, b) ? 0U : 1U;
                ++numbers;
            }
            value = theirs;
            ++compared;
        }
        CHECK(compared == expected.entries().size());
        CHECK(off * 50 < numbers);  // where a sum lies near the middle of two numbers
    }
}

TEST_CASE("what departs from the type's usual places is a key of the configuration") {
    const auto exact = [](const Overrides& overrides, const std::string& name) {
        SmallModel model = small_model(overrides);
        return model.run()->plan().find(name)->operation.arithmetic() == Arithmetic::float32;
    };
    CHECK_FALSE(exact({{"arithmetic", "bfloat16"}, {"vocab_size", "7"}, {"lm_head", "true"}}, "logits"));
    CHECK(exact({{"arithmetic", "bfloat16"}, {"vocab_size", "7"}, {"lm_head", "true"}, {"logits_float32", "true"}},
                "logits"));
    const Overrides rms = {{"norm", "rmsnorm"}, {"bias", "false"}, {"arithmetic", "bfloat16"}};
    const auto with_cast = [&](const char* cast) {
        Overrides overrides = rms;
        overrides.emplace_back("norm_cast", cast);
        SmallModel model = small_model(overrides);
        for (float& gain : model.weights.find("layers.0.norm1.weight")->second.writable()) gain = 0.7F;
        return model.run();
    };
    const auto before = with_cast("before_gain"), after = with_cast("after_gain");
    // Both by hand, from the same operands.
    const Step& step = *before->plan().find("blocks.0.ln1.normalized");
    const Tensor &x = before->value(step.operands[0]), &scale = before->value(step.operands[1]);
    const float gain = rounded(0.7F, Arithmetic::bfloat16);
    bool differ = false;
    for (Index i = 0; i < x.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const float row = x.values()[at] / scale.values()[at / static_cast<std::size_t>(x.axes().back().size)];
        const float once = rounded(row * gain, Arithmetic::bfloat16);
        const float twice = rounded(rounded(row, Arithmetic::bfloat16) * gain, Arithmetic::bfloat16);
        CHECK(ulps_apart(before->value(step.id).values()[at], twice, Arithmetic::bfloat16) == 0.0);
        CHECK(ulps_apart(after->value(step.name).values()[at], once, Arithmetic::bfloat16) == 0.0);
        differ = differ || once != twice;
    }
    CHECK(differ);
}
