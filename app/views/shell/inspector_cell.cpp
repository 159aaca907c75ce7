#include "app/core/step/explanation_text.h"
#include "app/core/step/shown_step.h"
#include "app/core/text/labels.h"
#include "app/views/shell/inspector_parts.h"
#include "engine/translate.h"
#include "engine/way_back.h"

#include <cstring>
#include <optional>

namespace decoderscope {

namespace {

constexpr std::size_t kShortExplanation = 10;  // rows

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

// The selected cell, if the step that is shown has it.
std::optional<Cell> selected_cell(const Session& session) {
    const Tensor& values = session.shown().run_of(session.step()).value(session.step().id);
    const std::optional<Cell>& cell = session.cursor().cell;
    return cell && !values.empty() && values.contains(*cell) ? cell : std::nullopt;
}

// The way to the cell, its place, its value.
void describe_cell(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const Step& step = session.step();
    const Tensor& values = session.shown().run_of(step).value(step.id);
    breadcrumb(ui, session, commands);
    const std::optional<Cell> cell = selected_cell(session);
    if (!cell) {
        paragraph(ui.fonts.caption, ui.theme.muted,
                  step.operation.traits().recorded_elsewhere
                      ? tr("Click a cell: its number stands here in full.")
                      : tr("Click a cell of the result: it is explained here, down to the weights."));
        return;
    }
    const float value = values.at(*cell);
    paragraph(ui.fonts.mono_small, ui.theme.muted, cell_name(step.name, *cell));
    const Value<ShownPlace> place = shown_place(session.derived(), session.shown(), step, *cell);
    if (!place->text.empty()) paragraph(ui.fonts.caption, ui.theme.muted, place->text);
    text_line(ui.fonts.heading, ui.theme.text, exact_number(value));
    if (!is_on_way_back(session.shown().run->plan(), step)) type_over(ui, session, state, commands);
    value_without_edits(ui, session, step, *cell, value);
    ImGui::Dummy({1, ui.px(2)});
}

}  // namespace

void inspect_cell(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const bool has_cell = selected_cell(session).has_value();
    if (!has_cell) {
        teach_step(ui, state, session.step());
        inspector_line(ui);
    }
    describe_cell(ui, session, state, commands);
    inspect_gradient(ui, session, state, commands);
    inspect_what_ifs(ui, session, state, commands);
    if (has_cell) {
        inspect_norm(ui, session);
        // What is short comes first, so that both are seen without scrolling.
        const bool short_one = explanation_rows(session) <= kShortExplanation;
        if (short_one) explain_cell(ui, session, state, commands);
        inspect_vector(ui, session);
        if (!short_one) explain_cell(ui, session, state, commands);
        inspector_line(ui);
        teach_step(ui, state, session.step());
    }
    list_vectors(ui, session, commands);
}

}  // namespace decoderscope
