#pragma once

#include "engine/base/json.h"
#include "engine/base/message.h"

#include <string_view>

namespace decoderscope {

// A table that the program is built with: "families" is assets/tables/families.json.
[[nodiscard]] const OrderedJson& asset_table(std::string_view name);

// A text of these tables or of an example.json, to be shown: one of the bundled models' or the tables' is a message,
// and any other is shown as it is.
[[nodiscard]] Sentence asset_text(std::string_view text, const Arguments& arguments = {});

// The message that one of these texts is; throws std::out_of_range if the tables have no such text.
[[nodiscard]] Phrase asset_phrase(std::string_view text);

}  // namespace decoderscope
