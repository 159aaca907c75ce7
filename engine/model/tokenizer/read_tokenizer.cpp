#include "engine/model/tokenizer/read_tokenizer.h"

#include "engine/error.h"
#include "engine/file.h"
#include "engine/json.h"
#include "engine/model/tokenizer/character_vocabulary.h"

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

// A plain list of pieces: strings, or objects with a "piece".
Tokenizer parse_pieces(std::string_view json) {
    const nlohmann::json list = parse_json(json, "a list of pieces");
    if (!list.is_array()) throw Error("expected a JSON list of pieces, one a token");
    std::vector<std::string> pieces;
    for (const nlohmann::json& item : list) {
        const nlohmann::json piece = item.is_object() ? item.value("piece", nlohmann::json()) : item;
        if (!piece.is_string())
            throw Error("piece " + std::to_string(pieces.size()) +
                        ": expected a string, or an object with a \"piece\"");
        pieces.push_back(piece.get<std::string>());
    }
    return {std::move(pieces), {}, nullptr};
}

template <class Parse>
std::optional<Tokenizer> read(const fs::path& path, Parse parse) {
    if (!fs::exists(path)) return std::nullopt;
    return naming(path.string(), [&] { return parse(read_text(path.string())); });
}

}  // namespace

Tokenizers read_tokenizers(const fs::path& folder) {
    Tokenizers tokenizers;
    if (auto characters = read(folder / "vocabulary.json", parse_character_vocabulary))
        tokenizers.target = std::move(*characters);
    else if (auto pieces = read(folder / "pieces.json", parse_pieces))
        tokenizers.target = std::move(*pieces);
    tokenizers.source =
        read(folder / "encoder_vocabulary.json", parse_character_vocabulary).value_or(tokenizers.target);
    return tokenizers;
}

}  // namespace decoderscope
