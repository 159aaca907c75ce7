#pragma once

#include "engine/base/message.h"

namespace decoderscope::window {

// Throws Error: no window, because there is no OpenGL 3.3, and what helps on this system.
[[noreturn]] void fail_without_opengl(const Sentence& reason);

}  // namespace decoderscope::window
