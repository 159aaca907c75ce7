#pragma once

#include "engine/base/index.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// From messages to labels: the text that a format, or a chat template that Python ran, makes of them; which message
// each token belongs to; and which tokens the model is trained on.
namespace decoderscope::chat {

// What is trained: each answer of the assistant with the token that ends it, the last answer alone, or every token.
enum class Trained { answers, last_answer, everything };
inline constexpr std::array<std::string_view, 3> kTrained = {"answers", "last-answer", "everything"};

// How messages become a text and its labels. All that the result depends on, as a value.
struct Conversation {
    std::string messages;                        // JSON, as read_messages() takes it
    std::string name;                            // of the template: one of formats(), or the checkpoint's own
    std::string written;                         // what the template made of them, as JSON: Python's. Empty: a format
    std::map<std::string, std::string> special;  // bos_token, eos_token, for a format
    std::string variables;                       // for the template: a JSON object of further variables; empty: none
    std::string date;                            // for the template, if it asks for it: "2026-11-27"; empty: today
    Trained trained = Trained::answers;
    bool generation_prompt = false;   // the beginning of an answer stands at the end
    bool special_tokens = false;      // the tokenizer adds its own tokens around the text as well
    std::optional<Index> max_length;  // tokens beyond are cut off
    bool operator==(const Conversation&) const = default;
};

}  // namespace decoderscope::chat
