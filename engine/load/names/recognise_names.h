#pragma once

#include "engine/load/names/mapping.h"
#include "engine/load/names/modules.h"
#include "engine/model/config.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::load::names {

// A stored tensor that is another once more: a table that several modules share.
struct Copy {
    std::string tensor, of;
};

// What a checkpoint's tensors are, judging by the words in their names, by their shapes, and by what a decoder must
// have.
struct RecognisedNames {
    Mapping mapping;
    std::vector<std::string> open;    // not recognised; in the mapping under their own names
    std::vector<Question> questions;  // what neither words nor shapes settle
    std::vector<Copy> copies;         // left out; must hold the same numbers
};

// The answers are to such questions; others are ignored.
[[nodiscard]] RecognisedNames recognise_names(const Shapes& stored, const Overrides& answers);

// Questions about how tensors are read that aren't keys of the configuration:
// - qkv_order: one_by_one, by_head or by_group: the rows of a matrix that is q, k and v;
// - gate_proj: which of an MLP's two parallel matrices, or which half of one, passes the activation;
// - stored_as: out_in, as Linear has its weight, or in_out;
// - positions_from: how many rows of a table of positions come before that of position 0 (2 in OPT and BART).
// - rope_halves: as_usual, or swapped if RoPE rotates the other way (nanochat).
inline constexpr std::array<std::string_view, 5> kNamingKeys = {"qkv_order", "gate_proj", "stored_as", "positions_from",
                                                                "rope_halves"};
[[nodiscard]] bool is_naming_key(std::string_view key);

// Names as a given mapping says; those that it doesn't name stay as they were recognised. If it names every stored
// tensor that isn't a buffer, no question is left. Throws Error naming a tensor that isn't stored.
[[nodiscard]] RecognisedNames with_mapping(RecognisedNames recognised, const Mapping& given, const Shapes& stored);

}  // namespace decoderscope::load::names
