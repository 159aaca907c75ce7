#pragma once

#include "engine/json_object.h"
#include "engine/tensor.h"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace decoderscope {

// The tokens that are put around every text.
struct TemplateTokens {
    std::vector<Index> before, behind;
};

// tokenizer.json's "post_processor"; `id_of` finds a token's id. Throws Error naming the key, also of a kind that is
// unknown here.
[[nodiscard]] TemplateTokens read_template(const nlohmann::json& json, const std::string& where,
                                           const std::function<std::optional<Index>(std::string_view)>& id_of);

}  // namespace decoderscope
