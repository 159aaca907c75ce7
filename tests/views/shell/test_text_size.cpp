// Which text sizes fit into a window.
#include "app/views/frame/window_layout.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <string>

using namespace decoderscope::testing;

TEST_CASE("each window has room for the text sizes that are promised for it, and names the next ones") {
    CHECK(largest_text_size({1024, 768}) >= 1.0F);
    CHECK(largest_text_size({1279, 800}) < 1.5F);
    CHECK(largest_text_size({1280, 800}) == 1.5F);
    CHECK(largest_text_size({1920, 1080}) == 2.0F);
    CHECK(largest_text_size({3840, 2160}) == 3.0F);
    CHECK(largest_text_size({520, 330}) == 0.6F);
    // A phone sees the whole width.
    CHECK(390.0F / largest_text_size({390, 844}) >= kLeastRoom.x - 0.5F);
    CHECK(largest_text_size({390, 844}) > 0.45F);
    CHECK(largest_text_size({100, 100}) == 0.3F);
    CHECK(larger_text_size(1.0F, 1.5F) == 1.1F);
    CHECK_FALSE(larger_text_size(1.5F, 1.5F));
    CHECK(smaller_text_size(1.5F) == 1.25F);
    CHECK_FALSE(smaller_text_size(0.6F));
    CHECK(smaller_text_size(1.07F) == 1.0F);  // of an older program's settings
    // What doesn't fit is drawn smaller, and comes back with the room.
    CHECK(drawn_text_size(2.0F, 1.5F) == 1.5F);
    CHECK(drawn_text_size(2.0F, 3.0F) == 2.0F);
}

TEST_CASE("the window opens at four fifths of a large monitor, and no larger than a small one") {
    const auto opens = [](ImVec2 monitor) {
        const ImVec2 size = opening_size({1280, 800}, monitor);
        return std::pair(size.x, size.y);
    };
    CHECK(opens({1280, 800}) == std::pair(1280.0F, 800.0F));
    CHECK(opens({1024, 768}) == std::pair(1024.0F, 768.0F));
    CHECK(opens({1920, 1080}) == std::pair(1536.0F, 864.0F));
    CHECK(opens({3840, 2160}) == std::pair(3072.0F, 1728.0F));
    CHECK(opens({0, 0}) == std::pair(1280.0F, 800.0F));
}

TEST_CASE("a size that the window can't bear is offered nowhere, and the settings say why") {
    Driver d;
    d.state.largest_text = 1.5F;
    d.state.settings.text_scale = 1.25F;
    const auto tap = [&](Key key, Mods mods) {
        d.press(key, mods);
        return d.state.settings.text_scale;
    };
    CHECK(tap(Key::plus, with_ctrl) == 1.5F);
    CHECK(tap(Key::plus, with_ctrl) == 1.5F);
    tap(Key::comma, with_ctrl);
    CHECK(d.sees("150%"));
    CHECK(d.sees("roomfortextofupto150%"));
    d.state.settings.text_scale = 2.0F;
    d.settle();
    std::string all;  // the sentence is broken into lines
    for (const DrawnText& piece : d.seen()) all += piece.text;
    CHECK(all.find("Thetextreturnsto200%oncethewindowislargeenough.") != std::string::npos);
    CHECK(d.sees("150%"));
    const auto& seen = d.seen();
    const auto smaller = std::ranges::find(seen, "−", &DrawnText::text);
    REQUIRE(smaller != seen.end());
    d.click({smaller->middle().x, smaller->middle().y});
    CHECK(d.state.settings.text_scale == 1.25F);
    tap(Key::escape, {});
    tap(Key::p, with_ctrl);
    d.hands.type("text size: ");
    d.settle();
    CHECK(d.sees("Textsize:150%"));
    CHECK_FALSE(d.sees("Textsize:175%"));
}

TEST_CASE("Ctrl with plus, minus and zero sets the text size, wherever the plus is") {
    for (const auto& [key, mods] : {std::pair(Key::plus, with_ctrl), std::pair(Key::equal, with_ctrl),
                                    std::pair(Key::equal, with_ctrl_shift), std::pair(Key::plus, with_ctrl_shift)}) {
        Driver d;
        d.press(key, mods);
        CHECK(d.state.settings.text_scale == 1.1F);
        d.hands.tap(Key::minus, with_ctrl);
        d.press(Key::minus, with_ctrl);
        CHECK(d.state.settings.text_scale == 0.9F);
        d.press(Key::digit_0, with_ctrl);
        CHECK(d.state.settings.text_scale == 1.0F);
    }
}

// How far a picture is zoomed in belongs to the model that it is of.

TEST_CASE("another model's pictures are shown whole, though its steps have the same names and numbers") {
    Driver d("causal-lm-as-meant");
    d.settle();
    REQUIRE_FALSE(d.state.viewports.empty());
    for (auto& [key, view] : d.state.viewports) view.zoom = 3.0F;
    d.settle();
    CHECK(std::ranges::any_of(d.state.viewports, [](const auto& one) { return one.second.zoom == 3.0F; }));
    d.apply(command::OpenModel{"causal-lm", {}, {}});
    for (const auto& [key, view] : d.state.viewports) CHECK(view.zoom == 1.0F);
}
