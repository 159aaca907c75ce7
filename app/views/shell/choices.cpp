#include "app/core/heads/head_switches.h"
#include "app/core/text/labels.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/cards.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

// A head: a click on its number chooses it, a click on the dot before it switches it off and on.
void head_chip(const Ui& ui, const Session& session, const std::string& attention, Index head, Commands& commands) {
    const bool chosen = session.cursor().place.head == head;
    const bool off = head_factor(session.scenario().edits, attention, head) == 0.0F;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float height = ImGui::GetFrameHeight();
    const std::string number = std::to_string(head);
    const float dot = ui.px(20), width = dot + compat::text_size(ui.fonts.mono, number).x + ui.px(8);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(static_cast<int>(head));
    if (ImGui::InvisibleButton("switch", {dot, height}))
        commands.push_back(command::ScaleHeadTo{attention, head, off ? 1.0F : 0.0F});
    const bool on_dot = ImGui::IsItemHovered();
    tooltip(off ? tr("Switch this head on") : tr("Switch this head off: its z becomes 0"));
    ImGui::SameLine(0, 0);
    if (ImGui::InvisibleButton("choose", {width - dot, height})) commands.push_back(command::ChooseHead{head});
    const bool on_number = ImGui::IsItemHovered();
    ImGui::PopID();
    if (chosen || on_number)
        list.AddRectFilled(at, {at.x + width, at.y + height}, chosen ? ui.theme.accent_soft : ui.theme.raised,
                           ui.px(4));
    const ImVec2 middle = {at.x + ui.px(11), at.y + height * 0.5F};
    const ImU32 color = on_dot ? ui.theme.accent : color_of(Meaning::attention);
    if (off)
        list.AddCircle(middle, ui.px(4.5F), color, 16, ui.px(1.5F));
    else
        list.AddCircleFilled(middle, ui.px(5), color, 16);
    draw_text(ui, ui.fonts.mono, {at.x + dot, at.y + (height - compat::font_size(ui.fonts.mono)) * 0.5F},
              off ? ui.theme.muted : ui.theme.text, number);
}

Index blocks_in_stack(const Session& session, const Step& step) {
    Index count = 0;
    while (session.shown().run->plan().find(name_in_block(step, count)) != nullptr) ++count;
    return count;
}

}  // namespace

void draw_choices(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands, Brush brush) {
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + ui.px(4)});
    ImGui::BeginGroup();
    const std::string attention = attention_beside(session.step());
    if (!attention.empty()) {
        ImGui::AlignTextToFramePadding();
        text_line(ui.fonts.caption, ui.theme.muted, "head");
        const Index heads = session.shown().scenario.config().nhead;
        for (Index head = 0; head < heads; ++head) {
            ImGui::SameLine(0, ui.px(head == 0 ? 6 : 2));
            if (ImGui::GetCursorScreenPos().x > area.high.x - ui.px(190) && head + 1 < heads) {
                ImGui::AlignTextToFramePadding();
                text_line(ui.fonts.caption, ui.theme.muted,
                          tr_n("… {count} more: keys 0–9", "… {count} more: keys 0–9", heads - head));
                break;
            }
            head_chip(ui, session, attention, head, commands);
        }
    }
    const Index batch = session.cursor().place.batch;
    if (const int moved = counter(ui, "batch", batch, session.shown().scenario.inputs.batch()); moved != 0)
        commands.push_back(command::ChooseBatch{batch + moved});
    const Step& step = session.step();
    if (const Index block = block_number(step); block >= 0) {
        ImGui::SameLine(0, ui.px(16));
        if (const int moved = counter(ui, "layer", block, blocks_in_stack(session, step)); moved != 0)
            commands.push_back(command::MoveLayer{moved});
    }
    if (brush == Brush::switched && shows_mask(session, step)) {
        ImGui::SameLine(0, ui.px(16));
        if (toggle_button(
                ui, labelled(tr("Paint mask"), "paint").c_str(), state.painting,
                tr("Paint the mask with the left button (P). The right button always paints; Shift paints all heads.")))
            state.painting = !state.painting;
    }
    ImGui::EndGroup();
}

}  // namespace decoderscope
