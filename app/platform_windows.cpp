#include "app/platform.h"
#include "engine/platform/folders.h"
#include "engine/platform/windows/windows_text.h"

#include <windows.h>

#include <commdlg.h>
#include <fcntl.h>
#include <io.h>
#include <png.h>
#include <shellapi.h>
#include <shlobj.h>

#include <cstdio>
#include <cstring>
#include <cwchar>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

namespace decoderscope::app {

// The console.

namespace {

// What the program says if it has no console; nullptr if it has one. Never deleted: std::cout is flushed at the end.
std::ostringstream* said_to_nothing = nullptr;

bool is_there(DWORD stream) {
    const HANDLE handle = ::GetStdHandle(stream);
    return handle != nullptr && handle != INVALID_HANDLE_VALUE && ::GetFileType(handle) != FILE_TYPE_UNKNOWN;
}

// UTF-8 and escape sequences in the console, and lines that end as they are written.
void prepare_console() {
    ::SetConsoleOutputCP(CP_UTF8);
    for (const DWORD stream : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {
        const HANDLE handle = ::GetStdHandle(stream);
        DWORD mode = 0;
        if (::GetConsoleMode(handle, &mode) != 0) ::SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    }
    ::_setmode(::_fileno(stdout), _O_BINARY);
    ::_setmode(::_fileno(stderr), _O_BINARY);
}

}  // namespace

// main()'s arguments lose what the system's code page lacks.
std::vector<std::string> begin_program(int, char**) {
    if (is_there(STD_ERROR_HANDLE)) {
        prepare_console();
    } else {
        said_to_nothing = new std::ostringstream;
        std::cout.rdbuf(said_to_nothing->rdbuf());
        std::cerr.rdbuf(said_to_nothing->rdbuf());
    }
    int count = 0;
    const std::unique_ptr<wchar_t*, decltype(&::LocalFree)> values(::CommandLineToArgvW(::GetCommandLineW(), &count),
                                                                   ::LocalFree);
    std::vector<std::string> arguments;
    for (int i = 1; i < count; ++i) arguments.push_back(platform::narrow(values.get()[i]));
    return arguments;
}

bool nobody_reads_output() { return false; }

int end_program(int status) {
    std::cout.flush();
    if (said_to_nothing != nullptr && !said_to_nothing->str().empty())
        ::MessageBoxW(nullptr, platform::wide(said_to_nothing->str()).c_str(),
                      L"Decoderscope",  // not a message: a name
                      status == 0 ? MB_ICONINFORMATION : MB_ICONERROR);
    return status;
}

// The clipboard.

namespace {

using Memory = std::unique_ptr<void, decltype(&::GlobalFree)>;

template <class Fill>
Memory memory_of(std::size_t size, Fill fill) {
    Memory memory(::GlobalAlloc(GMEM_MOVEABLE, size), ::GlobalFree);
    if (memory) {
        fill(::GlobalLock(memory.get()));
        ::GlobalUnlock(memory.get());
    }
    return memory;
}

// The picture as a bitmap, which every program takes; what is transparent becomes white.
Memory bitmap_of(const std::string& file) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0) return {nullptr, ::GlobalFree};
    image.format = PNG_FORMAT_BGR;
    const std::size_t stride = (std::size_t{3} * image.width + 3) / 4 * 4;
    return memory_of(sizeof(BITMAPINFOHEADER) + stride * image.height, [&](void* to) {
        BITMAPINFOHEADER header{};
        header.biSize = sizeof header;
        header.biWidth = static_cast<LONG>(image.width);
        header.biHeight = static_cast<LONG>(image.height);
        header.biPlanes = 1;
        header.biBitCount = 24;
        header.biCompression = BI_RGB;
        std::memcpy(to, &header, sizeof header);
        const png_color white{255, 255, 255};
        // The last row is the first.
        png_image_finish_read(&image, &white, static_cast<char*>(to) + sizeof header, -static_cast<png_int_32>(stride),
                              nullptr);
    });
}

bool give(UINT format, Memory memory) {
    if (!memory || ::SetClipboardData(format, memory.get()) == nullptr) return false;
    static_cast<void>(memory.release());  // it is the clipboard's now
    return true;
}

}  // namespace

// As a bitmap and as "PNG", which browsers and word processors prefer.
CopyResult copy_png(const std::string& png) {
    const auto failed = [] {
        return CopyResult{message("The picture was not copied: {reason}", {{"reason", platform::windows_reason()}}),
                          true};
    };
    Memory file = memory_of(png.size(), [&](void* to) { std::memcpy(to, png.data(), png.size()); });
    Memory bitmap = bitmap_of(png);
    if (::OpenClipboard(nullptr) == 0) return failed();
    ::EmptyClipboard();
    const bool as_bitmap = give(CF_DIB, std::move(bitmap));
    const bool as_file = give(::RegisterClipboardFormatW(L"PNG"), std::move(file));
    if (!as_bitmap && !as_file) {
        const CopyResult result = failed();
        ::CloseClipboard();
        return result;
    }
    ::CloseClipboard();
    return {message("Copied as a picture."), false};
}

// Files and folders.

namespace {

// What was chosen, each name ended by a zero and the last by two, as the Explorer hands over files that are dropped.
void drop_on(HWND window, const std::wstring& files) {
    Memory memory = memory_of(sizeof(DROPFILES) + files.size() * sizeof(wchar_t), [&](void* to) {
        DROPFILES header{};
        header.pFiles = sizeof header;
        header.fWide = TRUE;
        std::memcpy(to, &header, sizeof header);
        std::memcpy(static_cast<char*>(to) + sizeof header, files.data(), files.size() * sizeof(wchar_t));
    });
    // The window that it is posted to frees it.
    if (memory && ::PostMessageW(window, WM_DROPFILES, reinterpret_cast<WPARAM>(memory.get()), 0) != 0)
        static_cast<void>(memory.release());
}

}  // namespace

void pick_files() {
    constexpr DWORD kLongest = 65536;  // all paths together
    std::wstring chosen(kLongest, L'\0');
    OPENFILENAMEW dialog{};
    dialog.lStructSize = sizeof dialog;
    dialog.hwndOwner = ::GetActiveWindow();
    dialog.lpstrFile = chosen.data();
    dialog.nMaxFile = kLongest;
    dialog.Flags = OFN_EXPLORER | OFN_ALLOWMULTISELECT | OFN_FILEMUSTEXIST | OFN_HIDEREADONLY | OFN_NOCHANGEDIR;
    if (::GetOpenFileNameW(&dialog) == 0) return;
    // One path, or a folder and the names in it.
    const std::filesystem::path first(chosen.c_str());
    std::wstring files;
    for (std::size_t at = std::wcslen(chosen.c_str()) + 1; at < chosen.size() && chosen[at] != L'\0';) {
        const std::wstring name = chosen.c_str() + at;
        files += (first / name).wstring() + L'\0';
        at += name.size() + 1;
    }
    if (files.empty()) files = first.wstring() + L'\0';
    drop_on(dialog.hwndOwner, files + L'\0');
}

std::string folder_for_files() { return platform::home_folder(); }

Sentence open_folder(const std::string& folder) {
    const std::wstring path = std::filesystem::path(folder).make_preferred().wstring();
    const auto result = reinterpret_cast<std::intptr_t>(
        ::ShellExecuteW(nullptr, L"explore", path.c_str(), nullptr, nullptr, SW_SHOWNORMAL));
    if (result > 32) return {};  // as ShellExecuteW() says that it succeeded
    return message("{folder}: not opened: {reason}", {{"folder", folder}, {"reason", platform::windows_reason()}});
}

Sentence speak(const std::string&, const std::string&) {
    return message("Not spoken: on Windows, copy the text; Narrator reads it wherever it is pasted.");
}

core::files::LinkBase link_base(const core::files::Settings& settings) {
    return {core::files::address_of(settings.browser_address), true};
}

std::optional<Sentence> fetch_fonts(std::span<const char32_t>) { return std::nullopt; }

// As the person set Windows.

namespace {

bool apps_are_light() {
    static constexpr const wchar_t* kThemes =
        L"Software\\Microsoft\\Windows\\CurrentVersion\\Themes\\Personalize";  // not a message: a key
    DWORD light = 0, size = sizeof light;
    const LSTATUS status =
        ::RegGetValueW(HKEY_CURRENT_USER, kThemes, L"AppsUseLightTheme", RRF_RT_REG_DWORD, nullptr, &light, &size);
    return status == ERROR_SUCCESS && light != 0;
}

}  // namespace

core::files::PlatformInfo surroundings() {
    BOOL animations = TRUE;
    ::SystemParametersInfoW(SPI_GETCLIENTAREAANIMATION, 0, &animations, 0);
    return {.dark = !apps_are_light(), .reduced_motion = animations == FALSE, .picks_files = true};
}

}  // namespace decoderscope::app
