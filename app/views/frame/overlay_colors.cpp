#include "app/views/frame/overlay_colors.h"

#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <array>
#include <cmath>
#include <memory>
#include <tuple>

namespace decoderscope::views {

namespace {

core::Coloring coloring_of(const Ui& ui, const core::Overlay& overlay) {
    return {overlay.range, overlay.scale, map_of(ui.theme, overlay.scale), ui.theme.dark};
}

}  // namespace

StepColors::StepColors(const Ui& ui, const core::Session& session) : session_(session), grey_(ui.theme.line) {
    const std::shared_ptr<const core::Overlay>& overlay = session.overlay();
    if (!overlay) return;
    coloring_ = coloring_of(ui, *overlay);
    const std::shared_ptr<const Run>& run = session.shown().run;
    numbers_ = session.derived().get<Numbers>({run, overlay}, std::tuple<>(), [&] {
        Numbers numbers;
        for (const Step& step : run->plan().steps()) {
            const core::OverlayValue* number = core::number_of(*overlay, step.name);
            numbers.all.push_back(number == nullptr ? std::nullopt : std::optional(number->value));
        }
        return numbers;
    });
}

ImU32 StepColors::of(const Step& step) const { return of(std::array{step.id}, step.meaning); }

ImU32 StepColors::of(std::span<const StepId> steps, Meaning meaning) const {
    if (!coloring_) return color_of(meaning);
    std::optional<float> largest;
    for (const StepId step : steps)
        if (const std::optional<float> number = numbers_->all[step])
            if (!largest || std::fabs(*number) > std::fabs(*largest)) largest = number;
    return largest ? to_imgui((*coloring_)(*largest)) : grey_;
}

ImU32 StepColors::of(const std::string& block, std::span<const StepId> steps, Meaning meaning) const {
    if (coloring_)
        if (const auto own = core::values_of(*session_.overlay(), block); !own.empty() && own.front().cell.empty())
            return to_imgui((*coloring_)(own.front().value));
    return of(steps, meaning);
}

std::vector<ColoredCell> colored_cells(const Ui& ui, const core::Session& session, const Step& step,
                                       const core::Slice& slice) {
    std::vector<ColoredCell> cells;
    if (!session.overlay()) return cells;
    const core::Coloring coloring = coloring_of(ui, *session.overlay());
    for (const core::OverlayValue& one : core::values_of(*session.overlay(), step.name)) {
        if (one.cell.size() != step.axes.size()) continue;  // of another model
        const auto at = slice.find(one.cell);
        if (at && at->first < slice.rows() && at->second < slice.columns())
            cells.push_back({at->first, at->second, to_imgui(coloring(one.value))});
    }
    return cells;
}

float overlay_legend_height(const Ui& ui) {
    return compat::font_size(ui.fonts.caption) + compat::font_size(ui.fonts.mono_small) + ui.px(14);
}

void draw_overlay_legend(const Ui& ui, const core::Overlay& overlay, Area area, Commands& commands) {
    const float room = area.width() - ui.px(18);
    draw_text(ui, ui.fonts.caption, area.low, ui.theme.text, fitted_in_middle(ui.fonts.caption, overlay.name, room),
              room);
    ImGui::SetCursorScreenPos({area.high.x - ui.px(12), area.low.y});
    ImGui::PushID("overlay");
    if (link(ui, ui.fonts.caption, ui.theme.accent, "×", 0)) commands.push_back(core::command::RemoveOverlay{});
    ImGui::PopID();
    tooltip(tr("Colour the strip by meaning again"));
    core::Heatmap bar;
    bar.scale = overlay.scale;
    bar.range = overlay.range;
    draw_legend(ui, bar, Legend::bar, {area.low.x, area.low.y + compat::font_size(ui.fonts.caption) + ui.px(4)},
                area.width());
}

}  // namespace decoderscope::views
