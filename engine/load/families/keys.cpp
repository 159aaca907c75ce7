#include "engine/load/families/keys.h"

#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/base/tables.h"
#include "engine/ops/activation.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace decoderscope::load::families {

namespace {

Sentence text_of(const OrderedJson& value) {
    if (value.is_object()) return message("an object");
    if (value.is_array()) return message("a list");
    const std::string text = value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    return Sentence::verbatim(text.size() <= 60 ? text : text.substr(0, 57) + "…");
}

// Whether a key of any Hugging Face configuration leaves the forward pass as it is: names and versions, training
// (dropout is off outside of it), tokens with a special meaning, how text is generated, how the same numbers are
// computed. Most are of transformers.PretrainedConfig.
bool is_irrelevant(std::string_view key) {
    const OrderedJson& table = asset_table("families");
    const auto any = [&](const char* list, const auto& is) {
        return std::ranges::any_of(table[list], [&](const OrderedJson& word) { return is(word.get<std::string>()); });
    };
    return any("irrelevant", [&](const std::string& word) { return key == word; }) ||
           any("irrelevant_beginnings", [&](const std::string& word) { return key.starts_with(word); }) ||
           any("irrelevant_parts", [&](const std::string& word) { return key.find(word) != key.npos; });
}

}  // namespace

std::string FamilyKeys::path(std::string_view name) const {
    return (inside_.empty() ? std::string() : inside_ + ".") + std::string(name);
}

OrderedJson FamilyKeys::value(const KeyNames& names) {
    OrderedJson found;
    const std::string* under = nullptr;
    for (const std::string& name : names.all()) {
        const auto at = json_.find(name);
        if (at == json_.end()) continue;
        read_.insert(name);
        if (at->is_null()) continue;
        if (under != nullptr && *at != found)
            throw Error(
                "{key}: {found}, but {other} is {value}; expected the same",
                {{"key", path(name)}, {"found", text_of(*at)}, {"other", path(*under)}, {"value", text_of(found)}});
        found = *at;
        under = &name;
    }
    return found;
}

void FamilyKeys::fail(const KeyNames& names, const Sentence& expected) const {
    for (const std::string& name : names.all())
        if (const auto at = json_.find(name); at != json_.end() && !at->is_null())
            throw Error("{key}: expected {expected}, found {found}",
                        {{"key", path(name)}, {"expected", expected}, {"found", text_of(*at)}});
    throw Error("{key}: expected {expected}, found {found}",
                {{"key", path(names.first())}, {"expected", expected}, {"found", message("no such key")}});
}

bool FamilyKeys::has(const KeyNames& names) { return !value(names).is_null(); }

bool FamilyKeys::is_null(const std::string& name) const {
    const auto at = json_.find(name);
    return at != json_.end() && at->is_null();
}

Index FamilyKeys::size(const KeyNames& names) {
    const OrderedJson found = value(names);
    const double size = found.is_number() ? found.get<double>() : 0.0;
    if (!found.is_number_integer() || size < 1.0 || size > static_cast<double>(limits::kSize))
        fail(names, message("a positive integer"));
    return found.get<Index>();
}

Index FamilyKeys::size(const KeyNames& names, Index otherwise) { return has(names) ? size(names) : otherwise; }

double FamilyKeys::number(const KeyNames& names, double otherwise) {
    const OrderedJson found = value(names);
    if (found.is_null()) return otherwise;
    if (!found.is_number() || !std::isfinite(found.get<double>())) fail(names, message("a number"));
    return found.get<double>();
}

double FamilyKeys::positive(const KeyNames& names, double otherwise) {
    const double found = number(names, otherwise);
    if (found <= 0.0) fail(names, message("a positive number"));
    return found;
}

bool FamilyKeys::flag(const KeyNames& names, bool otherwise) {
    const OrderedJson found = value(names);
    if (found.is_null()) return otherwise;
    if (!found.is_boolean()) fail(names, message("true or false"));
    return found.get<bool>();
}

std::string FamilyKeys::word(const KeyNames& names, const std::string& otherwise) {
    const OrderedJson found = value(names);
    if (found.is_null()) return otherwise;
    if (!found.is_string()) fail(names, message("a word"));
    return found.get<std::string>();
}

std::string FamilyKeys::activation(const KeyNames& names, const std::string& otherwise) {
    const std::string found = word(names, otherwise);
    if (const auto kind = ops::activation_named("word", found)) return std::string(kind->name);
    std::string expected;
    for (const auto& [ours, theirs] : asset_table("words")["activation"].items())
        for (const std::string& word : theirs.value("word", std::vector<std::string>()))
            expected += (expected.empty() ? "" : ", ") + word;
    fail(names, message("one of {expected}", {{"expected", expected}}));
}

std::vector<std::string> FamilyKeys::list(const KeyNames& names) {
    const OrderedJson found = value(names);
    std::vector<std::string> words;
    if (found.is_null()) return words;
    if (!found.is_array()) fail(names, message("a list of words"));
    for (const OrderedJson& word : found) {
        if (!word.is_string()) fail(names, message("a list of words"));
        words.push_back(word.get<std::string>());
    }
    return words;
}

FamilyKeys FamilyKeys::object(const KeyNames& names) {
    OrderedJson found = value(names);
    if (found.is_null()) found = OrderedJson::object();
    if (!found.is_object()) fail(names, message("an object"));
    return FamilyKeys(std::move(found), path(names.first()));
}

FamilyKeys FamilyKeys::configuration(const KeyNames& names, const OrderedJson& defaults) {
    FamilyKeys keys = object(names);
    keys.is_whole_ = true;
    for (const auto& [key, value] : defaults.items())
        if (!keys.json_.contains(key)) keys.json_[key] = value;
    return keys;
}

void FamilyKeys::expect(const KeyNames& names, const OrderedJson& usual, const Sentence& why) {
    const OrderedJson found = value(names);
    if (found.is_null() || found == usual) return;
    throw Error("{key}: {found}, expected {usual}: {why}",
                {{"key", path(names.first())}, {"found", text_of(found)}, {"usual", text_of(usual)}, {"why", why}});
}

void FamilyKeys::finish(const std::string& model_type) const {
    for (const auto& [key, value] : json_.items()) {
        if (value.is_null() || read_.contains(key) || (is_whole_ && is_irrelevant(key))) continue;
        throw Error(
            "{key}: {found}, a key that {model_type} isn't known to have; expected none that may change the numbers",
            {{"key", path(key)}, {"found", text_of(value)}, {"model_type", model_type}});
    }
}

}  // namespace decoderscope::load::families
