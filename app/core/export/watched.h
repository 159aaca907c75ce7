#pragma once

#include "app/core/export/exhibit.h"
#include "engine/error.h"

#include <functional>

namespace decoderscope {

// Thrown out of an export that was stopped.
class ExportStopped : public Error {
public:
    ExportStopped() : Error("stopped; nothing was written") {}
};

// The exhibit, calling `before_each` before each panel is made. An exception from that ends the export.
[[nodiscard]] inline Exhibit watched(Exhibit exhibit, const std::function<void()>& before_each) {
    for (Panel& panel : exhibit.panels)
        panel.heatmap = [make = std::move(panel.heatmap), before_each] {
            before_each();
            return make();
        };
    return exhibit;
}

}  // namespace decoderscope
