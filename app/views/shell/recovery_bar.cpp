#include "app/core/text/wrapping.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <string>
#include <vector>

namespace decoderscope {

float draw_recovery_bar(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    const Offer* offer = session.offer();
    if (offer == nullptr || state.recovery_later || session.opening()) return 0.0F;
    const float buttons = ImGui::CalcTextSize(tr("Open it")).x + ImGui::CalcTextSize(tr("Discard")).x +
                          ImGui::CalcTextSize(tr("Later")).x + ImGui::GetStyle().FramePadding.x * 6 +
                          ImGui::GetStyle().ItemSpacing.x * 2 + ui.px(12);
    const std::string text = tr("Work that was not saved when the program last ended: {work}", {{"work", offer->text}});
    const float room = area.width() - buttons - ui.px(28), pitch = compat::font_size(ui.fonts.caption) + ui.px(4);
    const auto measure = [&](const std::string& line) { return compat::text_size(ui.fonts.caption, line).x; };
    const std::vector<std::string> lines = wrapped(text, room, measure);
    const float height = std::max(ui.px(40), pitch * static_cast<float>(lines.size()) + ui.px(14));
    const Area bar = {area.low, {area.high.x, area.low.y + height}};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(bar.low, bar.high, ui.theme.raised);
    list.AddRectFilled(bar.low, {bar.low.x + ui.px(4), bar.high.y}, ui.theme.accent);
    float y = bar.low.y + (height - pitch * static_cast<float>(lines.size())) * 0.5F;
    for (const std::string& line : lines) {
        draw_text(ui, ui.fonts.caption, {bar.low.x + ui.px(14), y}, ui.theme.text, line, room);
        y += pitch;
    }
    ImGui::SetCursorScreenPos({bar.high.x - buttons, bar.low.y + (height - ImGui::GetFrameHeight()) * 0.5F});
    ImGui::PushID("recovery");
    if (button(tr("Open it"), "open")) commands.push_back(command::OpenSession{offer->leftover.path, true});
    tooltip(tr("Your current work stays in the undo history"));
    ImGui::SameLine();
    if (button(tr("Discard"), "discard")) commands.push_back(command::DiscardLeftover{});
    tooltip(tr("It is deleted permanently"));
    ImGui::SameLine();
    if (button(tr("Later"), "later")) state.recovery_later = true;
    tooltip(tr("It is offered again at the next start"));
    ImGui::PopID();
    return height;
}

}  // namespace decoderscope
