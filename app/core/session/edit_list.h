#pragma once

#include "app/core/session/scenario.h"

#include <vector>

// Lists of edits in which a later edit of the same thing takes the place of an earlier one.
namespace decoderscope {

// The edits without one of the same thing as `edit`.
void remove_target(std::vector<Edit>& edits, const Edit& edit);
void replace_edit(std::vector<Edit>& edits, Edit edit);

// The edits that fit this scenario, which has none itself. Throws Error where it can't be run without any.
[[nodiscard]] std::vector<Edit> fitting_edits(Scenario scenario, const std::vector<Edit>& edits);

}  // namespace decoderscope
