#pragma once

#include "engine/model/inputs.h"
#include "engine/model/tokenizer/tokenizer.h"
#include "engine/random.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

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
    // The inputs of a batch with so many rows, targets included.
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
// next token is asked for, and the end token where there is one. Throws Error if there is no text or a text can't be
// encoded.
[[nodiscard]] Task text_task(std::string name, const std::vector<std::string>& texts, const Tokenizer& tokenizer,
                             Index longest);

// Throws Error naming the key of the configuration that doesn't fit the task, and what was expected.
void check_task(const Task& task, const Config& config);

// The vocabulary.json of some pieces, special tokens first: "<pad>", "<bos>", "<eos>".
[[nodiscard]] std::string vocabulary_json(const std::vector<std::string>& pieces);

}  // namespace decoderscope
