#pragma once

#include "engine/message.h"
#include "engine/model/config.h"
#include "engine/model/state_dict.h"

#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// Something of the configuration that names and shapes don't say and that changes what is computed.
struct Question {
    std::string key;                   // of the contract
    std::string proposal;              // what is taken without an answer, as --set writes it
    std::vector<std::string> choices;  // empty: any number
    bool required = false;             // the proposal is a guess that is not taken unasked
    Sentence why;                      // a few words: what it means, or where the proposal comes from
};

// What a checkpoint without a config.json is, as far as its names and shapes say.
struct Recognised {
    Sentence module;                                         // "Hugging Face GPT-2", "torch.nn.TransformerDecoder", …
    std::vector<std::pair<std::string, std::string>> facts;  // what was read off: "d_model" and "64", …
    std::string config_json;                                 // the facts, and the proposals that need no answer
    std::vector<Question> questions;
    Index queries_per_key = 1;  // more than 1: grouped queries, nhead / num_key_value_heads
};

// Reads off what can be. Biases that some projections have and others leave out become zeros in `state_dict`, which
// compute the same.
[[nodiscard]] Recognised recognise(const Shapes& stored, StateDict& state_dict);

// The config.json under these answers (of which some may be for other keys). Throws Error listing what has to be
// answered, and what else may be, where a required answer is missing.
[[nodiscard]] std::string answered_config(const Recognised& recognised, const Overrides& answers);

// "norm_first=true, activation=gelu": the proposals that these answers leave standing.
[[nodiscard]] std::string taken_unasked(const Recognised& recognised, const Overrides& answers);

}  // namespace decoderscope
