// An edit recomputes only what depends on it: steps that no change reaches keep the previous run's tensors.
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

#include <set>

using namespace decoderscope::testing;

namespace {

SmallModel five_layers() {
    return small_model(
        keys_of("num_layers=5 vocab_size=7 positional_encoding=learned max_positions=5 "
                "final_norm=true lm_head=true"));
}

// The steps that depend on `changed`, directly or indirectly, and `changed` itself.
std::set<StepId> reached_from(const Plan& plan, const std::string& changed) {
    std::set<StepId> reached = {plan.find(changed)->id};
    for (std::size_t before = 0; before != reached.size();) {
        before = reached.size();
        for (const Step& step : plan.steps())
            for (const StepId operand : step.operands)
                if (reached.contains(operand)) reached.insert(step.id);
    }
    return reached;
}

// Runs the model with one more edit, which changes the tensor `changed`; checks that exactly its dependents were
// computed. Returns their number.
std::size_t check_edit(SmallModel model, const Edit& edit, const std::string& changed) {
    INFO(describe(edit));
    const auto before = model.run();
    model.edits.push_back(edit);
    const auto after = model.run(before.get());
    const std::set<StepId> reached = reached_from(after->plan(), changed);
    std::size_t computed = 0;
    for (const Step& step : after->plan().steps()) {
        INFO(step.name);
        const Tensor& now = after->value(step.id);
        if (now.empty()) continue;
        CHECK(now.shares_values_with(before->value(step.name)) == !reached.contains(step.id));
        if (reached.contains(step.id) && !step.is_source()) ++computed;
    }
    CHECK(after->computed_steps() == computed);
    CHECK(first_difference(*after, *model.run()) == "");
    return computed;
}

}  // namespace

TEST_CASE("an edit computes the steps that depend on it, and no other") {
    const SmallModel model = five_layers();
    const std::size_t all = model.run()->computed_steps();
    // 14 steps of block 2 from its mask on, 18 of each later block (their masks stay), the final norm's 2, logits,
    // probs.
    CHECK(check_edit(model, MaskEdit{"blocks.2.attn", 0, 1, 2, 0, false}, "blocks.2.attn.mask") == 54);
    CHECK(check_edit(model, ScaleHead{"blocks.2.attn", 1, 0.0F}, "blocks.2.attn.z") == 51);
    CHECK(check_edit(model, SetCell{"logits", {1, 2, 3}, 1.0F}, "logits") == 2);
    CHECK(check_edit(model, SetCell{"probs", {1, 2, 3}, 1.0F}, "probs") == 1);
    // Everything but embed, pos_embed and the five masks depends on the first block's input.
    CHECK(check_edit(model, SetCell{"blocks.0.resid_pre", {0, 1, 2}, 1.0F}, "blocks.0.resid_pre") == all - 7);
}

TEST_CASE("so does an edit of a weight or an input") {
    const SmallModel model = five_layers();
    CHECK(check_edit(model, SetCell{"lm_head.bias", {3}, 1.0F}, "lm_head.bias") == 2);
    check_edit(model, SetCell{"layers.3.down_proj.weight", {3, 4}, 1.0F}, "layers.3.down_proj.weight");
    check_edit(model, SetCell{"tokens", {1, 2}, 5.0F}, "tokens");
    SmallModel padded = model;
    padded.inputs.attention_mask = Tensor({{axis::batch, 2}, {axis::pos, 3}}, {1, 1, 1, 1, 1, 1});
    check_edit(padded, SetCell{"attention_mask", {1, 2}, 0.0F}, "attention_mask");
    SmallModel tied = small_model({{"vocab_size", "7"}, {"lm_head", "true"}, {"tie_word_embeddings", "true"}});
    check_edit(tied, SetCell{"embed.weight", {6, 2}, 1.0F}, "embed.weight");
}

TEST_CASE("an edit in the encoder leaves the decoder alone up to its first cross-attention") {
    const SmallModel model =
        small_model({{"cross_attention", "true"}, {"encoder_layers", "2"}, {"norm_first", "true"}});
    const auto before = model.run();
    SmallModel edited = model;
    edited.edits = {ScaleHead{"encoder.blocks.1.attn", 0, 2.0F}};
    const auto after = edited.run(before.get());
    CHECK(after->value("blocks.0.resid_mid").shares_values_with(before->value("blocks.0.resid_mid")));
    CHECK(after->value("blocks.0.cross_attn.q").shares_values_with(before->value("blocks.0.cross_attn.q")));
    CHECK_FALSE(after->value("blocks.0.cross_attn.k").shares_values_with(before->value("blocks.0.cross_attn.k")));
    check_edit(model, edited.edits.front(), "encoder.blocks.1.attn.z");
}

TEST_CASE("without a change nothing is computed") {
    const SmallModel model = five_layers();
    const auto first = model.run();
    const auto second = model.run(first.get());
    CHECK(first->computed_steps() > 50);
    CHECK(second->computed_steps() == 0);
    CHECK(first_difference(*first, *second) == "");
}

TEST_CASE("other weights or another input compute what they reach") {
    SmallModel model = five_layers();
    const auto first = model.run();
    Tensor& bias = model.weights.find("lm_head.bias")->second;
    bias.writable()[3] += 1.0F;
    const auto other_bias = model.run(first.get());
    CHECK(other_bias->computed_steps() == 2);  // logits and probs
    CHECK(first_difference(*other_bias, *model.run()) == "");
    model.inputs.tokens = Tensor(model.inputs.tokens.axes(), {0, 1, 2, 3, 4, 5});
    CHECK(first_difference(*model.run(other_bias.get()), *model.run()) == "");
}

TEST_CASE("undo brings the numbers back bit for bit") {
    SmallModel model = five_layers();
    const auto before = model.run();
    model.edits = {ScaleHead{"blocks.1.attn", 0, 0.0F}, SetCell{"embed.weight", {2, 3}, 4.0F}};
    const auto edited = model.run(before.get());
    CHECK(first_difference(*before, *edited) != "");
    model.edits.clear();
    CHECK(first_difference(*before, *model.run(edited.get())) == "");
}

TEST_CASE("flipping Pre-Norm and Post-Norm recomputes, and flipping back gives the same bits") {
    SmallModel model = five_layers();
    const auto post = model.run();
    model.config.norm_first = true;
    const auto pre = model.run(post.get());
    CHECK(first_difference(*pre, *model.run()) == "");
    CHECK_FALSE(same_bits(pre->value("probs"), post->value("probs")));
    CHECK(pre->value("embed").shares_values_with(post->value("embed")));  // nothing before the blocks changes
    model.config.norm_first = false;
    CHECK(first_difference(*model.run(pre.get()), *post) == "");
}

TEST_CASE("another dropout seed computes what dropout reaches") {
    SmallModel model = five_layers();
    model.config.dropout = 0.5;
    model.config.dropout_sites = {DropoutSite::mlp_out};
    model.dropout_seed = 1;
    const auto first = model.run();
    model.dropout_seed = 2;
    const auto second = model.run(first.get());
    CHECK(second->value("blocks.0.mlp_out").shares_values_with(first->value("blocks.0.mlp_out")));
    CHECK_FALSE(same_bits(second->value("probs"), first->value("probs")));
    CHECK(first_difference(*second, *model.run()) == "");
}

TEST_CASE("an input of the same numbers in another shape is another input") {
    SmallModel model = small_model();
    model.inputs.custom_mask = Tensor({{axis::query, 3}, {axis::key, 1}}, {1, 0, 1});
    const auto rows = model.run();
    model.inputs.custom_mask = model.inputs.custom_mask.with_axes({{axis::query, 1}, {axis::key, 3}});
    const auto columns = model.run(rows.get());
    CHECK_FALSE(same_bits(rows->value("blocks.0.attn.mask"), columns->value("blocks.0.attn.mask")));
    CHECK(first_difference(*columns, *model.run()) == "");
}

TEST_CASE("asking for a head's results computes those, and they are there") {
    SmallModel model = five_layers();
    const auto before = model.run();
    CHECK(before->value("blocks.3.attn.result").empty());
    model.asked = {"blocks.3.attn.result"};
    const auto one = model.run(before.get());
    CHECK(one->computed_steps() == 1);
    CHECK_FALSE(one->value("blocks.3.attn.result").empty());
    CHECK(one->value("blocks.2.attn.result").empty());
    model.asked = {"*"};
    CHECK(model.run(one.get())->computed_steps() == 4);
}

TEST_CASE("a run that is stopped gives no run, and progress counts the steps") {
    const SmallModel model = five_layers();
    const auto plan = model.plan();
    std::atomic<std::size_t> done = 0;
    std::stop_source source;
    CHECK(execute(plan, {.stop = source.get_token(), .done = &done}) != nullptr);
    CHECK(done == plan->steps().size());
    source.request_stop();
    CHECK(execute(plan, {.stop = source.get_token()}) == nullptr);
}

TEST_CASE("recorded bytes are those of a trace, while what is only carried on shares its storage") {
    const SmallModel model = small_model({{"num_layers", "2"}});
    const auto run = model.run();
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : trace_of(*run)) bytes += tensor.values().size_bytes();
    CHECK(run->recorded_bytes() == bytes);
    CHECK(run->value("blocks.0.resid_pre").shares_values_with(run->value("x")));
    CHECK(run->value("blocks.1.resid_pre").shares_values_with(run->value("blocks.0.ln2.normalized")));
}
