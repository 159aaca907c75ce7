#include "app/core/checks/invariants_laws.h"
#include "app/core/text/counting.h"

#include <cmath>

namespace decoderscope {

namespace {

// What is known of the masked weights that were looked at.
struct Masked {
    std::size_t checked = 0, not_zero = 0;
    double largest = 0.0;
    const PatternStep* in = nullptr;
    std::size_t at = 0;
    bool finite_fill = false;
    double fill = 0.0;  // the last finite one

    // A NaN is a matter of its whole row, and of the law about rows.
    void look_at(const PatternStep& pattern, std::span<const float> weights, std::span<const float> mask) {
        if (std::isfinite(pattern.fill)) {
            finite_fill = true;
            fill = static_cast<double>(pattern.fill);
        }
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (mask[i] != 0.0F || std::isnan(weights[i])) continue;
            ++checked;
            const double weight = std::abs(static_cast<double>(weights[i]));
            not_zero += weight != 0.0 ? 1 : 0;
            if (in != nullptr && weight <= largest) continue;
            largest = weight;
            in = &pattern;
            at = i;
        }
    }
};

Verdict verdict_of(const Masked& masked) {
    if (masked.checked == 0 || masked.finite_fill) return Verdict::open;
    return masked.not_zero > 0 ? Verdict::broken : Verdict::kept;
}

std::string finding_of(const Masked& masked) {
    if (masked.checked == 0) return "Nothing is masked, or all of it is NaN.";
    const std::string all = counted(masked.checked, "masked weight"), largest = measure_text(masked.largest);
    if (masked.finite_fill)
        return "The fill is " + measure_text(masked.fill) + ", not −∞, which promises nothing: the largest of " + all +
               " is " + largest + ".";
    if (masked.not_zero == 0) return "The largest of " + all + " is 0.";
    return std::to_string(masked.not_zero) + " of " + all + (masked.not_zero == 1 ? " is" : " are") +
           " not 0; the largest is " + largest + ".";
}

}  // namespace

Resumable<Invariant> measure_masked_weights(const Run& run) {
    Invariant invariant{.law = Law::masked_weights};
    const std::vector<PatternStep> patterns = patterns_of(run);
    Masked masked;
    Reader read_weights, read_mask;
    for (const PatternStep& pattern : patterns) {
        co_yield kPause;
        masked.look_at(pattern, read_weights(pattern.weights), read_mask(pattern.mask));
    }
    invariant.verdict = verdict_of(masked);
    invariant.measured = masked.largest;
    invariant.checked = masked.checked;
    invariant.finding = finding_of(masked);
    if (masked.in == nullptr) co_return invariant;
    invariant.step = masked.in->step.name;
    invariant.cell = masked.in->weights.cell(static_cast<Index>(masked.at));
    co_return invariant;
}

}  // namespace decoderscope
