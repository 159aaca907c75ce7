#pragma once

#include "engine/load/recognised.h"

#include <string>
#include <utility>
#include <vector>

namespace decoderscope::core {

// Tensors of the same meaning in all blocks, as a row of a form: their name beside ours.
struct NamesRow {
    std::string theirs;  // "decoder.layers.*.attn.w_q.weight": * is the block's number
    std::string shape;   // "[16, 12]"
    std::string ours;    // "layers.*.self_attn.q_proj.weight", as a mapping's file has it; several are joined by " + "
    bool open = false;   // not recognised
    std::vector<std::pair<std::string, Index>> tensors;  // each with its block's number

    bool operator==(const NamesRow&) const = default;
};

// What each of a checkpoint's tensors is recognised as; those that aren't recognised come first.
[[nodiscard]] std::vector<NamesRow> names_table(const load::Recognised& recognised);

// The mapping that the rows say. Throws Error naming the tensor whose name can't be read.
[[nodiscard]] load::names::Mapping mapping_of(const std::vector<NamesRow>& rows);

// The names that a row can have.
[[nodiscard]] std::vector<std::string> name_choices(const NamesRow& row);

}  // namespace decoderscope::core
