#pragma once

#include "engine/model/tokenizer/tokenizer.h"
#include "engine/model/tokenizer/vocabulary_ids.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope {

using WrittenMerge = std::pair<std::string, std::string>;

// What a byte-level byte-pair encoding is made from, written in the byte alphabet.
struct ByteLevelTables {
    TokenIds ids;
    std::vector<WrittenMerge> merges;  // the first are merged first
    TokenIds added;                    // tokens that are found in a text as they stand, not written in the alphabet
    std::optional<Index> beginning;    // stands before every text
};

// GPT-2's tokenizer of these tables; it can write any UTF-8. Throws Error naming a merge that is not in the vocabulary.
[[nodiscard]] Tokenizer byte_level_tokenizer(const ByteLevelTables& tables);

// Their pieces as labels alone, where the text is cut in another way than GPT-2's.
[[nodiscard]] Tokenizer byte_level_labels(const ByteLevelTables& tables);

// GPT-2's two files: vocab.json, an object of tokens and their ids, and merges.txt, a merge a line. Throw Error naming
// the token or the line.
[[nodiscard]] TokenIds parse_vocab_json(std::string_view json);
[[nodiscard]] std::vector<WrittenMerge> parse_merges(std::string_view text);

// "Ġ t". Throws Error where these are not two.
[[nodiscard]] WrittenMerge parse_merge(std::string_view line);

}  // namespace decoderscope
