#pragma once

#include "engine/tensor.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace decoderscope {

// Tokens and their ids, as vocab.json and tokenizer.json list them.
using TokenIds = std::map<std::string, Index, std::less<>>;

// An object of tokens and ids. Ids count from 0; each has at most one token. Throws Error naming the token and what was
// expected.
[[nodiscard]] TokenIds token_ids(const nlohmann::json& object);

// An id from a JSON file. Throws Error if it is not an id, or is larger than any vocabulary.
[[nodiscard]] Index token_id(const nlohmann::json& id, const std::string& token);

// The tokens by id; empty for an id without one.
[[nodiscard]] std::vector<std::string> tokens_by_id(const TokenIds& ids);

}  // namespace decoderscope
