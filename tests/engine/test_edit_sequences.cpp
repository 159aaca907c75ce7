// Whatever is edited, undone, flipped and asked for, in any order: a run that takes over what it can is the same, bit
// for bit, as one from scratch. On random small models, from fixed seeds.
#include "engine/linalg.h"
#include "engine/random.h"
#include "tests/catch.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

#include <array>
#include <cmath>
#include <limits>

using namespace decoderscope;
using namespace decoderscope::testing;

namespace {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed, "dice") {}

    Index below(Index n) { return static_cast<Index>(random_.bits(thrown_++) % static_cast<std::uint64_t>(n)); }
    bool one_in(Index n) { return below(n) == 0; }
    float number() { return static_cast<float>(4.0 * random_.uniform(thrown_++) - 2.0); }
    std::string word(std::initializer_list<const char*> words) {
        return words.begin()[below(static_cast<Index>(words.size()))];
    }

private:
    RandomStream random_;
    std::uint64_t thrown_ = 0;
};

Overrides random_configuration(Dice& dice) {
    Overrides config = {{"d_model", "8"},
                        {"dim_feedforward", dice.word({"0", "6"})},
                        {"num_layers", dice.word({"1", "2"})},
                        {"norm_first", dice.word({"false", "true"})},
                        {"norm", dice.word({"layernorm", "rmsnorm"})},
                        {"final_norm", dice.word({"false", "true"})},
                        {"activation", dice.word({"relu", "gelu", "gelu_tanh", "silu"})},
                        {"bias", dice.word({"true", "false"})},
                        {"causal", dice.word({"true", "false"})},
                        {"positional_encoding", dice.word({"none", "sinusoidal", "learned", "rope"})},
                        {"max_positions", "6"},
                        {"scale_embedding", dice.word({"false", "true"})},
                        {"mask_value", dice.word({"-inf", "-1e9"})}};
    config.emplace_back("gated_mlp", config[1].second == "0" ? "false" : dice.word({"false", "true"}));
    if (dice.one_in(2))
        config.emplace_back("num_key_value_heads", "1");
    else
        config.emplace_back("shared_qkv", dice.word({"false", "true"}));
    if (dice.one_in(2)) {
        config.emplace_back("cross_attention", "true");
        config.emplace_back("encoder_layers", dice.word({"0", "1"}));
    }
    if (dice.one_in(2)) {
        config.emplace_back("vocab_size", "5");
        config.emplace_back("lm_head", dice.word({"false", "true"}));
        config.emplace_back("tie_word_embeddings", dice.word({"false", "true"}));
    }
    if (dice.one_in(2)) {
        config.emplace_back("dropout", "0.3");
        config.emplace_back("dropout_sites",
                            dice.word({"attention_scores,mlp_post", "attention_weights,attention_out,mlp_out"}));
    }
    return config;
}

Cell random_cell(Dice& dice, const Axes& axes) {
    Cell cell;
    for (const Axis& axis : axes) cell.push_back(dice.below(axis.size));
    return cell;
}

// A value that the tensor may hold: tokens are ids, masks are 0 or 1.
float random_value(Dice& dice, const std::string& tensor) {
    if (tensor.ends_with("tokens")) return static_cast<float>(dice.below(5));
    if (tensor.ends_with("mask")) return static_cast<float>(dice.below(2));
    return dice.number();
}

std::optional<Index> index_or_all(Dice& dice, Index size) {
    return dice.one_in(3) ? std::nullopt : std::optional(dice.below(size));
}

Edit random_edit(Dice& dice, const Plan& plan) {
    const Axes& mask = plan.find("blocks.0.attn.mask")->axes;
    const Step& any = plan.steps()[static_cast<std::size_t>(dice.below(static_cast<Index>(plan.steps().size())))];
    switch (dice.below(4)) {
        case 0:
            return MaskEdit{"blocks.0.attn",
                            index_or_all(dice, mask[0].size),
                            index_or_all(dice, mask[1].size),
                            index_or_all(dice, mask[2].size),
                            index_or_all(dice, mask[3].size),
                            dice.one_in(2)};
        case 1:
            return ScaleHead{"blocks.0.attn", dice.below(2), dice.number()};
        default:
            return SetCell{any.name, random_cell(dice, any.axes), random_value(dice, any.name)};
    }
}

void change_something(Dice& dice, SmallModel& model) {
    if (dice.one_in(3) && !model.edits.empty()) {
        model.edits.pop_back();  // undo
    } else if (dice.one_in(6)) {
        model.config.norm_first = !model.config.norm_first;
    } else if (dice.one_in(6)) {
        model.asked = model.asked.empty() ? std::vector<std::string>{"*"} : std::vector<std::string>{};
    } else if (dice.one_in(6) && model.edits.empty()) {
        // Edits may name dropout's tensors, so the switch is only turned without any.
        model.dropout_seed = model.dropout_seed ? std::nullopt : std::optional<std::uint64_t>(dice.below(100));
    } else {
        model.edits.push_back(random_edit(dice, *model.plan()));
    }
}

}  // namespace

TEST_CASE("after any sequence of edits and undos a run equals a fresh one bit for bit") {
    std::size_t computed = 0, computed_afresh = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        SmallModel model = small_model(random_configuration(dice));
        std::shared_ptr<const Run> run = model.run();
        for (int change = 0; change < 8; ++change) {
            INFO("change " << change << ", edits " << edits_to_json(model.edits));
            change_something(dice, model);
            run = model.run(run.get());
            const auto fresh = model.run();
            REQUIRE(first_difference(*run, *fresh) == "");
            computed += run->computed_steps();
            computed_afresh += fresh->computed_steps();
        }
    }
    CHECK(computed < computed_afresh / 2);  // and it was worth it
}

namespace {

// Large enough for products whose rows stand alone, and causal: here runs take over rows, not only whole tensors.
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
        model.edits.push_back(random_edit(dice, *model.plan()));
    }
}

}  // namespace

TEST_CASE("a run that takes over rows equals a fresh one bit for bit") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
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
    for (const char* name : {"blocks.0.attn.z", "blocks.1.mlp.post", "logits"}) {
        INFO(name);
        CHECK((changed->value(name).lazy<LazyValues>() != nullptr) == rows_stand_alone(64, 64));
    }
    CHECK(first_difference(*changed, *model.run()) == "");
}
