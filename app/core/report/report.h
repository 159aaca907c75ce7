#pragma once

#include "app/core/export/exhibits.h"

#include <iosfwd>
#include <string>

namespace decoderscope {

// What a report is of: a run, and where its reader is to look first.
struct ReportOf {
    ShownRun shown;
    std::string step;  // empty: nowhere in particular
    Place place;
    std::string title;  // empty: the model's name
};

// Writes one page of HTML that needs nothing else: model, input and edits, the step that is looked at, every layer's
// heads, the masks and the norm curves, each drawn as vectors. It follows the reader's light or dark theme, prints on
// white, holds no date and refers to nothing outside. What names and texts hold is escaped. Computes the runs with the
// norms at their other place for the curves. Throws Error where the page cannot be written.
void write_report(std::ostream& out, const ReportOf& report);

}  // namespace decoderscope
