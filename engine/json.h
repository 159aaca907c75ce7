#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace decoderscope {

// JSON that somebody else wrote. Throws Error saying what was `expected` where it is none, where it is nested absurdly
// deep, or where an object has a key twice: one of the two would be lost without a word.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& expected);

}  // namespace decoderscope
