#include "engine/decoder/decoder.h"

#include "engine/decoder/layers.h"
#include "engine/ops/carry.h"
#include "engine/ops/linear.h"
#include "engine/ops/softmax.h"

#include <algorithm>

namespace decoderscope {

namespace {

// The inputs as steps; nullptr where absent.
struct InputSteps {
    Ref tokens, x, memory, encoder_tokens, attention_mask, encoder_attention_mask, custom_mask;
};

InputSteps input_steps(Plan& plan, const Inputs& inputs) {
    plan.begin_part("Input", Meaning::embedding);
    return {plan.input("tokens", inputs.tokens),
            plan.input("x", inputs.x),
            plan.input("memory", inputs.memory),
            plan.input("encoder_tokens", inputs.encoder_tokens),
            plan.input("attention_mask", inputs.attention_mask),
            plan.input("encoder_attention_mask", inputs.encoder_attention_mask),
            plan.input("custom_mask", inputs.custom_mask)};
}

Ref final_norm(Builder& b, const std::string& prefix, Ref x) {
    return b.config.final_norm ? norm(b, prefix + "ln_final", prefix + "norm", x) : x;
}

// The memory that cross-attention reads: made by the encoder, or given.   -> [batch, src, d_model]
Ref memory(Builder& b, const InputSteps& in) {
    if (b.config.encoder_layers == 0) return in.memory;
    const std::string prefix = "encoder.";
    const Entering source = embedding(b, prefix, in.encoder_tokens, in.memory, b.config.encoder_vocab_size);
    Ref x = blocks(
        b, {.prefix = prefix, .layers = b.config.encoder_layers, .causal = false, .padding = in.encoder_attention_mask},
        source);
    x = final_norm(b, prefix, x);
    b.plan.begin_part("Encoder output", Meaning::residual);
    return b.plan.step("encoder_out", Carry{}, {x});
}

// Logits and probabilities over the vocabulary.   {x [batch, pos, d_model]} -> [batch, pos, vocab]
void language_head(Builder& b, Ref x) {
    const Index vocab = b.config.vocab_size, d_model = b.config.d_model;
    b.plan.begin_part("Head", Meaning::output);
    LinearParameters head;
    if (b.config.tie_word_embeddings) {
        head.weight = b.plan.find("embed.weight");
        if (b.config.bias)
            head.bias =
                b.plan.optional_parameter("lm_head.bias", {{axis::vocab, vocab}}, {Init::Kind::linear, d_model});
    } else {
        head = linear_parameters(b, "lm_head", vocab, d_model);
    }
    const Ref logits = b.plan.step("logits", Linear{axis::vocab}, {x, head.weight, head.bias});
    b.plan.step("probs", Softmax{}, {logits});
}

void decoder(Builder& b, const InputSteps& in) {
    const Ref memory_read = b.config.cross_attention ? memory(b, in) : nullptr;
    const Entering target = embedding(b, "", in.tokens, in.x, b.config.vocab_size);
    Ref x = blocks(b,
                   {.layers = b.config.num_layers,
                    .causal = b.config.causal,
                    .padding = in.attention_mask,
                    .custom = in.custom_mask,
                    .memory = memory_read,
                    .memory_padding = in.encoder_attention_mask},
                   target);
    x = final_norm(b, "", x);
    if (b.config.lm_head) language_head(b, x);
}

// The least that a decoder of this configuration runs on: one batch row of one position.
Inputs smallest_inputs(const Config& config) {
    const auto one = [](std::string_view axis) { return Axes{{axis::batch, 1}, {axis, 1}}; };
    const auto zeros = [&](std::string_view axis) {
        Axes axes = one(axis);
        axes.push_back({axis::d_model, config.d_model});
        return Tensor(axes, std::vector<float>(static_cast<std::size_t>(config.d_model)));
    };
    Inputs inputs;
    if (config.vocab_size > 0)
        inputs.tokens = Tensor(one(axis::pos), {0.0F});
    else
        inputs.x = zeros(axis::pos);
    if (config.cross_attention && config.encoder_layers > 0 && config.encoder_vocab_size > 0)
        inputs.encoder_tokens = Tensor(one(axis::src), {0.0F});
    else if (config.cross_attention)
        inputs.memory = zeros(axis::src);
    return inputs;
}

bool names_tensor(const Edit& edit, const std::string& tensor) {
    const auto* cell = std::get_if<SetCell>(&edit);
    return cell != nullptr && cell->tensor == tensor;
}

Plan plan_of(const PassRequest& request) {
    Plan plan(request.weights);
    const auto edited = [&](const std::string& tensor) {
        return std::any_of(request.edits.begin(), request.edits.end(),
                           [&](const Edit& edit) { return names_tensor(edit, tensor); });
    };
    Builder builder{plan, request.config, request.dropout_seed, edited};
    decoder(builder, input_steps(plan, request.inputs));
    apply_edits(plan, request.edits);
    return plan;
}

}  // namespace

std::shared_ptr<const Plan> plan_decoder(const PassRequest& request) {
    check_inputs(request.inputs, request.config);
    return std::make_shared<Plan>(plan_of(request));
}

std::vector<Declared> declared_parameters(const Config& config) {
    return plan_of({config, nullptr, smallest_inputs(config), {}, std::nullopt}).declared();
}

}  // namespace decoderscope
