#include "app/views/widgets/fonts.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/theme.h"
#include "app/window/desktop/window_offscreen.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>

namespace decoderscope {

using namespace decoderscope::testing;
using namespace decoderscope::window;
namespace {

constexpr std::uint32_t black = IM_COL32(0, 0, 0, 255);
constexpr std::uint32_t red = IM_COL32(255, 0, 0, 255);
constexpr std::uint32_t green = IM_COL32(0, 255, 0, 255);
constexpr std::uint32_t blue = IM_COL32(0, 0, 255, 255);
constexpr std::uint32_t white = IM_COL32(255, 255, 255, 255);

// A red rectangle from (10, 20) to (30, 60), and two by two pixels enlarged to 40 by 40 at (100, 50). It turns white
// where it is clicked.
class Painting : public Frontend {
public:
    bool frame(Textures& textures) override {
        if (throws) {
            ImGui::Begin("begun");
            ImGui::PushID("pushed");
            throw std::bad_alloc();
        }
        ImDrawList& list = *ImGui::GetBackgroundDrawList();
        list.AddRectFilled(ImVec2(0.0F, 0.0F), ImGui::GetIO().DisplaySize, black);
        if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) clicked = true;
        list.AddRectFilled(ImVec2(10.0F, 20.0F), ImVec2(30.0F, 60.0F), clicked ? white : red);
        compat::add_pixels(list, textures.upload(7, 2, 2, texels, version), ImVec2(100.0F, 50.0F),
                           ImVec2(140.0F, 90.0F));
        if (word) compat::add_text(list, fonts->text, ImVec2(20.0F, 120.0F), white, "Word");
        return false;
    }
    void use_fonts(const Fonts& given) override {
        fonts = given;
        ++times_given;
    }
    [[nodiscard]] float text_scale(ImVec2) override { return wanted_scale; }

    std::array<std::uint32_t, 4> texels{red, green, blue, white};
    std::uint64_t version = 1;
    bool clicked = false;
    bool word = false;
    bool throws = false;
    float wanted_scale = 1.0F;
    std::optional<Fonts> fonts;
    int times_given = 0;
};

// The window; if the machine can't draw without a screen, none and a message why.
std::unique_ptr<OffscreenWindow> open(OffscreenWindow::Size size) {
    if (OffscreenWindow::available()) return std::make_unique<OffscreenWindow>(size);
    WARN("skipped: this machine has no EGL that draws without a screen");
    return nullptr;
}

std::uint32_t pixel(const OffscreenWindow& window, int x, int y) {
    return window.pixels().at(static_cast<std::size_t>(y * window.size().width + x));
}

// The first and last row drawn below y = 110, where there is only the word.
std::pair<int, int> rows_of_word(const OffscreenWindow& window) {
    const auto pixels = window.pixels();
    std::pair<int, int> rows{window.size().height, -1};
    for (int y = 110; y < window.size().height; ++y) {
        for (int x = 0; x < window.size().width; ++x) {
            if (pixels[static_cast<std::size_t>(y * window.size().width + x)] == black) continue;
            rows.first = std::min(rows.first, y);
            rows.second = std::max(rows.second, y);
        }
    }
    return rows;
}

}  // namespace

TEST_CASE("a frame's pixels are where they were drawn", "[window]") {
    const auto window = open({.width = 200, .height = 200, .scale = 1.0F});
    if (!window) return;
    Painting painting;
    CHECK_FALSE(window->frame(painting));
    REQUIRE(window->pixels().size() == 200 * 200);
    CHECK(pixel(*window, 9, 20) == black);
    CHECK(pixel(*window, 10, 19) == black);
    CHECK(pixel(*window, 10, 20) == red);
    CHECK(pixel(*window, 29, 59) == red);
    CHECK(pixel(*window, 30, 59) == black);
    CHECK(pixel(*window, 29, 60) == black);
}

TEST_CASE("a texture's pixels are sharp squares, and follow its version", "[window]") {
    const auto window = open({.width = 200, .height = 200, .scale = 1.0F});
    if (!window) return;
    Painting painting;
    window->frame(painting);
    CHECK(pixel(*window, 99, 50) == black);
    CHECK(pixel(*window, 100, 50) == red);
    CHECK(pixel(*window, 119, 69) == red);
    CHECK(pixel(*window, 120, 69) == green);
    CHECK(pixel(*window, 119, 70) == blue);
    CHECK(pixel(*window, 139, 89) == white);

    painting.texels = {white, white, white, white};
    window->frame(painting);
    CHECK(pixel(*window, 100, 50) == red);
    painting.version = 2;
    window->frame(painting);
    CHECK(pixel(*window, 100, 50) == white);
}

TEST_CASE("what a frame throws, such as for too little memory, leaves a window that can be closed and drawn again",
          "[window]") {
    const auto window = open({.width = 200, .height = 200, .scale = 1.0F});
    if (!window) return;
    Painting painting;
    painting.throws = true;
    CHECK_THROWS_AS(window->frame(painting), std::bad_alloc);
    const bool again = GENERATE(false, true);
    if (!again) return;
    painting.throws = false;
    window->frame(painting);
    CHECK(pixel(*window, 10, 20) == red);
}

TEST_CASE("input reaches the frontend", "[window]") {
    const auto window = open({.width = 200, .height = 200, .scale = 1.0F});
    if (!window) return;
    Painting painting;
    window->input().click(15.0F, 25.0F);
    window->settle(painting);
    CHECK(painting.clicked);
    CHECK(pixel(*window, 15, 25) == white);
}

TEST_CASE("text follows the scale", "[window]") {
    const auto window = open({.width = 200, .height = 200, .scale = 1.0F});
    if (!window) return;
    Painting painting;
    painting.word = true;
    window->frame(painting);
    window->frame(painting);
    CHECK(painting.times_given == 1);
    const auto small = rows_of_word(*window);
    REQUIRE(small.second > small.first);

    painting.wanted_scale = 2.0F;
    window->frame(painting);
    window->frame(painting);
    CHECK(painting.times_given == 2);
    CHECK(painting.fonts->scale == 2.0F);
    const auto large = rows_of_word(*window);
    const int small_height = small.second - small.first + 1;
    const int large_height = large.second - large.first + 1;
    CHECK(large_height >= 2 * small_height - 2);
    CHECK(large_height <= 2 * small_height + 2);
}

TEST_CASE("two windows draw apart", "[window]") {
    const auto one = open({.width = 200, .height = 200, .scale = 1.0F});
    if (!one) return;
    auto other = open({.width = 150, .height = 100, .scale = 2.0F});
    REQUIRE(other);
    Painting painting;
    Painting clicked;
    clicked.clicked = true;
    one->frame(painting);
    other->frame(clicked);
    CHECK(pixel(*one, 15, 25) == red);
    CHECK(pixel(*other, 15, 25) == white);
    other.reset();
    one->frame(painting);
    CHECK(pixel(*one, 15, 25) == red);
}

}  // namespace decoderscope
