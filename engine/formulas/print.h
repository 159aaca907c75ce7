#pragma once

#include "engine/formulas/formula.h"

namespace decoderscope::formulas {

enum class Script : std::uint8_t { unicode, ascii };

// The formula on one line, as `parse` reads it: "pattern[q, k] = e[q, k] / Σ_j e[q, j] where …".
[[nodiscard]] std::string text_of(const Formula& formula, Script script = Script::unicode);
[[nodiscard]] std::string text_of(const Definition& definition, Script script = Script::unicode);

// May give a text for a node in place of its own: explanations put numbers in. `within` is how tightly it must bind.
using Instead = std::function<std::optional<std::string>(const Expr&, int within)>;
// The expression; in parentheses if it binds less tightly than `level` (words.h).
[[nodiscard]] std::string text_of(const Expr& e, Script script = Script::unicode, int level = 0,
                                  const Instead& instead = {});
// The shortest decimal that reads back as the number: "0.044715", "1e−9".
[[nodiscard]] std::string written(double number, Script script = Script::unicode);

}  // namespace decoderscope::formulas
