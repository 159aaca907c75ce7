// What the inspector says beside the Norms tab.
#include "app/core/norms/measured_growth.h"
#include "app/core/text/numbers.h"
#include "app/views/norms/norms_parts.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/terms.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

// A number in one run and the same in the other, in a line.
struct Row {
    std::string label;
    std::string left, right;
};

void draw_rows(const Ui& ui, const NormsScene& scene, const std::vector<Row>& rows) {
    const float start = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
    const auto at_right = [&](float right, ImFont* font, ImU32 color, const std::string& text) {
        ImGui::SameLine();
        ImGui::SetCursorPosX(start + right - compat::text_size(font, text).x);
        text_line(font, color, text);
    };
    text_line(ui.fonts.caption, ui.theme.muted, " ");
    at_right(room - ui.px(78), ui.fonts.caption, ui.theme.muted, tr(norms_place_of(scene.runs.left).title));
    at_right(room - ui.px(4), ui.fonts.caption, ui.theme.muted, tr(norms_place_of(scene.runs.right).title));
    for (const Row& row : rows) {
        text_line(ui.fonts.caption, ui.theme.text, fitted(ui.fonts.caption, row.label, room - ui.px(150)));
        at_right(room - ui.px(78), ui.fonts.mono_small, ui.theme.text, row.left);
        at_right(room - ui.px(4), ui.fonts.mono_small, ui.theme.text, row.right);
    }
}

std::string written(double value) { return short_number_text(value, 4); }

std::vector<Row> rows_of(const NormRow& left, const NormRow& right) {
    const auto row = [&](const char* label, double NormRow::*member) {
        return Row{label, written(left.*member), written(right.*member)};
    };
    return {row(tr("mean"), &NormRow::mean),
            row(tr("variance"), &NormRow::variance),
            row("eps", &NormRow::eps),
            row(tr("divided by"), &NormRow::scale),
            row(tr("length before"), &NormRow::length_before),
            row(tr("length after"), &NormRow::length_after)};
}

void say_row(const Ui& ui, const Session& session, ViewState& state, const NormsScene& scene) {
    const Value<BothNorms<std::optional<NormRow>>> rows = shown_rows(session, state, scene);
    paragraph(ui.fonts.mono, ui.theme.text, explained_norm(scene));
    paragraph(ui.fonts.caption, ui.theme.muted,
              tr("the row of position {position}", {{"position", state.lab<NormsTabState>().row}}));
    inspector_line(ui);
    if (rows->left && rows->right) draw_rows(ui, scene, rows_of(*rows->left, *rows->right));
    for (const auto* row : {&rows->left, &rows->right})
        if (*row) paragraph(ui.fonts.caption, ui.theme.muted, norm_row_sentence(**row));
}

// The measure of a curve at the step, else at the last one of its block, else at the end of the stack.
std::optional<double> value_at(const DepthCurve& curve, const NormsScene& scene, const Plan& plan) {
    const DepthPoint* best = nullptr;
    for (const DepthPoint& point : curve.points) {
        if (point.step == scene.here.name) return point.value;
        const Ref step = plan.find(point.step);
        if (step != nullptr && step->block == scene.block) best = &point;
    }
    if (best == nullptr && !curve.points.empty()) best = &curve.points.back();
    return best == nullptr ? std::nullopt : std::optional(best->value);
}

void say_depth(const Ui& ui, const Session& session, const NormsScene& scene) {
    const Value<BothNorms<DepthCurves>> curves = shown_curves(session, scene);
    paragraph(ui.fonts.mono, ui.theme.text, scene.block);
    paragraph(ui.fonts.caption, ui.theme.muted, tr("mean over the rows that are not padding"));
    inspector_line(ui);
    std::vector<Row> rows;
    const auto add = [&](const std::string& label, const DepthCurve& left, const DepthCurve* right) {
        const auto a = value_at(left, scene, scene.runs.left.run->plan());
        const auto b = right == nullptr ? std::nullopt : value_at(*right, scene, scene.runs.right.run->plan());
        rows.push_back({label, a ? written(*a) : "–", b ? written(*b) : "–"});
    };
    const auto twin = [](const std::vector<DepthCurve>& in, const DepthCurve& of) {
        const auto found = std::ranges::find(in, of.name, &DepthCurve::name);
        return found == in.end() ? nullptr : &*found;
    };
    const DepthCurves &left = curves->left, &right = curves->right;
    add(tr("length of the stream"), left.stream, &right.stream);
    for (const DepthCurve& update : left.updates)
        add(tr("length of {name}", {{"name", update.name}}), update, twin(right.updates, update));
    for (const DepthCurve& ratio : left.ratios)
        add(tr("{name} / stream", {{"name", ratio.name}}), ratio, twin(right.ratios, ratio));
    for (const DepthCurve& scale : left.scales)
        add(tr("{name} divides by", {{"name", scale.name}}), scale, twin(right.scales, scale));
    rows.push_back({tr("growth over all blocks"), written(left.growth()), written(right.growth())});
    draw_rows(ui, scene, rows);
}

void say_step(const Ui& ui, const Session& session, ViewState& state, const NormsScene& scene, Commands& commands) {
    if (const auto pair = shown_pair(session, scene); *pair)
        paragraph(ui.fonts.caption, ui.theme.text, pair_sentence(**pair, scene.here.name));
    inspector_line(ui);
    describe_step(ui, state, session.shown().run->plan(), session.step());
    inspector_line(ui);
    inspect_cell(ui, session, state, commands);
}

void say_gradients(const Ui& ui, ViewState& state) {
    const auto say = [&](const std::string& text) {
        if (const GlossaryTerm* term = prose_with_terms(ui, state, ui.fonts.caption, ui.theme.text, text))
            open_glossary(state, term->id);
        ImGui::Dummy({1, ui.px(4)});
    };
    say(
        tr("The stacks on this page are made for it: each reverses random words of 1 to 16 letters, 32 in a batch, and "
           "none has been trained."));
    say(
        tr("Measured is the gradient of the loss by W2, the matrix that leads out of each layer's MLP: first its mean "
           "over the batch, then its length."));
    say(
        tr("DeepNorm is Post-Norm whose sums are α·x + f(x), with v_proj, o_proj and the MLP begun smaller by β "
           "(Wang et al. 2022)."));
    inspector_line(ui);
    for (const Sentence& objection : growth_objections()) say(tr(objection));
}

}  // namespace

void inspect_norms(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    term_line(ui, state, ui.fonts.heading, ui.theme.text, tr("Where the norms stand"), find_term("pre-norm"));
    const NormsTabState& norms = state.lab<NormsTabState>();
    if (norms.view == NormsView::gradients) return say_gradients(ui, state);
    if (!norms.shown) return paragraph(ui.fonts.text, ui.theme.muted, tr("Computing both runs …"));
    const NormsScene scene = norms_scene(session, norms);
    switch (norms.view) {
        case NormsView::depth:
            return say_depth(ui, session, scene);
        case NormsView::step:
            return say_step(ui, session, state, scene, commands);
        case NormsView::row:
            return say_row(ui, session, state, scene);
        case NormsView::gradients:
            break;
    }
}

}  // namespace decoderscope
