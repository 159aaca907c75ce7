#include "app/core/text/numbers.h"
#include "app/views/norms/depth_chart.h"
#include "app/views/train/train_parts.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

struct Seen {
    Value<TrainingCurves> curves;
    DepthCurve layers;
};

Index last_step(std::span<const SeenTraining> seen) {
    Index last = 0;
    for (const SeenTraining& one : seen) last = std::max(last, static_cast<Index>(one.history->size()));
    return last;
}

void look_at(TrainTabState& train, std::optional<Index> step) {
    train.at = step;
    train.board->look_at(step);
}

void say_step(const Ui& ui, std::span<const SeenTraining> seen, Index step) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.text, ui.theme.text, tr("step {step}", {{"step", step}}));
    for (const SeenTraining& one : seen)
        if (const std::optional<double> loss = loss_at(one, step - 1))
            text_line(
                ui.fonts.caption, ui.theme.muted,
                tr("{title}: loss {loss}", {{"title", one.recipe->title}, {"loss", short_number_text(*loss, 3)}}));
    text_line(ui.fonts.caption, ui.theme.muted, tr("Click to look at the models there"));
    ImGui::EndTooltip();
}

// Where in the training: a slider over all steps, and back to the newest.
void scrub(const Ui& ui, TrainTabState& train, Index last, Area area) {
    ImGui::SetCursorScreenPos(area.low);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(2)));
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, ui.theme.muted, tr("look at step"));
    ImGui::SameLine(0, ui.px(8));
    ImGui::SetNextItemWidth(std::max(ui.px(120), area.width() - ui.px(220)));
    int step = static_cast<int>(train.at.value_or(last));
    if (focusable(ImGui::SliderInt("##step", &step, 0, static_cast<int>(last)))) look_at(train, step);
    tooltip(tr("0 is before any training. A step that isn't kept is trained again, with the same bits."));
    ImGui::SameLine(0, ui.px(8));
    if (toggle_button(ui, labelled(tr("newest"), "newest").c_str(), !train.at, tr("Follow the training")))
        look_at(train, std::nullopt);
    ImGui::PopStyleVar();
}

}  // namespace

void draw_train_charts(const Ui& ui, const Session& session, TrainTabState& train, std::span<const SeenTraining> seen,
                       Area area) {
    const Index last = last_step(seen);
    Index steps = 1, layers = 1;
    std::vector<Seen> all;
    for (const SeenTraining& one : seen) {
        steps = std::max(steps, one.recipe->steps);
        layers = std::max(layers, one.recipe->config.num_layers);
        all.push_back({training_curves(session.derived(), one), gradients_at(one, train.at.value_or(last))});
    }
    DepthChart loss{"train-loss", tr("Loss"), tr("of each step's batch"), {}, steps, false};
    DepthChart growth{"train-growth", tr("Gradients"), tr("by W2: last layer over first"), {}, steps, true};
    DepthChart by_layer{"train-layers", tr("By layer"), tr("gradient by W2, at this step"), {}, layers, true};
    for (std::size_t i = 0; i < all.size(); ++i) {
        loss.lines.push_back({all[i].curves->loss, color_of_run(i), is_dashed(i)});
        growth.lines.push_back({all[i].curves->growth, color_of_run(i), is_dashed(i)});
        by_layer.lines.push_back({all[i].layers, color_of_run(i), is_dashed(i)});
    }
    const float gap = ui.px(14), bar = ui.px(30);
    const float width = std::floor((area.width() - 2 * gap) / 3.0F);
    const auto cell = [&](int number) {
        const float x = area.low.x + static_cast<float>(number) * (width + gap);
        return Area{{x, area.low.y}, {x + width, area.high.y - bar}};
    };
    const std::optional<double> marked =
        train.at ? std::optional(static_cast<double>(*train.at)) : std::optional<double>();
    for (const auto& [chart, number] : {std::pair{&loss, 0}, {&growth, 1}}) {
        const ChartGesture gesture = draw_depth_chart(ui, *chart, marked, cell(number));
        if (!gesture.depth) continue;
        const auto step = static_cast<Index>(std::lround(*gesture.depth));
        say_step(ui, seen, step);
        if (gesture.clicked) look_at(train, step);
    }
    static_cast<void>(draw_depth_chart(ui, by_layer, std::nullopt, cell(2)));
    scrub(ui, train, last, {{area.low.x, area.high.y - bar + ui.px(4)}, area.high});
}

}  // namespace decoderscope
