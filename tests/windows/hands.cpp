// What a person and other programs do with the window, as a program for Windows (run.sh compiles it):
//   hands type TEXT       types it into the window that has the keyboard, whatever keys there are
//   hands paste NAME      writes the picture on the clipboard to NAME.bmp, as Paint takes it, and to NAME.png
#include <windows.h>

#include <shellapi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

int type(const std::wstring& text) {
    for (const wchar_t unit : text) {
        INPUT keys[2] = {};
        for (INPUT& key : keys) {
            key.type = INPUT_KEYBOARD;
            key.ki.wScan = unit;
            key.ki.dwFlags = KEYEVENTF_UNICODE;
        }
        keys[1].ki.dwFlags |= KEYEVENTF_KEYUP;
        if (::SendInput(2, keys, sizeof(INPUT)) != 2) return 1;
    }
    return 0;
}

// What the clipboard holds in a format; empty if it doesn't.
std::string held_as(UINT format) {
    std::string held;
    if (const HANDLE memory = ::GetClipboardData(format)) {
        held.assign(static_cast<const char*>(::GlobalLock(memory)), ::GlobalSize(memory));
        ::GlobalUnlock(memory);
    }
    return held;
}

int paste(const std::wstring& name) {
    if (::OpenClipboard(nullptr) == 0) return 1;
    const std::string bitmap = held_as(CF_DIB), picture = held_as(::RegisterClipboardFormatW(L"PNG"));
    ::CloseClipboard();
    if (bitmap.size() < sizeof(BITMAPINFOHEADER) || picture.empty()) return 1;
    // A file of bitmaps has 14 bytes more: where its pixels begin.
    const std::uint32_t begin = 14 + sizeof(BITMAPINFOHEADER), size = static_cast<std::uint32_t>(14 + bitmap.size());
    std::string header = "BM" + std::string(12, '\0');
    std::memcpy(header.data() + 2, &size, 4);
    std::memcpy(header.data() + 10, &begin, 4);
    const auto write = [&](const wchar_t* ending, const std::string& bytes) {
        FILE* const file = ::_wfopen((name + ending).c_str(), L"wb");
        if (file == nullptr) return false;
        const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
        return std::fclose(file) == 0 && whole;
    };
    return write(L".bmp", header + bitmap) && write(L".png", picture) ? 0 : 1;
}

}  // namespace

int main() {
    int count = 0;
    wchar_t** const arguments = ::CommandLineToArgvW(::GetCommandLineW(), &count);
    if (count != 3) return 2;
    const std::wstring what = arguments[1], with = arguments[2];
    return what == L"type" ? type(with) : what == L"paste" ? paste(with) : 2;
}
