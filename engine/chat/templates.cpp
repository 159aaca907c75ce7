#include "engine/chat/templates.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/tables.h"
#include "engine/files/gguf.h"

#include <algorithm>
#include <filesystem>

namespace decoderscope::chat {

namespace {

namespace fs = std::filesystem;

// A JSON object in a folder; an empty one if there is no such file.
Json object_in(const fs::path& file) {
    if (!is_there(file)) return Json::object();
    return naming(file.string(), [&] {
        Json json = parse_json(text_of_file(file), message("an object"));
        if (!json.is_object()) throw Error("expected an object");
        return json;
    });
}

// "</s>", or {"content": "</s>", …}.
void read_special(const Json& file, std::map<std::string, std::string>& special) {
    for (const auto& [key, value] : file.items()) {
        if (!key.ends_with("_token") || key.starts_with("add_")) continue;
        const Json& text = value.is_object() && value.contains("content") ? value["content"] : value;
        if (text.is_string()) special.emplace(key, text.get<std::string>());
    }
}

// "chat_template": a text, or a list of {"name", "template"}.
void read_stored(const fs::path& path, const Json& file, std::vector<FoundTemplate>& found) {
    const auto stored = file.find("chat_template");
    if (stored == file.end() || stored->is_null()) return;
    const auto add = [&](const std::string& name, const Json& source) {
        if (!source.is_string())
            throw Error("{path}: chat_template: expected a text, or a list of objects with \"name\" and \"template\"",
                        {{"path", path.string()}});
        if (std::ranges::find(found, name, &FoundTemplate::name) == found.end())
            found.push_back({name, source.get<std::string>(), {}});
    };
    if (!stored->is_array()) return add("default", *stored);
    for (const Json& one : *stored)
        add(one.is_object() && one.contains("name") && one["name"].is_string() ? one["name"].get<std::string>()
                                                                               : "default",
            one.is_object() && one.contains("template") ? one["template"] : Json());
}

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed))
        if (entry.path().extension() == ".jinja") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

// A GGUF file's own: "tokenizer.chat_template", and others as "tokenizer.chat_template.tool_use".
std::vector<FoundTemplate> templates_in_gguf(const std::string& path) {
    constexpr std::string_view kKey = "tokenizer.chat_template";
    std::vector<FoundTemplate> found;
    const GgufFile file(path);
    for (const auto& [key, value] : file.metadata().items()) {
        const bool whole = key == kKey, named = key.starts_with(std::string(kKey) + ".");
        if (!value.is_string() || (!whole && !named)) continue;
        const auto at = whole ? found.begin() : found.end();
        found.insert(at, {whole ? "default" : key.substr(kKey.size() + 1), value.get<std::string>(), {}});
    }
    return found;
}

}  // namespace

std::vector<FoundTemplate> templates_in(const std::string& path) {
    if (path.empty()) return {};
    if (path.ends_with(".gguf")) return templates_in_gguf(path);
    const fs::path folder = fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path();
    std::vector<FoundTemplate> found;
    if (const fs::path own = folder / "chat_template.jinja"; is_there(own))
        found.push_back({"default", text_of_file(own), {}});
    for (const fs::path& file : files_in(folder / "additional_chat_templates"))
        found.push_back({file.stem().string(), text_of_file(file), {}});
    std::map<std::string, std::string> special;
    for (const char* name : {"chat_template.json", "tokenizer_config.json", "special_tokens_map.json"}) {
        const Json file = object_in(folder / name);
        read_stored(folder / name, file, found);
        read_special(file, special);
    }
    if (found.empty() && !special.empty()) found.emplace_back();
    for (FoundTemplate& one : found) one.special = special;
    return found;
}

std::vector<FoundTemplate> ready_templates() {
    std::vector<FoundTemplate> all;
    for (const OrderedJson& entry : asset_table("chat_templates"))
        all.push_back({entry["template"].get<std::string>(), entry["source"].get<std::string>(), {}});
    return all;
}

}  // namespace decoderscope::chat
