#pragma once

#include "engine/load/model.h"

#include <string>

namespace decoderscope::load {

// The contents of example.json in a model's folder: a description of the model and what to run it on. Every key is
// optional:
//     {"description": "Writes a word backwards.",
//      "source": ["mask", "transformer"], "target": ["ksam", "remrofsnart"],
//      "look_at": {"step": "blocks.1.cross_attn.pattern", "head": 2},
//      "try": [{"title": "See where the second letter comes from", "look": "The query wrote …", "tab": "step",
//               "step": "blocks.1.cross_attn.pattern", "cell": [0, 2, 1, 3],
//               "set": {"norm_first": "true"}, "edits": [{"edit": "scale_head", …}]}]}
// `source` is what the encoder reads and `target` what the decoder reads, one text per batch row. They are cut into
// tokens by the model's tokenizers, and the shorter ones are padded. `tokens` are a target as ids, for what no text
// gives: "tokens": [[1, 5, 2]]. `targets` beside them say what each is to predict, −100 where nothing is asked:
// "targets": [[-100, 2, 0]]; without them it is the next token.
struct ExampleFile {
    std::string description;  // one line
    std::vector<std::string> source, target;
    std::vector<std::vector<Index>> tokens, targets;
    LookAt look_at;
    std::vector<Trial> trials;

    // Whether it brings inputs.
    [[nodiscard]] bool has_text() const { return !source.empty() || !target.empty() || !tokens.empty(); }
};

// Throws Error naming the key and what was expected.
[[nodiscard]] ExampleFile parse_example_file(std::string_view json);

// Its texts as inputs. Throws Error naming the key if the tokenizer can't encode a text.
[[nodiscard]] Inputs inputs_of(const ExampleFile& example, const tokenizer::Tokenizer& source,
                               const tokenizer::Tokenizer& target);

}  // namespace decoderscope::load
