#include "app/core/answer/answer.h"

#include "engine/base/translate.h"

#include <utility>

namespace decoderscope::core {

Exhibit exhibit_of(const Answer& answer) {
    Exhibit exhibit{.title = tr(answer.title), .subtitle = tr(answer.subtitle)};
    for (const AnswerPart& part : answer.parts) {
        if (part.chart) exhibit.charts.push_back(*part.chart);
        if (part.table) {
            Heatmap picture = picture_of(*part.table);
            picture.subtitle = exhibit.subtitle;
            exhibit.panels.push_back(panel_of(part.name, std::move(picture)));
        }
        for (const Heatmap& picture : part.pictures) exhibit.panels.push_back(panel_of(part.name, picture));
    }
    return exhibit;
}

}  // namespace decoderscope::core
