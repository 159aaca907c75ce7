#pragma once

#include "engine/base/message.h"
#include "engine/graph/operation.h"

#include <array>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace decoderscope {

using StepId = std::size_t;

// A model's parameters by name; a Linear's weight is [out, in].
using Weights = std::map<std::string, Tensor, std::less<>>;

// What a step is about; each has one colour in map, timeline, stage and exports.
enum class Meaning { embedding, query, key, value, attention, mlp, norm, residual, output };

// The part of the decoder a step belongs to; the map draws each as one box.
enum class Part {
    input,
    embedding,
    residual_stream,  // enters or leaves a block without being computed there
    norm,
    self_attention,
    cross_attention,
    mlp,
    add,  // the sum of the stream and an update
    encoder_output,
    head,
    loss,
    logit_lens,
    fitted_lens,
    own,  // rows that a person added
};
inline constexpr std::size_t kParts = static_cast<std::size_t>(Part::own) + 1;
[[nodiscard]] Phrase title_of(Part part);

// Whether the decoder's or the encoder's blocks compute a step.
enum class StackKind { decoder, encoder };

// The steps that every attention has, however its architecture makes and names them (Plan::step_of).
enum class AttentionStep {
    query,
    key,
    value,   // as they are used: normalised, rotated, after the rows that were kept
    scores,  // before a cap and the mask
    kv_latent,
    k_shared,  // what keys and values are made of, where attention is latent
    mask,
    masked_scores,
    sink,     // the weight that goes to no key, if there is a sink
    pattern,  // as the softmax makes it, before dropout
    z,        // what each head gathers
    result,   // what each head adds to the stream
    out,      // their sum, with the bias
};

// The two steps of a norm.
enum class NormStep { scale, normalized };

// Why a step exists.
enum class Role {
    recorded,   // a tensor of the trace, under a name of the contract
    internal,   // a step on the way to one, shown in the window only (q before RoPE)
    on_demand,  // recorded, but computed on demand (attn.result)
    parameter,  // a weight
    input,      // tokens, x, memory, masks
};

// An edit resolved to a step's output, applied after it is computed: the cells that match `where` (no index = every
// cell along that axis) are set to a value or multiplied by it.
struct Patch {
    enum class Kind { set, multiply };
    Kind kind = Kind::set;
    std::vector<std::optional<Index>> where;
    float value = 0.0F;
    Arithmetic stored_as = Arithmetic::float32;  // as the step's other numbers are

    [[nodiscard]] bool touches(std::span<const Index> cell) const;
    void apply(Tensor& tensor) const;
    bool operator==(const Patch&) const = default;
};

// Whether these are [batch, head, query, key]: of scores, masks and patterns.
[[nodiscard]] bool is_over_keys(const Axes& axes);

// One tensor of the forward pass: its name, the operation that makes it, and the steps that it is computed from.
struct Step {
    StepId id = 0;
    std::string name;
    Role role = Role::recorded;
    Operation operation;
    std::vector<StepId> operands;
    Axes axes;
    Meaning meaning = Meaning::residual;
    StackKind stack = StackKind::decoder;
    std::string block;  // "blocks.0", "encoder.blocks.1"; empty outside the blocks
    Index layer = -1;   // the block's number in its stack; -1 outside the blocks
    Part part = Part::input;
    Phrase title = Phrase("");  // the part's title on the map: "LayerNorm" and "RMSNorm" are both a norm
    std::string attention;      // "blocks.0.attn", "blocks.0.cross_attn": its attention; empty for parameters
    std::string norm;           // "blocks.0.ln1": the norm that it is a step of; otherwise empty
    std::string lens;           // where a logit lens step reads the stream: "embed", "blocks.0"; otherwise empty
    bool backward = false;      // on the backward pass
    std::optional<StepId> gradient_wrt;  // the step that this is the gradient with respect to, or a part of that
    // For steps over [query, key], derived by the plan:
    std::optional<StepId> masked_by;     // the mask that hides some of its cells: itself, or one filled in earlier
    std::optional<StepId> mask_to_come;  // the mask that a later step will fill in
    bool is_scores = false;              // a softmax over key is still to come
    // Derived, too: whether it holds an attention's weights as they are made, before dropout. Its rows need not sum
    // to 1.
    bool is_pattern = false;
    std::vector<Patch> patches;
    Tensor source;  // a parameter's or an input's values

    // The first operand of that role; nothing if the step has none, as for a Linear without a bias.
    [[nodiscard]] std::optional<StepId> operand(OperandRole as) const;
    [[nodiscard]] std::vector<StepId> operands_as(OperandRole as) const;
    // The operand that the step carries on or transforms: its stream, its input or its scores.
    [[nodiscard]] std::optional<StepId> main_operand() const;

    [[nodiscard]] bool is_source() const { return role == Role::parameter || role == Role::input; }
    [[nodiscard]] bool in_encoder() const { return stack == StackKind::encoder; }
};

using Ref = const Step*;

// An operand that a step may lack: a bias, a mask.
struct OptionalRef {
    Ref step = nullptr;
};

// An operand of a new step; nullptr only where it is an optional one.
class OperandRef {
public:
    OperandRef(Ref step) : step_(step) {}                                        // NOLINT: any step can be one
    OperandRef(OptionalRef optional) : step_(optional.step), optional_(true) {}  // NOLINT: the same

    [[nodiscard]] Ref step() const { return step_; }
    [[nodiscard]] bool is_missing() const { return step_ == nullptr && !optional_; }

private:
    Ref step_;
    bool optional_ = false;
};

// How PyTorch would initialise a parameter.
struct Init {
    // half: ½, as dynamic tanh begins; gain_less_one: 1 is added to it; linear_bias: a Linear's bias that its axes
    // don't show to be one
    enum class Kind { linear, linear_bias, embedding, gain, gain_less_one, half, shift };
    Kind kind = Kind::linear;
    Index fan_in = 1;  // linear: U(±1/√fan_in)
};

// A parameter that the architecture declares. `required` is false for one that may be absent, or may be present but
// unread (contract: shared_qkv).
struct Declared {
    std::string name;
    Axes axes;
    Init init;
    bool required = true;
    bool initial = true;  // initial weights have it; false for one that only some files have
};

// The forward pass as a list of steps, in the order in which they are computed: the decoder before any number. The
// architecture's functions (engine/decoder/) write it, one line per step; everything else reads it.
class Plan {
public:
    // Parameters are looked up in `weights`. Without weights the plan only records which ones the architecture needs.
    // Parameters, and what the steps make, are rounded to `arithmetic`, but for gradients and rows of a person's own.
    explicit Plan(const Weights* weights, Arithmetic arithmetic = Arithmetic::float32)
        : weights_(weights), arithmetic_(arithmetic) {}
    Plan(Plan&&) = default;
    Plan& operator=(Plan&&) = default;

    // The parameter `name` with these axes. Throws Error if it is missing or of another shape.
    Ref parameter(const std::string& name, Axes axes, Init init);
    // As above; nullptr if the weights don't hold it, or if there are no weights and it is not `initial`.
    Ref optional_parameter(const std::string& name, Axes axes, Init init, bool initial = true);
    // A parameter that belongs to the model and is never read.
    void unread_parameter(const std::string& name, Axes axes, Init init);
    // An input of the run; nullptr if absent.
    Ref input(const std::string& name, const Tensor& values);

    // What `make` returns; if `exactly`, the steps that it adds keep float32: masks and indices, and what frameworks
    // compute in float32 whatever the rest is.
    template <class Make>
    auto in_float32(bool exactly, const Make& make) {
        const Arithmetic outside = std::exchange(arithmetic_, exactly ? Arithmetic::float32 : arithmetic_);
        auto made = make();
        arithmetic_ = outside;
        return made;
    }
    [[nodiscard]] Arithmetic arithmetic() const { return arithmetic_; }

    // The next step. Optional operands that are not there are left out.
    Ref step(std::string name, Operation operation, std::span<const OperandRef> operands,
             std::optional<Meaning> meaning = std::nullopt, Role role = Role::recorded);
    Ref step(std::string name, Operation operation, std::initializer_list<OperandRef> operands,
             std::optional<Meaning> meaning = std::nullopt, Role role = Role::recorded) {
        return step(std::move(name), std::move(operation), std::span(operands.begin(), operands.size()), meaning, role);
    }

    // What the following steps belong to, and their default meaning. A stack, a block and a logit lens reading last
    // until they end; a part and an attention last until the next part.
    void begin_stack(StackKind stack) { here_.stack = stack; }
    void begin_block(std::string block, Index layer);
    void end_block() { begin_block({}, -1); }
    void begin_part(Part part, Meaning meaning, std::optional<Phrase> title = std::nullopt);
    void begin_attention(std::string name, Part part);
    void begin_norm(std::string name, std::optional<Phrase> title = std::nullopt);
    void begin_reading(std::string of) { here_.lens = std::move(of); }
    void end_reading() { here_.lens.clear(); }

    // Says which steps of the attention or the norm that began last are which; nullptr for one that it doesn't have.
    void name_steps(std::initializer_list<std::pair<AttentionStep, Ref>> steps);
    void name_steps(std::initializer_list<std::pair<NormStep, Ref>> steps);
    // The following steps are the backward pass.
    void begin_backward() { here_.backward = true; }
    // Says that a step is the gradient with respect to another, or, if not `whole`, a part of that.
    void name_gradient(StepId gradient, StepId of, bool whole);

    // Makes a step compute something else, of the same shape, from steps before it: how a mutation changes the plan.
    void replace(StepId id, Operation operation, std::vector<StepId> operands);

    // Gives a parameter the numbers of another one, of the same shape.
    void stand_in(StepId parameter, StepId other) { steps_[parameter].source = steps_[other].source; }

    // Adds an edit of a step's output.
    void patch(StepId id, Patch patch) {
        patch.stored_as = steps_[id].operation.arithmetic();
        steps_[id].patches.push_back(std::move(patch));
    }

    [[nodiscard]] const std::deque<Step>& steps() const { return steps_; }
    [[nodiscard]] const Step& operator[](StepId id) const { return steps_[id]; }
    // A step's operand of that role, and the one that it carries on or transforms; nullptr if it has none.
    [[nodiscard]] Ref operand(const Step& step, OperandRole as) const { return at(step.operand(as)); }
    [[nodiscard]] Ref main_operand(const Step& step) const { return at(step.main_operand()); }
    // The step of that name; nullptr if none.
    [[nodiscard]] Ref find(std::string_view name) const;
    // A step of an attention ("blocks.0.attn") or of a norm ("blocks.0.ln1"); nullptr if there is none.
    [[nodiscard]] Ref step_of(std::string_view attention, AttentionStep which) const;
    [[nodiscard]] Ref step_of(std::string_view norm, NormStep which) const;
    // The gradient with respect to a step; nullptr if the plan has none.
    [[nodiscard]] Ref gradient_wrt(const Step& step) const;
    // The same step in another block of its stack; nullptr if there is none.
    [[nodiscard]] Ref twin_in(const Step& step, Index layer) const;
    // The attentions, and the blocks of a stack, by name, in the order of computation.
    [[nodiscard]] std::vector<std::string> attentions() const;
    [[nodiscard]] std::vector<std::string> blocks(StackKind stack) const;
    // The first attention of a block, which is its self-attention; empty if it has none.
    [[nodiscard]] std::string attention_in(std::string_view block) const;
    [[nodiscard]] const std::vector<Declared>& declared() const { return declared_; }

private:
    // What a new step belongs to.
    struct Belonging {
        StackKind stack = StackKind::decoder;
        std::string block;
        Index layer = -1;
        Part part = Part::input;
        Phrase title = Phrase("");
        std::string attention, norm, lens;
        bool backward = false;
    };
    static constexpr std::size_t kAttentionSteps = static_cast<std::size_t>(AttentionStep::out) + 1;

    [[nodiscard]] Ref at(std::optional<StepId> id) const { return id ? &steps_[*id] : nullptr; }
    Ref add(Step step);
    [[nodiscard]] static bool makes_pattern(const Operation& operation, Part part);
    void follow_scores(Step& step);
    void mark_scores_before(StepId id, std::optional<StepId> mask);

    const Weights* weights_;
    Arithmetic arithmetic_;
    std::deque<Step> steps_;  // a deque, so that a Ref stays valid while the plan grows
    std::unordered_map<std::string, StepId> by_name_;
    std::map<std::string, std::array<Ref, kAttentionSteps>, std::less<>> by_attention_;  // nullptr: it has no such step
    std::map<std::string, std::array<Ref, 2>, std::less<>> by_norm_;
    std::unordered_map<StepId, StepId> gradients_;  // by the step that they are the gradient with respect to
    std::vector<Declared> declared_;
    Belonging here_;
    Meaning meaning_ = Meaning::residual;
};

// Whether two plans compute a step of theirs in the same way, from steps of the same names and axes. Ignores edits.
[[nodiscard]] bool computed_alike(const Plan& a, const Step& of_a, const Plan& b, const Step& of_b);

// Which kind of numbers a step holds: what its operation says or, if that passes them on, what its main operand holds.
[[nodiscard]] Values values_of(const Plan& plan, const Step& step);

// How many times other steps read each step.
[[nodiscard]] std::vector<std::size_t> readers_of(const Plan& plan);

// A parameter or an input: given, not computed.
struct Source {
    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes&) const;
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const Source&) const = default;
};

// The steps that some wanted ones need, and when each of the others can be freed again.
struct NeededSteps {
    std::vector<StepId> order;                     // of computation; with the wanted steps
    std::vector<std::vector<StepId>> freed_after;  // beside `order`: what no later step reads
};
[[nodiscard]] NeededSteps needed_steps(const Plan& plan, const std::function<bool(const Step&)>& wanted);

}  // namespace decoderscope
