
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

// A chip that has been placed.
struct Chip {
    Index position = 0;
    std::string text;        // empty: padding
    std::string prediction;  // with its mark; empty: none
    float width = 0.0F;
    float left = 0.0F;   // where it was drawn
    float inset = 0.0F;  // of its text: behind the number
};

bool is_padding(const ChipRow& row, Index position) {
    return !row.mask.empty() && row.mask[static_cast<std::size_t>(position)] == 0.0F;
}

Index id_at(const ChipRow& row, Index position) {
    return static_cast<Index>(row.ids[static_cast<std::size_t>(position)]);
}

// ---- the predictions

// Right and wrong are told apart by their marks, too.
const char* mark_of(const core::generate::Prediction& prediction) {
    if (!prediction.is_judged()) return "";
    return prediction.is_right() ? "✓" : "✗";
}

ImU32 prediction_ink(const Ui& ui, const core::generate::Prediction& prediction) {
    if (!prediction.is_judged()) return ui.theme.text;
    return prediction.is_right() ? ui.theme.muted : ui.theme.error;
}

std::string predicted_text(const tokenizer::Tokenizer& tokenizer, const core::generate::Prediction& prediction) {
    return prediction.token ? core::token_text(tokenizer, *prediction.token) : "NaN";
}

const core::generate::Prediction* prediction_at(const ChipRow& row, Index position) {
    const auto at = static_cast<std::size_t>(position);
    return at < row.predictions.size() && !row.predictions[at].is_padding ? &row.predictions[at] : nullptr;
}

// ---- the chips

// The number that a chip shows: its position's.
Index number_at(const ChipRow& row, Index position) {
    return row.numbers.empty() ? position : static_cast<Index>(row.numbers[static_cast<std::size_t>(position)]);
}

// Whether another document begins here.
bool begins_document(const ChipRow& row, Index position) {
    const auto at = static_cast<std::size_t>(position);
    return position > 0 && !row.segments.empty() && row.segments[at] != row.segments[at - 1];
}

Chip chip_at(const Ui& ui, const tokenizer::Tokenizer& tokenizer, const ChipRow& row, Index position, float most) {
    ImFont* font = ui.fonts.mono_small;
    Chip chip;
    chip.position = position;
    chip.inset = ui.px(4);
    if (row.numbered) chip.inset = ui.px(2) + position_number_size(ui, number_at(row, position)).x + ui.px(5);
    if (is_padding(row, position)) {
        chip.width = std::max(ui.px(12), chip.inset);
        return chip;
    }
    chip.text = fitted(font, core::token_text(tokenizer, id_at(row, position)), most);
    if (const core::generate::Prediction* prediction = prediction_at(row, position))
        chip.prediction = mark_of(*prediction) + fitted(font, predicted_text(tokenizer, *prediction), most);
    const float text = std::max(compat::text_size(font, chip.text).x, ui.px(4));
    chip.width = std::max(chip.inset + text + ui.px(4), compat::text_size(font, chip.prediction).x + ui.px(8));
    return chip;
}

std::string note_before(Index count) { return tr_n("{count} more …", "{count} more …", count); }
std::string note_behind(Index count) { return tr_n("… {count} more", "… {count} more", count); }

bool all_fit(const Ui& ui, const tokenizer::Tokenizer& tokenizer, const ChipRow& row, float width) {
    const auto count = static_cast<Index>(row.ids.size());
    float used = 0.0F;
    for (Index at = 0; at < count && used <= width; ++at)
        used += (at > 0 ? ui.px(2) : 0.0F) + chip_at(ui, tokenizer, row, at, width * 0.5F).width;
    return used <= width;
}

// The chips that fit, from left to right. If some are left out, their count needs room.
std::vector<Chip> fitting_chips(const Ui& ui, const tokenizer::Tokenizer& tokenizer, const ChipRow& row, float width) {
    const auto count = static_cast<Index>(row.ids.size());
    const float gap = ui.px(2), note = compat::text_size(ui.fonts.caption, note_behind(count)).x + ui.px(8);
    std::vector<Chip> chips;
    float used = 0.0F;
    Index at = row.from_end ? count - 1 : std::clamp<Index>(row.first, 0, std::max<Index>(count - 1, 0));
    const bool cut_before = !row.from_end && at > 0;
    const bool whole = !cut_before && all_fit(ui, tokenizer, row, width);
    for (; at >= 0 && at < count; at += row.from_end ? -1 : 1) {
        Chip chip = chip_at(ui, tokenizer, row, at, width * 0.5F);
        const bool last = row.from_end ? at == 0 : at + 1 == count;
        const float notes = (cut_before ? note : 0.0F) + (last || whole ? 0.0F : note);
        if (used + chip.width + notes > width) break;
        used += chip.width + gap;
        chips.push_back(std::move(chip));
    }
    if (row.from_end) std::reverse(chips.begin(), chips.end());
    return chips;
}

void draw_hatched(const Ui& ui, ImDrawList& list, Area chip) {
    const ImU32 color = with_alpha(ui.theme.muted, 0.55F);
    list.PushClipRect(chip.low, chip.high, true);
    for (float x = chip.low.x - chip.height(); x < chip.high.x; x += ui.px(5))
        list.AddLine({x, chip.high.y}, {x + chip.height(), chip.low.y}, color, ui.px(1));
    list.PopClipRect();
    compat::add_rect(list, chip.low, chip.high, color, ui.px(3), ui.px(1));
}

// "“m”, id 14, position 3"
Sentence named(const tokenizer::Tokenizer& tokenizer, const ChipRow& row, Index position) {
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

void chip_tooltip(const Ui& ui, const tokenizer::Tokenizer& tokenizer, const ChipRow& row, Index position, Area chip) {
    Sentence token = named(tokenizer, row, position);
    if (const std::string unknown = characters_without_a_font(ui, tokenizer, id_at(row, position)); !unknown.empty())
        token = message("{token}; no font has {characters}", {{"token", token}, {"characters", unknown}});
    if (!begin_tooltip_beside(chip)) return;
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
    ImGui::EndTooltip();
}

// The chips of one row while they are drawn.
struct Drawing {
    const Ui& ui;
    const tokenizer::Tokenizer& tokenizer;
    const ChipRow& row;
    Area chips, predictions;  // the lines of both
    ImDrawList& list;
    float x = 0.0F;
    ChipsTouched touched = {};

    [[nodiscard]] float text_y(Area line) const {
        return line.low.y + (line.height() - compat::font_size(ui.fonts.mono_small)) * 0.5F;
    }
};

// How many tokens are left out on one side: a click scrolls there.
void note(Drawing& d, const std::string& text, Index page) {
    ImGui::SetCursorScreenPos({d.x, d.text_y(d.chips)});
    if (link(d.ui, d.ui.fonts.caption, d.ui.theme.muted, text, page < 0 ? -1 : -2)) d.touched.page = page;
    d.x += compat::text_size(d.ui.fonts.caption, text).x + d.ui.px(6);
}

// A part of a chip under the mouse.
struct Touch {
    bool hovered = false, clicked = false;
};
Touch touch(Drawing& d, Area area, const char* id, std::string_view name) {
    const bool clicked = press_at(id, area, 0, name);
    const Touch found{ImGui::IsItemHovered(), clicked && d.row.clickable};
    if (found.hovered && d.row.clickable) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    return found;
}

Area under(const Chip& chip, Area line) {
    return {{std::floor(chip.left), line.low.y}, {std::floor(chip.left + chip.width), line.high.y}};
}

void draw_prediction(Drawing& d, const Chip& chip) {
    const core::generate::Prediction* prediction = prediction_at(d.row, chip.position);
    if (prediction == nullptr) return;
    const Area at = under(chip, d.predictions);
    ImGui::PushID(static_cast<int>(chip.position));
    const Touch touched = touch(d, at, "prediction", "");
    if (touched.hovered) {
        d.list.AddRectFilled(at.low, at.high, d.ui.theme.raised, d.ui.px(3));
        d.touched.asked = chip.position;
    }
    if (touched.clicked) d.touched.clicked = chip.position;
    draw_text(d.ui, d.ui.fonts.mono_small, {at.low.x + d.ui.px(4), d.text_y(at)}, prediction_ink(d.ui, *prediction),
              chip.prediction);
    ImGui::PopID();
}

void draw_chip(Drawing& d, Chip& chip) {
    if (begins_document(d.row, chip.position)) {
        d.list.AddLine({d.x, d.chips.low.y}, {d.x, d.chips.high.y}, d.ui.theme.accent, d.ui.px(2));
        d.x += d.ui.px(4);
    }
    chip.left = d.x;
    const Area at = under(chip, d.chips);
    ImGui::PushID(static_cast<int>(chip.position));
    std::string name;  // for whoever doesn't see it
    if (noting_document() != nullptr) name = tr(named(d.tokenizer, d.row, chip.position));
    const Touch touched = touch(d, at, "chip", name);
    if (touched.clicked) d.touched.clicked = chip.position;
    if (chip.text.empty() && is_padding(d.row, chip.position))
        draw_hatched(d.ui, d.list, at);
    else
        d.list.AddRectFilled(at.low, at.high, chip_color(id_at(d.row, chip.position), d.ui.theme.dark), d.ui.px(3));
    if (d.row.lit == chip.position || (touched.hovered && d.row.clickable))
        compat::add_rect(d.list, at.low, at.high, d.ui.theme.accent, d.ui.px(3),
                         d.ui.px(d.row.lit == chip.position ? 2 : 1));
    draw_text(d.ui, d.ui.fonts.mono_small, {at.low.x + chip.inset, d.text_y(at)}, d.ui.theme.text, chip.text);
    if (touched.hovered) chip_tooltip(d.ui, d.tokenizer, d.row, chip.position, at);
    ImGui::PopID();
    d.x += chip.width + d.ui.px(2);
}

void draw_number(const Drawing& d, const Chip& chip) {
    if (!d.row.numbered) return;
    const Area at = under(chip, d.chips);
    draw_position_number(d.ui, {at.low.x + d.ui.px(2), at.high.y - position_number_size(d.ui, 0).y - d.ui.px(1)},
                         d.ui.theme.text, number_at(d.row, chip.position));
    // The token may be a digit, too: "1|9" is not 19.
    const float x = std::floor(at.low.x + chip.inset - d.ui.px(2.5F));
    d.list.AddLine({x, at.low.y + d.ui.px(3)}, {x, at.high.y - d.ui.px(3)}, with_alpha(d.ui.theme.text, 0.4F));
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

core::TokenSequence kind_of(const Sequence& sequence) {
    return sequence.source ? core::TokenSequence::source : core::TokenSequence::target;
}

// How many positions come before those that the step shows: none, but in a pass behind a cache.
Index before_step(const core::Session& session, core::TokenSequence sequence) {
    const Step& step = session.step();
    const std::optional<std::size_t> along = core::axis_over(step, sequence);
    return along ? core::positions_before(session.shown().scenario, step, *along) : 0;
}

ChipRow chips_of(const core::Session& session, const Sequence& sequence, Index row) {
    const Step& step = session.step();
    ChipRow chips = {row_of(sequence.tokens, row), row_of(sequence.mask, row), sequence.box.first_chip,
                     sequence.box.active};
    if (sequence.predictions && row < sequence.predictions->batch) chips.predictions = sequence.predictions->row(row);
    chips.numbers = row_of(sequence.positions, row);
    chips.segments = row_of(sequence.segments, row);
    const Config& config = session.shown().scenario.config();
    chips.counts_on = config.reads_positions() && chips.numbers.empty();
    chips.clickable = core::axis_over(step, kind_of(sequence)).has_value();
    if (const std::optional<Cell>& cell = session.cursor().cell)
        if (const auto position = core::position_of(step, *cell, kind_of(sequence), row))
            chips.lit = before_step(session, kind_of(sequence)) + *position;
    return chips;
}

// A click on a chip selects its position on the stage.
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

}  // namespace

ImU32 chip_color(Index id, bool dark) {
    constexpr double golden = 0.6180339887498949;  // steps of this size round the circle stay well apart
    const double turns = static_cast<double>(id) * golden;
    float r = 0.0F, g = 0.0F, b = 0.0F;
    ImGui::ColorConvertHSVtoRGB(static_cast<float>(turns - std::floor(turns)), dark ? 0.60F : 0.28F,
                                dark ? 0.42F : 0.95F, r, g, b);
    return ImGui::ColorConvertFloat4ToU32({r, g, b, 1.0F});
}

bool numbers_fit(const Ui& ui, const tokenizer::Tokenizer& tokenizer, ChipRow row, float width) {
    row.numbered = true;
    if (!row.numbers.empty() || all_fit(ui, tokenizer, row, width)) return true;
    row.numbered = false;
    return !all_fit(ui, tokenizer, row, width);
}

ChipsTouched draw_chips(const Ui& ui, const tokenizer::Tokenizer& tokenizer, const ChipRow& row, Area area) {
    std::vector<Chip> chips = fitting_chips(ui, tokenizer, row, area.width());
    if (chips.empty()) return {};
    const float middle = row.predictions.empty() ? area.high.y : std::floor((area.low.y + area.high.y) * 0.5F);
    Drawing d = {ui,
                 tokenizer,
                 row,
                 {area.low, {area.high.x, middle - ui.px(1)}},
                 {{area.low.x, middle}, {area.high.x, area.high.y - ui.px(1)}},
                 *ImGui::GetWindowDrawList(),
                 area.low.x};
    const auto page = static_cast<Index>(chips.size());
    if (const Index before = chips.front().position; before > 0) note(d, note_before(before), -page);
    for (Chip& chip : chips) draw_chip(d, chip);
    for (const Chip& chip : chips) draw_number(d, chip);
    d.x += ui.px(2);
    const Index behind = static_cast<Index>(row.ids.size()) - 1 - chips.back().position;
    if (behind > 0) note(d, note_behind(behind), page);
    if (row.predictions.empty()) return d.touched;
    draw_text(ui, ui.fonts.mono_small, {area.low.x - ui.px(13), d.text_y(d.predictions)}, ui.theme.muted, "→");
    for (const Chip& chip : chips) draw_prediction(d, chip);
    return d.touched;
}

void prediction_tooltip(const Ui& ui, const core::Session& session, std::span<const core::generate::Prediction> row,
                        Index batch, Index position) {
    const core::generate::Prediction& prediction = row[static_cast<std::size_t>(position)];
    const core::Snapshot& shown = session.shown();
    const tokenizer::Tokenizer& tokenizer = shown.scenario.tokenizer();
    const core::Value<core::generate::ShownAnswer> answer =
        core::generate::shown_answer(session.derived(), shown.run, batch, position, prediction.target);
    if (!compat::begin_tooltip()) return;
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
    ImGui::EndTooltip();
}

void draw_token_rows(const Ui& ui, const core::Session& session, const Sequence& sequence, Area area, Index lines,
                     Commands& commands) {
    InputBox& box = sequence.box;
    const Index rows = sequence.tokens.dim(0), length = sequence.tokens.dim(1);
    if (area.contains(ImGui::GetIO().MousePos) && ImGui::IsWindowHovered()) scroll(sequence, lines);
    box.first_row = std::clamp<Index>(box.first_row, 0, std::max<Index>(rows - lines, 0));
    const float pad = ImGui::GetStyle().FramePadding.y;
    const float height = line_height(ui) * (sequence.predicted ? 2.0F : 1.0F);
    const Index shown = std::min(lines, rows - box.first_row);
    std::vector<ChipRow> chip_rows;
    for (Index line = 0; line < shown; ++line) chip_rows.push_back(chips_of(session, sequence, box.first_row + line));
    const bool numbered = std::ranges::all_of(
        chip_rows, [&](const ChipRow& chips) { return numbers_fit(ui, sequence.tokenizer, chips, area.width()); });
    for (Index line = 0; line < shown; ++line) {
        const Index row = box.first_row + line;
        ChipRow& chips = chip_rows[static_cast<std::size_t>(line)];
        chips.numbered = numbered;
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

}  // namespace decoderscope::views::input
