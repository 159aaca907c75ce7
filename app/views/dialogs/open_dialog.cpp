
#include "app/core/text/characters.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace decoderscope::views::dialogs {

namespace {

constexpr float kOpenWidth = 640.0F;

void close_opening(ViewState& state) {
    state.part<OpenDialogState>().awaited = false;
    close_dialog(state);
}

void ask_for(OpenDialogState& open, const std::string& path, Commands& commands) {
    open.awaited = true;
    open.copied = false;
    commands.push_back(core::opening_command(path));
}

// "212 of 498 MB"
std::string megabytes(core::ModelLoader::Progress progress) {
    const auto mb = [](std::size_t bytes) { return std::to_string((bytes + 500'000) / 1'000'000); };
    return tr("{read} of {total} MB", {{"read", mb(progress.bytes_read)}, {"total", mb(progress.bytes_total)}});
}

// ---- while the model is being read

// Without a text while the total isn't known yet, which is 0 then.
void draw_bar(const Ui& ui, std::size_t done, std::size_t all, const std::string& text, float width) {
    const float fraction = all > 0 ? static_cast<float>(done) / static_cast<float>(all) : 0.0F;
    ImGui::PushStyleColor(ImGuiCol_PlotHistogram, ui.theme.accent_soft);
    ImGui::ProgressBar(fraction, {width, 0.0F}, all > 0 ? text.c_str() : "");
    ImGui::PopStyleColor();
}

void reading(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    draw_reading(ui, session.opening()->name, session.opening_progress(), ui.px(kOpenWidth));
    paragraph(ui.note(), tr("The current model stays until the new one is ready."));
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) {
        commands.push_back(core::command::StopOpening{});
        close_opening(state);
    }
}

// ---- why it can't be opened

void failure(const Ui& ui, OpenDialogState& open, const core::Opening& opening) {
    if (opening.error.empty()) return;
    paragraph({ui.fonts.caption, ui.theme.error}, core::valid_utf8(tr(opening.error)));
    if (opening.python.empty()) return;
    paragraph(ui.caption(),
              tr("A pickle is a program, and isn't run here. These three lines of Python write the same tensors as "
                 "safetensors beside it; then open that file:"));
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.ChannelsSplit(2);
    list.ChannelsSetCurrent(1);
    ImGui::Dummy({1, ui.px(2)});
    ImGui::Indent(ui.px(8));
    paragraph(ui.number(), core::valid_utf8(opening.python));
    ImGui::Unindent(ui.px(8));
    list.ChannelsSetCurrent(0);
    list.AddRectFilled(low, {low.x + ui.px(kOpenWidth), ImGui::GetCursorScreenPos().y}, ui.theme.raised, ui.px(4));
    list.ChannelsMerge();
    if (button(tr("Copy the lines"), "copy")) {
        ImGui::SetClipboardText(opening.python.c_str());
        open.copied = true;
    }
    if (!open.copied) return;
    ImGui::SameLine();
    word_beside(ui, tr("Copied."));
}

// ---- the choice

const char* words_for(PathKind kind) {
    const std::array<const char*, 6> words = {"", "", tr("model"), tr("weights"), tr("pickled"), tr("trace")};
    return words[static_cast<std::size_t>(kind)];
}

// What the path typed so far leads to. A click on a folder enters it, a click on a model opens it, and so does Enter
// where the arrow keys have led (`entered`). Returns whether that was done.
bool path_list(const Ui& ui, OpenDialogState& open, bool entered, Commands& commands) {
    const std::string typed = open.path;
    if (!open.listed || open.listed_for != typed) {
        open.list = core::list_paths(typed);
        open.listed_for = typed;
        open.listed = true;
        open.chosen = -1;
    }
    const core::PathList& list = open.list;
    const int before = std::exchange(open.chosen, row_by_arrows(open.chosen, list.entries.size()));
    open.scrolls = open.scrolls || open.chosen != before;
    bool taken = false;
    compat::begin_child("paths", {ui.px(kOpenWidth), ui.px(190)}, {.border = true, .padded = true});
    if (list.entries.empty())
        paragraph(ui.note(), list.error.empty() ? tr("No folder, weights or session starts like this.")
                                                : core::valid_utf8(tr(list.error)));
    for (const core::PathList::Entry& entry : list.entries) {
        const bool plain = entry.kind == PathKind::folder, chosen = &entry - list.entries.data() == open.chosen;
        const std::string label = fitted(ui.fonts.text, core::valid_utf8(entry.name), ui.px(kOpenWidth - 120));
        if (press_row((label + "##" + entry.path).c_str(), chosen, ImGuiSelectableFlags_DontClosePopups) ||
            (chosen && entered)) {
            open.path = entry.path;
            open.refocus = taken = true;
            if (!plain) ask_for(open, core::path_of(entry.path), commands);
        }
        if (chosen && std::exchange(open.scrolls, false)) ImGui::SetScrollHereY();
        ImGui::SameLine(ui.px(kOpenWidth - 84));
        text_line(ui.note(), entry.session ? tr("session") : entry.numbers ? tr("numbers") : words_for(entry.kind));
    }
    if (list.more) text_line(ui.note(), tr("… and more: keep typing"));
    ImGui::EndChild();
    return taken;
}

void choose(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    OpenDialogState& open = state.part<OpenDialogState>();
    paragraph(
        ui.note(),
        tr("A folder with config.json and model.safetensors, a state_dict saved as safetensors, a session (.dscope), a "
           "trace recorded elsewhere, a link, a bundled model's name, or numbers that colour the strip "
           "(.csv, .json). Tab completes; a folder or a file can be dropped on the window, too."));
    ImGui::SetNextItemWidth(ui.px(kOpenWidth));
    if (state.dialog_opens || open.refocus) {
        compat::take_keyboard();
        open.goes_on = true;
    }
    open.refocus = false;
    const bool entered = text_field(
        "##path", open.path, ImGuiInputTextFlags_EnterReturnsTrue, "",
        [](const std::string& typed) { return core::list_paths(typed).completed; }, open.goes_on);
    if (ImGui::IsItemActive()) open.goes_on = false;
    const bool taken = path_list(ui, open, entered, commands);
    if (session.opening()) failure(ui, open, *session.opening());
    const std::string path = core::path_of(open.path);
    if (state.desktop.picks_files) {
        if (button(tr("Choose files …"), "pick")) {
            commands.push_back(request::PickFiles{});
            close_opening(state);
        }
        ImGui::SameLine();
    }
    const bool opens = button(tr("Open"), "open") || entered;
    if (opens && !taken && !path.empty()) ask_for(open, path, commands);
    if (opens && path.empty()) open.refocus = true;
    ImGui::SameLine();
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) {
        leave_open_dialog(session, commands);
        close_opening(state);
    }
}

// "d_model 64 · 4 layers …": what was recognised, in a line or two.
std::string facts_text(const load::Recognised& recognised) {
    std::string text;
    for (const auto& [key, value] : recognised.facts) text += (text.empty() ? "" : "  ·  ") + key + " " + value;
    return text;
}

// The proposals are the initial answers.
void fill_in(const core::Opening& opening, OpenDialogState& open) {
    if (open.asked_about != opening.name) {
        open.asked_about = opening.name;
        open.names = core::names_table(*opening.asks);
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
    focusable_field("##typed", text.data());
    if (ImGui::InputText("##typed", text.data(), text.size())) answer = text.data();
    note_glyphs(ImGui::GetFont(), text.data());
}

void row(const Ui& ui, const Question& question, std::string& answer) {
    constexpr std::size_t kSideBySide = 4;
    ImGui::PushID(question.key.c_str());
    const float start = ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    text_line(ui.number(), question.key);
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
    text_line({ui.fonts.caption, question.required ? ui.theme.warning : ui.theme.muted}, tr(question.why));
    ImGui::PopID();
}

// ---- their tensors beside ours

void choose_name(const Ui& ui, core::NamesRow& row) {
    std::array<char, 160> text{};
    std::copy_n(row.ours.begin(), std::min(row.ours.size(), text.size() - 1), text.begin());
    ImGui::SetNextItemWidth(ui.px(244));
    focusable_field("##ours", text.data());
    if (ImGui::InputText("##ours", text.data(), text.size())) row.ours = text.data();
    note_glyphs(ImGui::GetFont(), text.data());
    ImGui::SameLine(0, 0);
    if (!ImGui::BeginCombo("##names", "", ImGuiComboFlags_NoPreview)) return;
    for (const std::string& name : core::name_choices(row))
        if (ImGui::Selectable(name.c_str(), name == row.ours)) row.ours = name;
    ImGui::EndCombo();
}

// One row for each tensor of all blocks; what isn't recognised comes first and is marked.
void tensors(const Ui& ui, const load::Recognised& recognised, OpenDialogState& open, float width) {
    const std::size_t unknown = recognised.names.open.size();
    const bool all_known = unknown == 0 && recognised.problem.empty();
    const std::string title = unknown == 0
                                  ? std::string(tr("What each tensor is recognised as"))
                                  : std::string(tr_n("{count} tensor isn't recognised: what is it?",
                                                     "{count} tensors aren't recognised: what are they?", unknown));
    if (!ImGui::CollapsingHeader((title + "##tensors").c_str(), all_known ? 0 : ImGuiTreeNodeFlags_DefaultOpen)) return;
    compat::begin_child("names", {ui.px(width), ui.px(150)}, {.border = true, .padded = true});
    for (std::size_t i = 0; i < open.names.size(); ++i) {
        core::NamesRow& row = open.names[i];
        ImGui::PushID(static_cast<int>(i));
        ImGui::AlignTextToFramePadding();
        text_line({ui.fonts.mono_small, row.open ? ui.theme.warning : ui.theme.text},
                  fitted(ui.fonts.mono_small, core::valid_utf8(row.theirs), ui.px(240)));
        ImGui::SameLine(ui.px(256));
        text_line(ui.note(), row.shape);
        ImGui::SameLine(ui.px(336));
        choose_name(ui, row);
        ImGui::PopID();
    }
    ImGui::EndChild();
}

// What the form's names say; empty if they are as recognised.
load::names::Mapping chosen_names(const core::Opening& opening, const OpenDialogState& open) {
    return open.names == core::names_table(*opening.asks) ? opening.mapping : core::mapping_of(open.names);
}

// How the user left the form.
enum class QuestionsEnd { none, open, back };

// What a model's names and shapes tell, and a form for the rest, filled in with likely answers.
QuestionsEnd draw_open_questions(const Ui& ui, const core::Opening& opening, OpenDialogState& open, float width,
                                 Commands& commands) {
    const load::Recognised& recognised = *opening.asks;
    fill_in(opening, open);
    text_line(ui.note(), fitted(ui.fonts.caption, core::valid_utf8(opening.name), ui.px(width)));
    if (recognised.problem.empty()) {
        paragraph(ui.body(), tr("Looks like {module}.", {{"module", recognised.module}}));
        paragraph(ui.note(), facts_text(recognised));
        ImGui::Dummy({1, ui.px(4)});
        paragraph(ui.caption(), tr("The tensors don't show it, and there is no config.json beside them:"));
    }
    const Overrides given(open.answers.begin(), open.answers.end());
    for (const Question& question : recognised.questions)
        if (load::applies(recognised, question, given)) row(ui, question, open.answers[question.key]);
    tensors(ui, recognised, open, width);
    if (!opening.error.empty()) paragraph({ui.fonts.caption, ui.theme.error}, core::valid_utf8(tr(opening.error)));
    ImGui::Dummy({1, ui.px(4)});
    const bool opens = button(tr("Open"), "open") || (!typing() && !focus_is_visible() && pressed(Key::enter));
    ImGui::SameLine();
    if (button(tr("Another one"), "back")) return QuestionsEnd::back;
    ImGui::SameLine();
    const bool as_trace = button(tr("Open as a trace"), "trace");
    tooltip(tr("Show the file's tensors as another program recorded them, without a model"));
    if (as_trace) {
        commands.push_back(core::command::OpenModel{opening.name, {}, {}, core::OpenAs::trace});
        return QuestionsEnd::open;
    }
    if (!opens) return QuestionsEnd::none;
    Overrides answers;
    for (const Question& question : recognised.questions)
        if (load::applies(recognised, question, given)) answers.emplace_back(question.key, open.answers[question.key]);
    try {
        commands.push_back(core::command::OpenModel{opening.name, std::move(answers), chosen_names(opening, open),
                                                    core::OpenAs::model});
    } catch (const Error& error) {
        commands.push_back(core::command::Tell{error.sentence(), true});
        return QuestionsEnd::none;
    }
    return QuestionsEnd::open;
}

}  // namespace

void follow_opening(const core::Session& session, ViewState& state) {
    const std::optional<core::Opening>& opening = session.opening();
    if (!opening) return;
    if (!opening->reading) {
        state.part<OpenDialogState>().refocus =
            state.part<OpenDialogState>().refocus || state.part<OpenDialogState>().awaited;
        state.part<OpenDialogState>().awaited = false;
    }
    if (state.dialog == Dialog::open_model) return;
    // Small models are loaded before the message could be read.
    const bool takes_long =
        opening->reading && std::chrono::steady_clock::now() - opening->since > std::chrono::milliseconds(200);
    if (!opening->asks && opening->python.empty() && !takes_long) return;
    state.show(Dialog::open_model);
    state.part<OpenDialogState>().awaited = opening->reading;
}

void leave_open_dialog(const core::Session& session, Commands& commands) {
    if (session.opening() && !session.opening()->reading) commands.push_back(core::command::StopOpening{});
}

void draw_reading(const Ui& ui, const std::string& name, core::ModelLoader::Progress progress, float width) {
    text_line(ui.note(), tr("Reading {name}", {{"name", fitted(ui.fonts.caption, name, width - ui.px(60))}}));
    draw_bar(ui, progress.bytes_read, progress.bytes_total, megabytes(progress), width);
}

void draw_computing(const Ui& ui, const std::string& name, core::WorkProgress& progress, float width) {
    text_line(ui.note(), tr("Computing {name}", {{"name", fitted(ui.fonts.caption, name, width - ui.px(80))}}));
    draw_bar(ui, progress.done, progress.all, tr(core::computing_sentence(progress)), width);
}

void draw_open_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const std::optional<core::Opening>& opening = session.opening();
    if (!opening && state.part<OpenDialogState>().awaited) return close_opening(state);
    if (state.dialog_opens && !opening) {
        state.part<OpenDialogState>() = {};
        // The folder of the current session or model may contain others.
        const std::filesystem::path shown =
            session.file().empty() ? session.shown().scenario.about().name : session.file();
        if (shown.is_absolute()) state.part<OpenDialogState>().path = (shown.parent_path() / "").string();
    }
    if (state.dialog_opens && opening) state.part<OpenDialogState>().path = opening->name;
    text_line(ui.title(), tr("Open a model or a session"));
    ImGui::Dummy({ui.px(kOpenWidth), ui.px(2)});
    if (opening && opening->reading) return reading(ui, session, state, commands);
    if (!opening || !opening->asks) return choose(ui, session, state, commands);
    const QuestionsEnd end = draw_open_questions(ui, *opening, state.part<OpenDialogState>(), kOpenWidth, commands);
    if (end == QuestionsEnd::back) return commands.push_back(core::command::StopOpening{});
    if (end == QuestionsEnd::open) state.part<OpenDialogState>().awaited = true;
    // With a list open, Esc closes that one only.
    if (end == QuestionsEnd::open || state.dialog_opens || !pressed(Key::escape) || compat::open_popups() > 1) return;
    leave_open_dialog(session, commands);
    close_opening(state);
}

}  // namespace decoderscope::views::dialogs
