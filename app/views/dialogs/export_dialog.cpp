
#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/picture_files.h"
#include "app/core/figure/said.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/dialogs/saving.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"
#include "engine/platform/files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>
#include <utility>

namespace decoderscope::views::dialogs {

namespace {

constexpr float kExportWidth = 560.0F;

struct Format {
    const char* label;
    const char* ending;
    bool picture;
};
constexpr std::string_view kPdf = "PDF";
constexpr std::array kFormats = {
    Format{"PNG", ".png", true},  Format{"SVG", ".svg", true},  Format{kPdf.data(), ".pdf", true},
    Format{"TXT", ".txt", false}, Format{"CSV", ".csv", false}, Format{"JSON", ".json", false},
    Format{"NPY", ".npy", false}, Format{"NPZ", ".npz", false}, Format{"safetensors", ".safetensors", false}};

void close_export(ViewState& state) {
    state.part<ExportDialogState>().choices.clear();
    close_dialog(state);
}

// ---- the path

std::string ending_for(const ExportDialogState& dialog) {
    return dialog.choices[dialog.chosen].each ? "" : kFormats[dialog.format].ending;
}

// Names the file after the choice, in the typed folder, with the format's extension.
void rename(ExportDialogState& dialog) {
    const std::string now = dialog.path;
    const std::size_t name = platform::name_in_path(now);
    std::string stem = dialog.choices[dialog.chosen].file_name;
    if (dialog.typed) {
        stem = now.substr(name);
        for (const Format& format : kFormats)
            if (stem.ends_with(format.ending)) stem.erase(stem.size() - std::string_view(format.ending).size());
    }
    dialog.path = now.substr(0, name) + stem + ending_for(dialog);
}

// The typed extension also chooses the format.
void read_ending(ExportDialogState& dialog) {
    dialog.typed = true;
    for (std::size_t i = 0; i < kFormats.size(); ++i)
        if (dialog.path.ends_with(kFormats[i].ending)) dialog.format = i;
}

void open(ExportDialogState& dialog, const core::Session& session, const ViewState& state) {
    dialog.choices = export_choices(session, state);
    dialog.chosen = 0;
    dialog.typed = false;
    dialog.said.clear();
    if (!dialog.choices.empty()) rename(dialog);  // none while what is shown is being computed
}

// ---- its parts

void label(const Ui& ui, const char* text) {
    word_beside(ui, text);
    ImGui::SameLine();
    ImGui::SetCursorPosX(ui.px(16) + ui.px(80));
}

// By a click, or by the arrow keys, which take the file's name out of the field until it is another one.
void choose_what(const Ui& ui, ExportDialogState& dialog) {
    const auto now = static_cast<int>(dialog.chosen);
    int chosen = row_by_arrows(now, dialog.choices.size());
    if (chosen != now && typing()) {
        compat::clear_active();
        dialog.refocus = true;
    }
    for (std::size_t i = 0; i < dialog.choices.size(); ++i) {
        const std::string text = labelled(dialog.choices[i].label, std::to_string(i));
        if (press_row(text.c_str(), i == dialog.chosen, ImGuiSelectableFlags_DontClosePopups,
                      {ui.px(kExportWidth), 0.0F}))
            chosen = static_cast<int>(i);
    }
    if (chosen == now) return;
    dialog.chosen = static_cast<std::size_t>(chosen);
    dialog.typed = false;
    rename(dialog);
}

void choose_format(const Ui& ui, ExportDialogState& dialog) {
    const Sentence obstacle = core::pdf_obstacle();
    std::vector<const char*> labels;
    std::vector<std::size_t> offered;
    for (std::size_t i = 0; i < kFormats.size(); ++i) {
        if (kFormats[i].label == kPdf && !obstacle.empty()) continue;
        labels.push_back(kFormats[i].label);
        offered.push_back(i);
    }
    label(ui, tr("Format"));
    const auto chosen = std::ranges::find(offered, dialog.format);
    const int clicked = segmented(ui, "format", labels, static_cast<int>(chosen - offered.begin()));
    if (!obstacle.empty()) paragraph(ui.fonts.caption, ui.theme.muted, tr(obstacle), ui.px(kExportWidth));
    if (clicked < 0) return;
    dialog.format = offered[static_cast<std::size_t>(clicked)];
    rename(dialog);
}

// What a format has no use for is out of use, and keeps its place: what stands below doesn't move.
void choose_picture(const Ui& ui, ExportDialogState& dialog) {
    static constexpr std::array<const char*, 4> scales = {"1×", "2×", "3×", "4×"};
    const std::array<const char*, 2> grounds = {tr("White"), tr("Dark")};
    ImGui::BeginDisabled(!kFormats[dialog.format].picture);
    label(ui, tr("Background"));
    if (const int clicked = segmented(ui, "ground", grounds, dialog.options.style.dark ? 1 : 0); clicked >= 0)
        dialog.options.style.dark = clicked == 1;
    ImGui::EndDisabled();
    ImGui::BeginDisabled(dialog.format != 0);
    label(ui, tr("Scale"));
    const int now = static_cast<int>(std::lround(dialog.options.scale)) - 1;
    if (const int clicked = segmented(ui, "scale", scales, now); clicked >= 0)
        dialog.options.scale = static_cast<double>(clicked + 1);
    ImGui::EndDisabled();
}

// The folder that the file comes into, or the question whether to replace what is there.
void draw_where(const Ui& ui, const ViewState& state, const std::string& path) {
    if (replacing(state, path)) return draw_replacing(ui, state, path, ui.px(kExportWidth));
    const std::string folder = std::filesystem::path(absolute_path(path)).parent_path().string();
    text_line(ui.fonts.caption, ui.theme.muted,
              fitted(ui.fonts.caption, tr("in {folder}", {{"folder", folder}}), ui.px(kExportWidth)));
}

// Limited, as copying everything by mistake would flood the clipboard.
Sentence copy_as_csv(const core::Exhibit& exhibit) {
    constexpr Index kMostCells = 1'000'000;
    Index cells = 0;
    for (const core::Panel& panel : exhibit.panels) cells += panel.rows * panel.columns;
    if (cells > kMostCells)
        return message("Not copied: {cells} numbers are too many, at most {most}. Export them instead.",
                       {{"cells", cells}, {"most", kMostCells}});
    std::ostringstream text;
    core::write_csv(text, exhibit);
    ImGui::SetClipboardText(text.str().c_str());
    return message("Copied as CSV.");
}

// What is shown has no values yet. The dialog goes on once they are there.
void wait_for_step(const Ui& ui, const core::Session& session, ViewState& state) {
    text_line(ui.fonts.text, ui.theme.muted, tr("{name}: being computed …", {{"name", session.step().name}}).c_str());
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) close_export(state);
}

// How pictures are drawn: as chosen in the dialog, in the window's colour map.
core::ExportOptions options_of(const ViewState& state) {
    core::ExportOptions options = state.part<ExportDialogState>().options;
    options.style.sequential = state.settings.sequential;
    return options;
}

request::CopyPicture picture_of(const ExportChoice& choice, const ViewState& state) {
    return {std::make_shared<const core::Exhibit>(choice.in_english()), options_of(state)};
}

// A small export's progress would be nothing but a flash.
bool is_worth_showing(const std::optional<core::Exporter::Progress>& progress) {
    constexpr std::size_t kWorthShowing = 8;
    return progress && progress->total >= kWorthShowing;
}

}  // namespace

Sentence copy_shown_as_csv(const core::Session& session, const ViewState& state) {
    const std::vector<ExportChoice> choices = export_choices(session, state);
    if (choices.empty())
        return message("{name} is being computed: nothing was copied", {{"name", session.step().name}});
    return copy_as_csv(choices.front().in_english());
}

std::vector<Sentence> shown_in_words(const core::Session& session, const ViewState& state) {
    const std::vector<ExportChoice> choices = export_choices(session, state);
    return choices.empty() ? std::vector<Sentence>() : core::said(choices.front().exhibit());
}

void copy_shown_as_picture(const core::Session& session, const ViewState& state, Commands& commands) {
    const std::vector<ExportChoice> choices = export_choices(session, state);
    if (!choices.empty()) commands.push_back(picture_of(choices.front(), state));
}

void draw_export_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    ExportDialogState& dialog = state.part<ExportDialogState>();
    if (state.dialog_opens || dialog.choices.empty()) open(dialog, session, state);
    text_line(ui.fonts.heading, ui.theme.text, tr("Export"));
    if (dialog.choices.empty()) return wait_for_step(ui, session, state);
    choose_what(ui, dialog);
    ImGui::Dummy({ui.px(kExportWidth), ui.px(4)});
    choose_format(ui, dialog);
    choose_picture(ui, dialog);
    const ExportChoice& choice = dialog.choices[dialog.chosen];
    label(ui, choice.each ? tr("Folder") : tr("File"));
    ImGui::SetNextItemWidth(ui.px(kExportWidth - 80));
    if (std::exchange(dialog.refocus, false) || state.dialog_opens) compat::take_keyboard();
    const bool entered =
        text_field("##path", dialog.path, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    if (ImGui::IsItemEdited()) read_ending(dialog);
    const std::string path = core::path_of(dialog.path);
    draw_where(ui, state, path);
    const bool clicked = write_button(replacing(state, path), tr("Export"), "export");
    ImGui::SameLine();
    if (button(tr("Copy as CSV"), "csv")) dialog.said = tr(copy_as_csv(choice.in_english()));
    ImGui::SameLine();
    if (button(tr("Copy picture"), "picture")) commands.push_back(picture_of(choice, state));
    ImGui::SameLine();
    const bool linked = button(tr("Copy link"), "link");
    tooltip(tr("A link that opens all of this as it is now: the model, its input, the edits and the view"));
    ImGui::SameLine();
    const bool cancelled = button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape));
    ImGui::SameLine();
    word_beside(ui, dialog.said.c_str());
    if (cancelled) return close_export(state);
    if (linked) {
        close_export(state);
        return copy_link(session, state, commands);
    }
    const bool again = replacing(state, path) && pressed(Key::enter);
    const bool wanted = (entered || clicked || again) && !dialog.path.empty();
    // A folder that isn't empty is refused anyway.
    if (choice.each ? !wanted : !may_write(state, path, wanted)) return;
    commands.push_back(core::command::Export{path, std::make_shared<const core::Exhibit>(choice.in_english()),
                                             options_of(state), choice.each ? kFormats[dialog.format].ending : ""});
    close_export(state);
}

float export_progress_height(const Ui& ui, const core::Session& session) {
    if (!is_worth_showing(session.exporting())) return 0.0F;
    return ImGui::GetFrameHeight() + compat::font_size(ui.fonts.caption) + ui.px(20);
}

void draw_export_progress(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    const std::optional<core::Exporter::Progress> progress = session.exporting();
    if (!is_worth_showing(progress)) return;
    ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.raised);
    const float pad = ui.px(14), gap = ui.px(8), frame = ImGui::GetFrameHeight();
    const std::string count = tr("{done} of {total}", {{"done", progress->done}, {"total", progress->total}});
    const float cancel_x = area.high.x - pad - button_width(tr("Cancel"));
    ImGui::SetCursorScreenPos({area.low.x + pad, area.low.y + ui.px(6)});
    ImGui::PushStyleColor(ImGuiCol_PlotHistogram, ui.theme.accent_soft);
    ImGui::ProgressBar(static_cast<float>(progress->done) / static_cast<float>(progress->total),
                       {cancel_x - gap - area.low.x - pad, 0.0F}, count.c_str());
    ImGui::PopStyleColor();
    ImGui::SetCursorScreenPos({cancel_x, area.low.y + ui.px(6)});
    if (button(tr("Cancel"), "stop")) commands.push_back(core::command::StopExport{});
    draw_text(ui, ui.fonts.caption, {area.low.x + pad, area.low.y + ui.px(10) + frame}, ui.theme.muted,
              tr("Writing {path}", {{"path", progress->path}}), area.width() - 2.0F * pad);
}

}  // namespace decoderscope::views::dialogs
