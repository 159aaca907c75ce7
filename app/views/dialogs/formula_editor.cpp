#include "app/core/run/step_picture.h"
#include "app/core/sheet/draft.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/books.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::dialogs {

namespace {

using core::sheet::Draft;
using core::sheet::Outcome;

constexpr float kEditorWidth = 760.0F, kPreviewHeight = 260.0F;
constexpr std::size_t kMostCompletions = 8;

std::string title_of(const Draft& draft) {
    if (draft.is_row) return draft.must_hold ? tr("A check of your own") : tr("A row of your own");
    return tr("The formula of {step}", {{"step", draft.step}});
}

// What may stand in place of the word that is being written; a click puts it there.
void draw_completions(const Ui& ui, const core::Session& session, Draft& draft) {
    const std::vector<std::string> names =
        core::sheet::completions(session.shown(), draft, draft.formula, kMostCompletions);
    int id = 100;
    float room = ui.px(kEditorWidth);
    for (const std::string& name : names) {
        const float width = compat::text_size(ui.fonts.mono_small, name).x + ui.px(14);
        if (width > room) break;
        if (id > 100) ImGui::SameLine(0, ui.px(14));
        room -= width;
        if (link(ui, {ui.fonts.mono_small, ui.theme.accent}, name, id++))
            draft.formula = core::sheet::completed(draft.formula, name);
    }
    if (names.empty()) text_line({ui.fonts.mono_small, ui.theme.muted}, " ");
}

// The mistake, under the place where it is.
void draw_mistake(const Ui& ui, const Draft& draft, const Outcome& outcome) {
    if (outcome.at) {
        const std::size_t at = std::min(*outcome.at, draft.formula.size());
        const float before = compat::text_size(ui.fonts.mono_small, draft.formula.substr(0, at)).x;
        const ImVec2 start = ImGui::GetCursorScreenPos();
        text_line({ui.fonts.mono_small, ui.theme.muted},
                  fitted(ui.fonts.mono_small, draft.formula, ui.px(kEditorWidth)));
        if (before < ui.px(kEditorWidth)) {
            const float x = start.x + before, y = ImGui::GetItemRectMax().y;
            const float size = ui.px(4);
            ImGui::GetWindowDrawList()->AddTriangleFilled({x + size, y}, {x, y + size * 1.5F},
                                                          {x + 2 * size, y + size * 1.5F}, ui.theme.error);
            ImGui::Dummy({1, ui.px(6)});
        }
    }
    paragraph({ui.fonts.text, ui.theme.error}, tr(outcome.error), ui.px(kEditorWidth));
}

struct Preview {
    core::Heatmap heatmap;
};

// What the first of its steps holds.
void draw_preview(const Ui& ui, const core::Session& session, ViewState& state, const Outcome& outcome) {
    const Ref step = outcome.run ? outcome.run->plan().find(outcome.step) : nullptr;
    if (step == nullptr || outcome.run->value(step->id).empty())
        return paragraph(ui.note(), tr("Enter computes it: it takes longer than typing allows."), ui.px(kEditorWidth));
    const core::Place place = session.cursor().place;
    const core::Value<Preview> preview = session.derived().get<Preview>({outcome.run}, std::make_tuple(place), [&] {
        return Preview{core::picture_of(outcome.scenario, *outcome.run, *step, place)};
    });
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Area area = {at, {at.x + ui.px(kEditorWidth), at.y + ui.px(kPreviewHeight)}};
    const std::uint64_t key = heatmap_key("formula_editor");
    static_cast<void>(draw_heatmap(ui,
                                   {.heatmap = preview->heatmap, .key = key, .version = preview.number(), .grid = true},
                                   state.viewports[key], area));
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({area.width(), area.height()});
}

void draw_outcome(const Ui& ui, const core::Session& session, ViewState& state, const Draft& draft,
                  const Outcome& outcome) {
    if (!outcome.error.empty()) return draw_mistake(ui, draft, outcome);
    paragraph(ui.number(), outcome.reads, ui.px(kEditorWidth));
    if (outcome.places > 1)
        paragraph(ui.note(),
                  tr_n("{step}, one of {count} step", "{step}, one of {count} steps", outcome.places,
                       {{"step", outcome.step}}),
                  ui.px(kEditorWidth));
    draw_preview(ui, session, state, outcome);
}

// Takes the person's own formula back.
void take_back(const core::Session& session, const Edit& own, Commands& commands) {
    const std::vector<Edit>& edits = session.scenario().edits;
    const auto found = std::ranges::find(edits, own);
    if (found != edits.end())
        commands.push_back(core::command::RemoveEdits{{static_cast<std::size_t>(found - edits.begin())}});
}

}  // namespace

void draw_formula_editor(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    auto& editor = state.part<FormulaEditorState>();
    Draft& draft = editor.draft;
    text_line(ui.title(), title_of(draft));
    if (draft.is_row) {
        ImGui::SetNextItemWidth(ui.px(kEditorWidth));
        text_field("##name", draft.name, 0, tr("its name, such as blocks.0.attn.entropy"));
    }
    ImGui::SetNextItemWidth(ui.px(kEditorWidth));
    if (state.dialog_opens || std::exchange(editor.refused, false)) compat::take_keyboard();
    const bool entered =
        text_field("##formula", draft.formula, ImGuiInputTextFlags_EnterReturnsTrue,
                   tr("softmax(x, -1), or y[q, k] = softmax_k(x[q, k])"), [&](const std::string& typed) {
                       const auto names = core::sheet::completions(session.shown(), draft, typed, 1);
                       return names.empty() ? typed : core::sheet::completed(typed, names[0]);
                   });
    draw_completions(ui, session, draft);
    if (draft.has_layers() &&
        toggle_button(ui, tr("In every layer"), draft.every_layer, tr("Otherwise in this layer alone")))
        draft.every_layer = !draft.every_layer;
    if (draft.is_row) {
        if (draft.has_layers()) ImGui::SameLine(0, ui.px(8));
        if (toggle_button(
                ui, tr("It must hold"), draft.must_hold,
                tr("A check: every number must be true, neither 0 nor NaN, as in pattern.max(-1).values < 0.9")))
            draft.must_hold = !draft.must_hold;
    }
    const bool empty = draft.formula.empty();
    const auto outcome =
        empty ? core::Value<Outcome>() : core::sheet::outcome_of(session.derived(), session.shown(), draft);
    if (outcome) draw_outcome(ui, session, state, draft, *outcome);
    const bool done = button(!draft.is_row       ? tr("Use this formula")
                             : draft.in_place_of ? tr("Change the row")
                                                 : tr("Add the row"),
                             "done");
    ImGui::SameLine();
    if (draft.in_place_of) {
        if (button(draft.is_row ? tr("Remove the row") : tr("As the model has it"), "back")) {
            take_back(session, *draft.in_place_of, commands);
            return close_dialog(state);
        }
        ImGui::SameLine();
    }
    if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) return close_dialog(state);
    if (!entered && !done) return;
    editor.refused = !outcome || !outcome->error.empty();
    if (editor.refused) return;
    commands.push_back(core::command::MakeEdit{draft.edit(), {outcome->step, {}, {}}, draft.in_place_of});
    if (draft.is_row) state.tab = core::files::kStepTab;
    close_dialog(state);
}

}  // namespace decoderscope::views::dialogs
