#pragma once

#include "engine/base/message.h"
#include "engine/graph/edit.h"

#include <cstddef>
#include <string>
#include <vector>

namespace decoderscope::core {

// Edits that a person made together: a row that was masked, the heads that a solo switched off.
struct EditGroup {
    Sentence text;                     // "blocks.0.attn: row 3 masked, 68 cells (batch 0, head 2)"
    std::vector<std::size_t> numbers;  // of the edits in the list, in order
};

// The edits in groups, each edit in one, in the order of their first edits. An edit that belongs to no group is one by
// itself, described by `describe`. Groups are cells of one mask that are set alike (a row, a column, otherwise an
// area), heads of one attention with the same factor, and more than three cells of one tensor.
[[nodiscard]] std::vector<EditGroup> edit_groups(const std::vector<Edit>& edits);

}  // namespace decoderscope::core
