#include "engine/model/tokenizer/pieces.h"

#include "engine/error.h"
#include "engine/json.h"

namespace decoderscope {

Tokenizer parse_pieces(std::string_view json) {
    const nlohmann::json list = parse_json(json, message("a list of pieces"));
    if (!list.is_array()) throw Error("expected a JSON list of pieces, one a token");
    std::vector<std::string> pieces;
    for (const nlohmann::json& item : list) {
        const nlohmann::json piece = item.is_object() ? item.value("piece", nlohmann::json()) : item;
        if (!piece.is_string())
            throw Error("piece {number}: expected a string, or an object with a \"piece\"",
                        {{"number", pieces.size()}});
        pieces.push_back(piece.get<std::string>());
    }
    return {std::move(pieces), {}, nullptr};
}

}  // namespace decoderscope
