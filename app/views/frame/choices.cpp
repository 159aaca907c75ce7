#include "app/core/text/places.h"
#include "app/views/frame/export_choices.h"

#include "app/core/run/edits.h"
#include "app/core/run/labels.h"
#include "app/views/frame/cards.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views {

namespace {

float head_chip_width(const Ui& ui, Index head) {
    return ui.px(28) + compat::text_size(ui.fonts.mono, std::to_string(head)).x;
}

// A head: a click on its number chooses it, a click on the dot before it switches it off and on.
void head_chip(const Ui& ui, const core::Session& session, const std::string& attention, Index head,
               Commands& commands) {
    const bool chosen = session.cursor().place.head == head;
    const bool off = core::head_factor(session.fitting_scenario().edits, attention, head) == 0.0F;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float height = ImGui::GetFrameHeight();
    const std::string number = std::to_string(head);
    const float dot = ui.px(20), width = head_chip_width(ui, head);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(static_cast<int>(head));
    if (press_area("switch", {dot, height}))
        commands.push_back(core::command::ScaleHeadTo{attention, head, off ? 1.0F : 0.0F});
    const bool on_dot = ImGui::IsItemHovered();
    tooltip(off ? tr("Switch this head on") : tr("Switch this head off: its z becomes 0"));
    ImGui::SameLine(0, 0);
    if (press_area("choose", {width - dot, height})) commands.push_back(core::command::ChooseHead{head});
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

Index blocks_in_stack(const core::Session& session, const Step& step) {
    Index count = 0;
    while (session.shown().run->plan().twin_in(step, count) != nullptr) ++count;
    return count;
}

// ---- the choices

// What the choices are made for.
struct Scene {
    const Ui& ui;
    const core::Session& session;
    ViewState& state;
    Commands& commands;
    float width;  // of a line
};

// How many heads have a chip: all, or as many as leave room for "… 24 more".
Index chips_in(const Scene& s, Index heads, float room) {
    const auto fitting = [&](float length) {
        Index count = 0;
        for (float x = 0.0F; count < heads; ++count) {
            x += head_chip_width(s.ui, count) + s.ui.px(2);
            if (x > length) break;
        }
        return count;
    };
    return fitting(room) == heads ? heads : std::max<Index>(fitting(room - s.ui.px(170)), 1);
}

void add_heads(std::vector<FlowItem>& choices, const Scene& s) {
    const std::string attention = core::attention_beside(s.session.shown().run->plan(), s.session.step());
    if (attention.empty()) return;
    const Ui& ui = s.ui;
    const Index heads = s.session.shown().scenario.query_heads();
    const float label = compat::text_size(ui.fonts.caption, tr("head")).x + ui.px(6);
    const Index chips = chips_in(s, heads, s.width - label);
    float width = label + (chips < heads ? ui.px(170) : 0.0F);
    for (Index head = 0; head < chips; ++head) width += head_chip_width(ui, head) + ui.px(2);
    choices.push_back({width, s.ui.px(20), [s, attention, heads, chips] {
                           word_beside(s.ui, tr("head"));
                           for (Index head = 0; head < chips; ++head) {
                               ImGui::SameLine(0, s.ui.px(head == 0 ? 6 : 2));
                               head_chip(s.ui, s.session, attention, head, s.commands);
                           }
                           if (chips == heads) return;
                           ImGui::SameLine(0, s.ui.px(4));
                           word_beside(s.ui,
                                       tr_n("… {count} more: keys 0–9", "… {count} more: keys 0–9", heads - chips));
                       }});
}

// The choice for a step that has rows for each position, or a matrix for each expert or for each index of an unnamed
// axis.
void add_outer(std::vector<FlowItem>& choices, const Scene& s) {
    const Axis* axis = core::outer_axis(s.session.step());
    if (axis == nullptr) return;
    const std::string label = axis->name.empty() ? tr("first index") : core::spoken_axis(axis->name);
    const Index size = axis->size, outer = std::min(s.session.cursor().place.outer, size - 1);
    choices.push_back(counter_item(s.ui, label, outer, size, s.ui.px(20),
                                   [s](Index chosen) { s.commands.push_back(core::command::ChooseOuter{chosen}); }));
}

void add_counters(std::vector<FlowItem>& choices, const Scene& s) {
    choices.push_back(batch_item(s.ui, s.session, s.ui.px(20), s.commands));
    add_outer(choices, s);
    const Index block = core::block_number(s.session.step());
    if (block < 0) return;
    choices.push_back(counter_item(s.ui, tr("layer"), block, blocks_in_stack(s.session, s.session.step()), s.ui.px(20),
                                   [s, block](Index chosen) {
                                       s.commands.push_back(core::command::MoveLayer{static_cast<int>(chosen - block)});
                                   }));
}

void add_brush(std::vector<FlowItem>& choices, const Scene& s) {
    if (!shows_mask(s.session, s.session.step())) return;
    choices.push_back(toggle_item(s.ui, tr("Paint mask"), "paint", s.state.part<MaskBrush>().on,
                                  tr("Paint the mask with the left button (P). The right button always paints; Shift "
                                     "paints all heads."),
                                  s.ui.px(20), [s] {
                                      MaskBrush& brush = s.state.part<MaskBrush>();
                                      brush.on = !brush.on;
                                  }));
}

std::vector<FlowItem> choices_of(const Scene& s, Brush brush) {
    std::vector<FlowItem> choices;
    add_heads(choices, s);
    add_counters(choices, s);
    if (brush == Brush::switched) add_brush(choices, s);
    return choices;
}

}  // namespace

void choose_batch(const Ui& ui, const core::Session& session, Commands& commands) {
    const Index batch = session.cursor().place.batch;
    if (const int moved = counter(ui, tr("batch"), batch, session.shown().scenario.batch()); moved != 0)
        commands.push_back(core::command::ChooseBatch{batch + moved});
}

FlowItem batch_item(const Ui& ui, const core::Session& session, float gap, Commands& commands) {
    return {counter_width(ui, tr("batch"), session.cursor().place.batch, session.shown().scenario.batch()), gap,
            [&ui, &session, &commands] { choose_batch(ui, session, commands); }};
}

float choices_height(const Ui& ui, const core::Session& session, ViewState& state, float width, Brush brush) {
    Commands none;  // nothing is drawn, so nothing is asked for
    return ui.px(4) + flow_height(ui, choices_of({ui, session, state, none, width}, brush), width);
}

void draw_choices(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands,
                  Brush brush) {
    draw_flow(ui, choices_of({ui, session, state, commands, area.width()}, brush),
              {{area.low.x, area.low.y + ui.px(4)}, area.high});
}

}  // namespace decoderscope::views
