#include "engine/base/json_object.h"

#include "engine/base/error.h"

#include <algorithm>

namespace decoderscope {

JsonObject::JsonObject(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw Error("{about}expected an object {…}", {{"about", about()}});
}

std::string JsonObject::about() const {
    return where_.ends_with('.') ? where_.substr(0, where_.size() - 1) + ": " : where_;
}

void JsonObject::fail(const std::string& key, const Sentence& why) const {
    throw Error("{where}{key}: {why}", {{"where", where_}, {"key", key}, {"why", why}});
}

const Json* JsonObject::find(const char* key) {
    asked_.emplace_back(key);
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
}

const Json& JsonObject::member(const char* key, const Sentence& expected) {
    const Json* found = find(key);
    if (found == nullptr)
        throw Error("{about}\"{key}\" is missing; expected {expected}",
                    {{"about", about()}, {"key", key}, {"expected", expected}});
    return *found;
}

std::string JsonObject::text(const char* key) {
    const Json& value = member(key, message("a string"));
    if (!value.is_string()) fail(key, message("expected a string"));
    return value.get<std::string>();
}

bool JsonObject::boolean(const char* key) {
    const Json& value = member(key, message("true or false"));
    if (!value.is_boolean()) fail(key, message("expected true or false"));
    return value.get<bool>();
}

std::string JsonObject::text(const char* key, const std::string& otherwise) {
    const Json* value = find(key);
    return value == nullptr || value->is_null() ? otherwise : text(key);
}

bool JsonObject::boolean(const char* key, bool otherwise) {
    const Json* value = find(key);
    return value == nullptr || value->is_null() ? otherwise : boolean(key);
}

double JsonObject::number(const char* key) {
    const Json& value = member(key, message("a number"));
    if (!value.is_number()) fail(key, message("expected a number"));
    return value.get<double>();
}

float JsonObject::real(const char* key) {
    const std::optional<float> value = float_from_json(member(key, message("a number")));
    if (!value) fail(key, message("expected {what}", {{"what", Sentence(kFloatExpected)}}));
    return *value;
}

std::int64_t JsonObject::index(const char* key) { return as_index(member(key, message("an index")), key); }

std::uint64_t JsonObject::whole(const char* key) {
    const Json& value = member(key, message("a whole number"));
    if (!value.is_number_unsigned()) fail(key, message("expected a whole number from 0"));
    return value.get<std::uint64_t>();
}

std::vector<std::int64_t> JsonObject::indices(const char* key) {
    const Json& list = member(key, message("a list of indices"));
    if (!list.is_array()) fail(key, message("expected a list of indices"));
    std::vector<std::int64_t> indices;
    for (const Json& index : list) indices.push_back(as_index(index, key));
    return indices;
}

const Json& JsonObject::list(const char* key) {
    const Json& value = member(key, message("a list"));
    if (!value.is_array()) fail(key, message("expected a list"));
    return value;
}

JsonObject JsonObject::object(const char* key) { return {member(key, message("an object")), where_ + key + "."}; }

std::int64_t JsonObject::as_index(const Json& value, const char* key) const {
    if (!value.is_number_integer() || value.get<double>() < 0.0 || value.get<double>() > 1e15)
        fail(key, message("expected an index from 0"));
    return value.get<std::int64_t>();
}

void JsonObject::finish() const {
    for (const auto& [key, value] : json_.items())
        if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
            throw Error("{about}unknown key \"{key}\"", {{"about", about()}, {"key", key}});
}

}  // namespace decoderscope
