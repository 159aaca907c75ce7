#pragma once

#include "engine/tensor/tensor.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::load::names {

// How a stored tensor becomes a parameter. Axes of size 1 before the last don't count: [1, pos, d_model] is
// [pos, d_model].
enum class RowLayout {
    as_stored,
    transposed,       // [in, out] instead of [out, in]; either of several axes: [d_model, head, d_head]
    by_head,          // several parameters: head 0's rows of each, then head 1's, …
    by_group,         // q, k, v under grouped queries: the rows of the first group's queries, of its k and v, …
    head,             // the rows of one head
    matrix_per_head,  // q, k, v: [head, d_model, d_head]; o: [head, d_head, d_model]; biases: [head, d_head]
    for_every_head,   // [d_head, d_head], the same for each head's own columns
    rows_from,        // without the first rows
    repeated,         // one number for all
    halves_swapped,   // in each head the rows of the second half come first: RoPE that turns the other way
    halves_in_turn,   // in each head the rows of both halves stand in turn: RoPE of neighbouring columns
    expert,           // the matrix of one expert
    // [expert, out, in] of one parameter, or of several whose rows lie one after the other in each expert; or their
    // rows in turn. Transposed it is [expert, in, out]; a bias, which is never transposed, is [expert, out].
    of_experts,
    of_experts_turned,
    of_experts_in_turn,
    of_experts_in_turn_turned,
};

// A contract name, or several whose rows lie one after the other: "layers.0.self_attn.{q,k,v}_proj.weight".
struct Target {
    std::string name;
    RowLayout how = RowLayout::as_stored;
    Index number = 0;  // which head or expert; how many rows are left out

    bool operator==(const Target&) const = default;
};

// Which parameters each stored tensor becomes; one that isn't used has an empty list.
using Mapping = std::map<std::string, std::vector<Target>, std::less<>>;

// The names that a name with braces stands for.
[[nodiscard]] std::vector<std::string> names_of(const std::string& name);

// "layers.0.up_proj.weight, transposed": as a mapping's file has it.
[[nodiscard]] std::string text_of(const Target& target);
// Reads that text. Throws Error naming their tensor and the layouts that there are.
[[nodiscard]] Target target_of(const std::string& theirs, std::string_view text);

// Reads {"their name": "our name", …}; a value may be a list of names, or "" for a tensor that isn't used. Throws Error
// naming the tensor and what was expected if the text isn't such an object, a tensor is in it twice, or two tensors
// become the same parameter.
[[nodiscard]] Mapping parse_mapping(std::string_view json);
// The text that parse_mapping reads.
[[nodiscard]] std::string mapping_to_json(const Mapping& mapping);

}  // namespace decoderscope::load::names
