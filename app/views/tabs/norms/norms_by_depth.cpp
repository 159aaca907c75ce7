#include "app/core/run/labels.h"
#include "app/core/tabs/norms/gradient_growth.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/norms/tab.h"
#include "app/views/widgets/depth_chart.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views::norms {

namespace {

// The norms' colours, from strong to pale in their order.
ImU32 scale_color(std::size_t number) {
    static constexpr std::array<float, 3> strength = {1.0F, 0.65F, 0.4F};
    return with_alpha(color_of(Meaning::norm), strength[std::min<std::size_t>(number, 2)]);
}

// The colour of a measure's curve, by its number. Cross-attention is paler than self-attention.
ImU32 curve_color(const Ui& ui, const core::DepthCurve& curve, std::size_t number) {
    if (curve.part == Part::residual_stream) return ui.theme.text;
    if (curve.part == Part::norm) return scale_color(number);
    const ImU32 color = color_of(curve.meaning);
    return curve.part == Part::cross_attention ? with_alpha(color, ui.theme.dark ? 0.5F : 0.55F) : color;
}

// All curves of one measure in one of the runs.
void add_lines(const Ui& ui, DepthChart& chart, std::span<const core::DepthCurve> curves, bool dashed) {
    for (std::size_t i = 0; i < curves.size(); ++i)
        chart.lines.push_back({curves[i], curve_color(ui, curves[i], i), dashed});
}

std::vector<DepthChart> charts_of(const Ui& ui, const core::BothNorms<core::norms::DepthCurves>& both) {
    const Index blocks = std::max(both.left.blocks, both.right.blocks);
    std::vector<DepthChart> charts;
    for (const core::norms::DepthMeasure& measure : core::norms::depth_measures()) {
        DepthChart& chart = charts.emplace_back(
            DepthChart{measure.id, tr(measure.title), tr(measure.caption), {}, blocks, measure.may_be_logarithmic});
        add_lines(ui, chart, measure.curves(both.right), true);
        add_lines(ui, chart, measure.curves(both.left), false);
    }
    return charts;
}

// The step under the mouse; nullptr if the model shown in the window doesn't have it, as in blocks that are only
// stacked here.
const core::DepthPoint* reachable_point(const core::Session& session, const DepthChart& chart, double depth) {
    for (auto line = chart.lines.rbegin(); line != chart.lines.rend(); ++line) {
        const core::DepthPoint* point = nearest_point(line->curve, depth);
        if (point != nullptr && session.shown().run->plan().find(point->step) != nullptr) return point;
    }
    return nullptr;
}

// The curves' values at the depth under the mouse.
void chart_tooltip(const Ui& ui, const DepthChart& chart, const core::Places& places, double depth, bool reachable) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.text, ui.theme.text, chart.title);
    for (auto line = chart.lines.rbegin(); line != chart.lines.rend(); ++line) {
        const core::DepthPoint* point = nearest_point(line->curve, depth);
        if (point == nullptr || std::abs(point->depth - depth) > 0.5) continue;
        text_line(ui.fonts.mono_small, ui.theme.text, core::short_number_text(point->value, 4));
        ImGui::SameLine(ui.px(72));
        text_line(ui.fonts.caption, ui.theme.muted,
                  std::string(tr(core::place_of_norms(line->dashed ? places.right : places.left).title)) + "  " +
                      point->step);
    }
    text_line(ui.fonts.caption, ui.theme.muted,
              reachable ? tr("Click to go there") : tr("A block with fresh weights, stacked here only"));
    ImGui::EndTooltip();
}

// ---- the legend of strokes and colours

struct StrokeLegend {
    const Ui& ui;
    Area area;
    float y;

    void sample(ImU32 color, bool dashed, const std::string& text) {
        const float line = compat::font_size(ui.fonts.caption);
        draw_line_sample(ui, {area.low.x, y + line * 0.5F + 1}, ui.px(30), color, dashed);
        draw_text(ui, ui.fonts.caption, {area.low.x + ui.px(38), y}, ui.theme.text, text, area.width() - ui.px(38));
        y += line + ui.px(4);
    }
    void swatch(ImU32 color, const std::string& text) {
        const float line = compat::font_size(ui.fonts.caption), middle = y + line * 0.5F + 1;
        ImGui::GetWindowDrawList()->AddRectFilled({area.low.x, middle - ui.px(2)},
                                                  {area.low.x + ui.px(30), middle + ui.px(2)}, color, ui.px(1));
        draw_text(ui, ui.fonts.caption, {area.low.x + ui.px(38), y}, ui.theme.muted, text, area.width() - ui.px(38));
        y += line + ui.px(4);
    }
};

void draw_legend(const Ui& ui, const core::BothNorms<core::norms::DepthCurves>& both, const NormsScene& scene,
                 Area area) {
    StrokeLegend legend{ui, area, area.low.y + ui.px(2)};
    legend.sample(ui.theme.text, false, tr(norms_place_of(scene.runs.left).title));
    legend.sample(ui.theme.text, true, tr(norms_place_of(scene.runs.right).title));
    for (const core::DepthCurve& curve : both.left.updates)
        legend.swatch(curve_color(ui, curve, 0), tr(title_of(curve.part)));
    std::vector<std::string> names;
    for (const core::norms::DepthCurves* curves : {&both.left, &both.right})
        for (const core::DepthCurve& curve : curves->scales)
            if (std::ranges::find(names, curve.name) == names.end()) names.push_back(curve.name);
    std::string norms = names.empty() ? "" : names.front();
    if (names.size() == 2) norms += ", " + names.back();
    if (names.size() > 2) norms = tr("Norms");
    if (names.size() > 1) norms = tr("{norms} (paler)", {{"norms", norms}});
    legend.swatch(scale_color(0), norms);
    const bool encoder = scene.stack == StackKind::encoder;
    std::string note = encoder ? tr("From left to right: encoder blocks. Padding is left out.")
                               : tr("From left to right: decoder blocks. Padding is left out.");
    if (encoder && scene.runs.left.variation.layers)
        note += std::string(" ") + tr("Only the decoder is stacked deeper.");
    text_block(ui, ui.fonts.caption, ui.theme.muted, {{area.low.x, legend.y + ui.px(4)}, area.high}, note);
}

constexpr std::array<Index, 4> kLayers = {2, 6, 12, 18};
constexpr std::array<Index, 4> kWidths = {32, 64, 128, 256};
constexpr std::array<Index, 3> kSeeds = {1, 5, 10};

ImU32 scheme_color(core::norms::StackScheme scheme) {
    static constexpr std::array meanings = {Meaning::query, Meaning::value, Meaning::mlp, Meaning::key, Meaning::norm};
    return color_of(meanings[static_cast<std::size_t>(scheme) % meanings.size()]);
}

// A few numbers to choose from, as one item of a row of controls.
FlowItem number_item(const Ui& ui, const char* title, const char* id, std::span<const Index> choices, Index& now,
                     const char* tip) {
    float width = compat::text_size(ui.fonts.caption, title).x + ui.px(6);
    for (const Index choice : choices) width += button_width(std::to_string(choice).c_str()) + ui.px(2);
    return {width, ui.px(14), [&ui, title, id, choices, &now, tip] {
                word_beside(ui, title);
                ImGui::PushID(id);
                for (const Index choice : choices) {
                    ImGui::SameLine(0, choice == choices.front() ? ui.px(6) : ui.px(2));
                    if (toggle_button(ui, std::to_string(choice).c_str(), now == choice, tip)) now = choice;
                }
                ImGui::PopID();
            }};
}

// One of two, side by side.
FlowItem either_item(const Ui& ui, const char* id, const char* first, const char* second, bool& is_first) {
    return {button_width(first) + button_width(second) + ui.px(4), ui.px(14), [&ui, id, first, second, &is_first] {
                const std::array labels = {first, second};
                if (const int clicked = segmented(ui, id, labels, is_first ? 0 : 1); clicked >= 0)
                    is_first = clicked == 0;
            }};
}

// Returns the height used.
float draw_choices(const Ui& ui, NormsTabState& norms, Area area) {
    core::norms::GrowthChoice& choice = norms.growth;
    const core::norms::GrowthChoice before = choice;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(3)));
    const std::array items = {
        number_item(ui, tr("layers"), "layers", kLayers, choice.layers, tr("How many layers each stack has")),
        number_item(ui, "d_model", "width", kWidths, choice.d_model, tr("The width of the residual stream")),
        number_item(ui, tr("seeds"), "seeds", kSeeds, choice.seeds, tr("How many times weights and words are drawn")),
        either_item(ui, "init", tr("Xavier"), tr("PyTorch"), choice.xavier),
        either_item(ui, "stacks", tr("with encoder"), tr("decoder alone"), choice.encoder)};
    const float height = flow_height(ui, items, area.width());
    draw_flow(ui, items, {area.low, {area.high.x, area.low.y + height}});
    ImGui::PopStyleVar();
    if (choice != before) norms.growth_stopped = norms.growth_by_depth = false;
    return height + ui.px(6);
}

DepthChart chart_of(const NormsTabState& norms, const char* id, const char* title, const char* caption, Index length,
                    const std::vector<core::norms::GrowthCurves>& curves) {
    DepthChart chart{id, title, caption, {}, length, true};
    for (const core::norms::GrowthCurves& of : curves) {
        if (norms.hidden_schemes.contains(of.scheme)) continue;
        const ImU32 color = scheme_color(of.scheme);
        const bool dashed = of.scheme == core::norms::StackScheme::post;
        chart.lines.push_back({of.least, with_alpha(color, 0.3F), false});
        chart.lines.push_back({of.most, with_alpha(color, 0.3F), false});
        chart.lines.push_back({of.mean, color, dashed});
    }
    return chart;
}

std::string spread_text(const core::norms::Spread& spread) {
    return tr("{mean} ({least}–{most})", {{"mean", core::short_number_text(spread.mean, 2)},
                                          {"least", core::short_number_text(spread.least, 2)},
                                          {"most", core::short_number_text(spread.most, 2)}});
}

// Each scheme with its ratios; a click shows or hides its curves. Returns the y below.
float draw_schemes(const Ui& ui, NormsTabState& norms, std::span<const core::norms::GradientGrowth> schemes,
                   Area area) {
    const float row = compat::font_size(ui.fonts.caption) + ui.px(7), second = area.low.x + ui.px(130);
    const float third = second + (area.high.x - second) * 0.5F;
    float y = area.low.y;
    draw_text(ui, ui.fonts.caption, {second, y}, ui.theme.muted, tr("decoder: last / first"), third - second);
    if (!schemes.empty() && !schemes.front().encoder.by_layer.empty())
        draw_text(ui, ui.fonts.caption, {third, y}, ui.theme.muted, tr("encoder: last / first"), area.high.x - third);
    y += row;
    for (const core::norms::GradientGrowth& growth : schemes) {
        const bool hidden = norms.hidden_schemes.contains(growth.scheme);
        ImGui::SetCursorScreenPos({area.low.x, y});
        ImGui::PushID(static_cast<int>(growth.scheme));
        if (ImGui::InvisibleButton("scheme", {area.width(), row})) {
            if (hidden)
                norms.hidden_schemes.erase(growth.scheme);
            else
                norms.hidden_schemes.insert(growth.scheme);
        }
        ImGui::PopID();
        tooltip(tr("Show or hide its curves"));
        if (!hidden)
            draw_line_sample(ui, {area.low.x, y + row * 0.4F}, ui.px(30), scheme_color(growth.scheme),
                             growth.scheme == core::norms::StackScheme::post);
        const ImU32 color = hidden ? ui.theme.muted : ui.theme.text;
        draw_text(ui, ui.fonts.caption, {area.low.x + ui.px(38), y}, color, tr(core::norms::title_of(growth.scheme)),
                  ui.px(90));
        draw_text(ui, ui.fonts.mono_small, {second, y}, color, spread_text(growth.decoder.last_over_first),
                  third - second - ui.px(8));
        if (!growth.encoder.by_layer.empty())
            draw_text(ui, ui.fonts.mono_small, {third, y}, color, spread_text(growth.encoder.last_over_first),
                      area.high.x - third);
        y += row;
    }
    return y;
}

void offer_by_depth(NormsTabState& norms, ImVec2 at) {
    ImGui::SetCursorScreenPos(at);
    if (button(tr("Measure by depth"), "by-depth")) norms.growth_by_depth = true;
    tooltip(tr("Stacks of every depth up to this one: what the last layer gets"));
}

void draw_by_depth(const Ui& ui, const core::Session& session, NormsTabState& norms, Area area, Commands& commands) {
    norms.grown_by_depth.take(load::about(session.scenario().opened()),
                              core::norms::measured_growth_by_depth(session.derived(), session.scenario().model(),
                                                                    norms.growth, norms.growth_depth_progress),
                              [&] { return norms.growth; });
    draw_answer(
        ui, "coming-growth-by-depth", norms.grown_by_depth, area, commands,
        [&](Commands&) {
            const core::norms::GrowthChoice& choice = norms.grown_by_depth.question();
            const DepthChart chart =
                chart_of(norms, "growth-depth", tr("By depth"), tr("gradient w.r.t. the last decoder layer's W2"),
                         choice.layers, core::norms::curves_by_depth(norms.grown_by_depth.answer()->schemes));
            static_cast<void>(draw_depth_chart(ui, chart, std::nullopt, area));
            return area;
        },
        [&](Area note) {
            if (draw_progress(ui, *norms.growth_depth_progress, note)) norms.growth_by_depth = false;
        });
}

void draw_measured(const Ui& ui, const core::Session& session, NormsTabState& norms, Area area, Commands& commands) {
    const core::norms::MeasuredGrowth& measured = *norms.grown.answer();
    const core::norms::GrowthChoice& choice = norms.grown.question();
    area.low.y +=
        text_block(ui, ui.fonts.text, ui.theme.text, area, tr(core::norms::growth_sentence(measured.schemes, choice))) +
        ui.px(4);
    area.low.y +=
        text_block(ui, ui.fonts.caption, ui.theme.muted, area, tr(core::norms::growth_caveat(choice))) + ui.px(10);
    const std::vector<core::norms::GrowthCurves> decoder = core::norms::curves_by_layer(measured.schemes, false),
                                                 encoder = core::norms::curves_by_layer(measured.schemes, true);
    const float gap = ui.px(20),
                charts = 1.0F + (encoder.empty() ? 0.0F : 1.0F) + (norms.growth_by_depth ? 1.0F : 0.0F);
    const float width = std::floor((area.width() - gap * (charts - 1.0F)) / charts);
    const float height = std::max(ui.px(150), std::floor((area.height() - gap) * 0.48F));
    Area place = {area.low, {area.low.x + width, area.low.y + height}};
    const auto next = [&place, width, gap] {
        place.low.x += width + gap;
        place.high.x += width + gap;
    };
    const char* caption = tr("norm of the expected gradient w.r.t. W2, by layer");
    const Index layers = choice.layers;
    static_cast<void>(draw_depth_chart(ui, chart_of(norms, "growth-decoder", tr("Decoder"), caption, layers, decoder),
                                       std::nullopt, place));
    next();
    if (!encoder.empty()) {
        static_cast<void>(draw_depth_chart(
            ui, chart_of(norms, "growth-encoder", tr("Encoder"), caption, layers, encoder), std::nullopt, place));
        next();
    }
    if (norms.growth_by_depth) draw_by_depth(ui, session, norms, place, commands);
    const float y = draw_schemes(ui, norms, measured.schemes, {{area.low.x, place.high.y + gap}, area.high});
    const Area below = {{area.low.x, y + ui.px(4)}, area.high};
    draw_text(ui, ui.fonts.caption, below.low, ui.theme.muted,
              tr("Faint: the smallest and the largest over the seeds."), below.width());
    if (!norms.growth_by_depth)
        offer_by_depth(norms, {below.low.x, below.low.y + compat::font_size(ui.fonts.caption) + ui.px(10)});
}

// The answer of one seed comes first, and stands there as such until that of all is measured.
void take_growth(const core::Session& session, NormsTabState& norms) {
    using Answer = core::Value<core::norms::MeasuredGrowth>;
    const auto measured = [&](const core::norms::GrowthChoice& choice) {
        return core::norms::measured_growth(session.derived(), session.scenario().model(), choice,
                                            norms.growth_progress);
    };
    const auto take = [&](const Answer& answer, const core::norms::GrowthChoice& choice) {
        norms.grown.take(load::about(session.scenario().opened()), answer, [&] { return choice; });
    };
    core::norms::GrowthChoice one_seed = norms.growth;
    one_seed.seeds = 1;
    const Answer first = measured(one_seed), all = first ? measured(norms.growth) : Answer();
    if (!all) take(first, one_seed);
    take(all, norms.growth);
}

}  // namespace

void draw_norms_by_depth(const Ui& ui, const core::Session& session, ViewState& state, const NormsScene& scene,
                         Area area, Commands& commands) {
    const core::Value<core::BothNorms<core::norms::DepthCurves>> curves = shown_curves(session, scene);
    const core::BothNorms<core::norms::DepthCurves>& both = *curves;
    const std::vector<DepthChart> charts = charts_of(ui, both);
    const ImVec2 gap = {ui.px(20), ui.px(14)};
    const float width = std::floor((area.width() - gap.x) * 0.5F),
                height = std::floor((area.height() - gap.y * 2) / 3.0F);
    const auto cell = [&](std::size_t number) {
        const ImVec2 low = {area.low.x + static_cast<float>(number % 2) * (width + gap.x),
                            area.low.y + static_cast<float>(number / 2) * (height + gap.y)};
        return Area{low, {low.x + width, low.y + height}};
    };
    std::optional<double> pointed;
    for (std::size_t i = 0; i < charts.size(); ++i) {
        const ChartGesture gesture = draw_depth_chart(ui, charts[i], state.part<NormsTabState>().marked_depth, cell(i));
        if (!gesture.depth) continue;
        pointed = gesture.depth;
        const core::DepthPoint* reachable = reachable_point(session, charts[i], *gesture.depth);
        chart_tooltip(ui, charts[i], scene.places(), *gesture.depth, reachable != nullptr);
        if (gesture.clicked && reachable != nullptr) commands.push_back(core::command::GoTo{reachable->step});
    }
    state.part<NormsTabState>().marked_depth = pointed;
    draw_legend(ui, both, scene, cell(charts.size()));
}

// The page of gradients: where they grow in the backward pass, by norm placement.

void draw_norms_gradients(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    NormsTabState& norms = state.part<NormsTabState>();
    area.low.y += draw_choices(ui, norms, area);
    if (norms.growth_stopped) {
        ImGui::SetCursorScreenPos(area.low);
        if (button(tr("Measure"), "measure-growth")) norms.growth_stopped = false;
        return;
    }
    take_growth(session, norms);
    draw_answer(
        ui, "coming-growth", norms.grown, area, commands,
        [&](Commands& heard) {
            draw_measured(ui, session, norms, area, heard);
            return area;
        },
        [&](Area note) {
            if (draw_progress(ui, *norms.growth_progress, note)) norms.growth_stopped = true;
        });
    if (norms.grown) return;
    area.low.y += ui.px(90);
    text_block(ui, ui.fonts.caption, ui.theme.muted, area,
               tr("Xiong et al. 2020, figure 3: stacks of each kind are initialised from each seed and run on 32 words "
                  "to be reversed; shown is the norm of the mean gradient with respect to each layer's W2."));
}

}  // namespace decoderscope::views::norms
