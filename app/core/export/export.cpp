#include "app/core/export/export.h"

#include "app/core/export/csv.h"
#include "app/core/export/figure.h"
#include "app/core/export/json.h"
#include "app/core/export/npy.h"
#include "app/core/export/png.h"
#include "app/core/export/svg.h"
#include "engine/error.h"
#include "engine/file.h"

#include <algorithm>
#include <array>
#include <ostream>

namespace decoderscope {
namespace {

struct Format {
    std::string_view ending;
    void (*write)(std::ostream& out, const Heatmap& heatmap);
};

constexpr std::array<Format, 5> formats = {{
    {".png", [](std::ostream& out, const Heatmap& heatmap) { write_png(out, heatmap_figure(heatmap)); }},
    {".svg", [](std::ostream& out, const Heatmap& heatmap) { write_svg(out, heatmap_figure(heatmap)); }},
    {".csv", write_csv},
    {".npy", write_npy},
    {".json", write_json},
}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The path's last ending in lower case, with its point; empty where it has none.
std::string ending_of(std::string_view path) {
    const std::size_t name = path.find_last_of('/') + 1;
    const std::size_t point = path.find_last_of('.');
    if (point == std::string_view::npos || point < name) return "";
    std::string ending(path.substr(point));
    std::transform(ending.begin(), ending.end(), ending.begin(), lower);
    return ending;
}

// The format of a path; nullptr where there is none.
const Format* format_of(std::string_view path) {
    const std::string ending = ending_of(path);
    for (const Format& format : formats) {
        if (format.ending == ending) return &format;
    }
    return nullptr;
}

}  // namespace

bool is_export_path(std::string_view path) { return format_of(path) != nullptr; }

void export_heatmap(const Heatmap& heatmap, const std::string& path) {
    const Format* format = format_of(path);
    if (format == nullptr) {
        throw Error(path +
                    ": cannot tell the format of the export; expected a path that ends in .png, .svg, .csv, .npy or "
                    ".json");
    }
    write_whole(path, [&](std::ostream& out) {
        try {
            format->write(out, heatmap);
        } catch (const Error& error) {
            throw Error(path + ": " + error.what());
        }
    });
}

}  // namespace decoderscope
