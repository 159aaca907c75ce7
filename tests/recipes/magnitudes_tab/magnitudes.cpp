#include "tests/recipes/magnitudes_tab/magnitudes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace decoderscope {

using namespace decoderscope::core;

Magnitudes magnitudes_of(const Run& run) {
    Magnitudes magnitudes;
    for (const Step& step : run.plan().steps()) {
        const Tensor& tensor = run.value(step.id);
        if (step.is_source() || tensor.empty()) continue;
        Magnitude& found = magnitudes.steps.emplace_back(Magnitude{step.name});
        for (const float value : tensor.values()) {
            if (std::isnan(value)) found.largest = std::numeric_limits<float>::quiet_NaN();
            if (std::abs(value) > found.largest) found.largest = std::abs(value);
        }
    }
    return magnitudes;
}

core::Value<Magnitudes> shown_magnitudes(Derived& derived, const std::shared_ptr<const Run>& run) {
    return derived.get<Magnitudes>({run}, std::tuple<>(), [&] { return magnitudes_of(*run); });
}

Exhibit magnitudes_exhibit(const ShownRun& shown) {
    Heatmap heatmap{.title = "largest magnitudes", .row_axis = "step", .column_axis = "magnitude"};
    heatmap.column_labels = {"largest |x|"};
    heatmap.columns = 1;
    heatmap.scale = Scale::sequential;
    for (const Magnitude& magnitude : magnitudes_of(*shown.run).steps) {
        heatmap.row_labels.push_back(magnitude.step);
        heatmap.values.push_back(magnitude.largest);
    }
    heatmap.rows = static_cast<Index>(heatmap.row_labels.size());
    heatmap.range = range_of(heatmap.values, heatmap.scale);
    Exhibit exhibit;
    exhibit.caption = caption_of(shown.scenario, "largest magnitudes", "");
    exhibit.panels = {panel_of("magnitudes", std::move(heatmap))};
    return exhibit;
}

}  // namespace decoderscope
