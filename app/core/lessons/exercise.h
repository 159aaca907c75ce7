#pragma once

#include "app/core/run/scenario.h"
#include "engine/graph/plan.h"

#include <string>

namespace decoderscope::core::lessons {

// A lesson of one question, as a file's text: on this model, text and edits, find this cell, of which `says` is what
// it says, `where` its place (step::shown_place), and `value` its number. In the language of the moment. Throws Error
// if a lesson can't open what is open.
[[nodiscard]] std::string exercise_about(const Scenario& scenario, const Plan& plan, const Step& step, const Cell& cell,
                                         const std::string& says, std::string where, float value);
// Writes it beside others of its kind in the current folder, and returns its path.
[[nodiscard]] std::string write_exercise(const std::string& text);

}  // namespace decoderscope::core::lessons
