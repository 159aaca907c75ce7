#include "app/window/composition.h"

#include <utility>

namespace decoderscope {

bool Composition::takes(Key key, Mods mods) {
    if (mods.ctrl || mods.alt) return false;
    if (key >= Key::a && key <= Key::z) {
        ++letters_;
        return false;  // without its character it types nothing
    }
    if (letters_ == 0) return false;
    switch (key) {
        case Key::backspace:
            --letters_;
            return true;
        case Key::enter:
        case Key::escape:
            letters_ = 0;
            return true;
        case Key::left:
        case Key::right:
        case Key::up:
        case Key::down:
        case Key::home:
        case Key::end:
        case Key::page_up:
        case Key::page_down:
        case Key::tab:
        case Key::space:
        case Key::del:
            return true;
        default:
            return false;
    }
}

}  // namespace decoderscope
