#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/byte_level.h"
#include "engine/model/tokenizer/metaspace.h"
#include "engine/model/tokenizer/split.h"
#include "engine/model/tokenizer/split_by_class.h"
#include "engine/model/tokenizer/stretch.h"

#include <variant>
#include <vector>

namespace decoderscope {

// The second part of a tokenizer: steps that cut a text into stretches. No token crosses a cut.
using PreTokenizerStep = std::variant<ByteLevel, SplitAtPattern, Metaspace, SplitAtSpaces, SplitWordsAndSigns,
                                      SplitNumbers, SplitPunctuation>;
using PreTokenizer = std::vector<PreTokenizerStep>;

// tokenizer.json's "pre_tokenizer". Throws Error naming the key, also of a kind that is unknown here.
[[nodiscard]] PreTokenizer read_pre_tokenizer(const nlohmann::json& json, const std::string& where);

[[nodiscard]] Stretches pre_tokenized(const PreTokenizer& steps, Stretch stretch);

}  // namespace decoderscope
