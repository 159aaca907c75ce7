#pragma once

#include "app/core/report/html_page.h"
#include "app/core/run/exhibit_step.h"

#include <iosfwd>
#include <string>

namespace decoderscope::core::report {

// What a report covers: a run, and the step to show first.
struct ReportOf {
    ShownRun shown;
    std::string step;  // empty: nowhere in particular
    Place place;
    std::string title;  // empty: the model's name
};

// Writes one self-contained page of HTML: model, input and edits, the chosen step, every layer's heads, the masks and
// the norm curves, each drawn as vectors. It follows the reader's light or dark theme, prints on white, holds no date
// and has no external references. Names and texts are escaped. Computes the run with the other norm placement for the
// curves. Throws Error if the page cannot be written.
void write_report(std::ostream& out, const ReportOf& report);

}  // namespace decoderscope::core::report
