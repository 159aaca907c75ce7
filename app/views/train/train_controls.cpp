#include "app/core/session/recording.h"
#include "app/core/text/numbers.h"
#include "app/views/train/train_parts.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/error.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

void begin(TrainTabState& train) {
    try {
        train.board->start(recipes_of(train.plan));
        train.error = {};
        train.at.reset();
    } catch (const Error& error) {
        train.error = error.sentence();
    }
}

void buttons(const Ui& ui, TrainTabState& train, std::span<const SeenTraining> seen) {
    if (button(seen.empty() ? tr("Train") : tr("Train anew"), "begin")) begin(train);
    if (seen.empty() || train.board->finished()) return;
    ImGui::SameLine(0, ui.px(6));
    if (train.board->paused()) {
        if (button(tr("Go on"), "go-on")) train.board->go_on();
    } else if (button(tr("Pause"), "pause")) {
        train.board->pause();
    }
    ImGui::SameLine(0, ui.px(6));
    if (button(tr("Cancel"), "cancel")) train.board->clear();
}

// How far all are, and what is kept so that every step can be returned to.
std::string progress_text(std::span<const SeenTraining> seen) {
    Index done = 0, all = 0;
    std::size_t bytes = 0, kept = 0;
    for (const SeenTraining& one : seen) {
        done += static_cast<Index>(one.history->size());
        all += one.recipe->steps;
        bytes += one.kept_bytes;
        kept += one.kept_steps;
    }
    return tr(
        "{done} of {all} steps; {kept} of them kept whole, {size}: every other one is trained again when looked at.",
        {{"done", done}, {"all", all}, {"kept", kept}, {"size", bytes_text(bytes)}});
}

// "Post-Norm, no warm-up 3.07".
float results(const Ui& ui, std::span<const SeenTraining> seen, Area area) {
    std::string text;
    for (const SeenTraining& one : seen)
        if (const std::optional<double> loss = late_loss(*one.history))
            text += (text.empty() ? "" : "   ") +
                    tr("{title}: loss {loss}", {{"title", one.recipe->title}, {"loss", short_number_text(*loss, 3)}});
    if (text.empty()) return 0.0F;
    text += "   " + tr("chance: {loss}", {{"loss", short_number_text(loss_of_chance(*seen.front().recipe), 3)}});
    return text_block(ui, ui.fonts.text, ui.theme.text, area, text);
}

}  // namespace

float draw_train_controls(const Ui& ui, TrainTabState& train, std::span<const SeenTraining> seen, Area area) {
    ImGui::SetCursorScreenPos(area.low);
    buttons(ui, train, seen);
    float y = area.low.y + ImGui::GetFrameHeight() + ui.px(6);
    const auto rest = [&] { return Area{{area.low.x, y}, area.high}; };
    if (!train.error.empty()) y += text_block(ui, ui.fonts.text, ui.theme.error, rest(), tr(train.error)) + ui.px(4);
    if (!seen.empty()) {
        y += results(ui, seen, rest()) + ui.px(2);
        y += text_block(ui, ui.fonts.caption, ui.theme.muted, rest(), progress_text(seen)) + ui.px(4);
    }
    return y - area.low.y;
}

}  // namespace decoderscope
