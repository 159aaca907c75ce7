#include "app/window/desktop/window_offscreen.h"

#include "app/window/desktop/offscreen_target.h"
#include "app/window/window_gl.h"
#include "app/window/window_painter.h"

#include <algorithm>

namespace decoderscope::window {

struct OffscreenWindow::Parts {
    explicit Parts(Size wanted) : size(wanted), target(wanted.width, wanted.height) {}

    Size size;
    OffscreenTarget target;
    Painter painter;
    views::InputQueue input;
};

bool OffscreenWindow::available() { return OffscreenTarget::available(); }
OffscreenWindow::OffscreenWindow(Size size) : parts_(std::make_unique<Parts>(size)) {}
OffscreenWindow::~OffscreenWindow() { parts_->target.use(); }

views::InputQueue& OffscreenWindow::input() { return parts_->input; }
const OffscreenWindow::Size& OffscreenWindow::size() const { return parts_->size; }

bool OffscreenWindow::frame(Frontend& frontend) {
    parts_->target.use();
    return parts_->painter.draw(frontend, parts_->input,
                                {.width = size().width, .height = size().height, .scale = size().scale});
}

void OffscreenWindow::settle(Frontend& frontend) {
    while (!input().empty()) frame(frontend);
    frame(frontend);
    frame(frontend);
}

std::vector<std::uint32_t> OffscreenWindow::pixels() const {
    parts_->target.use();
    const auto width = static_cast<std::size_t>(size().width);
    const auto height = static_cast<std::size_t>(size().height);
    std::vector<std::uint32_t> bottom_first(width * height);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, size().width, size().height, GL_RGBA, GL_UNSIGNED_BYTE, bottom_first.data());

    std::vector<std::uint32_t> top_first(bottom_first.size());
    for (std::size_t row = 0; row < height; ++row) {
        const auto* from = bottom_first.data() + (height - 1 - row) * width;
        std::copy_n(from, width, top_first.data() + row * width);
    }
    return top_first;
}

}  // namespace decoderscope::window
