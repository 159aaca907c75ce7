#include "app/views/widgets/fonts.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keys_and_mouse.h"
#include "tests/catch.h"
#include "tests/views/imgui_atlas.h"

#include <memory>
#include <string>
#include <vector>

namespace decoderscope {

using namespace decoderscope::testing;
namespace {

// Dear ImGui with neither a window nor a GPU.
class Headless {
public:
    Headless() {
        ImGui::SetCurrentContext(context_.get());
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = ImVec2(400.0F, 300.0F);
        io.DeltaTime = 1.0F / 60.0F;
        io.Fonts->AddFontDefault();
        testing::bake_on_cpu(*io.Fonts);
    }

    // Feeds the queue to one frame, and calls `look` in it. Returns whether more input waits.
    template <class Look>
    bool frame(Look&& look) {
        const bool more = queue.feed(ImGui::GetIO());
        ImGui::NewFrame();
        look();
        ImGui::EndFrame();
        return more;
    }

    // Runs frames until no input waits, at least one.
    template <class Look>
    int frames(Look&& look) {
        int count = 1;
        while (frame(look)) ++count;
        return count;
    }

    InputQueue queue;

private:
    struct Deleter {
        void operator()(ImGuiContext* context) const { ImGui::DestroyContext(context); }
    };
    std::unique_ptr<ImGuiContext, Deleter> context_{ImGui::CreateContext()};
};

}  // namespace

TEST_CASE("two clicks at once are two clicks", "[input]") {
    Headless ui;
    ui.queue.click(10.0F, 10.0F);
    ui.queue.click(200.0F, 100.0F);
    std::vector<float> clicked_at;
    ui.frames([&] {
        if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) clicked_at.push_back(ImGui::GetMousePos().x);
    });
    CHECK(clicked_at == std::vector<float>{10.0F, 200.0F});
}

TEST_CASE("two clicks in one place are a double click", "[input]") {
    Headless ui;
    ui.queue.click(10.0F, 10.0F);
    ui.queue.click(10.0F, 10.0F);
    int doubled = 0;
    ui.frames([&] { doubled += ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) ? 1 : 0; });
    CHECK(doubled == 1);
}

TEST_CASE("a button clicked at once is pressed once", "[input]") {
    Headless ui;
    int clicks = 0;
    const auto draw = [&] {
        ImGui::SetNextWindowPos(ImVec2(0.0F, 0.0F));
        ImGui::SetNextWindowSize(ImVec2(200.0F, 200.0F));
        ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
        if (ImGui::Button("button", ImVec2(150.0F, 50.0F))) ++clicks;
        ImGui::End();
    };
    for (int i = 0; i < 3; ++i) ui.frame(draw);  // the window appears
    ui.queue.click(50.0F, 30.0F);
    ui.queue.click(50.0F, 30.0F);
    ui.frames(draw);
    CHECK(clicks == 2);
}

TEST_CASE("a tapped key is seen once", "[input]") {
    Headless ui;
    ui.queue.tap(Key::right);
    int times = 0;
    ui.frames([&] { times += pressed(Key::right) ? 1 : 0; });
    CHECK(times == 1);
    CHECK_FALSE(ui.queue.held());
}

TEST_CASE("every key is distinguished", "[input]") {
    Headless ui;
    for (int i = 1; i < static_cast<int>(Key::count); ++i) {
        ui.queue.tap(static_cast<Key>(i));
        std::vector<int> seen;
        ui.frames([&] {
            for (int k = 1; k < static_cast<int>(Key::count); ++k) {
                if (pressed(static_cast<Key>(k))) seen.push_back(k);
            }
        });
        CHECK(seen == std::vector<int>{i});
    }
}

TEST_CASE("modifiers belong to their key", "[input]") {
    Headless ui;
    ui.queue.tap(Key::z, with_ctrl);
    ui.queue.tap(Key::z, with_ctrl_shift);
    ui.queue.tap(Key::z);
    std::string seen;
    ui.frames([&] {
        if (pressed(Key::z)) seen += "z";
        if (pressed(Key::z, with_ctrl)) seen += "c";
        if (pressed(Key::z, with_ctrl_shift)) seen += "s";
    });
    CHECK(seen == "csz");
}

TEST_CASE("a held key repeats for actions that ask for it", "[input]") {
    Headless ui;
    ui.queue.push(KeyEvent{Key::right, true, {}});
    int once = 0;
    int repeated = 0;
    for (int i = 0; i < 60; ++i) {
        ui.frame([&] {
            once += pressed(Key::right) ? 1 : 0;
            repeated += pressed(Key::right, {}, true) ? 1 : 0;
        });
    }
    CHECK(ui.queue.held());
    CHECK(once == 1);
    CHECK(repeated > 5);
}

TEST_CASE("keys keep their order", "[input]") {
    Headless ui;
    const std::vector<Key> typed{Key::left, Key::right, Key::right, Key::left, Key::home};
    for (const Key key : typed) ui.queue.tap(key);
    std::vector<Key> seen;
    ui.frames([&] {
        for (const Key key : {Key::left, Key::right, Key::home}) {
            if (pressed(key)) seen.push_back(key);
        }
    });
    CHECK(seen == typed);
}

TEST_CASE("text, the keys between it and characters beyond ASCII arrive in a field as typed", "[input]") {
    Headless ui;
    std::vector<char> buffer(64, '\0');
    const auto draw = [&] {
        ImGui::Begin("window");
        ImGui::SetKeyboardFocusHere();
        ImGui::InputText("field", buffer.data(), buffer.size());
        ImGui::End();
    };
    for (int i = 0; i < 3; ++i) ui.frame(draw);  // the field gets the focus
    CHECK(typing());
    ui.queue.type("abcx");
    ui.queue.tap(Key::backspace);
    ui.queue.type("dé→");
    ui.queue.tap(Key::home);
    ui.queue.type("^");
    ui.frames(draw);
    ui.frame(draw);
    CHECK(std::string(buffer.data()) == "^abcdé→");
}

TEST_CASE("a key event carries its character", "[input]") {
    Headless ui;
    ui.queue.push(KeyEvent{Key::a, true, {}});
    ui.queue.push(Character{U'a'});
    ui.queue.push(KeyEvent{Key::a, false, {}});
    ui.queue.push(KeyEvent{Key::b, true, {}});
    ui.queue.push(Character{U'b'});
    ui.queue.push(KeyEvent{Key::b, false, {}});
    CHECK(ui.frames([] {}) == 3);  // a and its character; a up, b and its character; b up
}

TEST_CASE("moves are as many as there are until something is pressed", "[input]") {
    Headless ui;
    for (int i = 0; i < 100; ++i) ui.queue.push(MouseMove{static_cast<float>(i), 5.0F});
    CHECK_FALSE(ui.frame([] { CHECK(ImGui::GetMousePos().x == 99.0F); }));

    ui.queue.drag(10.0F, 10.0F, 80.0F, 20.0F);
    std::vector<float> pressed_at;
    std::vector<float> released_at;
    ui.frames([&] {
        if (ImGui::IsMouseClicked(0)) pressed_at.push_back(ImGui::GetMousePos().x);
        if (ImGui::IsMouseReleased(0)) released_at.push_back(ImGui::GetMousePos().x);
    });
    CHECK(pressed_at == std::vector<float>{10.0F});
    CHECK(released_at == std::vector<float>{80.0F});
}

TEST_CASE("the wheel turns where the mouse was", "[input]") {
    Headless ui;
    ui.queue.push(MouseMove{10.0F, 10.0F});
    ui.queue.push(Wheel{0.0F, 1.0F});
    ui.queue.push(Wheel{0.0F, 1.0F});
    ui.queue.push(MouseMove{90.0F, 10.0F});
    std::vector<std::pair<float, float>> seen;
    ui.frames([&] { seen.emplace_back(ImGui::GetMousePos().x, ImGui::GetIO().MouseWheel); });
    CHECK(seen == std::vector<std::pair<float, float>>{{10.0F, 2.0F}, {90.0F, 0.0F}});
}

TEST_CASE("a pointer outside the window hovers nothing, but a drag continues", "[input]") {
    Headless ui;
    ui.queue.push(MouseMove{10.0F, 10.0F});
    ui.queue.push(MouseLeave{});
    ui.frames([] {});
    CHECK_FALSE(ImGui::IsMousePosValid());

    ui.queue.push(MouseMove{10.0F, 10.0F});
    ui.queue.push(MouseButton{Button::left, true, {}});
    ui.queue.push(MouseLeave{});
    ui.frames([] {});
    CHECK(ImGui::IsMousePosValid());
}

TEST_CASE("fonts are found or made up, never missing", "[fonts]") {
    GlyphDemand demand;
    Headless ui;
    for (const float scale : {1.0F, 2.0F}) {
        const Fonts fonts = load_fonts(*ImGui::GetIO().Fonts, scale, demand);
        testing::bake_on_cpu(*ImGui::GetIO().Fonts);
        for (ImFont* font : {fonts.text, fonts.caption, fonts.heading, fonts.mono, fonts.mono_small}) {
            REQUIRE(font != nullptr);
            CHECK(compat::font_size(font) >= 12.0F * scale);
        }
        ui.frame([&] {
            ImGui::Begin("window");
            for (ImFont* font : {fonts.text, fonts.mono}) {
                compat::push_font(font);
                ImGui::TextUnformatted("softmax(q·kᵀ / √d) → Σ −∞ \xF0\x9F\x98\x80 \xE4\xB8\xAD \xFF");
                CHECK(ImGui::GetItemRectSize().x > 100.0F);
                ImGui::PopFont();
            }
            ImGui::End();
        });
    }
}

}  // namespace decoderscope
