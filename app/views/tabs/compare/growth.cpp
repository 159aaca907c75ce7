// The page of gradients: where they grow in the backward pass, by norm placement.
#include "app/core/run/bounds.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/curves_view.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::compare {

namespace {

constexpr std::array<Index, 4> kLayers = {2, 6, 12, core::bounds::kGrowthLayers.most};
constexpr std::array<Index, 4> kWidths = {32, 64, 128, core::bounds::kGrowthWidth.most};
constexpr std::array<Index, 3> kSeeds = {1, 5, core::bounds::kGrowthSeeds.most};

// A few numbers to choose from, as one item of a row of controls.
FlowItem number_item(const Ui& ui, const char* title, const char* id, std::span<const Index> choices, Index& now,
                     const char* tip) {
    std::vector<std::string> texts;
    for (const Index choice : choices) texts.push_back(std::to_string(choice));
    return choice_item(ui, title, id, std::move(texts),
                       static_cast<int>(std::ranges::find(choices, now) - choices.begin()), tip,
                       [choices, &now](std::size_t i) { now = choices[i]; });
}

void draw_choices(const Ui& ui, NormsState& norms, Area& area) {
    core::norms::GrowthChoice& choice = norms.growth;
    const core::norms::GrowthChoice before = choice;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(3)));
    const std::array items = {
        number_item(ui, tr("layers"), "layers", kLayers, choice.layers, tr("How many layers each stack has")),
        number_item(ui, "d_model", "width", kWidths, choice.d_model, tr("The width of the residual stream")),
        number_item(ui, tr("seeds"), "seeds", kSeeds, choice.seeds, tr("How many times weights and words are drawn")),
        choice_item(ui, "", "init", {tr("Xavier"), tr("PyTorch")}, choice.xavier ? 0 : 1, "",
                    [&choice](std::size_t i) { choice.xavier = i == 0; }),
        choice_item(ui, "", "stacks", {tr("with encoder"), tr("decoder alone")}, choice.encoder ? 0 : 1, "",
                    [&choice](std::size_t i) { choice.encoder = i == 0; })};
    draw_flow_on_top(ui, items, area, ui.px(6));
    ImGui::PopStyleVar();
    if (choice != before) norms.growth_stopped = norms.growth_by_depth = false;
}

// What is drawn of the schemes: all but the hidden ones.
std::vector<core::norms::GradientGrowth> shown_schemes(const NormsState& norms,
                                                       std::span<const core::norms::GradientGrowth> schemes) {
    std::vector<core::norms::GradientGrowth> shown;
    for (const core::norms::GradientGrowth& growth : schemes)
        if (!norms.hidden_schemes.contains(growth.scheme)) shown.push_back(growth);
    return shown;
}

std::string spread_text(const core::norms::Spread& spread) {
    return tr("{mean} ({least}–{most})", {{"mean", core::short_number_text(spread.mean, 2)},
                                          {"least", core::short_number_text(spread.least, 2)},
                                          {"most", core::short_number_text(spread.most, 2)}});
}

// Each scheme with its ratios; a click shows or hides its curves. Returns the y below.
float draw_schemes(const Ui& ui, NormsState& norms, std::span<const core::norms::GradientGrowth> schemes, Area area) {
    const float row = compat::font_size(ui.fonts.caption) + ui.px(7), second = area.low.x + ui.px(130);
    const float third = second + (area.high.x - second) * 0.5F;
    float y = area.low.y;
    draw_text(ui, ui.note(), {second, y}, tr("decoder: last / first"), third - second);
    if (!schemes.empty() && !schemes.front().encoder.by_layer.empty())
        draw_text(ui, ui.note(), {third, y}, tr("encoder: last / first"), area.high.x - third);
    y += row;
    for (const core::norms::GradientGrowth& growth : schemes) {
        const bool hidden = norms.hidden_schemes.contains(growth.scheme);
        if (click_at("scheme", {{area.low.x, y}, {area.high.x, y + row}}, static_cast<Index>(growth.scheme)) &&
            norms.hidden_schemes.erase(growth.scheme) == 0)
            norms.hidden_schemes.insert(growth.scheme);
        tooltip(tr("Show or hide its curves"));
        if (!hidden)
            draw_line_sample(ui, {area.low.x, y + row * 0.4F}, ui.px(30),
                             color_of(core::norms::meaning_of(growth.scheme)),
                             growth.scheme == core::norms::StackScheme::post);
        const ImU32 color = hidden ? ui.theme.muted : ui.theme.text;
        draw_text(ui, {ui.fonts.caption, color}, {area.low.x + ui.px(38), y}, tr(core::norms::title_of(growth.scheme)),
                  ui.px(90));
        draw_text(ui, {ui.fonts.mono_small, color}, {second, y}, spread_text(growth.decoder.last_over_first),
                  third - second - ui.px(8));
        if (!growth.encoder.by_layer.empty())
            draw_text(ui, {ui.fonts.mono_small, color}, {third, y}, spread_text(growth.encoder.last_over_first),
                      area.high.x - third);
        y += row;
    }
    return y;
}

void draw_by_depth(const Ui& ui, const core::Session& session, NormsState& norms, Area area, Commands& commands) {
    norms.grown_by_depth.take(
        load::about(session.fitting_scenario().opened()),
        core::norms::measured_growth(session.derived(), session.fitting_scenario().model(), norms.growth,
                                     core::norms::Depths::each, norms.growth_depth_progress),
        [&] { return norms.growth; });
    draw_answer(
        ui, "coming-growth-by-depth", norms.grown_by_depth, area, commands,
        [&](const core::norms::MeasuredGrowth& measured, Commands&) {
            const core::Chart chart =
                core::norms::growth_by_depth(shown_schemes(norms, measured.schemes), norms.grown_by_depth.question());
            static_cast<void>(draw_curves(ui, chart, std::nullopt, area));
        },
        [&](Area note) {
            if (draw_progress(ui, *norms.growth_depth_progress, note)) norms.growth_by_depth = false;
        });
}

void draw_measured(const Ui& ui, const core::Session& session, NormsState& norms,
                   const core::norms::MeasuredGrowth& measured, Area area, Commands& commands) {
    const core::norms::GrowthChoice& choice = norms.grown.question();
    area.low.y +=
        text_block(ui, ui.body(), area, tr(core::norms::growth_sentence(measured.schemes, choice))) + ui.px(4);
    area.low.y += text_block(ui, ui.note(), area, tr(core::norms::growth_caveat(choice))) + ui.px(10);
    const std::vector<core::Chart> charts =
        core::norms::growth_by_layer(shown_schemes(norms, measured.schemes), choice, core::norms::SpreadShown::yes);
    Rows rows = {area};
    const float gap = ui.px(20);
    const Area top = rows.next(std::max(ui.px(150), std::floor((area.height() - gap) * 0.48F)), gap);
    const std::size_t columns = charts.size() + (norms.growth_by_depth ? 1 : 0);
    const Grid grid = {top, std::max<std::size_t>(columns, 1), 1, {gap, 0}};
    for (std::size_t i = 0; i < charts.size(); ++i)
        static_cast<void>(draw_curves(ui, charts[i], std::nullopt, grid.cell(i)));
    if (norms.growth_by_depth) draw_by_depth(ui, session, norms, grid.cell(charts.size()), commands);
    const float y = draw_schemes(ui, norms, measured.schemes, rows.rest);
    const Area below = {{area.low.x, y + ui.px(4)}, area.high};
    draw_text(ui, ui.note(), below.low, tr("Faint: the smallest and the largest over the seeds."), below.width());
    if (norms.growth_by_depth) return;
    ImGui::SetCursorScreenPos({below.low.x, below.low.y + compat::font_size(ui.fonts.caption) + ui.px(10)});
    if (button(tr("Measure by depth"), "by-depth")) norms.growth_by_depth = true;
    tooltip(tr("Stacks of every depth up to this one: what the last layer gets"));
}

// The answer of one seed comes first, and stands there as such until that of all is measured.
void take_growth(const core::Session& session, NormsState& norms) {
    using Answer = core::Value<core::norms::MeasuredGrowth>;
    const auto measured = [&](const core::norms::GrowthChoice& choice) {
        return core::norms::measured_growth(session.derived(), session.fitting_scenario().model(), choice,
                                            core::norms::Depths::chosen, norms.growth_progress);
    };
    const auto take = [&](const Answer& answer, const core::norms::GrowthChoice& choice) {
        norms.grown.take(load::about(session.fitting_scenario().opened()), answer, [&] { return choice; });
    };
    core::norms::GrowthChoice one_seed = norms.growth;
    one_seed.seeds = 1;
    const Answer first = measured(one_seed), all = first ? measured(norms.growth) : Answer();
    if (!all) take(first, one_seed);
    take(all, norms.growth);
}

}  // namespace

void draw_growth(const Ui& ui, const core::Session& session, CompareTabState& tab, Area area, Commands& commands) {
    NormsState& norms = tab.norms;
    draw_choices(ui, norms, area);
    if (norms.growth_stopped) {
        ImGui::SetCursorScreenPos(area.low);
        if (button(tr("Measure"), "measure-growth")) norms.growth_stopped = false;
        return;
    }
    take_growth(session, norms);
    draw_answer(
        ui, "coming-growth", norms.grown, area, commands,
        [&](const core::norms::MeasuredGrowth& measured, Commands& heard) {
            draw_measured(ui, session, norms, measured, area, heard);
        },
        [&](Area note) {
            if (draw_progress(ui, *norms.growth_progress, note)) norms.growth_stopped = true;
        });
    if (norms.grown) return;
    area.low.y += ui.px(90);
    text_block(ui, ui.note(), area,
               tr("Xiong et al. 2020, figure 3: stacks of each kind are initialised from each seed and run on 32 words "
                  "to be reversed; shown is the norm of the mean gradient with respect to each layer's W2."));
}

}  // namespace decoderscope::views::compare
