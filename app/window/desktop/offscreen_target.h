#pragma once

#include <memory>

namespace decoderscope::window {

// An OpenGL 3.3 context without a screen, with a framebuffer to draw into: EGL's, or that of a hidden window on
// Windows.
class OffscreenTarget {
public:
    // Whether the machine has one at all.
    [[nodiscard]] static bool available();
    // Throws Error if not, or if it has no framebuffer of this size.
    OffscreenTarget(int width, int height);
    ~OffscreenTarget();
    OffscreenTarget(const OffscreenTarget&) = delete;
    OffscreenTarget& operator=(const OffscreenTarget&) = delete;

    // Makes it what OpenGL's functions draw into and read from.
    void use() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace decoderscope::window
