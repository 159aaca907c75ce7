// A picture on Windows' clipboard: as the bitmap that every program takes, and as the file itself.
#include "app/platform.h"
#include "tests/catch.h"

#include <windows.h>

#include <png.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::app;

namespace {

constexpr unsigned kWidth = 3, kHeight = 2;

// Red, green, blue; black, half transparent black, nothing.
std::string picture_of_six_pixels() {
    constexpr std::array<std::uint8_t, std::size_t{4}* kWidth* kHeight> kPixels = {
        255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 0, 0, 0, 255, 0, 0, 0, 128, 0, 0, 0, 0};
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = kWidth;
    image.height = kHeight;
    image.format = PNG_FORMAT_RGBA;
    png_alloc_size_t size = 0;
    REQUIRE(png_image_write_to_memory(&image, nullptr, &size, 0, kPixels.data(), 0, nullptr) != 0);
    std::string file(size, '\0');
    REQUIRE(png_image_write_to_memory(&image, file.data(), &size, 0, kPixels.data(), 0, nullptr) != 0);
    file.resize(size);
    return file;
}

// What the clipboard holds in a format; nothing if it doesn't.
std::optional<std::string> held_as(UINT format) {
    REQUIRE(::OpenClipboard(nullptr) != 0);
    std::optional<std::string> held;
    if (const HANDLE memory = ::GetClipboardData(format)) {
        held = std::string(static_cast<const char*>(::GlobalLock(memory)), ::GlobalSize(memory));
        ::GlobalUnlock(memory);
    }
    ::CloseClipboard();
    return held;
}

}  // namespace

TEST_CASE("a picture is on the clipboard as a bitmap, from the last row to the first, on white") {
    REQUIRE_FALSE(copy_png(picture_of_six_pixels()).failed);
    const auto bitmap = held_as(CF_DIB);
    REQUIRE(bitmap);
    BITMAPINFOHEADER header{};
    REQUIRE(bitmap->size() >= sizeof header + 24);
    std::memcpy(&header, bitmap->data(), sizeof header);
    CHECK(header.biSize == sizeof header);
    CHECK(header.biWidth == kWidth);
    CHECK(header.biHeight == kHeight);  // above 0: the last row is the first
    CHECK(header.biBitCount == 24);
    CHECK(header.biCompression == BI_RGB);
    std::vector<int> levels;
    for (const char level : bitmap->substr(sizeof header, 24)) levels.push_back(static_cast<std::uint8_t>(level));
    const auto row = [&](std::size_t first) {
        return std::vector(levels.begin() + static_cast<std::ptrdiff_t>(first),
                           levels.begin() + static_cast<std::ptrdiff_t>(first) + 9);
    };
    // Blue before green before red; a row fills up to four bytes.
    CHECK(row(12) == std::vector{0, 0, 255, 0, 255, 0, 255, 0, 0});
    const std::vector<int> below = row(0);
    CHECK(std::vector(below.begin(), below.begin() + 3) == std::vector{0, 0, 0});
    CHECK((below[3] > 100 && below[3] < 220));  // half transparent: a grey
    CHECK(std::vector(below.begin() + 6, below.end()) == std::vector{255, 255, 255});
}

TEST_CASE("a picture is on the clipboard as a PNG, byte for byte, in place of what was there") {
    const std::string picture = picture_of_six_pixels();
    REQUIRE_FALSE(copy_png(std::string("no picture")).failed);
    REQUIRE_FALSE(copy_png(picture).failed);
    const auto file = held_as(::RegisterClipboardFormatW(L"PNG"));
    REQUIRE(file);
    CHECK(file->substr(0, picture.size()) == picture);  // Windows may round its memory's size up
    CHECK(file->size() < picture.size() + 64);
}
