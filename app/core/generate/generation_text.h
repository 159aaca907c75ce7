#pragma once

#include "app/core/generate/shown_generation.h"
#include "engine/message.h"

#include <functional>
#include <string>
#include <vector>

// What the Generate tab shows, in sentences with the numbers of the run.
namespace decoderscope {

// How a token is written.
using PieceOf = std::function<std::string(Index token)>;

// Why this token comes next: the likeliest, how far it is ahead, what the cuts left, where the drawn number fell. Empty
// if there is nothing to draw from.
[[nodiscard]] std::vector<Sentence> next_token_sentences(const ShownNextToken& shown, const PieceOf& piece);

// What each row of the logit lens says at a position, and from where on the final answer is first.
[[nodiscard]] std::vector<Sentence> lens_sentences(const LensTable& table, Index position, const PieceOf& piece);

}  // namespace decoderscope
