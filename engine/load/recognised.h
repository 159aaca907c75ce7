#pragma once

#include "engine/base/message.h"
#include "engine/load/names/recognise_names.h"
#include "engine/load/state_dict.h"
#include "engine/model/config.h"

#include <string>
#include <utility>
#include <vector>

namespace decoderscope::load {

// What a checkpoint without a config.json is, as far as its names and shapes tell.
struct Recognised {
    Sentence module;                                         // "Hugging Face GPT-2", "torch.nn.TransformerDecoder", …
    std::vector<std::pair<std::string, std::string>> facts;  // what was inferred: "d_model" and "64", …
    std::string config_json;                                 // the facts, and the proposals that need no answer
    std::vector<Question> questions;
    names::RecognisedNames names;  // what each tensor is recognised as
    names::Shapes stored;          // the tensors
    Sentence problem;              // why they aren't a decoder as they were recognised; then there are no questions yet
    Index queries_per_key = 1;     // more than 1: grouped queries, nhead / num_key_value_heads
    Index query_rows = 0;          // nhead · head_dim
    Index width = 0;               // d_model
    bool scaled_if_tied = false;   // the logits are scaled where the head is the embedding
};

// Infers what it can. If only some projections have biases, the missing ones become zeros in `state_dict`, which
// computes the same.
[[nodiscard]] Recognised recognise(const names::Shapes& stored, names::RecognisedNames names, StateDict& state_dict);
// As above, from the stored tensors alone.
[[nodiscard]] Recognised recognise(const names::Shapes& stored, const Overrides& answers = {});

// Proposes another value to the person who is asked, and takes it if there is no answer; does nothing if there is no
// such question.
void propose(Recognised& recognised, const std::string& key, const std::string& value, const Sentence& why);

// Takes what is known from elsewhere (what a recording says) as the answers to the questions that it settles.
void take_hints(Recognised& recognised, const Overrides& hints);

// The config.json with these answers (some may be for other keys). If a required answer is missing, throws Error
// listing what must be answered and what else may be.
[[nodiscard]] std::string answered_config(const Recognised& recognised, const Overrides& answers);

// Whether a question matters under these answers: those about RoPE only if the positions are RoPE.
[[nodiscard]] bool applies(const Recognised& recognised, const Question& question, const Overrides& answers);

// "norm_first=true, activation=gelu": the proposals that these answers do not override.
[[nodiscard]] std::string taken_unasked(const Recognised& recognised, const Overrides& answers);

}  // namespace decoderscope::load
