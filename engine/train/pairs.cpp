#include "engine/train/pairs.h"

#include "engine/model/token_batch.h"
#include "engine/model/tokenizer/character_vocabulary.h"
#include "engine/ops/kinds.h"

namespace decoderscope {

std::vector<std::string> characters(std::vector<std::string> special, std::string_view ascii) {
    for (const char character : ascii) special.emplace_back(1, character);
    return special;
}

Inputs batch_of(const std::vector<std::vector<Index>>& tokens, const std::vector<std::vector<Index>>& answers) {
    TokenBatch given = padded_batch(tokens, axis::pos);
    Inputs inputs;
    inputs.tokens = std::move(given.tokens);
    inputs.attention_mask = std::move(given.mask);
    inputs.targets = padded_batch(answers, axis::pos, static_cast<Index>(kLeftOut)).tokens;
    return inputs;
}

Task translation_task(std::string name, std::vector<std::string> source, std::vector<std::string> target, Index rows,
                      std::function<Pair(Choices&)> draw_pair) {
    const Tokenizer read = parse_character_vocabulary(vocabulary_json(source));
    const Tokenizer written = parse_character_vocabulary(vocabulary_json(target));
    const auto draw_batch = [read, written, draw_pair = std::move(draw_pair)](Choices& choices, Index count) {
        std::vector<std::vector<Index>> sources, tokens, answers;
        for (Index row = 0; row < count; ++row) {
            const Pair pair = draw_pair(choices);
            sources.push_back(read.encode(pair.source));
            tokens.push_back(written.encode(pair.target));
            answers.emplace_back(tokens.back().begin() + 1, tokens.back().end());
            answers.back().push_back(*written.special().end);
        }
        Inputs inputs = batch_of(tokens, answers);
        TokenBatch encoder = padded_batch(sources, axis::src);
        inputs.encoder_tokens = std::move(encoder.tokens);
        inputs.encoder_attention_mask = std::move(encoder.mask);
        return inputs;
    };
    return {std::move(name), std::move(target), std::move(source), rows, draw_batch};
}

}  // namespace decoderscope
