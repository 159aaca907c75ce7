#pragma once

#include "app/core/lessons/value.h"
#include "app/core/session/scenario.h"

#include <span>
#include <string_view>

// The functions of expressions that ask about the text, the vocabulary and the configuration.
namespace decoderscope::lessons {

struct TextFunction {
    std::string_view name;
    std::size_t least, most;  // how many arguments
    Value (*call)(const Scenario& scenario, std::span<const Value> arguments);
};

// nullptr if there is none of that name.
[[nodiscard]] const TextFunction* find_text_function(std::string_view name);

// The id of the token with this text. Throws Error if the vocabulary has none.
[[nodiscard]] Index id_of(const Tokenizer& tokenizer, std::string_view text);

}  // namespace decoderscope::lessons
