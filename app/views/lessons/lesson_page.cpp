#include "app/views/lessons/lesson_page.h"

#include "app/views/lessons/lesson_table.h"
#include "app/views/lessons/spans.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/prose.h"
#include "engine/translate.h"

#include <algorithm>

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
    const std::string text = in_lines(ui.fonts.text, "→ " + plain_text(title), width);
    if (button(text, "place" + std::to_string(block))) panel.player->open(block);
}

// ---- below the page

void turn(LessonsState& panel, std::size_t page) {
    panel.player->turn_to(page);
    panel.verdict.reset();
    panel.question.clear();
    panel.last = {};
    panel.to_top = true;
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
    if (button(tr("Hand in"), "hand-in")) panel.hands_in = true;
    tooltip(tr("Write the answers to a file in the home folder, for a teacher: nothing is sent"));
    ImGui::SameLine();
    const bool leaves = button(tr("All lessons"), "end-all-lessons");
    if (!panel.handed_in.empty())
        paragraph(ui.fonts.caption, ui.theme.muted, tr("Written to {path}", {{"path", panel.handed_in}}));
    if (leaves) panel.player.reset();
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
            draw_lesson_table(ui, block.table);
        else
            draw_question(ui, session, state, panel, std::get<lessons::Question>(page.blocks[i]), block);
        gap(ui, 4);
        ImGui::PopID();
    }
    if (player->is_last_page() && player->open_question() == nullptr) draw_end(ui, panel);
    if (panel.player) draw_foot(ui, panel);
}

}  // namespace decoderscope
