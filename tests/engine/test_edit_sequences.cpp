// For any sequence of edits, undos, switches and on-demand requests, a run that reuses what it can is the same, bit for
// bit, as one from scratch. On random small models, from fixed seeds.
#include "engine/products/linalg.h"
#include "tests/catch.h"
#include "tests/engine/random_models.h"
#include "tests/engine/same_bits.h"
#include "tests/sanitized.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::products;

namespace {

// A random edit, undo, switch or request: an edit is added or removed anywhere in the list.
void change_something(Dice& dice, SmallModel& model) {
    const auto edits = static_cast<Index>(model.edits.size());
    if (dice.one_in(4) && edits > 0) {
        model.edits.erase(model.edits.begin() + dice.below(edits));
    } else if (dice.one_in(6)) {
        model.config.norm_first = !model.config.norm_first;
    } else if (dice.one_in(6)) {
        model.asked = model.asked.empty() ? std::vector<std::string>{"*"} : std::vector<std::string>{};
    } else if (dice.one_in(6) && edits == 0) {
        // Edits may name dropout's tensors, so dropout is only switched without edits.
        model.dropout_seed = model.dropout_seed ? std::nullopt : std::optional<std::uint64_t>(dice.below(100));
    } else {
        model.edits.insert(model.edits.begin() + dice.below(edits + 1), random_edit(dice, model));
    }
}

// A moment of the past, to go back to.
struct Moment {
    SmallModel model;
    std::shared_ptr<const Run> run;
};

// As random_configuration, in any arithmetic.
Overrides in_any_arithmetic(Dice& dice) {
    Overrides config = random_configuration(dice);
    config.emplace_back("arithmetic", dice.word({"float32", "float32", "bfloat16", "float16"}));
    config.emplace_back("positions", dice.word({"plain", "from_mask"}));
    config.emplace_back("norm_cast", dice.word({"before_gain", "after_gain"}));
    for (const char* key : {"router_float32", "logits_float32", "alibi_scaled"})
        config.emplace_back(key, dice.word({"true", "false"}));
    return config;
}

}  // namespace

TEST_CASE("any edits in any order, and undoing them: a run equals a fresh one bit for bit") {
    constexpr std::uint64_t kConfigurations = kSanitized ? 150 : 1000;
    std::size_t computed = 0, computed_afresh = 0;
    std::map<std::string, std::set<std::string>> tried;  // the values that each key of the configuration had
    for (std::uint64_t seed = 0; seed < kConfigurations; ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        SmallModel model = random_model(dice, in_any_arithmetic(dice));
        for (const auto& [key, value] : config_values(model.config)) tried[key].insert(value);
        std::vector<Moment> past = {{model, model.run()}};
        const Index changes = dice.between(2, 6);
        for (Index change = 0; change < changes; ++change) {
            change_something(dice, model);
            INFO("change " << change << ", " << config_to_json(model.config) << edits_to_json(model.edits));
            past.push_back({model, model.run(past.back().run.get())});
            const auto fresh = model.run();
            REQUIRE(first_difference(*past.back().run, *fresh) == "");
            computed += past.back().run->computed_steps();
            computed_afresh += fresh->computed_steps();
        }
        std::shared_ptr<const Run> now = past.back().run;
        for (std::size_t back = past.size() - 1; back-- > 0;) {
            INFO("undone to change " << back);
            now = past[back].model.run(now.get());
            REQUIRE(first_difference(*now, *past[back].run) == "");
        }
    }
    CHECK(computed < computed_afresh / 2);  // and reuse was worth it
    for (const auto& [key, values] : tried) {
        INFO("values of " << key);
        CHECK((values.size() >= 2 || kSanitized));
    }
}

namespace {

// Large enough for products with independent rows, and causal: here runs reuse rows, not only whole tensors.
Overrides roomy_configuration(Dice& dice) {
    Overrides config = {{"d_model", "64"},
                        {"num_layers", "2"},
                        {"norm_first", dice.word({"false", "true"})},
                        {"norm", dice.word({"layernorm", "rmsnorm"})},
                        {"final_norm", dice.word({"false", "true"})},
                        {"positional_encoding", dice.word({"none", "sinusoidal", "rope"})},
                        {"mask_value", dice.word({"-inf", "-1e9"})},
                        {"vocab_size", "70"},
                        {"lm_head", "true"}};
    if (dice.one_in(3)) config.emplace_back("num_key_value_heads", "1");
    if (dice.one_in(3)) config.emplace_back("cross_attention", "true");
    return config;
}

void change_rows(Dice& dice, SmallModel& model) {
    if (dice.one_in(3) && !model.edits.empty()) {
        model.edits.pop_back();
    } else if (dice.one_in(2)) {
        Tensor tokens = model.inputs.tokens;
        tokens.writable()[static_cast<std::size_t>(dice.below(tokens.size()))] = static_cast<float>(dice.below(70));
        model.inputs.tokens = tokens;
    } else {
        model.edits.push_back(random_edit(dice, model));
    }
}

}  // namespace

TEST_CASE("a run that takes over rows equals a fresh one bit for bit") {
    for (std::uint64_t seed = 0; seed < (kSanitized ? 10U : 60U); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        SmallModel model = small_model(roomy_configuration(dice), {.batch = 1 + dice.below(2), .pos = 80});
        std::shared_ptr<const Run> run = model.run();
        for (int change = 0; change < 6; ++change) {
            INFO("change " << change << ", edits " << edits_to_json(model.edits));
            change_rows(dice, model);
            run = model.run(run.get());
            REQUIRE(first_difference(*run, *model.run()) == "");
        }
    }
}

TEST_CASE("what no number may hide: a value that is none reaches rows that give it no weight") {
    Dice dice(1);
    SmallModel model =
        small_model({{"d_model", "64"}, {"num_layers", "1"}, {"vocab_size", "70"}}, {.batch = 1, .pos = 80});
    const std::shared_ptr<const Run> run = model.run();
    model.edits = {SetCell{"blocks.0.attn.v", {0, 0, 79, 0}, std::numeric_limits<float>::infinity()}};
    const std::shared_ptr<const Run> edited = model.run(run.get());
    CHECK(first_difference(*edited, *model.run()) == "");
    CHECK(std::isnan(edited->value("blocks.0.attn.z").at(Cell{0, 0, 3, 0})));  // 0 · ∞
    model.edits.clear();
    CHECK(first_difference(*model.run(edited.get()), *run) == "");
}

TEST_CASE("another last token costs its row, where rows stand alone") {
    SmallModel model = small_model(
        {{"d_model", "64"}, {"dim_feedforward", "64"}, {"num_layers", "2"}, {"vocab_size", "70"}, {"lm_head", "true"}},
        {.batch = 1, .pos = 80});
    const std::shared_ptr<const Run> run = model.run();
    Tensor tokens = model.inputs.tokens;
    tokens.writable()[79] = tokens.at(Cell{0, 79}) == 0.0F ? 1.0F : 0.0F;
    model.inputs.tokens = tokens;
    const std::shared_ptr<const Run> changed = model.run(run.get());
    const auto taken_over = [&](const char* name) { return changed->value(name).lazy<LazyValues>() != nullptr; };
    CHECK(taken_over("blocks.0.attn.z") == rows_stand_alone(80, 32));  // keys, d_head
    CHECK(taken_over("blocks.1.mlp.post") == weight_rows_stand_alone(64, 64));
    CHECK(taken_over("logits") == weight_rows_stand_alone(64, 70));
    CHECK(first_difference(*changed, *model.run()) == "");
}
