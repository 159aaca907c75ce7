#pragma once

#include "engine/base/message.h"

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

// The templates behind parse() and dump() are compiled once, in json.cpp: under the sanitizers, each file
// that used them took four seconds longer to compile.
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

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // keeps the order of keys

// Parses JSON from outside the program. Throws Error saying what was `expected` if the text is not JSON, is nested too
// deeply, or has a duplicate key in an object: one of the two would be lost silently. What is parsed by nlohmann's own
// parse() has none of these limits, and takes a NUL for the end of the text.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const Sentence& expected);

// As above, with the keys of each object in their order.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text, const Sentence& expected);

// The value that a text from outside stands for: what it is as JSON, and otherwise the text itself.
[[nodiscard]] nlohmann::ordered_json json_or_text(const std::string& text);

// A value as a message quotes it: never longer than a line.
[[nodiscard]] Sentence found_text(const nlohmann::json& value);

// A float as our JSON stores it, so that it is read back bit for bit: the shortest decimal that rounds to this float;
// "nan", "inf" or "-inf" as a string; any NaN except the usual one (0x7fc00000) with its bits, as "nan(0xffc00000)".
[[nodiscard]] nlohmann::ordered_json float_to_json(float value);
// The float that the JSON represents; nothing if it is not a float, or is beyond the largest.
[[nodiscard]] std::optional<float> float_from_json(const nlohmann::json& json);
// What an error says was expected.
inline constexpr Phrase kFloatExpected = message("a number that a 32-bit float holds, or \"nan\", \"inf\" or \"-inf\"");

}  // namespace decoderscope

namespace decoderscope {

// JSON laid out so that two versions of a file can be compared line by line: one line per top-level member, and one per
// item of a list of objects or lists (an edit or a batch row per line). Short values stay on one line. Throws Error if
// a text is not UTF-8.
[[nodiscard]] std::string laid_out(const nlohmann::ordered_json& json);

}  // namespace decoderscope
