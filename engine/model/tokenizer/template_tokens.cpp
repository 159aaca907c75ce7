#include "engine/model/tokenizer/template_tokens.h"

#include "engine/error.h"
#include "engine/model/tokenizer/steps.h"
#include "engine/model/tokenizer/vocabulary_ids.h"

#include <algorithm>
#include <utility>

namespace decoderscope {

namespace {

using Json = nlohmann::json;
using IdOf = std::function<std::optional<Index>(std::string_view)>;

// "special_tokens" gives the ids of a template's name: often one.
std::vector<Index> ids_of(const std::string& name, const Json* special, const IdOf& id_of) {
    const Json entry = special != nullptr && special->is_object() ? special->value(name, Json()) : Json();
    const Json ids = entry.is_object() ? entry.value("ids", Json()) : Json();
    std::vector<Index> found;
    for (const Json& id : ids.is_array() ? ids : Json::array()) found.push_back(token_id(id, name));
    if (found.empty()) {
        const std::optional<Index> id = id_of(name);
        if (!id) throw Error("\"{token}\" is not in the vocabulary", {{"token", name}});
        found.push_back(*id);
    }
    return found;
}

// {"SpecialToken": {"id": "<s>"}} and {"Sequence": {"id": "A"}}, in order.
TemplateTokens read_single(JsonObject& json, const IdOf& id_of) {
    const Json& items = json.list("single");
    const Json* special = json.find("special_tokens");
    static_cast<void>(json.find("pair"));  // for two texts
    TemplateTokens tokens;
    bool text = false;
    for (const Json& item : items) {
        JsonObject object(item, json.where() + "single.");
        if (object.find("SpecialToken") != nullptr) {
            JsonObject token = object.object("SpecialToken");
            const std::vector<Index> ids =
                naming(json.where() + "single", [&] { return ids_of(token.text("id"), special, id_of); });
            std::vector<Index>& side = text ? tokens.behind : tokens.before;
            side.insert(side.end(), ids.begin(), ids.end());
        } else if (JsonObject sequence = object.object("Sequence");
                   sequence.text("id") != "A" || std::exchange(text, true)) {
            json.fail("single", message("expected the sequence A once"));
        }
    }
    if (!text) json.fail("single", message("expected the sequence A once"));
    return tokens;
}

// ["</s>", 2]
Index pair_id(JsonObject& json, const char* key) {
    const Json& pair = json.list(key);
    if (pair.size() != 2 || !pair[0].is_string()) json.fail(key, message("expected a token and its id"));
    return naming(json.where() + key, [&] { return token_id(pair[1], pair[0].get<std::string>()); });
}

TemplateTokens read_ends(JsonObject& json) {
    static_cast<void>(json.find("trim_offsets"));
    static_cast<void>(json.find("add_prefix_space"));
    return {.before = {pair_id(json, "cls")}, .behind = {pair_id(json, "sep")}};
}

}  // namespace

TemplateTokens read_template(const Json& json, const std::string& where, const IdOf& id_of) {
    const auto read_step = [&](const std::string& type, JsonObject& step) -> TemplateTokens {
        if (type == "TemplateProcessing") return read_single(step, id_of);
        if (type == "RobertaProcessing" || type == "BertProcessing") return read_ends(step);
        if (type != "ByteLevel") unknown_type(step, type);
        for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) static_cast<void>(step.find(key));
        return {};
    };
    TemplateTokens all;
    for (const TemplateTokens& one : read_steps<TemplateTokens>(json, where, "processors", read_step)) {
        all.before.insert(all.before.begin(), one.before.begin(), one.before.end());
        all.behind.insert(all.behind.end(), one.behind.begin(), one.behind.end());
    }
    return all;
}

}  // namespace decoderscope
