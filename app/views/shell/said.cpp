#include "app/core/figure/said.h"

#include "app/views/dialogs/dialogs.h"
#include "app/views/shell/workspace.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <imgui.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The picture on the stage in words, at the stage's foot: for whoever can't see it, and for whoever wants to quote it.
namespace decoderscope::views::shell {

namespace {

constexpr float kSaidEdge = 16.0F, kSaidGap = 8.0F;

// What a text was made from. A tab's own choices aren't in it: the text is made again unless only the mouse has moved.
struct MadeFrom {
    std::shared_ptr<const Run> run, unedited;
    std::string tab, step;
    core::Place place;
    const Catalog* language = nullptr;
    bool operator==(const MadeFrom&) const = default;
};

struct SaidState {
    bool open = false;
    MadeFrom from;
    std::string text;
};

}  // namespace

std::string picture_in_words(const core::Session& session, const ViewState& state) {
    if (state.withheld.stage) return tr("Closed while the lesson's question is open");
    try {
        const std::vector<Sentence> words = dialogs::shown_in_words(session, state);
        return words.empty() ? tr("This picture is being computed.") : core::spoken_text(words);
    } catch (const Error& error) {
        return tr(error.sentence());
    }
}

namespace {

const std::string& said_text(const core::Session& session, ViewState& state) {
    SaidState& said = state.part<SaidState>();
    const core::Snapshot& shown = session.shown();
    const MadeFrom now{shown.run, shown.unedited, state.tab, session.step().name, session.cursor().place, &spoken()};
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    if ((moved.x == 0.0F && moved.y == 0.0F) || said.from != now) {
        said.from = now;
        said.text = picture_in_words(session, state);
    }
    return said.text;
}

}  // namespace

void flip_said(ViewState& state) {
    SaidState& said = state.part<SaidState>();
    said.open = !said.open;
}

void copy_said(const core::Session& session, ViewState& state, Commands& commands) {
    ImGui::SetClipboardText(picture_in_words(session, state).c_str());
    commands.push_back(core::command::Tell{message("Copied what the picture shows, in words."), false});
}

void speak_said(const core::Session& session, ViewState& state, Commands& commands) {
    commands.push_back(request::Speak{picture_in_words(session, state)});
}

float draw_said(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    if (!state.part<SaidState>().open) return 0.0F;
    const std::string& text = said_text(session, state);
    const float pad = ui.px(kSaidEdge), gap = ui.px(kSaidGap);
    const float copy = button_width(tr("Copy")), speak = button_width(tr("Speak"));
    const float width = std::max(area.width() - 2 * pad - copy - speak - 3 * gap, ui.px(120));
    std::string lines = in_lines(ui.fonts.text, text, width - 2 * gap);
    const float height = compat::text_size(ui.fonts.text, lines).y + 2 * gap;
    const float top = area.high.y - height - gap;
    ImGui::GetWindowDrawList()->AddLine({area.low.x, top - gap}, {area.high.x, top - gap}, ui.theme.line);
    ImGui::SetCursorScreenPos({area.low.x + pad, top});
    compat::push_font(ui.fonts.text);
    focusable_field("##said", lines, tr("In words"), Lines::many);
    ImGui::InputTextMultiline("##said", lines.data(), lines.size() + 1, {width, height}, ImGuiInputTextFlags_ReadOnly);
    note_glyphs(ui.fonts.text, lines);
    ImGui::PopFont();
    ImGui::SetCursorScreenPos({area.low.x + pad + width + gap, top});
    if (button(tr("Copy"), "copy-said")) copy_said(session, state, commands);
    ImGui::SameLine(0, gap);
    if (button(tr("Speak"), "speak-said")) speak_said(session, state, commands);
    return height + 2 * gap;
}

}  // namespace decoderscope::views::shell
