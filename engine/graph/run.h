#pragma once

#include "engine/graph/on_demand.h"
#include "engine/graph/plan.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// A computed plan: every tensor of one forward pass. An immutable snapshot; unchanged tensors are shared with the
// previous run.
class Run {
public:
    // Nothing computed yet.
    explicit Run(std::shared_ptr<const Plan> plan);
    // These values, one for each step; empty for a source as it is in the plan.
    Run(std::shared_ptr<const Plan> plan, std::vector<Tensor> values)
        : plan_(std::move(plan)), values_(std::move(values)) {}

    [[nodiscard]] const Plan& plan() const { return *plan_; }
    [[nodiscard]] const std::shared_ptr<const Plan>& shared_plan() const { return plan_; }
    // A step's values; empty for an on-demand step that was not asked for.
    [[nodiscard]] const Tensor& value(StepId id) const {
        const Tensor& own = values_[id];
        const bool as_it_came = own.empty() && (*plan_)[id].patches.empty();
        return as_it_came ? (*plan_)[id].source : own;
    }
    // As above, by name; an empty tensor if there is no such step.
    [[nodiscard]] const Tensor& value(std::string_view name) const;
    // As above, by its place in an attention: "blocks.0.attn", its pattern.
    [[nodiscard]] const Tensor& value(std::string_view attention, AttentionStep which) const;
    [[nodiscard]] Operands operands_of(StepId id) const;
    // The values of a step's operand of that role; empty if it has none.
    [[nodiscard]] const Tensor& operand(const Step& step, OperandRole as) const;

    // How one cell of a step was computed. Edits of the cell follow in separate lines.
    [[nodiscard]] Explanation explain(StepId id, const Cell& cell) const;

    // How many steps were computed for this run rather than taken over from the previous one.
    [[nodiscard]] std::size_t computed_steps() const { return computed_; }
    // The bytes of all recorded tensors, as a trace writes them.
    [[nodiscard]] std::size_t recorded_bytes() const;

private:
    friend struct Executor;
    std::shared_ptr<const Plan> plan_;
    std::vector<Tensor> values_;  // inputs and weights stay in the plan unless edited
    std::size_t computed_ = 0;
};

// What a trace lists: every recorded step that was computed, by name, in order.
[[nodiscard]] std::vector<std::pair<std::string, Tensor>> recorded_tensors(const Run& run);

struct ExecuteOptions {
    const Run* previous = nullptr;             // its tensors are reused if nothing that they depend on changed
    std::span<const std::string> asked;        // on-demand steps to compute, by name; "*" for all
    std::stop_token stop;                      // checked between steps, and between the parts of large ones
    std::atomic<std::size_t>* done = nullptr;  // counts what is done of effort_of(plan), for a progress bar
    // Steps to compute before all others; `early` then receives the unfinished run. Steps not computed yet are empty.
    std::span<const std::string> looked_at;
    std::function<void(std::shared_ptr<const Run>)> early;
    // Which steps' tensors are kept; all if it is empty. Others are recomputed on demand from what is kept, however far
    // that is: large ones whose rows stand alone a few rows at a time, in the pass as well, others whole, freed after
    // the last step that reads them. Gradients make them again, a block at a time.
    std::function<bool(const Step&)> kept;
    Blocks blocks = {};
    // Computes only what these steps need, and keeps nothing but them: other tensors are dropped after the last step
    // that reads them. All steps if it is nullptr.
    const NeededSteps* needed = nullptr;
    // If the one wanted step of `needed` reads a single row of each of its operands: which. Of what is read for that
    // row alone the others aren't computed, and hold no numbers.
    std::optional<Index> row_read = {};
    // The values of parameters and inputs, in place of those in the plan; only for needed steps.
    std::function<Tensor(const Step&)> source;
    // Steps of which only the last row is computed now, the others on demand.
    std::span<const std::string> last_row_first;
};

struct Executor;

// How much there is to do: 1 a step, and 1 for each million operations of a large one.
[[nodiscard]] std::size_t effort_of(const Plan& plan);

// A plan being computed step by step, so that the caller can pause between any two: the one loop that runs plans. The
// previous run and the data behind the options' spans and pointers must outlive it.
class Execution {
public:
    explicit Execution(std::shared_ptr<const Plan> plan, const ExecuteOptions& options = {});
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    // Computes the next step, or a part of it. Returns whether all are done or the execution was stopped. Throws as
    // execute() does.
    bool advance();
    // After the last step: the run; nullptr if it was stopped.
    [[nodiscard]] std::shared_ptr<const Run> run() const;

private:
    std::unique_ptr<Executor> executor_;
    std::vector<StepId> order_;  // of the steps; those shown early come first
    std::size_t early_ = 0;      // how many of them
    std::size_t next_ = 0;       // the place in it
    bool stopped_ = false;
};

// Computes a whole plan. A step is recomputed only if its operation, its patches or one of its operands changed.
// Returns nullptr if it was stopped. Throws Error if the inputs don't fit (a token outside the vocabulary).
[[nodiscard]] std::shared_ptr<const Run> execute(std::shared_ptr<const Plan> plan, const ExecuteOptions& options = {});

}  // namespace decoderscope
