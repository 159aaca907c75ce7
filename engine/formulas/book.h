#pragma once

#include "engine/formulas/parse.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::formulas {

// A line of the book.
struct BookLine {
    std::string section;             // "Attention"
    std::string label;               // a function's: its name, and the index that it runs along: "softmax_k"
    std::optional<Formula> formula;  // nothing for what the language can't say
    std::string source;              // a class of PyTorch, papers, families: "torch.nn.LayerNorm; Ba et al. 2016"
    std::string kernel;              // the file that computes it faster; empty: computed as it is written
    std::string computed_as;         // the lines that steps compute instead: "linear, soft_cap"; empty: none
    std::string why_not;             // why no operation is made from the formula, or how one departs from it
};

// Formulas by their labels, and the functions that they call. Its text has a line each, `label: formula` or `fn name(x)
// = …`; a line that begins with a space continues the one before. A line's own comment begins with ` #` and has its
// parts, separated by "; ": sources, "kernel: file" and "as: labels". `! labels: why` says why no operation is made
// from these, and `# ---- ` begins a section; other lines that begin with `#` are comments.
struct Book {
    Functions functions;
    std::map<std::string, Formula, std::less<>> formulas;
    std::vector<BookLine> lines;  // all, in their order

    // nullptr if there is none.
    [[nodiscard]] const BookLine* find(std::string_view label) const;
};

// The program's own, book.txt; read when it is first asked for.
[[nodiscard]] const Book& the_book();
// Throws FormulaError that names the line.
[[nodiscard]] Book read_book(std::string_view text);

}  // namespace decoderscope::formulas
