#include "app/views/lessons/lesson_page.h"

#include "app/core/work/path_list.h"
#include "app/views/lessons/spans.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <filesystem>

namespace decoderscope {

namespace {

using namespace lessons;

void gap(const Ui& ui, float height) { ImGui::Dummy({1, ui.px(height)}); }

void draw_paragraph(const Ui& ui, const Paragraph& paragraph, const Shown& text) {
    using Kind = Paragraph::Kind;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float indent = ui.px(14.0F * static_cast<float>(paragraph.level + 1));
    switch (paragraph.kind) {
        case Kind::heading:
            gap(ui, 4);
            return text_line(ui.fonts.heading, ui.theme.text, plain_text(text));
        case Kind::bullet:
            draw_text(ui, ui.fonts.text, {at.x + indent - ui.px(12), at.y}, ui.theme.muted, "•");
            return spans_line(ui, text, ui.theme.text, indent);
        case Kind::numbered:
            draw_text(ui, ui.fonts.text, {at.x + indent - ui.px(14), at.y}, ui.theme.muted,
                      std::to_string(paragraph.number) + ".");
            return spans_line(ui, text, ui.theme.text, indent + ui.px(6));
        case Kind::quote:
            spans_line(ui, text, ui.theme.text, ui.px(12));
            ImGui::GetWindowDrawList()->AddLine(at, {at.x, ImGui::GetItemRectMax().y}, ui.theme.line, ui.px(2));
            return;
        case Kind::code:
            return decoderscope::paragraph(ui.fonts.mono_small, ui.theme.text, plain_text(text));
        case Kind::text:
            return spans_line(ui, text, ui.theme.text);
    }
}

void draw_place(const Ui& ui, LessonsState& panel, const Shown& title, std::size_t block) {
    const float width = ImGui::GetContentRegionAvail().x - ui.px(24);
    const std::string text = fitted(ui.fonts.text, plain_text(title), width);
    if (button("→ " + text, "place" + std::to_string(block))) panel.player->open(block);
    tooltip(plain_text(title).c_str());
}

void draw_table(const Ui& ui, const ShownTable& table) {
    paragraph(ui.fonts.caption, ui.theme.muted, plain_text(table.caption));
    std::vector<float> widths;
    for (const Shown& column : table.columns)
        widths.push_back(compat::text_size(ui.fonts.caption, plain_text(column)).x);
    for (const auto& row : table.rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], compat::text_size(ui.fonts.mono_small, row[i]).x);
    const float pitch = compat::font_size(ui.fonts.mono_small) + ui.px(5), between = ui.px(14);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const auto draw_row = [&](std::size_t line, auto&& text_of, ImFont* font, ImU32 color) {
        float x = start.x;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const std::string text = text_of(i);
            const float indent = i == 0 ? 0.0F : widths[i] - compat::text_size(font, text).x;  // numbers to the right
            draw_text(ui, font, {x + indent, start.y + pitch * static_cast<float>(line)}, color, text);
            x += widths[i] + between;
        }
    };
    draw_row(
        0, [&](std::size_t i) { return plain_text(table.columns[i]); }, ui.fonts.caption, ui.theme.muted);
    for (std::size_t r = 0; r < table.rows.size(); ++r)
        draw_row(
            r + 1, [&](std::size_t i) { return table.rows[r][i]; }, ui.fonts.mono_small, ui.theme.text);
    ImGui::Dummy({1, pitch * static_cast<float>(table.rows.size() + 1)});
}

// ---- below the page

void turn(LessonsState& panel, std::size_t page) {
    panel.player->turn_to(page);
    panel.verdict.reset();
    panel.question.clear();
    panel.last = {};
    panel.to_top = true;
}

std::string proposed_handin(const Player& player) {
    return path_of("~/decoderscope-" + std::filesystem::path(player.lesson()->name).stem().string() + ".json");
}

void draw_end(const Ui& ui, LessonsState& panel) {
    const Player& player = *panel.player;
    const std::size_t all = questions_of(*player.lesson()).size(),
                      solved = player.progress().solved_of(*player.lesson());
    gap(ui, 6);
    inspector_line(ui);
    text_line(ui.fonts.heading, ui.theme.text, solved == all ? tr("The end") : tr("The end, with questions left"));
    paragraph(ui.fonts.text, ui.theme.text,
              tr_n("{solved} of {count} question solved.", "{solved} of {count} questions solved.", all,
                   {{"solved", solved}}));
    for (const std::string& where : player.lesson()->happened)
        if (solved == all)
            paragraph(ui.fonts.caption, ui.theme.muted, tr("It happened in {where}", {{"where", where}}));
    if (button(tr("Hand in"), "hand-in")) panel.to_hand_in = proposed_handin(player);
    tooltip(tr("Write the answers to a file in the home folder, for a teacher: nothing is sent"));
    if (!panel.handed_in.empty())
        paragraph(ui.fonts.caption, ui.theme.muted, tr("Written to {path}", {{"path", panel.handed_in}}));
}

void draw_foot(const Ui& ui, LessonsState& panel) {
    const Player& player = *panel.player;
    gap(ui, 8);
    inspector_line(ui);
    const std::size_t pages = player.lesson()->pages.size(), page = player.page();
    if (page > 0 && button(tr("Back"), "page-back")) turn(panel, page - 1);
    if (page > 0) ImGui::SameLine();
    if (page + 1 < pages) {
        const bool open = player.open_question() != nullptr;
        if (button(open ? tr("Skip") : tr("Go on"), "page-on")) turn(panel, page + 1);
        if (open) tooltip(tr("The question stays open; the list says which lessons have some"));
        ImGui::SameLine();
    }
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, ui.theme.muted, tr("page {page} of {pages}", {{"page", page + 1}, {"pages", pages}}));
}

}  // namespace

void draw_lesson_page(const Ui& ui, const Session& session, ViewState& state, LessonsState& panel) {
    const std::shared_ptr<Player> player = panel.player;
    const lessons::Page& page = player->shown_page();
    const decoderscope::Value<ShownPage> shown =
        lessons::shown_page(session.derived(), session.shown(), player->lesson(), player->page(), player->opened());
    // While numbers are computed for another run, the old ones stay.
    static const ShownPage none;
    if (shown) panel.last = shown;
    const ShownPage& texts = panel.last && panel.last->blocks.size() == page.blocks.size() ? *panel.last : none;
    text_line(ui.fonts.heading, ui.theme.text,
              fitted(ui.fonts.heading, plain_text(page.title), ImGui::GetContentRegionAvail().x));
    gap(ui, 2);
    const std::size_t count = std::min(player->shown_blocks(), texts.blocks.size());
    for (std::size_t i = 0; i < count; ++i) {
        ImGui::PushID(static_cast<int>(i));
        const ShownBlock& block = texts.blocks[i];
        if (const auto* paragraph = std::get_if<lessons::Paragraph>(&page.blocks[i]))
            draw_paragraph(ui, *paragraph, block.text);
        else if (std::holds_alternative<lessons::Place>(page.blocks[i]))
            draw_place(ui, panel, block.text, i);
        else if (std::holds_alternative<lessons::Table>(page.blocks[i]))
            draw_table(ui, block.table);
        else
            draw_question(ui, session, state, panel, std::get<lessons::Question>(page.blocks[i]), block);
        gap(ui, 4);
        ImGui::PopID();
    }
    if (player->is_last_page() && player->open_question() == nullptr) draw_end(ui, panel);
    draw_foot(ui, panel);
}

}  // namespace decoderscope
