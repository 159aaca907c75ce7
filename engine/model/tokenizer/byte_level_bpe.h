#pragma once

#include "engine/model/tokenizer/byte_pairs.h"
#include "engine/model/tokenizer/tokenizer.h"
#include "engine/model/tokenizer/vocabulary_ids.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// The tables of a byte-level byte-pair encoding, written in the byte alphabet.
struct ByteLevelTables {
    TokenIds ids;
    std::vector<WrittenMerge> merges;  // in order of priority
    TokenIds added;                    // tokens matched literally in a text, not written in the alphabet
    std::optional<Index> beginning;    // put before every text
};

// GPT-2's tokenizer with these tables; it can encode any UTF-8. Throws Error naming a merge that is not in the
// vocabulary.
[[nodiscard]] Tokenizer byte_level_tokenizer(const ByteLevelTables& tables);

// The token at which generation stops, by the names that models give it.
[[nodiscard]] std::optional<Index> end_token(const TokenIds& ids);

// GPT-2's two files: vocab.json, an object of tokens and their ids, and merges.txt, one merge per line. Both throw
// Error naming the token or the line.
[[nodiscard]] TokenIds parse_vocab_json(std::string_view json);
[[nodiscard]] std::vector<WrittenMerge> parse_merges(std::string_view text);

// "Ġ t". Throws Error if these are not two.
[[nodiscard]] WrittenMerge parse_merge(std::string_view line);

}  // namespace decoderscope
