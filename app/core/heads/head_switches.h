#pragma once

#include "engine/edit.h"

#include <string>
#include <vector>

namespace decoderscope {

// The factor that the edits put on a head's z: 1 where none does, 0 where it is off.
[[nodiscard]] float head_factor(const std::vector<Edit>& edits, const std::string& attention, Index head);

// Whether all the other heads of this attention are off, and this one is not. `heads` is how many it has.
[[nodiscard]] bool is_solo(const std::vector<Edit>& edits, const std::string& attention, Index head, Index heads);

// The edits with all the other heads of this attention switched off and this one as the model has it.
[[nodiscard]] std::vector<Edit> with_solo(std::vector<Edit> edits, const std::string& attention, Index head,
                                          Index heads);

// The edits with every head of this attention as the model has it.
[[nodiscard]] std::vector<Edit> without_factors(std::vector<Edit> edits, const std::string& attention);

}  // namespace decoderscope
