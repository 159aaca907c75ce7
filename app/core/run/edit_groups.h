#pragma once

#include "engine/base/message.h"
#include "engine/graph/edit.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace decoderscope::core {

// Edits that a person made together: a band, a row that was masked, the heads that a solo switched off. This is what
// is called an edit wherever edits are counted or listed.
struct EditGroup {
    Sentence text;                     // "blocks.0.attn: row 3 masked, 68 cells (batch 0, head 2)"
    std::vector<std::size_t> numbers;  // of the edits in the list, in order
};

// The edits in groups, each edit in one, in the order of their first edits: those of one gesture. Of edits whose
// gesture isn't known (they come from a file), grouped are cells of one mask that are set alike (a row, a column,
// otherwise an area), heads of one attention with the same factor, and more than three cells of one tensor. What stands
// alone is described as `describe` does it.
[[nodiscard]] std::vector<EditGroup> edit_groups(const std::vector<Edit>& edits);
// How many groups that is.
[[nodiscard]] std::size_t count_of_edits(const std::vector<Edit>& edits);
// Their texts.
[[nodiscard]] std::vector<std::string> texts_of_edits(const std::vector<Edit>& edits);
// The first of these texts in a row: "…; …; and 3 more".
[[nodiscard]] std::string first_of_edits(const std::vector<std::string>& texts, std::size_t most);

// Gives the edits that have no number the number of this gesture.
void number_gesture(std::vector<Edit>& edits, std::uint32_t gesture);
// Numbers edits that come from elsewhere by their groups, from 1 on. Returns the highest number in use.
std::uint32_t number_groups(std::vector<Edit>& edits);

}  // namespace decoderscope::core
