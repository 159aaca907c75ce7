#include "app/core/checks/invariants.h"

#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"
#include "engine/sheet/scope.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <utility>

namespace decoderscope::core::checks {

namespace {

// What was recorded elsewhere can't be computed again in another way, which most laws need to be measured.
Resumable<Invariants> laws_of_recording(const Run& run) {
    constexpr std::size_t kMost = 256'000'000;  // bytes: of a larger recording only what is shown is read
    Invariants found;
    for (std::size_t law = 0; law < kLaws; ++law)
        found.all.push_back({.law = static_cast<Law>(law),
                             .finding = message("Recorded elsewhere: there are no weights to measure it with.")});
    Invariant& finite = found.all[static_cast<std::size_t>(Law::finite)];
    if (run.recorded_bytes() <= kMost)
        finite = co_await measure_finite(run);
    else
        finite.finding = message("The recording is large: only what is shown is read.");
    co_return found;
}

// How long a run must stay current before it is measured.
constexpr std::chrono::milliseconds kCalm{250};

Resumable<InvariantsMonitor::Result> measure(InvariantsMonitor::Order order) {
    InvariantsMonitor::Result result{.run = order.run};
    try {
        result.invariants = co_await invariants_in_slices(*order.run, order.config);
    } catch (const std::bad_alloc&) {
        result.error = message("The checks do not fit into the machine's memory.");
    } catch (const std::exception& error) {
        result.error = sentence_of(error);
    }
    co_return result;
}

constexpr auto kInfinity = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());

// A magnitude's bits. They are ordered as magnitudes are, with ∞ and then NaN above all numbers.
std::uint32_t magnitude(float value) { return std::bit_cast<std::uint32_t>(std::abs(value)); }

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

// Where the value began: in a weight or an input that the step reads, otherwise in the step itself.
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
    const bool shares_all = culprit.step->is_pattern && culprit.step->operation.traits().sums_to_one;
    if (!std::isnan(culprit.value) || !shares_all || !culprit.step->masked_by) return {};
    const auto mask = read(run.value(*culprit.step->masked_by));
    const auto width = static_cast<std::size_t>(culprit.step->axes.back().size);
    const auto row = static_cast<std::size_t>(run.value(culprit.step->id).offset(culprit.cell)) / width;
    const bool nothing_left =
        !mask.empty() && std::ranges::all_of(mask.subspan(row * width, width), [](float kept) { return kept == 0.0F; });
    return nothing_left ? message("The mask hides every key from that row.") : Sentence();
}

// The step that filled in the mask hiding some of this step's cells: this step itself, or one it is computed from;
// nullptr if none.
Ref fill_before(const Plan& plan, const Step& step) {
    if (!step.masked_by || step.masked_by == step.id) return nullptr;
    if (step.operation.traits().fill) return &step;
    for (const StepId operand : step.operands)
        if (plan[operand].masked_by == step.masked_by) return fill_before(plan, plan[operand]);
    return nullptr;
}

}  // namespace

std::size_t Invariants::count(Verdict verdict) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](const Invariant& one) { return one.verdict == verdict; }));
}

std::string title_of(Law law) {
    static constexpr std::array<Phrase, kLaws> kTitles = {
        message("Rows of every pattern sum to 1"), message("Masked weights are exactly 0 under −∞"),
        message("Nothing from the future moves the past"),
        message("Norms give mean 0 and variance 1 before gain and shift"), message("No number is NaN or infinite")};
    return tr(kTitles[static_cast<std::size_t>(law)]);
}

std::string title_of(const Invariant& invariant) {
    return invariant.law ? title_of(*invariant.law) : tr("{row} holds", {{"row", invariant.row}});
}

namespace {

// The first tensor that isn't kept, and that no law may ask for whole: several of them would not fit into memory.
Ref first_huge(const Run& run) {
    for (const Step& step : run.plan().steps())
        if (const Tensor& tensor = run.value(step.id);
            tensor.by_rows() != nullptr && tensor.size() >= Blocks{}.huge_bytes() / Index{sizeof(float)})
            return &step;
    return nullptr;
}

}  // namespace

Resumable<Invariants> invariants_in_slices(const Run& run, std::optional<Config> config) {
    Invariants found;
    if (const Ref huge = config ? first_huge(run) : nullptr) {
        const Sentence why =
            message("{name} is too large to be read whole: measure a shorter text.", {{"name", huge->name}});
        for (std::size_t law = 0; law < kLaws; ++law)
            found.all.push_back({.law = static_cast<Law>(law), .finding = why});
    } else if (config) {
        found.all.push_back(co_await measure_pattern_rows(run));
        found.all.push_back(co_await measure_masked_weights(run));
        found.all.push_back(co_await measure_future(run, *config));
        found.all.push_back(co_await measure_norms(run));
        found.all.push_back(co_await measure_finite(run));
    } else {
        found = co_await laws_of_recording(run);
    }
    std::vector<Invariant> own = co_await measure_own_rows(run);
    std::ranges::move(own, std::back_inserter(found.all));
    co_return found;
}

std::optional<Invariants> measure_invariants(const Run& run, const std::optional<Config>& config,
                                             const std::stop_token& stop) {
    Resumable<Invariants> work = invariants_in_slices(run, config);
    while (!stop.stop_requested())
        if (work.advance()) return work.result();
    return std::nullopt;
}

std::vector<PatternStep> patterns_of(const Run& run) {
    const Plan& plan = run.plan();
    std::vector<PatternStep> patterns;
    for (const Step& step : plan.steps()) {
        if (!step.is_pattern || run.value(step.id).empty()) continue;
        const Ref filled = fill_before(plan, step);
        if (filled == nullptr) continue;
        PatternStep pattern{step,
                            run.value(step.id),
                            run.value(*step.main_operand()),
                            run.value(*step.masked_by),
                            filled->operation.traits().fill->value,
                            {},
                            {}};
        if (const Ref sink = plan.step_of(step.attention, AttentionStep::sink); sink != nullptr) {
            pattern.sink = run.value(sink->id);
            pattern.sinks = run.operand(*sink, OperandRole::sinks);  // a wrong pattern may not read them
        }
        patterns.push_back(std::move(pattern));
    }
    return patterns;
}

std::string finding_text(const Invariant& invariant) {
    const std::string finding = tr(invariant.finding), besides = tr(invariant.besides);
    return besides.empty() ? finding : tr("{finding} {besides}", {{"finding", finding}, {"besides", besides}});
}

std::string measure_text(double value) { return short_number_text(value, 3); }

void InvariantsMonitor::start(Order order) {
    job_.forget();
    job_.start([order = std::move(order)](const std::stop_token&) { return measure(order); },
               JobRunner::Clock::now() + kCalm);
}

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

namespace {

bool must_hold(const Step& step) { return step.operation.traits().must_hold; }

bool is_true(float value) { return value != 0.0F && !std::isnan(value); }

// The check that this step is a layer of; a new one if it is the first.
Invariant& check_of(std::vector<Invariant>& found, const std::string& step) {
    const std::string everywhere = sheet::for_all_layers(step);
    const auto same = [&](const Invariant& one) { return sheet::for_all_layers(one.row) == everywhere; };
    if (const auto known = std::ranges::find_if(found, same); known != found.end()) {
        known->row = everywhere;
        return *known;
    }
    return found.emplace_back(Invariant{.row = step, .verdict = Verdict::kept});
}

Sentence finding_of(const Invariant& check, std::size_t untrue) {
    const Sentence numbers = counted_numbers(check.checked);
    if (untrue == 0) return message("{numbers}: none is 0 or NaN.", {{"numbers", numbers}});
    return message_n("{count} of {numbers} is 0 or NaN; the first is {value}.",
                     "{count} of {numbers} are 0 or NaN; the first is {value}.", untrue,
                     {{"numbers", numbers}, {"value", measure_text(check.measured)}});
}

}  // namespace

bool ask_the_same(const Plan& a, const Plan& b) {
    return std::ranges::equal(a.steps(), b.steps(), {}, must_hold, must_hold);
}

Resumable<std::vector<Invariant>> measure_own_rows(const Run& run) {
    std::vector<Invariant> found;
    std::vector<std::size_t> untrue;  // numbers of each check
    Reader read;
    for (const Step& step : run.plan().steps()) {
        if (!must_hold(step)) continue;
        co_yield kPause;
        Invariant& check = check_of(found, step.name);
        untrue.resize(found.size());
        const Tensor& tensor = run.value(step.id);
        const auto values = read(tensor);
        check.checked += values.size();
        const auto first = std::ranges::find_if_not(values, is_true);
        if (first == values.end()) continue;
        untrue[static_cast<std::size_t>(&check - found.data())] +=
            static_cast<std::size_t>(std::count_if(first, values.end(), std::not_fn(is_true)));
        if (check.verdict == Verdict::broken) continue;
        check.verdict = Verdict::broken;
        check.measured = static_cast<double>(*first);
        check.step = step.name;
        check.cell = tensor.cell(first - values.begin());
    }
    for (std::size_t i = 0; i < found.size(); ++i) found[i].finding = finding_of(found[i], untrue[i]);
    co_return found;
}

}  // namespace decoderscope::core::checks
