#pragma once

#include "engine/load/checkpoint.h"
#include "engine/load/state_dict.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>

// Parameters that a file stores in fewer bits. Their numbers stay in the mapped file, and are expanded when they are
// first read, such as by the first product with them. As many as there is room for stay in memory; others are expanded
// by each step that reads them, and freed behind it.
namespace decoderscope::load {

// Takes the parameters of which every number is stored in fewer bits out of a state dict.
[[nodiscard]] StateDict take_packed(StateDict& state_dict, const Checkpoint& checkpoint);

// The stored tensors that parameters are made of.
[[nodiscard]] std::set<std::string> stored_tensors(const StateDict& state_dict);

// What they take as floats, in bytes: all of them, and the largest.
struct ExpandedBytes {
    std::uint64_t all = 0, largest = 0;
};
[[nodiscard]] ExpandedBytes expanded_bytes(const StateDict& packed);

// How many bytes of them may stay in memory, where `most` may be filled, and `others` of it are: all, or what is left
// beside the largest, which is expanded and then put into the order that products read. Throws Error naming the file if
// not even that fits.
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
