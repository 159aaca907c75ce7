// Activation patching: how much of a difference comes back with each row of another run.
#include "app/core/text/labels.h"
#include "app/views/causes/causes_parts.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <tuple>

namespace decoderscope {

namespace {

struct PatchingPictures {
    Heatmap encoder, decoder;
    std::vector<std::string> encoder_steps, decoder_steps;
    std::uint64_t number = 0;
};

void say_cell(const Ui& ui, const Heatmap& heatmap, const HeatmapGesture& gesture, const std::string& step) {
    if (!begin_tooltip_beside(gesture.cell)) return;
    const auto [row, column] = *gesture.hovered;
    text_line(ui.fonts.mono_small, ui.theme.text, step);
    text_line(ui.fonts.caption, ui.theme.muted,
              tr("position {position} “{token}”",
                 {{"position", column}, {"token", heatmap.column_labels[static_cast<std::size_t>(column)]}}));
    text_line(ui.fonts.text, ui.theme.text,
              tr("{share} of the difference comes back",
                 {{"share", cause_text(static_cast<double>(heatmap.at(row, column)))}}));
    text_line(ui.fonts.caption, ui.theme.muted, tr("Click to go there"));
    ImGui::EndTooltip();
}

void draw_picture(const Ui& ui, ViewState& state, const Heatmap& heatmap, const std::vector<std::string>& steps,
                  std::uint64_t key, std::uint64_t version, Area area, Commands& commands) {
    const HeatmapGesture gesture = draw_heatmap(ui,
                                                {.heatmap = heatmap,
                                                 .key = key,
                                                 .version = version,
                                                 .color = color_of(Meaning::residual),
                                                 .legend = Legend::bar,
                                                 .grid = true},
                                                state.viewports[key], area);
    if (gesture.hovered) say_cell(ui, heatmap, gesture, steps[static_cast<std::size_t>(gesture.hovered->first)]);
    if (gesture.clicked) commands.push_back(command::GoTo{steps[static_cast<std::size_t>(gesture.clicked->first)]});
}

}  // namespace

void draw_patching(const Ui& ui, const Session& session, ViewState& state, const ResolvedNumber& number, Area area,
                   Commands& commands) {
    CausesTabState& causes = state.lab<CausesTabState>();
    const Snapshot& shown = session.shown();
    if (causes.stopped == number.number) {
        ImGui::SetCursorScreenPos(area.low);
        if (button(tr("Measure"), "measure-patching")) causes.stopped.reset();
        return;
    }
    const Value<ShownPatching> measured =
        shown_patching(session.derived(), shown, number, causes.other, causes.every_step, causes.patching);
    if (!measured) {
        if (draw_causes_progress(ui, *causes.patching, area)) causes.stopped = number.number;
        return;
    }
    if (!measured->error.empty()) {
        text_block(ui, ui.fonts.text, ui.theme.muted, area, tr(measured->error));
        return;
    }
    area.low.y +=
        text_block(ui, ui.fonts.text, ui.theme.text, area, tr(patching_sentence(measured->patching, number))) +
        ui.px(8);
    if (measured->patching.steps.empty()) return;
    const Value<PatchingPictures> pictures =
        session.derived().get<PatchingPictures>({shown.run}, std::make_tuple(measured.number()), [&] {
            const Patching& patching = measured->patching;
            PatchingPictures made;
            made.encoder = patching_heatmap(shown.scenario, *shown.run, patching, true, number.batch);
            made.decoder = patching_heatmap(shown.scenario, *shown.run, patching, false, number.batch);
            made.encoder.title = tr("Encoder");
            made.decoder.title = tr("Decoder");
            made.encoder_steps = patched_steps(*shown.run, patching, true);
            made.decoder_steps = patched_steps(*shown.run, patching, false);
            return made;
        });
    constexpr std::uint64_t kKey = 0xCA05E510;
    if (pictures->encoder.rows == 0)
        return draw_picture(ui, state, pictures->decoder, pictures->decoder_steps, kKey, measured.number(), area,
                            commands);
    const float half = std::floor((area.width() - ui.px(16)) * 0.5F);
    draw_picture(ui, state, pictures->encoder, pictures->encoder_steps, kKey + 1, measured.number(),
                 {area.low, {area.low.x + half, area.high.y}}, commands);
    draw_picture(ui, state, pictures->decoder, pictures->decoder_steps, kKey, measured.number(),
                 {{area.high.x - half, area.low.y}, area.high}, commands);
}

}  // namespace decoderscope
