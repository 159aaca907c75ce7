// An error or a confirmation, under the toolbar.
#include "app/core/text/wrapping.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/prose.h"
#include "engine/translate.h"

#include <algorithm>
#include <filesystem>

namespace decoderscope {

namespace {

// What can be done with the file that the message is about. Returns where the text may end.
float draw_file_actions(const Ui& ui, const Message& message, Area area, ViewState& state) {
    if (message.path.empty() || !state.desktop.shows_folders) return area.high.x - ui.px(14);
    const std::string folder = tr("Open the folder"), copy = tr("Copy the path");
    const float gap = ui.px(18), end = area.high.x - ui.px(14);
    const float copy_x = end - compat::text_size(ui.fonts.caption, copy).x;
    const float folder_x = copy_x - gap - compat::text_size(ui.fonts.caption, folder).x;
    const float y = area.low.y + ui.px(8);
    ImGui::PushID("message");
    ImGui::SetCursorScreenPos({folder_x, y});
    if (link(ui, ui.fonts.caption, ui.theme.accent, folder, 1))
        state.path_to_open = std::filesystem::path(message.path).parent_path().string();
    ImGui::SetCursorScreenPos({copy_x, y});
    if (link(ui, ui.fonts.caption, ui.theme.accent, copy, 2)) ImGui::SetClipboardText(message.path.c_str());
    ImGui::PopID();
    return folder_x - gap;
}

}  // namespace

float draw_message(const Ui& ui, const Session& session, ViewState& state, Area area) {
    if (!session.message()) return 0.0F;
    const Message& message = *session.message();
    constexpr std::size_t kMostLines = 4;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    // The text decides how high the bar is, and is drawn over it.
    list.ChannelsSplit(2);
    list.ChannelsSetCurrent(1);
    const float end = draw_file_actions(ui, message, area, state);
    const float x = area.low.x + ui.px(14), pitch = compat::font_size(ui.fonts.caption) + ui.px(4);
    const auto measure = [&](const std::string& line) { return compat::text_size(ui.fonts.caption, line).x; };
    const std::string text = tr(message.text);
    const std::vector<std::string> lines = wrapped(text, end - x, measure, kMostLines);
    float y = area.low.y + ui.px(8);
    for (const std::string& line : lines) {
        draw_text(ui, ui.fonts.caption, {x, y}, ui.theme.text, line, end - x);
        y += pitch;
    }
    const float height = std::max(ui.px(30), y + ui.px(6) - area.low.y);
    const Area bar = {area.low, {area.high.x, area.low.y + height}};
    list.ChannelsSetCurrent(0);
    list.AddRectFilled(bar.low, bar.high, ui.theme.raised);
    list.AddRectFilled(bar.low, {bar.low.x + ui.px(4), bar.high.y}, message.failed ? ui.theme.error : ui.theme.accent);
    list.ChannelsMerge();
    ImGui::SetCursorScreenPos({x, bar.low.y});
    ImGui::InvisibleButton("message", {std::max(1.0F, end - x), height});
    if (lines.size() == kMostLines) tooltip(text.c_str());
    return height;
}

}  // namespace decoderscope
