#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/run/chosen_match.h"
#include "app/core/run/scenario.h"
#include "app/core/tabs/bisect/tensor_check.h"
#include "engine/decoder/kv_cache.h"
#include "engine/mutations/mutations.h"
#include "engine/trace/trace.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Where and why a recording of another program differs from what is computed here.
namespace decoderscope::core::bisect {

inline constexpr std::string_view kModel = "(model)";  // the recorder's name of all that was recorded

// What a recording's differences are.
enum class Verdict {
    agrees,    // it has our numbers: within 1e-4 of a tensor's largest, or to the last place of a smaller type
    rounding,  // each step agrees with what rounding leaves open; what it adds up to doesn't
    changes_prediction,  // as above, and another token is the likeliest somewhere
    changes_expert,      // as above, and a router chose other experts
    differs,
};

// A mistake that was tried as the cause.
struct Cause {
    std::string name;  // "no-scale", also of the gallery
    Sentence sentence;
    bool explains = false;   // with it, the first tensor agrees, and all before it still do
    bool all_agree = false;  // so do all that follow
    bool harmless = false;   // it looks wrong and is right
    double remains = 0.0;    // the largest difference that remains in the first tensor, relative to its magnitude
    std::string next;        // the first tensor that still differs; empty if none
};

// One block run on the input that they recorded for it.
struct IsolatedBlock {
    std::string block;                   // "blocks.1"
    std::optional<std::string> differs;  // the first of its tensors that differs all the same
};

// A cell as it is computed here and, with the cause put in, there.
struct SideBySide {
    std::vector<std::string> ours, theirs;  // lines
    std::vector<std::string> made_from;     // the names of the tensors that it was computed from
};

struct Bisection {
    // Given, and then nothing else tells what differs; or beyond which a tensor is not the same, whatever rounding may
    // do.
    double tolerance = 0.0;
    bool by_tolerance = false;                    // it was given
    Arithmetic arithmetic = Arithmetic::float32;  // in which both sides are computed
    Verdict verdict = Verdict::agrees;
    std::vector<TensorCheck> checks;   // in the order of computation
    std::optional<std::size_t> first;  // the first that differs
    trace::CodeLine line;              // of theirs, by the recorder: what made the first that differs, or was given it
    bool made_by_line = false;         // the former
    std::size_t agreed_before = 0;     // tensors before it that agree; all of them if none differs
    double largest = 0.0;              // the largest difference of what agrees: its noise
    std::vector<std::string> unmatched;  // tensors of theirs that are none of ours
    std::vector<Cause> causes;           // of the first difference, the likeliest first
    std::vector<Cause> further;          // of what still differs with the likeliest put in, one a time
    std::vector<IsolatedBlock> isolated;
    Sentence relation;  // what theirs is to ours, if no cause explains it; empty if nothing is found
    SideBySide cell;
    // What differs besides tensors: what the two were given (tokens, weights), and the loss that theirs returned.
    std::vector<Sentence> apart;
    Sentence unfinished;  // why the recording ends before what it was made of did; empty if it is whole
    std::vector<Sentence> remarks, assumed;  // the latter about the model, of which not all was said
    // What was left out, besides unmatched tensors: of the recording and, if nothing differs, of what leads to the
    // model's output.
    std::vector<Sentence> not_compared;
    std::size_t compared = 0, recorded = 0;         // of their floating tensors
    std::optional<std::string> first_not_compared;  // the first of them that wasn't
    // Of a recorded model that was called again and again: how many calls were compared, and, if something differs, in
    // which (from 0), of how many positions behind how many kept ones.
    std::size_t passes = 1, pass = 0;
    Index computed = 0, kept = 0;
};

struct BisectOptions {
    // Relative to a tensor's largest magnitude. Without it each tensor is judged by what rounding leaves open.
    std::optional<double> tolerance;
    bool seek_causes = true;
    std::vector<ChosenMatch> chosen;      // matches that the user changed
    const decoder::Past* past = nullptr;  // what is kept of the text before the inputs; nullptr: nothing
};

// How far a bisection has got: written by its job, read by another thread.
struct BisectProgress {
    std::atomic<std::size_t> done = 0, all = 0;
};

// What differs by more, relative to a tensor's largest magnitude, is not the same tensor: 1e-4, and more for the
// smaller types.
inline constexpr double kUsualTolerance = 1e-4;
[[nodiscard]] double coarse_tolerance(Arithmetic arithmetic);
// The type in which most of a recording was computed, as its numbers tell: a float32 file may hold bfloat16's.
[[nodiscard]] Arithmetic arithmetic_of(const trace::Trace& trace);

// Finds the first difference and what agrees before it, from the checks.
void summarise(Bisection& bisection);
// Finds the line of the recorded program that the first difference comes from, if the recorder wrote it down.
void name_line(Bisection& bisection, const trace::Trace& trace);

// Compares a scenario's run with a trace. Throws Error if nothing in the trace is one of its tensors.
[[nodiscard]] Bisection bisect(const Scenario& scenario, const trace::Trace& trace, const BisectOptions& options = {});
// As above, with a pause after each run; `progress` may be nullptr.
[[nodiscard]] Resumable<Bisection> bisect_in_slices(Scenario scenario, std::shared_ptr<const trace::Trace> trace,
                                                    BisectOptions options, std::shared_ptr<BisectProgress> progress);

}  // namespace decoderscope::core::bisect
