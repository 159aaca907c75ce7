#include "engine/load/names/mapping.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/tables.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace decoderscope::load::names {

namespace {

// How each layout is written, in their order; a number follows a space at the end.
const std::vector<std::string>& layouts() {
    static const auto words = asset_table("names")["layouts"].get<std::vector<std::string>>();
    return words;
}

bool is_numbered(const std::string& layout) { return layout.ends_with(' '); }

std::vector<Target> targets_of(const std::string& theirs, const nlohmann::json& value) {
    if (value.is_null() || value == "") return {};
    if (value.is_string()) return {target_of(theirs, value.get<std::string>())};
    std::vector<Target> targets;
    if (value.is_array())
        for (const nlohmann::json& one : value) {
            if (!one.is_string()) break;
            targets.push_back(target_of(theirs, one.get<std::string>()));
        }
    if (targets.empty() || targets.size() != value.size())
        throw Error("{tensor}: {found}, expected the name of a parameter, or a list of names",
                    {{"tensor", theirs}, {"found", value.dump().substr(0, 60)}});
    return targets;
}

// A whole parameter comes from one tensor, a head or an expert of it from one tensor.
void refuse_shared_parameters(const Mapping& mapping) {
    std::map<std::string, std::string> sources;
    for (const auto& [theirs, targets] : mapping)
        for (const Target& target : targets)
            for (const std::string& name : names_of(target.name)) {
                const bool one = target.how == RowLayout::head || target.how == RowLayout::expert;
                const std::string part = one ? text_of({name, target.how, target.number}) : name;
                const auto [at, added] = sources.emplace(part, theirs);
                if (!added)
                    throw Error("{tensor}: {name} is already {other}, expected another name",
                                {{"tensor", theirs}, {"name", part}, {"other", at->second}});
            }
}

}  // namespace

Target target_of(const std::string& theirs, std::string_view text) {
    const std::size_t comma = text.find(", ");
    Target target = {std::string(text.substr(0, comma))};
    if (comma == std::string_view::npos) return target;
    const std::string_view how = text.substr(comma + 2);
    std::string words;
    for (std::size_t i = 1; i < layouts().size(); ++i) {
        const std::string& word = layouts()[i];
        target.how = static_cast<RowLayout>(i);
        if (how == word && !is_numbered(word)) return target;
        words += (words.empty() ? "" : ", ") + word + (is_numbered(word) ? "N" : "");
        if (!is_numbered(word) || !how.starts_with(word)) continue;
        const std::string_view digits = how.substr(word.size());
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), target.number);
        if (error == std::errc() && end == digits.data() + digits.size() && target.number >= 0) return target;
        target.number = 0;
    }
    throw Error("{tensor}: {how}: expected one of {words}",
                {{"tensor", theirs}, {"how", std::string(how)}, {"words", words}});
}

std::vector<std::string> names_of(const std::string& name) {
    const std::size_t open = name.find('{'), close = name.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return {name};
    std::vector<std::string> names;
    for (std::size_t start = open + 1; start <= close;) {
        const std::size_t end = std::min(name.find(',', start), close);
        names.push_back(name.substr(0, open) + name.substr(start, end - start) + name.substr(close + 1));
        start = end + 1;
    }
    return names;
}

std::string text_of(const Target& target) {
    const std::string& word = layouts()[static_cast<std::size_t>(target.how)];
    if (word.empty()) return target.name;
    return target.name + ", " + word + (is_numbered(word) ? std::to_string(target.number) : "");
}

Mapping parse_mapping(std::string_view text) {
    const nlohmann::json json = parse_json(text, message("an object of tensors and their names"));
    if (!json.is_object())
        throw Error("expected an object such as {example}", {{"example", R"({"emb.weight": "embed.weight"})"}});
    Mapping mapping;
    for (const auto& [theirs, ours] : json.items()) mapping.emplace(theirs, targets_of(theirs, ours));
    refuse_shared_parameters(mapping);
    return mapping;
}

std::string mapping_to_json(const Mapping& mapping) {
    OrderedJson json = OrderedJson::object();
    for (const auto& [theirs, targets] : mapping) {
        OrderedJson texts = OrderedJson::array();
        for (const Target& target : targets) texts.push_back(text_of(target));
        json[theirs] = texts.empty() ? OrderedJson("") : texts.size() == 1 ? texts[0] : texts;
    }
    return json.dump(1) + "\n";
}

}  // namespace decoderscope::load::names
