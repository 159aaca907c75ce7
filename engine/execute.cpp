#include "engine/error.h"
#include "engine/rows.h"
#include "engine/run.h"

#include <algorithm>

namespace decoderscope {

namespace {

// The first row that was changed by hand in one of two steps and not in the other.
Index first_row_patched_otherwise(const Step& a, const Step& b) {
    if (a.patches == b.patches) return Changed::kNone;
    const auto along = row_axis(a.axes);
    if (!along) return 0;
    Index first = Changed::kNone;
    const auto look = [&](const std::vector<Patch>& patches, const std::vector<Patch>& others) {
        for (const Patch& patch : patches)
            if (std::ranges::find(others, patch) == others.end())
                first = std::min(first, patch.where[*along].value_or(0));
    };
    look(a.patches, b.patches);
    look(b.patches, a.patches);
    return first == Changed::kNone ? 0 : first;  // the same ones in another order
}

// Rows that are there, and all others computed when somebody looks: they only changed where nothing reads them.
class RestWhenLookedAt : public LazyValues {
public:
    RestWhenLookedAt(const Step& step, const Operands& in, Index first, Tensor rows)
        : operation_(step.operation), axes_(step.axes), first_(first), rows_(std::move(rows)) {
        for (std::size_t i = 0; i < in.size(); ++i) in_.push_back(in[i]);
    }

    void make(std::span<float> values) const override {
        std::vector<const Tensor*> in;
        for (const Tensor& tensor : in_) in.push_back(&tensor);
        std::ranges::copy(operation_.compute(Operands(std::move(in)), axes_).values(), values.begin());
    }

    [[nodiscard]] Tensor rows_from(Index first) const override {
        return first >= first_ ? decoderscope::rows_from(rows_, first - first_) : Tensor();
    }

private:
    Operation operation_;
    Axes axes_;
    std::vector<Tensor> in_;
    Index first_;
    Tensor rows_;
};

}  // namespace

// What computes a run, step by step, taking over what it can: whole tensors that nothing changed, and rows before the
// first that changed.
struct Executor {
    std::shared_ptr<Run> run;
    const ExecuteOptions& options;
    std::vector<Changed> changed;  // of each step, against the previous run's step of that name

    [[nodiscard]] bool asked_for(const Step& step) const {
        if (step.role != Role::on_demand) return true;
        const auto& asked = options.asked;
        return std::any_of(asked.begin(), asked.end(),
                           [&](const std::string& name) { return name == "*" || name == step.name; });
    }

    // The tensor that the previous run has for this input or weight, if it is the same one.
    [[nodiscard]] Tensor same_source(const Step& step) const {
        const Ref before = options.previous != nullptr ? options.previous->plan().find(step.name) : nullptr;
        const bool same = before != nullptr && before->is_source() && before->patches == step.patches &&
                          before->axes == step.axes && before->source.shares_values_with(step.source);
        return same ? options.previous->value(before->id) : Tensor();
    }

    [[nodiscard]] Tensor compute(const Step& step) const {
        try {
            Tensor tensor =
                step.is_source() ? step.source : step.operation.compute(run->operands_of(step.id), step.axes);
            for (const Patch& patch : step.patches) patch.apply(tensor);
            return tensor;
        } catch (const Error& error) {
            throw Error(step.name + ": " + error.what());
        }
    }

    // The same step of the previous run where it is made in the same way from steps of the same names, edits apart.
    [[nodiscard]] Ref counterpart(const Step& step) const {
        if (options.previous == nullptr) return nullptr;
        const Plan& before = options.previous->plan();
        const Ref same = before.find(step.name);
        const bool alike =
            same != nullptr && same->axes == step.axes && same->operation == step.operation &&
            std::ranges::equal(same->operands, step.operands, [&](StepId theirs, StepId ours) {
                return before[theirs].name == run->plan()[ours].name && before[theirs].axes == run->plan()[ours].axes;
            });
        return alike && !options.previous->value(same->id).empty() ? same : nullptr;
    }

    // What of a step differs from its counterpart, edits included.
    [[nodiscard]] Changed changed_since(const Step& step, const Step& before) const {
        std::vector<Changed> of_operands;
        for (const StepId operand : step.operands) of_operands.push_back(changed[operand]);
        const Operands then = options.previous->operands_of(before.id), now = run->operands_of(step.id);
        const bool same_operands =
            std::ranges::all_of(of_operands, [](const Changed& operand) { return operand == kUnchanged; });
        Changed output = same_operands ? kUnchanged : step.operation.changed({then, now, of_operands});
        output.rows = std::min(output.rows, first_row_patched_otherwise(step, before));
        if (output.rows >= row_count(step.axes) && row_axis(step.axes)) output.rows = Changed::kNone;
        return output;
    }

    // The rows from `first` on, computed from the same rows of the operands.
    [[nodiscard]] Tensor compute_rows(const Step& step, Index first) const {
        const ByRow by_row = *step.operation.by_row();
        std::vector<Tensor> rows;
        rows.reserve(step.operands.size());
        for (std::size_t i = 0; i < step.operands.size(); ++i) {
            const Tensor& operand = run->value(step.operands[i]);
            rows.push_back(by_row.operand[i] ? rows_from(operand, first) : operand);
        }
        std::vector<const Tensor*> in;
        for (const Tensor& tensor : rows) in.push_back(&tensor);
        return step.operation.rows(Operands(std::move(in)), with_row_count(step.axes, row_count(step.axes) - first),
                                   first);
    }

    // The step's tensor where only some of it changed; empty where all has to be computed.
    [[nodiscard]] Tensor partly(const Step& step, const Tensor& before, const Changed& what) const {
        const Index rows = row_count(step.axes);
        const bool possible = what.rows > 0 && what.rows < rows && step.patches.empty() && step.operation.by_row() &&
                              step.operation.rows_stand_alone(run->operands_of(step.id));
        if (!possible) return {};
        Tensor computed = compute_rows(step, what.rows);
        if (what.columns == Changed::kNone) return with_rows_from(before, what.rows, std::move(computed));
        return {step.axes, std::make_shared<const RestWhenLookedAt>(step, run->operands_of(step.id), what.rows,
                                                                    std::move(computed))};
    }

    void visit_source(const Step& step) {
        Tensor& value = run->values_[step.id];
        value = same_source(step);
        if (!value.empty()) {
            changed[step.id] = kUnchanged;
            return;
        }
        value = compute(step);
        const Ref before = options.previous != nullptr ? options.previous->plan().find(step.name) : nullptr;
        if (before != nullptr && before->axes == step.axes && row_axis(step.axes))
            changed[step.id].rows = first_different_row(options.previous->value(before->id), value);
    }

    void visit(const Step& step) {
        if (step.is_source()) return visit_source(step);
        if (!asked_for(step)) return;
        Tensor& value = run->values_[step.id];
        if (const Ref before = counterpart(step)) {
            const Changed& what = changed[step.id] = changed_since(step, *before);
            const Tensor& then = options.previous->value(before->id);
            value = what == kUnchanged ? then : partly(step, then, what);
            if (what == kUnchanged) return;
        }
        ++run->computed_;
        if (value.empty()) value = compute(step);
    }
};

std::shared_ptr<const Run> execute(std::shared_ptr<const Plan> plan, const ExecuteOptions& options) {
    Executor executor{std::make_shared<Run>(std::move(plan)), options, {}};
    executor.changed.resize(executor.run->plan().steps().size());
    for (const Step& step : executor.run->plan().steps()) {
        if (options.stop.stop_requested()) return nullptr;
        executor.visit(step);
        if (options.done != nullptr) options.done->fetch_add(1, std::memory_order_relaxed);
    }
    return executor.run;
}

}  // namespace decoderscope
