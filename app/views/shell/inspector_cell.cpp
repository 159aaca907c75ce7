#include "app/core/step/explanation_text.h"
#include "app/core/step/shown_step.h"
#include "app/core/text/labels.h"
#include "app/views/shell/inspector_parts.h"
#include "engine/translate.h"

#include <cstring>
#include <optional>

namespace decoderscope {

namespace {

// The path to this cell; each stop is a link back.
void breadcrumb(const Ui& ui, const Session& session, Commands& commands) {
    const auto& trail = session.trail();
    if (trail.empty()) return;
    for (std::size_t i = 0; i < trail.size(); ++i) {
        const std::string name = trail[i].cell ? cell_name(trail[i].step, *trail[i].cell) : trail[i].step;
        if (trail.size() > 4 && i > 0 && i + 2 < trail.size()) {
            if (i == 1) text_line(ui.fonts.mono_small, ui.theme.muted, "…");
            continue;
        }
        if (link(ui, ui.fonts.mono_small, ui.theme.accent,
                 fitted(ui.fonts.mono_small, "← " + name, ImGui::GetContentRegionAvail().x), static_cast<int>(i)))
            commands.push_back(command::GoBack{trail.size() - i});
    }
}

// What the cell was without edits, if something else.
void value_without_edits(const Ui& ui, const Session& session, const Step& step, const Cell& cell, float value) {
    const Tensor& before = session.shown().unedited->value(step.name);
    if (before.empty() || !before.contains(cell)) return;
    if (std::memcmp(&before.values()[static_cast<std::size_t>(before.offset(cell))], &value, sizeof value) == 0) return;
    text_line(ui.fonts.caption, ui.theme.accent,
              tr("without edits {value}", {{"value", exact_number(before.at(cell))}}));
}

// The way to the cell, its place, its value. Returns whether there is one.
bool describe_cell(const Ui& ui, const Session& session, Commands& commands) {
    const Step& step = session.step();
    const Tensor& values = session.shown().run_of(step).value(step.id);
    breadcrumb(ui, session, commands);
    const std::optional<Cell>& cell = session.cursor().cell;
    if (!cell || values.empty() || !values.contains(*cell)) {
        paragraph(ui.fonts.caption, ui.theme.muted,
                  tr("Click a cell of the result: it is explained here, down to the weights."));
        return false;
    }
    const float value = values.at(*cell);
    paragraph(ui.fonts.mono_small, ui.theme.muted, cell_name(step.name, *cell));
    const Value<ShownPlace> place = shown_place(session.derived(), session.shown(), step, *cell);
    if (!place->text.empty()) paragraph(ui.fonts.caption, ui.theme.muted, place->text);
    text_line(ui.fonts.heading, ui.theme.text, exact_number(value));
    value_without_edits(ui, session, step, *cell, value);
    ImGui::Dummy({1, ui.px(2)});
    return true;
}

}  // namespace

void inspect_cell(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const bool has_cell = describe_cell(ui, session, commands);
    inspect_what_ifs(ui, session, state, commands);
    if (has_cell) {
        inspect_norm(ui, session);
        inspect_vector(ui, session);
        explain_cell(ui, session, state, commands);
        type_over(ui, session, state, commands);
    }
    list_vectors(ui, session, commands);
}

}  // namespace decoderscope
