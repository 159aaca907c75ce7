#include "app/core/checks/invariants.h"

#include "app/core/checks/invariants_laws.h"
#include "app/core/text/numbers.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

std::size_t Invariants::count(Verdict verdict) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](const Invariant& one) { return one.verdict == verdict; }));
}

std::string title_of(Law law) {
    switch (law) {
        case Law::pattern_rows:
            return tr("Rows of every pattern sum to 1");
        case Law::masked_weights:
            return tr("Masked weights are exactly 0 under −∞");
        case Law::future:
            return tr("Nothing from the future moves the past");
        case Law::norms:
            return tr("Norms give mean 0 and variance 1 before gain and shift");
        case Law::finite:
            return tr("No number is NaN or infinite");
    }
    return {};
}

namespace {

// What was recorded elsewhere can't be computed again in another way, which is what most laws are measured by.
Resumable<Invariants> laws_of_recording(const Run& run) {
    constexpr std::size_t kMost = 256'000'000;  // bytes: of a larger recording only what is shown is read
    Invariants found;
    for (std::size_t law = 0; law < kLaws; ++law)
        found.all[law] = {.law = static_cast<Law>(law),
                          .finding = message("Recorded elsewhere: there are no weights to measure it with.")};
    Invariant& finite = found.all[static_cast<std::size_t>(Law::finite)];
    if (run.recorded_bytes() <= kMost)
        finite = co_await measure_finite(run);
    else
        finite.finding = message("The recording is large: only what is shown is read.");
    co_return found;
}

}  // namespace

Resumable<Invariants> invariants_in_slices(const Run& run, Config config) {
    const auto recorded = [](const Step& step) { return step.operation.traits().recorded_elsewhere; };
    if (std::ranges::any_of(run.plan().steps(), recorded)) co_return co_await laws_of_recording(run);
    Invariants found;
    found.all[0] = co_await measure_pattern_rows(run);
    found.all[1] = co_await measure_masked_weights(run);
    found.all[2] = co_await measure_future(run, config);
    found.all[3] = co_await measure_norms(run);
    found.all[4] = co_await measure_finite(run);
    co_return found;
}

std::optional<Invariants> measure_invariants(const Run& run, const Config& config, const std::stop_token& stop) {
    Resumable<Invariants> work = invariants_in_slices(run, config);
    while (!stop.stop_requested())
        if (work.advance()) return work.result();
    return std::nullopt;
}

Ref fill_before(const Plan& plan, const Step& step) {
    if (!step.masked_by || step.masked_by == step.id) return nullptr;
    if (step.operation.traits().fill) return &step;
    for (const StepId operand : step.operands)
        if (plan[operand].masked_by == step.masked_by) return fill_before(plan, plan[operand]);
    return nullptr;
}

std::vector<PatternStep> patterns_of(const Run& run) {
    const Plan& plan = run.plan();
    std::vector<PatternStep> patterns;
    for (const Step& step : plan.steps()) {
        if (step.operation.traits().values != Values::weights || run.value(step.id).empty()) continue;
        const Ref filled = fill_before(plan, step);
        if (filled == nullptr) continue;
        patterns.push_back({step, run.value(step.id), run.value(step.operands[0]), run.value(*step.masked_by),
                            filled->operation.traits().fill->value});
    }
    return patterns;
}

std::string finding_text(const Invariant& invariant) {
    const std::string finding = tr(invariant.finding), besides = tr(invariant.besides);
    return besides.empty() ? finding : tr("{finding} {besides}", {{"finding", finding}, {"besides", besides}});
}

std::string measure_text(double value) { return short_number_text(value, 3); }

}  // namespace decoderscope
