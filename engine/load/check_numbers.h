#pragma once

#include "engine/base/message.h"
#include "engine/load/checkpoint.h"
#include "engine/load/names/recognise_names.h"
#include "engine/load/recognised.h"
#include "engine/load/state_dict.h"
#include "engine/model/config.h"

#include <vector>

namespace decoderscope::load {

// Questions that names and shapes leave open and the stored numbers settle. Each reads a few tensors from the
// checkpoint.

// A tensor whose name makes it a copy of another must hold the same numbers. Throws Error naming both if it doesn't.
void refuse_false_copies(const names::RecognisedNames& names, const Checkpoint& checkpoint);

// For a module that scales its logits only if the head is the embedding: proposes no scale if their numbers differ.
void propose_by_numbers(Recognised& recognised, const Checkpoint& checkpoint);

// Under positional_encoding=sinusoidal a table of the same numbers may be stored: it is left out, with a sentence that
// says so. Throws Error naming the table if it differs.
[[nodiscard]] std::vector<Sentence> leave_out_sinusoids(StateDict& state_dict, const Config& config,
                                                        const Checkpoint& checkpoint);

}  // namespace decoderscope::load
