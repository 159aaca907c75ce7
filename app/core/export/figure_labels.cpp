#include "app/core/export/figure_labels.h"

#include "app/core/picture/meaning.h"
#include "app/core/text/utf8.h"

namespace decoderscope::figure {

void draw_row_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels) {
    const Face face{label_size, canvas.inks().text};
    const double x = placed.box.x;
    Index row = 0;
    for (const std::string& label : labels.texts) {
        const double y = placed.row_middle(row);
        canvas.put(text_at(label, x - 7, y + half_capital * label_size, face, Anchor::end));
        if (labels.stride > 1) canvas.line(x - 4, y, x, y, canvas.inks().line);
        row += labels.stride;
    }
}

void draw_column_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels) {
    const Face face{label_size, canvas.inks().text};
    const double y = placed.box.y - 7;
    Index column = 0;
    for (const std::string& label : labels.texts) {
        const double x = placed.column_middle(column);
        if (labels.vertical)
            canvas.put(upright(text_at(label, x + half_capital * label_size, y, face)));
        else
            canvas.put(text_at(label, x, y, face, Anchor::middle));
        if (labels.stride > 1) canvas.line(x, placed.box.y - 4, x, placed.box.y, canvas.inks().line);
        column += labels.stride;
    }
}

Face axis_face(const std::string& name, const Inks& inks) {
    for (const Meaning meaning : {Meaning::query, Meaning::key})
        if (name == meaning_name(meaning)) return {axis_name_size, meaning_color(meaning), true};
    return {axis_name_size, inks.quiet, true};
}

double row_name_room(const std::string& name) { return name.empty() ? 0 : 24; }
double column_name_room(const std::string& name) { return name.empty() ? 0 : 20; }

void draw_row_name(Canvas& canvas, const std::string& name, const Box& box, double left, double top) {
    if (name.empty()) return;
    Text text = text_at(printable(name), left + 12, 0, axis_face(name, canvas.inks()), Anchor::middle);
    text.y = std::max(box.y + box.height / 2, top + 4 + text_box(text).width / 2);
    canvas.put(upright(text));
}

void draw_column_name(Canvas& canvas, const std::string& name, const Box& box, double reach, double left) {
    if (name.empty()) return;
    Text text = text_at(printable(name), 0, box.y - reach - 16, axis_face(name, canvas.inks()), Anchor::middle);
    text.x = std::max(box.x + box.width / 2, left + text_box(text).width / 2);
    canvas.put(text);
}

}  // namespace decoderscope::figure
