#include "app/core/labs/step/row_reading.h"
#include "app/views/inspector/inspector.h"
#include "engine/base/translate.h"

#include <cmath>
#include <cstddef>
#include <optional>

namespace decoderscope::views::inspector {

namespace {

// How many keys are listed for a row of z: those whose values make most of it.
constexpr std::size_t kMostParts = 2;

// One sentence after the other.
Sentence and_then(const Sentence& first, const Sentence& second) {
    if (second.empty()) return first;
    return message("{first} {second}", {{"first", first}, {"second", second}});
}

}  // namespace

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
    paragraph(ui.fonts.caption, ui.theme.text, tr(said));
}

}  // namespace decoderscope::views::inspector
