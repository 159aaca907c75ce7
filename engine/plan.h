#pragma once

#include "engine/operation.h"

#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace decoderscope {

using StepId = std::size_t;

// A model's parameters by name; a Linear's weight is [out, in].
using Weights = std::map<std::string, Tensor, std::less<>>;

// What a step is about: one colour in map, timeline, stage and exports.
enum class Meaning { embedding, query, key, value, attention, mlp, norm, residual, output };

// Why a step is there.
enum class Role {
    recorded,   // a tensor of the trace, under a name of the contract
    internal,   // a step on the way to one, shown in the window only (q before RoPE)
    on_demand,  // recorded, but computed only when somebody asks for it (attn.result)
    parameter,  // a weight
    input,      // tokens, x, memory, masks
};

// A change by hand to a step's output, made after it is computed: the cells that match `where` (no index = all along
// that axis) are set to a value or multiplied by it. What an edit becomes once it has found its step.
struct Patch {
    enum class Kind { set, multiply };
    Kind kind = Kind::set;
    std::vector<std::optional<Index>> where;
    float value = 0.0F;

    [[nodiscard]] bool touches(std::span<const Index> cell) const;
    void apply(Tensor& tensor) const;
    bool operator==(const Patch&) const = default;
};

// One tensor of the forward pass: its name, the operation that makes it, and the steps that it is made from.
struct Step {
    StepId id = 0;
    std::string name;
    Role role = Role::recorded;
    Operation operation;
    std::vector<StepId> operands;
    Axes axes;
    Meaning meaning = Meaning::residual;
    std::string block;  // "blocks.0", "encoder.blocks.1"; empty outside the blocks
    std::string part;   // "self-attention", "LayerNorm", …: what the map draws as one box
    std::vector<Patch> patches;
    Tensor source;  // a parameter's or an input's values

    [[nodiscard]] bool is_source() const { return role == Role::parameter || role == Role::input; }
};

using Ref = const Step*;

// How PyTorch would initialise a parameter.
struct Init {
    enum class Kind { linear, embedding, gain, shift };
    Kind kind = Kind::linear;
    Index fan_in = 1;  // linear: U(±1/√fan_in)
};

// A parameter that the architecture knows. `required` is false for one that it does without, such as a bias, or the k
// and v projections under shared_qkv.
struct Declared {
    std::string name;
    Axes axes;
    Init init;
    bool required = true;
};

// The forward pass as a list of steps, in the order in which they are computed: what the decoder is, before any number.
// The architecture's functions (engine/decoder/) write it a line a step; everything else reads it.
class Plan {
public:
    // Parameters are looked up in `weights`. Without weights the plan only learns which ones the architecture asks for.
    explicit Plan(const Weights* weights) : weights_(weights) {}
    Plan(Plan&&) = default;
    Plan& operator=(Plan&&) = default;

    // The parameter `name` of these axes. Throws Error where it is missing or of another shape.
    Ref parameter(const std::string& name, Axes axes, Init init);
    // The same, nullptr where the weights don't hold it.
    Ref optional_parameter(const std::string& name, Axes axes, Init init);
    // A parameter that belongs to the model and is never read.
    void unread_parameter(const std::string& name, Axes axes, Init init);
    // An input of the run; nullptr where it is absent.
    Ref input(const std::string& name, const Tensor& values);

    // The next step. Operands that are nullptr are left out.
    Ref step(std::string name, Operation operation, std::initializer_list<Ref> operands,
             std::optional<Meaning> meaning = std::nullopt, Role role = Role::recorded);

    // The steps that follow belong to this block and this part of it, and mean this unless they say otherwise.
    void begin_block(std::string block) { block_ = std::move(block); }
    void end_block() { block_.clear(); }
    void begin_part(std::string part, Meaning meaning);

    // Changes a step's output by hand.
    void patch(StepId id, Patch patch) { steps_[id].patches.push_back(std::move(patch)); }

    [[nodiscard]] const std::deque<Step>& steps() const { return steps_; }
    [[nodiscard]] const Step& operator[](StepId id) const { return steps_[id]; }
    // The step of that name; nullptr where there is none.
    [[nodiscard]] Ref find(std::string_view name) const;
    [[nodiscard]] const std::vector<Declared>& declared() const { return declared_; }

private:
    Ref add(Step step);

    const Weights* weights_;
    std::deque<Step> steps_;  // a deque, so that a Ref stays valid while the plan grows
    std::unordered_map<std::string, StepId> by_name_;
    std::vector<Declared> declared_;
    std::string block_;
    std::string part_;
    Meaning meaning_ = Meaning::residual;
};

// How many times each step is read by others.
[[nodiscard]] std::vector<std::size_t> readers_of(const Plan& plan);

}  // namespace decoderscope
