#include "app/views/widgets/keys_and_mouse.h"

#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/wide_characters.h"

namespace decoderscope::views {
namespace {

// Whether the key, pressed with these modifiers, also sends a character. Then it has no other effect on a text field.
bool prints(Key key, Mods mods) {
    const bool printing = key == Key::space || (key >= Key::digit_0 && key <= Key::grave);
    return printing && !mods.ctrl && !mods.alt;
}

// Removes the first code point from a valid UTF-8 text and returns it.
char32_t take_code(std::string_view& utf8) {
    const auto byte = [&utf8](std::size_t at) { return static_cast<unsigned char>(utf8[at]); };
    const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
    char32_t code = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
    for (std::size_t at = 1; at < length && at < utf8.size(); ++at) code = (code << 6U) | (byte(at) & 0x3FU);
    utf8.remove_prefix(length < utf8.size() ? length : utf8.size());
    return code;
}

}  // namespace

bool InputQueue::feed(ImGuiIO& io) {
    compat::prepare_input(io);
    Frame frame;
    const auto next_fits = [&] {
        return std::visit([&](const auto& event) { return fits(frame, event); }, waiting_.front());
    };
    while (!waiting_.empty() && next_fits()) {
        std::visit([&](const auto& event) { feed(frame, io, event); }, waiting_.front());
        waiting_.pop_front();
    }
    return !waiting_.empty();
}

// ImGui sees only the state after everything that a frame was fed. So an event waits for the next frame if its order
// would be lost.

bool InputQueue::fits(const Frame& frame, const KeyEvent& event) const {
    const bool same_mods = event.mods == mods_ || frame.only_moves();
    if (!same_mods || frame.button || frame.changed.contains(event.key)) return false;
    return !event.down || (frame.pressed == Key::none && !frame.character);
}

bool InputQueue::fits(const Frame& frame, const Character&) const {
    return !frame.button && (frame.pressed == Key::none || prints(frame.pressed, frame.press_mods));
}

bool InputQueue::fits(const Frame& frame, const MouseMove&) const { return frame.only_moves(); }
bool InputQueue::fits(const Frame& frame, const MouseLeave&) const { return frame.only_moves(); }
bool InputQueue::fits(const Frame& frame, const MouseButton&) const { return frame.only_moves(); }

bool InputQueue::fits(const Frame& frame, const Wheel&) const {
    return !frame.button && frame.pressed == Key::none && !frame.character;
}

void InputQueue::feed(Frame& frame, ImGuiIO& io, const KeyEvent& event) {
    change_mods(io, event.mods);
    if (event.key == Key::none) return;
    compat::set_key(io, event.key, event.down);
    frame.changed.insert(event.key);
    if (!event.down) {
        keys_down_.erase(event.key);
        return;
    }
    keys_down_.insert(event.key);
    frame.pressed = event.key;
    frame.press_mods = event.mods;
}

void InputQueue::feed(Frame& frame, ImGuiIO& io, const Character& event) {
    if (sizeof(ImWchar) > 2 || event.code < 0x10000)
        io.AddInputCharacter(event.code);
    else
        for (const char32_t carrier : carriers_of(event.code)) io.AddInputCharacter(carrier);
    frame.character = true;
}

void InputQueue::feed(Frame&, ImGuiIO& io, const MouseMove& event) {
    mouse_ = event;
    compat::set_mouse(io, event.x, event.y);
}

void InputQueue::feed(Frame&, ImGuiIO& io, const MouseLeave&) {
    if (buttons_down_.empty()) compat::set_mouse(io, -FLT_MAX, -FLT_MAX);
}

void InputQueue::feed(Frame& frame, ImGuiIO& io, const MouseButton& event) {
    change_mods(io, event.mods);
    frame.button = true;
    // A press beside a dialog, a list or a menu closes it and does nothing else: what lies behind never sees it.
    const int under = compat::popups_under({mouse_.x, mouse_.y});
    if (event.down && under < compat::open_popups()) return compat::close_popups_above(under);
    compat::set_button(io, event.button, event.down);
    if (event.down) {
        buttons_down_.insert(event.button);
    } else {
        buttons_down_.erase(event.button);
    }
}

void InputQueue::feed(Frame& frame, ImGuiIO& io, const Wheel& event) {
    frame.wheel = true;
    // It turns what is in front, not what is seen beside that.
    if (compat::popups_under({mouse_.x, mouse_.y}) == compat::open_popups()) compat::turn_wheel(io, event.x, event.y);
}

void InputQueue::change_mods(ImGuiIO& io, Mods mods) {
    if (mods == mods_) return;
    compat::set_mods(io, mods);
    mods_ = mods;
}

void InputQueue::tap(Key key, Mods mods) {
    push(KeyEvent{Key::none, true, mods});
    push(KeyEvent{key, true, mods});
    push(KeyEvent{key, false, mods});
    push(KeyEvent{});
}

void InputQueue::click(float x, float y, Button button, Mods mods) {
    push(MouseMove{x, y});
    push(MouseButton{button, true, mods});
    push(MouseButton{button, false, mods});
    push(KeyEvent{});
}

void InputQueue::drag(float from_x, float from_y, float to_x, float to_y, Button button) {
    push(MouseMove{from_x, from_y});
    push(MouseButton{button, true, {}});
    push(MouseMove{to_x, to_y});
    push(MouseButton{button, false, {}});
}

void InputQueue::type(std::string_view utf8) {
    while (!utf8.empty()) push(Character{take_code(utf8)});
}

bool pressed(Key key, Mods mods, bool repeat) {
    const ImGuiIO& io = ImGui::GetIO();
    return mods == Mods{io.KeyCtrl, io.KeyShift, io.KeyAlt} && compat::key_pressed(key, repeat);
}

bool typing() { return ImGui::GetIO().WantTextInput; }

}  // namespace decoderscope::views
