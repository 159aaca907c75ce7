// Real frames of the whole program, drawn without a screen: is the right thing where it should be?
#include "app/application.h"
#include "app/core/figure/colormap.h"
#include "app/desktop/tour.h"
#include "app/views/widgets/theme.h"
#include "app/window/desktop/window_offscreen.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace decoderscope {

using namespace decoderscope::testing;
using namespace decoderscope::app;
using namespace decoderscope::window;
namespace {

struct Box {
    int left = 1 << 20, top = 1 << 20, right = -1, bottom = -1;
    int pixels = 0;

    void add(int x, int y) {
        left = std::min(left, x);
        right = std::max(right, x);
        top = std::min(top, y);
        bottom = std::max(bottom, y);
        ++pixels;
    }
};

// Where a colour appears within a part of the picture.
Box box_of(const OffscreenWindow& window, std::uint32_t color, Box within) {
    const std::vector<std::uint32_t> pixels = window.pixels();
    const int width = window.size().width;
    Box box;
    for (int y = within.top; y < within.bottom; ++y)
        for (int x = within.left; x < within.right; ++x)
            if (pixels[static_cast<std::size_t>(y * width + x)] == color) box.add(x, y);
    return box;
}

// The right half of the stage, where the result is; excludes the strip, and the yellow of the colour bar.
Box result_area(float scale) {
    const auto px = [scale](int length) { return static_cast<int>(static_cast<float>(length) * scale); };
    return {px(480), px(160), px(930), px(560)};
}

std::uint32_t yellow(const Application& application) {
    return to_imgui(color_of(1.0F, {0.0F, 1.0F}, Scale::sequential, ColorMap::viridis, application.state().is_dark()));
}

}  // namespace

TEST_CASE("the first picture shows the pattern, its largest weight in its place", "[window]") {
    if (!OffscreenWindow::available()) return;
    for (const float scale : {1.0F, 2.0F}) {
        for (const bool dark : {true, false}) {
            OffscreenWindow window(
                {.width = static_cast<int>(1280 * scale), .height = static_cast<int>(800 * scale), .scale = scale});
            Application application(scenario_of(make_bundled_model("causal-lm-as-meant")));
            application.state().settings.dark = dark;
            window.settle(application);
            const std::vector<std::uint32_t> pixels = window.pixels();
            const std::set<std::uint32_t> colors(pixels.begin(), pixels.end());
            CHECK(colors.size() > 100);
            // Query 0 sees only itself: weight 1, the end of the map, in the top left cell and nowhere else.
            const Box cell = box_of(window, yellow(application), result_area(scale));
            CHECK(cell.pixels > static_cast<int>(2000 * scale * scale));
            CHECK(cell.right - cell.left < static_cast<int>(100 * scale));
            // A cell is square to the pixel, or nearly.
            CHECK(std::abs((cell.right - cell.left) - (cell.bottom - cell.top)) <= 3);
        }
    }
}

TEST_CASE("a selected cell is outlined in the accent colour, and a head switched off changes the picture", "[window]") {
    if (!OffscreenWindow::available()) return;
    OffscreenWindow window({.width = 1280, .height = 800});
    Application application(scenario_of(make_bundled_model("causal-lm-as-meant")));
    application.state().settings.reduced_motion = true;
    window.settle(application);
    const Box cell = box_of(window, yellow(application), result_area(1.0F));
    const ImU32 accent = make_theme(application.state().is_dark()).accent;
    const Box around = {cell.left - 4, cell.top - 4, cell.right + 5, cell.bottom + 5};
    CHECK(box_of(window, accent, around).pixels == 0);
    window.input().click(static_cast<float>(cell.left + cell.right) / 2,
                         static_cast<float>(cell.top + cell.bottom) / 2);
    window.input().push(MouseMove{700, 600});
    window.settle(application);
    REQUIRE(application.session().cursor().cell == Cell{0, 0, 0, 0});
    const Box outline = box_of(window, accent, around);
    CHECK(outline.pixels > 2 * (cell.right - cell.left));
    CHECK(std::abs(outline.left - cell.left) <= 3);
    CHECK(std::abs(outline.bottom - cell.bottom) <= 3);

    application.session().apply(command::GoTo{"blocks.0.attn.z"});
    application.session().finish();  // including the checks: their mark is part of the picture
    window.settle(application);
    const auto before = window.pixels();
    application.session().apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    application.session().finish();
    window.settle(application);
    CHECK(window.pixels() != before);
    application.session().apply(command::Undo{});
    application.session().finish();
    window.settle(application);
    // The undo button is grey again and redo is not: below the toolbar the picture is the same to the pixel.
    const auto after = window.pixels();
    CHECK(std::equal(after.begin() + 1280 * 50, after.end(), before.begin() + 1280 * 50));
}

TEST_CASE("the tour draws its pictures and names them", "[window]") {
    if (!OffscreenWindow::available()) return;
    const testing::TemporaryFolder folder;
    const std::vector<std::string> files =
        draw_tour(scenario_of(make_bundled_model("pre-ln-layer")), folder.path() + "/tour");
    CHECK(files.size() >= 5);
    for (const std::string& file : files) CHECK(std::filesystem::file_size(file) > 10'000);
}

}  // namespace decoderscope
