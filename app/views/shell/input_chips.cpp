#include "app/core/step/position.h"
#include "app/views/shell/input_sequences.h"
#include "app/views/shell/prediction_tip.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/token_chips.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace decoderscope {

namespace {

void scroll(const Sequence& sequence, Index shown) {
    const ImGuiIO& io = ImGui::GetIO();
    InputBox& box = sequence.box;
    const Index rows = sequence.tokens.dim(0), length = sequence.tokens.dim(1);
    const bool sideways = rows <= shown || io.KeyShift;
    const auto by = [](float wheel, float step) { return static_cast<Index>(std::lround(wheel * step)); };
    if (!sideways) box.first_row -= by(io.MouseWheel, 1.0F);
    box.first_chip -= by(io.MouseWheelH + (sideways ? io.MouseWheel : 0.0F), 5.0F);
    box.first_chip = std::clamp<Index>(box.first_chip, 0, length - 1);
}

// One row's part of a tensor of the batch; empty if there is no such tensor.
std::span<const float> row_of(const Tensor& tensor, Index row) {
    const auto length = static_cast<std::size_t>(tensor.empty() ? 0 : tensor.dim(1));
    return tensor.empty() ? std::span<const float>()
                          : tensor.values().subspan(static_cast<std::size_t>(row) * length, length);
}

TokenSequence kind_of(const Sequence& sequence) {
    return sequence.source ? TokenSequence::source : TokenSequence::target;
}

ChipRow chips_of(const Session& session, const Sequence& sequence, Index row) {
    const Step& step = session.step();
    ChipRow chips = {row_of(sequence.tokens, row), row_of(sequence.mask, row), sequence.box.first_chip,
                     sequence.box.active};
    if (sequence.predictions && row < sequence.predictions->batch) chips.predictions = sequence.predictions->row(row);
    chips.clickable = axis_over(step, kind_of(sequence)).has_value();
    if (const std::optional<Cell>& cell = session.cursor().cell)
        chips.lit = position_of(step, *cell, kind_of(sequence), row);
    return chips;
}

// A click on a chip selects its position on the stage.
void select(const Session& session, const TokenPosition& at, Commands& commands) {
    const Step& step = session.step();
    const Cursor& cursor = session.cursor();
    const auto cell = cell_at_position(session.shown().run_of(step), step, at, cursor.place, cursor.cell,
                                       session.shown().scenario.config().nhead);
    if (!cell) return;
    if (at.batch != cursor.place.batch) commands.push_back(command::ChooseBatch{at.batch});
    commands.push_back(command::SelectCell{*cell});
}

}  // namespace

void draw_token_rows(const Ui& ui, const Session& session, const Sequence& sequence, Area area, Index lines,
                     Commands& commands) {
    InputBox& box = sequence.box;
    const Index rows = sequence.tokens.dim(0), length = sequence.tokens.dim(1);
    if (area.contains(ImGui::GetIO().MousePos) && ImGui::IsWindowHovered()) scroll(sequence, lines);
    box.first_row = std::clamp<Index>(box.first_row, 0, std::max<Index>(rows - lines, 0));
    const float pad = ImGui::GetStyle().FramePadding.y;
    const float height = line_height(ui) * (sequence.predicted ? 2.0F : 1.0F);
    for (Index line = 0; line < std::min(lines, rows - box.first_row); ++line) {
        const Index row = box.first_row + line;
        const ChipRow chips = chips_of(session, sequence, row);
        const float y = area.low.y + pad + static_cast<float>(line) * height;
        // Where the predictions aren't known yet, their line stays free.
        const float below = chips.predictions.empty() ? y + line_height(ui) : y + height;
        ImGui::PushID(static_cast<int>(row));
        const ChipsTouched touched =
            draw_chips(ui, sequence.tokenizer, chips, {{area.low.x, y}, {area.high.x, below - ui.px(1)}});
        ImGui::PopID();
        if (touched.clicked) select(session, {kind_of(sequence), row, *touched.clicked}, commands);
        if (touched.asked) prediction_tooltip(ui, session, chips.predictions, row, *touched.asked);
        box.first_chip = std::clamp<Index>(box.first_chip + touched.page, 0, length - 1);
    }
}

}  // namespace decoderscope
