#include "app/core/compare/norm_rows.h"
#include "app/core/run/labels.h"
#include "app/core/tabs/step/row_reading.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/core/tabs/step/vector_reading.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/views/inspector/inspector.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"
#include "engine/graph/explanation.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::inspector {

namespace {

std::string number(double value) { return core::short_number_text(value, 3); }
// A row of zeros has no direction.
std::string cosine(double value) { return std::isnan(value) ? "–" : number(value); }

std::string token_text(const core::Session& session, Index token) {
    return tr("“{token}”", {{"token", core::printable(session.shown().scenario.tokenizer().piece(token))}});
}

// "“r” 1.23, “a” 0.4".
std::string moves_text(const core::Session& session, const std::vector<core::step::TokenMove>& moves) {
    std::string text;
    for (const core::step::TokenMove& move : moves)
        text += (text.empty() ? "" : ", ") + token_text(session, move.token) + " " + number(move.logit);
    return text;
}

// "12: −1.3, 5: 0.91".
std::string components_text(const core::step::VectorReading& reading) {
    std::string text;
    for (const auto& [at, value] : reading.largest)
        text += (text.empty() ? "" : ", ") + std::to_string(at) + ": " + number(value);
    return text;
}

// ---- the chosen row

void describe_row(const Ui& ui, const core::Session& session, const core::step::VectorTable& table,
                  const core::step::VectorReading& row) {
    paragraph(ui.caption(), tr("Length {length}", {{"length", number(row.length)}}));
    if (row.along_stream)
        paragraph(ui.caption(), tr("Cosine with the residual stream that it is added to, {stream}: {cosine}",
                                   {{"stream", table.stream}, {"cosine", cosine(*row.along_stream)}}));
    if (row.along_logit)
        paragraph(ui.caption(),
                  tr("Cosine with the head's row of the predicted {token}: {cosine}",
                     {{"token", token_text(session, *row.predicted)}, {"cosine", cosine(*row.along_logit)}}));
    paragraph(ui.caption(), tr("Largest components {components}", {{"components", components_text(row)}}));
    if (!row.to_predicted) return;
    paragraph(ui.caption(), tr("Adds {logit} to the logit of {token}",
                               {{"logit", number(*row.to_predicted)}, {"token", token_text(session, *row.predicted)}}));
    if (!row.up.empty()) paragraph(ui.caption(), tr("Raises {tokens}", {{"tokens", moves_text(session, row.up)}}));
    if (!row.down.empty()) paragraph(ui.caption(), tr("Lowers {tokens}", {{"tokens", moves_text(session, row.down)}}));
    paragraph(ui.note(),
              tr("Directly, past all later sublayers: through the norms on the residual stream, with their scales "
                 "frozen, and the language head."));
}

// ---- q, k and v of one token

void describe_beside(const Ui& ui, const core::Session& session, const std::vector<Ref>& beside, Index row) {
    const core::Place place = session.cursor().place;
    for (const Ref step : beside) {
        const auto table = core::step::shown_vectors(session.derived(), session.shown(), *step, place, -1);
        if (!table || row >= static_cast<Index>(table->rows.size())) continue;
        const core::step::VectorReading& reading = table->rows[static_cast<std::size_t>(row)];
        paragraph({ui.fonts.mono_small, ink_of(step->meaning, ui.theme)}, step->name);
        paragraph(ui.caption(), tr("Length {length}", {{"length", number(reading.length)}}));
        paragraph(ui.caption(), tr("Largest components {components}", {{"components", components_text(reading)}}));
    }
}

// ---- all rows

struct Column {
    Phrase title;
    Phrase explained;
    float width;
    std::string (*text)(const core::Session&, const core::step::VectorReading&);
};

const std::array<Column, 5>& columns() {
    static const std::array<Column, 5> all = {
        Column{message("length"), message("The row's length (L2)"), 52,
               [](const core::Session&, const core::step::VectorReading& row) { return number(row.length); }},
        Column{message("cos stream"), message("Cosine with the residual stream that the row is added to"), 68,
               [](const core::Session&, const core::step::VectorReading& row) {
                   return row.along_stream ? cosine(*row.along_stream) : "";
               }},
        Column{message("cos logit"), message("Cosine with the head's row of the predicted token"), 60,
               [](const core::Session&, const core::step::VectorReading& row) {
                   return row.along_logit ? cosine(*row.along_logit) : "";
               }},
        Column{message("adds"), message("What the row adds to the logit of the predicted token"), 52,
               [](const core::Session&, const core::step::VectorReading& row) {
                   return row.to_predicted ? number(*row.to_predicted) : "";
               }},
        Column{message("up"), message("The token whose logit the row raises most"), 44,
               [](const core::Session& session, const core::step::VectorReading& row) {
                   return row.up.empty() ? std::string() : token_text(session, row.up.front().token);
               }},
    };
    return all;
}

// The columns that have something to say in some row, as many as there is room for.
std::vector<const Column*> columns_of(const Ui& ui, const core::Session& session, const core::step::VectorTable& table,
                                      float room) {
    std::vector<const Column*> shown;
    for (const Column& column : columns()) {
        const bool says = std::ranges::any_of(
            table.rows, [&](const core::step::VectorReading& row) { return !column.text(session, row).empty(); });
        room -= says ? ui.px(column.width) : 0.0F;
        if (says && room >= 0.0F) shown.push_back(&column);
    }
    return shown;
}

// Ends a text at this x; it is cut if it is wider than its column.
void text_until(ImFont* font, ImU32 color, float x, float y, float width, const std::string& text) {
    const std::string shown = fitted(font, text, width);
    ImGui::SetCursorPos({x - compat::text_size(font, shown).x, y});
    text_line({font, color}, shown);
}

void list_rows(const Ui& ui, const core::Session& session, const Step& step, const core::step::VectorTable& table,
               const core::Slice& slice, std::optional<Index> chosen, Commands& commands) {
    const float left = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
    const float label = std::min(ui.px(72), room * 0.35F);
    const std::vector<const Column*> shown = columns_of(ui, session, table, room - label);
    const auto names =
        core::step::shown_row_names(session.derived(), session.shown(), step, session.cursor().place.batch);
    const float pitch = compat::font_size(ui.fonts.mono_small) + ui.px(4);
    // The tokens, which come last, have what is left.
    const auto each_column = [&](const auto& draw) {
        float x = left + label;
        for (const Column* column : shown) {
            const float width = column == &columns().back() ? left + room - x : ui.px(column->width);
            draw(*column, x += width, width - ui.px(6));
        }
    };
    float y = ImGui::GetCursorPosY() + ui.px(4);
    each_column([&](const Column& column, float x, float width) {
        text_until(ui.fonts.caption, ui.theme.muted, x, y, width, tr(column.title));
        tooltip(tr(column.explained));
    });
    ImGui::SetCursorPosY(y + pitch);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(table.rows.size()), pitch);
    while (clipper.Step()) {
        y = ImGui::GetCursorPosY();
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i, y += pitch) {
            const core::step::VectorReading& row = table.rows[static_cast<std::size_t>(i)];
            const bool is_chosen = chosen == row.row;
            ImGui::SetCursorPos({left, y});
            const std::string name = fitted(ui.fonts.caption, names->number(0, row.row), label - ui.px(4));
            if (link(ui, {ui.fonts.caption, is_chosen ? ui.theme.text : ui.theme.accent}, name, i))
                commands.push_back(core::command::SelectCell{slice.cell(row.row, row.largest.front().first)});
            each_column([&](const Column& column, float x, float width) {
                text_until(ui.fonts.mono_small, is_chosen ? ui.theme.text : ui.theme.muted, x, y, width,
                           column.text(session, row));
            });
        }
    }
    clipper.End();
    ImGui::Dummy({1, ui.px(2)});
}

// The table of the step's rows, and which of them is selected.
struct Shown {
    core::Slice slice;
    std::optional<Index> chosen;
    core::Value<core::step::VectorTable> table;  // empty while it is being measured
};

// Nothing for steps that hold no vectors.
std::optional<Shown> shown_rows(const core::Session& session) {
    const Step& step = session.step();
    const core::Snapshot& shown = session.shown();
    if (!core::step::holds_vectors(step) || shown.run->value(step.id).empty()) return std::nullopt;
    Shown rows{core::slice_of(step, session.cursor().place, shown.scenario.query_heads()), std::nullopt, {}};
    if (const std::optional<Cell>& cell = session.cursor().cell)
        if (const auto at = rows.slice.find(*cell)) rows.chosen = at->first;
    rows.table =
        core::step::shown_vectors(session.derived(), shown, step, session.cursor().place, rows.chosen.value_or(-1));
    return rows;
}

// What the norm finds in the row and divides it by.
std::string moments_text(const core::norms::NormRow& row) {
    const Arguments numbers = {
        {"mean", short_number(row.mean)}, {"variance", short_number(row.variance)}, {"scale", short_number(row.scale)}};
    return tr(row.centred ? message("Mean {mean}, variance {variance}, scale {scale}", numbers)
                          : message("Mean square {variance}, scale {scale}", numbers));
}

// What it does to one column.
std::string column_text(const core::norms::NormRow& row, std::size_t column) {
    const auto of = [&](const std::vector<float>& values) {
        return values.empty() ? std::string("0") : short_number(static_cast<double>(values[column]));
    };
    const Arguments numbers = {{"column", column},      {"x", of(row.before)},  {"mean", short_number(row.mean)},
                               {"unit", of(row.unit)},  {"gain", of(row.gain)}, {"shift", of(row.shift)},
                               {"value", of(row.after)}};
    if (row.centred)
        return tr(
            message("d_model {column}: {x} minus the mean, divided by the scale, is {unit}; times the gain {gain}, "
                    "plus the shift {shift}, is {value}",
                    numbers));
    return tr(
        message("d_model {column}: {x} divided by the scale is {unit}; times the gain {gain} is {value}", numbers));
}

std::string short_name(const std::string& weight) {
    constexpr std::string_view kEnd = ".weight";
    std::string name = weight.ends_with(kEnd) ? weight.substr(0, weight.size() - kEnd.size()) : weight;
    return name.substr(name.rfind('.') + 1);
}

// "q_proj: its weights make 9.87 of the score, its bias 0.36", and the largest, each a link to the weight.
void list_projection(const Ui& ui, const core::step::ProjectionParts& parts, int id, Commands& commands) {
    const Arguments numbers = {{"projection", short_name(parts.weight)},
                               {"sum", short_number(parts.sum)},
                               {"bias", short_number(parts.of_bias)}};
    paragraph(
        ui.caption(),
        parts.bias.empty()
            ? tr(message("{projection}: its weights make {sum} of the score. The largest:", numbers))
            : tr(message("{projection}: its weights make {sum} of the score, its bias {bias}. The largest:", numbers)));
    for (std::size_t i = 0; i < parts.largest.size(); ++i) {
        const core::step::WeightPart& part = parts.largest[i];
        const std::string name = cell_name(short_name(parts.weight), part.cell);
        if (link(ui, {ui.fonts.mono_small, ui.theme.accent}, name, id + static_cast<int>(i)))
            commands.push_back(core::command::Follow{parts.weight, part.cell});
        tooltip(cell_name(parts.weight, part.cell).c_str());
        at_right_edge(ui, ui.number(), short_number(part.value));
    }
}

// The score of the selected cell, if it is one.
std::optional<core::step::ScoreCell> selected_score(const core::Session& session) {
    const std::optional<Cell>& cell = session.cursor().cell;
    const core::Snapshot& shown = session.shown();
    if (!cell || !shown.scenario.computes()) return std::nullopt;
    return core::step::score_of(shown.run->plan(), session.step(), *cell);
}

// How many keys are listed for a row of z: those whose values make most of it.
constexpr std::size_t kMostParts = 2;

// One sentence after the other.
Sentence and_then(const Sentence& first, const Sentence& second) {
    if (second.empty()) return first;
    if (first.empty()) return second;
    return message("{first} {second}", {{"first", first}, {"second", second}});
}

}  // namespace

void inspect_vector(const Ui& ui, const core::Session& session) {
    const std::optional<Shown> rows = shown_rows(session);
    if (!rows || !rows->chosen) return;
    const Step& step = session.step();
    section_heading(ui, tr("This row as a vector"));
    if (!rows->table || *rows->chosen >= static_cast<Index>(rows->table->rows.size()))
        return text_line(ui.note(), tr("Measuring …"));
    const std::vector<Ref> beside = core::step::vectors_beside(session.shown().run->plan(), step);
    if (beside.empty())
        describe_row(ui, session, *rows->table, rows->table->rows[static_cast<std::size_t>(*rows->chosen)]);
    else
        describe_beside(ui, session, beside, *rows->chosen);
    section_line(ui);
}

void list_vectors(const Ui& ui, const core::Session& session, Commands& commands) {
    const std::optional<Shown> rows = shown_rows(session);
    if (!rows) return;
    section_heading(ui, tr("All rows as vectors"));
    if (!rows->table) return text_line(ui.note(), tr("Measuring …"));
    list_rows(ui, session, session.step(), *rows->table, rows->slice, rows->chosen, commands);
}

void inspect_norm(const Ui& ui, const core::Session& session) {
    const Step& step = session.step();
    const Cell& cell = *session.cursor().cell;
    if (!session.shown().run->value(step.id).contains(cell)) return;
    const auto norm = core::norms::inspected_norm(session.derived(), session.shown(), step, cell);
    if (!norm->row) return;
    section_heading(ui, tr("This row in the norm"));
    paragraph(ui.caption(), moments_text(*norm->row));
    if (step.axes.back().size > 1)
        paragraph(ui.caption(), column_text(*norm->row, static_cast<std::size_t>(cell.back())));
    section_line(ui);
}

void inspect_score_weights(const Ui& ui, const core::Session& session, Commands& commands) {
    const std::optional<core::step::ScoreCell> score = selected_score(session);
    if (!score) return;
    section_line(ui);
    text_line(ui.note(), tr("Which weights make this score?"));
    tooltip(
        tr("A score is a sum of products with one weight each: the weight times the gradient of the score with "
           "respect to it."));
    const auto weights = core::step::shown_score_weights(session.derived(), session.shown(), *score);
    if (!weights) return text_line(ui.note(), tr("Being computed …"));
    if (!weights->error.empty()) return paragraph({ui.fonts.caption, ui.theme.error}, tr(weights->error));
    for (std::size_t i = 0; i < weights->projections.size(); ++i)
        list_projection(ui, weights->projections[i], 8310 + 20 * static_cast<int>(i), commands);
}

void inspect_pattern_row(const Ui& ui, const core::Session& session) {
    const Step& step = session.step();
    const std::optional<Cell>& cell = session.cursor().cell;
    if (!cell) return;
    const auto shown = core::step::shown_pattern_row(session.derived(), session.shown(), step, *cell);
    if (!shown->row) return;
    const core::step::PatternRowReading& row = *shown->row;
    Sentence said = and_then(core::step::sharpness_sentence(row), core::step::hesitation_sentence(row));
    said = and_then(said, core::step::sink_sentence(row));
    // At a key's own cell, that key, unless it contributes next to nothing; for the output, the largest.
    constexpr double kNothing = 0.0005;
    const bool of_key = step.axes.back().name == axis::key;
    std::size_t listed = 0;
    for (const core::step::KeyPart& part : row.parts)
        if (of_key ? part.key == cell->back() && std::abs(part.share) >= kNothing : listed++ < kMostParts)
            said = and_then(said, core::step::part_sentence(part));
    if (!said.empty()) paragraph(ui.caption(), tr(said));
}

}  // namespace decoderscope::views::inspector
