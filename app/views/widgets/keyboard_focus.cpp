#include "app/views/widgets/keyboard_focus.h"

#include "app/core/text/characters.h"
#include "app/views/widgets/fonts.h"
#include "app/views/widgets/frame_document.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keys_and_mouse.h"
#include "app/views/widgets/wide_characters.h"

#include <algorithm>

namespace decoderscope::views {

namespace {

KeyboardFocus* in_use() { return context_data() == nullptr ? nullptr : context_data()->focus; }

struct EditedText {
    std::string& text;
    Completion complete = nullptr;
    EnterTypes enter = {};
};

// What is typed in place of a character: of a new line, what Enter types with the keys that are held. Those of a text
// that is pasted (Shift+Insert) stay.
ImWchar typed_for(ImWchar character, const EnterTypes& enter) {
    if (character != '\n') return character;
    const auto held = [](Mods mods) { return decoderscope::views::pressed(Key::enter, mods, true); };
    const std::string_view other = held(with_shift)      ? enter.with_shift
                                   : held({.alt = true}) ? enter.with_alt
                                                         : std::string_view();
    return other.empty() ? character : static_cast<ImWchar>(core::character_at(other, 0).code);
}

// Grows the text with what is typed, completes it, and removes what is left of a character that was partly deleted.
int edit_text(ImGuiInputTextCallbackData* data) {
    const auto& edited = *static_cast<EditedText*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackCharFilter) {
        data->EventChar = typed_for(data->EventChar, edited.enter);
        return 0;
    }
    if (data->EventFlag == ImGuiInputTextFlags_CallbackAlways) {
        data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
        return 0;
    }
    if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {  // the text is longer already than what holds it
        edited.text.resize(static_cast<std::size_t>(data->BufTextLen));
        data->Buf = edited.text.data();
        return 0;
    }
    const std::string typed(data->Buf, static_cast<std::size_t>(data->BufTextLen));
    if (data->EventFlag == ImGuiInputTextFlags_CallbackEdit) {
        for (const auto& [begin, length] : broken_carriers(typed))
            data->DeleteChars(static_cast<int>(begin), static_cast<int>(length));
        return 0;
    }
    const std::string made = edited.complete(typed);
    if (made == typed) return 0;
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, made.c_str());
    return 0;
}

}  // namespace

void KeyboardFocus::begin(bool tab_is_taken) {
    if (ContextData* shared = context_data()) shared->focus = this;
    direction_ = 0;
    if (!tab_is_taken && decoderscope::views::pressed(Key::tab, {}, true)) direction_ = 1;
    if (decoderscope::views::pressed(Key::tab, with_shift, true)) direction_ = -1;
    if (direction_ != 0) compat::cancel_tabbing();
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) visible_ = false;
    pressed_ = visible() && !typing() &&
               (decoderscope::views::pressed(Key::enter) || decoderscope::views::pressed(Key::space));
    first_ = last_ = next_ = 0;
}

void KeyboardFocus::visit(ImGuiID id) {
    if (id == 0 || !compat::in_front()) return;
    if (first_ == 0) first_ = id;
    if (direction_ > 0 && next_ == 0 && last_ != 0 && last_ == focused_) next_ = id;
    if (direction_ < 0 && id == focused_) next_ = last_;
    last_ = id;
}

bool KeyboardFocus::item(ImU32 frame, float thickness) {
    const ImGuiID id = compat::last_item();
    visit(id);
    if (id == 0 || id != focused_ || !visible_ || !compat::in_front()) return false;
    if (moved_ && !ImGui::IsItemVisible()) ImGui::SetScrollHereY(0.5F);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    compat::add_rect(*ImGui::GetWindowDrawList(), low, high, frame, thickness * 2.0F, thickness);
    return pressed_ && !compat::is_disabled();
}

void KeyboardFocus::field(const char* label) {
    const ImGuiID id = ImGui::GetID(label);
    visit(id);
    if (moved_ && id == focused_ && visible_ && compat::in_front()) compat::take_keyboard();
}

void KeyboardFocus::end() {
    moved_ = false;
    if (direction_ == 0) return;
    if (next_ == 0) next_ = direction_ > 0 ? first_ : last_;
    if (typing()) compat::clear_active();
    focused_ = next_;
    visible_ = moved_ = focused_ != 0;
}

bool focusable(bool clicked, std::string_view name, std::optional<bool> on) {
    if (FrameDocument* document = document_in_use()) {
        document->note_button(name.substr(0, name.find("##")), on);
        const bool taken = document->takes_press(compat::last_item()) && compat::in_front() && !compat::is_disabled();
        if (taken && typing()) compat::clear_active();  // as a click elsewhere does, or the field would write it back
        clicked |= taken;
    }
    KeyboardFocus* focus = in_use();
    if (focus == nullptr) return clicked;
    const ImVec4 color = ImGui::GetStyle().Colors[ImGuiCol_NavHighlight];
    // The width of the frame follows the text: 2 px at 15 px.
    return focus->item(ImGui::ColorConvertFloat4ToU32(color), std::max(2.0F, ImGui::GetFontSize() * 0.13F)) || clicked;
}

bool text_field(const char* id, std::string& text, ImGuiInputTextFlags flags, const char* hint,
                const Completion& complete, bool goes_on) {
    focusable_field(id, text, hint);
    EditedText edited{text, complete};
    flags |= ImGuiInputTextFlags_CallbackResize;
    if (complete != nullptr) flags |= ImGuiInputTextFlags_CallbackCompletion;
    if (goes_on) flags |= ImGuiInputTextFlags_CallbackAlways;
    const bool done = ImGui::InputTextWithHint(id, hint, text.data(), text.capacity() + 1, flags, edit_text, &edited);
    note_glyphs(ImGui::GetFont(), text);
    return done;
}

bool text_area(const char* id, std::string& text, ImVec2 size, const char* hint, EnterTypes enter) {
    focusable_field(id, text, hint, Lines::many);
    EditedText edited{text, nullptr, enter};
    ImGuiInputTextFlags flags =
        ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_CallbackEdit | ImGuiInputTextFlags_CallbackCharFilter;
    const ImGuiIO& io = ImGui::GetIO();
    if (enter.ends && !io.KeyCtrl && !io.KeyShift && !io.KeyAlt) flags |= ImGuiInputTextFlags_CtrlEnterForNewLine;
    const bool changed =
        ImGui::InputTextMultiline(id, text.data(), text.capacity() + 1, size, flags, edit_text, &edited);
    note_glyphs(ImGui::GetFont(), text);
    return changed;
}

void focusable_field(const char* label, std::string_view value, std::string_view hint, Lines lines) {
    compat::forget_undo_of_other_text(ImGui::GetID(label), value);
    if (FrameDocument* document = document_in_use()) {
        document->note_field(ImGui::GetID(label), hint, value, lines == Lines::many);
        if (document->takes_press(ImGui::GetID(label))) compat::take_keyboard();
    }
    if (KeyboardFocus* focus = in_use()) focus->field(label);
}

bool press_area(const char* id, ImVec2 size, std::string_view name) {
    return focusable(ImGui::InvisibleButton(id, {std::max(size.x, 1.0F), std::max(size.y, 1.0F)}), name);
}

bool begin_list(const char* label, const char* preview, ImGuiComboFlags flags) {
    const ImGuiID id = ImGui::GetID(label);
    if (ImGui::BeginCombo(label, preview, flags)) return true;
    if (focusable(false, preview)) compat::open_list(id);
    return false;
}

bool focus_is_visible() {
    const KeyboardFocus* focus = in_use();
    return focus != nullptr && focus->visible();
}

int row_by_arrows(int row, std::size_t count) {
    const int by = (pressed(Key::down, {}, true) ? 1 : 0) - (pressed(Key::up, {}, true) ? 1 : 0);
    const int rows = static_cast<int>(count);
    if (by == 0 || rows == 0 || !compat::in_front()) return row;  // a list that is open has the arrows
    return row < 0 ? (by > 0 ? 0 : rows - 1) : (row + by + rows) % rows;
}

bool press_row(const char* label, bool chosen, ImGuiSelectableFlags flags, ImVec2 size) {
    const bool clicked = ImGui::Selectable(label, chosen, flags, size), pressed = focusable(clicked, label, chosen);
    // A click closes the list by itself; a key and the document do, too.
    if (pressed && !clicked && (flags & ImGuiSelectableFlags_DontClosePopups) == 0) ImGui::CloseCurrentPopup();
    return pressed;
}

}  // namespace decoderscope::views
