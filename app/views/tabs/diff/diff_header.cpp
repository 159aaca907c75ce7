#include "app/core/run/comparison.h"
#include "app/core/run/edit_groups.h"
#include "app/core/tabs/diff/comparison_text.h"
#include "app/views/tabs/diff/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "engine/base/translate.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views::diff {

namespace {

constexpr std::array kAgainst = {message("Unedited"), message("Configuration"), message("Pinned"), message("File"),
                                 message("Bisect")};
constexpr std::array kAgainstTips = {message("The same run without its edits"),
                                     message("The same weights and input with one configuration key changed"),
                                     message("A run that was pinned before"),
                                     message("A trace in a file, from here or from PyTorch, by the tensors' names"),
                                     message("Where and why a recording of another program differs from this model")};
constexpr std::array kTolerances = {0.0, 1e-6, 1e-5, 1e-3};
constexpr std::array kToleranceTexts = {"0", "1e-6", "1e-5", "1e-3"};

// Bisect measures relative to a tensor's magnitude; nothing: it tells rounding from a mistake.
constexpr std::array kBisectTolerances = {std::optional<double>(), std::optional(1e-6), std::optional(1e-4),
                                          std::optional(1e-2)};
constexpr std::array kBisectToleranceTexts = {message("auto"), Phrase("1e-6"), Phrase("1e-4"), Phrase("1e-2")};

constexpr float kLine = 34.0F;

float button_width(const char* label) { return ImGui::CalcTextSize(label).x + ImGui::GetStyle().FramePadding.x * 2; }

void choose_against(const Ui& ui, DiffTabState& diff, bool says_what) {
    if (says_what) word_before(ui, tr("now against"), 8);
    for (std::size_t i = 0; i < kAgainst.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        const auto against = static_cast<Against>(i);
        if (toggle_button(ui, labelled(tr(kAgainst[i]), std::to_string(i)).c_str(), diff.against == against,
                          tr(kAgainstTips[i])))
            diff.against = against;
    }
}

// The labels of the tolerances that there are to choose from.
std::vector<std::string> tolerance_labels(Against against) {
    if (against != Against::bisect) return {kToleranceTexts.begin(), kToleranceTexts.end()};
    std::vector<std::string> labels;
    for (const Phrase& text : kBisectToleranceTexts) labels.emplace_back(tr(text));
    return labels;
}

// How the choices share the first lines: with a word before them, if there is room, and the tolerance beside them or
// in a line of its own.
struct FirstLine {
    bool says_what = true;
    bool has_tolerance = true;
    float tolerance = 0.0F;  // its width
};

FirstLine first_line(const Ui& ui, Against against, float width) {
    const auto caption_width = [&](const char* text) { return compat::text_size(ui.fonts.caption, text).x + ui.px(8); };
    const float gaps = ui.px(2) * 3;
    FirstLine line{.tolerance = caption_width(tr("tolerance")) + gaps};
    for (const std::string& label : tolerance_labels(against)) line.tolerance += button_width(label.c_str());
    float choices = gaps + ui.px(2);
    for (const Phrase& text : kAgainst) choices += button_width(tr(text));
    const float both = choices + line.tolerance + ui.px(16), word = caption_width(tr("now against"));
    line.has_tolerance = both <= width;
    line.says_what = (line.has_tolerance ? both : choices) + word <= width;
    return line;
}

void choose_relative_tolerance(const Ui& ui, core::BisectInputs& question) {
    for (std::size_t i = 0; i < kBisectTolerances.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        if (toggle_button(ui, labelled(tr(kBisectToleranceTexts[i]), "tolerance" + std::to_string(i)).c_str(),
                          question.tolerance == kBisectTolerances[i],
                          tr("A difference counts if it exceeds this fraction of the tensor's largest magnitude; auto: "
                             "if it is no rounding")))
            question.tolerance = kBisectTolerances[i];
    }
}

// At the right of the line, or below it.
void choose_tolerance(const Ui& ui, DiffTabState& diff, const FirstLine& line, Area area) {
    if (line.has_tolerance)
        ImGui::SetCursorScreenPos({area.high.x - line.tolerance, area.low.y});
    else
        ImGui::SetCursorScreenPos({area.low.x, area.low.y + ui.px(kLine) * 2.0F});
    word_before(ui, tr("tolerance"), 8);
    if (diff.against == Against::bisect) return choose_relative_tolerance(ui, diff.bisect.question);
    for (std::size_t i = 0; i < kTolerances.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        if (toggle_button(ui, kToleranceTexts[i], diff.tolerance == kTolerances[i],
                          tr("A larger |A − B| counts as a difference")))
            diff.tolerance = kTolerances[i];
    }
}

// ---- the second line: the details of the choice

void choose_option(const Ui& ui, const core::Session& session, ViewState& state) {
    auto& diff = state.part<DiffTabState>();
    if (!session.shown().scenario.computes()) {
        ImGui::AlignTextToFramePadding();
        return text_line(ui.fonts.caption, ui.theme.muted,
                         tr("Recorded elsewhere: without weights no other configuration can be computed."));
    }
    if (diff.option.first.empty()) diff.option = core::flipped_norm(session.shown().scenario);
    ImGui::SetNextItemWidth(ui.px(260));
    if (!begin_list("##option", (diff.option.first + " = " + diff.option.second).c_str(),
                    ImGuiComboFlags_HeightLarge)) {
        tooltip(tr("Configuration key that differs in B"));
    } else {
        const core::Snapshot& shown = session.shown();
        const core::Value<core::diff::Alternatives> others =
            core::diff::shown_alternatives(session.derived(), shown.scenario, shown.run);
        if (!others) text_line(ui.fonts.caption, ui.theme.muted, tr("Being tried out …"));
        for (const auto& option : others ? others->options : Overrides())
            if (press_row((option.first + " = " + option.second).c_str(), option == diff.option)) diff.option = option;
        ImGui::EndCombo();
    }
    ImGui::SameLine(0, ui.px(10));
    if (button(tr("All keys …"), "keys")) state.show(Dialog::configuration);
    tooltip(tr("What if the whole model had another configuration: each key, to be changed in this run"));
    ImGui::SameLine(0, ui.px(10));
    word_beside(ui, tr("same weights, input and edits"));
}

void choose_pinned(const Ui& ui, const core::Session& session, float right, Commands& commands) {
    const auto& pinned = session.shown().pinned;
    if (button(pinned ? tr("Pin this run instead") : tr("Pin this run"), "pin"))
        commands.push_back(core::command::Pin{});
    tooltip(tr("Keep this run to compare later runs with it"));
    if (!pinned) return;
    ImGui::SameLine(0, ui.px(10));
    ImGui::AlignTextToFramePadding();
    const float room = right - ImGui::GetCursorScreenPos().x;
    text_line(ui.fonts.caption, ui.theme.muted,
              fitted(ui.fonts.caption, tr("pinned: {label}", {{"label", pinned->label}}), room));
}

void choose_file(const Ui& ui, const core::Session& session, DiffTabState& diff, float right, Commands& commands) {
    const auto& file = session.shown().trace_file;
    ImGui::SetNextItemWidth(ui.px(300));
    bool entered = text_field("##trace", diff.typed, ImGuiInputTextFlags_EnterReturnsTrue,
                              tr("path of a trace: .safetensors, .npz, .json"));
    ImGui::SameLine(0, ui.px(4));
    if (button(tr("Compare"), "compare")) entered = true;
    tooltip(tr("Read the file (again) and compare with it"));
    const std::string path = diff.typed;
    if (entered && !path.empty())
        commands.push_back(diff.against == Against::bisect ? bisect_with_file(diff, path)
                                                           : compare_with_file(diff, path));
    if (!file) return;
    ImGui::SameLine(0, ui.px(10));
    ImGui::AlignTextToFramePadding();
    const std::string text =
        tr_n("{file}, {count} tensor", "{file}, {count} tensors", file->tensors.size(), {{"file", file->label}});
    text_line(ui.fonts.caption, ui.theme.muted, fitted(ui.fonts.caption, text, right - ImGui::GetCursorScreenPos().x));
}

std::string edits_text(const core::Session& session) {
    const std::size_t edits = core::count_of_edits(session.shown().scenario.edits);
    const Sentence settings = core::changed_settings(session.shown().scenario);
    if (session.shown().scenario.dropout_seed)
        return edits == 0 ? tr("A is this run with dropout, B the same run without")
                          : tr_n("A is this run with dropout and {count} edit, B the same run without them",
                                 "A is this run with dropout and {count} edits, B the same run without them", edits);
    if (edits == 0) return tr("A is this run. It has no edits.");
    if (!settings.empty())
        return tr_n("A is this run ({settings}) with {count} edit, B the same run without",
                    "A is this run ({settings}) with {count} edits, B the same run without", edits,
                    {{"settings", settings}});
    return tr_n("A is this run with {count} edit, B the same run without",
                "A is this run with {count} edits, B the same run without", edits);
}

}  // namespace

float diff_header_height(const Ui& ui, Against against, float width) {
    return ui.px(first_line(ui, against, width).has_tolerance ? kLine * 2.0F : kLine * 3.0F) + ui.px(2);
}

void draw_diff_header(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    DiffTabState& diff = state.part<DiffTabState>();
    ImGui::SetCursorScreenPos(area.low);
    const FirstLine line = first_line(ui, diff.against, area.width());
    choose_against(ui, diff, line.says_what);
    choose_tolerance(ui, diff, line, area);
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + ui.px(kLine)});
    switch (diff.against) {
        case Against::unedited:
            word_beside(ui, edits_text(session));
            break;
        case Against::configuration:
            choose_option(ui, session, state);
            break;
        case Against::pinned:
            choose_pinned(ui, session, area.high.x, commands);
            break;
        case Against::file:
        case Against::bisect:
            choose_file(ui, session, diff, area.high.x, commands);
            break;
    }
}

}  // namespace decoderscope::views::diff
