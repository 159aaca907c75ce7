#include "engine/graph/run.h"

#include "engine/base/error.h"
#include "engine/base/translate.h"
#include "engine/graph/on_demand.h"
#include "engine/tensor/rows.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace decoderscope {

namespace {

const Tensor kNone;

// Adds the edits of a cell after the computed lines.
void explain_patches(const Step& step, const Cell& cell, Explanation& explanation) {
    for (const Patch& patch : step.patches) {
        if (!patch.touches(cell)) continue;
        const auto set = static_cast<double>(patch.value);
        if (patch.kind == Patch::Kind::set) {
            explanation.lines.push_back(line(tr("set manually"), {term({constant_factor(set, tr("edit"))})}));
        } else {
            const double before = explanation.lines.back().value;
            explanation.lines.push_back(line(
                tr("scaled manually"),
                {term({constant_factor(before, explanation.lines.back().name), constant_factor(set, tr("edit"))})}));
        }
    }
}

// The first row in which the edits of two steps differ.
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
    return first == Changed::kNone ? 0 : first;  // the same edits in another order
}

// The steps of these names and everything that they are computed from.
std::vector<bool> needed_for(const Plan& plan, std::span<const std::string> names) {
    std::vector<bool> needed(plan.steps().size());
    for (const std::string& name : names)
        if (const Ref step = plan.find(name)) needed[step->id] = true;
    for (StepId id = needed.size(); id-- > 0;)
        for (const StepId operand : needed[id] ? plan[id].operands : std::vector<StepId>()) needed[operand] = true;
    return needed;
}

// 0 of a small step: to say it would take longer than to compute it.
double operations_of(const Plan& plan, const Step& step) {
    constexpr Index kLarge = 1'000'000;
    if (step.is_source() || element_count(step.axes) < kLarge) return 0.0;
    OperandAxes operands;
    for (const StepId operand : step.operands) operands.push_back(plan[operand].axes);
    return static_cast<double>(step.operation.work(operands, step.axes).operations);
}

std::size_t effort_of(const Plan& plan, const Step& step) {
    return 1 + static_cast<std::size_t>(operations_of(plan, step) / 1e6);
}

}  // namespace

std::size_t effort_of(const Plan& plan) {
    std::size_t effort = 0;
    for (const Step& step : plan.steps()) effort += effort_of(plan, step);
    return effort;
}

Run::Run(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)), values_(plan_->steps().size()) {}

const Tensor& Run::value(std::string_view name) const {
    const Ref step = plan_->find(name);
    return step == nullptr ? kNone : value(step->id);
}

const Tensor& Run::value(std::string_view attention, AttentionStep which) const {
    const Ref step = plan_->step_of(attention, which);
    return step == nullptr ? kNone : value(step->id);
}

Operands Run::operands_of(StepId id) const {
    Operands operands;
    for (const StepId operand : (*plan_)[id].operands) operands.add(value(operand));
    return operands;
}

const Tensor& Run::operand(const Step& step, OperandRole as) const {
    const std::optional<StepId> id = step.operand(as);
    return id ? value(*id) : kNone;
}

Explanation Run::explain(StepId id, const Cell& cell) const {
    const Step& step = (*plan_)[id];
    const Tensor& values = step.is_source() ? step.source : values_[id];
    Explanation explanation = step.operation.explain(operands_of(id), values, cell);
    explain_patches(step, cell, explanation);
    return explanation;
}

std::size_t Run::recorded_bytes() const {
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : recorded_tensors(*this))
        bytes += static_cast<std::size_t>(tensor.size()) * sizeof(float);
    return bytes;
}

std::vector<std::pair<std::string, Tensor>> recorded_tensors(const Run& run) {
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const Step& step : run.plan().steps()) {
        const bool in_trace = step.role == Role::recorded || step.role == Role::on_demand;
        if (in_trace && !run.value(step.id).empty()) tensors.emplace_back(step.name, run.value(step.id));
    }
    return tensors;
}

// Computes a run step by step, reusing what it can: whole unchanged tensors, and rows before the first changed one.
struct Executor {
    std::shared_ptr<Run> run;
    ExecuteOptions options;
    std::vector<Changed> changed;  // of each step, compared with the previous run's step of that name
    // Used if not all tensors are kept, of each step:
    std::vector<std::size_t> readers;      // still to be computed; not those in `gradients`
    std::vector<std::size_t> gradients;    // still to be computed, for which it is made again
    std::vector<std::size_t> all_readers;  // that this run computes; not for gradients
    std::vector<bool> read_by_row;         // whether all of these read it row by row
    std::vector<bool> by_readers;          // whether they make it
    std::vector<bool> made_for_gradients;
    std::vector<Tensor> recipes;  // what makes it when it is read, from other recipes and what is kept
    StepId last_block = 0;        // the first step whose gradients follow at once: nothing is made again for them
    std::vector<bool> only_row;   // of each step: whether options.row_read is all that is read of it
    // A large step that is computed a part at a time: its tensor so far, and what to count for the others.
    struct Parts {
        Tensor tensor;
        Index row = 0, at_once = 1;
        std::size_t counted = 0;
    };
    std::optional<Parts> parts;

    [[nodiscard]] bool asked_for(const Step& step) const {
        if (step.role != Role::on_demand || options.needed != nullptr) return true;
        const auto& asked = options.asked;
        return std::any_of(asked.begin(), asked.end(),
                           [&](const std::string& name) { return name == "*" || name == step.name; });
    }

    // Whether the previous run has the same input or weight.
    [[nodiscard]] static bool is_same_source(const Step& before, const Step& now) {
        return before.is_source() && before.patches == now.patches && before.axes == now.axes &&
               before.source.shares_values_with(now.source);
    }

    [[nodiscard]] Tensor source_of(const Step& step) const {
        if (!options.source) return step.source;
        return options.source(step).with_axes(step.axes).stored_as(step.operation.arithmetic());
    }

    [[nodiscard]] Tensor compute(const Step& step) const {
        try {
            return edited(step.is_source() ? source_of(step)
                                           : computed_rows(step.operation, step.axes, run->operands_of(step.id)),
                          step, options.blocks);
        } catch (const Error& error) {
            throw Error("{name}: {error}", {{"name", step.name}, {"error", error.sentence()}});
        }
    }

    // The same step of the previous run, if it is computed in the same way from steps of the same names, ignoring
    // edits.
    [[nodiscard]] Ref counterpart(const Step& step) const {
        if (options.previous == nullptr) return nullptr;
        const Plan& before = options.previous->plan();
        const Ref same = before.find(step.name);
        const bool alike = same != nullptr && computed_alike(before, *same, run->plan(), step);
        return alike && !options.previous->value(same->id).empty() ? same : nullptr;
    }

    // What differs between a step and its counterpart, including edits.
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

    // Whether the last row is enough for now.
    [[nodiscard]] bool last_row_first(const Step& step) const {
        const auto& names = options.last_row_first;
        return std::ranges::find(names, step.name) != names.end() && step.patches.empty() && row_count(step.axes) > 1 &&
               works_by_row(step, run->operands_of(step.id));
    }

    // The step's tensor if only part of it changed; empty if all of it must be computed.
    [[nodiscard]] Tensor partly(const Step& step, const Tensor& before, const Changed& what) const {
        const Index rows = row_count(step.axes);
        const Operands in = run->operands_of(step.id);
        const bool possible = what.rows > 0 && what.rows < rows && step.patches.empty() && works_by_row(step, in);
        if (!possible) return {};
        if (what.columns != Changed::kNone) return rest_when_read(step, in, 0, what.rows);
        const bool later = last_row_first(step) && what.rows < rows - 1;
        Tensor changed_rows = later ? rest_when_read(step, in, what.rows, rows - 1)
                                    : computed_rows(step.operation, step.axes, in, what.rows);
        return with_rows_from(before, what.rows, std::move(changed_rows));
    }

    // Whether a step is made again for this reader of it: by blocks, of which the last one has its gradients first.
    [[nodiscard]] bool made_again_for(const Step& reader, StepId operand) const {
        return reader.backward && operand < last_block;
    }
    [[nodiscard]] std::size_t& count_of(const Step& reader, StepId operand) {
        return (made_again_for(reader, operand) ? gradients : readers)[operand];
    }

    // How many steps read each step, and how.
    void look_at_readers() {
        const Plan& plan = run->plan();
        const std::size_t steps = plan.steps().size();
        for (auto* counts : {&readers, &gradients, &all_readers}) counts->resize(steps);
        for (auto* marks : {&by_readers, &made_for_gradients}) marks->resize(steps);
        recipes.resize(steps);
        read_by_row.assign(steps, true);
        if (const std::vector<std::string> blocks = plan.blocks(StackKind::decoder); !blocks.empty())
            last_block = std::ranges::find(plan.steps(), blocks.back(), &Step::block)->id;
        for (const Step& step : plan.steps()) {
            const bool computed = !step.is_source() && asked_for(step);
            const std::optional<ByRow> reads = step.operation.by_row();
            for (std::size_t i = 0; i < step.operands.size(); ++i) {
                const StepId operand = step.operands[i];
                ++count_of(step, operand);
                if (!computed || made_again_for(step, operand)) continue;
                ++all_readers[operand];
                if (!reads || !(*reads)[i]) read_by_row[operand] = false;
            }
        }
    }

    // The steps of which only options.row_read is read: by the wanted step, or by those of which it is read in turn.
    [[nodiscard]] std::vector<bool> read_at_one_row() const {
        const Plan& plan = run->plan();
        std::vector<bool> all(plan.steps().size(), true);
        const auto stands_alone = [&](const Step& step) {
            const Ref before = counterpart(step);
            return before != nullptr && step.patches.empty() &&
                   works_by_row(step, options.previous->operands_of(before->id));
        };
        const std::vector<StepId>& order = options.needed->order;
        for (auto at = order.rbegin(); at != order.rend(); ++at) {
            const StepId id = *at;
            const Step& step = plan[id];
            const bool wanted = at == order.rbegin();
            all[id] = !wanted && all[id] && !step.is_source() && stands_alone(step);
            for (std::size_t i = 0; i < step.operands.size(); ++i)
                if (!wanted && !(all[id] && (*step.operation.by_row())[i])) all[step.operands[i]] = false;
        }
        return all;
    }

    // A step's tensor with the numbers of options.row_read alone.
    [[nodiscard]] Tensor one_row(const Step& step) const {
        const Tensor row = computed_row(step.operation, step.axes, run->operands_of(step.id), *options.row_read);
        Tensor tensor(step.axes);
        const std::size_t axis = *row_axis(step.axes);
        Index width = 1;
        for (std::size_t i = axis + 1; i < step.axes.size(); ++i) width *= step.axes[i].size;
        float* const values = tensor.writable().data();
        for (Index plane = 0; plane * width < row.size(); ++plane)
            std::copy_n(row.data() + plane * width, width,
                        values + (plane * step.axes[axis].size + *options.row_read) * width);
        return tensor;
    }

    // An input or a weight is read from the plan; only an edited one has its own tensor in the run.
    void visit_source(const Step& step) {
        const Ref before = options.previous != nullptr ? options.previous->plan().find(step.name) : nullptr;
        const bool same = before != nullptr && is_same_source(*before, step);
        if (!step.patches.empty() || options.source)
            run->values_[step.id] = same ? options.previous->value(before->id) : compute(step);
        if (same)
            changed[step.id] = kUnchanged;
        else if (before != nullptr && before->axes == step.axes && row_axis(step.axes))
            changed[step.id].rows = first_different_row(options.previous->value(before->id), run->value(step.id));
    }

    void visit(const Step& step) {
        if (step.is_source()) return visit_source(step);
        if (!asked_for(step)) return;
        Tensor& value = run->values_[step.id];
        const bool in_parts = made_by_readers(step);
        if (options.kept && !options.kept(step))
            recipes[step.id] = made_again(step, lasting_operands_of(step), options.blocks);
        if (const Ref before = counterpart(step)) {
            const Changed& what = changed[step.id] = changed_since(step, *before);
            const Tensor& then = options.previous->value(before->id);
            if (what == kUnchanged) {
                if (!recipes.empty() && !recipes[step.id].empty() && !then.is_ready()) recipes[step.id] = then;
                value = then;
                return;
            }
            if ((only_row.empty() || !only_row[step.id]) && !in_parts) value = partly(step, then, what);
        }
        if (in_parts) {
            by_readers[step.id] = true;
            value = made_again(step, run->operands_of(step.id), options.blocks);
            return;
        }
        ++run->computed_;
        if (!only_row.empty() && only_row[step.id]) {
            value = one_row(step);
            return;
        }
        if (!value.empty()) return;
        if (last_row_first(step))
            value = rest_when_read(step, run->operands_of(step.id), 0, row_count(step.axes) - 1);
        else if ((parts = parts_of(step)))
            compute_part(step);
        else
            value = compute(step);
    }

    // How to compute a step a part at a time, if it is so large that a person would wait for it.
    [[nodiscard]] std::optional<Parts> parts_of(const Step& step) const {
        const double operations = operations_of(run->plan(), step);
        const Index rows = row_count(step.axes);
        if (operations <= options.blocks.operations || rows <= options.blocks.part_rows ||
            step.operation.traits().deferred || !works_by_row(step, run->operands_of(step.id)))
            return std::nullopt;
        const auto wanted =
            static_cast<Index>(options.blocks.operations / operations * static_cast<double>(rows)) / 64 * 64;
        return Parts{Tensor(step.axes), 0, std::max(wanted, options.blocks.part_rows)};
    }

    void compute_part(const Step& step) {
        const Index count = std::min(parts->at_once, row_count(step.axes) - parts->row);
        const Tensor rows = computed_rows(step.operation, step.axes, run->operands_of(step.id), parts->row, count);
        put_rows(rows, step.axes, parts->row, parts->tensor.writable());
        parts->row += count;
        if (options.done != nullptr) {
            const double share = static_cast<double>(parts->row) / static_cast<double>(row_count(step.axes));
            const auto reached =
                static_cast<std::size_t>(share * static_cast<double>(effort_of(run->plan(), step) - 1));
            options.done->fetch_add(reached - std::exchange(parts->counted, reached), std::memory_order_relaxed);
        }
        if (parts->row < row_count(step.axes)) return;
        for (const Patch& patch : step.patches) patch.apply(parts->tensor);
        run->values_[step.id] = std::move(parts->tensor);
    }

    // Whether a step is computed as its readers go through its rows, and never whole. Each of several readers would
    // compute it again, which is worth its room only if it has as many numbers as there are pairs of positions; and a
    // product is slower in parts, which is worth it only if it is huge.
    [[nodiscard]] bool made_by_readers(const Step& step) const {
        return options.kept && options.needed == nullptr && !options.kept(step) && read_by_row[step.id] &&
               (is_over_keys(step.axes) || (all_readers[step.id] == 1 && is_huge(step))) &&
               would_come_by_rows(step, run->operands_of(step.id), options.blocks);
    }

    [[nodiscard]] bool is_huge(const Step& step) const {
        return element_count(step.axes) * static_cast<Index>(sizeof(float)) >= options.blocks.huge_bytes();
    }

    // What a step is made from when it is read: recipes in place of what isn't kept, so that it holds no numbers.
    [[nodiscard]] Operands lasting_operands_of(const Step& step) const {
        Operands operands;
        for (const StepId id : step.operands) operands.add(recipes[id].empty() ? run->value(id) : recipes[id]);
        return operands;
    }

    // Frees the tensors of which this step was the last reader.
    void free_unread(const Step& step) {
        if (!by_readers[step.id]) operands_were_read(step);
        release(step.id);
    }

    void operands_were_read(const Step& step) {
        for (const StepId operand : step.operands)
            if (--count_of(step, operand) == 0) release(operand);
    }

    // A step that its readers make reads its own operands as long as they do.
    void release(StepId id) {
        const bool is_read = readers[id] > 0 || (made_for_gradients[id] && gradients[id] > 0);
        if (is_read || recipes[id].empty()) return;
        if (by_readers[id]) {
            by_readers[id] = false;
            operands_were_read(run->plan()[id]);
        }
        run->values_[id] = recipes[id];
    }

    // The tensors of a block that aren't kept are made once more when the first of its gradients reads them, and freed
    // after the last.
    void make_for_gradients(const Step& reader) {
        Blocks whole = options.blocks;
        whole.from_bytes = std::numeric_limits<Index>::max();
        for (const StepId id : reader.operands) {
            const Step& step = run->plan()[id];
            if (step.backward || recipes[id].empty() || !run->values_[id].shares_values_with(recipes[id])) continue;
            make_for_gradients(step);
            const Operands in = run->operands_of(id);
            run->values_[id] = step.operation.traits().deferred ? compute(step) : made_again(step, in, whole);
            made_for_gradients[id] = true;
            for (const StepId operand : step.operands) release(operand);  // no gradient may read it
        }
    }

    // Visits a step, or computes the next part of it; false if stopped. Counts it when it is done. `dropped` are the
    // steps that nothing reads any longer.
    bool advance(StepId id, std::span<const StepId> dropped) {
        if (options.stop.stop_requested()) return false;
        const Step& step = run->plan()[id];
        if (options.kept && step.backward && !parts) make_for_gradients(step);
        if (parts)
            compute_part(step);
        else
            visit(step);
        if (parts && parts->row < row_count(step.axes)) return true;
        const std::size_t counted = parts ? parts->counted : 0;
        parts.reset();
        if (options.kept) free_unread(step);
        for (const StepId unread : dropped) run->values_[unread] = Tensor();
        if (options.done != nullptr)
            options.done->fetch_add(effort_of(run->plan(), step) - counted, std::memory_order_relaxed);
        return true;
    }
};

Execution::Execution(std::shared_ptr<const Plan> plan, const ExecuteOptions& options)
    : executor_(std::make_unique<Executor>()) {
    const std::size_t steps = plan->steps().size();
    executor_->run = std::make_shared<Run>(std::move(plan));
    executor_->options = options;
    executor_->changed.resize(steps);
    if (options.kept) executor_->look_at_readers();
    if (options.needed != nullptr) {
        if (options.row_read) executor_->only_row = executor_->read_at_one_row();
        order_ = options.needed->order;
        return;
    }
    const std::vector<bool> first =
        options.early ? needed_for(executor_->run->plan(), options.looked_at) : std::vector<bool>(steps);
    for (const bool now : {true, false})
        for (StepId id = 0; id < steps; ++id)
            if (first[id] == now) order_.push_back(id);
    early_ = static_cast<std::size_t>(std::ranges::count(first, true));
}

Execution::~Execution() = default;

bool Execution::advance() {
    if (next_ == order_.size()) return true;
    const NeededSteps* needed = executor_->options.needed;
    stopped_ = !executor_->advance(
        order_[next_], needed == nullptr ? std::span<const StepId>() : std::span(needed->freed_after[next_]));
    if (stopped_) return true;
    if (executor_->parts) return false;
    ++next_;
    if (next_ == early_ && executor_->options.early)
        executor_->options.early(std::make_shared<const Run>(*executor_->run));
    return next_ == order_.size();
}

std::shared_ptr<const Run> Execution::run() const { return stopped_ ? nullptr : executor_->run; }

std::shared_ptr<const Run> execute(std::shared_ptr<const Plan> plan, const ExecuteOptions& options) {
    Execution execution(std::move(plan), options);
    while (!execution.advance()) {
    }
    return execution.run();
}

}  // namespace decoderscope
