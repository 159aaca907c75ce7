#pragma once

#include "app/core/step/explained_cells.h"

#include <iosfwd>

// An explanation written down for readers without a window: as text, and as a page of HTML with headings, tables and
// links, which screen readers follow. Every operand is named by tensor, index and token.
namespace decoderscope {

void write_explanation(std::ostream& out, const Scenario& scenario, const Run& run, const ExplainedCells& explained);
void write_explanation_page(std::ostream& out, const Scenario& scenario, const Run& run,
                            const ExplainedCells& explained);

}  // namespace decoderscope
