#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Packaged builds of Dear ImGui edit text in 16-bit characters, which are too narrow for an emoji; only a page's own
// build has wider ones. Such a character passes through the text boxes as four of the code points U+FDD0 to U+FDEF,
// each carrying five of its bits. Unicode reserves these for a program's internal use, so no text contains them.
namespace decoderscope::views {

// The carriers of a character beyond U+FFFF.
[[nodiscard]] std::u32string carriers_of(char32_t code);

// Converts a text for a text box, and a text box's text back.
[[nodiscard]] std::string to_carriers(std::string_view text);
[[nodiscard]] std::string from_carriers(std::string_view text);

// Carriers that no longer form a group of four because one was deleted: start and length in bytes, last first.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> broken_carriers(std::string_view text);

}  // namespace decoderscope::views
