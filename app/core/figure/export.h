#pragma once

#include "app/core/figure/exhibit.h"
#include "app/core/figure/figure.h"
#include "app/core/jobs/resumable.h"
#include "engine/base/error.h"

#include <functional>
#include <string>
#include <string_view>

namespace decoderscope::core {

// Thrown out of an export that was stopped.
class ExportStopped : public Error {
public:
    ExportStopped() : Error("cancelled; nothing was written") {}
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

// The endings of the formats, for display: ".png, .svg, .pdf, …".
[[nodiscard]] std::string export_endings();
// Whether a path ends in one of them, ignoring case.
[[nodiscard]] bool is_export_path(std::string_view path);

// How pictures are drawn.
struct ExportOptions {
    double scale = 2;   // pixels of a PNG per figure unit (1/96 inch)
    FigureStyle style;  // the caption is the exhibit's
};

// Writes the exhibit in the format of the path's ending. The file appears whole or not at all, and the same exhibit
// gives the same bytes. Throws Error naming the path if its ending is none of the formats, the format cannot hold the
// exhibit, or it cannot be written.
void export_exhibit(const Exhibit& exhibit, const std::string& path, const ExportOptions& options = {});
// Exports a single heatmap.
void export_heatmap(const Heatmap& heatmap, const std::string& path);

// Writes every panel to its own file in a new folder, named by Panel::file_name() plus `ending` (".svg"). The folder
// appears with all of them or not at all. Throws Error naming it if it exists and is not empty, or cannot be written.
void export_each(const Exhibit& exhibit, const std::string& folder, const std::string& ending,
                 const ExportOptions& options = {});
// As above, in slices, one panel each; the exhibit must outlive it. Dropped before its end, it leaves nothing behind.
[[nodiscard]] Resumable<Done> each_exported(const Exhibit& exhibit, std::string folder, std::string ending,
                                            ExportOptions options);

}  // namespace decoderscope::core
