#include "app/window/composition.h"

#include <algorithm>
#include <array>

namespace decoderscope::window {

bool Composition::takes(views::Key key, views::Mods mods) {
    if (mods.ctrl || mods.alt) return false;
    if (key >= views::Key::a && key <= views::Key::z) {
        ++letters_;
        return false;  // without its character it types nothing
    }
    if (letters_ == 0) return false;
    using views::Key;
    if (key == Key::backspace) --letters_;
    if (key == Key::enter || key == Key::escape) letters_ = 0;
    constexpr std::array kChoosing = {Key::backspace, Key::enter, Key::escape, Key::left, Key::right,
                                      Key::up,        Key::down,  Key::home,   Key::end,  Key::page_up,
                                      Key::page_down, Key::tab,   Key::space,  Key::del};
    return std::ranges::find(kChoosing, key) != kChoosing.end();
}

}  // namespace decoderscope::window
