#pragma once

#include "engine/model/config.h"
#include "engine/model/mapping.h"
#include "engine/model/names/modules.h"
#include "engine/model/question.h"

#include <string>
#include <vector>

namespace decoderscope::names {

// A module whose place in a block is known: "self_attn.q_proj", "norm1".
struct Assigned {
    Module module;
    std::string name;  // in the contract, without .weight and .bias
    How how = How::as_stored;
    Index number = 0;  // of a head
};

// What recognition knows and asks while it works on a model.
struct Context {
    Index width = 0;                 // d_model
    Overrides answers;               // to the questions below, by key
    bool norm_at_embedding = false;  // jadore801120's: a layer_norm beside the blocks stands before them
    bool one_by_one = false;         // gpt-fast's: wqkv is q, then k, then v
    std::vector<Question> questions;

    // The answer to a question, which is asked once for the whole model.
    std::string ask(Question question);
    [[nodiscard]] bool is_asked(std::string_view key) const;
};

// Takes the modules that `chosen` accepts out of a list.
template <class Chosen>
Modules take(Modules& from, Chosen chosen) {
    Modules taken;
    std::erase_if(from, [&](const Module& module) {
        if (!chosen(module)) return false;
        taken.push_back(module);
        return true;
    });
    return taken;
}

[[nodiscard]] bool names_norm(const Words& words);
[[nodiscard]] bool names_attention(const Words& words);
// The encoder's side, or what a decoder reads of it.
[[nodiscard]] bool names_encoder(const Words& words);
[[nodiscard]] bool names_decoder(const Words& words);
[[nodiscard]] bool names_feed_forward(const Words& words);

}  // namespace decoderscope::names
