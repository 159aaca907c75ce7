#pragma once

#include "engine/base/random.h"
#include "engine/model/inputs.h"
#include "engine/tokenizer/tokenizer.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::train {

// Random choices, one after another.
class Choices {
public:
    Choices(std::uint64_t seed, std::string_view stream) : random_(seed, stream) {}

    // A whole number from 0 to count − 1.
    [[nodiscard]] Index below(Index count);
    // A whole number from first to last, both included.
    [[nodiscard]] Index between(Index first, Index last) { return first + below(last - first + 1); }

private:
    RandomStream random_;
    std::uint64_t next_ = 0;
};

// What a model can be trained to do: its vocabularies, and batches of examples without end.
struct Task {
    std::string name;
    std::vector<std::string> vocabulary;          // the piece of each id
    std::vector<std::string> encoder_vocabulary;  // empty: no encoder
    Index rows = 32;                              // of a batch, as its bundled model was trained
    // The inputs of a batch with that many rows, targets included.
    std::function<Inputs(Choices& choices, Index rows)> draw_batch;

    // The batch of a step (the first is 1): it depends on seed and step alone.
    [[nodiscard]] Inputs batch(std::uint64_t seed, Index step, Index batch_rows) const;
};

// The tasks of the bundled models, and "reversal", the same as "reverse" for a decoder alone: <bos>word<eos>answer.
[[nodiscard]] std::span<const std::string_view> task_names();
// The task of that name; "reverse-post-norm" has that of "reverse". Throws Error naming the tasks if there is none, and
// for "verses", which needs its texts (text_task).
[[nodiscard]] Task find_task(std::string_view name);

// The words of the reversal tasks: from 1 to so many letters.
[[nodiscard]] Task reversal_task(Index longest);
[[nodiscard]] Task reverse_task(Index longest);

// Texts to be continued, as `verses` continues the Bible: a batch has some of them, each up to `longest` tokens; every
// next token is asked for, and the end token if there is one. Throws Error if there is no text or a text can't be
// encoded.
[[nodiscard]] Task text_task(std::string name, const std::vector<std::string>& texts,
                             const tokenizer::Tokenizer& tokenizer, Index longest);

// Throws Error naming the key of the configuration that doesn't fit the task, and what was expected.
void check_task(const Task& task, const Config& config);

// The vocabulary.json of some pieces, special tokens first: "<pad>", "<bos>", "<eos>".
[[nodiscard]] std::string vocabulary_json(const std::vector<std::string>& pieces);

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

// The task of `dates`: a day of the years 1900 to 2099 in one of seven spellings, sometimes in lower case, is written
// as ISO 8601 does. About one day in 73 is held out.
[[nodiscard]] Task dates_task();

}  // namespace decoderscope::train
