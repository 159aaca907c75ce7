#pragma once

#include "engine/edit.h"

#include <string>
#include <vector>

namespace decoderscope {

// The factor that the edits apply to a head's z: 1 if none does, 0 if it is off.
[[nodiscard]] float head_factor(const std::vector<Edit>& edits, const std::string& attention, Index head);

// Whether all other heads of this attention are off, and this one is not. `heads` is how many the attention has.
[[nodiscard]] bool is_solo(const std::vector<Edit>& edits, const std::string& attention, Index head, Index heads);

// The edits with all other heads of this attention switched off and this one as the model has it.
[[nodiscard]] std::vector<Edit> with_solo(std::vector<Edit> edits, const std::string& attention, Index head,
                                          Index heads);

// The edits with every head of this attention as the model has it.
[[nodiscard]] std::vector<Edit> without_factors(std::vector<Edit> edits, const std::string& attention);

}  // namespace decoderscope
