#pragma once

#include "app/core/jobs/job.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/scenario.h"
#include "app/core/run/slice.h"
#include "engine/base/message.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace decoderscope::core::checks {

// What holds for every forward pass, whatever its weights: measured on the recorded numbers, not assumed.
enum class Law {
    pattern_rows,    // the rows of every attention pattern, with a sink's weight, sum to 1, or are known to be NaN
    masked_weights,  // under a fill of −∞, a masked key's weight is exactly 0
    future,          // in a causal decoder nothing from the future moves the past
    norms,           // a norm's output has mean 0 and variance 1 before gain and shift
    finite,          // no number is NaN or infinite
};
inline constexpr std::size_t kLaws = 5;

enum class Verdict {
    kept,
    broken,
    open,  // there is nothing to measure; the finding says why
};

// What was measured for one law, or for a row that a person wrote and that must hold.
struct Invariant {
    std::optional<Law> law = std::nullopt;  // nothing: a row of the person's own
    std::string row = {};                   // its name; "*" stands for each of several layers
    Verdict verdict = Verdict::open;
    // The largest deviation over the whole run (Law::finite: the largest magnitude), and its cell. If the law is
    // broken: the cell that breaks it, or the first of them where one causes the others. Without a cell the step is
    // empty.
    double measured = 0.0;
    std::string step;
    Cell cell;
    std::size_t checked = 0;  // how many rows or numbers were measured; of a row that must hold, all of its numbers
    Sentence finding;         // the result as a sentence
    Sentence besides;         // a further remark; usually empty
};

struct Invariants {
    std::vector<Invariant> all;  // the laws in their order, then the person's own rows

    [[nodiscard]] const Invariant& of(Law law) const { return all[static_cast<std::size_t>(law)]; }
    [[nodiscard]] std::size_t count(Verdict verdict) const;
};

// "rows of every pattern sum to 1"
[[nodiscard]] std::string title_of(Law law);
[[nodiscard]] std::string title_of(const Invariant& invariant);
// "2,304 rows of 4 patterns; the furthest from 1 is off by 1.2e-7."
[[nodiscard]] std::string finding_text(const Invariant& invariant);

// Measures all laws on a run, and the rows that must hold. Takes about as long as computing it, because the law about
// the future needs its own pass. Holds a few tensors of the run's size at a time, and computes none of the run's
// tensors that were not read yet. Without a configuration the run was recorded elsewhere, and the laws that need
// weights are open. Returns nothing if stopped; `stop` is checked between steps.
[[nodiscard]] std::optional<Invariants> measure_invariants(const Run& run, const std::optional<Config>& config,
                                                           const std::stop_token& stop = {});
// As above, in slices; the run must outlive it.
[[nodiscard]] Resumable<Invariants> invariants_in_slices(const Run& run, std::optional<Config> config);

// One function per law, each in its own file. Each pauses between steps; the run must outlive it.

[[nodiscard]] Resumable<Invariant> measure_pattern_rows(const Run& run);
[[nodiscard]] Resumable<Invariant> measure_masked_weights(const Run& run);
[[nodiscard]] Resumable<Invariant> measure_future(const Run& run, const Config& config);
[[nodiscard]] Resumable<Invariant> measure_norms(const Run& run);
[[nodiscard]] Resumable<Invariant> measure_finite(const Run& run);

// The rows that must hold, each over all its layers.
[[nodiscard]] Resumable<std::vector<Invariant>> measure_own_rows(const Run& run);
// Whether the same rows must hold in two plans whose steps are the same otherwise.
[[nodiscard]] bool ask_the_same(const Plan& a, const Plan& b);

// Shared by all of them.

// The tensors of one attention, all [batch, head, query, key] like its pattern.
struct PatternStep {
    const Step& step;
    Tensor weights;
    Tensor masked_scores;  // what the softmax read; dropout may have changed them
    Tensor mask;
    float fill;    // mask_value
    Tensor sink;   // [batch, head, query, 1]: what goes to no key; empty without a sink
    Tensor sinks;  // [head]: its score
};
// Every attention pattern of a run, in order.
[[nodiscard]] std::vector<PatternStep> patterns_of(const Run& run);

// The number to three significant digits.
[[nodiscard]] std::string measure_text(double value);

// Measures the laws in the background, once a run has been current for a moment: during painting or typing the next run
// would replace it at once. One at a time; a new one stops the previous one.
class InvariantsMonitor {
public:
    struct Order {
        std::shared_ptr<const Run> run;
        std::optional<Config> config;  // nothing: recorded elsewhere
    };
    struct Result {
        std::shared_ptr<const Run> run;  // what was measured
        std::optional<Invariants> invariants;
        Sentence error;  // why it could not be measured
    };

    // `wake` is called when a result is ready, from another thread if there are threads.
    explicit InvariantsMonitor(std::function<void()> wake) : job_(std::move(wake)) {}

    void start(Order order);
    // Drops the order under way; it gives no result.
    void stop() { job_.forget(); }
    [[nodiscard]] std::optional<Result> collect() { return job_.collect(); }
    // Begins a waiting order at once, and waits until nothing is under way.
    void finish() { job_.finish(); }
    // Without threads: as in JobRunner.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }

private:
    Job<Result> job_;
};

}  // namespace decoderscope::core::checks
