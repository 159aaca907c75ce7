#pragma once

#include "engine/decoder/initial_weights.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "engine/tokenizer/vocabulary.h"

#include <memory>

// Small models that read letters, with initial weights.
namespace decoderscope::testing {

using namespace decoderscope::decoder;
using namespace decoderscope::load;
using namespace decoderscope::tokenizer;

// <pad> 0, <bos> 1, <eos> 2, a 3, b 4, … e 7.
inline constexpr const char* kLetters = R"({"tokens": ["<pad>", "<bos>", "<eos>", "a", "b", "c", "d", "e"],
    "pad": "<pad>", "beginning": "<bos>", "end": "<eos>"})";

inline std::shared_ptr<const Model> model_of(std::string config_json, Tokenizer tokenizer) {
    Model model{{.name = "letters"}, std::move(config_json)};
    const Config config = model.config();
    model.weights = initial_weights(config, 1);
    model.example = example_inputs(config, 0);
    model.tokenizer = tokenizer;
    model.encoder_tokenizer = std::move(tokenizer);
    return std::make_shared<const Model>(std::move(model));
}

inline constexpr const char* kDecoder = R"({"model_type": "decoderscope", "d_model": 8, "nhead": 2, "num_layers": 1,
    "vocab_size": 8, "positional_encoding": "sinusoidal", "lm_head": true, "max_positions": 40})";
inline constexpr const char* kEncoderDecoder = R"({"model_type": "decoderscope", "d_model": 8, "nhead": 2,
    "num_layers": 1, "encoder_layers": 1, "cross_attention": true, "vocab_size": 8,
    "positional_encoding": "sinusoidal", "lm_head": true})";

inline std::shared_ptr<const Model> letter_decoder() {
    return model_of(kDecoder, parse_character_vocabulary(kLetters));
}
inline std::shared_ptr<const Model> letter_translator() {
    return model_of(kEncoderDecoder, parse_character_vocabulary(kLetters));
}
// Pieces for labels only: ids are typed.
inline std::shared_ptr<const Model> labelled_decoder() {
    return model_of(kDecoder, Tokenizer({"<s>", "one", "two", "three"}, {}, nullptr));
}
// A token for each byte, and no merges.
inline std::shared_ptr<const Model> byte_decoder() {
    std::vector<std::string> pieces;
    for (int byte = 0; byte < 256; ++byte) pieces.emplace_back(1, static_cast<char>(byte));
    const auto cut = [](std::string_view text) {
        std::vector<Index> ids;
        for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
        return ids;
    };
    return model_of(R"({"model_type": "decoderscope", "d_model": 8, "nhead": 2, "num_layers": 1, "vocab_size": 256})",
                    Tokenizer(std::move(pieces), {}, cut));
}

}  // namespace decoderscope::testing
