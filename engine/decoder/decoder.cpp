#include "engine/decoder/decoder.h"

#include "engine/backward/gradient.h"
#include "engine/base/error.h"
#include "engine/decoder/layers.h"
#include "engine/mutations/mutations.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/linear.h"
#include "engine/ops/softmax.h"
#include "engine/sheet/sheet.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace decoderscope::decoder {

namespace {

// The inputs as steps; nullptr if absent.
struct InputSteps {
    Ref tokens, x, memory, encoder_tokens, attention_mask, encoder_attention_mask, custom_mask, positions, segments;
};

InputSteps input_steps(Plan& plan, const Inputs& inputs) {
    plan.begin_part(Part::input, Meaning::embedding);
    return {plan.input("tokens", inputs.tokens),
            plan.input("x", inputs.x.stored_as(plan.arithmetic())),
            plan.input("memory", inputs.memory.stored_as(plan.arithmetic())),
            plan.input("encoder_tokens", inputs.encoder_tokens),
            plan.input("attention_mask", inputs.attention_mask),
            plan.input("encoder_attention_mask", inputs.encoder_attention_mask),
            plan.input("custom_mask", inputs.custom_mask),
            plan.input("positions", inputs.positions),
            plan.input("segments", inputs.segments)};
}

Ref final_norm(Builder& b, const std::string& prefix, Ref x) {
    return b.config.final_norm ? norm(b, prefix + "ln_final", prefix + "norm", x) : x;
}

// The memory that cross-attention reads: computed by the encoder, or given; nullptr if its k and v were kept.
// -> [batch, src, d_model]
Ref memory(Builder& b, const InputSteps& in) {
    if (!b.config.cross_attention || b.past.positions > 0) return nullptr;
    if (b.config.encoder_layers == 0) return in.memory;
    const std::string prefix = "encoder.";
    b.plan.begin_stack(StackKind::encoder);
    const Entering source = embedding(b, prefix, in.encoder_tokens, in.memory, b.config.encoder_vocab_size, nullptr);
    const std::vector<Ref> left = blocks(
        b, {.prefix = prefix, .layers = b.config.encoder_layers, .causal = false, .padding = in.encoder_attention_mask},
        source);
    const Ref x = final_norm(b, prefix, left.back());
    b.plan.begin_part(Part::encoder_output, Meaning::residual);
    return b.plan.step("encoder_out", ops::Identity{}, {x});
}

LinearParameters head_parameters(Builder& b) {
    const Index vocab = b.config.vocab_size, d_model = b.config.d_model;
    const Init init = {Init::Kind::linear, d_model};
    const Axes tokens = {{axis::vocab, vocab}};
    LinearParameters head;
    if (b.config.tie_word_embeddings) {
        head.weight = b.plan.find("embed.weight");
        if (b.config.bias) head.bias = {b.plan.optional_parameter("lm_head.bias", tokens, init)};
        return head;
    }
    head.weight = b.plan.parameter("lm_head.weight", {{axis::vocab, vocab}, {axis::d_model, d_model}}, init);
    if (b.config.bias) head.bias = {b.plan.optional_parameter("lm_head.bias", tokens, init)};
    return head;
}

// Logits and probabilities over the vocabulary.   {x [batch, pos, d_model]} -> [batch, pos, vocab]
void language_head(Builder& b, const std::string& at, const LinearParameters& head, Ref x) {
    const double scale = b.config.logit_scale, cap = b.config.logit_soft_cap;
    const bool scaled = scale != 1.0, capped = cap > 0.0;
    const auto step = [&](bool last, const char* unfinished, Operation operation,
                          std::initializer_list<OperandRef> operands) {
        return b.plan.in_float32(b.config.logits_float32, [&] {
            return b.plan.step(at + (last ? "logits" : unfinished), std::move(operation), operands, std::nullopt,
                               last ? Role::recorded : Role::internal);
        });
    };
    Ref logits = step(!scaled && !capped, scaled ? "logits_unscaled" : "logits_uncapped", ops::Linear{axis::vocab},
                      {x, head.weight, head.bias});
    if (scaled) logits = step(!capped, "logits_uncapped", ops::Rescale{scale, "logit_scale"}, {logits});
    if (capped) logits = step(true, "", ops::SoftCap{cap}, {logits});
    b.plan.in_float32(b.config.logits_float32,
                      [&] { return b.plan.step(at + "probs", ops::Softmax{.when_read = true}, {logits}); });
}

// What the decoder would predict if it ended early: the final norm and the head on the stream as it enters the first
// block and as it leaves each (nostalgebraist 2020). Where a lens was fitted (load/lens.h), also on what that maps the
// stream to (Belrose et al. 2023).
// {stream [batch, pos, d_model] …} -> logit_lens.*, fitted_lens.* [batch, pos, vocab]
void lenses(Builder& b, const LinearParameters& head, const std::vector<Ref>& left) {
    const auto predict = [&](Part lens, const std::string& at, Ref x) {
        if (b.config.final_norm) x = norm(b, at, "norm", x);
        b.plan.begin_part(lens, Meaning::output);
        language_head(b, at + ".", head, x);
    };
    const auto read = [&](const std::string& of, Ref x) {
        b.plan.begin_reading(of);
        predict(Part::logit_lens, "logit_lens." + of, x);
        const std::string at = "fitted_lens." + of;
        const Axis out = {axis::out, b.config.d_model}, in = {axis::in, b.config.d_model};
        const Init init = {Init::Kind::linear, b.config.d_model};
        const Ref weight = b.plan.optional_parameter(at + ".weight", {out, in}, init);
        if (weight == nullptr) return;
        const OptionalRef bias = {b.plan.optional_parameter(at + ".bias", {out}, init)};
        b.plan.begin_part(Part::fitted_lens, Meaning::residual);
        predict(Part::fitted_lens, at, b.plan.step(at + ".stream", ops::Linear{axis::d_model}, {x, weight, bias}));
    };
    read("embed", b.plan.find("blocks.0.resid_pre"));
    for (std::size_t layer = 0; layer < left.size(); ++layer) read("blocks." + std::to_string(layer), left[layer]);
    b.plan.end_reading();
}

// The numbers of the decoder's positions; nullptr if each place counts, or nothing reads them.   -> [batch, key]
Ref numbers_of_positions(Builder& b, const InputSteps& in) {
    if (!b.config.reads_positions()) return nullptr;
    if (in.positions != nullptr) return in.positions;
    const PositionRule rule = b.config.positions;
    const bool within_documents = rule == PositionRule::from_segments;
    const Ref counted = rule == PositionRule::plain ? nullptr : within_documents ? in.segments : in.attention_mask;
    if (counted == nullptr) return nullptr;
    return b.plan.in_float32(
        true, [&] { return b.plan.step("positions", ops::CountedPositions{within_documents}, {counted}); });
}

void decoder(Builder& b, const InputSteps& in, bool with_lens) {
    const Ref memory_read = memory(b, in);
    b.plan.begin_stack(StackKind::decoder);
    const Ref numbers = numbers_of_positions(b, in);
    const Entering target = embedding(b, "", in.tokens, in.x, b.config.vocab_size, numbers);
    const std::vector<Ref> left = blocks(b,
                                         {.layers = b.config.num_layers,
                                          .causal = b.config.causal,
                                          .windowed = true,
                                          .padding = in.attention_mask,
                                          .custom = in.custom_mask,
                                          .positions = numbers,
                                          .segments = in.segments,
                                          .cross_attention = b.config.cross_attention,
                                          .memory = memory_read,
                                          .memory_padding = in.encoder_attention_mask},
                                         target);
    const Ref x = final_norm(b, "", left.back());
    if (!b.config.lm_head) return;
    b.plan.begin_part(Part::head, Meaning::output);
    const LinearParameters head = head_parameters(b);
    language_head(b, "", head, x);
    if (with_lens) lenses(b, head, left);
}

// The smallest inputs for a decoder of this configuration: one batch row of one position.
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

// Puts recorded values in the place of computed ones.
void give(Plan& plan, const std::map<std::string, Tensor, std::less<>>& given) {
    for (const auto& [name, values] : given)
        if (const Ref step = plan.find(name); step != nullptr && !step->is_source())
            plan.replace(step->id, ops::Given{values.with_axes(step->axes)}, {});
}

Plan plan_of(const PassRequest& request) {
    Plan plan(request.weights, request.config.arithmetic);
    const auto edited = [&](const std::string& tensor) {
        return std::any_of(request.edits.begin(), request.edits.end(),
                           [&](const Edit& edit) { return names_tensor(edit, tensor); });
    };
    const Past nothing;
    const Past& past = request.past != nullptr ? *request.past : nothing;
    const Index length = text_length(request.inputs, request.config, past.positions);
    Builder builder{plan, request.config, past, request.dropout_seed, edited, length};
    decoder(builder, input_steps(plan, request.inputs), request.logit_lens || sheet::read_lens(request.edits));
    if (request.mutation != nullptr && request.mutation->change) request.mutation->change(plan, request.config);
    if (request.given != nullptr) give(plan, *request.given);
    const sheet::Beside beside = {&request.config, request.inputs, request.other, request.weights};
    sheet::apply_edits(plan, request.edits, beside);
    if (!request.gradient_target.empty())
        backward::add_gradients(plan, request.gradient_target, request.inputs, request.weights, request.gradients_by);
    if (request.gradients_by == backward::GradientsBy::everything)
        sheet::add_rows_of_gradients(plan, request.edits, beside);
    return plan;
}

// The pass with the mutation's configuration and inputs.
std::shared_ptr<const Plan> mutated(const PassRequest& request) {
    if (request.past != nullptr && request.past->positions > 0)
        throw Error("{mutation}: a mistake is computed on whole texts, expected none with a KV cache",
                    {{"mutation", request.mutation->name}});
    const mutations::Mutation& mutation = *request.mutation;
    Config config = request.config;
    Inputs inputs = request.inputs;
    // A wrong padding mask doesn't change what the loss asks for; only a mistake in the targets does.
    if (request.gradient_target == "loss") inputs.targets = backward::targets_of(inputs);
    if (mutation.configure) mutation.configure(config);
    if (mutation.feed) mutation.feed(inputs, config);
    check_inputs(inputs, config, 0);
    const PassRequest changed = {config,
                                 request.weights,
                                 inputs,
                                 request.edits,
                                 mutation.dropout_seed ? mutation.dropout_seed : request.dropout_seed,
                                 nullptr,
                                 request.logit_lens,
                                 request.gradient_target,
                                 request.gradients_by,
                                 request.mutation,
                                 request.given,
                                 request.other};
    auto plan = std::make_shared<Plan>(plan_of(changed));
    PassRequest right = request;
    right.mutation = nullptr;
    const Plan meant = plan_of(right);
    if (!mutation.only.empty()) {
        auto here = std::make_shared<Plan>(plan_of(right));
        mutations::confine(*here, *plan, mutation.only);
        plan = std::move(here);
    }
    mutations::disguise(*plan, meant);
    return plan;
}

}  // namespace

std::shared_ptr<const Plan> plan_decoder(const PassRequest& request) {
    if (request.mutation != nullptr) return mutated(request);
    const Index before = request.past != nullptr ? request.past->positions : 0;
    if (before > 0 && request.dropout_seed)
        throw Error("dropout is on: each pass drops different cells, expected it off with a KV cache");
    check_inputs(request.inputs, request.config, before);
    if (before > 0) check_past(*request.past, request.config, request.inputs.batch(), request.inputs.pos());
    return std::make_shared<Plan>(plan_of(request));
}

std::vector<Declared> declared_parameters(const Config& config) {
    return plan_of({config, nullptr, smallest_inputs(config), {}, std::nullopt}).declared();
}

}  // namespace decoderscope::decoder
