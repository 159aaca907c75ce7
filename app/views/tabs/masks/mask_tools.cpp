#include "app/core/run/edits.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/views/tabs/masks/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::masks {

namespace {

// ---- which attention

// The attention of a kind in this block, or in the last block of a shorter stack; empty if there is none.
std::string attention_of_kind(const Plan& plan, Index block, core::heads::AttentionKind kind) {
    std::string found;
    for (const std::string& name : core::heads::attentions_of_kind(plan, kind))
        if (found.empty() || plan.step_of(name, AttentionStep::mask)->layer <= block) found = name;
    return found;
}

void add_attentions(std::vector<FlowItem>& items, const MasksScene& scene) {
    struct Choice {
        Phrase label, tip;
        core::heads::AttentionKind kind;
        std::string name = {};  // of this block's attention of that kind
    };
    std::vector<Choice> choices = {
        {message("Self"), message("The decoder's self-attention: each position attends to the target."),
         core::heads::AttentionKind::self},
        {message("Cross"), message("Cross-attention: each position attends to the source."),
         core::heads::AttentionKind::cross},
        {message("Encoder"), message("The encoder's self-attention; it is never causal."),
         core::heads::AttentionKind::encoder},
    };
    const Plan& plan = scene.run().plan();
    const Index block = std::max<Index>(0, core::block_number(*plan.step_of(scene.attention, AttentionStep::mask)));
    for (Choice& choice : choices) choice.name = attention_of_kind(plan, block, choice.kind);
    std::erase_if(choices,
                  [&](const Choice& choice) { return plan.step_of(choice.name, AttentionStep::pattern) == nullptr; });
    if (choices.size() < 2) return;
    for (const Choice& choice : choices) {
        const bool chosen = choice.name == scene.attention;
        items.push_back(toggle_item(scene.ui, tr(choice.label), choice.label.english(), chosen, tr(choice.tip),
                                    scene.ui.px(2), [&scene, chosen, name = choice.name] {
                                        if (!chosen)
                                            scene.commands.push_back(core::command::GoTo{
                                                scene.run().plan().step_of(name, AttentionStep::pattern)->name});
                                    }));
    }
}

// ---- what the brush paints

std::optional<Index> heads_meant(const MasksScene& scene) {
    return scene.tab().all_heads ? std::nullopt : std::optional(scene.place.head);
}

void add_tools(std::vector<FlowItem>& items, const MasksScene& scene) {
    struct Choice {
        MaskTool tool;
        Phrase label, tip;
    };
    constexpr std::array choices = {
        Choice{MaskTool::cell, message("Cell"), message("Drag hides or shows single cells.")},
        Choice{MaskTool::row, message("Row"),
               message("A click hides all that a query sees; a second click restores it.")},
        Choice{MaskTool::column, message("Column"),
               message("A click hides a key from every query; a second click restores it.")},
    };
    for (const Choice& choice : choices) {
        const float gap = scene.ui.px(choice.tool == MaskTool::cell ? 20 : 2);
        items.push_back(toggle_item(scene.ui, tr(choice.label), choice.label.english(), scene.tab().tool == choice.tool,
                                    tr(choice.tip), gap, [&scene, choice] { scene.tab().tool = choice.tool; }));
    }
}

void band_controls(const MasksScene& scene) {
    const Ui& ui = scene.ui;
    const core::Heatmap& mask = scene.shown().parts.combined;
    Index& width = scene.tab().band;
    width = std::clamp<Index>(width, 1, std::max(mask.rows, mask.columns));
    const Index before = width;
    const std::string label = tr("Window {width}", {{"width", width}});
    const bool clicked = toggle_button(
        ui, labelled(label, "band").c_str(), false,
        tr("Sliding window: each query sees only this many keys, its own included. Replaces what was drawn before."));
    ImGui::SameLine(0, 0);
    if (icon_button(ui, "narrower", Icon::back, width > 1, tr("Narrower window"))) --width;
    ImGui::SameLine(0, 0);
    if (icon_button(ui, "wider", Icon::forward, width < std::max(mask.rows, mask.columns), tr("Wider window"))) ++width;
    if (clicked || width != before)
        scene.commands.push_back(
            core::command::PaintMasks{{scene.attention, scene.place.batch, heads_meant(scene),
                                       core::cells_outside_band(mask.rows, mask.columns, width), false},
                                      false,
                                      true});
}

// ---- padding by its length

struct Lengths {
    Index rows, length;
    const Tensor& mask;
};

Lengths lengths_of(const MasksScene& scene) {
    const Inputs& inputs = core::text_of(scene.session.fitting_scenario());
    if (!scene.keys_of_source()) return {inputs.batch(), inputs.pos(), inputs.attention_mask};
    const Tensor& source = inputs.encoder_tokens.empty() ? inputs.memory : inputs.encoder_tokens;
    return {inputs.batch(), source.dim(1), inputs.encoder_attention_mask};
}

// Drags the end of what is kept along one row.
void drag_length(const MasksScene& scene, Index row, Index length, Index kept, Area bar) {
    MasksTabState& tab = scene.tab();
    const float beside = scene.ui.px(6);
    click_at("length", {{bar.low.x - beside, bar.low.y}, {bar.high.x + beside, bar.high.y}}, row);
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    tooltip(tr("Row {row}: {kept} of {length} positions are kept, the rest is padding. Drag the end.",
               {{"row", row}, {"kept", kept}, {"length", length}})
                .c_str());
    if (ImGui::IsItemActivated()) tab.dragged.reset();
    // A quick drag may still move in the frame that releases the button.
    if (!ImGui::IsItemActive() && !ImGui::IsItemDeactivated()) return;
    const float part = (ImGui::GetIO().MousePos.x - bar.low.x) / std::max(bar.width(), 1.0F);
    const Index wanted = std::clamp<Index>(std::llround(part * static_cast<float>(length)), 0, length);
    if (wanted == kept) return;
    scene.commands.push_back(core::command::SetKeptLength{scene.keys_of_source(), row, wanted, tab.dragged == row});
    tab.dragged = row;
}

void draw_length_bar(const MasksScene& scene, const Lengths& lengths, Index row, Index kept, Area bar) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto x = [&](Index position) {
        return std::floor(bar.low.x + bar.width() * static_cast<float>(position) / static_cast<float>(lengths.length));
    };
    const float top = bar.low.y + ui.px(3), bottom = bar.high.y - ui.px(3);
    const ImU32 hidden = to_imgui(core::hidden_color(core::hidden_by::padding, ui.theme.dark));
    const bool holes = !lengths.mask.empty();
    list.AddRectFilled({bar.low.x, top}, {x(kept), bottom}, with_alpha(ui.theme.accent, 0.30F));
    list.AddRectFilled({x(kept), top}, {bar.high.x, bottom}, hidden);
    for (Index i = 0; holes && i < kept; ++i)
        if (lengths.mask.at(Cell{row, i}) == 0.0F) list.AddRectFilled({x(i), top}, {x(i + 1), bottom}, hidden);
    if (bar.width() / static_cast<float>(lengths.length) > ui.px(6))
        for (Index i = 1; i < lengths.length; ++i)
            list.AddLine({x(i), top}, {x(i), bottom}, ui.theme.background, ui.px(1));
    list.AddRectFilled({x(kept) - ui.px(2), bar.low.y}, {x(kept) + ui.px(2), bar.high.y}, ui.theme.accent, ui.px(2));
}

// As many batch rows as there is room for, including the current one.
void draw_lengths(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const Lengths lengths = lengths_of(scene);
    draw_text(ui, ui.note(), area.low,
              scene.keys_of_source() ? tr("source padding by row") : tr("padding by batch row"), area.width());
    const float line = ui.px(22), label = ui.px(20), top = area.low.y + ui.px(24);
    const auto room = std::max<Index>(1, static_cast<Index>((area.high.y - top) / line));
    const Index first = std::clamp<Index>(scene.place.batch - room + 1, 0, std::max<Index>(0, lengths.rows - room));
    for (Index row = first; row < std::min(first + room, lengths.rows); ++row) {
        const float y = top + line * static_cast<float>(row - first);
        const bool chosen = row == scene.place.batch;
        draw_text(ui, {ui.fonts.mono_small, chosen ? ui.theme.text : ui.theme.muted}, {area.low.x, y},
                  std::to_string(row));
        const Area bar = {{area.low.x + label, y}, {area.high.x - ui.px(8), y + ui.px(16)}};
        const Index kept = core::kept_length(lengths.mask, row, lengths.length);
        draw_length_bar(scene, lengths, row, kept, bar);
        drag_length(scene, row, lengths.length, kept, bar);
    }
}

std::vector<FlowItem> tools_of(const MasksScene& scene) {
    const Ui& ui = scene.ui;
    std::vector<FlowItem> items;
    add_attentions(items, scene);
    add_tools(items, scene);
    const std::string band = tr("Window {width}", {{"width", 88}});  // as wide as it gets
    items.push_back(
        {button_width(band.c_str()) + ImGui::GetFrameHeight() * 2.0F, ui.px(10), [&scene] { band_controls(scene); }});
    items.push_back(toggle_item(ui, tr("All heads"), "all", scene.tab().all_heads,
                                tr("Paint every head rather than the chosen one; so does Shift."), ui.px(10),
                                [&scene] { scene.tab().all_heads = !scene.tab().all_heads; }));
    items.push_back(toggle_item(
        ui, tr("Reset"), "reset", false, tr("Undoes what was drawn on this mask, for this head or for all."), ui.px(2),
        [&scene] {
            scene.commands.push_back(core::command::ResetMask{scene.attention, scene.place.batch, heads_meant(scene)});
        }));
    return items;
}

PageTitle title_of_masks() { return {tr("Who may look at whom"), {}}; }

void draw_mask(const MasksScene& scene, const core::Heatmap& mask, std::uint8_t cause, const char* sign,
               const char* tip, const MaskSlot& slot) {
    const core::masks::MaskParts& parts = scene.shown().parts;
    const ImU32 color = cause == core::hidden_by::nothing ? color_of(Meaning::attention)
                                                          : to_imgui(core::hidden_color(cause, scene.ui.theme.dark));
    core::masks::MaskPicture picture{nullptr, mask, {}, true};
    // What was painted is marked in every picture, so that the one that was dragged over shows it, too.
    const bool of_hand = cause == core::hidden_by::hand || cause == core::hidden_by::nothing;
    picture.marked = of_hand ? parts.opened : parts.painted;
    picture.overridden = !of_hand;
    if (*sign != '\0') draw_sign(scene, slot, sign, {tip});
    draw_mask_picture(scene, picture, color, Legend::none, slot);
}

// "not causal", "padding: hides nothing": a mask of ones, by its word.
float draw_word(const MasksScene& scene, const core::masks::SingleMask& mask, ImVec2 at, float width) {
    const Ui& ui = scene.ui;
    draw_text(ui, ui.note(), at,
              mask.is_there ? tr("{mask}: hides nothing", {{"mask", mask.heatmap.title}}) : mask.heatmap.title, width);
    return at.y + compat::font_size(ui.fonts.caption) + ui.px(5);
}

}  // namespace

float mask_tools_height(const MasksScene& scene, float width) {
    return titled_height(scene.ui, title_of_masks(), tools_of(scene), width, scene.control_lines);
}

void draw_mask_tools(const MasksScene& scene, Area area) {
    ImGui::PushID("mask-tools");
    draw_titled(scene.ui, title_of_masks(), tools_of(scene), area, scene.control_lines);
    ImGui::PopID();
}

void draw_mask_parts(const MasksScene& scene, const MaskSlots& slots) {
    const core::masks::MaskParts& parts = scene.shown().parts;
    draw_mask(scene, parts.combined, core::hidden_by::nothing, "", "", slots.combined);
    const std::vector<const core::masks::SingleMask*> apart = parts.apart();
    for (std::size_t i = 0; i < apart.size(); ++i)
        draw_mask(scene, apart[i]->heatmap, apart[i]->cause, i == 0 ? "=" : "∧",
                  i == 0 ? tr("What is drawn manually overrides the other masks.")
                         : tr("A key is kept if every mask keeps it."),
                  slots.parts[i]);
    ImVec2 word = slots.words.low;
    const core::masks::SingleMask& drawn = parts.drawn();
    for (const core::masks::SingleMask& mask : parts.single)
        if (&mask != &drawn && !mask.hides()) word.y = draw_word(scene, mask, word, slots.words.width());
    if (drawn.hides() || std::ranges::find(parts.opened, 1) != parts.opened.end())
        draw_mask(scene, drawn.heatmap, drawn.cause, "", "", slots.drawn);
    else
        word.y = draw_word(scene, drawn, word, slots.words.width());
    draw_lengths(scene, {{word.x, word.y + scene.ui.px(6)}, slots.words.high});
}

}  // namespace decoderscope::views::masks
