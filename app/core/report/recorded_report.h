#pragma once

#include "app/core/report/page.h"
#include "app/core/report/report.h"

namespace decoderscope {

// The sections of a report on a trace that was opened without its model: what it is, and its tensors.
void write_recorded_sections(Page& page, const ReportOf& report);

}  // namespace decoderscope
