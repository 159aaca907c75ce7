#include "app/core/tabs/step/explanation_text.h"
#include "app/core/tabs/step/row_reading.h"
#include "app/views/inspector/inspector.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

namespace decoderscope::views::inspector {

namespace {

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
        ui.fonts.caption, ui.theme.text,
        parts.bias.empty()
            ? tr(message("{projection}: its weights make {sum} of the score. The largest:", numbers))
            : tr(message("{projection}: its weights make {sum} of the score, its bias {bias}. The largest:", numbers)));
    for (std::size_t i = 0; i < parts.largest.size(); ++i) {
        const core::step::WeightPart& part = parts.largest[i];
        const std::string name = cell_name(short_name(parts.weight), part.cell);
        if (link(ui, ui.fonts.mono_small, ui.theme.accent, name, id + static_cast<int>(i)))
            commands.push_back(core::command::Follow{parts.weight, part.cell});
        tooltip(cell_name(parts.weight, part.cell).c_str());
        at_right_edge(ui, ui.fonts.mono_small, ui.theme.text, short_number(part.value));
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

void inspect_score_weights(const Ui& ui, const core::Session& session, Commands& commands) {
    const std::optional<core::step::ScoreCell> score = selected_score(session);
    if (!score) return;
    section_line(ui);
    text_line(ui.fonts.caption, ui.theme.muted, tr("Which weights make this score?"));
    tooltip(
        tr("A score is a sum of products with one weight each: the weight times the gradient of the score with "
           "respect to it."));
    const core::Value<core::step::ShownScoreWeights> weights =
        core::step::shown_score_weights(session.derived(), session.shown(), *score);
    if (!weights) return text_line(ui.fonts.caption, ui.theme.muted, tr("Being computed …"));
    if (!weights->error.empty()) return paragraph(ui.fonts.caption, ui.theme.error, tr(weights->error));
    for (std::size_t i = 0; i < weights->projections.size(); ++i)
        list_projection(ui, weights->projections[i], 8310 + 20 * static_cast<int>(i), commands);
}

void inspect_pattern_row(const Ui& ui, const core::Session& session) {
    const Step& step = session.step();
    const std::optional<Cell>& cell = session.cursor().cell;
    if (!cell) return;
    const core::Value<core::step::ShownPatternRow> shown =
        core::step::shown_pattern_row(session.derived(), session.shown(), step, *cell);
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
    if (!said.empty()) paragraph(ui.fonts.caption, ui.theme.text, tr(said));
}

}  // namespace decoderscope::views::inspector
