#include "app/views/dialogs/open_questions.h"

#include "app/core/text/utf8.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/error.h"
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
    if (open.asked_about != opening.name) {
        open.asked_about = opening.name;
        open.names = names_table(*opening.asks);
        open.answers.clear();
        for (const auto& [key, value] : opening.answers) open.answers[key] = value;
    }
    for (const Question& question : opening.asks->questions) open.answers.try_emplace(question.key, question.proposal);
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
    note_glyphs(ImGui::GetFont(), text.data());
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

// ---- their tensors beside ours

void choose_name(const Ui& ui, NamesRow& row) {
    std::array<char, 160> text{};
    std::copy_n(row.ours.begin(), std::min(row.ours.size(), text.size() - 1), text.begin());
    ImGui::SetNextItemWidth(ui.px(244));
    if (ImGui::InputText("##ours", text.data(), text.size())) row.ours = text.data();
    note_glyphs(ImGui::GetFont(), text.data());
    ImGui::SameLine(0, 0);
    if (!ImGui::BeginCombo("##names", "", ImGuiComboFlags_NoPreview)) return;
    for (const std::string& name : name_choices(row))
        if (ImGui::Selectable(name.c_str(), name == row.ours)) row.ours = name;
    ImGui::EndCombo();
}

// A row a tensor of all blocks; what isn't recognised comes first and is marked.
void tensors(const Ui& ui, const Recognised& recognised, OpenDialogState& open, float width) {
    const std::size_t unknown = recognised.names.open.size();
    const bool all_known = unknown == 0 && recognised.problem.empty();
    const std::string title = unknown == 0
                                  ? std::string(tr("What each tensor is taken for"))
                                  : std::string(tr_n("{count} tensor isn't recognised: what is it?",
                                                     "{count} tensors aren't recognised: what are they?", unknown));
    if (!ImGui::CollapsingHeader((title + "##tensors").c_str(), all_known ? 0 : ImGuiTreeNodeFlags_DefaultOpen)) return;
    compat::begin_child("names", {ui.px(width), ui.px(150)}, {.border = true, .padded = true});
    for (std::size_t i = 0; i < open.names.size(); ++i) {
        NamesRow& row = open.names[i];
        ImGui::PushID(static_cast<int>(i));
        ImGui::AlignTextToFramePadding();
        text_line(ui.fonts.mono_small, row.open ? ui.theme.warning : ui.theme.text,
                  fitted(ui.fonts.mono_small, valid_utf8(row.theirs), ui.px(240)));
        ImGui::SameLine(ui.px(256));
        text_line(ui.fonts.caption, ui.theme.muted, row.shape);
        ImGui::SameLine(ui.px(336));
        choose_name(ui, row);
        ImGui::PopID();
    }
    ImGui::EndChild();
}

// What the form's names say; empty if they are as recognised.
Mapping chosen_names(const Opening& opening, const OpenDialogState& open) {
    return open.names == names_table(*opening.asks) ? opening.mapping : mapping_of(open.names);
}

}  // namespace

QuestionsEnd draw_open_questions(const Ui& ui, const Opening& opening, OpenDialogState& open, float width,
                                 Commands& commands) {
    const Recognised& recognised = *opening.asks;
    fill_in(opening, open);
    text_line(ui.fonts.caption, ui.theme.muted, fitted(ui.fonts.caption, valid_utf8(opening.name), ui.px(width)));
    if (recognised.problem.empty()) {
        paragraph(ui.fonts.text, ui.theme.text, tr("Looks like {module}.", {{"module", recognised.module}}));
        paragraph(ui.fonts.caption, ui.theme.muted, facts_text(recognised));
        ImGui::Dummy({1, ui.px(4)});
        paragraph(ui.fonts.caption, ui.theme.text, tr("Its tensors don't say, and no config.json beside them does:"));
    }
    const Overrides given(open.answers.begin(), open.answers.end());
    for (const Question& question : recognised.questions)
        if (applies(recognised, question, given)) row(ui, question, open.answers[question.key]);
    tensors(ui, recognised, open, width);
    if (!opening.error.empty()) paragraph(ui.fonts.caption, ui.theme.error, valid_utf8(tr(opening.error)));
    ImGui::Dummy({1, ui.px(4)});
    const bool opens = button(tr("Open"), "open") || (!typing() && !focus_is_visible() && pressed(Key::enter));
    ImGui::SameLine();
    if (button(tr("Another one"), "back")) return QuestionsEnd::back;
    ImGui::SameLine();
    const bool as_trace = button(tr("Open as a trace"), "trace");
    tooltip(tr("Show the file's tensors as another program recorded them, without a model"));
    if (as_trace) {
        commands.push_back(command::OpenModel{opening.name, {}, {}, OpenAs::trace});
        return QuestionsEnd::open;
    }
    if (!opens) return QuestionsEnd::none;
    Overrides answers;
    for (const Question& question : recognised.questions)
        if (applies(recognised, question, given)) answers.emplace_back(question.key, open.answers[question.key]);
    try {
        commands.push_back(
            command::OpenModel{opening.name, std::move(answers), chosen_names(opening, open), OpenAs::model});
    } catch (const Error& error) {
        commands.push_back(command::Tell{error.sentence(), true});
        return QuestionsEnd::none;
    }
    return QuestionsEnd::open;
}

}  // namespace decoderscope
