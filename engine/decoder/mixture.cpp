#include "engine/decoder/layers.h"

#include "engine/ops/elementwise.h"
#include "engine/ops/experts.h"
#include "engine/ops/linear.h"
#include "engine/ops/softmax.h"

namespace decoderscope::decoder {

namespace {

// A Linear of every expert; the bias is nullptr if the configuration has none.
//    weight [expert, out, in], bias [expert, out]
LinearParameters stacked_parameters(Builder& b, const std::string& name, Index out, Index in) {
    const Axis experts = {axis::expert, b.config.experts};
    LinearParameters linear;
    linear.weight =
        b.plan.parameter(name + ".weight", {experts, {axis::out, out}, {axis::in, in}}, {Init::Kind::linear, in});
    if (b.config.bias)
        linear.bias = {b.plan.parameter(name + ".bias", {experts, {axis::out, out}}, {Init::Kind::linear_bias, in})};
    return linear;
}

// What is added to the scores before the choice; nullptr if there is none. It begins at 0 for a sigmoid's scores, and
// isn't made for a softmax's.   -> [expert]
OptionalRef correction(Builder& b, const std::string& router) {
    const Axes axes = {{axis::expert, b.config.experts}};
    const bool made = b.config.router == RouterKind::sigmoid;
    return {b.plan.optional_parameter(router + ".correction", axes, {Init::Kind::shift}, made)};
}

struct Routing {
    Ref expert = nullptr;  // the numbers of the chosen, [batch, pos, slot]
    Ref weight = nullptr;  // of each, [batch, pos, slot]
};

Routing route(Builder& b, const std::string& at, const std::string& parameters, Ref x) {
    const Config& c = b.config;
    const std::string router = parameters + ".router";
    const LinearParameters linear = linear_parameters(b, router, c.experts, c.d_model);
    const Operation scoring = c.router == RouterKind::softmax   ? Operation(ops::Softmax{})
                              : c.router == RouterKind::sigmoid ? Operation(ops::Sigmoid{})
                                                                : Operation(ops::Identity{});
    const ops::ChooseExperts choice = {c.experts_per_token, c.router_groups, c.router_top_groups, c.router_group_best};
    const OptionalRef corrected = correction(b, router);
    return b.plan.in_float32(c.router_float32, [&] {
        const Ref logits =
            b.plan.step(at + ".router_logits", ops::Linear{axis::expert}, {x, linear.weight, linear.bias});
        const Ref scores = b.plan.step(at + ".router_scores", scoring, {logits});  // [batch, pos, expert]
        const Ref expert =                                                         // numbers of experts
            b.plan.in_float32(true, [&] {
                return b.plan.step(at + ".expert", choice, {scores, corrected});
            });
        const Operation weigh = c.router == RouterKind::sparsemixer
                                    ? Operation(ops::WeighAmongTies{c.router_jitter})
                                    : Operation(ops::WeighExperts{c.router_normalize, c.router_scale});
        return Routing{expert, b.plan.step(at + ".expert_weight", weigh, {scores, expert})};
    });
}

// The dense MLP beside the experts.   -> [batch, pos, d_model]
Ref shared_mlp(Builder& b, const std::string& at, const std::string& parameters, Ref x) {
    const Config& c = b.config;
    const auto linear = [&](const char* name, Index out, Index in) {
        return linear_parameters(b, parameters + ".shared." + name, out, in);
    };
    const Hidden read = [&](const std::string& step, const char* projection) {
        const LinearParameters of = linear(projection, c.shared_dim_feedforward, c.d_model);
        return b.plan.step(step, ops::Linear{axis::d_ff}, {x, of.weight, of.bias});
    };
    const Ref post = hidden(b, at + ".shared", parameters + ".shared", read);
    const LinearParameters down = linear("down_proj", c.d_model, c.shared_dim_feedforward);
    const ops::Linear last = {axis::d_model};
    if (!c.shared_gate) return b.plan.step(at + ".shared_out", last, {post, down.weight, down.bias});
    const Ref ungated =
        b.plan.step(at + ".shared_ungated", last, {post, down.weight, down.bias}, std::nullopt, Role::internal);
    const Ref gate = b.plan.parameter(parameters + ".shared_gate.weight", {{axis::out, 1}, {axis::in, c.d_model}},
                                      {Init::Kind::linear, c.d_model});
    const Ref logit =
        b.plan.step(at + ".shared_logit", ops::Linear{axis::one}, {x, gate}, std::nullopt, Role::internal);
    const Ref weight = b.plan.step(at + ".shared_weight", ops::Sigmoid{}, {logit});  // [batch, pos, 1]
    return b.plan.step(at + ".shared_out", ops::ScaleRows{}, {ungated, weight});
}

}  // namespace

Ref mixture(Builder& b, const std::string& block, const std::string& parameters, Ref x) {
    const Config& c = b.config;
    const std::string at = block + ".mlp";
    const Index d_ff = c.expert_width();
    const Routing routing = route(b, at, parameters, x);
    const auto linear = [&](const char* name, Index out, Index in) {
        return stacked_parameters(b, parameters + ".experts." + name, out, in);
    };
    const Hidden read = [&](const std::string& step, const char* projection) {
        const LinearParameters of = linear(projection, d_ff, c.d_model);
        return b.plan.step(step, ops::ExpertLinear{axis::d_ff}, {x, routing.expert, of.weight, of.bias});
    };
    const Ref post = hidden(b, at, parameters + ".experts", read);  // [batch, pos, slot, d_ff]
    const LinearParameters down = linear("down_proj", c.d_model, d_ff);
    const Ref out = b.plan.step(at + ".expert_out", ops::ExpertLinear{axis::d_model},
                                {post, routing.expert, down.weight, down.bias});  // [batch, pos, slot, d_model]
    const OptionalRef shared = {c.shared_dim_feedforward > 0 ? shared_mlp(b, at, parameters, x) : nullptr};
    return b.plan.step(block + ".mlp_out", ops::MixExperts{}, {out, routing.weight, shared});
}

}  // namespace decoderscope::decoder
