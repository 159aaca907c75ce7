#include "app/core/run/labels.h"
#include "app/core/tabs/norms/gradient_growth.h"
#include "app/core/tabs/norms/shown_norms.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/export_choices.h"
#include "app/views/frame/terms.h"
#include "app/views/inspector/inspector.h"
#include "app/views/tabs/norms/tab.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <utility>

namespace decoderscope::views::norms {

namespace {

// Keys of the three pictures' textures and widgets.
const std::uint64_t kFirstKey = heatmap_key("norms");

// Square pictures two in a row, wide ones below one another.
std::array<Area, 3> arrange(const Ui& ui, const core::norms::StepPair& pair, Area area) {
    const float gap = ui.px(16);
    const bool wide = pair.a.columns > 12 && pair.a.columns > 2 * pair.a.rows;
    std::array<Area, 3> places;
    if (wide) {
        float y = area.low.y;
        const float most = (area.height() - gap * 2) / 3.0F;
        for (std::size_t i = 0; i < places.size(); ++i) {
            const core::Heatmap& heatmap = i == 2 ? pair.difference : pair.a;
            const float height = fitted_height(ui, heatmap, area.width(), most);
            places[i] = {{area.low.x, y}, {area.high.x, y + height}};
            y += height + gap;
        }
        return places;
    }
    const float half = (area.width() - gap) * 0.5F, most = (area.height() - gap) * 0.5F;
    const float top = fitted_height(ui, pair.a, half, most), bottom = fitted_height(ui, pair.difference, half, most);
    places[0] = {area.low, {area.low.x + half, area.low.y + top}};
    places[1] = {{area.high.x - half, area.low.y}, {area.high.x, area.low.y + top}};
    places[2] = {{area.low.x, area.low.y + top + gap}, {area.low.x + half, area.low.y + top + gap + bottom}};
    return places;
}

void pair_tooltip(const Ui& ui, const NormsScene& scene, const core::norms::StepPair& pair, const std::string& name,
                  Spot spot) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.mono_small, ui.theme.muted, name);
    const auto number = [&](const core::Heatmap& heatmap, const char* label) {
        text_line(ui.fonts.mono_small, ui.theme.text,
                  short_number(static_cast<double>(heatmap.at(spot.first, spot.second))));
        ImGui::SameLine(ui.px(80));
        text_line(ui.fonts.caption, ui.theme.muted, label);
    };
    number(pair.a, tr(norms_place_of(scene.runs.left).title));
    number(pair.b, tr(norms_place_of(scene.runs.right).title));
    const auto offset = static_cast<std::size_t>(spot.first * pair.a.columns + spot.second);
    const bool hidden = !pair.difference.hidden.empty() && pair.difference.hidden[offset] != 0;
    if (hidden)
        text_line(ui.fonts.caption, ui.theme.warning,
                  tr("{hidden}: left out of the difference",
                     {{"hidden", core::hidden_text(pair.difference.hidden[offset])}}));
    else
        number(pair.difference, tr("difference"));
    ImGui::EndTooltip();
}

// Which slice of the tensor is shown.
void draw_place(const Ui& ui, const core::Session& session, const NormsScene& scene, Area area, Commands& commands) {
    ImGui::SetCursorScreenPos(area.low);
    ImGui::BeginGroup();
    const core::Place place = session.cursor().place;
    const Config& config = session.shown().scenario.config();
    const auto has = [&](std::string_view name) {
        return std::any_of(scene.here.axes.begin(), scene.here.axes.end(),
                           [&](const Axis& axis) { return axis.name == name; });
    };
    if (has(axis::batch)) {
        choose_batch(ui, session, commands);
        ImGui::SameLine(0, ui.px(16));
    }
    if (has(axis::head)) {
        const int moved = counter(ui, tr("head"), place.head, config.nhead);
        if (moved != 0) commands.push_back(core::command::ChooseHead{place.head + moved});
        ImGui::SameLine(0, ui.px(16));
    }
    if (const Index block = core::block_number(scene.here); block >= 0) {
        const int moved = counter(ui, tr("layer"), block,
                                  scene.stack == StackKind::decoder ? config.num_layers : config.encoder_layers);
        if (moved != 0) commands.push_back(core::command::MoveLayer{moved});
    }
    ImGui::EndGroup();
}

// A number in one run and the same in the other, in a line; below its label, if a panel is too narrow for both.
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
    const bool below = std::ranges::any_of(
        rows, [&](const Row& row) { return compat::text_size(ui.fonts.caption, row.label).x > room - ui.px(150); });
    for (const Row& row : rows) {
        text_line(ui.fonts.caption, ui.theme.text, fitted(ui.fonts.caption, row.label, room));
        if (below) text_line(ui.fonts.caption, ui.theme.text, " ");
        at_right(room - ui.px(78), ui.fonts.mono_small, ui.theme.text, row.left);
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

void say_row(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene) {
    const core::Value<core::BothNorms<std::optional<core::norms::NormRow>>> rows = shown_rows(session, state, scene);
    paragraph(ui.fonts.mono, ui.theme.text, explained_norm(scene));
    paragraph(ui.fonts.caption, ui.theme.muted,
              tr("the row of position {position}", {{"position", state.part<NormsTabState>().row}}));
    section_line(ui);
    if (rows->left && rows->right) draw_rows(ui, scene, rows_of(*rows->left, *rows->right));
    for (const auto* row : {&rows->left, &rows->right})
        if (*row) paragraph(ui.fonts.caption, ui.theme.muted, core::norms::norm_row_sentence(**row));
}

// The measure of a curve at the step, otherwise at the last one of its block, otherwise at the end of the stack.
std::optional<double> value_at(const core::DepthCurve& curve, const NormsScene& scene, const Plan& plan) {
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
void say_position(const Ui& ui, const core::Session& session, const NormsTabState& norms, const NormsScene& scene) {
    const Index batch = session.cursor().place.batch;
    const auto lengths = [&](const core::Companion& run) {
        return core::norms::stream_lengths(*run.run, scene.stack, batch, norms.row);
    };
    const std::vector<core::norms::StreamLength> left = lengths(scene.runs.left), right = lengths(scene.runs.right);
    if (left.empty()) return;
    section_heading(ui, tr("Length of the stream at position {position}", {{"position", norms.row}}));
    std::vector<Row> rows;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::string label = left[i].block.empty() ? std::string(tr("what enters")) : left[i].block;
        rows.push_back({label, written(left[i].length), i < right.size() ? written(right[i].length) : "–"});
    }
    draw_rows(ui, scene, rows);
}

// Where the two answer differently: the positions, the furthest apart first. A click goes there.
void say_disagreements(const Ui& ui, const core::Session& session, const NormsScene& scene, Commands& commands) {
    constexpr std::size_t kMost = 6;
    const core::Scenario& scenario = session.shown().scenario;
    if (!scene.runs.left.run->value("logits").size() || scenario.tokenizer().size() == 0) return;
    section_heading(ui, tr("Where they disagree about the answer"));
    const core::Value<core::norms::Disagreements> found =
        core::norms::shown_disagreements(session.derived(), scene.runs);
    if (!found) return text_line(ui.fonts.caption, ui.theme.muted, tr("Measuring …"));
    paragraph(ui.fonts.caption, ui.theme.text, tr(core::norms::disagreements_sentence(*found)));
    const std::size_t listed = std::min(kMost, found->positions.size());
    for (std::size_t i = 0; i < listed; ++i) {
        const core::PositionMove& move = found->positions[i];
        const std::string text = fitted(ui.fonts.caption, tr(core::norms::disagreement_sentence(scenario, move)),
                                        ImGui::GetContentRegionAvail().x);
        if (link(ui, ui.fonts.caption, ui.theme.accent, text, 500 + static_cast<int>(i)))
            commands.push_back(core::command::Follow{
                "logits", {move.batch, move.position, move.after.value_or(move.before.value_or(0))}});
    }
    if (listed < found->positions.size())  // below, where it doesn't take the room of the first of them
        paragraph(ui.fonts.caption, ui.theme.muted,
                  tr("Listed: {count} of {all} positions, other predictions and the largest differences first.",
                     {{"count", listed}, {"all", found->positions.size()}}));
}

void say_depth(const Ui& ui, const core::Session& session, const NormsScene& scene) {
    const core::Value<core::BothNorms<core::norms::DepthCurves>> curves = shown_curves(session, scene);
    paragraph(ui.fonts.mono, ui.theme.text, scene.block);
    paragraph(ui.fonts.caption, ui.theme.muted, tr("mean over the rows that are not padding"));
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
    const core::norms::DepthCurves &left = curves->left, &right = curves->right;
    add(tr("length of the stream"), left.stream, &right.stream);
    for (const core::DepthCurve& update : left.updates)
        add(tr("length of {name}", {{"name", update.name}}), update, twin(right.updates, update));
    for (const core::DepthCurve& ratio : left.ratios)
        add(tr("{name} / stream", {{"name", ratio.name}}), ratio, twin(right.ratios, ratio));
    for (const core::DepthCurve& scale : left.scales)
        add(tr("{name} divides by", {{"name", scale.name}}), scale, twin(right.scales, scale));
    rows.push_back({tr("growth over all blocks"), written(left.growth()), written(right.growth())});
    draw_rows(ui, scene, rows);
}

void say_step(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene,
              Commands& commands) {
    if (const auto pair = shown_pair(session, scene); *pair)
        paragraph(ui.fonts.caption, ui.theme.text, core::norms::pair_sentence(**pair, scene.here.name));
    section_line(ui);
    inspector::describe_step(ui, session, state);
    section_line(ui);
    inspector::inspect_cell(ui, session, state, commands);
}

void say_gradients(const Ui& ui, ViewState& state) {
    const auto say = [&](const std::string& text) {
        views::say(ui, state, ui.fonts.caption, ui.theme.text, text);
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

}  // namespace

core::Value<core::BothNorms<core::norms::DepthCurves>> shown_curves(const core::Session& session,
                                                                    const NormsScene& scene) {
    return core::norms::norm_curves(session.derived(), scene.runs, scene.stack);
}

core::Value<std::optional<core::norms::StepPair>> shown_pair(const core::Session& session, const NormsScene& scene) {
    return core::norms::norm_step_pair(session.derived(), scene.runs, scene.here.name, session.cursor().place);
}

core::Value<core::BothNorms<std::optional<core::norms::NormRow>>> shown_rows(const core::Session& session,
                                                                             const ViewState& state,
                                                                             const NormsScene& scene) {
    return core::norms::norm_rows(session.derived(), scene.runs, explained_norm(scene), session.cursor().place.batch,
                                  state.part<NormsTabState>().row);
}

std::vector<std::string> norms_here(const NormsScene& scene) {
    std::vector<std::string> norms = core::norms::norms_of_block(scene.runs.left.run->plan(), scene.block, scene.stack);
    for (std::string& norm : core::norms::norms_of_block(scene.runs.right.run->plan(), scene.block, scene.stack))
        if (std::ranges::find(norms, norm) == norms.end()) norms.push_back(std::move(norm));
    return norms;
}

void go_to_step(const core::Session& session, NormsTabState& norms, const NormsScene& scene, const std::string& step,
                Commands& commands) {
    norms.chosen.reset();
    if (session.shown().run->plan().find(step) != nullptr) return commands.push_back(core::command::GoTo{step});
    for (const core::BothNorms<core::Companion>& runs = scene.runs;
         const core::Companion* run : {&runs.left, &runs.right})
        if (const Ref there = run->run->plan().find(step); there != nullptr && !there->norm.empty())
            norms.chosen = {there->norm, scene.here.name};
}

std::string explained_norm(const NormsScene& scene) {
    const std::vector<std::string> norms = norms_here(scene);
    if (std::ranges::find(norms, scene.chosen) != norms.end()) return scene.chosen;
    if (std::ranges::find(norms, scene.here.norm) != norms.end()) return scene.here.norm;
    return norms.empty() ? std::string() : norms.front();
}

void draw_norms_step(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene, Area area,
                     Commands& commands) {
    const float choices = ui.px(32), line = compat::font_size(ui.fonts.mono_small) + ui.px(12);
    draw_place(ui, session, scene, {{area.low.x, area.high.y - choices}, area.high}, commands);
    const core::Value<std::optional<core::norms::StepPair>> shown = shown_pair(session, scene);
    const std::optional<core::norms::StepPair>& pair = *shown;
    if (!pair) {
        text_block(
            ui, ui.fonts.text, ui.theme.muted, area,
            tr("{name} is not computed in both runs, so there is nothing to compare.", {{"name", scene.here.name}}));
        return;
    }
    draw_text(ui, ui.fonts.mono_small, area.low, ui.theme.text, scene.here.name, area.width());
    const float note = compat::font_size(ui.fonts.caption) + ui.px(8);
    const Area pictures = {{area.low.x, area.low.y + line}, {area.high.x, area.high.y - choices - note}};
    const std::array<Area, 3> places = arrange(ui, *pair, pictures);
    const std::array<const core::Heatmap*, 3> heatmaps = {&pair->a, &pair->b, &pair->difference};
    const core::Slice slice =
        core::slice_of(scene.here, session.cursor().place, session.shown().scenario.query_heads());
    for (std::size_t i = 0; i < places.size(); ++i) {
        HeatmapDrawing drawing{.heatmap = *heatmaps[i],
                               .key = kFirstKey + i,
                               .version = shown.number(),
                               .color = color_of(scene.here.meaning),
                               .stale = session.stale(),
                               .scrolls_with = ImGui::GetScrollMaxY() > 0.0F};
        if (session.cursor().cell) drawing.selected = slice.find(*session.cursor().cell);
        // All three share zoom and position.
        const HeatmapGesture gesture = draw_heatmap(ui, drawing, state.viewports[kFirstKey], places[i]);
        if (gesture.hovered) {
            place_cell_tooltip(ui, gesture, 4);
            pair_tooltip(ui, scene, *pair,
                         cell_name(scene.here.name, slice.cell(gesture.hovered->first, gesture.hovered->second)),
                         *gesture.hovered);
        }
        if (!gesture.clicked) continue;
        commands.push_back(core::command::SelectCell{slice.cell(gesture.clicked->first, gesture.clicked->second)});
        if (pair->a.row_axis == axis::pos) state.part<NormsTabState>().row = gesture.clicked->first;
    }
    draw_text(
        ui, ui.fonts.caption, {area.low.x, places[2].high.y + ui.px(4)}, ui.theme.muted,
        tr("Orange: more under {first}, blue: under {second}.",
           {{"first", norms_place_of(scene.runs.left).title}, {"second", norms_place_of(scene.runs.right).title}}),
        area.width());
}

// What the inspector says beside the Norms tab.

void inspect_norms(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    term_line(ui, state, ui.fonts.heading, ui.theme.text, tr("Norm placement"), core::glossary::find_term("pre-norm"));
    const NormsTabState& norms = state.part<NormsTabState>();
    if (norms.view == NormsView::gradients) return say_gradients(ui, state);
    if (!norms.shown) return paragraph(ui.fonts.text, ui.theme.muted, tr("Computing both runs …"));
    const NormsScene scene = norms_scene(session, norms);
    switch (norms.view) {
        case NormsView::depth:
            say_depth(ui, session, scene);
            say_position(ui, session, norms, scene);
            return say_disagreements(ui, session, scene, commands);
        case NormsView::step:
            return say_step(ui, session, state, scene, commands);
        case NormsView::row:
            say_row(ui, session, state, scene);
            return say_position(ui, session, norms, scene);
        case NormsView::gradients:
            break;
    }
}

}  // namespace decoderscope::views::norms
