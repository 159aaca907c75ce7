#pragma once

#include "app/core/tabs/bisect/bisection.h"
#include "engine/base/json.h"

#include <string>
#include <vector>

namespace decoderscope::core::bisect {

// A bisection as the command line prints it.
[[nodiscard]] std::string bisection_text(const Bisection& bisection);

// The parts of this text. What was found, in a few sentences.
[[nodiscard]] std::vector<std::string> bisection_head(const Bisection& bisection);
// Of this, the line of the recorded program that the first difference comes from: "model.py:57: att = F.softmax(att,
// dim=2)", the form in which editors jump to it; empty if not known.
[[nodiscard]] std::string line_of_code(const Bisection& bisection);
// What the recording lacks: "Note: the file is cut short: …".
[[nodiscard]] std::vector<std::string> bisection_notes(const Bisection& bisection);
// What is said if no cause is known: what theirs are to ours, if that was found.
[[nodiscard]] std::string without_cause(const Bisection& bisection);
// What a cause leaves: "With it, everything agrees."
[[nodiscard]] std::string cause_remark(const Cause& cause);
// "no-scale: The scores are not divided by √d_head. With it, everything agrees."
[[nodiscard]] std::string cause_line(const Cause& cause);
[[nodiscard]] std::string isolated_line(const IsolatedBlock& isolated);
// A match and its difference: how it was aligned, and the worst cell.
[[nodiscard]] std::vector<std::string> check_lines(const TensorCheck& check);
// "4.1e-07", relative to the tensor's magnitude; "equal", "another shape".
[[nodiscard]] std::string difference_of(const TensorCheck& check);

// A line of code as JSON: file, line, text; null if it isn't known.
[[nodiscard]] OrderedJson json_of(const trace::CodeLine& line);
// The bisection as the contract's JSON: first, theirs, largest, cell, agreed_before, unmatched; and what else was
// found.
[[nodiscard]] std::string bisection_json(const Bisection& bisection);

}  // namespace decoderscope::core::bisect
