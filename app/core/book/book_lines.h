#pragma once

#include "engine/formulas/book.h"
#include "engine/formulas/print.h"
#include "engine/graph/plan.h"

#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The book of formulas (engine/formulas/book.h) as a reader sees it, and the steps that its lines compute.
namespace decoderscope::core::book {

// The formula, a definition per row: its own, then those that it names, which begin with spaces. Without a formula,
// nothing.
[[nodiscard]] std::vector<std::string> rows_of(const formulas::BookLine& line,
                                               formulas::Script script = formulas::Script::unicode);

// The lines whose label, formula, source or section has each word that was typed, in the book's order; all of them if
// none was.
[[nodiscard]] std::vector<const formulas::BookLine*> lines_matching(std::string_view typed);

// The line that a step is computed by; nullptr if the book has none.
[[nodiscard]] const formulas::BookLine* line_of(const Step& step);

// The steps of a plan that each line computes, by its label, in the order of computation.
using StepsByLine = std::map<std::string_view, std::vector<Ref>, std::less<>>;
[[nodiscard]] StepsByLine steps_by_line(const Plan& plan);

// Writes the book of formulas, section by section: each line's name, its formula, what it is taken from, its kernel,
// and the tensors that it computes in the bundled models. In English.
void write_text(std::ostream& out, formulas::Script script);
// As above, in Markdown, with links to the kernels as from docs/.
void write_markdown(std::ostream& out, formulas::Script script);

}  // namespace decoderscope::core::book
