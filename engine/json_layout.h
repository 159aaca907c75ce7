#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace decoderscope {

// JSON laid out so that two versions of a file can be compared line by line: one line per top-level member, and one per
// item of a list of objects or lists (an edit or a batch row per line). Short values stay on one line. Throws Error if
// a text is not UTF-8.
[[nodiscard]] std::string laid_out(const nlohmann::ordered_json& json);

}  // namespace decoderscope
