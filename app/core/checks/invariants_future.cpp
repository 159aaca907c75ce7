#include "app/core/checks/invariants.h"
#include "app/core/checks/leak.h"
#include "app/core/text/numbers.h"
#include "engine/backward/gradient.h"
#include "engine/base/message.h"
#include "engine/model/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// A second pass over the same plan, with every token changed from some position on; that position may differ between
// the rows of the batch. It goes through the steps one by one, computes in full every step that reads something
// changed, using the operation's own compute(), and compares everything before the change with what was recorded, bit
// for bit. A tensor is freed after its last reader. So it relies on none of the executor's assumptions, and needs room
// for only a few tensors.
namespace decoderscope::core::checks {

namespace {

// The first changed position, by batch row.
using Boundary = std::vector<Index>;

// The middle of a row's positions that are not padding.
Index middle_of(const Tensor& attention_mask, Index batch, Index positions) {
    std::vector<Index> kept;
    for (Index p = 0; p < positions; ++p)
        if (!is_padding(attention_mask, batch, p)) kept.push_back(p);
    return kept.empty() ? positions / 2 : kept[kept.size() / 2];
}

// How much padding each row of the batch begins with.
std::vector<Index> padding_of(const Run& run, std::size_t rows) {
    const Tensor& mask = run.value("attention_mask");
    std::vector<Index> padding;
    for (std::size_t row = 0; row < rows; ++row) padding.push_back(leading_padding(mask, static_cast<Index>(row)));
    return padding;
}

// If a pattern gives weight to a later key, the test must change that key and compare the positions before it.
Resumable<Done> move_to_seen_keys(const Run& run, Boundary& boundary) {
    std::vector<bool> found(boundary.size());
    const std::vector<Index> padding = padding_of(run, boundary.size());
    Reader read;
    const std::vector<PatternStep> patterns = patterns_of(run);
    for (const PatternStep& pattern : patterns) {
        co_yield kPause;
        const std::ptrdiff_t along = position_axis(pattern.step);
        const Index queries = pattern.weights.dim(2), keys = pattern.weights.dim(3);
        const bool of_self = along == 2 && pattern.step.part == Part::self_attention;
        if (!of_self || queries != keys) continue;
        const auto weights = read(pattern.weights);
        const Index heads = pattern.weights.dim(1);
        for (Index row = 0; row * keys < pattern.weights.size(); ++row) {
            const auto batch = static_cast<std::size_t>(row / queries / heads);
            const Index query = row % queries;
            const auto later = weights.subspan(static_cast<std::size_t>(row * keys + query + 1),
                                               static_cast<std::size_t>(keys - query - 1));
            const auto seen =
                std::ranges::find_if(later, [](float weight) { return weight != 0.0F && !std::isnan(weight); });
            if (found[batch] || query < padding[batch] || seen == later.end()) continue;
            found[batch] = true;
            boundary[batch] = query + 1 + (seen - later.begin());
        }
    }
    co_return Done{};
}

Resumable<Boundary> boundary_of(const Run& run, const Tensor& input) {
    Boundary boundary;
    for (Index batch = 0; batch < input.dim(0); ++batch)
        boundary.push_back(middle_of(run.value("attention_mask"), batch, input.dim(1)));
    co_await move_to_seen_keys(run, boundary);
    co_return boundary;
}

// Another token from the boundary on (the next one in the vocabulary), or a row of x with the opposite sign (0 becomes
// 1).
Tensor changed_input(Tensor input, const Boundary& boundary, Index vocab_size) {
    const bool tokens = input.rank() == 2;
    const Index positions = input.dim(1), width = tokens ? 1 : input.dim(2);
    const auto values = input.writable();
    for (std::size_t batch = 0; batch < boundary.size(); ++batch) {
        const auto start = static_cast<Index>(batch) * positions;
        for (Index i = (start + boundary[batch]) * width; i < (start + positions) * width; ++i) {
            float& value = values[static_cast<std::size_t>(i)];
            if (tokens)
                value = static_cast<float>((static_cast<Index>(value) + 1) % vocab_size);
            else
                value = value == 0.0F ? 1.0F : -value;
        }
    }
    return input;
}

// What was found so far.
struct Movement {
    std::size_t compared = 0, steps = 0, moved_steps = 0;
    double furthest = 0.0;
    std::string first_step;
    Cell first_cell;
};

class ChangedPass {
public:
    ChangedPass(const Run& run, Boundary boundary)
        : run_(run),
          boundary_(std::move(boundary)),
          padding_(padding_of(run, boundary_.size())),
          readers_(readers_of(run.plan())) {}

    Resumable<Done> run(StepId input, Tensor changed) {
        fresh_.resize(readers_.size());
        fresh_[input] = std::move(changed);
        // Gradients flow from later positions to earlier ones: the law is about the forward pass.
        const StepId back = backward::backward_begins(run_.plan()).value_or(readers_.size());
        for (const Step& step : run_.plan().steps()) {
            if (step.id >= back) break;
            if (step.is_source()) continue;
            co_yield kPause;
            if (!run_.value(step.id).empty() && reads_changed(step)) {
                fresh_[step.id] = compute(step);
                compare(step);
            }
            for (const StepId operand : step.operands)
                if (--readers_[operand] == 0) fresh_[operand] = Tensor();
            if (readers_[step.id] == 0) fresh_[step.id] = Tensor();
        }
        co_return Done{};
    }

    [[nodiscard]] const Movement& movement() const { return movement_; }

private:
    [[nodiscard]] bool reads_changed(const Step& step) const {
        return std::ranges::any_of(step.operands, [&](StepId operand) { return !fresh_[operand].empty(); });
    }

    [[nodiscard]] Tensor compute(const Step& step) const {
        Operands operands;
        for (const StepId operand : step.operands)
            operands.add(fresh_[operand].empty() ? run_.value(operand) : fresh_[operand]);
        Tensor tensor = step.operation.compute(operands, step.axes);
        for (const Patch& patch : step.patches) patch.apply(tensor);
        return tensor;
    }

    // Raw scores count only where the mask keeps them: a score against a later key is computed first and hidden
    // afterwards. Filled scores are skipped, since they add nothing new.
    void compare(const Step& step) {
        const std::ptrdiff_t along = position_axis(step);
        if (along < 0 || step.operation.traits().fill) return;
        ++movement_.steps;
        const Tensor& tensor = run_.value(step.id);
        const std::span<const float> before = read_(tensor), after = fresh_[step.id].values();
        const std::span<const float> mask =
            step.mask_to_come ? read_mask_(run_.value(*step.mask_to_come)) : std::span<const float>();
        std::size_t inner = 1, outer = 1;
        for (std::size_t i = static_cast<std::size_t>(along) + 1; i < tensor.rank(); ++i)
            inner *= static_cast<std::size_t>(tensor.dim(i));
        for (std::size_t i = 1; i < static_cast<std::size_t>(along); ++i)
            outer *= static_cast<std::size_t>(tensor.dim(i));
        const auto positions = static_cast<std::size_t>(tensor.dim(static_cast<std::size_t>(along)));
        bool moved = false;
        for (std::size_t plane = 0; plane < boundary_.size() * outer; ++plane) {
            const std::size_t row = plane / outer;
            // Padding that a row begins with sees nothing, and nothing reads what is computed for it.
            const auto skipped = static_cast<std::size_t>(padding_[row]);
            const std::size_t start = (plane * positions + skipped) * inner;
            const std::size_t size =
                static_cast<std::size_t>(std::max<Index>(boundary_[row] - padding_[row], 0)) * inner;
            movement_.compared += size;
            if (std::memcmp(before.data() + start, after.data() + start, size * sizeof(float)) == 0 && mask.empty()) {
                continue;
            }
            for (std::size_t i = start; i < start + size; ++i)
                if (mask.empty() || mask[i] != 0.0F) moved |= differs(step, tensor, i, before[i], after[i]);
        }
        movement_.moved_steps += moved ? 1 : 0;
    }

    // Two NaN count as the same number.
    bool differs(const Step& step, const Tensor& tensor, std::size_t at, float before, float after) {
        const bool both_nan = std::isnan(before) && std::isnan(after);
        if (both_nan || std::memcmp(&before, &after, sizeof before) == 0) return false;
        const double distance = std::abs(static_cast<double>(before) - static_cast<double>(after));
        movement_.furthest = std::max(movement_.furthest, std::isnan(distance) ? HUGE_VAL : distance);
        if (movement_.first_step.empty()) {
            movement_.first_step = step.name;
            movement_.first_cell = tensor.cell(static_cast<Index>(at));
        }
        return true;
    }

    const Run& run_;
    Boundary boundary_;
    std::vector<Index> padding_;  // by batch row
    std::vector<std::size_t> readers_;
    std::vector<Tensor> fresh_;  // by step: the changed results; empty if nothing that the step reads changed
    Reader read_, read_mask_;
    Movement movement_;
};

// Where the changes begin: at the same position in every row of the batch, or at different ones.
Sentence position_text(const Boundary& boundary) {
    const auto [least, most] = std::ranges::minmax(boundary);
    if (least == most) return message("position {position}", {{"position", least}});
    return message("position {least} to {most} (each row of the batch its own)", {{"least", least}, {"most", most}});
}

Sentence finding_of(const Movement& movement, const Boundary& boundary) {
    if (movement.moved_steps == 0)
        return message(
            "Everything was changed from {position} on: of {numbers} before it, in {steps}, none changed by a bit.",
            {{"position", position_text(boundary)},
             {"numbers", counted_numbers(movement.compared)},
             {"steps", counted_steps(movement.steps)}});
    return message(
        "Everything was changed from {position} on: what comes before it changed in {moved} of {steps}, by up to "
        "{furthest}; here first.",
        {{"position", position_text(boundary)},
         {"moved", movement.moved_steps},
         {"steps", counted_steps(movement.steps)},
         {"furthest", measure_text(movement.furthest)}});
}

}  // namespace

Resumable<Invariant> measure_future(const Run& run, const Config& config) {
    Invariant invariant{.law = Law::future};
    const Plan& plan = run.plan();
    const Ref input = plan.find(config.vocab_size > 0 ? "tokens" : "x");
    if (!config.causal) {
        invariant.finding = message("Not causal: every position may read every other.");
        co_return invariant;
    }
    if (input == nullptr || config.vocab_size == 1) {
        invariant.finding = message("There is no other input to compare with: the vocabulary has only one token.");
        co_return invariant;
    }
    const Boundary boundary = co_await boundary_of(run, run.value(input->id));
    if (std::ranges::all_of(boundary, [](Index first) { return first == 0; })) {
        invariant.finding = message("There is only one position, so nothing comes before it.");
        co_return invariant;
    }
    ChangedPass pass(run, boundary);
    co_await pass.run(input->id, changed_input(run.value(input->id), boundary, config.vocab_size));
    const Movement& movement = pass.movement();
    invariant.verdict = movement.moved_steps > 0 ? Verdict::broken : Verdict::kept;
    invariant.measured = movement.furthest;
    invariant.step = movement.first_step;
    invariant.cell = movement.first_cell;
    invariant.checked = movement.compared;
    invariant.finding = finding_of(movement, boundary);
    co_return invariant;
}

}  // namespace decoderscope::core::checks
