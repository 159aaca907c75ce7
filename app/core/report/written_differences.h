#pragma once

#include "app/core/report/run_differences.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace decoderscope::core::report {

// How runs differ from the first of them.
struct ComparedRuns {
    std::vector<ComparedRun> runs;            // two or more
    std::vector<RunDifferences> differences;  // of the first with each of the others

    [[nodiscard]] bool differ() const;
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
