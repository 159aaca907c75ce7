#include "app/views/widgets/token_chips.h"

#include "app/core/text/missing_glyphs.h"
#include "app/core/text/utf8.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

std::string hexadecimal(std::string_view bytes, std::string_view before) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += before;
        text += {digits[byte >> 4U], digits[byte & 15U]};
    }
    return text;
}

// A chip that has been placed.
struct Chip {
    Index position = 0;
    std::string text;  // empty: padding
    float width = 0.0F;
};

bool is_padding(const ChipRow& row, Index position) {
    return !row.mask.empty() && row.mask[static_cast<std::size_t>(position)] == 0.0F;
}

Index id_at(const ChipRow& row, Index position) {
    return static_cast<Index>(row.ids[static_cast<std::size_t>(position)]);
}

Chip chip_at(const Ui& ui, const Tokenizer& tokenizer, const ChipRow& row, Index position, float most) {
    if (is_padding(row, position)) return {position, {}, ui.px(12)};
    std::string text = fitted(ui.fonts.mono_small, chip_text(tokenizer.piece(id_at(row, position))), most);
    const float width = compat::text_size(ui.fonts.mono_small, text).x;
    return {position, std::move(text), std::max(width, ui.px(4)) + ui.px(8)};
}

// The chips that fit, from left to right. If some are left out, their count needs room.
std::vector<Chip> fitting_chips(const Ui& ui, const Tokenizer& tokenizer, const ChipRow& row, float width) {
    const auto count = static_cast<Index>(row.ids.size());
    const float gap = ui.px(2), note = ui.px(48);
    std::vector<Chip> chips;
    float used = 0.0F;
    Index at = row.from_end ? count - 1 : std::clamp<Index>(row.first, 0, std::max<Index>(count - 1, 0));
    const bool cut_before = !row.from_end && at > 0;
    for (; at >= 0 && at < count; at += row.from_end ? -1 : 1) {
        Chip chip = chip_at(ui, tokenizer, row, at, width * 0.5F);
        const bool last = row.from_end ? at == 0 : at + 1 == count;
        const float notes = (cut_before ? note : 0.0F) + (last ? 0.0F : note);
        if (used + chip.width + notes > width) break;
        used += chip.width + gap;
        chips.push_back(std::move(chip));
    }
    if (row.from_end) std::reverse(chips.begin(), chips.end());
    return chips;
}

void draw_hatched(const Ui& ui, ImDrawList& list, Area chip) {
    const ImU32 color = with_alpha(ui.theme.muted, 0.55F);
    list.PushClipRect(chip.low, chip.high, true);
    for (float x = chip.low.x - chip.height(); x < chip.high.x; x += ui.px(5))
        list.AddLine({x, chip.high.y}, {x + chip.height(), chip.low.y}, color, ui.px(1));
    list.PopClipRect();
    compat::add_rect(list, chip.low, chip.high, color, ui.px(3), ui.px(1));
}

void chip_tooltip(const Ui& ui, const Tokenizer& tokenizer, const ChipRow& row, Index position, Area chip) {
    const Index id = id_at(row, position);
    Sentence token = message("token {position}: id {id}", {{"position", position}, {"id", id}});
    if (tokenizer.has_piece(id)) {
        const std::string piece = tokenizer.piece(id);
        const bool bytes =
            valid_utf8(piece) != piece || std::any_of(piece.begin(), piece.end(), [](char c) { return c < ' '; });
        const Arguments arguments = {
            {"position", position}, {"id", id}, {"piece", chip_text(piece)}, {"bytes", hexadecimal(piece, " ")}};
        token = bytes ? message("token {position}: id {id}, “{piece}”, bytes{bytes}", arguments)
                      : message("token {position}: id {id}, “{piece}”", arguments);
    }
    std::string unknown;
    for (const Utf8Character& character : characters(tokenizer.has_piece(id) ? tokenizer.piece(id) : std::string()))
        if (std::ranges::find(ui.fonts.missing, character.code) != ui.fonts.missing.end())
            unknown += (unknown.empty() ? "" : ", ") + code_point_text(character.code);
    if (!unknown.empty())
        token = message("{token}; no font has {characters}", {{"token", token}, {"characters", unknown}});
    const std::string text =
        is_padding(row, position) ? tr("{token}; padding, hidden by the mask", {{"token", token}}) : tr(token);
    if (!begin_tooltip_beside(chip)) return;
    ImGui::TextUnformatted(text.c_str());
    ImGui::EndTooltip();
}

}  // namespace

std::string chip_text(std::string_view piece) {
    std::string text;
    for (const Utf8Character& character : characters(piece)) {
        if (character.bytes == " ")
            text += "·";
        else if (character.bytes == "\n")
            text += "↵";
        else if (character.bytes == "\t")
            text += "→";
        else if (character.code < 0x20 || character.code == 0x7F ||
                 (character.code == 0xFFFD && character.bytes.size() == 1))
            text += hexadecimal(character.bytes, "\\");
        else
            text += character.bytes;
    }
    return text;
}

ImU32 chip_color(Index id, bool dark) {
    constexpr double golden = 0.6180339887498949;  // steps of this size round the circle stay well apart
    const double turns = static_cast<double>(id) * golden;
    float r = 0.0F, g = 0.0F, b = 0.0F;
    ImGui::ColorConvertHSVtoRGB(static_cast<float>(turns - std::floor(turns)), dark ? 0.60F : 0.28F,
                                dark ? 0.42F : 0.95F, r, g, b);
    return ImGui::ColorConvertFloat4ToU32({r, g, b, 1.0F});
}

void draw_chips(const Ui& ui, const Tokenizer& tokenizer, const ChipRow& row, Area area) {
    const std::vector<Chip> chips = fitting_chips(ui, tokenizer, row, area.width());
    if (chips.empty()) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float text_y = area.low.y + (area.height() - compat::font_size(ui.fonts.mono_small)) * 0.5F;
    float x = area.low.x;
    const auto note = [&](const std::string& text) {
        draw_text(ui, ui.fonts.caption, {x, text_y}, ui.theme.muted, text, ui.px(44));
        x += ui.px(48);
    };
    if (const Index before = chips.front().position; before > 0) note(std::to_string(before) + " …");
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (const Chip& chip : chips) {
        const Area at = {{std::floor(x), area.low.y}, {std::floor(x + chip.width), area.high.y}};
        if (chip.text.empty() && is_padding(row, chip.position))
            draw_hatched(ui, list, at);
        else
            list.AddRectFilled(at.low, at.high, chip_color(id_at(row, chip.position), ui.theme.dark), ui.px(3));
        draw_text(ui, ui.fonts.mono_small, {at.low.x + ui.px(4), text_y}, ui.theme.text, chip.text);
        if (at.contains(mouse) && ImGui::IsWindowHovered()) chip_tooltip(ui, tokenizer, row, chip.position, at);
        x += chip.width + ui.px(2);
    }
    const Index after = static_cast<Index>(row.ids.size()) - 1 - chips.back().position;
    x += ui.px(2);
    if (after > 0) note("… " + std::to_string(after));
}

}  // namespace decoderscope
