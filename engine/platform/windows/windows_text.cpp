#include "engine/platform/windows/windows_text.h"

#include <windows.h>

#include <array>
#include <filesystem>

namespace decoderscope::platform {

std::wstring wide(std::string_view text) {
    if (text.empty()) return {};
    const int length = static_cast<int>(text.size());
    std::wstring result(static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, text.data(), length, nullptr, 0)),
                        L'\0');
    ::MultiByteToWideChar(CP_UTF8, 0, text.data(), length, result.data(), static_cast<int>(result.size()));
    return result;
}

std::string narrow(std::wstring_view text) {
    if (text.empty()) return {};
    const int length = static_cast<int>(text.size());
    const int size = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), length, nullptr, 0, nullptr, nullptr);
    std::string result(static_cast<std::size_t>(size), '\0');
    ::WideCharToMultiByte(CP_UTF8, 0, text.data(), length, result.data(), size, nullptr, nullptr);
    return result;
}

std::wstring wide_path(std::string_view path) {
    constexpr std::size_t kMost = MAX_PATH - 12;  // a folder leaves room for a name of DOS
    std::wstring text = wide(path);
    if (text.size() < kMost) return text;
    std::error_code failed;
    std::wstring whole = std::filesystem::absolute(text, failed).lexically_normal().make_preferred().wstring();
    if (failed || whole.starts_with(L"\\\\")) return text;
    return L"\\\\?\\" + whole;
}

std::string windows_reason(unsigned long error) {
    std::array<wchar_t, 512> text{};
    const DWORD length = ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error, 0,
                                          text.data(), static_cast<DWORD>(text.size()), nullptr);
    std::wstring_view said(text.data(), length);
    while (!said.empty() && (said.back() <= L' ' || said.back() == L'.')) said.remove_suffix(1);
    return said.empty() ? "error " + std::to_string(error) : narrow(said);
}

std::string windows_reason() { return windows_reason(::GetLastError()); }

}  // namespace decoderscope::platform
