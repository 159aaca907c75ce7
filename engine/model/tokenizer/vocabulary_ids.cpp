#include "engine/model/tokenizer/vocabulary_ids.h"

#include "engine/error.h"
#include "engine/json.h"
#include "engine/limits.h"

#include <algorithm>

namespace decoderscope {

Index token_id(const nlohmann::json& id, const std::string& token) {
    const bool fits = id.is_number_integer() && id >= 0 && id < limits::kTokenIds;
    if (!fits)
        throw Error("\"" + token.substr(0, 100) + "\": id " + id.dump().substr(0, 40) +
                    ", expected a whole number from 0 to " + std::to_string(limits::kTokenIds - 1));
    return id.get<Index>();
}

TokenIds token_ids(const nlohmann::json& object) {
    if (!object.is_object() || object.empty()) throw Error("expected an object of tokens and their ids");
    TokenIds ids;
    for (const auto& [token, id] : object.items()) ids.emplace(token, token_id(id, token));
    static_cast<void>(tokens_by_id(ids));  // each id once
    return ids;
}

std::vector<std::string> tokens_by_id(const TokenIds& ids) {
    Index last = -1;
    for (const auto& [token, id] : ids) last = std::max(last, id);
    std::vector<const std::string*> found(static_cast<std::size_t>(last + 1));
    for (const auto& [token, id] : ids) {
        const std::string*& place = found[static_cast<std::size_t>(id)];
        if (place != nullptr)
            throw Error("id " + std::to_string(id) + " is both \"" + *place + "\" and \"" + token +
                        "\", expected one token an id");
        place = &token;
    }
    std::vector<std::string> tokens;
    for (const std::string* token : found) tokens.push_back(token != nullptr ? *token : std::string());
    return tokens;
}

}  // namespace decoderscope
