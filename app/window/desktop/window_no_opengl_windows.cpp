#include "app/window/desktop/window_no_opengl.h"
#include "engine/base/error.h"

namespace decoderscope::window {

void fail_without_opengl(const Sentence& reason) {
    throw Error(
        "cannot open a window: this display offers no OpenGL 3.3 ({reason}), as in some virtual machines and remote "
        "desktops; Mesa's opengl32.dll beside the program draws without a graphics card; decoderscope --help lists "
        "what "
        "needs no window",
        {{"reason", reason}});
}

}  // namespace decoderscope::window
