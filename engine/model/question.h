#pragma once

#include "engine/message.h"

#include <string>
#include <vector>

namespace decoderscope {

// What names and shapes don't determine and what changes the computation: a key of the contract's configuration, or of
// how the tensors are read (kNamingKeys).
struct Question {
    std::string key;
    std::string proposal;              // the default if there is no answer, as --set writes it
    std::vector<std::string> choices;  // empty: any number
    bool required = false;             // the proposal is a guess and needs confirmation
    Sentence why;                      // a few words: what it means, or where the proposal comes from
};

}  // namespace decoderscope
