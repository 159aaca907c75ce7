#include "app/views/diff/bisect_page.h"

#include "app/core/bisect/bisection_text.h"
#include "app/views/widgets/empty_page.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>

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

// What was found, in a few lines. Returns their height.
float draw_verdict(const Ui& ui, const Bisection& found, Area area) {
    ImGui::SetCursorScreenPos(area.low);
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(area.high.x - ui.px(110) - ImGui::GetWindowPos().x);
    bool first = true;
    for (const std::string& line : bisection_head(found)) {
        paragraph_here(first ? ui.fonts.text : ui.fonts.caption, first ? ui.theme.text : ui.theme.muted, line);
        first = false;
    }
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    const float height = ImGui::GetItemRectSize().y;
    const char* label = tr("Copy as text");
    ImGui::SetCursorScreenPos(
        {area.high.x - compat::text_size(ui.fonts.text, label).x - ImGui::GetStyle().FramePadding.x * 2, area.low.y});
    if (button(label, "copy_bisection")) ImGui::SetClipboardText(bisection_text(found).c_str());
    tooltip(tr("Copy all of it, as “decoderscope bisect” prints it"));
    return height;
}

void draw_found(const Ui& ui, const Session& session, BisectTabState& bisect, const Bisection& found, Area area,
                Commands& commands) {
    const float top = area.low.y + draw_verdict(ui, found, area) + ui.px(8);
    const Area below = {{area.low.x, top}, area.high};
    if (!found.first) return draw_bisect_table(ui, session, bisect, found, below, commands);
    // Side by side where both can be read, else one above the other.
    const float gap = ui.px(14);
    if (below.width() >= ui.px(620)) {
        const float middle = below.low.x + std::floor(below.width() * 0.52F);
        draw_bisect_table(ui, session, bisect, found, {below.low, {middle - gap, below.high.y}}, commands);
        draw_bisect_causes(ui, found, {{middle, below.low.y}, below.high});
        return;
    }
    const float middle = below.low.y + std::floor(below.height() * 0.5F);
    draw_bisect_causes(ui, found, {below.low, {below.high.x, middle - gap * 0.5F}});
    draw_bisect_table(ui, session, bisect, found, {{below.low.x, middle}, below.high}, commands);
}

}  // namespace

void draw_bisect_page(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    const std::shared_ptr<const ReferenceRun>& file = session.shown().trace_file;
    BisectTabState& bisect = state.lab<DiffTabState>().bisect;
    follow_file(bisect, file.get());
    if (!file || !session.shown().scenario.computes()) return draw_nothing_to_bisect(ui, session, area);
    if (bisect.cancelled == bisect.question) return draw_cancelled(ui, bisect, area);
    const Value<ShownBisection> shown =
        shown_bisection(session.derived(), session.shown(), file->trace, bisect.question);
    if (!shown) return draw_under_way(ui, session, bisect, file->trace, area);
    if (!shown->error.empty()) {
        draw_empty_page(ui, area, tr("They can't be compared"), tr(shown->error), ui.theme.error);
        return;
    }
    draw_found(ui, session, bisect, shown->found, area, commands);
}

}  // namespace decoderscope
