#include "app/core/diff/transformer_lens.h"
#include "app/core/step/explanation_text.h"
#include "app/core/step/shown_step.h"
#include "app/core/text/labels.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace decoderscope {

namespace {

constexpr std::size_t kMostTerms = 10;

void section(const Ui& ui) {
    ImGui::Dummy({1, ui.px(4)});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddLine(at, {at.x + ImGui::GetContentRegionAvail().x, at.y}, ui.theme.line);
    ImGui::Dummy({1, ui.px(4)});
}

// ---- the step

void describe_step(const Ui& ui, const Plan& plan, const Step& step) {
    const About about = step.operation.about();
    paragraph(ui.fonts.mono, ui.theme.text, step.name);
    const std::string hook = transformer_lens_name(plan, step);
    if (!hook.empty()) tooltip(tr("TransformerLens: {name}", {{"name", hook}}).c_str());
    paragraph(ui.fonts.caption, ui.theme.muted,
              std::string(about.name) + "   " + shape_text(step.axes) + "  " + axes_text(step.axes));
    ImGui::Dummy({1, ui.px(2)});
    paragraph(ui.fonts.mono_small, ui.theme.text, about.formula);
    ImGui::Dummy({1, ui.px(2)});
    paragraph(ui.fonts.caption, ui.theme.muted, about.teaches);
}

// ---- the cell

// The path to this cell; each stop is a link back.
void breadcrumb(const Ui& ui, const Session& session, Commands& commands) {
    const auto& trail = session.trail();
    if (trail.empty()) return;
    for (std::size_t i = 0; i < trail.size(); ++i) {
        const std::string name = trail[i].cell ? cell_name(trail[i].step, *trail[i].cell) : trail[i].step;
        if (trail.size() > 4 && i > 0 && i + 2 < trail.size()) {
            if (i == 1) text_line(ui.fonts.mono_small, ui.theme.muted, "…");
            continue;
        }
        if (link(ui, ui.fonts.mono_small, ui.theme.accent,
                 fitted(ui.fonts.mono_small, "← " + name, ImGui::GetContentRegionAvail().x), static_cast<int>(i)))
            commands.push_back(command::GoBack{trail.size() - i});
    }
}

// One factor: a link where it leads somewhere.
void factor(const Ui& ui, const Plan& plan, const Step& step, const Factor& f, bool first, int id, Commands& commands) {
    const std::string text = factor_text(f, first);
    if (!f.cell) {
        text_line(ui.fonts.mono_small, ui.theme.text, text);
        return;
    }
    const Step& source = plan[step.operands[f.cell->operand]];
    if (link(ui, ui.fonts.mono_small, ink_of(source.meaning, ui.theme), text, id))
        commands.push_back(command::Follow{source.name, f.cell->cell});
    if (ImGui::IsItemHovered()) tooltip(cell_name(source.name, f.cell->cell).c_str());
}

// "0.31 · 1.2        0.372", "exp(2.5 − max)        0.082". A number alone is its own value, and so is a line's only
// term.
void term_row(const Ui& ui, const Plan& plan, const Step& step, const Term& term, bool only, int id,
              Commands& commands) {
    ImGui::PushID(id);
    const float start = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
    for (std::size_t i = 0; i < term.factors.size(); ++i) {
        if (i > 0) {
            ImGui::SameLine(0, 0);
            // A factor without room goes to the next line.
            const std::string text = " · " + factor_text(term.factors[i], false);
            if (ImGui::GetCursorPosX() + compat::text_size(ui.fonts.mono_small, text).x > start + room)
                ImGui::NewLine();
            text_line(ui.fonts.mono_small, ui.theme.muted, " · ");
            ImGui::SameLine(0, 0);
        }
        factor(ui, plan, step, term.factors[i], i == 0, static_cast<int>(i), commands);
    }
    if (term.factors.size() > 1 || (!only && !term.factors.front().text.empty())) {
        const std::string value = short_number(term.value);
        const float width = compat::text_size(ui.fonts.mono_small, value).x;
        ImGui::SameLine();
        // Products are right-aligned; on the next line if the factors leave no room.
        if (ImGui::GetCursorPosX() > start + room - width - ui.px(4)) ImGui::NewLine();
        ImGui::SetCursorPosX(start + room - width - ui.px(4));
        text_line(ui.fonts.mono_small, ui.theme.muted, value);
    }
    ImGui::PopID();
}

void explained_line(const Ui& ui, const Plan& plan, const Step& step, const Line& line, int id, Commands& commands) {
    ImGui::PushID(id);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(4), ui.px(2)));
    text_line(ui.fonts.mono_small, ui.theme.text, line.name + " = " + short_number(line.value));
    ImGui::Indent(ui.px(10));
    for (std::size_t i = 0; i < line.given.size(); ++i) {
        text_line(ui.fonts.mono_small, ui.theme.muted,
                  tr("because {condition} =", {{"condition", line.given[i].text}}) + " ");
        ImGui::SameLine(0, 0);
        Factor plain = line.given[i];
        plain.text.clear();
        factor(ui, plan, step, plain, true, 1000 + static_cast<int>(i), commands);
    }
    const std::vector<std::size_t> order = largest_first(line);
    double rest = 0.0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i < kMostTerms)
            term_row(ui, plan, step, line.terms[order[i]], order.size() == 1, static_cast<int>(order[i]), commands);
        else
            rest += line.terms[order[i]].value;
    }
    if (order.size() > kMostTerms)
        text_line(ui.fonts.mono_small, ui.theme.muted,
                  tr_n("and {count} smaller term: {rest}", "and {count} smaller terms: {rest}",
                       order.size() - kMostTerms, {{"rest", short_number(rest)}}));
    ImGui::Unindent(ui.px(10));
    ImGui::PopStyleVar();
    ImGui::PopID();
    ImGui::Dummy({1, ui.px(3)});
}

void type_over(const Ui& ui, ViewState& state, const Step& step, const Cell& cell, float value, Commands& commands) {
    const std::string name = cell_name(step.name, cell);
    if (state.typed_for != name) {
        state.typed_for = name;
        state.typed.fill('\0');
        const std::string text = exact_number(value);
        std::copy_n(text.begin(), std::min(text.size(), state.typed.size() - 1), state.typed.begin());
    }
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, ui.theme.muted, tr("type over"));
    ImGui::SameLine();
    ImGui::SetNextItemWidth(ui.px(150));
    compat::push_font(ui.fonts.mono_small);
    focusable_field("##typed");
    const bool entered = ImGui::InputText("##typed", state.typed.data(), state.typed.size(),
                                          ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    ImGui::PopFont();
    float typed = 0.0F;
    const bool is_number = parse_number(state.typed.data(), typed);
    if (!is_number) text_line(ui.fonts.caption, ui.theme.error, tr("not a number"));
    if (entered && is_number) {
        commands.push_back(command::TypeOver{step.name, cell, typed});
        state.typed_for.clear();
    }
}

void inspect_cell(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const Step& step = session.step();
    const Tensor& values = session.shown().run_of(step).value(step.id);
    breadcrumb(ui, session, commands);
    if (!session.cursor().cell || values.empty() || !values.contains(*session.cursor().cell)) {
        paragraph(ui.fonts.caption, ui.theme.muted,
                  tr("Click a cell of the result: it is explained here, down to the weights."));
        return;
    }
    const Cell& cell = *session.cursor().cell;
    const float value = values.at(cell);
    paragraph(ui.fonts.mono_small, ui.theme.muted, cell_name(step.name, cell));
    text_line(ui.fonts.heading, ui.theme.text, exact_number(value));
    const Tensor& before = session.shown().unedited->value(step.name);
    if (!before.empty() && before.contains(cell) &&
        std::memcmp(&before.values()[static_cast<std::size_t>(before.offset(cell))], &value, sizeof value) != 0)
        text_line(ui.fonts.caption, ui.theme.accent,
                  tr("without edits {value}", {{"value", exact_number(before.at(cell))}}));
    ImGui::Dummy({1, ui.px(2)});
    const Value<Explanation> explanation = shown_explanation(session.derived(), session.shown(), step, cell);
    for (std::size_t i = 0; i < explanation->lines.size(); ++i)
        explained_line(ui, session.shown().run->plan(), step, explanation->lines[i], static_cast<int>(i), commands);
    type_over(ui, state, step, cell, value, commands);
}

// ---- the edits

void list_edits(const Ui& ui, const Session& session, Commands& commands) {
    const std::vector<Edit>& edits = session.scenario().edits;
    if (edits.empty()) return;
    section(ui);
    text_line(ui.fonts.caption, ui.theme.muted, tr_n("{count} edit", "{count} edits", edits.size()));
    ImGui::SameLine();
    if (link(ui, ui.fonts.caption, ui.theme.accent, tr("clear all"), -1)) commands.push_back(command::ClearEdits{});
    // A band over a long input makes thousands of edits, too many to read.
    constexpr std::size_t kMostListed = 60;
    for (std::size_t i = 0; i < std::min(edits.size(), kMostListed); ++i) {
        if (link(ui, ui.fonts.mono_small, ui.theme.accent, "×", static_cast<int>(i)))
            commands.push_back(command::RemoveEdit{i});
        tooltip(tr("Undo this edit"));
        ImGui::SameLine(0, ui.px(6));
        paragraph(ui.fonts.mono_small, ui.theme.text, describe(edits[i]));
    }
    if (edits.size() > kMostListed)
        text_line(ui.fonts.caption, ui.theme.muted,
                  tr_n("… and {count} more", "… and {count} more", edits.size() - kMostListed));
}

}  // namespace

void draw_inspector(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.panel);
    ImGui::SetCursorScreenPos({area.low.x + ui.px(12), area.low.y + ui.px(8)});
    compat::begin_child("inspector", {area.width() - ui.px(16), area.height() - ui.px(12)});
    describe_step(ui, session.shown().run->plan(), session.step());
    section(ui);
    inspect_cell(ui, session, state, commands);
    list_edits(ui, session, commands);
    ImGui::EndChild();
}

}  // namespace decoderscope
