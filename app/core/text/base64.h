#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace decoderscope {

// RFC 4648's base64url without padding: bytes in characters that a URL can hold as they are.
inline constexpr std::string_view kBase64UrlCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";  // not a message: an alphabet

[[nodiscard]] std::string base64url(std::string_view bytes);

// The bytes; nothing if the text is not exactly what base64url() makes of any.
[[nodiscard]] std::optional<std::string> bytes_of_base64url(std::string_view text);

}  // namespace decoderscope
