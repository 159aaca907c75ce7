#pragma once

#include "engine/model/tokenizer/vocabulary_ids.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

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

}  // namespace decoderscope
