#pragma once

#include "app/views/widgets/keys_and_mouse.h"
#include "app/window/frontend.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace decoderscope::window {

// A window without a screen: the same frames as in the real one, drawn into memory. For pictures and for tests.
class OffscreenWindow {
public:
    struct Size {
        int width = 1280, height = 800;  // pixels
        float scale = 1.0F;
    };
    // Whether the machine can draw without a screen at all.
    [[nodiscard]] static bool available();
    // Throws Error if the machine has no EGL that draws OpenGL 3.3 without a screen.
    explicit OffscreenWindow(Size size);
    ~OffscreenWindow();
    OffscreenWindow(const OffscreenWindow&) = delete;
    OffscreenWindow& operator=(const OffscreenWindow&) = delete;

    // The user's next input.
    [[nodiscard]] views::InputQueue& input();
    void push(const views::InputEvent& event) { input().push(event); }

    // Draws one frame, a sixtieth of a second after the previous one. Returns whether another should follow at once:
    // something moves, or input is waiting.
    bool frame(Frontend& frontend);
    // Draws frames until all input is consumed, and two more so that the layout settles.
    void settle(Frontend& frontend);

    // The last frame: width times height pixels as IM_COL32 makes them, the top row first.
    [[nodiscard]] std::vector<std::uint32_t> pixels() const;
    [[nodiscard]] const Size& size() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace decoderscope::window
