#pragma once

#include "app/core/sweep/sweep.h"

#include <iosfwd>

// A sweep as files and terminals have it.
namespace decoderscope::core::sweep {

// A JSON list with a line for each run: {"at": 0.5, "value": 1.25, "predictions_changed": 2}. "at" is a number, a text,
// or a list of them if several things are varied; "value" a number, or nested lists by the tensor's axes; what is not
// finite is "nan", "inf" or "-inf". "predictions_changed" is missing if the sweep doesn't say.
void write_json(std::ostream& out, const Sweep& sweep);

// CSV (RFC 4180, UTF-8): a header, then a line for each run: what is varied, a column for each of the row's numbers
// ("value", or "entropy[0, 1]"), predictions_changed. Throws Error if the row's shape is not the same in all runs.
void write_csv(std::ostream& out, const Sweep& sweep);

// As above, in aligned columns for a terminal, and the row without any change; only the first numbers of a row that has
// many, as the last line says.
void write_text(std::ostream& out, const Sweep& sweep);

}  // namespace decoderscope::core::sweep
