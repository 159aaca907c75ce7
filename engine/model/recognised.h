#pragma once

#include "engine/message.h"
#include "engine/model/config.h"
#include "engine/model/state_dict.h"

#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// A part of the configuration that changes the computation and that names and shapes don't determine.
struct Question {
    std::string key;                   // of the contract
    std::string proposal;              // the default if there is no answer, as --set writes it
    std::vector<std::string> choices;  // empty: any number
    bool required = false;             // the proposal is a guess and needs confirmation
    Sentence why;                      // a few words: what it means, or where the proposal comes from
};

// What a checkpoint without a config.json is, as far as its names and shapes tell.
struct Recognised {
    Sentence module;                                         // "Hugging Face GPT-2", "torch.nn.TransformerDecoder", …
    std::vector<std::pair<std::string, std::string>> facts;  // what was inferred: "d_model" and "64", …
    std::string config_json;                                 // the facts, and the proposals that need no answer
    std::vector<Question> questions;
    Index queries_per_key = 1;  // more than 1: grouped queries, nhead / num_key_value_heads
};

// Infers what it can. If only some projections have biases, the missing ones become zeros in `state_dict`, which
// computes the same.
[[nodiscard]] Recognised recognise(const Shapes& stored, StateDict& state_dict);

// The config.json with these answers (some may be for other keys). If a required answer is missing, throws Error
// listing what must be answered and what else may be.
[[nodiscard]] std::string answered_config(const Recognised& recognised, const Overrides& answers);

// "norm_first=true, activation=gelu": the proposals that these answers do not override.
[[nodiscard]] std::string taken_unasked(const Recognised& recognised, const Overrides& answers);

}  // namespace decoderscope
