// The complete ordered lists of what a trace holds, spelled out: scripts read tensors by these names. Sizes: batch 2,
// pos 3, src 4, d_model 12, 2 heads of 6, 1 key/value head, d_ff 10, a vocabulary of 7.
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/small_models.h"

#include <istream>
#include <sstream>

using namespace decoderscope::testing;

namespace {

// "name [shape]", one per line.
std::vector<std::string> listed(const Run& run) {
    std::vector<std::string> lines;
    for (const auto& [name, tensor] : trace_of(run)) lines.push_back(name + " " + shape_text(tensor.axes()));
    return lines;
}

// As above, of a list below, which has what belongs together on one line.
std::vector<std::string> spelled_out(const std::string& list) {
    std::vector<std::string> lines;
    std::istringstream text(list);
    for (std::string name, shape; text >> name && std::getline(text >> std::ws, shape, ']');)
        lines.push_back(name + " " + shape + "]");
    return lines;
}

// Compared line by line first, so that a failure points at the line.
void check_list(const Run& run, const std::string& list) {
    const auto ours = listed(run), expected = spelled_out(list);
    for (std::size_t i = 0; i < std::min(ours.size(), expected.size()); ++i) {
        INFO("line " << i);
        REQUIRE(ours[i] == expected[i]);
    }
    REQUIRE(ours.size() == expected.size());
}

SmallModel everything_on(const char* norm_first) {
    SmallModel model =
        small_model({{"norm_first", norm_first},
                     {"num_key_value_heads", "1"},
                     {"cross_attention", "true"},
                     {"encoder_layers", "1"},
                     {"vocab_size", "7"},
                     {"encoder_vocab_size", "9"},
                     {"positional_encoding", "learned"},
                     {"max_positions", "5"},
                     {"gated_mlp", "true"},
                     {"final_norm", "true"},
                     {"lm_head", "true"},
                     {"dropout", "0.1"},
                     {"dropout_sites", "attention_scores,attention_weights,attention_out,mlp_post,mlp_out"}});
    model.dropout_seed = 1;
    return model;
}

}  // namespace

TEST_CASE("the names of a Pre-Norm decoder with everything on, in order") {
    check_list(*everything_on("true").run(), R"(
        encoder.embed [2, 4, 12]  encoder.pos_embed [4, 12]
        encoder.blocks.0.resid_pre [2, 4, 12]
        encoder.blocks.0.ln1.scale [2, 4, 1]  encoder.blocks.0.ln1.normalized [2, 4, 12]
        encoder.blocks.0.attn.q [2, 2, 4, 6]  encoder.blocks.0.attn.k [2, 1, 4, 6]  encoder.blocks.0.attn.v [2, 1, 4, 6]
        encoder.blocks.0.attn.attn_scores [2, 2, 4, 4]  encoder.blocks.0.attn.mask [2, 2, 4, 4]
        encoder.blocks.0.attn.masked_scores [2, 2, 4, 4]  encoder.blocks.0.attn.masked_scores.dropout_mask [2, 2, 4, 4]
        encoder.blocks.0.attn.masked_scores.dropped [2, 2, 4, 4]  encoder.blocks.0.attn.pattern [2, 2, 4, 4]
        encoder.blocks.0.attn.pattern.dropout_mask [2, 2, 4, 4]  encoder.blocks.0.attn.pattern.dropped [2, 2, 4, 4]
        encoder.blocks.0.attn.z [2, 2, 4, 6]
        encoder.blocks.0.attn_out [2, 4, 12]  encoder.blocks.0.attn_out.dropout_mask [2, 4, 12]
        encoder.blocks.0.attn_out.dropped [2, 4, 12]  encoder.blocks.0.resid_mid [2, 4, 12]
        encoder.blocks.0.ln2.scale [2, 4, 1]  encoder.blocks.0.ln2.normalized [2, 4, 12]
        encoder.blocks.0.mlp.pre [2, 4, 10]  encoder.blocks.0.mlp.gate [2, 4, 10]  encoder.blocks.0.mlp.post [2, 4, 10]
        encoder.blocks.0.mlp.post.dropout_mask [2, 4, 10]  encoder.blocks.0.mlp.post.dropped [2, 4, 10]
        encoder.blocks.0.mlp_out [2, 4, 12]  encoder.blocks.0.mlp_out.dropout_mask [2, 4, 12]
        encoder.blocks.0.mlp_out.dropped [2, 4, 12]  encoder.blocks.0.resid_post [2, 4, 12]
        encoder.ln_final.scale [2, 4, 1]  encoder.ln_final.normalized [2, 4, 12]
        encoder_out [2, 4, 12]  embed [2, 3, 12]  pos_embed [3, 12]
        blocks.0.resid_pre [2, 3, 12]
        blocks.0.ln1.scale [2, 3, 1]  blocks.0.ln1.normalized [2, 3, 12]
        blocks.0.attn.q [2, 2, 3, 6]  blocks.0.attn.k [2, 1, 3, 6]  blocks.0.attn.v [2, 1, 3, 6]
        blocks.0.attn.attn_scores [2, 2, 3, 3]  blocks.0.attn.mask [2, 2, 3, 3]
        blocks.0.attn.masked_scores [2, 2, 3, 3]  blocks.0.attn.masked_scores.dropout_mask [2, 2, 3, 3]
        blocks.0.attn.masked_scores.dropped [2, 2, 3, 3]  blocks.0.attn.pattern [2, 2, 3, 3]
        blocks.0.attn.pattern.dropout_mask [2, 2, 3, 3]  blocks.0.attn.pattern.dropped [2, 2, 3, 3]
        blocks.0.attn.z [2, 2, 3, 6]
        blocks.0.attn_out [2, 3, 12]  blocks.0.attn_out.dropout_mask [2, 3, 12]  blocks.0.attn_out.dropped [2, 3, 12]
        blocks.0.resid_mid [2, 3, 12]
        blocks.0.ln2.scale [2, 3, 1]  blocks.0.ln2.normalized [2, 3, 12]
        blocks.0.cross_attn.q [2, 2, 3, 6]  blocks.0.cross_attn.k [2, 1, 4, 6]  blocks.0.cross_attn.v [2, 1, 4, 6]
        blocks.0.cross_attn.attn_scores [2, 2, 3, 4]  blocks.0.cross_attn.mask [2, 2, 3, 4]
        blocks.0.cross_attn.masked_scores [2, 2, 3, 4]  blocks.0.cross_attn.masked_scores.dropout_mask [2, 2, 3, 4]
        blocks.0.cross_attn.masked_scores.dropped [2, 2, 3, 4]  blocks.0.cross_attn.pattern [2, 2, 3, 4]
        blocks.0.cross_attn.pattern.dropout_mask [2, 2, 3, 4]  blocks.0.cross_attn.pattern.dropped [2, 2, 3, 4]
        blocks.0.cross_attn.z [2, 2, 3, 6]
        blocks.0.cross_attn_out [2, 3, 12]  blocks.0.cross_attn_out.dropout_mask [2, 3, 12]
        blocks.0.cross_attn_out.dropped [2, 3, 12]  blocks.0.resid_mid_cross [2, 3, 12]
        blocks.0.ln3.scale [2, 3, 1]  blocks.0.ln3.normalized [2, 3, 12]
        blocks.0.mlp.pre [2, 3, 10]  blocks.0.mlp.gate [2, 3, 10]  blocks.0.mlp.post [2, 3, 10]
        blocks.0.mlp.post.dropout_mask [2, 3, 10]  blocks.0.mlp.post.dropped [2, 3, 10]
        blocks.0.mlp_out [2, 3, 12]  blocks.0.mlp_out.dropout_mask [2, 3, 12]  blocks.0.mlp_out.dropped [2, 3, 12]
        blocks.0.resid_post [2, 3, 12]
        ln_final.scale [2, 3, 1]  ln_final.normalized [2, 3, 12]
        logits [2, 3, 7]  probs [2, 3, 7]
    )");
}

TEST_CASE("the names of a Post-Norm decoder with everything on, in order") {
    check_list(*everything_on("false").run(), R"(
        encoder.embed [2, 4, 12]  encoder.pos_embed [4, 12]
        encoder.blocks.0.resid_pre [2, 4, 12]
        encoder.blocks.0.attn.q [2, 2, 4, 6]  encoder.blocks.0.attn.k [2, 1, 4, 6]  encoder.blocks.0.attn.v [2, 1, 4, 6]
        encoder.blocks.0.attn.attn_scores [2, 2, 4, 4]  encoder.blocks.0.attn.mask [2, 2, 4, 4]
        encoder.blocks.0.attn.masked_scores [2, 2, 4, 4]  encoder.blocks.0.attn.masked_scores.dropout_mask [2, 2, 4, 4]
        encoder.blocks.0.attn.masked_scores.dropped [2, 2, 4, 4]  encoder.blocks.0.attn.pattern [2, 2, 4, 4]
        encoder.blocks.0.attn.pattern.dropout_mask [2, 2, 4, 4]  encoder.blocks.0.attn.pattern.dropped [2, 2, 4, 4]
        encoder.blocks.0.attn.z [2, 2, 4, 6]
        encoder.blocks.0.attn_out [2, 4, 12]  encoder.blocks.0.attn_out.dropout_mask [2, 4, 12]
        encoder.blocks.0.attn_out.dropped [2, 4, 12]  encoder.blocks.0.resid_mid [2, 4, 12]
        encoder.blocks.0.ln1.scale [2, 4, 1]  encoder.blocks.0.ln1.normalized [2, 4, 12]
        encoder.blocks.0.mlp.pre [2, 4, 10]  encoder.blocks.0.mlp.gate [2, 4, 10]  encoder.blocks.0.mlp.post [2, 4, 10]
        encoder.blocks.0.mlp.post.dropout_mask [2, 4, 10]  encoder.blocks.0.mlp.post.dropped [2, 4, 10]
        encoder.blocks.0.mlp_out [2, 4, 12]  encoder.blocks.0.mlp_out.dropout_mask [2, 4, 12]
        encoder.blocks.0.mlp_out.dropped [2, 4, 12]  encoder.blocks.0.resid_post [2, 4, 12]
        encoder.blocks.0.ln2.scale [2, 4, 1]  encoder.blocks.0.ln2.normalized [2, 4, 12]
        encoder.ln_final.scale [2, 4, 1]  encoder.ln_final.normalized [2, 4, 12]
        encoder_out [2, 4, 12]  embed [2, 3, 12]  pos_embed [3, 12]
        blocks.0.resid_pre [2, 3, 12]
        blocks.0.attn.q [2, 2, 3, 6]  blocks.0.attn.k [2, 1, 3, 6]  blocks.0.attn.v [2, 1, 3, 6]
        blocks.0.attn.attn_scores [2, 2, 3, 3]  blocks.0.attn.mask [2, 2, 3, 3]
        blocks.0.attn.masked_scores [2, 2, 3, 3]  blocks.0.attn.masked_scores.dropout_mask [2, 2, 3, 3]
        blocks.0.attn.masked_scores.dropped [2, 2, 3, 3]  blocks.0.attn.pattern [2, 2, 3, 3]
        blocks.0.attn.pattern.dropout_mask [2, 2, 3, 3]  blocks.0.attn.pattern.dropped [2, 2, 3, 3]
        blocks.0.attn.z [2, 2, 3, 6]
        blocks.0.attn_out [2, 3, 12]  blocks.0.attn_out.dropout_mask [2, 3, 12]  blocks.0.attn_out.dropped [2, 3, 12]
        blocks.0.resid_mid [2, 3, 12]
        blocks.0.ln1.scale [2, 3, 1]  blocks.0.ln1.normalized [2, 3, 12]
        blocks.0.cross_attn.q [2, 2, 3, 6]  blocks.0.cross_attn.k [2, 1, 4, 6]  blocks.0.cross_attn.v [2, 1, 4, 6]
        blocks.0.cross_attn.attn_scores [2, 2, 3, 4]  blocks.0.cross_attn.mask [2, 2, 3, 4]
        blocks.0.cross_attn.masked_scores [2, 2, 3, 4]  blocks.0.cross_attn.masked_scores.dropout_mask [2, 2, 3, 4]
        blocks.0.cross_attn.masked_scores.dropped [2, 2, 3, 4]  blocks.0.cross_attn.pattern [2, 2, 3, 4]
        blocks.0.cross_attn.pattern.dropout_mask [2, 2, 3, 4]  blocks.0.cross_attn.pattern.dropped [2, 2, 3, 4]
        blocks.0.cross_attn.z [2, 2, 3, 6]
        blocks.0.cross_attn_out [2, 3, 12]  blocks.0.cross_attn_out.dropout_mask [2, 3, 12]
        blocks.0.cross_attn_out.dropped [2, 3, 12]  blocks.0.resid_mid_cross [2, 3, 12]
        blocks.0.ln2.scale [2, 3, 1]  blocks.0.ln2.normalized [2, 3, 12]
        blocks.0.mlp.pre [2, 3, 10]  blocks.0.mlp.gate [2, 3, 10]  blocks.0.mlp.post [2, 3, 10]
        blocks.0.mlp.post.dropout_mask [2, 3, 10]  blocks.0.mlp.post.dropped [2, 3, 10]
        blocks.0.mlp_out [2, 3, 12]  blocks.0.mlp_out.dropout_mask [2, 3, 12]  blocks.0.mlp_out.dropped [2, 3, 12]
        blocks.0.resid_post [2, 3, 12]
        blocks.0.ln3.scale [2, 3, 1]  blocks.0.ln3.normalized [2, 3, 12]
        ln_final.scale [2, 3, 1]  ln_final.normalized [2, 3, 12]
        logits [2, 3, 7]  probs [2, 3, 7]
    )");
}

TEST_CASE("the names of an attention-only decoder on vectors, in order") {
    check_list(*small_model({{"dim_feedforward", "0"}, {"norm_first", "true"}, {"num_layers", "2"}}).run(), R"(
        blocks.0.resid_pre [2, 3, 12]
        blocks.0.ln1.scale [2, 3, 1]  blocks.0.ln1.normalized [2, 3, 12]
        blocks.0.attn.q [2, 2, 3, 6]  blocks.0.attn.k [2, 2, 3, 6]  blocks.0.attn.v [2, 2, 3, 6]
        blocks.0.attn.attn_scores [2, 2, 3, 3]  blocks.0.attn.mask [2, 2, 3, 3]
        blocks.0.attn.masked_scores [2, 2, 3, 3]  blocks.0.attn.pattern [2, 2, 3, 3]  blocks.0.attn.z [2, 2, 3, 6]
        blocks.0.attn_out [2, 3, 12]  blocks.0.resid_mid [2, 3, 12]  blocks.0.resid_post [2, 3, 12]
        blocks.1.resid_pre [2, 3, 12]
        blocks.1.ln1.scale [2, 3, 1]  blocks.1.ln1.normalized [2, 3, 12]
        blocks.1.attn.q [2, 2, 3, 6]  blocks.1.attn.k [2, 2, 3, 6]  blocks.1.attn.v [2, 2, 3, 6]
        blocks.1.attn.attn_scores [2, 2, 3, 3]  blocks.1.attn.mask [2, 2, 3, 3]
        blocks.1.attn.masked_scores [2, 2, 3, 3]  blocks.1.attn.pattern [2, 2, 3, 3]  blocks.1.attn.z [2, 2, 3, 6]
        blocks.1.attn_out [2, 3, 12]  blocks.1.resid_mid [2, 3, 12]  blocks.1.resid_post [2, 3, 12]
    )");
}

TEST_CASE("the names of a Peri-Norm decoder with a norm after the embedding and all the newer parts, in order") {
    const SmallModel model =
        small_model(keys_of("norm_placement=peri vocab_size=7 positional_encoding=learned max_positions=5 "
                            "embedding_norm=true position_scale=0.5 head_dim=5 qk_norm=true alibi=true "
                            "attention_soft_cap=3 sliding_window=2 logit_scale=0.5 logit_soft_cap=3 "
                            "lm_head=true"));
    check_list(*model.run(), R"(
        embed [2, 3, 12]  pos_embed [3, 12]
        embed_norm.scale [2, 3, 1]  embed_norm.normalized [2, 3, 12]
        blocks.0.resid_pre [2, 3, 12]
        blocks.0.ln1.scale [2, 3, 1]  blocks.0.ln1.normalized [2, 3, 12]
        blocks.0.attn.q [2, 2, 3, 5]  blocks.0.attn.k [2, 2, 3, 5]  blocks.0.attn.v [2, 2, 3, 5]
        blocks.0.attn.attn_scores [2, 2, 3, 3]  blocks.0.attn.capped_scores [2, 2, 3, 3]
        blocks.0.attn.mask [2, 2, 3, 3]  blocks.0.attn.masked_scores [2, 2, 3, 3]  blocks.0.attn.pattern [2, 2, 3, 3]
        blocks.0.attn.z [2, 2, 3, 5]
        blocks.0.attn_out [2, 3, 12]
        blocks.0.ln1_post.scale [2, 3, 1]  blocks.0.ln1_post.normalized [2, 3, 12]
        blocks.0.resid_mid [2, 3, 12]
        blocks.0.ln2.scale [2, 3, 1]  blocks.0.ln2.normalized [2, 3, 12]
        blocks.0.mlp.pre [2, 3, 10]  blocks.0.mlp.post [2, 3, 10]
        blocks.0.mlp_out [2, 3, 12]
        blocks.0.ln2_post.scale [2, 3, 1]  blocks.0.ln2_post.normalized [2, 3, 12]
        blocks.0.resid_post [2, 3, 12]
        logits [2, 3, 7]  probs [2, 3, 7]
    )");
    for (const char* weight : {"embed_norm.weight", "embed_norm.bias", "layers.0.norm1_post.weight",
                               "layers.0.norm1_post.bias", "layers.0.norm2_post.weight", "layers.0.norm2_post.bias",
                               "layers.0.self_attn.q_norm.weight", "layers.0.self_attn.k_norm.weight"}) {
        INFO(weight);
        CHECK(model.weights.contains(weight));
    }
    CHECK(shape_text(model.weights.at("layers.0.self_attn.q_proj.weight").axes()) == "[10, 12]");
    CHECK(shape_text(model.weights.at("layers.0.self_attn.o_proj.weight").axes()) == "[12, 10]");
    CHECK(shape_text(model.weights.at("layers.0.self_attn.q_norm.weight").axes()) == "[5]");
}

TEST_CASE("the names of a reordered encoder-decoder's norms: behind each sublayer, and no others") {
    const SmallModel model =
        small_model(keys_of("norm_placement=reordered cross_attention=true encoder_layers=1 "
                            "embedding_norm=true"));
    std::vector<std::string> norms;
    for (const auto& [name, tensor] : trace_of(*model.run()))
        if (name.ends_with(".normalized")) norms.push_back(name.substr(0, name.rfind('.')));
    CHECK(norms == std::vector<std::string>{"encoder.embed_norm", "encoder.blocks.0.ln1_post",
                                            "encoder.blocks.0.ln2_post", "embed_norm", "blocks.0.ln1_post",
                                            "blocks.0.ln2_post", "blocks.0.ln3_post"});
    CHECK_FALSE(model.weights.contains("layers.0.norm1.weight"));
    CHECK(model.weights.contains("layers.0.norm3_post.weight"));
    CHECK(model.weights.contains("encoder.layers.0.norm2_post.bias"));
}

TEST_CASE("attn.result stands behind attn.z when it is asked for, and q before RoPE in no trace") {
    SmallModel model = small_model({{"cross_attention", "true"}, {"positional_encoding", "rope"}});
    model.asked = {"blocks.0.attn.result", "blocks.0.cross_attn.result"};
    check_list(*model.run(), R"(
        blocks.0.resid_pre [2, 3, 12]
        blocks.0.attn.q [2, 2, 3, 6]  blocks.0.attn.k [2, 2, 3, 6]  blocks.0.attn.v [2, 2, 3, 6]
        blocks.0.attn.attn_scores [2, 2, 3, 3]  blocks.0.attn.mask [2, 2, 3, 3]
        blocks.0.attn.masked_scores [2, 2, 3, 3]  blocks.0.attn.pattern [2, 2, 3, 3]  blocks.0.attn.z [2, 2, 3, 6]
        blocks.0.attn.result [2, 2, 3, 12]
        blocks.0.attn_out [2, 3, 12]  blocks.0.resid_mid [2, 3, 12]
        blocks.0.ln1.scale [2, 3, 1]  blocks.0.ln1.normalized [2, 3, 12]
        blocks.0.cross_attn.q [2, 2, 3, 6]  blocks.0.cross_attn.k [2, 2, 4, 6]  blocks.0.cross_attn.v [2, 2, 4, 6]
        blocks.0.cross_attn.attn_scores [2, 2, 3, 4]  blocks.0.cross_attn.mask [2, 2, 3, 4]
        blocks.0.cross_attn.masked_scores [2, 2, 3, 4]  blocks.0.cross_attn.pattern [2, 2, 3, 4]
        blocks.0.cross_attn.z [2, 2, 3, 6]  blocks.0.cross_attn.result [2, 2, 3, 12]
        blocks.0.cross_attn_out [2, 3, 12]  blocks.0.resid_mid_cross [2, 3, 12]
        blocks.0.ln2.scale [2, 3, 1]  blocks.0.ln2.normalized [2, 3, 12]
        blocks.0.mlp.pre [2, 3, 10]  blocks.0.mlp.post [2, 3, 10]
        blocks.0.mlp_out [2, 3, 12]  blocks.0.resid_post [2, 3, 12]
        blocks.0.ln3.scale [2, 3, 1]  blocks.0.ln3.normalized [2, 3, 12]
    )");
}

TEST_CASE("asking changes no other tensor of the list") {
    SmallModel model = small_model();
    const auto without = listed(*model.run());
    model.asked = {"*"};
    auto with = listed(*model.run());
    CHECK(std::erase(with, "blocks.0.attn.result [2, 2, 3, 12]") == 1);
    CHECK(with == without);
}
