#include "app/views/shell/inspector_parts.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

void list_edits(const Ui& ui, const Session& session, Commands& commands) {
    const std::vector<Edit>& edits = session.scenario().edits;
    if (edits.empty()) return;
    inspector_line(ui);
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

}  // namespace decoderscope
