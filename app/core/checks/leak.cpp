#include "app/core/checks/leak.h"

#include "app/core/jobs/resumable.h"
#include "engine/backward/gradient.h"
#include "engine/model/inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace decoderscope::core::checks {

namespace {

// How far apart two numbers are; 0 for equal infinities and for two NaN, ∞ if only one of them is NaN.
float apart(float a, float b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0.0F;
    const float distance = std::abs(a - b);
    return std::isnan(distance) ? std::numeric_limits<float>::infinity() : distance;
}

// Compares two rows of numbers one by one, without those that the mask hides.
void compare_with_care(Moved& moved, std::span<const float> before, std::span<const float> after, const float* mask) {
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (mask != nullptr && mask[i] == 0.0F) continue;
        moved.largest = std::max(moved.largest, apart(before[i], after[i]));
        moved.blind |= std::isnan(before[i]) && std::isnan(after[i]);
    }
}

// As above, for many numbers at a time, if none of them is NaN, which is nearly always so: magnitudes are ordered as
// their bits are, and NaN lies above ∞. Returns whether that was so.
bool compare_at_once(Moved& moved, std::span<const float> before, std::span<const float> after) {
    constexpr auto infinite = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const std::uint32_t distance = std::bit_cast<std::uint32_t>(std::abs(before[i] - after[i]));
        largest = std::max(largest, before[i] == after[i] ? 0U : distance);
    }
    if (largest > infinite) return false;
    moved.largest = std::max(moved.largest, std::bit_cast<float>(largest));
    return true;
}

// How each position changed in one tensor [batch, …, pos or query, …]. `mask` leaves cells out; it may be empty.
std::vector<Moved> changes_in(const std::string& name, const Tensor& a, const Tensor& b, const Tensor& mask,
                              std::size_t along, Index batch) {
    const bool batched = a.axes()[0].name == axis::batch;
    std::size_t inner = 1, outer = 1;
    for (std::size_t i = along + 1; i < a.rank(); ++i) inner *= static_cast<std::size_t>(a.dim(i));
    for (std::size_t i = batched ? 1 : 0; i < along; ++i) outer *= static_cast<std::size_t>(a.dim(i));
    std::vector<Moved> moved(static_cast<std::size_t>(a.dim(along)));
    std::size_t offset = batched ? static_cast<std::size_t>(batch) * outer * moved.size() * inner : 0;
    for (std::size_t o = 0; o < outer; ++o) {
        for (Moved& position : moved) {
            const auto before = a.values().subspan(offset, inner), after = b.values().subspan(offset, inner);
            const float* kept = mask.empty() ? nullptr : mask.data() + offset;
            if (kept != nullptr || !compare_at_once(position, before, after))
                compare_with_care(position, before, after, kept);
            offset += inner;
        }
    }
    for (Moved& one : moved)
        if (one.largest > 0.0F) one.largest_in = one.first_in = name;
    return moved;
}

void add(Moved& sum, const Moved& next) {
    sum.blind |= next.blind;
    if (sum.first_in.empty()) sum.first_in = next.first_in;
    if (next.largest <= sum.largest) return;
    sum.largest = next.largest;
    sum.largest_in = next.largest_in;
}

void sum_up_earlier(Leak& leak) {
    for (std::size_t p = 0; p < leak.moved.size() && static_cast<Index>(p) < leak.changed; ++p) {
        const Moved& moved = leak.moved[p];
        leak.earlier_blind += moved.blind ? 1 : 0;
        leak.earlier_moved += moved.first_in.empty() ? 0 : 1;
        if (moved.largest <= leak.earlier) continue;
        leak.earlier = moved.largest;
        leak.worst_in = moved.largest_in;
    }
}

// Compares one step of two runs in a batch row.
void compare(const Run& run, const Run& other, const Step& step, Index batch, Leak& leak) {
    const std::ptrdiff_t along = position_axis(step);
    const Tensor& before = run.value(step.id);
    const Tensor& after = other.value(step.name);
    if (step.is_source() || along < 0 || before.empty() || before.axes() != after.axes()) return;
    ++leak.tensors;
    const auto axis = static_cast<std::size_t>(along);
    leak.moved.resize(std::max(leak.moved.size(), static_cast<std::size_t>(before.dim(axis))));
    const Tensor mask = step.mask_to_come ? run.value(*step.mask_to_come) : Tensor();
    const std::vector<Moved> changes = changes_in(step.name, before, after, mask, axis, batch);
    for (std::size_t p = 0; p < changes.size(); ++p) add(leak.moved[p], changes[p]);
}

}  // namespace

Index leading_padding(const Tensor& mask, Index row) {
    Index count = 0;
    while (!mask.empty() && count < mask.dim(1) && is_padding(mask, row, count)) ++count;
    return count;
}

std::ptrdiff_t position_axis(const Step& step) {
    const bool of_memory =
        step.part == Part::cross_attention && (step.meaning == Meaning::key || step.meaning == Meaning::value);
    const bool is_own = step.part == Part::own;  // nothing reads it: a person's row may look ahead
    if (step.in_encoder() || of_memory || is_own) return -1;
    for (std::size_t i = 0; i < step.axes.size(); ++i) {
        const std::string_view name = step.axes[i].name;
        if (name == axis::pos || name == axis::query) return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
}

Variation leak_variation(const Scenario& scenario, const Run& run, Index batch, Index position) {
    Variation variation;
    const Config& config = scenario.config();
    if (const Tensor& tokens = run.value("tokens"); !tokens.empty()) {
        const auto token = static_cast<Index>(tokens.at(Cell{batch, position}));
        variation.more_edits.push_back(SetCell{
            "tokens", {batch, position}, static_cast<float>((token + 1) % std::max<Index>(config.vocab_size, 1))});
        return variation;
    }
    const Tensor& x = run.value("x");
    for (Index i = 0; !x.empty() && i < config.d_model; ++i) {
        const Cell cell = {batch, position, i};
        const float value = x.at(cell);
        variation.more_edits.push_back(SetCell{"x", cell, value == 0.0F ? 1.0F : -value});
    }
    return variation;
}

Resumable<Leak> leak_between(std::shared_ptr<const Run> run, std::shared_ptr<const Run> changed, Index batch,
                             Index position) {
    constexpr Index kSlice = 1'000'000;  // how many numbers a slice compares
    Leak leak{.changed = position};
    const Plan& plan = run->plan();
    const StepId way_back = backward::backward_begins(plan).value_or(plan.steps().size());  // gradients are no leak
    Index compared = 0;
    for (StepId id = 0; id < way_back; ++id) {
        compare(*run, *changed, plan[id], batch, leak);
        if ((compared += run->value(id).size()) < kSlice) continue;
        compared = 0;
        co_yield kPause;
    }
    const Index padding = leading_padding(run->value("attention_mask"), batch);
    std::fill_n(leak.moved.begin(), std::min(padding, static_cast<Index>(leak.moved.size())), Moved());
    sum_up_earlier(leak);
    co_return leak;
}

Resumable<LeaksBack> leaks_back(Scenario scenario, std::shared_ptr<const Run> run, Index batch) {
    // In all its passes together: some seconds; and what is computed without a pause.
    constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30U, kSlice = std::uint64_t{4} << 20U;
    LeaksBack found;
    const KeptTensors kept = kept_now(run->plan(), scenario.recording, scenario.memory);
    const std::uint64_t bytes = bytes_of_all(run->plan());  // what isn't kept takes its time, too
    const Index positions = scenario.inputs.pos();
    if (bytes > kMostBytes / static_cast<std::uint64_t>(positions)) co_return found;
    std::uint64_t since_pause = 0;
    found.moved.resize(static_cast<std::size_t>(positions * positions));
    for (Index position = positions - 1; position >= 0; --position) {
        const Scenario changed = varied(scenario, leak_variation(scenario, *run, batch, position));
        Resumable<std::shared_ptr<const Run>> pass =
            execute_in_slices(plan_of(changed), {.previous = run.get(), .kept = kept.in_a_run()});
        const bool pauses = (since_pause += bytes) > kSlice;
        while (!pass.advance())
            if (pauses) co_yield kPause;
        const Leak leak = co_await leak_between(run, pass.result(), batch, position);
        found.blind |= leak.earlier_blind > 0;
        // In a pass behind a cache some tensors are over all positions.
        const auto own = std::span(leak.moved).first(std::min(leak.moved.size(), static_cast<std::size_t>(positions)));
        std::ranges::transform(own, found.moved.begin() + static_cast<std::ptrdiff_t>(position * positions),
                               &Moved::largest);
        if (leak.earlier_moved > 0) found.from.insert(found.from.begin(), position);
        if (!pauses) continue;
        since_pause = 0;
        co_yield kPause;
    }
    found.complete = true;
    co_return found;
}

}  // namespace decoderscope::core::checks
