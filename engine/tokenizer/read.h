#pragma once

#include "engine/base/message.h"
#include "engine/model/config.h"
#include "engine/tensor/tensor.h"
#include "engine/tokenizer/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::tokenizer {

// A tokenizer and, if it only labels, why it can't cut a text.
struct ReadTokenizer {
    Tokenizer tokenizer;
    Sentence labels_alone_because;  // empty if it cuts text correctly
};

// Hugging Face's tokenizer.json: normalizer, pre-tokenizer, model (BPE, Unigram, WordLevel), post-processor and
// decoder, with the ids of Hugging Face's own library. If a part of it is unknown here, only the pieces are kept, as
// labels, and the sentence names its key: cutting text almost correctly would be worse. "truncation" and "padding" are
// ignored. Throws Error naming the key or token, and what was expected, if the vocabulary can't be read.
[[nodiscard]] ReadTokenizer parse_tokenizer_json(std::string_view json);
[[nodiscard]] ReadTokenizer read_tokenizer_json(const nlohmann::json& file);

// A list of pieces (pieces.json), strings or objects with a "piece". They label the ids; if each has a "score", the
// ranks of SentencePiece's BPE, they cut a text, too. Throws Error naming the entry and what was expected.
[[nodiscard]] Tokenizer parse_pieces(std::string_view json);

// What a model's configuration says of its tokens.
struct SpecialIds {
    std::vector<Index> ends;             // eos_token_id, one or several
    std::optional<Index> decoder_start;  // decoder_start_token_id
};

// From generation_config.json and config.json in a folder, the first of them that says it. What is no id is ignored:
// other readers check these files.
[[nodiscard]] SpecialIds read_special_ids(const std::filesystem::path& folder);

// The decoder's and the encoder's tokens.
struct Tokenizers {
    Tokenizer target;
    Tokenizer source;
    std::vector<Sentence> remarks;  // what was noticed, one sentence each
};

// The tokenizers in a model's folder, from the first of these that exists: vocabulary.json (characters), tokenizer.json
// (Hugging Face's), vocab.json with merges.txt (GPT-2's), pieces.json. The source has the same tokens, or those of
// encoder_vocabulary.json (characters). Where an encoder makes the memory, a target begins with the model's
// decoder_start_token_id and has no token behind it; generation stops at each eos_token_id.
//
// Ids of the model without a piece are shown in digits, with a remark. Throws Error naming the file, the key or token,
// and what was expected; also if there are more tokens than the model has.
[[nodiscard]] Tokenizers read_tokenizers(const std::filesystem::path& folder, const Config& config);

// As above, for a tokenizer.json that a file at `path` stands for; null: none. Throws Error naming that file.
[[nodiscard]] Tokenizers tokenizers_of(const nlohmann::json& json, const std::string& path, const SpecialIds& ids,
                                       const Config& config);

}  // namespace decoderscope::tokenizer
