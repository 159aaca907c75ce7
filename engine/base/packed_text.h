#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace decoderscope {

// A text in zlib's format (RFC 1950): deflated, with a checksum that finds damage.
[[nodiscard]] std::string packed_text(std::string_view text);

// The text back. Memory grows with what is really there, up to `most` bytes. Throws Error if the packed bytes are cut
// off or damaged, or if there are more.
[[nodiscard]] std::string unpacked_text(std::string_view packed, std::size_t most);

}  // namespace decoderscope
