#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string_view>
#include <variant>

struct ImGuiIO;

namespace decoderscope::views {

// The keys that the program knows, by what is printed on them. Keys of the number pad count as their counterparts.
// clang-format off
enum class Key : std::uint8_t {
    none,  // only the modifiers changed
    left, right, up, down, home, end, page_up, page_down,
    tab, space, enter, escape, backspace, insert, del,
    digit_0, digit_1, digit_2, digit_3, digit_4, digit_5, digit_6, digit_7, digit_8, digit_9,
    a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z,
    minus, equal, plus, comma, period, slash, semicolon, apostrophe, left_bracket, right_bracket, backslash, grave,
    f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12,
    count,
};
// clang-format on

// The key of the digit 0 to 9.
[[nodiscard]] constexpr Key digit_key(int digit) { return static_cast<Key>(static_cast<int>(Key::digit_0) + digit); }

struct Mods {
    bool ctrl = false, shift = false, alt = false;
    bool operator==(const Mods&) const = default;
};

inline constexpr Mods with_ctrl{.ctrl = true};
inline constexpr Mods with_shift{.shift = true};
inline constexpr Mods with_ctrl_shift{.ctrl = true, .shift = true};

enum class Button : std::uint8_t { left, right, middle };

// What the user does. Positions are in pixels from the top left corner of the window's content.
struct KeyEvent {
    Key key = Key::none;
    bool down = false;
    Mods mods;  // at the time of this event
};
struct Character {
    char32_t code = 0;
};
struct MouseMove {
    float x = 0.0F, y = 0.0F;
};
struct MouseLeave {};
struct MouseButton {
    Button button = Button::left;
    bool down = false;
    Mods mods;
};
struct Wheel {
    float x = 0.0F, y = 0.0F;  // notches; positive is left and up
};
using InputEvent = std::variant<KeyEvent, Character, MouseMove, MouseLeave, MouseButton, Wheel>;

// Passes the user's input to Dear ImGui in order, and never more per frame than it can tell apart: two clicks within
// one long frame take two frames, and a short tap on a key is not lost.
class InputQueue {
public:
    void push(const InputEvent& event) { waiting_.push_back(event); }

    // Feeds one frame: all moves up to and including the next press or release. Call it before ImGui::NewFrame. Returns
    // whether more is waiting, so that the caller draws another frame at once.
    bool feed(ImGuiIO& io);

    [[nodiscard]] bool empty() const { return waiting_.empty(); }
    // Whether a key or a button is down according to the events fed so far. Repeats then need frames.
    [[nodiscard]] bool held() const { return !keys_down_.empty() || !buttons_down_.empty(); }

    // What tests and the offscreen window do in place of a user.
    void tap(Key key, Mods mods = {});
    void click(float x, float y, Button button = Button::left, Mods mods = {});
    void drag(float from_x, float from_y, float to_x, float to_y, Button button = Button::left);
    void type(std::string_view utf8);

private:
    // What this frame was given so far.
    struct Frame {
        std::set<Key> changed;
        Key pressed = Key::none;
        Mods press_mods;
        bool button = false, wheel = false, character = false;
        [[nodiscard]] bool only_moves() const { return pressed == Key::none && !button && !wheel && !character; }
    };
    // Whether ImGui could still tell the event apart from what the frame was given.
    [[nodiscard]] bool fits(const Frame& frame, const KeyEvent& event) const;
    [[nodiscard]] bool fits(const Frame& frame, const Character& event) const;
    [[nodiscard]] bool fits(const Frame& frame, const MouseMove& event) const;
    [[nodiscard]] bool fits(const Frame& frame, const MouseLeave& event) const;
    [[nodiscard]] bool fits(const Frame& frame, const MouseButton& event) const;
    [[nodiscard]] bool fits(const Frame& frame, const Wheel& event) const;
    void feed(Frame& frame, ImGuiIO& io, const KeyEvent& event);
    void feed(Frame& frame, ImGuiIO& io, const Character& event);
    void feed(Frame& frame, ImGuiIO& io, const MouseMove& event);
    void feed(Frame& frame, ImGuiIO& io, const MouseLeave& event);
    void feed(Frame& frame, ImGuiIO& io, const MouseButton& event);
    void feed(Frame& frame, ImGuiIO& io, const Wheel& event);
    void change_mods(ImGuiIO& io, Mods mods);

    std::deque<InputEvent> waiting_;
    std::set<Key> keys_down_;
    std::set<Button> buttons_down_;
    MouseMove mouse_;  // the last one
    Mods mods_;
};

// For views, within a frame: whether the key went down in this frame with exactly these modifiers. With `repeat`, also
// each time it repeats while held.
[[nodiscard]] bool pressed(Key key, Mods mods = {}, bool repeat = false);
// Whether the user is typing into a field: single letters are then text, not shortcuts.
[[nodiscard]] bool typing();

}  // namespace decoderscope::views
