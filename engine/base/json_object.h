#pragma once

#include "engine/base/bounds.h"
#include "engine/base/json.h"
#include "engine/base/message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// A JSON object from outside the program. Its members are read one by one; any that are not read are unknown keys.
// All functions throw an Error that begins with `where` ("edit 3: ", "cursor.") and the key, and says what was
// expected.
class JsonObject {
public:
    // The JSON must live as long as this.
    JsonObject(const nlohmann::json& json, std::string where);

    // The member, which is required.
    [[nodiscard]] const nlohmann::json& member(const char* key, const Sentence& expected);
    // As above; nullptr if absent.
    [[nodiscard]] const nlohmann::json* find(const char* key);

    [[nodiscard]] std::string text(const char* key);
    [[nodiscard]] std::string text(const char* key, const std::string& otherwise);  // where absent or null
    [[nodiscard]] bool boolean(const char* key);
    [[nodiscard]] bool boolean(const char* key, bool otherwise);  // where absent or null
    [[nodiscard]] double number(const char* key);
    [[nodiscard]] float real(const char* key);           // as float_from_json
    [[nodiscard]] std::int64_t index(const char* key);   // from 0
    [[nodiscard]] std::uint64_t whole(const char* key);  // from 0 to 2^64 − 1
    // A number that is within its bounds.
    template <class T>
    [[nodiscard]] T within(const char* key, const Bounds<T>& bounds) {
        const nlohmann::json& value = member(key, expected_of(bounds));
        const std::string text = value.is_number() ? value.dump() : std::string();
        const std::optional<T> number = number_within(text, bounds);
        if (!number)
            fail(key, message("{found}, expected {expected}",
                              {{"found", found_text(value)}, {"expected", expected_of(bounds)}}));
        return *number;
    }
    // As above; `otherwise` where it is absent.
    template <class T>
    [[nodiscard]] T within(const char* key, const Bounds<T>& bounds, T otherwise) {
        return find(key) == nullptr ? otherwise : within(key, bounds);
    }
    [[nodiscard]] std::vector<std::int64_t> indices(const char* key);
    [[nodiscard]] const nlohmann::json& list(const char* key);
    [[nodiscard]] JsonObject object(const char* key);  // its errors name both keys
    // One of these words; returns its index.
    template <class Words>
    [[nodiscard]] std::size_t word(const char* key, const Words& words) {
        const std::string given = text(key);
        std::string all;
        std::size_t number = 0;
        for (const auto& known : words) {
            if (given == known) return number;
            all += (all.empty() ? "" : ", ") + std::string(known);
            ++number;
        }
        fail(key, message("\"{given}\", expected one of {words}", {{"given", given}, {"words", all}}));
    }

    // An index from a list or a member, from 0.
    [[nodiscard]] std::int64_t as_index(const nlohmann::json& value, const char* key) const;
    [[noreturn]] void fail(const std::string& key, const Sentence& why) const;
    // The prefix of messages about the whole object: "cursor: ", while those about a member begin with "cursor.".
    [[nodiscard]] std::string about() const;
    [[nodiscard]] const std::string& where() const { return where_; }

    // Throws if any member was not read.
    void finish() const;

private:
    const nlohmann::json& json_;
    std::string where_;
    std::vector<std::string> asked_;
};

}  // namespace decoderscope
