#include "app/core/checks/invariants_laws.h"
#include "app/core/text/counting.h"
#include "engine/message.h"

#include <cmath>

namespace decoderscope {

namespace {

// What is known of the masked weights read so far.
struct Masked {
    std::size_t checked = 0, not_zero = 0;
    double largest = 0.0;
    const PatternStep* in = nullptr;
    std::size_t at = 0;
    bool finite_fill = false;
    double fill = 0.0;  // the last finite one

    // NaN is skipped: it affects its whole row, and is left to the law about rows.
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

Sentence counted_weights(std::size_t count) {
    return message_n("{count} masked weight", "{count} masked weights", count,
                     {{"count", grouped(static_cast<Index>(count))}});
}

Sentence finding_of(const Masked& masked) {
    if (masked.checked == 0) return message("Nothing is masked, or all of it is NaN.");
    const Sentence all = counted_weights(masked.checked);
    const std::string largest = measure_text(masked.largest);
    if (masked.finite_fill)
        return message("The fill is {fill}, not −∞, which promises nothing: the largest of {weights} is {largest}.",
                       {{"fill", measure_text(masked.fill)}, {"weights", all}, {"largest", largest}});
    if (masked.not_zero == 0) return message("The largest of {weights} is 0.", {{"weights", all}});
    return message_n("{count} of {weights} is not 0; the largest is {largest}.",
                     "{count} of {weights} are not 0; the largest is {largest}.", masked.not_zero,
                     {{"weights", all}, {"largest", largest}});
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
