#pragma once

#include "engine/formulas/print.h"

#include <iosfwd>

namespace decoderscope::core::book {

// Writes the book of formulas, section by section: each line's name, its formula, what it is taken from, its kernel,
// and the tensors that it computes in the bundled models. In English.
void write_text(std::ostream& out, formulas::Script script);
// As above, in Markdown, with links to the kernels as from docs/.
void write_markdown(std::ostream& out, formulas::Script script);

}  // namespace decoderscope::core::book
