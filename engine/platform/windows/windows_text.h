#pragma once

#include <string>
#include <string_view>

// Windows' own text, of 16-bit characters. Only for files that are compiled for Windows.
namespace decoderscope::platform {

// A text, which is UTF-8 in the program, as Windows takes it; and back.
[[nodiscard]] std::wstring wide(std::string_view text);
[[nodiscard]] std::string narrow(std::wstring_view text);
// A path, with \\?\ before it if it is longer than most functions take.
[[nodiscard]] std::wstring wide_path(std::string_view path);
// What GetLastError()'s number means, in the system's language.
[[nodiscard]] std::string windows_reason(unsigned long error);
[[nodiscard]] std::string windows_reason();

}  // namespace decoderscope::platform
