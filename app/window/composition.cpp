#include "app/window/composition.h"

#include <utility>

namespace decoderscope::window {

bool Composition::takes(views::Key key, views::Mods mods) {
    if (mods.ctrl || mods.alt) return false;
    if (key >= views::Key::a && key <= views::Key::z) {
        ++letters_;
        return false;  // without its character it types nothing
    }
    if (letters_ == 0) return false;
    switch (key) {
        case views::Key::backspace:
            --letters_;
            return true;
        case views::Key::enter:
        case views::Key::escape:
            letters_ = 0;
            return true;
        case views::Key::left:
        case views::Key::right:
        case views::Key::up:
        case views::Key::down:
        case views::Key::home:
        case views::Key::end:
        case views::Key::page_up:
        case views::Key::page_down:
        case views::Key::tab:
        case views::Key::space:
        case views::Key::del:
            return true;
        default:
            return false;
    }
}

}  // namespace decoderscope::window
