#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/session/scenario.h"
#include "engine/message.h"

#include <array>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>

namespace decoderscope {

// What holds of every forward pass, whatever its weights: measured on the recorded numbers, not assumed.
enum class Law {
    pattern_rows,    // the rows of every attention pattern sum to 1, or are known to be NaN
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

// What was measured for one law.
struct Invariant {
    Law law = Law::pattern_rows;
    Verdict verdict = Verdict::open;
    // The largest deviation over the whole run (Law::finite: the largest magnitude), and its cell. If the law is
    // broken: the cell that breaks it, or the first of them where one causes the others. Without a cell the step is
    // empty.
    double measured = 0.0;
    std::string step;
    Cell cell;
    std::size_t checked = 0;  // how many rows or numbers were measured
    Sentence finding;         // the result as a sentence
    Sentence besides;         // a further remark; usually empty
};

struct Invariants {
    std::array<Invariant, kLaws> all;

    [[nodiscard]] const Invariant& of(Law law) const { return all[static_cast<std::size_t>(law)]; }
    [[nodiscard]] std::size_t count(Verdict verdict) const;
};

// "rows of every pattern sum to 1"
[[nodiscard]] std::string title_of(Law law);
// "2,304 rows of 4 patterns; the furthest from 1 is off by 1.2e-7."
[[nodiscard]] std::string finding_text(const Invariant& invariant);

// Measures all laws on a run. Takes about as long as computing it, because the future's law needs its own pass. Holds a
// few tensors of the run's size at a time, and computes none of the run's tensors that were not read yet. Returns
// nothing if stopped; `stop` is checked between steps.
[[nodiscard]] std::optional<Invariants> measure_invariants(const Run& run, const Config& config,
                                                           const std::stop_token& stop = {});
// The same in slices; the run must outlive it.
[[nodiscard]] Resumable<Invariants> invariants_in_slices(const Run& run, Config config);

}  // namespace decoderscope
