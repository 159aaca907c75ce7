#include "app/core/run/labels.h"
#include "app/core/tabs/bisect/bisection_text.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::compare {

namespace {

// Another recording starts over.
void follow_file(BisectState& bisect, const core::ReferenceRun* file) {
    const std::string path = file == nullptr ? std::string() : file->path;
    if (bisect.path == path) return;
    bisect = {.path = path, .question = {.tolerance = bisect.question.tolerance, .chosen = {}}};
}

void draw_nothing_to_bisect(const Ui& ui, const core::Session& session, CompareTabState& tab, Area area,
                            Commands& commands) {
    const core::Scenario& scenario = session.shown().scenario;
    const std::string text =
        scenario.computes()
            ? tr("Bisect finds the first tensor in which a recording of another program differs from this model, and "
                 "tries the usual mistakes as its cause. Record the other program with “decoderscope recorder”, then "
                 "type the file's path above, or drop it here.")
            : tr("Bisect compares a model with a recording, and this is a recording itself. Open its model first; "
                 "File compares two recordings by the names of their tensors.");
    const ImVec2 next = draw_empty_page(ui, area, "", text, ui.theme.muted);
    if (!core::bisect::has_example_recording(scenario)) return;
    ImGui::SetCursorScreenPos(next);
    const bool wanted = link(ui, {ui.fonts.text, ui.theme.accent},
                             tr("Try it on an example: this model, recorded with a mistake →"), 7301);
    tooltip(tr("Runs this model with a mistake that you aren't told, and writes it to a temporary file"));
    if (!wanted) return;
    try {
        commands.push_back(bisect_with_file(tab, core::bisect::write_example_recording(scenario).path));
    } catch (const Error& error) {
        commands.push_back(core::command::Tell{error.sentence(), true});
    }
}

void draw_under_way(const Ui& ui, const core::Session& session, BisectState& bisect,
                    const std::shared_ptr<const trace::Trace>& trace, Area area) {
    const double part = core::bisect::bisection_progress(session.derived(), session.shown(), trace, bisect.question);
    const std::string text = part == 0.0
                                 ? std::string(tr("Comparing …"))
                                 : tr("Trying causes … {percent} %", {{"percent", static_cast<int>(part * 100.0)}});
    ImGui::SetCursorScreenPos(draw_empty_page(ui, area, "", text, ui.theme.muted));
    if (button(tr("Cancel"), "cancel_bisect")) bisect.cancelled = bisect.question;
}

// What was found: a sentence, and more in small letters. Returns the height.
float draw_verdict(const Ui& ui, const core::bisect::Bisection& found, Area area) {
    const char* label = tr("Copy as text");
    const float room = compat::text_size(ui.fonts.text, label).x + ImGui::GetStyle().FramePadding.x * 2;
    const std::vector<std::string> lines = core::bisect::bisection_head(found);
    const std::string code = core::bisect::line_of_code(found);
    std::string more;
    for (std::size_t i = 1; i < lines.size(); ++i)
        if (lines[i] != code) more += (more.empty() ? "" : " ") + lines[i];
    for (const std::string& note : core::bisect::bisection_notes(found)) more += (more.empty() ? "" : "\n") + note;
    ImGui::SetCursorScreenPos(area.low);
    ImGui::BeginGroup();
    paragraph(ui.body(), lines.front(), area.width() - room - ui.px(12));
    if (!code.empty()) paragraph(ui.number(), code, area.width());
    if (!found.causes.empty() && found.causes.front().explains)
        paragraph(ui.body(), "✓ " + tr(found.causes.front().sentence), area.width());
    if (!more.empty()) paragraph(ui.note(), more, area.width());
    ImGui::EndGroup();
    const float height = std::max(ImGui::GetItemRectSize().y, ImGui::GetFrameHeight());
    ImGui::SetCursorScreenPos({area.high.x - room, area.low.y});
    if (button(label, "copy_bisection")) ImGui::SetClipboardText(core::bisect::bisection_text(found).c_str());
    tooltip(tr("Copy all of it, as “decoderscope bisect” prints it"));
    return height;
}

// A recorded tensor and the step that it was matched to; without a check it is none of ours.
struct MatchRow {
    const core::bisect::TensorCheck* check = nullptr;
    std::string theirs;
};

std::vector<MatchRow> rows_of(const core::bisect::Bisection& found) {
    std::vector<MatchRow> rows;
    for (const core::bisect::TensorCheck& check : found.checks)
        if (check.is_computed) rows.push_back({&check, check.theirs});
    for (const std::string& name : found.unmatched) rows.push_back({nullptr, name});
    return rows;
}

struct MatchColumns {
    float ours, theirs, measure, right;  // where they begin, and the end
};

MatchColumns columns_of(const Ui& ui, Area area) {
    const float right = area.high.x - ui.px(24), measure = right - ui.px(78);
    const float ours = area.low.x + ui.px(20), half = (measure - ours) * 0.5F;
    return {ours, ours + half, measure, right};
}

void draw_head(const Ui& ui, const MatchColumns& at, float y) {
    const float gap = ui.px(8);
    draw_text(ui, ui.note(), {at.ours, y}, tr("ours"), at.theirs - at.ours - gap);
    draw_text(ui, ui.note(), {at.theirs, y}, tr("theirs"), at.measure - at.theirs - gap);
    draw_text(ui, ui.note(), {at.measure, y}, tr("difference"), at.right - at.measure);
}

void row_tooltip(const Ui& ui, const MatchRow& row) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.number(), row.theirs);
    if (row.check == nullptr) {
        text_line(ui.note(), tr("Not compared: it is not a step of this model"));
    } else {
        text_line(ui.number(), row.check->ours);
        for (const std::string& line : core::bisect::check_lines(*row.check)) text_line(ui.note(), line);
    }
    ImGui::EndTooltip();
}

// The choice of what a recorded tensor is.
void draw_choice(const Ui& ui, const core::Session& session, BisectState& bisect, const MatchRow& row) {
    ImGui::SetNextWindowSize({ui.px(340), ui.px(260)});
    if (!ImGui::BeginPopup("match")) return;
    text_line(ui.note(), fitted(ui.fonts.caption, row.theirs, ui.px(320)));
    const auto choose = [&](const std::string& ours) {
        std::erase_if(bisect.question.chosen, [&](const core::ChosenMatch& one) { return one.theirs == row.theirs; });
        bisect.question.chosen.push_back({row.theirs, ours});
        bisect.cancelled.reset();
        ImGui::CloseCurrentPopup();
    };
    const std::string now = row.check == nullptr ? std::string() : row.check->ours;
    if (press_row(labelled(tr("no match"), "none").c_str(), now.empty())) choose({});
    const std::shared_ptr<const trace::Trace>& trace = session.shown().trace_file->trace;
    const auto steps = core::bisect::shown_possible_steps(session.derived(), session.shown(), trace, row.theirs);
    for (const std::string& name : steps->names)
        if (press_row(name.c_str(), name == now)) choose(name);
    ImGui::EndPopup();
}

void draw_row(const Ui& ui, const core::Session& session, BisectState& bisect, const MatchRow& row, bool is_first,
              const MatchColumns& at, Area area, Commands& commands) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const core::bisect::TensorCheck* check = row.check;
    const bool clicked = press_at("row", {area.low, {at.right, area.high.y}});
    const bool hovered = ImGui::IsItemHovered();
    if (is_first || hovered)
        list.AddRectFilled(area.low, area.high, is_first ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
    if (hovered) row_tooltip(ui, row);
    const float y = area.low.y + (area.height() - compat::font_size(ui.fonts.mono_small)) * 0.5F, gap = ui.px(8);
    const bool differs = check != nullptr && check->differs;
    draw_text(ui, {ui.fonts.text, differs ? ui.theme.error : ui.theme.muted}, {area.low.x + ui.px(3), area.low.y},
              check == nullptr ? ""
              : differs        ? "≠"
                               : "=");
    const ImU32 color = differs ? ui.theme.text : ui.theme.muted;
    draw_text(ui, {ui.fonts.mono_small, color}, {at.ours, y}, check == nullptr ? tr("no match") : check->ours,
              at.theirs - at.ours - gap);
    draw_text(ui, {ui.fonts.mono_small, color}, {at.theirs, y}, row.theirs, at.measure - at.theirs - gap);
    if (check != nullptr)
        draw_text(ui, {ui.fonts.mono_small, color}, {at.measure, y}, core::bisect::difference_of(*check),
                  at.right - at.measure);
    ImGui::SetCursorScreenPos({at.right, area.low.y});
    const bool matches = ImGui::SmallButton("▾");
    if (focusable(matches)) ImGui::OpenPopup("match");
    tooltip(tr("Match this recorded tensor to a step"));
    draw_choice(ui, session, bisect, row);
    if (clicked && check != nullptr) commands.push_back(core::command::GoTo{check->ours});
}

void heading(const Ui& ui, const char* text) {
    ImGui::Dummy({1, ui.px(4)});
    paragraph(ui.note(), text);
}

// One column of an explanation. Returns where it ends.
float draw_column(const Ui& ui, const char* title, const std::vector<std::string>& lines, Area area) {
    draw_text(ui, ui.note(), area.low, title, area.width());
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + ui.px(18)});
    ImGui::BeginGroup();
    for (const std::string& line : lines) paragraph(ui.number(), line, area.width());
    ImGui::EndGroup();
    return ImGui::GetItemRectMax().y;
}

void causes(const Ui& ui, const std::vector<core::bisect::Cause>& all) {
    for (const core::bisect::Cause& cause : all) {
        paragraph({ui.fonts.text, cause.explains ? ui.theme.text : ui.theme.muted},
                  std::string(cause.explains ? "✓ " : "") + tr(cause.sentence));
        paragraph(ui.note(), core::bisect::cause_remark(cause));
    }
}

void blocks(const Ui& ui, const std::vector<core::bisect::IsolatedBlock>& all) {
    if (all.empty()) return;
    heading(ui, tr("Each block alone, on its recorded input"));
    for (const core::bisect::IsolatedBlock& block : all)
        paragraph({ui.fonts.caption, block.differs ? ui.theme.text : ui.theme.muted},
                  core::bisect::isolated_line(block));
}

// Which tensor was matched to which step, in the order of computation, each to be changed; then those that match none.
void draw_bisect_table(const Ui& ui, const core::Session& session, BisectState& bisect,
                       const core::bisect::Bisection& found, Area area, Commands& commands) {
    const float head = ui.px(22), line = ui.px(20), scrollbar = ImGui::GetStyle().ScrollbarSize + ui.px(4);
    const MatchColumns at = columns_of(ui, {area.low, {area.high.x - scrollbar, area.high.y}});
    draw_head(ui, at, area.low.y);
    const std::vector<MatchRow> rows = rows_of(found);
    const core::bisect::TensorCheck* first = found.first ? &found.checks[*found.first] : nullptr;
    scrolled_rows(
        ui, "bisect-table", {{area.low.x, area.low.y + head}, area.high}, line, rows.size(),
        [&](std::size_t i, Area row) {
            ImGui::PushID(static_cast<int>(i));
            draw_row(ui, session, bisect, rows[i], first != nullptr && rows[i].check == first, at, row, commands);
            ImGui::PopID();
        },
        [&](float) {
            // A new result is shown from its first difference on, with a little of what agrees before it.
            if (std::exchange(bisect.listed, &found) == &found) return;
            const auto place = std::ranges::find(rows, first, &MatchRow::check) - rows.begin();
            ImGui::SetScrollY(first == nullptr ? 0.0F : std::max(0.0F, line * (static_cast<float>(place) - 3.0F)));
        });
}

// The worst cell, computed here and, with the likeliest cause, there, side by side. Returns the height.
float draw_side_by_side(const Ui& ui, const core::bisect::SideBySide& cell, Area area) {
    if (cell.ours.empty()) return 0.0F;
    const float middle = cell.theirs.empty() ? area.high.x : (area.low.x + area.high.x) * 0.5F, gap = ui.px(10);
    const float left = draw_column(ui, tr("Here"), cell.ours, {area.low, {middle - gap, area.high.y}});
    if (cell.theirs.empty()) return left - area.low.y;
    const float right =
        draw_column(ui, tr("There, with the likeliest cause"), cell.theirs, {{middle + gap, area.low.y}, area.high});
    const float end = std::max(left, right);
    ImGui::GetWindowDrawList()->AddLine({middle, area.low.y}, {middle, end}, ui.theme.line);
    return end - area.low.y;
}

void draw_found(const Ui& ui, const core::Session& session, BisectState& bisect, const core::bisect::Bisection& found,
                Area area, Commands& commands) {
    float y = area.low.y + draw_verdict(ui, found, area) + ui.px(8);
    if (const float used = draw_side_by_side(ui, found.cell, {{area.low.x, y}, area.high}); used > 0.0F)
        y += used + ui.px(8);
    draw_bisect_table(ui, session, bisect, found, {{area.low.x, y}, area.high}, commands);
}

}  // namespace

core::Value<core::bisect::ShownBisection> found_bisection(const core::Session& session, const BisectState& bisect) {
    const std::shared_ptr<const core::ReferenceRun>& file = session.shown().trace_file;
    if (!file || !session.shown().scenario.computes() || bisect.path != file->path ||
        bisect.cancelled == bisect.question)
        return {};
    return core::bisect::shown_bisection(session.derived(), session.shown(), file->trace, bisect.question);
}

void draw_bisect_page(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const std::shared_ptr<const core::ReferenceRun>& file = session.shown().trace_file;
    CompareTabState& tab = state.part<CompareTabState>();
    BisectState& bisect = tab.bisect;
    follow_file(bisect, file.get());
    if (!file || !session.shown().scenario.computes()) return draw_nothing_to_bisect(ui, session, tab, area, commands);
    if (bisect.cancelled == bisect.question) {
        ImGui::SetCursorScreenPos(draw_empty_page(ui, area, "", tr("Cancelled."), ui.theme.muted));
        if (button(tr("Start again"), "bisect_again")) bisect.cancelled.reset();
        return;
    }
    const core::Value<core::bisect::ShownBisection> shown = found_bisection(session, bisect);
    if (!shown) return draw_under_way(ui, session, bisect, file->trace, area);
    if (!shown->error.empty()) {
        draw_empty_page(ui, area, tr("They can't be compared"), tr(shown->error), ui.theme.error);
        return;
    }
    draw_found(ui, session, bisect, shown->found, area, commands);
}

void inspect_bisection(const Ui& ui, const core::Session& session, const BisectState& bisect) {
    paragraph(ui.title(), tr("The cause"));
    const core::Value<core::bisect::ShownBisection> shown = found_bisection(session, bisect);
    if (!shown) return paragraph(ui.hint(), tr("Nothing was found yet."));
    if (!shown->error.empty()) return paragraph(ui.hint(), tr("They can't be compared"));
    const core::bisect::Bisection& found = shown->found;
    if (!found.first)
        return paragraph(ui.hint(), tr("Everything that was compared agrees: there is nothing to explain."));
    if (found.causes.empty() || !found.relation.empty()) paragraph(ui.body(), core::bisect::without_cause(found));
    causes(ui, found.causes);
    if (!found.further.empty()) heading(ui, tr("And then"));
    causes(ui, found.further);
    blocks(ui, found.isolated);
}

}  // namespace decoderscope::views::compare
