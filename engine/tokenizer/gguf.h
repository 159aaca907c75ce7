#pragma once

#include <nlohmann/json_fwd.hpp>

namespace decoderscope::tokenizer {

// The tokenizer in a GGUF file's metadata, as a tokenizer.json would have it; null if there is none. If its kind isn't
// known here, only the pieces are of use.
[[nodiscard]] nlohmann::json tokenizer_of_gguf(const nlohmann::json& metadata);

// What such metadata would be of a list of SentencePiece's BPE, [{"piece": " the", "score": -6}, …], whose scores are
// the merges' ranks (llama2.c's tokenizer.bin in JSON); null if the list doesn't say how a text is cut.
[[nodiscard]] nlohmann::json metadata_of_pieces(const nlohmann::json& list);

}  // namespace decoderscope::tokenizer
