#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

// What parse() and dump() are made of is compiled once, in json_templates.cpp: each file that used them took four
// seconds longer under the sanitizers.
namespace nlohmann {

using TextAdapter = decltype(detail::input_adapter(std::declval<const std::string&>()));

extern template class detail::lexer<json, TextAdapter>;
extern template class detail::lexer<ordered_json, TextAdapter>;
extern template class detail::parser<json, TextAdapter>;
extern template class detail::parser<ordered_json, TextAdapter>;
extern template class detail::serializer<json>;
extern template class detail::serializer<ordered_json>;

}  // namespace nlohmann

namespace decoderscope {

// JSON that somebody else wrote. Throws Error saying what was `expected` where it is none, where it is nested absurdly
// deep, or where an object has a key twice: one of the two would be lost without a word.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& expected);

// A float as our JSON holds it, so that it is read back bit for bit: the shortest decimal that only this float is
// nearest to; "nan", "inf" or "-inf" as a string; any NaN but the usual one (0x7fc00000) with its bits, as
// "nan(0xffc00000)".
[[nodiscard]] nlohmann::ordered_json float_to_json(float value);
// The float that it stands for; nothing where it stands for none, or for one beyond the largest.
[[nodiscard]] std::optional<float> float_from_json(const nlohmann::json& json);
// What to tell somebody whose JSON holds something else.
inline constexpr const char* kFloatExpected = "a number that a 32-bit float holds, or \"nan\", \"inf\" or \"-inf\"";

}  // namespace decoderscope
