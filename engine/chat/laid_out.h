#pragma once

#include "engine/base/message.h"
#include "engine/chat/conversation.h"
#include "engine/model/inputs.h"
#include "engine/tokenizer/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::chat {

// Where a byte of a text came from.
struct Origin {
    std::int32_t message = -1;  // the message whose turn wrote it, or whose content it is; −1: none
    bool content = false;       // it is the message's own, not the template's
    bool marked = false;        // it was written between {% generation %} and {% endgeneration %}
    bool operator==(const Origin&) const = default;
};

// UTF-8, and where each byte came from.
struct Text {
    std::string bytes;
    std::vector<Origin> origins;  // [byte]

    void append(std::string_view more, Origin origin);
};

// One text as tokens.
struct LaidOutRow {
    std::vector<std::string> roles;  // [message]
    Text text;                       // as the template wrote it
    std::vector<Index> tokens;       // [pos]
    std::vector<Origin> origins;     // [pos]: of the token's first byte that is a message's content, or else its first
    std::vector<bool> trained;       // [pos]: whether the token before is to predict it
    Index cut = 0, trained_cut = 0;  // how many tokens max_length cut off, and how many of these were to be trained
};

// What is right or wrong with a conversation, in a sentence.
struct Finding {
    Sentence what;
    bool wrong = false;
};

struct LaidOut {
    std::vector<LaidOutRow> rows;
    std::vector<std::pair<Index, Index>> special;  // each special token of the texts, and how often it is there
    std::vector<Finding> findings;
};

// The formats that the program writes by itself (assets/tables/chat_templates.json), the first for any vocabulary.
[[nodiscard]] const std::vector<std::string>& formats();

// Messages as JSON: a list of objects with "role" and "content", {"messages": […]}, or several of either: a list, or
// one per line, as files of training examples have them. -> [row] a list of messages each. Throws Error naming the row,
// the message and what was expected.
[[nodiscard]] std::vector<nlohmann::ordered_json> read_messages(std::string_view json);

// A conversation from a file: messages, or what `python3 -m decoderscope chat` wrote, which says itself how it was
// made. `given` has the rest. Throws Error as read_messages(), or naming the key and what was expected.
[[nodiscard]] Conversation conversation_in(const std::string& json, Conversation given);

// Throws Error naming the message, or the text that has no token; or the command that lays out what isn't in a format.
[[nodiscard]] LaidOut laid_out(const Conversation& conversation, const tokenizer::Tokenizer& tokenizer);

// The labels as PyTorch's losses take them: each position's own token, or −100 where it is not trained.   -> [pos]
[[nodiscard]] std::vector<Index> labels_of(const LaidOutRow& row);

// The rows as a batch to run on: tokens, the mask of what isn't padding, and as targets the label of the next position.
[[nodiscard]] Inputs inputs_of(const LaidOut& laid_out, const tokenizer::Tokenizer& tokenizer);

// Which bytes of a text each token stands for.   -> [pos] (first, count). Throws Error naming the token that can't be
// found there: a normalizer may have changed the text.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> spans_of(std::string_view text,
                                                                        const std::vector<Index>& tokens,
                                                                        const tokenizer::Tokenizer& tokenizer);

}  // namespace decoderscope::chat
