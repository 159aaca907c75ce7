// The KV cache: a pass over only the new positions, with kept k and v, gives the same as the full pass there.
#include "engine/base/error.h"
#include "engine/decoder/kv_cache.h"
#include "engine/model/inputs.h"
#include "engine/tensor/rows.h"
#include "tests/catch.h"
#include "tests/engine/largest_difference.h"
#include "tests/engine/messages.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace decoderscope::testing;

namespace {

struct Architecture {
    const char* name;
    Overrides overrides;
};

// Each has something different that the cached positions must get past.
std::vector<Architecture> architectures_to_cache() {
    const Overrides language = {{"vocab_size", "11"}, {"lm_head", "true"}, {"final_norm", "true"}};
    const auto with = [&](Overrides more) {
        more.insert(more.end(), language.begin(), language.end());
        return more;
    };
    return {
        {"Post-Norm", with({})},
        {"Pre-Norm, two layers", with({{"norm_first", "true"}, {"num_layers", "2"}})},
        {"grouped queries", with({{"nhead", "6"}, {"num_key_value_heads", "2"}, {"norm_first", "true"}})},
        {"RoPE", with({{"positional_encoding", "rope"}, {"num_layers", "2"}})},
        {"sinusoidal", with({{"positional_encoding", "sinusoidal"}, {"scale_embedding", "true"}})},
        {"learned", with({{"positional_encoding", "learned"}, {"max_positions", "5"}})},
        {"gated", with({{"gated_mlp", "true"}, {"activation", "silu"}, {"norm", "rmsnorm"}, {"bias", "false"}})},
        {"parallel, one norm", with({{"parallel_residual", "one_norm"}, {"norm_first", "true"}, {"num_layers", "2"}})},
        {"parallel, two norms",
         with({{"parallel_residual", "two_norms"}, {"norm_first", "true"}, {"positional_encoding", "rope"}})},
        {"soft caps", with({{"attention_soft_cap", "0.5"}, {"logit_soft_cap", "2"}, {"num_layers", "2"}})},
        {"attention only", with({{"dim_feedforward", "0"}, {"num_layers", "2"}})},
        {"tied, shared q k v", with({{"tie_word_embeddings", "true"}, {"shared_qkv", "true"}})},
        {"cross-attention", with({{"cross_attention", "true"}, {"num_layers", "2"}})},
        {"encoder", with(keys_of("cross_attention=true encoder_layers=2 num_layers=2 "
                                 "positional_encoding=sinusoidal norm_first=true"))},
        {"vectors", {{"num_layers", "2"}}},
        {"Gemma 2", with(keys_of("norm_placement=peri norm=rmsnorm_plus_one sliding_window=2 "
                                 "sliding_window_layers=1 attention_soft_cap=1 logit_soft_cap=2 "
                                 "attention_scale=0.4 head_dim=4 positional_encoding=rope num_layers=2"))},
        {"OLMo 2", with(keys_of("norm_placement=reordered qk_norm=true qk_norm_across_heads=true "
                                "positional_encoding=rope num_layers=2"))},
        {"Qwen 3", with({{"qk_norm", "true"}, {"positional_encoding", "rope"}, {"num_key_value_heads", "1"}})},
        {"Hunyuan", with({{"qk_norm", "true"}, {"qk_norm_after_rope", "true"}, {"positional_encoding", "rope"}})},
        {"OLMo", with({{"clip_qkv", "0.4"}, {"norm_gain", "false"}, {"positional_encoding", "rope"}})},
        {"Ministral 3",
         with({{"query_scale_beta", "0.5"}, {"query_scale_positions", "2"}, {"positional_encoding", "rope"}})},
        {"Llama 3", with(keys_of("positional_encoding=rope rope_scaling=llama3 rope_factor=8 "
                                 "rope_original_positions=16"))},
        {"GPT-J", with(keys_of("parallel_residual=one_norm norm_first=true positional_encoding=rope "
                               "rope_interleaved=true rotary_dim=4"))},
        {"BLOOM", with({{"alibi", "true"}, {"embedding_norm", "true"}, {"nhead", "3"}, {"num_layers", "2"}})},
        {"T5", with(keys_of("relative_attention_num_buckets=6 relative_attention_max_distance=4 "
                            "cross_attention=true encoder_layers=1 norm_first=true num_layers=2"))},
        {"MPT with a window", with({{"alibi", "true"}, {"sliding_window", "2"}, {"nhead", "6"}, {"num_layers", "2"}})},
        {"one position wide", with({{"sliding_window", "1"}, {"num_layers", "2"}})},
        {"DeepNorm", with({{"residual_scale", "1.7"}, {"norm", "layernorm_std"}, {"num_layers", "2"}})},
        {"scaled code, behind a norm",
         with(keys_of("positional_encoding=sinusoidal position_scale=0.3 embedding_norm=true "
                      "logit_scale=0.5"))},
        {"Gemma 3", with({{"positional_encoding", "rope"},
                          {"sliding_window", "2"},
                          {"sliding_window_layers", "0"},
                          {"rope_local_theta", "20"},
                          {"rope_layers", "[0, 1]"},
                          {"embedding_scale", "2"},
                          {"update_scale", "0.5"},
                          {"num_layers", "2"}})},
        {"SmolLM 3 without gains", with(keys_of("positional_encoding=rope rope_layers=1 norm_gain=false qk_norm=true "
                                                "num_layers=2"))},
        {"YaRN", with(keys_of("positional_encoding=rope rope_scaling=yarn rope_factor=4 "
                              "rope_original_positions=32 rope_theta=40"))},
        {"LongRoPE, already long",
         with(keys_of("positional_encoding=rope rope_scaling=longrope rope_factor=4 "
                      "rope_original_positions=2 rope_short_factors=1,1,1 rope_long_factors=1,2,3"))},
        {"a sink", with({{"attention_sinks", "true"}, {"sliding_window", "2"}, {"num_layers", "2"}})},
        {"latent attention", with(keys_of("kv_lora_rank=5 qk_rope_head_dim=4 v_head_dim=3 positional_encoding=rope "
                                          "num_layers=2"))},
        {"latent queries, neighbours turned",
         with(keys_of("kv_lora_rank=3 q_lora_rank=4 qk_rope_head_dim=2 attention_sinks=true "
                      "positional_encoding=rope rope_interleaved=true norm=rmsnorm_plus_one"))},
        {"latent attention beside a memory",
         with(keys_of("kv_lora_rank=3 qk_rope_head_dim=2 alibi=true cross_attention=true "
                      "encoder_layers=1"))},
        {"experts", with(keys_of("experts=4 experts_per_token=2 router_normalize=true gated_mlp=true "
                                 "activation=silu num_layers=2"))},
        {"DeepSeek's experts",
         with(keys_of("experts=6 experts_per_token=2 expert_dim_feedforward=5 moe_layers=1 "
                      "router=sigmoid router_groups=3 router_top_groups=2 shared_dim_feedforward=4 "
                      "shared_gate=true norm_first=true num_layers=2"))},
    };
}

std::shared_ptr<const Run> pass(const SmallModel& model, InputsPart part, const Past* past) {
    const Inputs inputs = part_of(model.inputs, part);
    PassRequest request{model.config, &model.weights, inputs, model.edits, std::nullopt};
    request.past = past;
    return execute(plan_decoder(request));
}

// The part of a full pass's tensor that a pass over the last positions has: the last cells along each axis that is
// shorter there.
Tensor last_of(const Tensor& full, const Tensor& cached) {
    Cell first;
    Axes axes = full.axes();
    for (std::size_t i = 0; i < axes.size(); ++i) {
        first.push_back(axes[i].size - cached.dim(i));
        axes.resize(i, cached.dim(i));
    }
    return part_of(full, first, axes);
}

void check_same(const Run& full, const Run& cached) {
    std::size_t compared = 0;
    for (const auto& [name, tensor] : recorded_tensors(cached)) {
        INFO(name);
        const Tensor& whole = full.value(name);
        REQUIRE(whole.rank() == tensor.rank());
        CHECK(largest_difference(last_of(whole, tensor), tensor) <= 2e-6);
        ++compared;
    }
    CHECK(compared > 10);
}

// The first rows of a k or v, and of what latent attention makes them of, are those that were kept, to the last bit.
void check_kept(const Run& cached, const Past& past) {
    for (const auto& [name, rows] : past.attentions) {
        INFO(name);
        CHECK(rows.k.empty() == !rows.latent.empty());
        for (const auto& [what, kept] : {std::pair(".k", rows.k), std::pair(".v", rows.v),
                                         std::pair(".kv_latent", rows.latent), std::pair(".k_shared", rows.shared)}) {
            if (kept.empty()) continue;
            const Tensor& now = cached.value(name + what);
            const std::size_t along = now.rank() - 2;
            CHECK(now.dim(along) == kept.dim(along) + (name.ends_with(".cross_attn") ? 0 : 1));
            Axes axes = now.axes();
            axes.resize(along, kept.dim(along));
            CHECK(same_bits(part_of(now, Cell(now.rank(), 0), axes), kept.with_axes(axes)));
        }
    }
}

}  // namespace

TEST_CASE("a cached pass gives what the full pass gives at the new positions, tensor by tensor") {
    for (const Architecture& architecture : architectures_to_cache()) {
        INFO(architecture.name);
        SmallModel model = small_model(architecture.overrides, {.pos = 5});
        const auto full = model.run();
        const auto prompt = pass(model, {0, 3}, nullptr);
        const Past first = past_of(*prompt);
        CHECK(first.positions == 3);
        const auto fourth = pass(model, {3, 1}, &first);
        check_kept(*fourth, first);
        const Past second = past_of(*fourth);
        CHECK(second.positions == 4);
        const auto fifth = pass(model, {4, 1}, &second);
        check_kept(*fifth, second);
        check_same(*full, *fifth);
        // Two positions at once.
        check_same(*full, *pass(model, {3, 2}, &first));
    }
}

TEST_CASE("a text continued in two ways from one cache: neither changes the other's rows, nor the cache's") {
    for (const Overrides& overrides :
         {Overrides{{"num_layers", "2"}, {"positional_encoding", "rope"}, {"nhead", "6"}, {"num_key_value_heads", "2"}},
          Overrides{{"num_layers", "2"}, {"kv_lora_rank", "3"}, {"qk_rope_head_dim", "2"}}}) {
        SmallModel model = small_model(overrides, {.pos = 7});
        const Past first = past_of(*pass(model, {0, 3}, nullptr));
        const Past second = past_of(*pass(model, {3, 1}, &first));
        const auto full = model.run();
        const auto straight_on = pass(model, {4, 1}, &second);
        SmallModel other = model;
        for (float& value : other.inputs.x.writable()) value = -value;
        const auto otherwise = pass(other, {4, 2}, &second);
        check_kept(*straight_on, second);
        const Past third = past_of(*straight_on);
        const auto last = pass(model, {5, 2}, &third);
        check_same(*full, *last);
        const KeptRows& kept = second.of("blocks.1.attn");
        const auto& [name, rows] = kept.k.empty() ? std::pair(std::string("blocks.1.attn.kv_latent"), kept.latent)
                                                  : std::pair(std::string("blocks.1.attn.k"), kept.k);
        const Tensor &one = otherwise->value(name), &two = last->value(name);
        const Cell first_cell(one.rank(), 0);
        CHECK(same_bits(part_of(one, first_cell, rows.axes()), rows));
        CHECK(largest_difference(one, part_of(two, first_cell, one.axes())) > 1e-3);
    }
}

TEST_CASE("a longer cache lies where the shorter one lay, until its room is full") {
    const Axes one = {{axis::batch, 2}, {axis::head, 3}, {axis::pos, 1}, {axis::d_head, 4}};
    Tensor rows(one);
    std::ranges::fill(rows.writable(), 0.0F);
    int moved = 0;
    for (Index count = 1; count < 300; ++count) {
        Tensor added(one);
        for (std::size_t i = 0; i < 24; ++i)
            added.writable()[i] = static_cast<float>(100 * count) + static_cast<float>(i);
        Axes axes = one;
        axes.resize(2, count + 1);
        const Tensor longer = with_rows_added(rows, added, axes);
        moved += planes_of(longer).data == planes_of(rows).data ? 0 : 1;
        rows = longer;
    }
    CHECK(moved < 15);
    for (const Index position : {Index{0}, Index{1}, Index{31}, Index{299}})
        CHECK(rows.at(Cell{1, 2, position, 3}) == (position == 0 ? 0.0F : static_cast<float>(100 * position) + 23.0F));
}

TEST_CASE("the cached pass names every decoder tensor that the full pass names, and computes none of the encoder") {
    for (const Architecture& architecture : architectures_to_cache()) {
        INFO(architecture.name);
        const SmallModel model = small_model(architecture.overrides, {.pos = 5});
        const auto full = model.run();
        const Past past = past_of(*pass(model, {0, 4}, nullptr));
        const auto cached = pass(model, {4, 1}, &past);
        for (const auto& [name, tensor] : recorded_tensors(*full)) {
            const bool of_the_encoder = name.starts_with("encoder");
            INFO(name);
            CHECK((cached->plan().find(name) == nullptr) == of_the_encoder);
        }
    }
}

TEST_CASE("padding and a custom mask hide the same keys from a cached pass") {
    SmallModel model = small_model({{"num_layers", "2"}}, {.pos = 5});
    model.inputs.attention_mask = Tensor({{axis::batch, 2}, {axis::pos, 5}}, {1, 1, 1, 1, 1, 0, 1, 1, 0, 1});
    model.inputs.custom_mask = Tensor({{axis::query, 5}, {axis::key, 5}},
                                      {1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1});
    const auto full = model.run();
    const Past past = past_of(*pass(model, {0, 3}, nullptr));
    const auto cached = pass(model, {3, 2}, &past);
    const Tensor& mask = cached->value("blocks.1.attn.mask");  // [batch, head, query, key]
    CHECK(same_bits(last_of(full->value("blocks.1.attn.mask"), mask), mask));
    CHECK(mask.at(Cell{0, 0, 0, 1}) == 0.0F);  // an edit
    CHECK(mask.at(Cell{1, 0, 1, 3}) == 0.0F);  // padding
    CHECK(mask.at(Cell{0, 0, 0, 4}) == 0.0F);  // causal
    CHECK(mask.at(Cell{0, 0, 1, 4}) == 1.0F);
}

TEST_CASE("a cached row explains itself by the row that was kept, a new one by the new row") {
    const SmallModel model = small_model({{"positional_encoding", "rope"}}, {.pos = 5});
    const Past past = past_of(*pass(model, {0, 4}, nullptr));
    const auto cached = pass(model, {4, 1}, &past);
    const Ref k = cached->plan().find("blocks.0.attn.k");
    for (const Index position : {Index{1}, Index{4}}) {
        const Cell cell = {1, 0, position, 2};
        const Explanation why = cached->explain(k->id, cell);
        REQUIRE(why.lines.size() == 1);
        CHECK(why.lines[0].value == static_cast<double>(cached->value(k->id).at(cell)));
        const Factor& factor = why.lines[0].terms.at(0).factors.at(0);
        REQUIRE(factor.cell);
        CHECK(cached->plan()[k->operands[factor.cell->operand]].name ==
              std::string("blocks.0.attn.k") + (position < 4 ? "_kept" : "_new"));
        CHECK(factor.cell->cell[2] == (position < 4 ? position : 0));
    }
    CHECK(k->operation.about().name == "append to the cache");
}

TEST_CASE(
    "latent attention keeps its latent rows and the shared columns, and makes keys and values where they are read") {
    for (const char* bias : {"false", "true"}) {
        const SmallModel model =
            small_model({{"kv_lora_rank", "3"}, {"qk_rope_head_dim", "2"}, {"num_layers", "2"}, {"bias", bias}},
                        {.batch = 2, .pos = 14});
        const auto full = model.run();
        const Past past = past_of(*pass(model, {0, 4}, nullptr));
        CHECK(past.numbers() == 2 * 2 * 4 * (3 + 2));                // layers, batch, positions
        for (const Index added : {Index{1}, Index{2}, Index{10}}) {  // of so many queries, keys and values are made
            INFO(added << " positions, bias " << bias);
            const auto cached = pass(model, {4, added}, &past);
            for (const char* name : {"blocks.0.attn.k", "blocks.1.attn.v"})
                CHECK(cached->value(name).is_ready() == (added == 10));
            const std::string result = "blocks.1.resid_post";
            CHECK(largest_difference(part_of(full->value(result), {0, 4, 0}, cached->value(result).axes()),
                                     cached->value(result)) < 2e-6);
            CHECK(cached->value("blocks.1.attn.k").dim(2) == 4 + added);
            CHECK(largest_difference(
                      part_of(full->value("blocks.1.attn.k"), {0, 0, 0, 0}, cached->value("blocks.1.attn.k").axes()),
                      cached->value("blocks.1.attn.k")) < 2e-6);
        }
    }
    const SmallModel model =
        small_model({{"kv_lora_rank", "3"}, {"qk_rope_head_dim", "2"}, {"num_layers", "2"}}, {.batch = 2, .pos = 5});
    const Past past = past_of(*pass(model, {0, 4}, nullptr));
    Past without = past;
    without.attentions["blocks.0.attn"].latent = Tensor();
    CHECK(error_of([&] { pass(model, {4, 1}, &without); }).starts_with("blocks.0.attn.kv_latent: shape []"));
    Past other = past;
    other.attentions["blocks.1.attn"].shared = Tensor();
    CHECK(error_of([&] { pass(model, {4, 1}, &other); }).starts_with("blocks.1.attn.k_shared: shape []"));
}

TEST_CASE("a key that was edited is what later queries read, though a latent cache doesn't keep it") {
    SmallModel model = small_model({{"kv_lora_rank", "3"}, {"qk_rope_head_dim", "2"}, {"num_layers", "2"}}, {.pos = 5});
    model.edits = {SetCell{"blocks.0.attn.k", {0, 1, 2, 0}, 3.0F}, SetCell{"blocks.1.attn.v", {1, 0, 1, 0}, -2.0F}};
    const auto full = model.run();
    const Past past = past_of(*pass(model, {0, 4}, nullptr));
    check_same(*full, *pass(model, {4, 1}, &past));
}

TEST_CASE("a text that LongRoPE turns otherwise than what was kept is not continued") {
    const SmallModel model =
        small_model(keys_of("positional_encoding=rope rope_scaling=longrope rope_factor=4 "
                            "rope_original_positions=4 rope_short_factors=1,1,1 rope_long_factors=1,2,3"),
                    {.pos = 5});
    const Past past = past_of(*pass(model, {0, 3}, nullptr));
    CHECK(can_continue(past, model.config, 1));
    CHECK_FALSE(can_continue(past, model.config, 2));
    CHECK(error_of([&] { pass(model, {3, 2}, &past); }).starts_with("rope_scaling is longrope: 5 positions"));
}

TEST_CASE("what can't be kept is reported") {
    SmallModel model =
        small_model({{"vocab_size", "11"}, {"positional_encoding", "learned"}, {"max_positions", "5"}}, {.pos = 5});
    const Past past = past_of(*pass(model, {0, 4}, nullptr));
    SmallModel longer = model;
    longer.inputs.tokens = Tensor({{axis::batch, 2}, {axis::pos, 7}}, std::vector<float>(14, 1.0F));
    CHECK(error_of([&] {
              pass(longer, {4, 2}, &past);
          }) == "tokens: 6 positions, and this model reads at most 5 (max_positions)");
    Past other = past;
    other.attentions["blocks.0.attn"].v = Tensor();
    CHECK(error_of([&] {
              pass(model, {4, 1}, &other);
          }) == "blocks.0.attn.v: shape [] was cached, expected [2, 2, 4, 6]");
    other = past;
    other.positions = 3;
    CHECK(error_of([&] {
              pass(model, {4, 1}, &other);
          }) == "blocks.0.attn.k: shape [2, 2, 4, 6] was cached, expected [2, 2, 3, 6]");
    SmallModel seeing = small_model({{"causal", "false"}}, {.pos = 5});
    CHECK(error_of([&] { pass(seeing, {3, 2}, &past); }).starts_with("causal is false"));
    const Inputs last = part_of(model.inputs, {4, 1});
    PassRequest dropping{model.config, &model.weights, last, model.edits, 1};
    dropping.past = &past;
    CHECK(error_of([&] { static_cast<void>(plan_decoder(dropping)); }).starts_with("dropout is on"));
}
