#pragma once

#include "app/core/export/exhibit.h"
#include "app/core/export/figure.h"
#include "app/core/jobs/resumable.h"

#include <string>
#include <string_view>

namespace decoderscope {

// The endings of the formats, for people: ".png, .svg, .pdf, …".
[[nodiscard]] std::string export_endings();
// Whether a path ends in one of them, in any case.
[[nodiscard]] bool is_export_path(std::string_view path);

// How pictures are drawn.
struct ExportOptions {
    double scale = 2;   // pixels of a PNG to a figure's unit of 1/96 inch
    FigureStyle style;  // the caption is the exhibit's
    bool operator==(const ExportOptions&) const = default;
};

// Writes what is shown in the format of the path's ending. The file appears whole or not at all, and the same exhibit
// gives the same bytes. Throws Error naming the path where its ending is none of the formats, the format cannot hold
// it, or it cannot be written.
void export_exhibit(const Exhibit& exhibit, const std::string& path, const ExportOptions& options = {});
// One heatmap alone.
void export_heatmap(const Heatmap& heatmap, const std::string& path);

// Writes every panel to a file of its own in a new folder, called as Panel::file_name() says and ending in `ending`
// (".svg"). The folder appears with all of them or not at all. Throws Error naming it where it is there already and not
// empty, or cannot be written.
void export_each(const Exhibit& exhibit, const std::string& folder, const std::string& ending,
                 const ExportOptions& options = {});
// The same in slices, a panel each; the exhibit has to outlive it. Dropped before its end it leaves nothing behind.
[[nodiscard]] Resumable<Done> each_exported(const Exhibit& exhibit, std::string folder, std::string ending,
                                            ExportOptions options);

}  // namespace decoderscope
