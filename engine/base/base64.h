#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace decoderscope {

// RFC 4648's two alphabets for bytes as text, six bits per character.
enum class Base64 {
    standard,  // with + and /, padded with = to a multiple of four characters
    url,       // with - and _, without padding: a URL can hold it as it is
};

inline constexpr std::string_view kBase64UrlCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";  // not a message: an alphabet

[[nodiscard]] std::string base64(std::string_view bytes, Base64 alphabet = Base64::standard);

// The bytes; nothing if the text is not exactly what base64() makes from some bytes. The standard alphabet's padding
// may be missing, as some programs leave it out.
[[nodiscard]] std::optional<std::string> bytes_of_base64(std::string_view text, Base64 alphabet = Base64::standard);

// As above, for a file's text in the standard alphabet. Throws Error if it isn't one.
[[nodiscard]] std::string read_base64(std::string_view text);

}  // namespace decoderscope
