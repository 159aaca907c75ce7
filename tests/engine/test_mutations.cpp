// Marked mistakes: what each changes, first and honestly.
#include "engine/base/error.h"
#include "engine/decoder/kv_cache.h"
#include "engine/mutations/mutations.h"
#include "tests/catch.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"
#include "tests/sanitized.h"

#include <cmath>
#include <map>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::mutations;

namespace {

// Models between which every mutation has something to change.
std::vector<SmallModel> models() {
    std::vector<SmallModel> all;
    const Overrides plain = {
        {"vocab_size", "11"}, {"lm_head", "true"}, {"norm_first", "true"}, {"final_norm", "true"}, {"num_layers", "2"}};
    const auto with = [&](Overrides more) {
        Overrides keys = plain;
        for (auto& key : more) {
            std::erase_if(keys, [&](const auto& known) { return known.first == key.first; });
            keys.push_back(key);
        }
        return keys;
    };
    all.push_back(
        small_model(with({{"positional_encoding", "learned"}, {"max_positions", "9"}, {"activation", "gelu"}})));
    all.push_back(small_model(with({{"positional_encoding", "rope"}})));
    // With positions that are counted by the mask, or given, and documents.
    const auto by_place =
        with({{"positional_encoding", "sinusoidal"}, {"positions", "from_mask"}, {"mask_value", "-1e5"}});
    all.push_back(small_model(by_place, {.batch = 2, .pos = 5}));
    all.push_back(all.back());
    const Axes axes = {{axis::batch, 2}, {axis::pos, 5}};
    all.back().inputs.positions = Tensor(axes, std::vector<float>{0, 1, 2, 0, 1, 0, 0, 1, 2, 3});
    all.back().inputs.segments = Tensor(axes, std::vector<float>{0, 0, 0, 1, 1, 0, 0, 0, 1, 1});
    all.push_back(small_model(with(keys_of("norm=rmsnorm positional_encoding=rope rotary_dim=4 rope_theta=100 "
                                           "layer_norm_eps=1e-4 mask_value=-1e5 gated_mlp=true rope_scaling=linear "
                                           "rope_factor=2 qk_norm=true sliding_window=2 attention_soft_cap=2 "
                                           "logit_soft_cap=3 logit_scale=0.5 layer_scale=true residual_scale=1.5")),
                              {.pos = 5}));
    all.push_back(small_model(with(keys_of("cross_attention=true encoder_layers=1 scale_embedding=true "
                                           "positional_encoding=sinusoidal position_scale=0.5 encoder_vocab_size=9 "
                                           "norm_first=false embedding_norm=true shared_qkv=true")),
                              {.batch = 2, .pos = 4, .src = 4}));
    all.push_back(small_model(with(keys_of("cross_attention=true encoder_layers=1 scale_embedding=true "
                                           "positional_encoding=sinusoidal position_scale=0.5 encoder_vocab_size=9 "
                                           "norm=layernorm_std")),
                              {.batch = 2, .pos = 4, .src = 4}));
    all.push_back(small_model(with(keys_of("nhead=4 num_key_value_heads=2 dropout=0.2 positional_encoding=learned "
                                           "max_positions=9")),
                              {.pos = 5}));
    all.push_back(small_model(with(keys_of("norm=rmsnorm_plus_one norm_placement=peri sliding_window=3 alibi=true "
                                           "causal=false attention_scale=0.3")),
                              {.pos = 5}));
    all.push_back(
        small_model(with(keys_of("norm=rmsnorm positional_encoding=rope gated_mlp=true activation=swiglu_clamped "
                                 "swiglu_limit=0.2 attention_sinks=true experts=4 experts_per_token=2 "
                                 "router_normalize=true sliding_window=2 sliding_window_layers=[0] "
                                 "rope_local_theta=50 rope_scaling=yarn rope_factor=4 "
                                 "rope_original_positions=256")),
                    {.pos = 6}));
    all.push_back(
        small_model(with(keys_of("norm=rmsnorm positional_encoding=rope rope_layers=[0] gated_mlp=true "
                                 "bias=false head_dim=6 kv_lora_rank=5 qk_rope_head_dim=2 v_head_dim=4 experts=6 "
                                 "experts_per_token=2 router=sigmoid router_scale=1.7 router_groups=3 "
                                 "router_top_groups=1 shared_dim_feedforward=6 shared_gate=true")),
                    {.pos = 5}));
    all.push_back(small_model(with(keys_of("norm=layernorm_plus_one positional_encoding=rope qk_norm=true "
                                           "qk_norm_after_rope=true clip_qkv=0.3 query_scale_beta=0.5 "
                                           "query_scale_positions=2 activation=xielu")),
                              {.pos = 5}));
    all.push_back(
        small_model(with(keys_of("experts=4 experts_per_token=2 router=sparsemixer router_jitter=0.4 alibi=true "
                                 "alibi_scaled=true parallel_residual=two_norms"))));
    for (SmallModel& model : all) {
        const Index batch = model.inputs.batch(), pos = model.inputs.pos();
        model.inputs.attention_mask = Tensor({{axis::batch, batch}, {axis::pos, pos}});
        for (float& keep : model.inputs.attention_mask.writable()) keep = 1.0F;
        model.inputs.attention_mask.writable()[static_cast<std::size_t>(pos)] = 0.0F;  // on the left of the second row
        if (model.config.cross_attention) {
            model.inputs.encoder_attention_mask = Tensor({{axis::batch, batch}, {axis::src, 4}});
            for (float& keep : model.inputs.encoder_attention_mask.writable()) keep = 1.0F;
            model.inputs.encoder_attention_mask.writable()[3] = 0.0F;
        }
        // Parameters that are 0 or 1 when they are new would hide what uses them.
        float seed = 0.1F;
        for (auto& [name, weight] : model.weights)
            if (weight.rank() == 1)
                for (float& value : weight.writable()) value += 0.2F * std::sin(seed += 1.3F);
    }
    return all;
}

// A forward pass, and the backward pass where it is asked for.
std::shared_ptr<const Plan> plan_of(const SmallModel& model, const Mutation* mutation,
                                    const std::string& gradient_target = {}) {
    PassRequest request{model.config, &model.weights, model.inputs, model.edits, model.dropout_seed};
    request.mutation = mutation;
    request.gradient_target = gradient_target;
    return plan_decoder(request);
}

bool near(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-4 * std::max(1.0, std::abs(b));
}

}  // namespace

TEST_CASE("mutations have names of their own, and each can be found by it") {
    std::set<std::string_view> names;
    for (const Mutation& mutation : mutations::mutations()) {
        CHECK(names.insert(mutation.name).second);
        CHECK(find_mutation(mutation.name) == &mutation);
        CHECK((mutation.configure || mutation.feed || mutation.change || mutation.dropout_seed));
    }
    CHECK(mutations::mutations().size() >= 24);
    CHECK(find_mutation("no-such-mistake") == nullptr);
}

TEST_CASE("a mutation's first changed step is the first whose numbers change") {
    std::set<std::string> worked;
    for (const SmallModel& model : models()) {
        const std::shared_ptr<const Run> without_loss = execute(plan_of(model, nullptr));
        const std::shared_ptr<const Run> with_loss = execute(plan_of(model, nullptr, "loss"));
        for (const Mutation& mutation : looked_at(mutations::mutations(), 6)) {
            INFO(mutation.name);
            // What is fed may be the targets.
            const std::shared_ptr<const Run>& right = mutation.feed ? with_loss : without_loss;
            std::shared_ptr<const Plan> plan;
            try {
                plan = plan_of(model, &mutation, mutation.feed ? "loss" : "");
            } catch (const Error&) {
                continue;  // this model has not what it is about
            }
            const Ref first = first_changed(right->plan(), *plan);
            if (first == nullptr) continue;
            const std::shared_ptr<const Run> wrong = execute(plan);
            // Every step before it is the same, and it is not: an answer that is too early fails, too.
            for (const Step& step : right->plan().steps()) {
                if (step.id >= first->id) break;
                if (!step.is_source() && step.role != Role::on_demand)
                    CHECK(same_bits(right->value(step.id), wrong->value(step.name)));
            }
            INFO("first changed: " << first->name);
            REQUIRE_FALSE(first->is_source());
            const Ref theirs = plan->find(first->name);
            const bool moved = theirs == nullptr || !same_bits(right->value(first->id), wrong->value(theirs->id));
            // A LayerNorm in a LayerNorm's place is another operation with the same numbers.
            CHECK((moved || !(theirs->operation == first->operation)));
            if (moved) worked.insert(mutation.name);
        }
    }
    for (const Mutation& mutation : looked_at(mutations::mutations(), 6)) {
        INFO(mutation.name);
        CHECK(worked.contains(mutation.name));
    }
}

TEST_CASE("what a mutation computes, it explains") {
    for (const SmallModel& model : models()) {
        for (const Mutation& mutation : looked_at(mutations::mutations(), 24)) {
            if (!mutation.change) continue;
            std::shared_ptr<const Run> run;
            try {
                run = execute(plan_of(model, &mutation));
            } catch (const Error&) {
                continue;
            }
            for (const Step& step : run->plan().steps()) {
                if (step.is_source() || step.role == Role::on_demand) continue;
                const Tensor& values = run->value(step.id);
                for (const Index at : {Index{0}, values.size() / 2, values.size() - 1}) {
                    const Cell cell = values.cell(at);
                    const double explained = run->explain(step.id, cell).lines.back().value;
                    INFO(mutation.name << " " << step.name << " " << explained << " " << values.at(cell));
                    CHECK(near(explained, static_cast<double>(values.at(cell))));
                }
            }
        }
    }
}

TEST_CASE("given values replace computed ones") {
    const SmallModel model = small_model();
    const std::shared_ptr<const Run> run = model.run();
    Tensor other = run->value("blocks.0.attn_out");
    for (float& value : other.writable()) value += 1.0F;
    const std::map<std::string, Tensor, std::less<>> given = {{"blocks.0.attn_out", other}, {"no such step", other}};
    PassRequest request{model.config, &model.weights, model.inputs, model.edits, model.dropout_seed};
    request.given = &given;
    const std::shared_ptr<const Run> changed = execute(plan_decoder(request));
    CHECK(same_bits(changed->value("blocks.0.attn_out"), other));
    CHECK(same_bits(changed->value("blocks.0.attn.z"), run->value("blocks.0.attn.z")));
    CHECK(!same_bits(changed->value("blocks.0.resid_post"), run->value("blocks.0.resid_post")));
}

TEST_CASE("two operations in one hand back the gradient of both") {
    const SmallModel model = small_model({{"vocab_size", "11"}, {"lm_head", "true"}});
    const Mutation* mutation = find_mutation("softmax-in-model");
    const std::shared_ptr<const Run> run = execute(plan_of(model, mutation, "loss"));
    const auto loss_with = [&](float change) {
        SmallModel moved = model;
        moved.weights.at("lm_head.bias").writable()[3] += change;
        return static_cast<double>(execute(plan_of(moved, mutation, "loss"))->value("loss").at(Cell{0}));
    };
    const double slope = (loss_with(0.05F) - loss_with(-0.05F)) / 0.1;
    const Tensor& gradient = run->value("grad.lm_head.bias");
    CHECK(std::abs(slope) > 1e-4);
    CHECK(static_cast<double>(gradient.at(Cell{3})) == Approx(slope).epsilon(0.02));
    for (const Index at : {Index{0}, Index{3}}) {
        const Explanation explained = run->explain(run->plan().find("grad.lm_head.bias")->id, {at});
        CHECK(near(explained.lines.back().value, static_cast<double>(gradient.at(Cell{at}))));
    }
}

TEST_CASE("what a pass is given anew is the same, as long as its numbers are") {
    const SmallModel model = small_model({{"vocab_size", "11"}, {"lm_head", "true"}});
    const auto right = plan_of(model, nullptr, "loss");
    CHECK(first_changed(*right, *plan_of(model, nullptr, "loss")) == nullptr);
    const Ref first = first_changed(*right, *plan_of(model, find_mutation("targets-not-shifted"), "loss"));
    REQUIRE(first != nullptr);
    CHECK(first->name == "loss_per_token");
}

TEST_CASE("a mistake is described as what was meant, and its numbers are explained as they are") {
    const SmallModel model = models().front();
    const std::shared_ptr<const Plan> right = plan_of(model, nullptr);
    const std::shared_ptr<const Run> wrong = execute(plan_of(model, find_mutation("softmax-over-queries")));
    const Ref meant = right->find("blocks.0.attn.pattern"), pattern = wrong->plan().find("blocks.0.attn.pattern");
    CHECK(pattern->operation.about().name == meant->operation.about().name);
    CHECK(pattern->operation.about().teaches == meant->operation.about().teaches);
    CHECK(!(pattern->operation == meant->operation));
    const Cell cell = {0, 0, 1, 0};
    CHECK(near(wrong->explain(pattern->id, cell).lines.back().value,
               static_cast<double>(wrong->value(pattern->id).at(cell))));
}

TEST_CASE("a mistake is refused where k and v are kept: it may concern all positions") {
    const SmallModel model = small_model({{"vocab_size", "11"}, {"lm_head", "true"}});
    const Past past = past_of(*model.run());
    PassRequest request{model.config, &model.weights, model.inputs, model.edits, model.dropout_seed, &past};
    request.mutation = find_mutation("no-scale");
    CHECK_THROWS_AS(plan_decoder(request), Error);
}

TEST_CASE("an edit of a formula that nobody listed is a mutation by its name") {
    const SmallModel model = models().front();
    const FormulaEdit edit = {FormulaEdit::Where::in_all_blocks, "blocks.0.attn.attn_scores",
                              "s[b, h, q, k] = Σ_d query[b, h, q, d] · key[b, h div group, k, d]"};
    const Mutation* found = find_mutation(edit.name());
    REQUIRE(found != nullptr);
    CHECK(find_mutation(edit.name()) == found);
    // The configuration can ask the operation's kernel for the same numbers.
    const auto edited = execute(plan_of(model, found)), unscaled = execute(plan_of(model, find_mutation("no-scale")));
    const Tensor &a = edited->value("logits"), &b = unscaled->value("logits");
    for (std::size_t i = 0; i < a.values().size(); ++i)
        CHECK(near(static_cast<double>(a.values()[i]), static_cast<double>(b.values()[i])));
    CHECK(find_mutation("blocks.0.attn.attn_scores: s[b = ") == nullptr);
    CHECK_THROWS_AS(plan_of(model, find_mutation("no.such.step: y = 1")), Error);
    CHECK_THROWS_AS(plan_of(model, find_mutation("blocks.0.attn.attn_scores: y[b] = 1")), Error);
}
