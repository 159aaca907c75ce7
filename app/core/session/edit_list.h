#pragma once

#include "app/core/session/scenario.h"

#include <vector>

// Lists of edits, where a later edit of the same thing replaces an earlier one.
namespace decoderscope {

// Removes the edit, if any, of the same thing as `edit`.
void remove_target(std::vector<Edit>& edits, const Edit& edit);
void replace_edit(std::vector<Edit>& edits, Edit edit);

// The edits that fit this scenario, which has none itself. Throws Error if it can't be run even without edits.
[[nodiscard]] std::vector<Edit> fitting_edits(Scenario scenario, const std::vector<Edit>& edits);

}  // namespace decoderscope
