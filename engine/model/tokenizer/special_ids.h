#pragma once

#include "engine/tensor.h"

#include <filesystem>
#include <optional>

namespace decoderscope {

// What a model's configuration says of its tokens.
struct SpecialIds {
    std::optional<Index> end;            // eos_token_id; the first of several
    std::optional<Index> decoder_start;  // decoder_start_token_id
};

// From generation_config.json and config.json in a folder, the first of them that says it. What is no id is ignored:
// other readers check these files.
[[nodiscard]] SpecialIds read_special_ids(const std::filesystem::path& folder);

}  // namespace decoderscope
