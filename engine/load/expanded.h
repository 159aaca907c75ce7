#pragma once

#include "engine/load/checkpoint.h"
#include "engine/load/state_dict.h"

#include <memory>
#include <set>
#include <string>

// Parameters that a file stores in fewer bits. Their numbers stay in the mapped file, and are expanded when they are
// first read, such as by the first product with them.
namespace decoderscope::load {

// Takes the parameters of which every number is stored in fewer bits out of a state dict.
[[nodiscard]] StateDict take_packed(StateDict& state_dict, const Checkpoint& checkpoint);

// The stored tensors that parameters are made of.
[[nodiscard]] std::set<std::string> stored_tensors(const StateDict& state_dict);

// These parameters, each expanded when it is first read, by whichever thread does so first.
[[nodiscard]] Weights expanded_when_read(const StateDict& packed, const std::shared_ptr<const Checkpoint>& checkpoint);

// A parameter's numbers, put together from the tensors that it comes from.
[[nodiscard]] Tensor assembled(const StateDict& state_dict, const std::string& parameter, const Checkpoint& checkpoint);

}  // namespace decoderscope::load
