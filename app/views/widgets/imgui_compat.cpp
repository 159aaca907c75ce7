// What needs ImGui's internal declarations.
#include "app/views/widgets/imgui_compat.h"

#include <imgui_internal.h>

#include <cmath>

namespace decoderscope::views::compat {

namespace {

template <class Stack, class Pop>
void pop_to(int depth, const Stack& stack, Pop pop) {
    while (stack.Size > depth) pop();
}

void merge_channels(ImDrawList& list) {
    if (list._Splitter._Count > 1) list.ChannelsMerge();
}

#if IMGUI_VERSION_NUM < 19280

// Ends the current window, with what it left pushed.
void end_window() {
    const ImGuiContext& context = *ImGui::GetCurrentContext();
    const ImGuiWindow& window = *context.CurrentWindow;
    ImGui::ErrorCheckEndWindowRecover(nullptr);
    pop_to(context.CurrentWindowStack.back().StackSizesOnBegin.SizeOfFontStack, context.FontStack, ImGui::PopFont);
    merge_channels(*window.DrawList);
    if ((window.Flags & ImGuiWindowFlags_ChildWindow) != 0)
        ImGui::EndChild();
    else
        ImGui::End();
}

#endif

}  // namespace

struct StackDepths::Kept {
    ImGuiContext& context = *ImGui::GetCurrentContext();
    ImGuiWindow& window = *context.CurrentWindow;
    int clips = window.DrawList->_ClipRectStack.Size, widths = window.DC.ItemWidthStack.Size,
        wraps = window.DC.TextWrapPosStack.Size;
    float indent = window.DC.Indent.x;

    // The stacks that ImGui checks itself: since 1.91.3 it can also bring them back.
#if IMGUI_VERSION_NUM >= 19280
    ImGuiErrorRecoveryState checked;

    Kept() { ImGui::ErrorRecoveryStoreState(&checked); }

    // It complains about each of them, unless it is told not to.
    void restore_checked() const {
        ImGuiIO& io = ImGui::GetIO();
        const bool asserts = std::exchange(io.ConfigErrorRecoveryEnableAssert, false);
        const bool logs = std::exchange(io.ConfigErrorRecoveryEnableDebugLog, false);
        const bool tooltip = std::exchange(io.ConfigErrorRecoveryEnableTooltip, false);
        ImGui::ErrorRecoveryTryToRecoverState(&checked);
        io.ConfigErrorRecoveryEnableAssert = asserts;
        io.ConfigErrorRecoveryEnableDebugLog = logs;
        io.ConfigErrorRecoveryEnableTooltip = tooltip;
    }
#else
    int windows = context.CurrentWindowStack.Size, groups = context.GroupStack.Size, ids = window.IDStack.Size,
        disabled = context.DisabledStackSize, colors = context.ColorStack.Size, flags = context.ItemFlagsStack.Size,
        variables = context.StyleVarStack.Size, fonts = context.FontStack.Size,
        focus_scopes = context.FocusScopeStack.Size, trees = window.DC.TreeDepth;

    void restore_checked() const {
        while (context.CurrentWindowStack.Size > windows) end_window();
        while (window.DC.TreeDepth > trees) ImGui::TreePop();
        pop_to(groups, context.GroupStack, ImGui::EndGroup);
        pop_to(ids, window.IDStack, ImGui::PopID);
        while (context.DisabledStackSize > disabled) ImGui::EndDisabled();
        pop_to(colors, context.ColorStack, [] { ImGui::PopStyleColor(); });
        pop_to(flags, context.ItemFlagsStack, ImGui::PopItemFlag);
        pop_to(variables, context.StyleVarStack, [] { ImGui::PopStyleVar(); });
        pop_to(fonts, context.FontStack, ImGui::PopFont);
        pop_to(focus_scopes, context.FocusScopeStack, ImGui::PopFocusScope);
    }
#endif

    void restore() const {
        restore_checked();
        merge_channels(*window.DrawList);
        pop_to(clips, window.DrawList->_ClipRectStack, ImGui::PopClipRect);
        pop_to(widths, window.DC.ItemWidthStack, ImGui::PopItemWidth);
        pop_to(wraps, window.DC.TextWrapPosStack, ImGui::PopTextWrapPos);
        if (window.DC.Indent.x != indent) ImGui::Unindent(window.DC.Indent.x - indent);
        // What was asked of the next window or item, which never came.
        context.NextWindowData.ClearFlags();
        context.NextItemData.ClearFlags();
    }
};

StackDepths::StackDepths() : kept_(std::make_unique<Kept>()) {}
StackDepths::~StackDepths() = default;

void StackDepths::restore() const { kept_->restore(); }

int open_popups() { return ImGui::GetCurrentContext()->OpenPopupStack.Size; }

int popups_under(ImVec2 pointer) {
    int under = open_popups();
    // One that was opened in the last frame has no window yet.
    const auto is_beside = [&](const ImGuiWindow* popup) {
        return popup != nullptr && !popup->Rect().Contains(pointer);
    };
    while (under > 0 && is_beside(ImGui::GetCurrentContext()->OpenPopupStack[under - 1].Window)) --under;
    return under;
}

void close_popups_above(int first) {
    if (first < open_popups()) ImGui::ClosePopupToLevel(first, true);
}

bool in_front() {
    const ImGuiContext& context = *ImGui::GetCurrentContext();
    return context.OpenPopupStack.empty() ||
           ImGui::GetCurrentWindowRead()->RootWindow == context.OpenPopupStack.back().Window;
}

bool is_disabled() { return (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0; }

ImGuiID last_item() { return ImGui::GetItemID(); }

void open_list(ImGuiID combo) { ImGui::OpenPopupEx(ImHashStr("##ComboPopup", 0, combo)); }

void clear_active() { ImGui::ClearActiveID(); }

void scroll_field(ImGuiID field, float y) {
    for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (window->ChildId == field && window->ParentWindow == ImGui::GetCurrentWindowRead())
            ImGui::SetScrollY(window, y);
}

float scroll_of_field(ImGuiID field) {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (window->ChildId == field && window->ParentWindow == ImGui::GetCurrentWindowRead()) return window->Scroll.y;
    return 0.0F;
}

void cancel_tabbing() { ImGui::NavMoveRequestCancel(); }

namespace {

// What a field held when it was left: wide characters up to 1.91, UTF-8 since.
template <class State>
std::string text_of(const State& state) {
    if constexpr (requires { state.TextW; }) {
        std::string text(4 * static_cast<std::size_t>(state.CurLenW) + 1, '\0');
        const int length = ImTextStrToUtf8(text.data(), static_cast<int>(text.size()), state.TextW.Data,
                                           state.TextW.Data + state.CurLenW);
        text.resize(static_cast<std::size_t>(length));
        return text;
    } else {
        return {state.TextA.Data, static_cast<std::size_t>(state.TextLen)};
    }
}

}  // namespace

void forget_undo_of_other_text(ImGuiID field, std::string_view text) {
    ImGuiInputTextState* left = ImGui::GetInputTextState(field);
    if (left != nullptr && ImGui::GetActiveID() != field && text_of(*left) != text) left->ID = 0;
}

// A text is left out by where it would stand before it is turned: so it is written at the corner of what is seen.
void add_sized_text(ImDrawList& list, ImFont* font, float size, ImVec2 at, ImU32 color, std::string_view text,
                    const Turned* turned) {
    note_glyphs(font, text);
    if (lacks_glyphs(text)) return add_sized_text(list, font, size, at, color, with_code_points(text), turned);
    // Where it isn't cut off before it is turned.
    const ImVec2 written = turned != nullptr ? list.GetClipRectMin() : at;
    const int first = list.VtxBuffer.Size;
    list.AddText(font, size, written, color, text.data(), text.data() + text.size());
    if (turned == nullptr) return;
    const bool leans = turned->to == Turned::leaning;
    const float along = leans ? std::sqrt(0.5F) : 0.0F, up = leans ? std::sqrt(0.5F) : 1.0F;
    for (int i = first; i < list.VtxBuffer.Size; ++i) {
        ImVec2& corner = list.VtxBuffer[i].pos;
        const ImVec2 from = {corner.x + at.x - written.x - turned->about.x,
                             corner.y + at.y - written.y - turned->about.y};
        corner = {turned->about.x + along * from.x + up * from.y, turned->about.y - up * from.x + along * from.y};
    }
}

}  // namespace decoderscope::views::compat
