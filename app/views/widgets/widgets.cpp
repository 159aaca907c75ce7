#include "app/views/widgets/widgets.h"

#include "app/core/text/characters.h"
#include "app/core/text/text_layout.h"
#include "app/views/widgets/frame_document.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views {

namespace {

// The room for any number out of `count`: the arrow behind it stays under the pointer that presses it.
float number_width(const Ui& ui, std::int64_t value, std::int64_t count) {
    return compat::text_size(ui.fonts.mono, std::to_string(std::max(value, count - 1))).x;
}

// The start of the character after `at`, in UTF-8.
std::size_t next_character(std::string_view text, std::size_t at) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    return at;
}

std::vector<std::size_t> character_starts(std::string_view text) {
    std::vector<std::size_t> starts;
    for (std::size_t at = 0; at < text.size(); at = next_character(text, at)) starts.push_back(at);
    return starts;
}

// How many characters, from 1 to `most`, can be kept so that `cut(kept)` fits; 0 if not even one can.
template <class Cut>
std::size_t most_that_fits(ImFont* font, float width, std::size_t most, const Cut& cut) {
    std::size_t fits = 0;
    for (std::size_t too_many = most + 1; fits + 1 < too_many;) {
        const std::size_t middle = fits + (too_many - fits) / 2;
        (compat::text_size(font, cut(middle)).x <= width ? fits : too_many) = middle;
    }
    return fits;
}

void note(std::string_view text) {
    note_glyphs(ImGui::GetFont(), text);
    note_place(*ImGui::GetWindowDrawList(), ImGui::GetFont(), ImGui::GetCursorScreenPos(), text);
}

void write_here(std::string_view text) {
    if (lacks_glyphs(text)) return write_here(with_code_points(text));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
}

void triangle(ImDrawList& list, ImVec2 middle, float r, float direction, ImU32 color) {
    list.AddTriangleFilled({middle.x - direction * r * 0.6F, middle.y - r},
                           {middle.x - direction * r * 0.6F, middle.y + r}, {middle.x + direction * r, middle.y},
                           color);
}

// An arrow that bends back: undo towards the left (direction −1), redo towards the right.
void bent_arrow(ImDrawList& list, ImVec2 middle, float r, float direction, ImU32 color) {
    const ImVec2 tip = {middle.x + direction * r, middle.y - r * 0.35F};
    const ImVec2 points[] = {tip,
                             {middle.x - direction * r * 0.3F, middle.y - r * 0.35F},
                             {middle.x - direction * r * 0.9F, middle.y + r * 0.15F},
                             {middle.x - direction * r * 0.5F, middle.y + r * 0.8F},
                             {middle.x + direction * r * 0.3F, middle.y + r * 0.8F}};
    compat::add_polyline(list, points, color, std::max(1.0F, r * 0.28F));
    list.AddTriangleFilled({tip.x + direction * r * 0.2F, tip.y}, {tip.x - direction * r * 0.5F, tip.y - r * 0.55F},
                           {tip.x - direction * r * 0.5F, tip.y + r * 0.55F}, color);
}

void draw_icon(ImDrawList& list, Icon icon, ImVec2 middle, float r, ImU32 color) {
    const auto bar = [&](float x) {
        list.AddRectFilled({x - r * 0.16F, middle.y - r}, {x + r * 0.16F, middle.y + r}, color);
    };
    const float side = icon == Icon::first || icon == Icon::back || icon == Icon::undo ? -1.0F : 1.0F;
    if (icon == Icon::first || icon == Icon::last) bar(middle.x + side * r * 0.9F);
    if (icon == Icon::pause) {
        bar(middle.x - r * 0.45F);
        bar(middle.x + r * 0.45F);
    } else if (icon == Icon::undo || icon == Icon::redo) {
        bent_arrow(list, middle, r, side, color);
    } else {
        triangle(list, middle, icon == Icon::play ? r * 1.1F : r, side, color);
    }
}

// Not ImGui's own wrapping, which would break a number at its decimal point. Returns the y below the lines.
float draw_lines(const Ui& ui, ImFont* font, ImVec2 at, float width, float pitch, ImU32 color, const std::string& text,
                 std::size_t most) {
    const NotedWhole noted(font, at, text);
    const auto measure = [font](const std::string& line) { return compat::text_size(font, line).x; };
    for (const std::string& line : core::wrapped(text, width, measure, most)) {
        draw_text(ui, {font, color}, at, line, width);
        at.y += pitch;
    }
    return at.y;
}

// How much of a word fits: up to a mark where a name may be cut, or as many characters as there is room for.
std::size_t fitting_part(ImFont* font, std::string_view word, float width) {
    std::size_t fits = core::character_at(word, 0).bytes.size(), after_mark = 0;
    for (std::size_t next = fits; next < word.size(); next += core::character_at(word, next).bytes.size()) {
        if (compat::text_size(font, word.substr(0, next)).x > width) break;
        fits = next;
        if (std::string_view("./,;:_-").find(word[next - 1]) != std::string_view::npos) after_mark = next;
    }
    return after_mark > 0 ? after_mark : fits;
}

}  // namespace

std::string fitted(ImFont* font, std::string_view text, float width) {
    if (compat::text_size(font, text).x <= width) return std::string(text);
    const std::vector<std::size_t> starts = character_starts(text);
    const auto cut = [&](std::size_t kept) { return std::string(text.substr(0, starts[kept])) + "…"; };
    const std::size_t kept = most_that_fits(font, width, starts.size() - 1, cut);
    return kept == 0 ? std::string() : cut(kept);
}

std::string fitted_in_middle(ImFont* font, std::string_view text, float width) {
    if (compat::text_size(font, text).x <= width) return std::string(text);
    // Characters are taken from the middle until the rest fits; the end, which tells names apart, keeps more.
    const std::vector<std::size_t> starts = character_starts(text);
    const auto cut = [&](std::size_t kept) {
        const std::size_t head = kept / 3, tail = kept - head;
        return std::string(text.substr(0, starts[head])) + "…" + std::string(text.substr(starts[starts.size() - tail]));
    };
    const std::size_t kept = most_that_fits(font, width, starts.size() - 1, cut);
    return kept < 2 ? fitted(font, text, width) : cut(kept);
}

std::string shortened(ImFont* font, const std::string& label, float width) {
    // "<pad>" and "<bos>" are told apart by what stands in the brackets.
    const bool special = label.size() > 2 && label.front() == '<' && label.back() == '>';
    if (special && compat::text_size(font, label).x > width)
        return shortened(font, label.substr(1, label.size() - 2), width);
    constexpr float kLeastCut = 4.0F;  // characters: two and "…" say less than three
    if (compat::text_size(font, label).x <= width || width >= compat::text_size(font, "0").x * kLeastCut)
        return fitted(font, label, width);
    std::size_t end = 0;
    for (std::size_t next = next_character(label, 0); next <= label.size(); next = next_character(label, next)) {
        if (compat::text_size(font, label.substr(0, next)).x > width) break;
        end = next;
        if (next == label.size()) break;
    }
    return label.substr(0, end);
}

float draw_text(const Ui&, TextStyle style, ImVec2 at, std::string_view text, float width) {
    const std::string shown = fitted(style.font, text, width);
    const NotedWhole noted(style.font, at, text);
    // Whole pixels keep the glyphs sharp.
    compat::add_text(*ImGui::GetWindowDrawList(), style.font, {std::floor(at.x), std::floor(at.y)}, style.color, shown);
    return compat::text_size(style.font, shown).x;
}

void paragraph(TextStyle style, std::string_view text) { paragraph(style, text, ImGui::GetContentRegionAvail().x); }

void paragraph(TextStyle style, std::string_view text, float width) {
    compat::push_font(style.font);
    ImGui::PushStyleColor(ImGuiCol_Text, style.color);
    prose_here(text, width);
    ImGui::PopStyleColor();
    ImGui::PopFont();
}

void prose_here(std::string_view text, float width) {
    note(text);
    write_here(in_lines(ImGui::GetFont(), text, width));
}

void text_line(TextStyle style, std::string_view text) {
    compat::push_font(style.font);
    note(text);
    ImGui::PushStyleColor(ImGuiCol_Text, style.color);
    write_here(text);
    ImGui::PopStyleColor();
    ImGui::PopFont();
}

void word_beside(const Ui& ui, std::string_view text) {
    ImGui::AlignTextToFramePadding();
    text_line(ui.note(), text);
}

void word_before(const Ui& ui, std::string_view text, float gap) {
    word_beside(ui, text);
    ImGui::SameLine(0, ui.px(gap));
}

bool press_at(const char* id, Area area, std::int64_t number, std::string_view name) {
    ImGui::SetCursorScreenPos(area.low);
    ImGui::PushID(static_cast<int>(number));
    const bool clicked = press_area(id, {area.width(), area.height()}, name);
    ImGui::PopID();
    return clicked;
}

bool click_at(const char* id, Area area, std::int64_t number) {
    ImGui::SetCursorScreenPos(area.low);
    ImGui::PushID(static_cast<int>(number));
    const bool clicked = ImGui::InvisibleButton(id, {std::max(area.width(), 1.0F), std::max(area.height(), 1.0F)});
    ImGui::PopID();
    return clicked;
}

bool begin_menu_below(const Ui& ui, const std::string& label, const char* id, const char* tip) {
    if (button(label, id)) ImGui::OpenPopup(id);
    if (tip != nullptr) tooltip(tip);
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)});
    return ImGui::BeginPopup(id);
}

void begin_part(const char* id, Area area, ImGuiWindowFlags flags) {
    ImGui::SetCursorScreenPos(area.low);
    compat::begin_child(id, {std::max(area.width(), 1.0F), std::max(area.height(), 1.0F)}, {.flags = flags});
}

void scrolled(const char* id, Area area, const std::function<float(ImVec2)>& draw) {
    begin_part(id, area);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float end = draw(start);
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({1, std::max(end - start.y, 1.0F)});
    ImGui::EndChild();
}

Area with_scroll_bar(Area area) { return {area.low, {area.high.x + ImGui::GetStyle().ScrollbarSize, area.high.y}}; }

void scrolled_rows(const Ui& ui, const char* id, Area area, float line, std::size_t count,
                   const std::function<void(std::size_t, Area)>& draw, const std::function<void(float)>& scroll) {
    const float height = std::floor(area.height() / line) * line;
    if (height < line) return;
    const float right = area.high.x - ImGui::GetStyle().ScrollbarSize - ui.px(4);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    begin_part(id, {area.low, {area.high.x, area.low.y + height}});
    if (scroll) scroll(height);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(count), line);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const float y = start.y + line * static_cast<float>(i);
            draw(static_cast<std::size_t>(i), {{area.low.x, y}, {right, y + line}});
        }
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

bool is_asked_about() {
    const ImGuiID item = compat::last_item();
    if (item == 0) return ImGui::IsItemHovered();
    ImGuiStorage& kept = *ImGui::GetStateStorage();
    const ImGuiID pressed = ImGui::GetID("pressed-last");
    const bool is_it = static_cast<ImGuiID>(kept.GetInt(pressed)) == item;
    if (!ImGui::IsItemHovered()) {
        if (is_it) kept.SetInt(pressed, 0);
        return false;
    }
    if (ImGui::IsItemClicked()) kept.SetInt(pressed, static_cast<int>(item));
    return !is_it && !ImGui::IsItemClicked();
}

void tooltip(const char* text) {
    if (text == nullptr || *text == '\0') return;
    if (FrameDocument* document = document_in_use()) document->note_tooltip(text);
    if (!is_asked_about()) return;
    if (begin_tooltip_beside({ImGui::GetItemRectMin(), ImGui::GetItemRectMax()})) {
        prose_here(text, ImGui::GetFontSize() * 24.0F);
        ImGui::EndTooltip();
    }
}

bool begin_tooltip_beside(Area explained) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float gap = ImGui::GetStyle().ItemSpacing.y;
    const float above = explained.low.y, below = screen.y - explained.high.y;
    // Beside what fills the window, ImGui's own place at the mouse is as good as any.
    if (std::max(above, below) < screen.y * 0.25F) return compat::begin_tooltip();
    const bool under = below >= above, rightwards = explained.low.x < screen.x * 0.5F;
    const float x = rightwards ? std::max(explained.low.x, 0.0F) : std::min(explained.high.x, screen.x);
    ImGui::SetNextWindowPos({x, under ? explained.high.y + gap : explained.low.y - gap}, ImGuiCond_Always,
                            {rightwards ? 0.0F : 1.0F, under ? 0.0F : 1.0F});
    return compat::begin_tooltip();
}

std::string labelled(std::string_view text, std::string_view id) { return std::string(text).append("###").append(id); }

bool button(std::string_view text, std::string_view id, float width) {
    return focusable(ImGui::Button(labelled(text, id).c_str(), {width, 0.0F}), text);
}

bool toggle_button(const Ui& ui, const char* label, bool on, const char* tip) {
    if (on) {
        ImGui::PushStyleColor(ImGuiCol_Button, ui.theme.accent_soft);
        ImGui::PushStyleColor(ImGuiCol_Text, ui.theme.text);
    }
    const bool clicked = focusable(ImGui::Button(label), label, on);
    if (on) {
        ImGui::PopStyleColor(2);
        // A line, because the colour of its ground alone must not tell that it is on.
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        ImGui::GetWindowDrawList()->AddRectFilled({low.x + ui.px(4), high.y - ui.px(2)}, {high.x - ui.px(4), high.y},
                                                  ui.theme.accent);
    }
    tooltip(tip);
    return clicked;
}

int segmented(const Ui& ui, const char* id, std::span<const char* const> labels, int chosen, float most) {
    int clicked = -1;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGui::PushID(id);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(2), ui.px(6)));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const float width = ImGui::CalcTextSize(labels[i]).x + ImGui::GetStyle().FramePadding.x * 2.0F;
        if (i > 0 && ImGui::GetItemRectMax().x + ui.px(2) + width <= start.x + most)
            ImGui::SameLine();
        else if (i > 0)
            ImGui::SetCursorScreenPos({start.x, ImGui::GetItemRectMax().y + ui.px(6)});
        const std::string label = labelled(labels[i], std::to_string(i));
        if (toggle_button(ui, label.c_str(), static_cast<int>(i) == chosen, nullptr)) clicked = static_cast<int>(i);
    }
    ImGui::PopStyleVar();
    ImGui::PopID();
    return clicked;
}

bool link(const Ui& ui, TextStyle style, std::string_view text, int id) {
    const ImVec2 size = compat::text_size(style.font, text);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(id);
    const bool clicked = press_area("link", size);
    ImGui::PopID();
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    compat::add_text(list, style.font, at, style.color, text);
    if (hovered) {
        list.AddLine({at.x, at.y + size.y}, {at.x + size.x, at.y + size.y}, style.color, ui.px(1));
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
    return clicked;
}

bool link_in_lines(const Ui& ui, TextStyle style, const std::string& text, int id) {
    const auto measure = [&](const std::string& part) { return compat::text_size(style.font, part).x; };
    bool clicked = false;
    int number = 0;
    ImGui::PushID(id);
    for (const std::string& line : core::wrapped(text, ImGui::GetContentRegionAvail().x, measure))
        clicked |= link(ui, style, line, number++);
    ImGui::PopID();
    return clicked;
}

bool icon_button(const Ui& ui, const char* id, Icon icon, bool enabled, const char* tip, std::string_view name) {
    const float size = ImGui::GetFrameHeight();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool clicked = press_area(id, {size, size}, name) && enabled;
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (hovered && enabled) list.AddRectFilled(at, {at.x + size, at.y + size}, ui.theme.raised, ui.px(4));
    const ImU32 color = enabled ? ui.theme.text : with_alpha(ui.theme.muted, 0.4F);
    draw_icon(list, icon, {at.x + size * 0.5F, at.y + size * 0.5F}, size * 0.22F, color);
    tooltip(tip);
    return clicked;
}

int counter(const Ui& ui, const char* label, std::int64_t value, std::int64_t count) {
    int moved = 0;
    ImGui::PushID(label);
    ImGui::AlignTextToFramePadding();
    text_line(ui.note(), label);
    ImGui::SameLine(0, ui.px(4));
    if (icon_button(ui, "less", Icon::back, value > 0, nullptr, tr("{what}: the one before", {{"what", label}})))
        moved = -1;
    ImGui::SameLine(0, ui.px(2));
    ImGui::AlignTextToFramePadding();
    const float start = ImGui::GetCursorPosX(), most = number_width(ui, value, count);
    text_line({ui.fonts.mono, ui.theme.text}, std::to_string(value));
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + most + ui.px(2));
    if (icon_button(ui, "more", Icon::forward, value + 1 < count, nullptr, tr("{what}: the next", {{"what", label}})))
        moved = 1;
    ImGui::PopID();
    return moved;
}

float counter_width(const Ui& ui, const char* label, std::int64_t value, std::int64_t count) {
    return compat::text_size(ui.fonts.caption, label).x + number_width(ui, value, count) + ImGui::GetFrameHeight() * 2 +
           ui.px(8);
}

void splitter(const Ui& ui, const char* id, Area area, float& width, float direction, float least, float most) {
    ImGui::SetCursorScreenPos(area.low);
    ImGui::InvisibleButton(id, {std::max(area.width(), 1.0F), std::max(area.height(), 1.0F)});
    const bool active = ImGui::IsItemActive();
    if (active) width += direction * ImGui::GetIO().MouseDelta.x / ui.fonts.scale;
    width = std::clamp(width, least, std::max(least, most));
    if (active || ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    const float x = std::floor((area.low.x + area.high.x) * 0.5F);
    ImGui::GetWindowDrawList()->AddLine({x, area.low.y}, {x, area.high.y}, active ? ui.theme.accent : ui.theme.line,
                                        1.0F);
}

std::vector<std::string> lines_of(ImFont* font, std::string_view text, float width) {
    std::vector<std::string> lines;
    const auto measure = [font](const std::string& line) { return compat::text_size(font, line).x; };
    for (const std::string& line : core::wrapped(text, width, measure)) {
        std::string_view rest = line;
        while (!rest.empty() && measure(std::string(rest)) > width) {  // a panel without room has a negative width
            const std::size_t part = fitting_part(font, rest, width);
            if (part >= rest.size()) break;
            lines.emplace_back(rest.substr(0, part));
            rest.remove_prefix(part);
        }
        lines.emplace_back(rest);
    }
    return lines;
}

std::string in_lines(ImFont* font, std::string_view text, float width) {
    std::string broken;
    for (const std::string& line : lines_of(font, text, width)) (broken += broken.empty() ? "" : "\n") += line;
    return broken;
}

float draw_prose(const Ui& ui, ImVec2 at, float width, ImU32 color, const std::string& text, int lines) {
    const float pitch = compat::font_size(ui.fonts.caption) + ui.px(4);
    return draw_lines(ui, ui.fonts.caption, at, width, pitch, color, text, static_cast<std::size_t>(lines));
}

float text_block(const Ui& ui, TextStyle style, Area area, const std::string& text) {
    const float pitch = compat::font_size(style.font) + ui.px(3);
    return draw_lines(ui, style.font, area.low, area.width(), pitch, style.color, text,
                      std::numeric_limits<std::size_t>::max()) -
           area.low.y;
}

ImVec2 draw_empty_page(const Ui& ui, Area area, const std::string& heading, const std::string& text, ImU32 color) {
    const float width = std::min(area.width(), ui.px(500)), x = area.low.x + (area.width() - width) * 0.5F;
    float y = area.low.y + std::max(ui.px(24), area.height() * 0.22F);
    if (!heading.empty()) {
        draw_text(ui, ui.title(), {x, y}, heading, area.high.x - x);
        y += ui.px(34);
    }
    ImGui::SetCursorScreenPos({x, y});
    paragraph({ui.fonts.text, color}, text, width);
    return {x, ImGui::GetCursorScreenPos().y + ui.px(8)};
}

void section_line(const Ui& ui) {
    ImGui::Dummy({1, ui.px(4)});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddLine(at, {at.x + ImGui::GetContentRegionAvail().x, at.y}, ui.theme.line);
    ImGui::Dummy({1, ui.px(4)});
}

void section_heading(const Ui& ui, std::string_view text) {
    section_line(ui);
    text_line(ui.body(), text);
}

void at_right_edge(const Ui& ui, TextStyle style, std::string_view text) {
    const float width = compat::text_size(style.font, text).x;
    ImGui::SameLine(0, ui.px(8));
    if (ImGui::GetContentRegionAvail().x < width + ui.px(4)) ImGui::NewLine();
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width - ui.px(4));
    text_line(style, text);
}

void area_tooltip(const Ui& ui, Area area, const std::vector<std::string>& lines) {
    if (lines.empty() || !ImGui::IsWindowHovered() || !area.contains(ImGui::GetIO().MousePos)) return;
    if (!compat::begin_tooltip()) return;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (!lines[i].empty())
            paragraph({ui.fonts.caption, i == 0 ? ui.theme.text : ui.theme.muted}, lines[i],
                      ImGui::GetFontSize() * 24.0F);
    ImGui::EndTooltip();
}

}  // namespace decoderscope::views
