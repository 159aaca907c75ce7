// What the inspector says beside the tab: the numbers of both runs at this place.
#include "app/core/compare/comparison_text.h"
#include "app/core/generate/prediction.h"
#include "app/core/run/labels.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/answer_view.h"
#include "app/views/frame/books.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::compare {

namespace {

// A number in one run and the same in the other, in a line; below its label, if a panel is too narrow for both.
struct Row {
    std::string label;
    std::string left, right;
};

// `column`: how wide B's is, in pixels at a scale of 1.
void draw_rows(const Ui& ui, const std::vector<Row>& rows, float column = 74.0F) {
    const float start = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
    const auto at_right = [&](float right, ImFont* font, ImU32 color, const std::string& text) {
        ImGui::SameLine();
        ImGui::SetCursorPosX(start + right - compat::text_size(font, text).x);
        text_line({font, color}, text);
    };
    text_line(ui.note(), " ");
    at_right(room - ui.px(column + 4), ui.fonts.caption, ui.theme.muted, "A");
    at_right(room - ui.px(4), ui.fonts.caption, ui.theme.muted, "B");
    const bool below = std::ranges::any_of(rows, [&](const Row& row) {
        return compat::text_size(ui.fonts.caption, row.label).x > room - 2.0F * ui.px(column);
    });
    for (const Row& row : rows) {
        text_line(ui.caption(), fitted(ui.fonts.caption, row.label, room));
        if (below) text_line(ui.caption(), " ");
        at_right(room - ui.px(column + 4), ui.fonts.mono_small, ui.theme.text, row.left);
        at_right(room - ui.px(4), ui.fonts.mono_small, ui.theme.text, row.right);
    }
}

std::string written(double value) { return core::short_number_text(value, 4); }

std::vector<Row> rows_of(const core::norms::NormRow& left, const core::norms::NormRow& right) {
    const auto row = [&](const char* label, double core::norms::NormRow::*member) {
        return Row{label, written(left.*member), written(right.*member)};
    };
    return {row(tr("mean"), &core::norms::NormRow::mean),
            row(tr("variance"), &core::norms::NormRow::variance),
            row("eps", &core::norms::NormRow::eps),
            row(tr("divided by"), &core::norms::NormRow::scale),
            row(tr("length before"), &core::norms::NormRow::length_before),
            row(tr("length after"), &core::norms::NormRow::length_after)};
}

void say_row(const Ui& ui, const core::Session& session, const CompareTabState& tab, const Scene& scene) {
    const core::Value<core::Both<std::optional<core::norms::NormRow>>> rows = shown_rows(session, tab, scene);
    paragraph({ui.fonts.mono, ui.theme.text}, explained_norm(scene));
    paragraph(ui.note(), tr("the row of position {position}", {{"position", tab.row}}));
    section_line(ui);
    if (rows->left && rows->right) draw_rows(ui, rows_of(*rows->left, *rows->right));
    for (const auto* row : {&rows->left, &rows->right})
        if (*row) paragraph(ui.note(), core::norms::norm_row_sentence(**row));
}

// The measure of a curve at the step, otherwise at the last one of its block, otherwise at the end of the stack.
std::optional<double> value_at(const core::DepthCurve& curve, const Scene& scene, const Plan& plan) {
    const core::DepthPoint* best = nullptr;
    for (const core::DepthPoint& point : curve.points) {
        if (point.step == scene.here.name) return point.value;
        const Ref step = plan.find(point.step);
        if (step != nullptr && step->block == scene.block) best = &point;
    }
    if (best == nullptr && !curve.points.empty()) best = &curve.points.back();
    return best == nullptr ? std::nullopt : std::optional(best->value);
}

// How long the stream is at the selected position, block by block, in both.
void say_position(const Ui& ui, const core::Session& session, const CompareTabState& tab, const Scene& scene) {
    const Index batch = session.cursor().place.batch;
    const auto lengths = [&](const core::Side& run) {
        return core::norms::stream_lengths(*run.run, scene.stack, batch, tab.row);
    };
    const std::vector<core::norms::StreamLength> left = lengths(scene.runs.left), right = lengths(scene.runs.right);
    if (left.empty()) return;
    section_heading(ui, tr("Length of the stream at position {position}", {{"position", tab.row}}));
    std::vector<Row> rows;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::string label = left[i].block.empty() ? std::string(tr("what enters")) : left[i].block;
        rows.push_back({label, written(left[i].length), i < right.size() ? written(right[i].length) : "–"});
    }
    draw_rows(ui, rows);
}

// Whether both say the same next, then what each of them says, and how surely. `about` is the id of a term of the
// glossary. Nothing, and draws nothing, if the model predicts no tokens.
void say_answers(const Ui& ui, const core::Session& session, ViewState& state, const Scene& scene, const char* about) {
    const core::Scenario& scenario = session.shown().scenario;
    const Index batch = session.cursor().place.batch;
    const auto likely = [&](const core::Side& side) {
        const auto next = core::generate::next_answer(session.derived(), scenario, side.run, batch);
        return next ? next->shown->likely : std::vector<core::generate::Answer>();
    };
    const std::vector<core::generate::Answer> a = likely(scene.runs.left), b = likely(scene.runs.right);
    const char* heading = a.empty() || b.empty()               ? tr("The difference")
                          : a.front().token == b.front().token ? tr("The answer stays the same")
                                                               : tr("The answer changes");
    term_line(ui, state, ui.title(), heading, core::glossary::find_term(about));
    if (a.empty() && b.empty()) return;
    answer_box(ui, session.derived(), scenario, scene.runs.left.run, batch, "A");
    answer_box(ui, session.derived(), scenario, scene.runs.right.run, batch, "B");
    constexpr std::size_t kListed = 4;
    std::vector<Row> rows;
    const auto nth = [&](const std::vector<core::generate::Answer>& of, std::size_t i) {
        if (i >= of.size()) return std::string("–");
        return fitted(ui.fonts.mono_small, core::token_text(scenario.tokenizer(), of[i].token), ui.px(50)) + " " +
               (of[i].probability < 0.001 ? "< 0.1" : core::short_number_text(of[i].probability * 100.0, 2)) + " %";
    };
    for (std::size_t i = 1; i < std::min(kListed, std::max(a.size(), b.size())); ++i)
        rows.push_back({i == 1 ? tr("then") : "", nth(a, i), nth(b, i)});
    if (!rows.empty()) draw_rows(ui, rows, 100);
    section_line(ui);
}

// Where the two answer differently: the positions, the furthest apart first. A click goes there.
void say_disagreements(const Ui& ui, const core::Session& session, const Scene& scene, Commands& commands) {
    constexpr std::size_t kMost = 6;
    const core::Scenario& scenario = session.shown().scenario;
    if (!scene.runs.left.run->value("logits").size() || scenario.tokenizer().size() == 0) return;
    section_heading(ui, tr("Where they disagree about the answer"));
    const auto found = core::norms::shown_disagreements(session.derived(), scene.runs);
    if (!found) return text_line(ui.note(), tr("Measuring …"));
    paragraph(ui.caption(), tr(core::norms::disagreements_sentence(*found)));
    const std::size_t listed = std::min(kMost, found->positions.size());
    for (std::size_t i = 0; i < listed; ++i) {
        const core::PositionMove& move = found->positions[i];
        const std::string text = fitted(ui.fonts.caption, tr(core::norms::disagreement_sentence(scenario, move)),
                                        ImGui::GetContentRegionAvail().x);
        if (link(ui, {ui.fonts.caption, ui.theme.accent}, text, 500 + static_cast<int>(i)))
            commands.push_back(core::command::Follow{
                "logits", {move.batch, move.position, move.after.value_or(move.before.value_or(0))}});
    }
    if (listed < found->positions.size())  // below, where it doesn't take the room of the first of them
        paragraph(ui.note(),
                  tr("Listed: {count} of {all} positions, other predictions and the largest differences first.",
                     {{"count", listed}, {"all", found->positions.size()}}));
}

void say_depth(const Ui& ui, const core::Session& session, const Scene& scene) {
    const core::Value<core::norms::ShownDepth> shown = shown_by_depth(session, scene);
    paragraph({ui.fonts.mono, ui.theme.text}, scene.block);
    paragraph(ui.note(), tr("mean over the rows that are not padding"));
    section_line(ui);
    std::vector<Row> rows;
    const auto add = [&](const std::string& label, const core::DepthCurve& left, const core::DepthCurve* right) {
        const auto a = value_at(left, scene, scene.runs.left.run->plan());
        const auto b = right == nullptr ? std::nullopt : value_at(*right, scene, scene.runs.right.run->plan());
        rows.push_back({label, a ? written(*a) : "–", b ? written(*b) : "–"});
    };
    const auto twin = [](const std::vector<core::DepthCurve>& in, const core::DepthCurve& of) {
        const auto found = std::ranges::find(in, of.name, &core::DepthCurve::name);
        return found == in.end() ? nullptr : &*found;
    };
    const core::norms::DepthCurves &left = shown->curves.left, &right = shown->curves.right;
    add(tr("length of the stream"), left.stream, &right.stream);
    for (const core::DepthCurve& update : left.updates)
        add(tr("length of {name}", {{"name", update.name}}), update, twin(right.updates, update));
    for (const core::DepthCurve& ratio : left.ratios)
        add(tr("{name} / stream", {{"name", ratio.name}}), ratio, twin(right.ratios, ratio));
    for (const core::DepthCurve& scale : left.scales)
        add(tr("{name} divides by", {{"name", scale.name}}), scale, twin(right.scales, scale));
    rows.push_back({tr("growth over all blocks"), written(left.growth()), written(right.growth())});
    draw_rows(ui, rows);
}

void say_gradients(const Ui& ui, ViewState& state) {
    const auto say = [&](const std::string& text) {
        views::say(ui, state, ui.caption(), text);
        ImGui::Dummy({1, ui.px(4)});
    };
    say(
        tr("The stacks on this page are untrained: each is given random words of 1 to 16 letters to reverse, 32 per "
           "batch."));
    say(
        tr("What is measured is the gradient of the loss with respect to W2, the output matrix of each layer's MLP: "
           "first its mean over the batch, then its norm."));
    say(
        tr("DeepNorm is Post-Norm whose sums are α·x + f(x), with the initial v_proj, o_proj and MLP scaled by β (Wang "
           "et al. 2022)."));
    section_line(ui);
    for (const Sentence& objection : core::norms::growth_objections()) say(tr(objection));
}

// ---- the difference of a step

void number(const Ui& ui, const std::string& label, const std::string& value) {
    const float start = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x - ui.px(4);
    const float width = compat::text_size(ui.fonts.mono_small, value).x;
    text_line(ui.note(), fitted(ui.fonts.caption, label, room - width - ui.px(8)));
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + room - width);
    text_line(ui.number(), value);
}

void say_tensor(const Ui& ui, const core::TensorDifference& d, ViewState& state, Commands& commands) {
    const bool of_norms = state.part<CompareTabState>().against == Against::norms;
    if (d.presence != core::Presence::in_both)
        return paragraph({ui.fonts.text, ui.theme.warning}, core::diff::presence_text(d, "A", "B"));
    if (d.largest == 0.0)
        return paragraph(
            ui.body(), d.both_nan > 0
                           ? tr_n("{nan} of its {count} number is NaN in both and can't be compared.",
                                  "{nan} of its {count} numbers are NaN in both and can't be compared; the others are "
                                  "equal.",
                                  d.count, {{"nan", d.both_nan}})
                       : d.same_bits ? tr("All of its numbers are equal, bit for bit.")
                                     : tr("All of its numbers are equal; some have other bits, such as −0 for 0."));
    paragraph(ui.body(),
              tr_n("{over} of its {count} number differs by more than the tolerance.",
                   "{over} of its {count} numbers differ by more than the tolerance.", d.count, {{"over", d.over}}));
    number(ui, tr("largest difference"), core::diff::difference_text(d.largest));
    number(ui, tr("relative to the largest number"), core::diff::difference_text(d.relative()));
    number(ui, tr("mean difference"), core::diff::difference_text(d.mean));
    ImGui::Dummy({1, ui.px(4)});
    paragraph(ui.note(), tr("Where it is largest: {cell}", {{"cell", cell_name(d.name, d.cell)}}));
    number(ui, of_norms ? "A" : tr("A, this run"), core::step::exact_number(d.a));
    number(ui, of_norms ? "B" : tr("B, the other"), core::step::exact_number(d.b));
    if (of_norms || !link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Explain A's number →"), 1)) return;
    state.tab = core::files::kStepTab;
    commands.push_back(core::command::Follow{d.name, d.cell});
}

void say_difference(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const CompareTabState& tab = state.part<CompareTabState>();
    const std::optional<Scene> scene = scene_of(session, tab);
    // Not those of the runs before, while the next are on the way.
    if (scene && tab.shown && tab.shown->b == scene->runs.right.run)
        say_answers(ui, session, state, *scene, "difference");
    else
        term_line(ui, state, ui.title(), tr("The difference"), core::glossary::find_term("difference"));
    if (!tab.shown) return paragraph(ui.hint(), tr("There is no other run to compare with yet."));
    const core::Comparison& comparison = tab.shown->comparison;
    say(ui, state, ui.body(), core::diff::verdict_of(comparison));
    if (comparison.first) {
        const core::TensorDifference& first = comparison.tensors[*comparison.first];
        if (link(ui, {ui.fonts.caption, ui.theme.accent},
                 fitted(ui.fonts.caption, tr("It begins at {step} →", {{"step", first.name}}),
                        ImGui::GetContentRegionAvail().x),
                 2))
            go_to_largest(session, first, commands);
    }
    section_line(ui);
    const auto here = std::ranges::find(comparison.tensors, session.step().name, &core::TensorDifference::name);
    paragraph({ui.fonts.mono, ui.theme.text}, session.step().name);
    explain_term(ui, state, core::glossary::term_of(session.step()));
    if (here != comparison.tensors.end())
        say_tensor(ui, *here, state, commands);
    else
        paragraph(ui.hint(), tr("This step is not compared."));
}

}  // namespace

void inspect_both(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const CompareTabState& tab = state.part<CompareTabState>();
    if (tab.against == Against::bisect) return inspect_bisection(ui, session, tab.bisect);
    const bool of_norms = tab.against == Against::norms;
    if (tab.against == Against::file || tab.shown_view() == View::step)
        return say_difference(ui, session, state, commands);
    const char* about = of_norms ? "pre-norm" : "difference";
    const std::optional<Scene> scene = scene_of(session, tab);
    if (tab.shown_view() == View::gradients || !scene) {
        term_line(ui, state, ui.title(), of_norms ? tr("Norm placement") : tr("The difference"),
                  core::glossary::find_term(about));
        if (tab.shown_view() == View::gradients) return say_gradients(ui, state);
        return paragraph(ui.hint(), tr("Computing both runs …"));
    }
    say_answers(ui, session, state, *scene, about);
    if (tab.shown_view() == View::row)
        say_row(ui, session, tab, *scene);
    else
        say_depth(ui, session, *scene);
    say_position(ui, session, tab, *scene);
    if (tab.shown_view() == View::depth) say_disagreements(ui, session, *scene, commands);
    if (of_norms)
        paragraph(
            ui.note(),
            tr("The weights are those of {placement}: this shows what the place of the norms does, not what a "
               "training with another one would make of it.",
               {{"placement", core::place_of_norms(session.shown().scenario.model()->config().placement()).title}}));
}

}  // namespace decoderscope::views::compare
