#include "app/core/checks/invariants_laws.h"
#include "app/core/text/counting.h"
#include "engine/message.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace decoderscope {

namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffffU, kInfinity = 0x7f800000U;

// A magnitude's bits. They are ordered as magnitudes are, with ∞ and then NaN above all numbers.
std::uint32_t magnitude(float value) { return std::bit_cast<std::uint32_t>(value) & kMagnitude; }

std::uint32_t largest_magnitude(std::span<const float> values) {
    std::uint32_t largest = 0;
    for (const float value : values) largest = std::max(largest, magnitude(value));
    return largest;
}

// Masked scores are infinite on purpose where the mask hides them; any other infinity shows in the scores before them.
bool is_infinite_on_purpose(const Step& step) { return step.is_scores && step.masked_by; }

// The first number of a tensor that is not finite.
std::optional<Index> first_not_finite(std::span<const float> values) {
    const auto found = std::ranges::find_if(values, [](float value) { return magnitude(value) >= kInfinity; });
    return found == values.end() ? std::nullopt : std::optional<Index>(found - values.begin());
}

struct Culprit {
    const Step* step;
    Cell cell;
    float value;
};

// Where it began: in a weight or an input that the step reads, else in the step itself.
Culprit culprit_of(const Run& run, const Step& step, Reader& read) {
    for (const StepId operand : step.operands) {
        const Step& source = run.plan()[operand];
        if (!source.is_source() || run.value(operand).empty()) continue;
        const auto values = read(run.value(operand));
        if (const auto at = first_not_finite(values))
            return {&source, run.value(operand).cell(*at), values[static_cast<std::size_t>(*at)]};
    }
    const auto values = read(run.value(step.id));
    const Index at = *first_not_finite(values);
    return {&step, run.value(step.id).cell(at), values[static_cast<std::size_t>(at)]};
}

std::string what_it_is(const Culprit& culprit) {
    if (std::isnan(culprit.value)) return "NaN";
    return culprit.value > 0.0F ? "∞" : "−∞";
}

// Why a softmax gives NaN, if the reason is known.
Sentence reason_of(const Run& run, const Culprit& culprit, Reader& read) {
    const bool of_weights = culprit.step->operation.traits().values == Values::weights;
    if (!std::isnan(culprit.value) || !of_weights || !culprit.step->masked_by) return {};
    const auto mask = read(run.value(*culprit.step->masked_by));
    const auto width = static_cast<std::size_t>(culprit.step->axes.back().size);
    const auto row = static_cast<std::size_t>(run.value(culprit.step->id).offset(culprit.cell)) / width;
    const bool nothing_left =
        !mask.empty() && std::ranges::all_of(mask.subspan(row * width, width), [](float kept) { return kept == 0.0F; });
    return nothing_left ? message("The mask leaves that row nothing to attend to.") : Sentence();
}

}  // namespace

Resumable<Invariant> measure_finite(const Run& run) {
    Invariant invariant{.law = Law::finite, .verdict = Verdict::kept};
    Reader read;
    std::uint32_t largest = 0;
    std::size_t broken_steps = 0;
    const Step* first = nullptr;
    for (const Step& step : run.plan().steps()) {
        co_yield kPause;
        const Tensor& tensor = run.value(step.id);
        const bool of_masks = step.operation.traits().values == Values::mask;
        if (step.is_source() || tensor.empty() || of_masks || is_infinite_on_purpose(step)) continue;
        const auto values = read(tensor);
        invariant.checked += values.size();
        const std::uint32_t here = largest_magnitude(values);
        if (here >= kInfinity) {
            ++broken_steps;
            if (first == nullptr) first = &step;
        } else if (first == nullptr && (invariant.step.empty() || here > largest)) {
            largest = here;
            invariant.step = step.name;
            invariant.cell = tensor.cell(std::ranges::find(values, here, magnitude) - values.begin());
        }
    }
    invariant.measured = static_cast<double>(std::bit_cast<float>(largest));
    if (first == nullptr) {
        invariant.finding =
            message("{numbers}; the largest magnitude is {largest}.",
                    {{"numbers", counted_numbers(invariant.checked)}, {"largest", measure_text(invariant.measured)}});
        co_return invariant;
    }
    const Culprit culprit = culprit_of(run, *first, read);
    invariant.verdict = Verdict::broken;
    invariant.measured = static_cast<double>(culprit.value);
    invariant.step = culprit.step->name;
    invariant.cell = culprit.cell;
    invariant.finding = message_n("The first is {value}; {count} step holds numbers that are NaN or infinite.",
                                  "The first is {value}; {count} steps hold numbers that are NaN or infinite.",
                                  broken_steps, {{"value", what_it_is(culprit)}});
    invariant.besides = reason_of(run, culprit, read);
    co_return invariant;
}

}  // namespace decoderscope
