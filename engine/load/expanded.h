#pragma once

#include "engine/load/checkpoint.h"
#include "engine/load/state_dict.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>

// Parameters that a file stores in fewer bits. Their numbers stay in the mapped file, and are expanded when they are
// first read, such as by the first product with them. As many as there is room for stay in memory; each step that reads
// one of the others expands it, and frees it afterwards.
namespace decoderscope::load {

// Takes out of a state dict the parameters that are stored entirely in fewer bits.
[[nodiscard]] StateDict take_packed(StateDict& state_dict, const Checkpoint& checkpoint);

// The stored tensors that parameters are made of.
[[nodiscard]] std::set<std::string> stored_tensors(const StateDict& state_dict);

// What they take as floats, in bytes: all of them, and the largest.
struct ExpandedBytes {
    std::uint64_t all = 0, largest = 0;
};
[[nodiscard]] ExpandedBytes expanded_bytes(const StateDict& packed);

// How many bytes of them may stay in memory if at most `most` may be used and `others` of that already are: all, or
// what is left beside the largest, which is expanded and then put into the order that products read. Throws Error
// naming the file if not even that fits.
[[nodiscard]] std::uint64_t room_to_stay(const ExpandedBytes& bytes, std::uint64_t others, std::uint64_t most,
                                         const std::string& file);

// These parameters, each expanded when it is first read, by whichever thread does so first. The first that fit into
// the room stay there as long as the model does: a pass reads all of them in turn, so that freeing one for another
// would save nothing.
[[nodiscard]] Weights expanded_when_read(const StateDict& packed, const std::shared_ptr<const Checkpoint>& checkpoint,
                                         std::uint64_t room);

// A parameter's numbers, put together from the tensors that it comes from.
[[nodiscard]] Tensor assembled(const StateDict& state_dict, const std::string& parameter, const Checkpoint& checkpoint);

}  // namespace decoderscope::load
