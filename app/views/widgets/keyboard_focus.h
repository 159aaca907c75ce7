#pragma once

#include <imgui.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace decoderscope::views {

// Which control has the keyboard: Tab and Shift+Tab go from one to the next in the order in which they are drawn, Enter
// and Space press it, and a frame shows where the focus is. Dear ImGui's own navigation would take the arrow keys,
// which step through the pass. Every control finds the one in use through ContextData (fonts.h).
class KeyboardFocus {
public:
    // At the beginning and the end of a frame. Tab is left alone while `tab_is_taken` (a field completes paths with
    // it).
    void begin(bool tab_is_taken);
    void end();

    // Registers the last item. Returns whether a key pressed it.
    bool item(ImU32 frame, float thickness);
    // Registers a field that is about to be drawn, and activates it when Tab arrives there.
    void field(const char* label);

    // Whether a control has the focus because of Tab; Enter and Space are then no shortcuts.
    [[nodiscard]] bool visible() const { return visible_ && focused_ != 0; }
    // The focus is no longer shown: Esc, or the mouse was pressed.
    void hide() { visible_ = false; }
    // Whether the focus has moved, so that another frame must show it.
    [[nodiscard]] bool moved() const { return moved_; }

private:
    void visit(ImGuiID id);

    ImGuiID focused_ = 0;
    bool visible_ = false;
    bool moved_ = false;    // to its place in the frame before
    int direction_ = 0;     // of Tab in this frame
    bool pressed_ = false;  // Enter or Space in this frame
    // In this frame so far:
    ImGuiID first_ = 0, last_ = 0;
    ImGuiID next_ = 0;  // where Tab leads
};

// Registers the last item with the focus and the document in use. Returns whether it was pressed, by the mouse
// (`clicked`), by a key or in the document. `name`: what stands on it, if Dear ImGui drew that; `on`: of a choice.
bool focusable(bool clicked, std::string_view name = {}, std::optional<bool> on = {});
// Registers a field by its label, just before it is drawn.
enum class Lines { one, many };
void focusable_field(const char* label, std::string_view value = {}, std::string_view hint = {},
                     Lines lines = Lines::one);
// ImGui's field for one line of any length, with a border while it has the focus. `complete` is what
// Tab makes of the text; `goes_on` while the next letter is to come behind the text, wherever the caret was.
using Completion = std::function<std::string(const std::string& typed)>;
bool text_field(const char* id, std::string& text, ImGuiInputTextFlags flags = 0, const char* hint = "",
                const Completion& complete = nullptr, bool goes_on = false);
// What Enter types into a text of several lines, with a key held, in place of a new line; empty: a new line. Where it
// `ends` the typing, it does so alone; new lines are then pasted.
struct EnterTypes {
    std::string_view with_shift = {}, with_alt = {};
    bool ends = false;
};
// As above, for several lines.
bool text_area(const char* id, std::string& text, ImVec2 size, const char* hint = "", EnterTypes enter = {});
// ImGui::InvisibleButton at least a pixel large, and reached by Tab.
bool press_area(const char* id, ImVec2 size, std::string_view name = {});
// ImGui::BeginCombo, reached by Tab and opened by Enter.
bool begin_list(const char* label, const char* preview, ImGuiComboFlags flags = 0);
// Whether the focus is shown: Enter is then for the control that has it.
[[nodiscard]] bool focus_is_visible();
// Of so many rows below a field that has the keyboard, the one that ↑ and ↓ lead to from this one; -1: none.
[[nodiscard]] int row_by_arrows(int row, std::size_t count);
// ImGui::Selectable, reached by Tab.
bool press_row(const char* label, bool chosen = false, ImGuiSelectableFlags flags = 0, ImVec2 size = {0, 0});

}  // namespace decoderscope::views
