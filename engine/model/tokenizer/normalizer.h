#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/precompiled_map.h"
#include "engine/model/tokenizer/prepend_text.h"
#include "engine/model/tokenizer/replace_text.h"
#include "engine/model/tokenizer/strip_spaces.h"
#include "engine/model/tokenizer/unicode_form.h"

#include <variant>
#include <vector>

namespace decoderscope {

// The first part of a tokenizer: steps that rewrite a text before it is cut.
using NormalizerStep = std::variant<UnicodeForm, PrecompiledMap, ReplaceText, PrependText, StripSpaces>;
using Normalizer = std::vector<NormalizerStep>;

// tokenizer.json's "normalizer". Throws Error naming the key, also of a kind that is unknown here.
[[nodiscard]] Normalizer read_normalizer(const nlohmann::json& json, const std::string& where);

void normalize(const Normalizer& normalizer, Stretch& stretch);

}  // namespace decoderscope
