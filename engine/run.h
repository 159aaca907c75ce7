#pragma once

#include "engine/plan.h"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// A computed plan: every tensor of one forward pass. An immutable snapshot; tensors that nothing changed are shared
// with the run before it.
class Run {
public:
    // Nothing computed yet.
    explicit Run(std::shared_ptr<const Plan> plan);

    [[nodiscard]] const Plan& plan() const { return *plan_; }
    [[nodiscard]] const std::shared_ptr<const Plan>& shared_plan() const { return plan_; }
    // A step's values; empty for an on-demand step that was not asked for.
    [[nodiscard]] const Tensor& value(StepId id) const {
        const Tensor& own = values_[id];
        const bool as_it_came = own.empty() && (*plan_)[id].patches.empty();
        return as_it_came ? (*plan_)[id].source : own;
    }
    // The same by name; an empty tensor where there is no such step.
    [[nodiscard]] const Tensor& value(std::string_view name) const;
    [[nodiscard]] Operands operands_of(StepId id) const;

    // How one cell of a step came to be. A cell changed by hand says so in lines of its own, after what was computed.
    [[nodiscard]] Explanation explain(StepId id, const Cell& cell) const;

    // How many steps were computed for this run, rather than taken over from the one before.
    [[nodiscard]] std::size_t computed_steps() const { return computed_; }
    // The bytes of all recorded tensors, as a trace writes them.
    [[nodiscard]] std::size_t recorded_bytes() const;

private:
    friend struct Executor;
    std::shared_ptr<const Plan> plan_;
    std::vector<Tensor> values_;  // inputs and weights stay in the plan unless changed by hand
    std::size_t computed_ = 0;
};

// What a trace lists: every recorded step that was computed, by name, in order.
[[nodiscard]] std::vector<std::pair<std::string, Tensor>> recorded_tensors(const Run& run);

struct ExecuteOptions {
    const Run* previous = nullptr;             // whose tensors are taken over where nothing that they depend on changed
    std::span<const std::string> asked;        // on-demand steps to compute, by name; "*" for all
    std::stop_token stop;                      // checked between steps
    std::atomic<std::size_t>* done = nullptr;  // counts the steps behind us, for a progress bar
    // Steps that are computed before all others; `early` then gets the run as far as it is. Their other values are
    // empty.
    std::span<const std::string> looked_at;
    std::function<void(std::shared_ptr<const Run>)> early;
    // Which steps' tensors are kept; all where it is empty. Others are freed when the last step that reads them is
    // computed, and recomputed on demand from what is kept.
    std::function<bool(const Step&)> kept;
    // Steps of which only the last row is computed now, the others on demand.
    std::span<const std::string> last_row_first;
};

struct Executor;

// A plan while it is computed, step by step, so that the caller can pause between any two. The previous run, and what
// the options' spans name, have to outlive it.
class Execution {
public:
    explicit Execution(std::shared_ptr<const Plan> plan, const ExecuteOptions& options = {});
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    // Computes the next step. Returns whether it was the last one, or it was stopped. Throws as execute() does.
    bool advance();
    // After the last step: the run; nullptr where it was stopped.
    [[nodiscard]] std::shared_ptr<const Run> run() const;

private:
    std::unique_ptr<Executor> executor_;
    std::vector<StepId> order_;  // of the steps: what is shown early comes first
    std::size_t early_ = 0;      // how many of them
    std::size_t next_ = 0;       // the place in it
    bool stopped_ = false;
};

// Computes a plan at once. A step is computed anew only if its operation, its patches or one of its operands changed.
// Returns nullptr where it was stopped. Throws Error where the inputs don't fit (a token outside the vocabulary).
[[nodiscard]] std::shared_ptr<const Run> execute(std::shared_ptr<const Plan> plan, const ExecuteOptions& options = {});

}  // namespace decoderscope
