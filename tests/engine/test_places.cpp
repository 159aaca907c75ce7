// Positions as inputs, and documents in a row: what a text gives doesn't depend on the padding before it, nor on what
// else stands in its row.
#include "engine/decoder/kv_cache.h"
#include "engine/model/inputs.h"
#include "tests/catch.h"
#include "tests/engine/largest_difference.h"
#include "tests/engine/messages.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

#include <string>
#include <vector>

using namespace decoderscope::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Way {
    const char* name;
    Overrides overrides;
};

// Each way in which positions enter a decoder.
std::vector<Way> ways() {
    const auto language = [](Overrides more) {
        more.insert(more.end(),
                    {{"vocab_size", "11"}, {"lm_head", "true"}, {"num_layers", "2"}, {"mask_value", "-1e9"}});
        return more;
    };
    return {
        {"learned", language({{"positional_encoding", "learned"}, {"max_positions", "8"}})},
        {"sinusoidal", language({{"positional_encoding", "sinusoidal"}})},
        {"RoPE", language({{"positional_encoding", "rope"}})},
        {"interleaved RoPE", language({{"positional_encoding", "rope"}, {"rope_interleaved", "true"}})},
        {"ALiBi", language({{"alibi", "true"}})},
        {"a window", language({{"positional_encoding", "rope"}, {"sliding_window", "2"}})},
        {"latent attention",
         language({{"kv_lora_rank", "5"}, {"qk_rope_head_dim", "4"}, {"positional_encoding", "rope"}})},
    };
}

constexpr Index kText = 4, kPadding = 3;

Tensor row_of(const std::vector<float>& values) {
    return Tensor({{axis::batch, 1}, {axis::pos, static_cast<Index>(values.size())}}, values);
}

const std::vector<float> kTextTokens = {3, 7, 1, 9};

Tensor logits_of(SmallModel model, Inputs inputs) {
    model.inputs = std::move(inputs);
    return model.run()->value("logits");
}

Tensor positions_from(const Tensor& logits, Index first, Index count) {
    Axes axes = logits.axes();
    axes.resize(1, count);
    return part_of(logits, {0, first, 0}, axes);
}

// The text behind padding.
Inputs padded_on_the_left() {
    std::vector<float> tokens(kPadding, 0.0F), mask(kPadding, 0.0F);
    tokens.insert(tokens.end(), kTextTokens.begin(), kTextTokens.end());
    mask.insert(mask.end(), kTextTokens.size(), 1.0F);
    return {.tokens = row_of(tokens), .attention_mask = row_of(mask)};
}

}  // namespace

TEST_CASE("a text that is padded on the left gives what it gives alone, if positions are counted by the mask") {
    for (const Way& way : ways()) {
        INFO(way.name);
        Overrides overrides = way.overrides;
        overrides.emplace_back("positions", "from_mask");
        const SmallModel model = small_model(overrides);
        const Tensor alone = logits_of(model, {.tokens = row_of(kTextTokens)});
        const Tensor padded = positions_from(logits_of(model, padded_on_the_left()), kPadding, kText);
        CHECK(largest_difference(alone, padded) < 1e-5);
    }
}

TEST_CASE("counted plainly, padding moves an encoding of places, and nothing that goes by distances") {
    for (const Way& way : ways()) {
        INFO(way.name);
        const SmallModel model = small_model(way.overrides);
        const Tensor alone = logits_of(model, {.tokens = row_of(kTextTokens)});
        const Tensor padded = positions_from(logits_of(model, padded_on_the_left()), kPadding, kText);
        const bool by_place = std::string(way.name) == "learned" || std::string(way.name) == "sinusoidal";
        CHECK((largest_difference(alone, padded) > 1e-4) == by_place);
    }
}

TEST_CASE("the positions that the mask gives are a tensor of the run, and an edit of it moves a token") {
    SmallModel model =
        small_model(keys_of("vocab_size=11 lm_head=true positional_encoding=sinusoidal positions=from_mask "
                            "mask_value=-1e9"));
    model.inputs = padded_on_the_left();
    const auto run = model.run();
    CHECK(std::ranges::equal(run->value("positions").values(), std::vector<float>{0, 0, 0, 0, 1, 2, 3}));
    model.edits = {SetCell{"positions", {0, 6}, 5.0F}};
    const auto edited = model.run();
    const auto before_it = [](const Run& of) { return positions_from(of.value("logits"), kPadding, kText - 1); };
    CHECK(largest_difference(before_it(*run), before_it(*edited)) == 0.0);
    CHECK(largest_difference(run->value("logits"), edited->value("logits")) > 1e-4);
}

TEST_CASE("positions that are given as they would be counted change no bit") {
    for (const Way& way : ways()) {
        INFO(way.name);
        const SmallModel model = small_model(way.overrides);
        const Tensor counted = logits_of(model, {.tokens = row_of(kTextTokens)});
        const Tensor given = logits_of(model, {.tokens = row_of(kTextTokens), .positions = row_of({0, 1, 2, 3})});
        CHECK(same_bits(counted, given));
    }
}

TEST_CASE("documents in a row that begin anew give what each gives alone") {
    const std::vector<float> first = {3, 7, 1}, second = {9, 2, 5, 4};
    for (const Way& way : ways()) {
        INFO(way.name);
        const SmallModel model = small_model(way.overrides);
        const Tensor packed = logits_of(model, {.tokens = row_of({3, 7, 1, 9, 2, 5, 4}),
                                                .positions = row_of({0, 1, 2, 0, 1, 2, 3}),
                                                .segments = row_of({0, 0, 0, 1, 1, 1, 1})});
        CHECK(largest_difference(positions_from(packed, 0, 3), logits_of(model, {.tokens = row_of(first)})) < 1e-5);
        CHECK(largest_difference(positions_from(packed, 3, 4), logits_of(model, {.tokens = row_of(second)})) < 1e-5);
        // That they begin anew can be said instead of given.
        Overrides counted = way.overrides;
        counted.emplace_back("positions", "from_segments");
        const Tensor by_rule = logits_of(
            small_model(counted), {.tokens = row_of({3, 7, 1, 9, 2, 5, 4}), .segments = row_of({4, 4, 4, 1, 1, 1, 1})});
        CHECK(same_bits(by_rule, packed));
        // Restarting positions alone keep nothing apart.
        const Tensor open =
            logits_of(model, {.tokens = row_of({3, 7, 1, 9, 2, 5, 4}), .positions = row_of({0, 1, 2, 0, 1, 2, 3})});
        CHECK(largest_difference(positions_from(open, 3, 4), positions_from(packed, 3, 4)) > 1e-4);
    }
}

TEST_CASE("the last token of a document is asked for nothing, nor is padding") {
    Inputs inputs = {.tokens = row_of({3, 7, 1, 9, 2, 5}),
                     .attention_mask = row_of({0, 1, 1, 1, 1, 1}),
                     .segments = row_of({0, 0, 0, 1, 1, 1})};
    const auto values = [](const Tensor& tensor) {
        return std::vector(tensor.values().begin(), tensor.values().end());
    };
    CHECK(values(tokens_ahead(inputs)) == std::vector<float>{-100, 1, -100, 2, 5, -100});
    CHECK(values(tokens_ahead(inputs, 2)) == std::vector<float>{-100, -100, -100, 5, -100, -100});
    // What is said of keys may begin in the cache.
    const Inputs rest = part_of(inputs, {2, 3});
    CHECK(values(tokens_ahead(rest)) == std::vector<float>{-100, 2, -100});
    // A loss over both documents is that of each alone.
    SmallModel model = small_model({{"vocab_size", "11"}, {"lm_head", "true"}, {"positional_encoding", "rope"}});
    const auto loss = [&](Inputs given) {
        model.inputs = std::move(given);
        decoder::PassRequest request{model.config, &model.weights, model.inputs, {}, std::nullopt};
        request.gradient_target = "loss";
        return static_cast<double>(execute(decoder::plan_decoder(request))->value("loss").values()[0]);
    };
    inputs.attention_mask = {};
    const double both = loss(inputs), first = loss({.tokens = row_of({3, 7, 1})}),
                 second = loss({.tokens = row_of({9, 2, 5})});
    CHECK(both == Approx((2.0 * first + 2.0 * second) / 4.0).epsilon(1e-5));
}

TEST_CASE("a pass by the cache goes by the positions and documents that are given") {
    for (const Way& way : ways()) {
        INFO(way.name);
        const SmallModel model = small_model(way.overrides);
        Inputs inputs = {.tokens = row_of({3, 7, 1, 9, 2, 5}),
                         .positions = row_of({0, 1, 4, 2, 3, 5}),
                         .segments = row_of({0, 0, 1, 1, 1, 1})};
        const Tensor whole = logits_of(model, inputs);
        const auto pass = [&](InputsPart part, const decoder::Past* past) {
            const Inputs given = part_of(inputs, part);
            decoder::PassRequest request{model.config, &model.weights, given, model.edits, std::nullopt};
            request.past = past;
            return execute(decoder::plan_decoder(request));
        };
        const decoder::Past past = decoder::past_of(*pass({0, 4}, nullptr));
        const Tensor rest = pass({4, 2}, &past)->value("logits");
        CHECK(largest_difference(positions_from(whole, 4, 2), rest) < 1e-5);
    }
}

TEST_CASE("positions and documents that don't fit are refused in a sentence") {
    const auto error = [](const Inputs& inputs) -> std::string {
        const SmallModel model = small_model(
            {{"vocab_size", "11"}, {"lm_head", "true"}, {"positional_encoding", "learned"}, {"max_positions", "5"}});
        try {
            static_cast<void>(logits_of(model, inputs));
        } catch (const Error& e) {
            return e.what();
        }
        return "(no error)";
    };
    const Tensor tokens = row_of({1, 2, 3});
    check_message(error({.tokens = tokens, .positions = row_of({0, 1, 5})}), {"positions", "5", "0 to 4"});
    check_message(error({.tokens = tokens, .positions = row_of({0, -1, 2})}), {"positions", "-1", "0 to 4"});
    check_message(error({.tokens = tokens, .positions = row_of({0, 1})}), {"positions", "[1, 2]", "[1, 3]"});
    check_message(error({.tokens = tokens, .segments = row_of({0, 1, 2, 3})}), {"segments", "[1, 4]", "[1, 3]"});
    // A row of documents may be longer than the table, as long as no position is.
    CHECK(error({.tokens = row_of({1, 2, 3, 4, 5, 6}), .positions = row_of({0, 1, 2, 0, 1, 2})}) == "(no error)");
    check_message(error({.tokens = row_of({1, 2, 3, 4, 5, 6})}),
                  {"tokens", "6 positions", "at most 5 (max_positions)"});
    const auto counted = [](const Inputs& inputs) {
        check_inputs(inputs,
                     small_model(keys_of("vocab_size=11 lm_head=true positional_encoding=learned max_positions=5 "
                                         "positions=from_segments"))
                         .config);
    };
    const Tensor six = row_of({1, 2, 3, 4, 5, 6});
    counted({.tokens = six, .segments = row_of({0, 0, 0, 1, 1, 1})});
    CHECK_THROWS_WITH(counted({.tokens = six, .segments = row_of({0, 0, 0, 0, 0, 0})}), ContainsSubstring("0 to 4"));
    CHECK_THROWS_WITH(counted({.tokens = six, .segments = row_of({0, 0, 0})}), ContainsSubstring("[1, 3]"));
}
