
#include "app/core/run/cursor.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/input/input_bar.h"
#include "app/views/widgets/frame_document.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::input {

namespace {

// One row of a batch.
struct Row {
    std::span<const float> ids;
    std::span<const float> mask;  // 0 = padding; empty: no padding
    // What the model predicts at each position; empty: nothing.
    std::span<const core::generate::Prediction> predictions = {};
    std::optional<Index> lit = {};  // the position that is selected
    bool clickable = false;         // a click selects a position
    // What the run numbers the positions by, and the document of each; empty: each place counts, and all are one
    // document.
    std::span<const float> numbers = {}, segments = {};
    bool counts_on = false;  // a document's positions follow those of the one before it
};

bool is_padding(const Row& row, Index position) {
    return !row.mask.empty() && row.mask[static_cast<std::size_t>(position)] == 0.0F;
}

Index id_at(const Row& row, Index position) { return static_cast<Index>(row.ids[static_cast<std::size_t>(position)]); }

// Whether another document begins here.
bool begins_document(const Row& row, Index position) {
    const auto at = static_cast<std::size_t>(position);
    return position > 0 && !row.segments.empty() && row.segments[at] != row.segments[at - 1];
}

const core::generate::Prediction* prediction_at(const Row& row, Index position) {
    const auto at = static_cast<std::size_t>(position);
    return at < row.predictions.size() && !row.predictions[at].is_padding ? &row.predictions[at] : nullptr;
}

// "“m”, id 14, position 3"
Sentence named(const tokenizer::Tokenizer& tokenizer, const Row& row, Index position) {
    const Index id = id_at(row, position);
    if (!tokenizer.has_piece(id)) return message("id {id}, position {position}", {{"id", id}, {"position", position}});
    const std::string piece = tokenizer.piece(id);
    const bool bytes =
        core::valid_utf8(piece) != piece || std::any_of(piece.begin(), piece.end(), [](char c) { return c < ' '; });
    const Arguments arguments = {{"piece", core::token_text(piece)},
                                 {"id", id},
                                 {"position", position},
                                 {"bytes", core::hexadecimal(piece, " ")}};
    return bytes ? message("“{piece}”, bytes{bytes}, id {id}, position {position}", arguments)
                 : message("“{piece}”, id {id}, position {position}", arguments);
}

// The characters of a token that no font has, by their code points; empty if there are none.
std::string characters_without_a_font(const Ui& ui, const tokenizer::Tokenizer& tokenizer, Index id) {
    std::string unknown;
    for (const core::Utf8Character& character :
         core::characters(tokenizer.has_piece(id) ? tokenizer.piece(id) : std::string()))
        if (std::ranges::find(ui.fonts.missing, character.code) != ui.fonts.missing.end())
            unknown += (unknown.empty() ? "" : ", ") + core::code_point_text(character.code);
    return unknown;
}

// What is known of a token, before what is predicted after it.
void token_lines(const Ui& ui, const tokenizer::Tokenizer& tokenizer, const Row& row, Index position) {
    Sentence token = named(tokenizer, row, position);
    if (const std::string unknown = characters_without_a_font(ui, tokenizer, id_at(row, position)); !unknown.empty())
        token = message("{token}; no font has {characters}", {{"token", token}, {"characters", unknown}});
    text_line(ui.fonts.text, ui.theme.text,
              is_padding(row, position) ? tr("{token}; padding, hidden by the mask", {{"token", token}}) : tr(token));
    const auto at = static_cast<std::size_t>(position);
    if (!row.numbers.empty())
        text_line(
            ui.fonts.caption, ui.theme.muted,
            tr("Its position counts as {number}", {{"number", short_number(static_cast<double>(row.numbers[at]))}}));
    if (!row.segments.empty())
        text_line(ui.fonts.caption, ui.theme.muted,
                  tr("Document {number} of this row", {{"number", static_cast<Index>(row.segments[at])}}));
    if (row.counts_on && begins_document(row, position))
        text_line(ui.fonts.caption, ui.theme.muted,
                  tr("Positions count on from the document before: positions = from_segments begins at 0 again"));
    if (row.clickable) text_line(ui.fonts.caption, ui.theme.muted, tr("Click: select this position on the stage"));
}

std::string percent(double probability) { return core::short_number_text(probability, 4); }

// "“r”  0.9987"
std::string answer_text(const tokenizer::Tokenizer& tokenizer, const core::generate::Answer& answer) {
    return "“" + core::token_text(tokenizer, answer.token) + "”  " + percent(answer.probability);
}

std::string verdict(const tokenizer::Tokenizer& tokenizer, const core::generate::Prediction& prediction,
                    const core::generate::ShownAnswer& answer) {
    if (!prediction.token && prediction.is_judged()) return tr("✗ wrong: a logit is NaN, so nothing is predicted");
    if (!prediction.is_judged() || !answer.target) return tr("Nothing follows here to compare it with.");
    const Arguments target = {{"token", core::token_text(tokenizer, answer.target->token)},
                              {"probability", percent(answer.target->probability)}};
    return prediction.is_right() ? tr(message("✓ right: “{token}” follows", target))
                                 : tr(message("✗ wrong: “{token}” follows, with probability {probability}", target));
}

// One row's part of a tensor of the batch; empty if there is no such tensor.
std::span<const float> row_of(const Tensor& tensor, Index row) {
    const auto length = static_cast<std::size_t>(tensor.empty() ? 0 : tensor.dim(1));
    return tensor.empty() ? std::span<const float>()
                          : tensor.values().subspan(static_cast<std::size_t>(row) * length, length);
}

core::TokenSequence kind_of(const Sequence& sequence) {
    return sequence.source ? core::TokenSequence::source : core::TokenSequence::target;
}

// How many positions come before those that the step shows: none, but in a pass behind a cache.
Index before_step(const core::Session& session, core::TokenSequence sequence) {
    const Step& step = session.step();
    const std::optional<std::size_t> along = core::axis_over(step, sequence);
    return along ? core::positions_before(session.shown().scenario, step, *along) : 0;
}

Row shown_row(const core::Session& session, const Sequence& sequence, Index number) {
    Row row = {row_of(sequence.tokens, number), row_of(sequence.mask, number)};
    if (sequence.predictions && number < sequence.predictions->batch)
        row.predictions = sequence.predictions->row(number);
    row.numbers = row_of(sequence.positions, number);
    row.segments = row_of(sequence.segments, number);
    row.counts_on = session.shown().scenario.config().reads_positions() && row.numbers.empty();
    row.clickable = core::axis_over(session.step(), kind_of(sequence)).has_value();
    if (const std::optional<Cell>& cell = session.cursor().cell)
        if (const auto position = core::position_of(session.step(), *cell, kind_of(sequence), number))
            row.lit = before_step(session, kind_of(sequence)) + *position;
    return row;
}

// A click on a token selects its position on the stage.
void select(const core::Session& session, core::TokenPosition at, Commands& commands) {
    at.position -= before_step(session, at.sequence);
    const Step& step = session.step();
    const core::Cursor& cursor = session.cursor();
    const auto cell = core::cell_at_position(session.shown().run_of(step), step, at, cursor.place, cursor.cell,
                                             session.shown().scenario.query_heads());
    if (!cell) return;
    if (at.batch != cursor.place.batch) commands.push_back(core::command::ChooseBatch{at.batch});
    commands.push_back(core::command::SelectCell{*cell});
}

// Whether a token isn't in the text: <bos>, <pad>.
bool is_unwritten(const tokenizer::Tokenizer& tokenizer, Index id) {
    return tokenizer.has_piece(id) && tokenizer.can_encode() && tokenizer.decode(std::span(&id, 1)).empty();
}

// How wide each token is under its text; tokens that the text doesn't have, such as <bos>, are as wide as a character.
std::vector<float> widths_of(const Ui& ui, const Sequence& sequence, const Row& row) {
    const float one = compat::text_size(ui.fonts.mono, "0").x;
    std::vector<float> widths;
    for (Index at = 0; at < static_cast<Index>(row.ids.size()); ++at) {
        const Index id = id_at(row, at);
        const bool in_text = !is_padding(row, at) && !is_unwritten(sequence.tokenizer, id);
        const std::string text = sequence.box.ids ? std::to_string(id) + " " : core::token_text(sequence.tokenizer, id);
        widths.push_back(in_text ? std::max(compat::text_size(ui.fonts.mono, text).x, one * 0.5F) : one * 0.7F);
    }
    return widths;
}

}  // namespace

ImU32 chip_color(Index id, bool dark) {
    constexpr double golden = 0.6180339887498949;  // steps of this size round the circle stay well apart
    const double turns = static_cast<double>(id) * golden;
    float r = 0.0F, g = 0.0F, b = 0.0F;
    ImGui::ColorConvertHSVtoRGB(static_cast<float>(turns - std::floor(turns)), dark ? 0.60F : 0.28F,
                                dark ? 0.42F : 0.95F, r, g, b);
    return ImGui::ColorConvertFloat4ToU32({r, g, b, 1.0F});
}

void prediction_lines(const Ui& ui, const core::Session& session, std::span<const core::generate::Prediction> row,
                      Index batch, Index position) {
    const core::generate::Prediction& prediction = row[static_cast<std::size_t>(position)];
    const core::Snapshot& shown = session.shown();
    const tokenizer::Tokenizer& tokenizer = shown.scenario.tokenizer();
    const core::Value<core::generate::ShownAnswer> answer =
        core::generate::shown_answer(session.derived(), shown.run, batch, position, prediction.target);
    text_line(ui.fonts.caption, ui.theme.muted,
              tr("after position {position} the model predicts", {{"position", position}}));
    for (const core::generate::Answer& likely : answer->likely)
        text_line(ui.fonts.mono_small, ui.theme.text, answer_text(tokenizer, likely));
    text_line(ui.fonts.caption, ui.theme.muted, verdict(tokenizer, prediction, *answer));
    if (shown.unedited != shown.run) {
        const core::Value<core::generate::ShownAnswer> before =
            core::generate::shown_answer(session.derived(), shown.unedited, batch, position, prediction.target);
        if (!before->likely.empty())
            text_line(ui.fonts.caption, ui.theme.muted,
                      tr("without edits {answer}", {{"answer", answer_text(tokenizer, before->likely.front())}}));
    }
}

void draw_token_colors(const Ui& ui, const core::Session& session, const Sequence& sequence, Area area,
                       Commands& commands) {
    const Index number = sequence.box.first_row;
    if (number >= sequence.tokens.dim(0)) return;
    const Row row = shown_row(session, sequence, number);
    std::vector<float> widths = widths_of(ui, sequence, row);
    // What comes before the text stands before it; a text that is longer than its field is drawn narrower.
    float x = area.low.x, all = 0.0F;
    for (const float width : widths) all += width;
    std::size_t before = 0;
    while (before < widths.size() && is_unwritten(sequence.tokenizer, id_at(row, static_cast<Index>(before)))) ++before;
    const float inset = ImGui::GetStyle().FramePadding.x;
    if (before > 0 && before < widths.size()) {
        const float room = (inset - ui.px(2)) / static_cast<float>(before);
        for (std::size_t i = 0; i < before; ++i) {
            all += room - widths[i];
            widths[i] = room;
        }
        x -= inset - ui.px(2);
    }
    const float fit = std::min((area.high.x - x) / std::max(all, 1.0F), 1.0F);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const auto position = static_cast<Index>(i);
        const float end = x + widths[i] * fit;
        const Area box = {{x, area.low.y}, {std::max(end - 1.0F, x + 1.0F), area.high.y}};
        x = end;
        std::string name;  // for whoever doesn't see it
        if (noting_document() != nullptr) name = tr(named(sequence.tokenizer, row, position));
        const bool pressed = press_at("token", box, position, name);
        const bool hovered = ImGui::IsItemHovered();
        const float high = hovered || row.lit == position ? 6.0F : 4.0F;
        const ImU32 color =
            is_padding(row, position) ? ui.theme.line : chip_color(id_at(row, position), !ui.theme.dark);
        const float top = box.low.y + ui.px(1);
        list.AddRectFilled({box.low.x, top}, {box.high.x, top + ui.px(high)},
                           row.lit == position ? ui.theme.accent : color);
        const core::generate::Prediction* prediction = prediction_at(row, position);
        if (prediction != nullptr && prediction->is_judged() && !prediction->is_right())
            list.AddRectFilled({box.low.x, top + ui.px(high)}, {box.high.x, top + ui.px(high + 2)}, ui.theme.error);
        if (pressed && row.clickable) select(session, {kind_of(sequence), number, position}, commands);
        if (!hovered || !begin_tooltip_beside(box)) continue;
        token_lines(ui, sequence.tokenizer, row, position);
        if (prediction != nullptr) prediction_lines(ui, session, row.predictions, number, position);
        ImGui::EndTooltip();
    }
}

}  // namespace decoderscope::views::input
