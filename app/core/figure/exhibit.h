#pragma once

#include "app/core/figure/chart.h"
#include "app/core/figure/colormap.h"
#include "app/core/figure/figure.h"
#include "app/core/figure/heatmap.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core {

// What edits changed in a picture, and where most.
struct PictureChange {
    Index cells = 0;  // how many numbers differ from the unedited run's
    Index row = 0, column = 0;
    float before = 0.0F, after = 0.0F;  // there
};

// One of several heatmaps that are shown together. It is made when it is written and then freed, so that hundreds of
// them are never in memory at once.
struct Panel {
    std::string tensor;  // "blocks.0.attn.pattern"
    std::string label;   // tells it from others of the same tensor: "head 3"; empty if it is the only one
    Index rows = 0, columns = 0;
    std::function<Heatmap()> heatmap;
    bool has_sink = false;  // in the same way as its heatmap
    // What the run's edits changed in its heatmap; none if that isn't known.
    std::function<PictureChange(const Heatmap&)> change = {};
    // By row and column: 1 if its label is a special token's. Empty if none is.
    std::vector<std::uint8_t> special_rows = {}, special_columns = {};
    std::string part = {};  // what it is of a whole picture: "rows 1:12, columns 0:5 of 12 × 12"; empty: all of it

    [[nodiscard]] Index own_columns() const { return columns - (has_sink ? 1 : 0); }
    // "blocks.0.attn.pattern.head3": a name for a file.
    [[nodiscard]] std::string file_name() const;
};
[[nodiscard]] Panel panel_of(std::string tensor, Heatmap heatmap);

// A curve of a chart, and what tells it from the others.
struct ChartCurve {
    std::string run;   // "Pre-Norm"
    DepthCurve curve;  // its name is the same in every run
    Rgba color;        // opaque
    bool dashed = false;
    // How strong its meaning's colour is in a window, from 0 to 1; none: its colour as it is.
    std::optional<float> strength = std::nullopt;
};

// Curves by depth, or by the run of a sweep.
struct Chart {
    std::string name;            // "stream": for files
    std::string title, caption;  // "Residual stream", "length of x"
    Index blocks = 1;
    bool may_be_logarithmic = true;
    std::vector<ChartCurve> curves;
    std::vector<std::string> names = {};  // of the places from 0 to `blocks`; empty: their numbers
    std::string across = "block";         // what the places are
    std::vector<double> marks = {};       // places that are marked in the window
};

// The colour of a curve that nothing else gives one, by its number.
[[nodiscard]] Rgba curve_color(std::size_t number);

// What one file shows: heatmaps or charts, with the text around them.
struct Exhibit {
    std::string title, subtitle;  // of several together; a single heatmap has its own
    std::string caption;          // what was run and changed
    std::vector<Panel> panels;
    std::vector<Chart> charts;
    std::size_t columns = 2;  // panels or charts per row

    // Slices with the same axes and scale, such as the heads of a layer: drawn small, side by side, with one legend.
    bool alike = false;
    bool own_ranges = false;             // if alike: each panel's colours span its own range
    std::vector<std::string> row_names;  // of a grid's rows: "layer 0"; may be empty
};

// The drawing of everything an exhibit shows: one heatmap, a grid of small ones that share axes and legend, or several
// figures side by side; then its caption. The style's caption is not used.
[[nodiscard]] Figure exhibit_figure(const Exhibit& exhibit, const FigureStyle& style);

}  // namespace decoderscope::core
