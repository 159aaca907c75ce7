#include "app/core/step/explanation_text.h"
#include "app/core/step/gradients.h"
#include "app/core/text/labels.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"
#include "engine/way_back.h"

#include <optional>

namespace decoderscope {

namespace {

void follow_link(const Ui& ui, const std::string& text, const std::string& step, const Cell& cell, int id,
                 Commands& commands) {
    const float room = ImGui::GetContentRegionAvail().x;
    if (link(ui, ui.fonts.mono_small, ui.theme.accent, fitted(ui.fonts.mono_small, text, room), id))
        commands.push_back(command::Follow{step, cell});
}

// On the way there: the cell's own slope, as a link to where it is computed.
void say_slope(const Ui& ui, const Session& session, const Cell& cell, Commands& commands) {
    const Run& run = *session.shown().run;
    const std::optional<CellSlope> slope = slope_at(run, session.step(), cell);
    if (!slope) return;
    follow_link(ui, tr("gradient {value} →", {{"value", exact_number(slope->value)}}), slope->tensor, cell, 8101,
                commands);
    tooltip(tr("The slope of {target} at this cell: how it is computed (B)",
               {{"target", session.shown().scenario.gradients_of}})
                .c_str());
}

void choose_target(const Ui& ui, const Session& session, const Cell& cell, Commands& commands) {
    const Plan& plan = session.shown().run->plan();
    const Step& step = session.step();
    if (!can_be_target(plan, step)) return;
    const std::string target = cell_name(step.name, cell);
    const bool on = session.scenario().gradients_of == target;
    compat::push_font(ui.fonts.caption);
    if (toggle_button(ui, labelled(tr("Gradients"), "gradients").c_str(), on,
                      tr("Compute how much each number changes this one: the way back, to the right of the way there "
                         "in the timeline (Shift+G)")))
        commands.push_back(command::SetGradients{on ? std::string() : target});
    ImGui::PopFont();
}

// On the way back: what the numbers say, and the way to what they are the gradient by.
void say_gradient(const Ui& ui, const Session& session, const std::optional<Cell>& cell, Commands& commands) {
    const Plan& plan = session.shown().run->plan();
    const Ref by = differentiated(plan, session.step());
    if (by == nullptr) return;
    for (const Sentence& words : words_on_gradient(plan, session.step(), session.shown().scenario.gradients_of))
        paragraph(ui.fonts.caption, ui.theme.text, tr(words));
    if (!cell) return;
    follow_link(ui, tr("by {name}", {{"name", cell_name(by->name, *cell)}}), by->name, *cell, 8102, commands);
    const Ref scores = scores_of_pattern(plan, *by);
    const Ref by_scores = scores == nullptr ? nullptr : gradient_by(plan, *scores);
    if (by_scores != nullptr)
        follow_link(ui, tr("by the score: {name}", {{"name", by_scores->name}}), by_scores->name, *cell, 8103,
                    commands);
}

}  // namespace

void inspect_gradient(const Ui& ui, const Session& session, ViewState&, Commands& commands) {
    const Step& step = session.step();
    const Plan& plan = session.shown().run->plan();
    const Tensor& values = session.shown().run_of(step).value(step.id);
    std::optional<Cell> cell = session.cursor().cell;
    if (cell && (values.empty() || !values.contains(*cell))) cell.reset();
    if (step.operation.traits().recorded_elsewhere) return;  // nothing leads back from it
    if (is_on_way_back(plan, step)) return say_gradient(ui, session, cell, commands);
    if (!cell) return;
    choose_target(ui, session, *cell, commands);
    say_slope(ui, session, *cell, commands);
}

void list_gradients(const Ui& ui, const Session& session, Commands& commands) {
    const std::string& target = session.scenario().gradients_of;
    if (target.empty()) return;
    inspector_line(ui);
    if (link(ui, ui.fonts.mono_small, ui.theme.accent, "×", 8100)) commands.push_back(command::SetGradients{});
    tooltip(tr("Switch the gradients off"));
    ImGui::SameLine(0, ui.px(6));
    paragraph(ui.fonts.caption, ui.theme.text, tr("gradients of {target}", {{"target", target}}));
}

}  // namespace decoderscope
