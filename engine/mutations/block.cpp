#include "engine/mutations/mutations.h"
#include "engine/mutations/sites.h"
#include "engine/ops/activation.h"
#include "engine/ops/elementwise.h"

#include <string_view>
#include <utility>

namespace decoderscope::mutations::lists {

namespace {

// The operands of a projection, with the parameters of another one of the same attention.
std::vector<StepId> with_parameters_of(const Plan& plan, const Step& step, std::string_view own,
                                       std::string_view other) {
    std::vector<StepId> read = step.operands;
    for (StepId& operand : read) {
        std::string name = plan[operand].name;
        const std::size_t at = name.find(own);
        if (plan[operand].role != Role::parameter || at == std::string::npos) continue;
        name.replace(at, own.size(), other);
        const Ref parameter = plan.find(name);
        if (parameter != nullptr && parameter->id < step.id && parameter->axes == plan[operand].axes)
            operand = parameter->id;
    }
    return read;
}

// Each projection of the first name uses the parameters of the second.
void use(Plan& plan, std::string_view own, std::string_view other) {
    for (const StepId id : sites::readers(plan, std::string(own) + ".weight"))
        plan.replace(id, plan[id].operation, with_parameters_of(plan, plan[id], own, other));
}

std::function<void(Plan&, const Config&)> uses(std::string_view own, std::string_view other) {
    return [own, other](Plan& plan, const Config&) { use(plan, own, other); };
}

// A parameter is declared when it is asked for, so the value's comes after q's and k's steps. Only what is there
// before a step can be read by it.
std::function<void(Plan&, const Config&)> swapped(std::string_view one, std::string_view other) {
    return [one, other](Plan& plan, const Config&) {
        const auto first = sites::readers(plan, std::string(one) + ".weight");
        const auto second = sites::readers(plan, std::string(other) + ".weight");
        std::vector<std::pair<StepId, std::vector<StepId>>> changes;
        for (const StepId id : first) changes.emplace_back(id, with_parameters_of(plan, plan[id], one, other));
        for (const StepId id : second) changes.emplace_back(id, with_parameters_of(plan, plan[id], other, one));
        for (auto& [id, read] : changes) plan.replace(id, plan[id].operation, std::move(read));
    };
}

// Linears without their bias.
std::function<void(Plan&, const Config&)> without_bias(std::vector<std::string_view> names) {
    return [names = std::move(names)](Plan& plan, const Config&) {
        for (const std::string_view name : names)
            for (const StepId id : sites::readers(plan, std::string(name) + ".bias")) {
                std::vector<StepId> read = plan[id].operands;
                std::erase(read, plan[id].operand(OperandRole::bias));
                plan.replace(id, plan[id].operation, read);
            }
    };
}

}  // namespace

void projections(std::vector<Mutation>& list) {
    list.push_back({.name = "shared-qkv",
                    .cause = message("One projection, q's, is used for query, key and value."),
                    .change = [](Plan& plan, const Config&) {
                        use(plan, ".k_proj", ".q_proj");
                        use(plan, ".v_proj", ".q_proj");
                    }});
    list.push_back(
        {.name = "qkv-apart",
         .cause = message("Query, key and value have projections of their own, although one is meant for all."),
         .configure = [](Config& config) { config.shared_qkv = false; }});
    list.push_back({.name = "key-by-query-projection",
                    .cause = message("The key is computed by the query's projection."),
                    .change = uses(".k_proj", ".q_proj")});
    list.push_back({.name = "value-by-key-projection",
                    .cause = message("The value is computed by the key's projection."),
                    .change = uses(".v_proj", ".k_proj")});
    list.push_back({.name = "value-by-query-projection",
                    .cause = message("The value is computed by the query's projection."),
                    .change = uses(".v_proj", ".q_proj")});
    list.push_back({.name = "query-and-key-swapped",
                    .cause = message("Query and key are swapped."),
                    .change = swapped(".q_proj", ".k_proj")});
    list.push_back({.name = "key-and-value-swapped",
                    .cause = message("Key and value are swapped."),
                    .change = swapped(".k_proj", ".v_proj")});
    list.push_back({.name = "query-and-value-swapped",
                    .cause = message("Query and value are swapped."),
                    .change = swapped(".q_proj", ".v_proj")});
    list.push_back({.name = "no-attention-bias",
                    .cause = message("The biases of query, key and value are not added."),
                    .change = without_bias({".q_proj", ".k_proj", ".v_proj"})});
    list.push_back({.name = "no-key-bias",
                    .cause = message("The key's bias is not added: it adds the same number to every score of a row, "
                                     "which the softmax cancels."),
                    .change =
                        [](Plan& plan, const Config& config) {
                            // A rotated or normalised key's bias differs from key to key.
                            // A sink's score has none.
                            if (config.positional_encoding != PositionalEncoding::rope && !config.qk_norm &&
                                !config.attention_sinks)
                                without_bias({".k_proj"})(plan, config);
                        },
                    .harmless = true});
    list.push_back({.name = "no-output-bias",
                    .cause = message("The bias of the attention's output projection is not added."),
                    .change = without_bias({".o_proj"})});
}

namespace {

Mutation activation(std::string_view name, Phrase cause, ActivationKind kind, bool harmless = false) {
    return {.name = name,
            .cause = cause,
            .configure = [kind](Config& config) { config.activation = kind; },
            .harmless = harmless};
}

}  // namespace

void mlp(std::vector<Mutation>& list) {
    list.push_back(activation("gelu-tanh", message("The MLP uses gelu's approximation by tanh."),
                              ActivationKind::gelu_tanh, true));
    list.push_back(
        activation("gelu-exact", message("The MLP uses the exact gelu, by erf."), ActivationKind::gelu, true));
    list.push_back(activation("relu", message("The MLP's activation is relu."), ActivationKind::relu));
    list.push_back(activation("silu", message("The MLP's activation is silu."), ActivationKind::silu));
    list.push_back({.name = "no-activation",
                    .cause = message("The MLP has no activation: its two Linears are one."),
                    .change = [](Plan& plan, const Config& config) {
                        if (config.gated_mlp) return;
                        for (const StepId id : sites::readers(plan, ".down_proj.weight")) {
                            const Step& post = plan[plan[id].operands[0]];
                            if (post.part == Part::mlp && post.operands.size() == 1)
                                plan.replace(post.id, ops::Identity{}, post.operands);
                        }
                    }});
    list.push_back(
        {.name = "activation-twice",
         .cause = message("The MLP's activation is applied after its second Linear, too."),
         .change = [](Plan& plan, const Config& config) {
             const ops::Activate again = {config.activation};
             for (const StepId id : sites::readers(plan, ".down_proj.weight"))
                 plan.replace(id, Then{plan[id].operation, again, plan[id].operands.size()}, plan[id].operands);
         }});
    list.push_back({.name = "gate-and-up-swapped",
                    .cause = message("The gate and what it multiplies are swapped: the activation is on the wrong "
                                     "one."),
                    .change = [](Plan& plan, const Config& config) {
                        if (!config.gated_mlp) return;
                        for (const StepId id : sites::readers(plan, ".down_proj.weight")) {
                            const Step& post = plan[plan[id].operands[0]];
                            if (post.operands.size() == 2)
                                plan.replace(post.id, post.operation, {post.operands[1], post.operands[0]});
                        }
                    }});
    list.push_back({.name = "no-mlp-bias",
                    .cause = message("The biases of the MLP are not added."),
                    .change = without_bias({".up_proj", ".down_proj", ".gate_proj"})});
}

namespace {

// The sums of a sublayer pass on its update alone.
std::function<void(Plan&, const Config&)> forgotten(std::initializer_list<Part> parts) {
    return [parts = std::vector<Part>(parts)](Plan& plan, const Config&) {
        for (const Part part : parts)
            for (const StepId sum : sites::sums_of(plan, part))
                plan.replace(sum, ops::Identity{}, {plan[sum].operands[1]});
    };
}

// The norm's output that a sublayer's update was computed from; the step itself if there is no norm before it.
std::optional<StepId> norm_before(const Plan& plan, StepId stream, StepId sum) {
    for (StepId id = sum; id-- > stream;)
        if (plan[id].operation.traits().norm && plan[id].operands[0] == stream) return id;
    return std::nullopt;
}

}  // namespace

void residual(std::vector<Mutation>& list) {
    list.push_back(
        {.name = "no-residual-attention",
         .cause = message(
             "The residual connection around self-attention is missing: its output replaces the residual stream."),
         .change = forgotten({Part::self_attention})});
    list.push_back({.name = "no-residual-cross-attention",
                    .cause = message("The residual connection around cross-attention is missing."),
                    .change = forgotten({Part::cross_attention})});
    list.push_back({.name = "no-residual-mlp",
                    .cause = message(
                        "The residual connection around the MLP is missing: its output replaces the residual stream."),
                    .change = forgotten({Part::mlp})});
    list.push_back({.name = "no-residual",
                    .cause = message("There are no residual connections."),
                    .change = forgotten({Part::self_attention, Part::cross_attention, Part::mlp})});
    list.push_back({.name = "residual-from-norm",
                    .cause = message("The residual connection starts after the norm: the normalised stream is added, "
                                     "not the residual stream itself."),
                    .change = [](Plan& plan, const Config& config) {
                        for (const Part part : {Part::self_attention, Part::cross_attention, Part::mlp}) {
                            for (const StepId sum : sites::sums_of(plan, part)) {
                                const std::vector<StepId> read = plan[sum].operands;
                                if (const auto norm = norm_before(plan, read[0], sum))
                                    plan.replace(sum, ops::Add{config.residual_scale}, {*norm, read[1]});
                            }
                        }
                    }});
    list.push_back(
        {.name = "sublayers-in-parallel",
         .cause = message("Attention and MLP read the same residual stream and are added in one sum, as in GPT-J."),
         .configure = [](Config& config) {
             if (config.placement() == NormPlacement::pre && !config.cross_attention)
                 config.parallel_residual = ParallelResidual::two_norms;
         }});
    list.push_back({.name = "residual-not-scaled",
                    .cause = message("The residual stream is not multiplied by residual_scale."),
                    .configure = [](Config& config) { config.residual_scale = 1.0; }});
}

}  // namespace decoderscope::mutations::lists
