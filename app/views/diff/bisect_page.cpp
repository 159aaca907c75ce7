#include "app/views/diff/bisect_page.h"

#include "app/core/bisect/bisection_text.h"
#include "app/views/widgets/empty_page.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <string>
#include <vector>

namespace decoderscope {

namespace {

// Another recording is asked about anew.
void follow_file(BisectTabState& bisect, const ReferenceRun* file) {
    const std::string path = file == nullptr ? std::string() : file->path;
    if (bisect.path == path) return;
    bisect = {.path = path, .question = {.tolerance = bisect.question.tolerance, .chosen = {}}};
}

void draw_nothing_to_bisect(const Ui& ui, const Session& session, Area area) {
    const std::string text =
        session.shown().scenario.computes()
            ? tr("Bisect finds the first tensor in which a recording of another program differs from this model, and "
                 "tries the usual mistakes as its cause. Record the other program with “decoderscope recorder”, then "
                 "type the file's path above, or drop it here.")
            : tr("Bisect compares a model with a recording, and this is a recording itself. Open its model first; "
                 "File compares two recordings by the names of their tensors.");
    draw_empty_page(ui, area, "", text, ui.theme.muted);
}

void draw_under_way(const Ui& ui, const Session& session, BisectTabState& bisect,
                    const std::shared_ptr<const Trace>& trace, Area area) {
    const double part = bisection_progress(session.derived(), session.shown(), trace, bisect.question);
    const std::string text = part == 0.0
                                 ? std::string(tr("Comparing …"))
                                 : tr("Trying causes … {percent} %", {{"percent", static_cast<int>(part * 100.0)}});
    ImGui::SetCursorScreenPos(draw_empty_page(ui, area, "", text, ui.theme.muted));
    if (button(tr("Cancel"), "cancel_bisect")) bisect.cancelled = bisect.question;
}

void draw_cancelled(const Ui& ui, BisectTabState& bisect, Area area) {
    ImGui::SetCursorScreenPos(draw_empty_page(ui, area, "", tr("Cancelled."), ui.theme.muted));
    if (button(tr("Start again"), "bisect_again")) bisect.cancelled.reset();
}

// What was found: a sentence, and more in small letters. Returns the height.
float draw_verdict(const Ui& ui, const Bisection& found, Area area) {
    const char* label = tr("Copy as text");
    const float room = compat::text_size(ui.fonts.text, label).x + ImGui::GetStyle().FramePadding.x * 2;
    const std::vector<std::string> lines = bisection_head(found);
    std::string more;
    for (std::size_t i = 1; i < lines.size(); ++i) more += (more.empty() ? "" : " ") + lines[i];
    for (const std::string& note : bisection_notes(found)) more += (more.empty() ? "" : "\n") + note;
    ImGui::SetCursorScreenPos(area.low);
    ImGui::BeginGroup();
    paragraph(ui.fonts.text, ui.theme.text, lines.front(), area.width() - room - ui.px(12));
    if (!found.causes.empty() && found.causes.front().explains)
        paragraph(ui.fonts.text, ui.theme.text, "✓ " + tr(found.causes.front().sentence), area.width());
    if (!more.empty()) paragraph(ui.fonts.caption, ui.theme.muted, more, area.width());
    ImGui::EndGroup();
    const float height = std::max(ImGui::GetItemRectSize().y, ImGui::GetFrameHeight());
    ImGui::SetCursorScreenPos({area.high.x - room, area.low.y});
    if (button(label, "copy_bisection")) ImGui::SetClipboardText(bisection_text(found).c_str());
    tooltip(tr("Copy all of it, as “decoderscope bisect” prints it"));
    return height;
}

void draw_found(const Ui& ui, const Session& session, BisectTabState& bisect, const Bisection& found, Area area,
                Commands& commands) {
    float y = area.low.y + draw_verdict(ui, found, area) + ui.px(8);
    if (const float used = draw_side_by_side(ui, found.cell, {{area.low.x, y}, area.high}); used > 0.0F)
        y += used + ui.px(8);
    draw_bisect_table(ui, session, bisect, found, {{area.low.x, y}, area.high}, commands);
}

}  // namespace

Value<ShownBisection> found_bisection(const Session& session, const BisectTabState& bisect) {
    const std::shared_ptr<const ReferenceRun>& file = session.shown().trace_file;
    if (!file || !session.shown().scenario.computes() || bisect.path != file->path ||
        bisect.cancelled == bisect.question)
        return {};
    return shown_bisection(session.derived(), session.shown(), file->trace, bisect.question);
}

void draw_bisect_page(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    const std::shared_ptr<const ReferenceRun>& file = session.shown().trace_file;
    BisectTabState& bisect = state.lab<DiffTabState>().bisect;
    follow_file(bisect, file.get());
    if (!file || !session.shown().scenario.computes()) return draw_nothing_to_bisect(ui, session, area);
    if (bisect.cancelled == bisect.question) return draw_cancelled(ui, bisect, area);
    const Value<ShownBisection> shown = found_bisection(session, bisect);
    if (!shown) return draw_under_way(ui, session, bisect, file->trace, area);
    if (!shown->error.empty()) {
        draw_empty_page(ui, area, tr("They can't be compared"), tr(shown->error), ui.theme.error);
        return;
    }
    draw_found(ui, session, bisect, shown->found, area, commands);
}

}  // namespace decoderscope
