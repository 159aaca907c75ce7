#pragma once

#include "engine/tensor/tensor.h"
#include "engine/tokenizer/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::tokenizer {

// Tokens and their ids, as vocab.json and tokenizer.json list them.
using TokenIds = std::map<std::string, Index, std::less<>>;

// An object of tokens and ids. Ids count from 0; each has at most one token. Throws Error naming the token and what was
// expected.
[[nodiscard]] TokenIds token_ids(const nlohmann::json& object);

// An id from a JSON file. Throws Error if it is not an id, or is larger than any vocabulary.
[[nodiscard]] Index token_id(const nlohmann::json& id, const std::string& token);

// The tokens by id; empty for an id without one.
[[nodiscard]] std::vector<std::string> tokens_by_id(const TokenIds& ids);

// A vocabulary of characters, as the bundled models store it (vocabulary.json):
//     {"tokens": ["<pad>", "<bos>", "<eos>", "a", "b"], "pad": "<pad>", "beginning": "<bos>", "end": "<eos>"}
// The position in the list is the id. The three special tokens may be absent; every other token is one UTF-8 character.
// Throws Error naming the key or the token, and what was expected.
[[nodiscard]] Tokenizer parse_character_vocabulary(std::string_view json);

// A plain list of pieces that label the ids but don't cut text: strings, or objects with a "piece". Throws Error naming
// the entry and what was expected.
[[nodiscard]] Tokenizer labels_of(const nlohmann::json& list);

// A list of whole words: a word that is not in it is the unknown token.
class WordLevel {
public:
    WordLevel(TokenIds ids, std::string unknown) : ids_(std::move(ids)), unknown_(std::move(unknown)) {}

    // Throws Error naming the word if it is unknown and the list has no token for that.
    void encode(std::string_view word, std::vector<Index>& ids) const;

private:
    TokenIds ids_;
    std::string unknown_;
};

// GPT-2's vocabulary files write each of the 256 bytes as one visible character, so that a token can be any bytes: the
// visible Latin-1 characters represent themselves, and the other 68 bytes are written as U+0100 and following ("Ġ" is a
// space, "Ċ" a line break).

// The character for a byte, in UTF-8.
[[nodiscard]] std::string written_byte(unsigned char byte);

// The bytes written this way; nothing if a character is not in the alphabet.
[[nodiscard]] std::optional<std::string> bytes_written_as(std::string_view written);

// The token of a byte, in vocabularies that spell a character without a token of its own byte by byte: "<0x0A>".
[[nodiscard]] std::string byte_token(unsigned char byte);
// The byte of such a token; nothing if it is another.
[[nodiscard]] std::optional<unsigned char> byte_of_token(std::string_view token);

}  // namespace decoderscope::tokenizer
