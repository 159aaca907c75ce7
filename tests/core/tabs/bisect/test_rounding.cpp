// Bisect tells rounding from a mistake: tensors judged by themselves, recordings in bfloat16 and float16 with a mistake
// of a few ulps or none, and what theirs are to ours if no mistake is known. tests/reference/rounding_pairs.py asks the
// same of PyTorch's runs.
#include "app/core/run/open_model.h"
#include "app/core/tabs/bisect/bisection.h"
#include "app/core/tabs/bisect/bisection_text.h"
#include "app/core/tabs/bisect/judgement.h"
#include "app/core/tabs/bisect/relation.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/engine/dice.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::bisect;

namespace {

Tensor random_tensor(std::uint64_t seed, Index rows = 24, Index columns = 32) {
    Dice dice(seed);
    Tensor tensor({{axis::head, 4}, {axis::pos, rows / 4}, {axis::d_head, columns}});
    for (float& x : tensor.writable()) x = dice.number();
    return tensor;
}

Tensor changed(const Tensor& tensor, const std::function<double(double, std::size_t)>& change) {
    Tensor result = tensor;
    const std::span<float> numbers = result.writable();
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<float>(change(static_cast<double>(numbers[i]), i));
    return result;
}

Judgement judged_in(Arithmetic type, const Tensor& exact, const Tensor& theirs) {
    const std::vector<Tensor> ours = {rounded(exact, type)};
    return judged({.theirs = rounded(theirs, type), .ours = ours, .type = type});
}

constexpr std::array kSmall = {Arithmetic::bfloat16, Arithmetic::float16};

}  // namespace

TEST_CASE("what is rounded from nearly the same numbers is rounding; a direction, a column or a head is not") {
    for (const Arithmetic type : kSmall)
        for (std::uint64_t seed = 1; seed <= (kSanitized ? 4 : 20); ++seed) {
            INFO(name_of(type) << " " << seed);
            const double ulp = ulp_at(1.0, type);
            const Tensor exact = random_tensor(seed);
            Dice dice(100 + seed);
            const auto noise = changed(exact, [&](double x, std::size_t) {
                return x * (1.0 + 0.02 * ulp * static_cast<double>(dice.number()));
            });
            CHECK_FALSE(judged_in(type, exact, noise).differs);
            CHECK(judged_in(type, exact, noise).ulps <= 1.0);
            CHECK(judged_in(type, exact, changed(exact, [&](double x, std::size_t) { return x * (1.0 + 0.3 * ulp); }))
                      .differs);
            CHECK(judged_in(type, exact, changed(exact, [&](double x, std::size_t) { return x + 0.2 * ulp; })).differs);
            CHECK(judged_in(
                      type, exact,
                      changed(exact, [&](double x, std::size_t i) { return i % 32 == 7 ? x * (1.0 + 3.0 * ulp) : x; }))
                      .differs);
            CHECK(
                judged_in(type, exact,
                          changed(exact, [&](double x, std::size_t i) { return i == 100 ? x * (1.0 + 6.0 * ulp) : x; }))
                    .differs);
        }
}

TEST_CASE("each relation between two tensors is found and named, and nothing is found between strangers") {
    const Tensor ours = random_tensor(5, 32, 8);  // [head 4, pos 8, d_head 8]
    const auto picked = [&](const std::function<std::size_t(std::size_t)>& from) {
        Tensor theirs = ours;
        for (std::size_t i = 0; i < ours.values().size(); ++i) theirs.writable()[i] = ours.values()[from(i)];
        return theirs;
    };
    const std::vector<std::pair<Tensor, std::string>> related = {
        {changed(ours, [](double x, std::size_t) { return -x; }), "theirs have the other sign"},
        {changed(ours, [](double x, std::size_t) { return 1.25 * x; }), "theirs are ours times 1.25"},
        {changed(ours, [](double x, std::size_t i) { return x * (1.0 + static_cast<double>(i / 8)); }),
         "theirs are ours times one factor for each row, from 1 to 32"},
        {picked([](std::size_t i) { return i / 64 * 64 + i % 8 * 8 + i / 8 % 8; }),
         "theirs are transposed: their last two axes are swapped"},
        {picked([](std::size_t i) { return (i + 64) % 256; }), "theirs are ours of the next place along head"},
        {picked([](std::size_t i) { return i / 64 * 64 + (i + 8) % 64; }),
         "theirs are ours of the next place along pos"},
        {picked([](std::size_t i) { return (i / 64 ^ 1U) * 64 + i % 64; }),
         "theirs are ours in another order along head: 1, 0, 3, 2"},
        {picked([](std::size_t i) { return i / 8 * 8 + i % 8 / 2 + i % 2 * 4; }),
         "theirs are ours along d_head with the two halves interleaved in pairs"},
        {picked([](std::size_t i) { return i / 8 * 8 + i % 4 * 2 + i % 8 / 4; }),
         "theirs are ours along d_head with the pairs taken apart into two halves"},
        {changed(ours, [](double x, std::size_t i) { return i / 64 / 2 == 1 ? x : 0.0; }),
         "theirs hold part 2 of 2 along head, and 0 elsewhere"}};
    for (const auto& [theirs, sentence] : related)
        for (const Arithmetic type : {Arithmetic::float32, Arithmetic::bfloat16}) {
            INFO(name_of(type));
            CHECK(relation_between(rounded(ours, type), rounded(theirs, type), type).english() == sentence);
        }
    CHECK(relation_between(ours, random_tensor(6, 32, 8), Arithmetic::bfloat16).empty());
    // Keys [batch 1, head 2, pos 5, d_head 4]: split into heads by a view alone; the last written over the first.
    std::vector<float> numbers;
    for (int i = 0; i < 40; ++i) numbers.push_back(std::sin(3.7F * static_cast<float>(i)));
    const Tensor keys({{axis::batch, 1}, {axis::head, 2}, {axis::key, 5}, {axis::d_head, 4}}, numbers);
    Tensor viewed = keys, overwritten = keys;
    for (std::size_t i = 0; i < 40; ++i) {
        const std::size_t head = i / 4 % 2, pos = i / 8, row = i / 4 % 5;
        viewed.writable()[i] = keys.values()[head * 20 + pos * 4 + i % 4];
        if (row == 0) overwritten.writable()[i] = keys.values()[i + 16];
        if (row == 4) overwritten.writable()[i] = 0.0F;
    }
    const auto told = [&](const Tensor& theirs) {
        return relation_between(keys, theirs, Arithmetic::float32).english();
    };
    CHECK(contains(told(viewed), "laid out as [batch, key, head, d_head] and read as [batch, head, key, d_head]"));
    CHECK(contains(told(overwritten),
                   "in another order along key: 4, 1, 2, 3, −; − is zeros, as where a cache is written over"));
    // Another slope of ALiBi, counted from the first key there: beside the slope, a number for each row.
    const Tensor scores({{axis::batch, 1}, {axis::head, 2}, {axis::query, 5}, {axis::key, 5}},
                        std::vector<float>(50, 0.5F));
    Tensor steeper = scores;
    for (std::size_t i = 0; i < 50; ++i) {
        const auto head = static_cast<float>(i / 25), query = static_cast<float>(i / 5 % 5),
                   key = static_cast<float>(i % 5);
        steeper.writable()[i] += 0.1F * (head + 1.0F) * key + 0.3F * query;
    }
    CHECK(contains(relation_between(scores, steeper, Arithmetic::float32).english(), "ALiBi's slope"));
}

namespace {

// A model's run under other settings, as another program's recording.
Bisection recorded_with(const Overrides& right, const Overrides& wrong, bool seek_causes = true) {
    const TemporaryFolder folder;
    Scenario scenario = scenario_of(load::make_bundled_model("verses"));
    for (const auto& [key, value] : right) scenario = with_override(scenario, key, value);
    Scenario there = scenario;
    for (const auto& [key, value] : wrong) there = with_override(there, key, value);
    const std::string path = folder.file("trace.safetensors");
    write_safetensors(path, recorded_tensors(*execute(plan_of(there))));
    return core::bisect::bisect(scenario, trace::open_trace(path), {.seek_causes = seek_causes});
}

}  // namespace

TEST_CASE("RoPE of frequencies that are scaled is judged by its own rounding, too, not by a coarse tolerance",
          "[long]") {
    const Overrides scaled = {{"positional_encoding", "rope"}, {"rope_scaling", "linear"}, {"rope_factor", "4"}};
    for (const Arithmetic type : kSmall) {
        const std::string name(name_of(type));
        CHECK_FALSE(recorded_with(scaled, {{"arithmetic", name}}, false).first);
        // By a hundredth of an angle: less than the coarse tolerance.
        const std::string factor = type == Arithmetic::bfloat16 ? "4.1" : "4.01";
        const Bisection found = recorded_with(scaled, {{"arithmetic", name}, {"rope_factor", factor}}, false);
        REQUIRE(found.first);
        const TensorCheck& wrong = found.checks[*found.first];
        INFO(name << " " << wrong.ours << " " << wrong.relative << " " << found.agreed_before);
        CHECK((wrong.ours.ends_with(".attn.q") || wrong.ours.ends_with(".attn.k")));
        CHECK(wrong.relative < coarse_tolerance(type));
    }
}

TEST_CASE("a recording in bfloat16 is compared with a run in bfloat16, and a mistake of an ulp is one", "[long]") {
    for (const Arithmetic type : kSmall) {
        const std::string name(name_of(type));
        INFO(name);
        const Bisection same = recorded_with({}, {{"arithmetic", name}});
        CHECK(same.verdict == Verdict::agrees);
        CHECK(same.arithmetic == type);
        CHECK(same.largest == 0.0);
        for (const auto& [key, value] : Overrides{{"layer_norm_eps", "1e-2"}, {"attention_scale", "0.36"}}) {
            INFO(key);
            const Bisection found = recorded_with({}, {{"arithmetic", name}, {key, value}});
            CHECK(found.verdict == Verdict::differs);
        }
    }
}

TEST_CASE("a step that its formula doesn't fit is judged, too: positions that are added without a batch", "[long]") {
    const TemporaryFolder folder;
    const Scenario scenario = with_override(scenario_of(load::make_bundled_model("verses")), "arithmetic", "bfloat16");
    auto tensors = recorded_tensors(*execute(plan_of(scenario)));
    for (auto& [name, tensor] : tensors)
        if (name == "blocks.0.resid_pre")
            tensor = rounded(changed(tensor, [](double x, std::size_t) { return 1.02 * x; }), Arithmetic::bfloat16);
    const std::string path = folder.file("trace.safetensors");
    write_safetensors(path, tensors);
    const Bisection found = core::bisect::bisect(scenario, trace::open_trace(path));
    REQUIRE(found.first);
    CHECK(found.checks[*found.first].ours == "blocks.0.resid_pre");
    CHECK(found.relation.english() == "theirs are ours times 1.02");
}

TEST_CASE(
    "the gradient of a key's bias is 0 but for rounding, which differs in each program; that of a query's isn't") {
    const TemporaryFolder folder;
    Scenario scenario = scenario_of(load::load_model("reverse"));
    scenario.gradient_target = "loss";
    const auto tensors = recorded_tensors(*execute(plan_of(scenario)));
    const auto bisected_with = [&](const std::string& ending) {
        auto changed_one = tensors;
        std::size_t found = 0;
        for (auto& [name, tensor] : changed_one)
            if (name.starts_with("grad.layers.") && name.ends_with(ending)) {
                tensor = changed(tensor, [](double x, std::size_t) { return 1.3 * x; });
                ++found;
            }
        REQUIRE(found > 0);
        const std::string path = folder.file("trace.safetensors");
        write_safetensors(path, changed_one);
        Scenario ours = scenario;
        ours.gradient_target.clear();
        return core::bisect::bisect(ours, trace::open_trace(path), {.seek_causes = false});
    };
    CHECK_FALSE(bisected_with("self_attn.k_proj.bias").first);
    CHECK(bisected_with("self_attn.q_proj.bias").first);
}
