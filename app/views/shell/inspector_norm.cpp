#include "app/core/norms/inspected_norm.h"
#include "app/views/shell/inspector_parts.h"
#include "engine/explanation.h"
#include "engine/translate.h"

#include <string>

namespace decoderscope {

namespace {

// What the norm finds in the row and divides it by.
std::string moments_text(const NormRow& row) {
    const Arguments numbers = {
        {"mean", short_number(row.mean)}, {"variance", short_number(row.variance)}, {"scale", short_number(row.scale)}};
    return tr(row.centred ? message("Mean {mean}, variance {variance}, scale {scale}", numbers)
                          : message("Mean square {variance}, scale {scale}", numbers));
}

// What it does to one column.
std::string column_text(const NormRow& row, std::size_t column) {
    const auto of = [&](const std::vector<float>& values) {
        return values.empty() ? std::string("0") : short_number(static_cast<double>(values[column]));
    };
    const Arguments numbers = {{"column", column},      {"x", of(row.before)},  {"mean", short_number(row.mean)},
                               {"unit", of(row.unit)},  {"gain", of(row.gain)}, {"shift", of(row.shift)},
                               {"value", of(row.after)}};
    if (row.centred)
        return tr(
            message("d_model {column}: {x} less the mean, by the scale, is {unit}; times the gain {gain}, plus "
                    "the shift {shift}, is {value}",
                    numbers));
    return tr(message("d_model {column}: {x} by the scale is {unit}; times the gain {gain} is {value}", numbers));
}

}  // namespace

void inspect_norm(const Ui& ui, const Session& session) {
    const Step& step = session.step();
    const Cell& cell = *session.cursor().cell;
    if (!session.shown().run->value(step.id).contains(cell)) return;
    const Value<InspectedNorm> norm = inspected_norm(session.derived(), session.shown(), step, cell);
    if (!norm->row) return;
    inspector_heading(ui, tr("This row in the norm"));
    paragraph(ui.fonts.caption, ui.theme.text, moments_text(*norm->row));
    if (step.axes.back().size > 1)
        paragraph(ui.fonts.caption, ui.theme.text, column_text(*norm->row, static_cast<std::size_t>(cell.back())));
    inspector_line(ui);
}

}  // namespace decoderscope
