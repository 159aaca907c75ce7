#include "app/views/dialogs/open_questions.h"

#include "app/core/text/utf8.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope {

namespace {

// "d_model 64 · 4 layers …": what was recognised, in a line or two.
std::string facts_text(const Recognised& recognised) {
    std::string text;
    for (const auto& [key, value] : recognised.facts) text += (text.empty() ? "" : "  ·  ") + key + " " + value;
    return text;
}

// The proposals are the initial answers.
void fill_in(const Opening& opening, OpenDialogState& open) {
    if (open.asked_about == opening.name) return;
    open.asked_about = opening.name;
    open.answers.clear();
    for (const Question& question : opening.asks->questions) open.answers[question.key] = question.proposal;
    for (const auto& [key, value] : opening.answers) open.answers[key] = value;
}

void drop_down(const Question& question, std::string& answer, float width) {
    ImGui::SetNextItemWidth(width);
    if (!begin_list("##choice", answer.c_str())) return;
    for (const std::string& choice : question.choices)
        if (press_row(choice.c_str(), choice == answer)) answer = choice;
    ImGui::EndCombo();
}

void side_by_side(const Ui& ui, const Question& question, std::string& answer) {
    std::vector<const char*> labels;
    int chosen = -1;
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
        labels.push_back(question.choices[i].c_str());
        if (question.choices[i] == answer) chosen = static_cast<int>(i);
    }
    if (const int clicked = segmented(ui, "choice", labels, chosen); clicked >= 0)
        answer = question.choices[static_cast<std::size_t>(clicked)];
}

void typed(std::string& answer, float width) {
    std::array<char, 32> text{};
    std::copy_n(answer.begin(), std::min(answer.size(), text.size() - 1), text.begin());
    ImGui::SetNextItemWidth(width);
    focusable_field("##typed");
    if (ImGui::InputText("##typed", text.data(), text.size())) answer = text.data();
}

void row(const Ui& ui, const Question& question, std::string& answer) {
    constexpr std::size_t kSideBySide = 4;
    ImGui::PushID(question.key.c_str());
    const float start = ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.mono_small, ui.theme.text, question.key);
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + ui.px(170));
    if (question.choices.empty())
        typed(answer, ui.px(100));
    else if (question.required || question.choices.size() > kSideBySide)
        drop_down(question, answer, ui.px(100));
    else
        side_by_side(ui, question, answer);
    ImGui::SameLine(0, ui.px(12));
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, question.required ? ui.theme.warning : ui.theme.muted, tr(question.why));
    ImGui::PopID();
}

}  // namespace

QuestionsEnd draw_open_questions(const Ui& ui, const Opening& opening, OpenDialogState& open, float width,
                                 Commands& commands) {
    const Recognised& recognised = *opening.asks;
    fill_in(opening, open);
    text_line(ui.fonts.caption, ui.theme.muted, fitted(ui.fonts.caption, valid_utf8(opening.name), ui.px(width)));
    paragraph(ui.fonts.text, ui.theme.text, tr("Looks like {module}.", {{"module", recognised.module}}));
    paragraph(ui.fonts.caption, ui.theme.muted, facts_text(recognised));
    ImGui::Dummy({1, ui.px(4)});
    paragraph(ui.fonts.caption, ui.theme.text, tr("Its tensors don't say, and no config.json beside them does:"));
    for (const Question& question : recognised.questions) row(ui, question, open.answers[question.key]);
    if (!opening.error.empty()) paragraph(ui.fonts.caption, ui.theme.error, valid_utf8(tr(opening.error)));
    ImGui::Dummy({1, ui.px(4)});
    const bool opens = button(tr("Open"), "open") || (!typing() && !focus_is_visible() && pressed(Key::enter));
    ImGui::SameLine();
    if (button(tr("Another one"), "back")) return QuestionsEnd::back;
    if (!opens) return QuestionsEnd::none;
    Overrides answers;
    for (const Question& question : recognised.questions)
        answers.emplace_back(question.key, open.answers[question.key]);
    commands.push_back(command::OpenModel{opening.name, std::move(answers)});
    return QuestionsEnd::open;
}

}  // namespace decoderscope
