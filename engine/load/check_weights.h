#pragma once

#include "engine/base/message.h"
#include "engine/load/checkpoint.h"
#include "engine/load/families/family.h"
#include "engine/load/names/recognise_names.h"
#include "engine/load/recognised.h"
#include "engine/load/state_dict.h"
#include "engine/model/config.h"

#include <string>
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

// Whether a file's tensors are those that a configuration needs. Each throws Error naming the tensor and what was
// expected.

// The stored tensor that a parameter comes from, for messages: theirs and ours.
[[nodiscard]] std::string both_names(const StateDict& state_dict, const std::string& name);

// Compares shapes with those that the configuration needs, before any number is read.
void check_shapes(const StateDict& state_dict, const Config& config);

// A tensor that isn't recognised may only have a name of the contract.
void refuse_open_names(const names::RecognisedNames& names, const Config& config);

// Throws Error if a question is unanswered that must be answered because names alone don't settle it.
void refuse_unanswered_names(const names::RecognisedNames& names, const Overrides& answers);

// A family's matrices are stored the same way round in all of its files. Tensors that a given mapping names are as it
// says.
void check_orientation(const names::RecognisedNames& names, const names::Mapping& given, const names::Shapes& stored,
                       const families::ModelFamily& family);

// In GPT-2 an untied head has no bias, and norms that learn nothing have none; with biases of zeros they compute the
// same.
void add_missing_biases(names::Shapes& shapes, const Config& config);

// Under tie_word_embeddings a head may also be stored, if it equals the embedding; it is left out.
void drop_tied_head(Weights& weights, const Config& config);

// What a family's files leave out, because a formula says it: biases of zeros, and Marian's tables of positions. Adds
// their shapes and returns the tables, which make_positions() fills in. Throws Error naming the tensor if a bias that
// the family doesn't have is stored.
[[nodiscard]] std::vector<std::string> add_omitted_parameters(StateDict& state_dict, const Config& config,
                                                              const families::ModelFamily& family);

// Sines in the first half of the columns, cosines in the second, of the angles pos · 10000^(−2i/d_model).
void make_positions(Weights& weights, const std::vector<std::string>& tables);

}  // namespace decoderscope::load
