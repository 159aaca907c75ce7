#include "app/views/map/map.h"

#include "app/core/tabs/diff/effect_of_edits.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/frame/overlay_colors.h"
#include "app/views/frame/tab.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <optional>
#include <string>

namespace decoderscope::views::map {

namespace {

// Heights in pixels at 100 %, and how far they shrink where the window is low.
constexpr float kTop = 10, kRow = 24, kBelowRow = 6, kStep = 19, kBelowSteps = 4, kBlockName = 20, kBelowTitle = 6;
constexpr float kLeastFit = 0.8F;

// Which blocks are drawn in parts.
struct Folding {
    bool calm = false;
    std::string opened;  // calm: the block that was clicked
};

// What the map remembers from frame to frame.
struct MapState {
    std::string scrolled_to;  // the step that the map was last scrolled to
    std::string opened;       // the block that was clicked last, in the calm window
};

// The drawing position while the diagram grows downwards.
struct Diagram {
    const Ui& ui;
    const core::Session& session;
    Commands& commands;
    Area area;
    core::Value<core::diff::Reach> reach;  // of the edits; empty if there are none
    StepColors colors;
    core::Notes notes;
    float y = 0.0F;
    float fit = 1.0F;       // of the heights, so that a low window shows more of it
    float here_y = 0.0F;    // where the current step was drawn
    float here_end = 0.0F;  // where its part ends

    [[nodiscard]] bool is_narrow() const { return area.width() < ui.px(180); }
    [[nodiscard]] float stream_x() const { return area.low.x + ui.px(is_narrow() ? 16 : 20); }
    [[nodiscard]] float right() const { return area.high.x - ui.px(is_narrow() ? 2 : 8); }
    [[nodiscard]] float down(float pixels) const { return ui.px(pixels) * fit; }
    [[nodiscard]] float row() const { return down(kRow); }
};

bool holds(const core::step::OutlinePart& part, StepId id) {
    return std::find(part.steps.begin(), part.steps.end(), id) != part.steps.end();
}

bool holds(const core::step::OutlineBlock& block, StepId id) {
    return std::any_of(block.parts.begin(), block.parts.end(),
                       [&](const core::step::OutlinePart& part) { return holds(part, id); });
}

// Only the block of the current step, and what stands outside blocks, is drawn in parts; calm, only the block that was
// clicked.
bool is_open(const Folding& folding, const core::step::OutlineBlock& block, StepId here) {
    if (block.name.empty()) return true;
    return folding.calm ? block.name == folding.opened : holds(block, here);
}

// Whether a clickable row was clicked, and whether the mouse is on it. A part and its first step lead to the same step:
// `kind` tells their ids apart.
struct Clicked {
    bool clicked = false, hovered = false;
};
Clicked clickable(Area box, const char* kind, StepId id) {
    const bool clicked = press_at(kind, box, static_cast<Index>(id));
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    return {clicked, hovered};
}

void go_to(Diagram& d, StepId id) { d.commands.push_back(core::command::GoTo{d.session.shown().run->plan()[id].name}); }

// What follows this beginning; all of a text that begins otherwise.
std::string after(const std::string& beginning, const std::string& text) {
    return text.starts_with(beginning) ? text.substr(beginning.size()) : text;
}

std::string short_name(const Step& step) { return after(step.block + ".", step.name); }

// The same below the name of its attention: "pattern". Rows of several blocks stand together, with their blocks'
// numbers.
std::string name_in_part(const Step& step) {
    if (step.part == Part::own && !step.block.empty()) return std::to_string(step.layer) + " " + short_name(step);
    return after(step.block + ".", after(step.attention + ".", step.name));
}

bool changed(const Diagram& d, const core::step::OutlinePart& part) {
    return d.reach && std::any_of(part.steps.begin(), part.steps.end(), [&](StepId id) { return d.reach->has(id); });
}

bool changed(const Diagram& d, const core::step::OutlineBlock& block) {
    return std::any_of(block.parts.begin(), block.parts.end(),
                       [&](const core::step::OutlinePart& part) { return changed(d, part); });
}

bool has_notes(const Diagram& d, const core::step::OutlinePart& part) {
    if (d.notes.empty()) return false;
    return std::any_of(part.steps.begin(), part.steps.end(), [&](StepId id) {
        return core::count_notes(d.notes, d.session.shown().run->plan()[id].name) > 0;
    });
}

bool has_notes(const Diagram& d, const core::step::OutlineBlock& block) {
    return std::any_of(block.parts.begin(), block.parts.end(),
                       [&](const core::step::OutlinePart& part) { return has_notes(d, part); });
}

// The room that the mark of a change needs at the right end of a row.
float mark_room(const Diagram& d, bool is_changed) {
    return is_changed ? compat::text_size(d.ui.fonts.mono_small, kChangedMark).x + d.ui.px(5) : 0.0F;
}

void draw_mark(const Diagram& d, Area box, bool is_changed) {
    if (!is_changed) return;
    ImFont* font = d.ui.fonts.mono_small;
    draw_text(d.ui, font,
              {box.high.x - mark_room(d, true), box.low.y + (box.height() - compat::font_size(font)) * 0.5F},
              d.ui.theme.accent, kChangedMark);
}

// The steps of the current part, one line each.
void steps_of(Diagram& d, const core::step::OutlinePart& part, StepId here, float x) {
    const Plan& plan = d.session.shown().run->plan();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float height = d.down(kStep);
    for (const StepId id : part.steps) {
        const Step& step = plan[id];
        const Area box = {{x, d.y}, {d.right(), d.y + height}};
        const Clicked hit = clickable(box, "step", id);
        if (hit.clicked) go_to(d, id);
        if (hit.hovered) {
            place_tooltip_beside(d.ui, box);
            step_tooltip(d.ui, d.session, step);
        }
        if (id == here) d.here_y = d.y;
        if (id == here)
            list.AddRectFilled(box.low, box.high, d.ui.theme.accent_soft, d.ui.px(3));
        else if (hit.hovered)
            list.AddRectFilled(box.low, box.high, d.ui.theme.raised, d.ui.px(3));
        const float swatch = d.ui.px(d.colors.are_of_file() ? 5 : 3);
        list.AddRectFilled({x + d.ui.px(9) - swatch, d.y + height * 0.5F - swatch},
                           {x + d.ui.px(9) + swatch, d.y + height * 0.5F + swatch}, d.colors.of(step), d.ui.px(1));
        const bool is_changed = d.reach && d.reach->has(id);
        ImFont* font = d.ui.fonts.mono_small;
        const float room = box.high.x - x - d.ui.px(18) - mark_room(d, is_changed);
        draw_text(d.ui, font, {x + d.ui.px(16), d.y + (height - compat::font_size(font)) * 0.5F},
                  id == here ? d.ui.theme.text : d.ui.theme.muted, fitted_in_middle(font, name_in_part(step), room),
                  room);
        draw_mark(d, box, is_changed);
        if (core::count_notes(d.notes, step.name) > 0) draw_note_mark(d.ui, box);
        d.y += height;
    }
}

// One step is explained, several are named.
void part_tooltip(const Diagram& d, const core::step::OutlinePart& part) {
    const Plan& plan = d.session.shown().run->plan();
    if (part.steps.size() == 1) return step_tooltip(d.ui, d.session, plan[part.steps.front()]);
    if (!compat::begin_tooltip()) return;
    text_line(d.ui.fonts.caption, d.ui.theme.text, tr(part.title));
    for (const StepId id : part.steps) text_line(d.ui.fonts.mono_small, d.ui.theme.muted, plan[id].name);
    ImGui::EndTooltip();
}

// A box next to the stream with lines out and back, or a node on the stream.
void part_row(Diagram& d, const core::step::OutlinePart& part, StepId here) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool lit = holds(part, here);
    const ImU32 color = d.colors.of(part.steps, part.meaning);
    const float x = part.on_stream ? d.stream_x() - d.ui.px(10) : d.stream_x() + d.ui.px(18);
    const Area box = {{x, d.y}, {d.right(), d.y + d.row()}};
    const Clicked hit = clickable(box, "part", part.steps.front());
    if (hit.clicked) go_to(d, part.steps.front());
    if (hit.hovered) {
        place_tooltip_beside(d.ui, box);
        part_tooltip(d, part);
    }
    const float middle = d.y + d.row() * 0.5F;
    if (lit) d.here_y = d.y;
    const bool sum = part.part == Part::add;
    if (sum) {
        list.AddCircleFilled({d.stream_x(), middle}, d.ui.px(8), d.ui.theme.panel, 20);
        list.AddCircle({d.stream_x(), middle}, d.ui.px(8), lit ? d.ui.theme.accent : color, 20,
                       d.ui.px(lit ? 2 : 1.5F));
        list.AddLine({d.stream_x() - d.ui.px(4), middle}, {d.stream_x() + d.ui.px(4), middle}, color, d.ui.px(1.5F));
        list.AddLine({d.stream_x(), middle - d.ui.px(4)}, {d.stream_x(), middle + d.ui.px(4)}, color, d.ui.px(1.5F));
        // The update comes in from the side.
        list.AddLine({d.stream_x() + d.ui.px(8), middle}, {d.stream_x() + d.ui.px(26), middle}, with_alpha(color, 0.7F),
                     d.ui.px(1.5F));
        list.AddLine({d.stream_x() + d.ui.px(26), middle}, {d.stream_x() + d.ui.px(26), d.y}, with_alpha(color, 0.7F),
                     d.ui.px(1.5F));
    } else {
        list.AddRectFilled(box.low, box.high, hit.hovered || lit ? d.ui.theme.raised : d.ui.theme.panel, d.ui.px(4));
        compat::add_rect(list, box.low, box.high, lit ? d.ui.theme.accent : d.ui.theme.line, d.ui.px(4),
                         d.ui.px(lit ? 1.5F : 1));
        list.AddRectFilled(box.low, {box.low.x + d.ui.px(d.colors.are_of_file() ? 9 : 4), box.high.y}, color,
                           d.ui.px(2));
    }
    const Step& only = d.session.shown().run->plan()[part.steps.front()];
    const std::string title = sum ? short_name(only) : tr(part.title);
    const bool is_changed = changed(d, part);
    draw_text(d.ui, d.ui.fonts.caption,
              {x + d.ui.px(sum ? 40 : 12), d.y + (d.row() - compat::font_size(d.ui.fonts.caption)) * 0.5F},
              lit ? d.ui.theme.text : d.ui.theme.muted, title,
              box.high.x - x - d.ui.px(sum ? 44 : 16) - mark_room(d, is_changed));
    draw_mark(d, box, is_changed);
    if (has_notes(d, part)) draw_note_mark(d.ui, box);
    d.y += d.row() + d.down(1);
    if (lit && part.steps.size() > 1) {
        steps_of(d, part, here, part.on_stream ? x + d.ui.px(20) : x);
        d.y += d.down(kBelowSteps);
    }
    if (lit) d.here_end = d.y;
    d.y += d.down(kBelowRow - 1);
}

void open_block(Diagram& d, const core::step::OutlineBlock& block, StepId here) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (!block.name.empty()) {
        draw_text(d.ui, d.ui.fonts.caption, {d.area.low.x + d.ui.px(36), d.y}, d.ui.theme.text, block.name);
        d.y += d.down(kBlockName);
    }
    list.ChannelsSplit(2);
    list.ChannelsSetCurrent(1);
    const float top = d.y;
    for (const core::step::OutlinePart& part : block.parts) part_row(d, part, here);
    list.ChannelsSetCurrent(0);
    list.AddLine({d.stream_x(), top - d.down(block.name.empty() ? kBelowRow - 1 : kBlockName + kBelowRow - 1)},
                 {d.stream_x(), d.y}, color_of(Meaning::residual), d.ui.px(2.5F));
    list.ChannelsMerge();
}

// A stripe for each part of a block, up to `end`: as wide as there is room behind its name, or none.
void draw_stripes(const Diagram& d, const core::step::OutlineBlock& block, float from, float end) {
    const float gap = d.ui.px(2), height = d.ui.px(5), count = static_cast<float>(block.parts.size());
    const float width = std::min(d.ui.px(5), (end - from) / count - gap);
    if (width < d.ui.px(2)) return;
    float x = end - count * (width + gap);
    for (const core::step::OutlinePart& part : block.parts) {
        ImGui::GetWindowDrawList()->AddRectFilled({x, d.y + d.row() * 0.5F - height},
                                                  {x + width, d.y + d.row() * 0.5F + height},
                                                  d.colors.of(block.name, part.steps, part.meaning), d.ui.px(1));
        x += width + gap;
    }
}

// A block that is not drawn in parts: one row with a stripe for each of them. `lit`: the current step is in it.
void closed_block(Diagram& d, const core::step::OutlineBlock& block, bool lit, std::string& opened) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Area box = {{d.stream_x() - d.ui.px(10), d.y}, {d.right(), d.y + d.row()}};
    list.AddLine({d.stream_x(), d.y - d.down(kBelowRow)}, {d.stream_x(), d.y}, color_of(Meaning::residual),
                 d.ui.px(2.5F));
    list.AddLine({d.stream_x(), box.high.y}, {d.stream_x(), box.high.y + d.down(kBelowRow)},
                 color_of(Meaning::residual), d.ui.px(2.5F));
    const Clicked hit = clickable(box, "block", block.parts.front().steps.front());
    // A click goes to the same step in that block if there is one, for comparison.
    if (hit.clicked) opened = block.name;
    if (hit.clicked && !lit) go_to(d, block.parts.front().steps.front());
    if (lit) d.here_y = d.y;
    list.AddRectFilled(box.low, box.high, hit.hovered || lit ? d.ui.theme.raised : d.ui.theme.panel, d.ui.px(4));
    compat::add_rect(list, box.low, box.high, lit ? d.ui.theme.accent : d.ui.theme.line, d.ui.px(4),
                     d.ui.px(lit ? 1.5F : 1.0F));
    const bool is_changed = changed(d, block);
    draw_mark(d, box, is_changed);
    const float name = box.low.x + d.ui.px(12), end = box.high.x - d.ui.px(8) - mark_room(d, is_changed);
    draw_text(d.ui, d.ui.fonts.caption, {name, d.y + (d.row() - compat::font_size(d.ui.fonts.caption)) * 0.5F},
              lit ? d.ui.theme.text : d.ui.theme.muted, block.name, end - name);
    draw_stripes(d, block, name + compat::text_size(d.ui.fonts.caption, block.name).x + d.ui.px(8), end);
    if (has_notes(d, block)) draw_note_mark(d.ui, box);
    d.y += d.row() + d.down(kBelowRow);
}

// "Encoder" or "Decoder" over its blocks.
void stack_title(Diagram& d, StackKind stack) {
    draw_text(d.ui, d.ui.fonts.text, {d.area.low.x + d.ui.px(10), d.y}, d.ui.theme.text, core::step::stack_name(stack),
              d.area.width() - d.ui.px(18));
    d.y += compat::font_size(d.ui.fonts.text) + d.down(kBelowTitle);
}

// The other pass, forward or backward, in one row: the backward pass is as long as the forward pass.
void closed_way(Diagram& d, const core::step::OutlineBlock& first) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    d.y += d.down(kBelowRow);
    const Area box = {{d.stream_x() - d.ui.px(10), d.y}, {d.right(), d.y + d.row()}};
    const StepId id = first.parts.front().steps.front();
    const Clicked hit = clickable(box, "way", id);
    if (hit.clicked) go_to(d, id);
    list.AddRectFilled(box.low, box.high, hit.hovered ? d.ui.theme.raised : d.ui.theme.accent_soft, d.ui.px(4));
    const std::string title =
        first.is_back ? tr("Backward: gradients of {target}", {{"target", d.session.shown().scenario.gradient_target}})
                      : std::string(tr("Forward pass"));
    draw_text(d.ui, d.ui.fonts.caption,
              {box.low.x + d.ui.px(12), d.y + (d.row() - compat::font_size(d.ui.fonts.caption)) * 0.5F},
              d.ui.theme.text, title, box.width() - d.ui.px(16));
    if (hit.hovered) tooltip(title.c_str());
    d.y += d.row() + d.down(kBelowRow);
}

// Whether the current step belongs to the backward pass.
bool is_back(const core::step::ShownOutline& outline, StepId here) {
    return std::any_of(outline.blocks.begin(), outline.blocks.end(), [&](const core::step::OutlineBlock& block) {
        return block.is_back &&
               std::any_of(block.parts.begin(), block.parts.end(), [&](const auto& part) { return holds(part, here); });
    });
}

// The height of the whole diagram at 100 %, in pixels of the screen.
float full_height(const Ui& ui, const core::step::ShownOutline& outline, const Folding& folding, StepId here,
                  bool back) {
    float pixels = kTop + kBelowRow;
    if (outline.blocks.front().is_back != outline.blocks.back().is_back) pixels += kRow + 2 * kBelowRow;
    for (const core::step::OutlineBlock& block : outline.blocks) {
        if (block.is_back != back) continue;
        pixels += kRow + kBelowRow;
        if (!is_open(folding, block, here)) continue;
        pixels += block.name.empty() ? 0 : kBlockName;
        pixels += (kRow + kBelowRow) * (static_cast<float>(block.parts.size()) - 1);
        for (const core::step::OutlinePart& part : block.parts)
            if (holds(part, here) && part.steps.size() > 1)
                pixels += kStep * static_cast<float>(part.steps.size()) + kBelowSteps;
    }
    return ui.px(pixels) + (compat::font_size(ui.fonts.text) + ui.px(kBelowTitle)) * 2.0F;
}

// At the foot of the map, what shows its steps all at once. Returns the height that it takes.
float draw_links(const Ui& ui, ViewState& state, Area area) {
    float height = 0.0F;
    for (const Tab& tab : tabs()) {
        if (!tab.in_between) continue;
        const std::string text = tr("{question} ({key})", {{"question", tr(tab.title)}, {"key", key_text(tab.key)}});
        height += compat::font_size(ui.fonts.caption) + ui.px(12);
        ImGui::SetCursorScreenPos({area.low.x + ui.px(10), area.high.y - height + ui.px(4)});
        if (link(ui, ui.fonts.caption, ui.theme.accent, text, -9)) state.tab = tab.id;
        tooltip(tr(tab.question));
    }
    return height;
}

}  // namespace

void draw_map(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.panel);
    if (session.overlay()) {  // above what scrolls
        draw_overlay_legend(ui, *session.overlay(),
                            {{area.low.x + ui.px(10), area.low.y + ui.px(8)}, {area.high.x - ui.px(8), area.high.y}},
                            commands);
        area.low.y += ui.px(8) + overlay_legend_height(ui);
    }
    // In the full layout the map needs its height, and the palette and the keys list all tabs.
    if (state.is_calm()) area.high.y -= draw_links(ui, state, area);
    begin_part("map", area);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const Area content = {area.low,
                          {start.x + ImGui::GetContentRegionAvail().x, area.high.y}};  // without the scroll bar
    Diagram d{ui,
              session,
              commands,
              content,
              core::diff::shown_reach(session.derived(), session.shown()),
              StepColors(ui, session),
              session.seen_notes(),
              start.y + ui.px(kTop)};
    const Step& step = session.step();
    const std::size_t position = session.timeline_position();
    const StepId here = step.is_source() ? session.timeline()[position] : step.id;
    const core::Value<core::step::ShownOutline> outline =
        core::step::shown_outline(session.derived(), session.shown().run);
    const bool back = is_back(*outline, here);
    std::string& opened = state.part<MapState>().opened;
    const Folding folding = {state.is_calm(), opened};
    d.fit = std::clamp(area.height() / full_height(ui, *outline, folding, here, back), kLeastFit, 1.0F);
    const auto is_encoder = [](const core::step::OutlineBlock& block) { return block.stack == StackKind::encoder; };
    const bool two_stacks = std::any_of(outline->blocks.begin(), outline->blocks.end(), is_encoder);
    std::optional<StackKind> stack;
    bool other_way_closed = false;
    for (const core::step::OutlineBlock& block : outline->blocks) {
        if (block.is_back != back) {
            if (!other_way_closed) closed_way(d, block);
            other_way_closed = true;
            continue;
        }
        if (two_stacks && stack != block.stack) stack_title(d, block.stack);
        stack = block.stack;
        if (is_open(folding, block, here))
            open_block(d, block, here);
        else
            closed_block(d, block, holds(block, here), opened);
    }
    ImGui::SetCursorScreenPos({start.x, d.y});
    ImGui::Dummy({1, 1});
    const bool out_of_sight = d.here_y < area.low.y || std::max(d.here_y + ui.px(48), d.here_end) > area.high.y;
    std::string& scrolled_to = state.part<MapState>().scrolled_to;
    if (scrolled_to != session.cursor().step && out_of_sight)
        ImGui::SetScrollFromPosY(d.here_y - ImGui::GetWindowPos().y, 0.4F);
    scrolled_to = session.cursor().step;
    ImGui::EndChild();
}

}  // namespace decoderscope::views::map
