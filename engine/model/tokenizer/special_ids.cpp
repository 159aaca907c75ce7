#include "engine/model/tokenizer/special_ids.h"

#include "engine/error.h"
#include "engine/json.h"
#include "engine/model/folder_file.h"

namespace decoderscope {

namespace {

std::optional<Index> id_at(const nlohmann::json& object, const char* key) {
    nlohmann::json id = object.is_object() ? object.value(key, nlohmann::json()) : nlohmann::json();
    if (id.is_array() && !id.empty()) id = id.front();
    return id.is_number_unsigned() ? std::optional(id.get<Index>()) : std::nullopt;
}

nlohmann::json read(const std::filesystem::path& path) {
    try {
        return is_there(path) ? parse_json(text_of_file(path), message("an object")) : nlohmann::json();
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

SpecialIds read_special_ids(const std::filesystem::path& folder) {
    SpecialIds ids;
    for (const char* name : {"generation_config.json", "config.json"}) {
        const nlohmann::json file = read(folder / name);
        if (!ids.end) ids.end = id_at(file, "eos_token_id");
        if (!ids.decoder_start) ids.decoder_start = id_at(file, "decoder_start_token_id");
    }
    return ids;
}

}  // namespace decoderscope
