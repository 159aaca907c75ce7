#include "app/views/frame/step_colors.h"

#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <array>
#include <cmath>
#include <tuple>

namespace decoderscope::views {

namespace {

core::Coloring coloring_of(const Ui& ui, const core::Overlay& overlay) {
    return {overlay.range, overlay.scale, map_of(ui.theme, overlay.scale), ui.theme.dark};
}

constexpr std::chrono::milliseconds kPainting{5};  // of a frame

bool same_but_for_size(const core::step::PixelsWanted& a, const core::step::PixelsWanted& b) {
    return a.place == b.place && a.heads == b.heads && a.across == b.across && a.sequential == b.sequential &&
           a.dark == b.dark && a.range == b.range;
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
    draw_text(ui, ui.caption(), area.low, fitted_in_middle(ui.fonts.caption, overlay.name, room), room);
    ImGui::SetCursorScreenPos({area.high.x - ui.px(12), area.low.y});
    ImGui::PushID("overlay");
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, "×", 0)) commands.push_back(core::command::RemoveOverlay{});
    ImGui::PopID();
    tooltip(tr("Colour the strip by meaning again"));
    core::Heatmap bar;
    bar.scale = overlay.scale;
    bar.range = overlay.range;
    draw_legend(ui, bar, Legend::bar, {area.low.x, area.low.y + compat::font_size(ui.fonts.caption) + ui.px(4)},
                area.width());
}

Index stepped_pixels(float pixels) {
    Index found = 1;
    for (Index power = 1; static_cast<float>(power) <= pixels; power *= 2)
        found = static_cast<float>(power) * 1.5F <= pixels ? power + power / 2 : power;
    return found;
}

void StepTextures::begin_frame() {
    until_ = std::chrono::steady_clock::now() + kPainting;
    count_ = 0;
    wants_more_ = false;
}

StepTextures::Texture StepTextures::texture_of(const Ui& ui, const core::Session& session, const Step& step,
                                               const core::step::PixelsWanted& wanted) {
    const core::Snapshot& shown = session.shown();
    const core::Origins from = core::step::painted_from(shown.run_of(step), step);
    const std::uint64_t key = heatmap_key(what_, step.id);
    const auto found = painted_.find(step.id);
    const bool has_any = found != painted_.end();
    const bool is_new = has_any && found->second.from == from && same_but_for_size(found->second.as, wanted);
    const ImTextureID kept = has_any ? ui.textures.find(key, found->second.version) : ImTextureID();
    const bool is_sharp = is_new && found->second.as.each.width == wanted.each.width &&
                          found->second.as.each.height == wanted.each.height;
    if (kept != ImTextureID() && is_sharp) return {kept, false};
    if (count_ > 0 && std::chrono::steady_clock::now() >= until_) {
        wants_more_ = true;
        return {kept, !is_new};
    }
    ++count_;
    const auto pixels = core::step::shown_pixels(session.derived(), shown, step, wanted);
    if (!pixels) return {kept, !is_new};
    painted_.insert_or_assign(step.id, Painted{core::HeldOrigins(from), wanted, pixels.number()});
    return {ui.textures.upload(key, static_cast<int>(pixels->width), static_cast<int>(pixels->height),
                               to_imgui(pixels->colors), pixels.number()),
            false};
}

}  // namespace decoderscope::views
