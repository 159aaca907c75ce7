#include "app/window/desktop/window_no_opengl.h"

#include "engine/base/error.h"

namespace decoderscope::window {

void fail_without_opengl(const Sentence& reason) {
    throw Error(
        "cannot open a window: this display offers no OpenGL 3.3 ({reason}); Mesa's software renderer does: "
        "install Debian's libgl1-mesa-dri, or set LIBGL_ALWAYS_SOFTWARE=1; decoderscope --help lists what needs no "
        "window",
        {{"reason", reason}});
}

}  // namespace decoderscope::window
