#pragma once

#include "app/core/figure/exhibit.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/scenario.h"
#include "app/core/tabs/bisect/bisection.h"
#include "engine/base/message.h"
#include "engine/trace/trace.h"

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::report {

// One of the runs that are compared: a model's, or what another program recorded.
struct ComparedRun {
    std::string label;  // what it is known by: "before.dscope"
    ShownRun shown;
    std::shared_ptr<const trace::Trace> trace;  // the recording; nullptr for a model's run
};

// How one run differs from another, step by step. For a model and a recording this is what `bisect` finds, "here" being
// the model; for two models or two recordings, tensors of the same name are compared, "here" being the first.
struct RunDifferences {
    bisect::Bisection found;              // its checks are in the order of computation
    std::string here, there;              // labels
    std::vector<std::string> missing;     // only in one of them, and so not compared, a sentence each
    std::vector<std::string> causes;      // what makes them differ, as far as that is known
    Sentence moved;                       // what became of the output; empty if they have no common one
    std::optional<std::size_t> furthest;  // of the checks: the largest difference, relative to the magnitude
    std::vector<Exhibit> pictures;        // of the first difference and of the furthest: both sides and A − B

    [[nodiscard]] bool differs() const { return found.first.has_value() || !found.apart.empty(); }
    // What was compared agrees, but not all was.
    [[nodiscard]] bool in_part() const { return !differs() && (!missing.empty() || !found.not_compared.empty()); }
};

// Differences up to `tolerance` of a tensor's largest magnitude count as none. Without one, a recording is judged by
// what rounding leaves open, beside a model or beside another recording of which the model can be computed again; for
// what is left, up to 1e-4 counts as none, and more if a recording is of half precision. Throws Error if nothing of the
// two can be compared.
[[nodiscard]] RunDifferences differences_between(const ComparedRun& a, const ComparedRun& b,
                                                 std::optional<double> tolerance);

// How runs differ from the first of them.
struct ComparedRuns {
    std::vector<ComparedRun> runs;            // two or more
    std::vector<RunDifferences> differences;  // of the first with each of the others
};

// Throws Error as differences_between() does.
[[nodiscard]] ComparedRuns compared(std::vector<ComparedRun> runs, std::optional<double> tolerance);

// "3 of 99 steps differ, first blocks.0.attn.pattern."; what is missing is counted, too.
[[nodiscard]] std::string verdict_of(const RunDifferences& differences);

// Writes one self-contained page of HTML: an overview, then for each pair what was found, its causes, pictures of the
// first and of the largest difference, and every step. It holds no date and has no external references.
void write_differences(std::ostream& out, const ComparedRuns& compared);

// As above, in Markdown, short enough for a comment: a table, and a few lines for each pair.
[[nodiscard]] std::string differences_markdown(const ComparedRuns& compared);

}  // namespace decoderscope::core::report
