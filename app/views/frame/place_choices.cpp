#include "app/views/frame/place_choices.h"

#include "app/core/glossary/glossary.h"
#include "app/core/run/edits.h"
#include "app/core/run/labels.h"
#include "app/core/text/places.h"
#include "app/views/frame/books.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views {

namespace {

// "head 3", "head 3 off".
std::string name_of_head(const core::Session& session, const std::string& attention, Index head) {
    const bool off = core::head_factor(session.fitting_scenario().edits, attention, head) == 0.0F;
    return off ? tr("head {head} off", {{"head", head}}) : tr("head {head}", {{"head", head}});
}

// A head in the list of heads: a click on its name chooses it, a click on the dot before it switches it off and on.
void head_row(const Ui& ui, const core::Session& session, const std::string& attention, Index head,
              Commands& commands) {
    const bool off = core::head_factor(session.fitting_scenario().edits, attention, head) == 0.0F;
    const float height = ImGui::GetTextLineHeight(), dot = ui.px(20);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(static_cast<int>(head));
    if (press_area("switch", {dot, height}))
        commands.push_back(core::command::ScaleHeadTo{attention, head, off ? 1.0F : 0.0F});
    const bool on_dot = ImGui::IsItemHovered();
    tooltip(off ? tr("Switch this head on") : tr("Switch this head off: its z becomes 0"));
    ImGui::SameLine(0, ui.px(4));
    if (press_row(name_of_head(session, attention, head).c_str(), session.cursor().place.head == head))
        commands.push_back(core::command::ChooseHead{head});
    ImGui::PopID();
    const ImVec2 middle = {at.x + ui.px(11), at.y + height * 0.5F};
    const ImU32 color = on_dot ? ui.theme.accent : color_of(Meaning::attention);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (off)
        list.AddCircle(middle, ui.px(4.5F), color, 16, ui.px(1.5F));
    else
        list.AddCircleFilled(middle, ui.px(5), color, 16);
}

// One of `count` places along something.
FlowItem places_item(const Ui& ui, ViewState& state, const char* id, Index chosen, Index count,
                     const std::function<std::string(Index)>& name, std::function<void(Index)> choose) {
    return list_item(ui, state, name(chosen), id, [=] {
        for (Index i = 0; i < count; ++i)
            if (press_row(name(i).c_str(), i == chosen)) choose(i);
    });
}

}  // namespace

Index blocks_in_stack(const core::Session& session, const Step& step) {
    Index count = 0;
    while (session.shown().run->plan().twin_in(step, count) != nullptr) ++count;
    return count;
}

FlowItem list_item(const Ui& ui, ViewState& state, std::string now, const char* id, std::function<void()> rows) {
    now += "  ▾";  // as the toolbar's menus have it, and narrower than a button for the arrow
    const float width = compat::text_size(ui.fonts.text, now).x + 2.0F * ImGui::GetStyle().FramePadding.x;
    return {width, ui.px(8), [&ui, &state, now = std::move(now), id, width, rows = std::move(rows)] {
                ImGui::SetNextItemWidth(width);
                if (!begin_list((std::string("##") + id).c_str(), now.c_str(),
                                ImGuiComboFlags_HeightLarge | ImGuiComboFlags_NoArrowButton))
                    return explain_term(ui, state, core::glossary::find_term(id));
                rows();
                ImGui::EndCombo();
            }};
}

std::vector<FlowItem> place_selectors(const Ui& ui, const core::Session& session, ViewState& state,
                                      Commands& commands) {
    std::vector<FlowItem> items;
    if (session.stale()) return items;
    const Step& step = session.step();
    const core::Place place = session.cursor().place;
    if (const Index block = core::block_number(step), blocks = blocks_in_stack(session, step); block >= 0 && blocks > 1)
        items.push_back(places_item(
            ui, state, "block", block, blocks,
            [](Index i) {
                return tr("block {block}", {{"block", i}});
            },
            [&commands, block](Index i) {
                commands.push_back(core::command::MoveLayer{static_cast<int>(i - block)});
            }));
    const std::string attention = core::attention_beside(session.shown().run->plan(), step);
    if (const Index heads = session.shown().scenario.query_heads(); !attention.empty() && heads > 1)
        items.push_back(list_item(ui, state, name_of_head(session, attention, place.head), "head",
                                  [&ui, &session, attention, heads, &commands] {
                                      for (Index i = 0; i < heads; ++i) head_row(ui, session, attention, i, commands);
                                  }));
    if (const Index batch = session.shown().scenario.batch(); batch > 1)
        items.push_back(places_item(
            ui, state, "batch", place.batch, batch,
            [](Index i) {
                return tr("row {row}", {{"row", i}});
            },
            [&commands](Index i) { commands.push_back(core::command::ChooseBatch{i}); }));
    // Of a step that has rows for each position, or a matrix for each expert or for each index of an unnamed axis.
    if (const Axis* axis = core::outer_axis(step); axis != nullptr && axis->size > 1) {
        const std::string label = axis->name.empty() ? tr("first index") : core::spoken_axis(axis->name);
        items.push_back(places_item(
            ui, state, "outer", std::min(place.outer, axis->size - 1), axis->size,
            [label](Index i) { return label + " " + std::to_string(i); },
            [&commands](Index i) { commands.push_back(core::command::ChooseOuter{i}); }));
    }
    return items;
}

void choose_batch(const Ui& ui, const core::Session& session, Commands& commands) {
    const Index batch = session.cursor().place.batch;
    if (const int moved = counter(ui, tr("batch"), batch, session.shown().scenario.batch()); moved != 0)
        commands.push_back(core::command::ChooseBatch{batch + moved});
}

FlowItem batch_item(const Ui& ui, const core::Session& session, float gap, Commands& commands) {
    return {counter_width(ui, tr("batch"), session.cursor().place.batch, session.shown().scenario.batch()), gap,
            [&ui, &session, &commands] { choose_batch(ui, session, commands); }};
}

void choose_number(const Ui& ui, const std::string& key, const core::NumberChoices& choices, const char* tip,
                   const char* own_tip, Commands& commands) {
    for (std::size_t i = 0; i < choices.all.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        const core::NumberChoice& choice = choices.all[i];
        if (toggle_button(ui, labelled(choice.label, choice.written).c_str(), i == choices.now,
                          i == 0 ? own_tip : tip) &&
            i != choices.now)
            commands.push_back(core::command::SetOption{key, choice.written});
    }
}

}  // namespace decoderscope::views
