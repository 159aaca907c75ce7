#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace decoderscope {

// JSON laid out so that two versions of a file are compared line by line: the members of the whole a line each, and so
// the items of a list of objects or lists (an edit a line, a batch row a line). What is short stands on one line.
// Throws Error where a text is not UTF-8.
[[nodiscard]] std::string laid_out(const nlohmann::ordered_json& json);

}  // namespace decoderscope
