#include "app/core/labs/step/row_reading.h"
#include "app/views/inspector/inspector.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::inspector {

namespace {

// Of a row of z: the keys whose values make most of it.
constexpr std::size_t kMostParts = 6;

void line_of_part(const Ui& ui, const core::step::KeyPart& part) {
    paragraph(ui.fonts.caption, ui.theme.text, tr(core::step::part_sentence(part)));
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
    section_heading(ui, tr("This query's row of the pattern"));
    paragraph(ui.fonts.caption, ui.theme.text, tr(core::step::sharpness_sentence(row)));
    if (const Sentence hesitates = core::step::hesitation_sentence(row); !hesitates.empty())
        paragraph(ui.fonts.caption, ui.theme.text, tr(hesitates));
    // At a key's own cell that key; of the output the largest.
    const bool of_key = step.axes.back().name == axis::key;
    std::size_t listed = 0;
    for (const core::step::KeyPart& part : row.parts) {
        if (of_key ? part.key != cell->back() : listed++ >= kMostParts) continue;
        line_of_part(ui, part);
    }
}

}  // namespace decoderscope::views::inspector
