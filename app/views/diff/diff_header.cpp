#include "app/core/diff/comparison_text.h"
#include "app/views/diff/diff_parts.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <optional>

namespace decoderscope {

namespace {

constexpr std::array kAgainst = {message("Unedited"), message("Configuration"), message("Pinned"), message("File"),
                                 message("Bisect")};
constexpr std::array kAgainstTips = {message("The same run without its edits"),
                                     message("The same weights and input with one configuration key changed"),
                                     message("A run that was kept before"),
                                     message("A trace in a file, from here or from PyTorch, by the tensors' names"),
                                     message("Where and why a recording of another program differs from this model")};
constexpr std::array kTolerances = {0.0, 1e-6, 1e-5, 1e-3};
constexpr std::array kToleranceTexts = {"0", "1e-6", "1e-5", "1e-3"};

// Bisect measures relative to a tensor's magnitude; nothing: as the recording's precision allows.
constexpr std::array kBisectTolerances = {std::optional<double>(), std::optional(1e-6), std::optional(1e-4),
                                          std::optional(1e-2)};
constexpr std::array kBisectToleranceTexts = {message("auto"), Phrase("1e-6"), Phrase("1e-4"), Phrase("1e-2")};

constexpr float kLine = 34.0F;

bool tolerance_fits(const Ui& ui, float width);

void caption(const Ui& ui, const char* text) {
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, ui.theme.muted, text);
    ImGui::SameLine(0, ui.px(8));
}

float button_width(const char* label) { return ImGui::CalcTextSize(label).x + ImGui::GetStyle().FramePadding.x * 2; }

void choose_against(const Ui& ui, DiffTabState& diff) {
    caption(ui, tr("now against"));
    for (std::size_t i = 0; i < kAgainst.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        const auto against = static_cast<Against>(i);
        if (toggle_button(ui, labelled(tr(kAgainst[i]), std::to_string(i)).c_str(), diff.against == against,
                          tr(kAgainstTips[i])))
            diff.against = against;
    }
}

float tolerance_width(const Ui& ui) {
    float width = compat::text_size(ui.fonts.caption, tr("tolerance")).x + ui.px(8) + ui.px(2) * 3;
    for (const char* text : kToleranceTexts) width += button_width(text);
    return width + ui.px(12);  // "auto" is wider than "0"
}

float against_width(const Ui& ui) {
    float width = compat::text_size(ui.fonts.caption, tr("now against")).x + ui.px(8) + ui.px(2) * 3;
    for (const Phrase& text : kAgainst) width += button_width(tr(text));
    return width;
}

void choose_relative_tolerance(const Ui& ui, BisectQuestion& question) {
    for (std::size_t i = 0; i < kBisectTolerances.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        if (toggle_button(ui, labelled(tr(kBisectToleranceTexts[i]), "tolerance" + std::to_string(i)).c_str(),
                          question.tolerance == kBisectTolerances[i],
                          tr("A difference larger than this part of a tensor's largest magnitude counts; auto: 1e-4, "
                             "more for half precision")))
            question.tolerance = kBisectTolerances[i];
    }
}

// At the right of the line, or below it.
void choose_tolerance(const Ui& ui, DiffTabState& diff, Area area) {
    if (tolerance_fits(ui, area.width()))
        ImGui::SetCursorScreenPos({area.high.x - tolerance_width(ui), area.low.y});
    else
        ImGui::SetCursorScreenPos({area.low.x, area.low.y + ui.px(kLine) * 2.0F});
    caption(ui, tr("tolerance"));
    if (diff.against == Against::bisect) return choose_relative_tolerance(ui, diff.bisect.question);
    for (std::size_t i = 0; i < kTolerances.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        if (toggle_button(ui, kToleranceTexts[i], diff.tolerance == kTolerances[i],
                          tr("A larger |A − B| counts as a difference")))
            diff.tolerance = kTolerances[i];
    }
}

bool tolerance_fits(const Ui& ui, float width) { return against_width(ui) + tolerance_width(ui) + ui.px(16) <= width; }

// ---- the second line: the details of the choice

void choose_option(const Ui& ui, const Session& session, DiffTabState& diff) {
    if (diff.option.first.empty())
        diff.option = {"norm_first", session.shown().scenario.config().norm_first ? "false" : "true"};
    ImGui::SetNextItemWidth(ui.px(260));
    if (!begin_list("##option", (diff.option.first + " = " + diff.option.second).c_str(),
                    ImGuiComboFlags_HeightLarge)) {
        tooltip(tr("Configuration key that differs in B"));
    } else {
        const Snapshot& shown = session.shown();
        const Value<Alternatives> others = shown_alternatives(session.derived(), shown.scenario, shown.run);
        for (const auto& option : others->options)
            if (press_row((option.first + " = " + option.second).c_str(), option == diff.option)) diff.option = option;
        ImGui::EndCombo();
    }
    ImGui::SameLine(0, ui.px(10));
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, ui.theme.muted, tr("same weights, input and edits"));
}

void choose_pinned(const Ui& ui, const Session& session, float right, Commands& commands) {
    const auto& pinned = session.shown().pinned;
    if (button(pinned ? tr("Pin this run instead") : tr("Pin this run"), "pin")) commands.push_back(command::Pin{});
    tooltip(tr("Keep this run to compare later ones with"));
    if (!pinned) return;
    ImGui::SameLine(0, ui.px(10));
    ImGui::AlignTextToFramePadding();
    const float room = right - ImGui::GetCursorScreenPos().x;
    text_line(ui.fonts.caption, ui.theme.muted, fitted(ui.fonts.caption, "pinned: " + pinned->label, room));
}

void choose_file(const Ui& ui, const Session& session, DiffTabState& diff, float right, Commands& commands) {
    const auto& file = session.shown().trace_file;
    ImGui::SetNextItemWidth(ui.px(300));
    focusable_field("##trace");
    bool entered = ImGui::InputTextWithHint("##trace", tr("path of a trace: .safetensors, .npz, .json"),
                                            diff.typed.data(), diff.typed.size(), ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::SameLine(0, ui.px(4));
    if (button(tr("Compare"), "compare")) entered = true;
    tooltip(tr("Read the file (again) and compare with it"));
    const std::string path = diff.typed.data();
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

std::string edits_text(const Session& session) {
    const std::size_t edits = session.shown().scenario.edits.size();
    if (edits == 0) return tr("A is this run. It has no edits.");
    return tr_n("A is this run with {count} edit, B the same run without",
                "A is this run with {count} edits, B the same run without", edits);
}

}  // namespace

float diff_header_height(const Ui& ui, float width) {
    return ui.px(tolerance_fits(ui, width) ? kLine * 2.0F : kLine * 3.0F) + ui.px(2);
}

void draw_diff_header(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    DiffTabState& diff = state.lab<DiffTabState>();
    ImGui::SetCursorScreenPos(area.low);
    choose_against(ui, diff);
    choose_tolerance(ui, diff, area);
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + ui.px(kLine)});
    switch (diff.against) {
        case Against::unedited:
            ImGui::AlignTextToFramePadding();
            text_line(ui.fonts.caption, ui.theme.muted, edits_text(session));
            break;
        case Against::configuration:
            choose_option(ui, session, diff);
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

}  // namespace decoderscope
