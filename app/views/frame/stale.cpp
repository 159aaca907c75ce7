#include "app/views/frame/stale.h"

#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views {

namespace {

constexpr double kPatience = 0.1;  // seconds

// How long this has been drawn, frame after frame, in seconds.
double drawn_for(const char* id) {
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    // Values, not references: what is stored for the first time moves what is there.
    const ImGuiID frame = ImGui::GetID((std::string(id) + "-frame").c_str());
    const ImGuiID since = ImGui::GetID((std::string(id) + "-since").c_str());
    const int now = ImGui::GetFrameCount();
    if (storage.GetInt(frame, -1) != now - 1) storage.SetFloat(since, static_cast<float>(ImGui::GetTime()));
    storage.SetInt(frame, now);
    return ImGui::GetTime() - static_cast<double>(storage.GetFloat(since));
}

Area note_in(const Ui& ui, Area area) {
    const ImVec2 size = {std::min(area.width(), ui.px(380)), std::min(area.height(), ui.px(84))};
    const Area box = {area.low, {area.low.x + size.x, area.low.y + size.y}};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(box.low, box.high, ui.theme.panel, ui.px(4));
    compat::add_rect(list, box.low, box.high, ui.theme.line, ui.px(4), 1.0F);
    const float pad = ui.px(10);
    return {{box.low.x + pad, box.low.y + pad}, {box.high.x - pad, box.high.y - pad}};
}

}  // namespace

bool draw_progress(const Ui& ui, core::WorkProgress& progress, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Area bar = {{area.low.x, area.low.y + ui.px(24)}, {area.low.x + ui.px(240), area.low.y + ui.px(28)}};
    draw_text(ui, ui.hint(), area.low, tr(core::progress_sentence(progress)), area.width());
    list.AddRectFilled(bar.low, bar.high, ui.theme.raised);
    list.AddRectFilled(bar.low, {bar.low.x + bar.width() * static_cast<float>(progress.share()), bar.high.y},
                       ui.theme.accent);
    ImGui::SetCursorScreenPos({area.low.x, bar.high.y + ui.px(8)});
    return button(tr("Cancel"), "cancel-measuring");
}

std::function<void(Area)> computing(const Ui& ui) {
    return [&](Area note) { text_block(ui, ui.hint(), note, tr("Computing …")); };
}

bool draw_stale(const Ui& ui, const char* id, Area area, const std::function<void(Commands&)>& before,
                const std::function<void(Area)>& coming) {
    ImGui::PushStyleVar(ImGuiStyleVar_DisabledAlpha, 1.0F);
    ImGui::BeginDisabled();
    Commands unheard;
    before(unheard);
    ImGui::EndDisabled();
    ImGui::PopStyleVar();
    const bool is_long = drawn_for(id) > kPatience;
    if (area.width() < 1.0F || area.height() < 1.0F) return false;
    // Children are drawn after what is below them, and the last one takes the pointer.
    const ImVec2 after = ImGui::GetCursorScreenPos();
    begin_part(id, area, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    if (is_long) {
        ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, with_alpha(ui.theme.background, 0.6F));
        if (coming) coming(note_in(ui, area));
    }
    ImGui::EndChild();
    ImGui::SetCursorScreenPos(after);
    return !is_long;
}

}  // namespace decoderscope::views
