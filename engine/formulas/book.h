#pragma once

#include "engine/formulas/parse.h"

#include <map>

namespace decoderscope::formulas {

// Formulas by their labels, and the functions that they call. Its text has a line each, `label: formula` or `fn name(x)
// = …`; a line that begins with a space continues the one before, and a `#` begins a comment.
struct Book {
    Functions functions;
    std::map<std::string, Formula, std::less<>> formulas;
};

// The program's own, book.txt; read when it is first asked for.
[[nodiscard]] const Book& the_book();
// Throws FormulaError that names the line.
[[nodiscard]] Book read_book(std::string_view text);

}  // namespace decoderscope::formulas
