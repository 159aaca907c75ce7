#pragma once

#include "engine/train/tasks.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// Special tokens, then each character as a piece.
[[nodiscard]] std::vector<std::string> characters(std::vector<std::string> special, std::string_view ascii);

// Rows of tokens and of the token that each position has to answer, padded as one batch.
[[nodiscard]] Inputs batch_of(const std::vector<std::vector<Index>>& tokens,
                              const std::vector<std::vector<Index>>& answers);

// A text for the encoder and what the decoder has to write.
struct Pair {
    std::string source, target;
};

// The task of an encoder and a decoder: both texts begin with <bos>, the whole target is given, and each position
// answers the next character, the last one <eos>.
[[nodiscard]] Task translation_task(std::string name, std::vector<std::string> source, std::vector<std::string> target,
                                    Index rows, std::function<Pair(Choices&)> draw_pair);

}  // namespace decoderscope
