#pragma once

#include "app/core/export/exhibit.h"
#include "engine/error.h"

#include <functional>

namespace decoderscope {

// Thrown out of an export that nobody wants any more.
class ExportStopped : public Error {
public:
    ExportStopped() : Error("stopped; nothing was written") {}
};

// The exhibit, telling `before_each` whenever a panel of it is made. What that throws ends the export.
[[nodiscard]] inline Exhibit watched(Exhibit exhibit, const std::function<void()>& before_each) {
    for (Panel& panel : exhibit.panels)
        panel.heatmap = [make = std::move(panel.heatmap), before_each] {
            before_each();
            return make();
        };
    return exhibit;
}

}  // namespace decoderscope
