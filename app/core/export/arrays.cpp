#include "app/core/export/arrays.h"

#include "engine/error.h"

#include <algorithm>
#include <memory>

namespace decoderscope {
namespace {

using Pieces = std::function<void(const std::function<void(std::span<const float>)>&)>;

NamedArray array_of_panels(std::vector<Panel> panels) {
    NamedArray array{panels.front().tensor, {panels.front().rows, panels.front().columns}, {}};
    if (panels.size() > 1) array.shape.insert(array.shape.begin(), static_cast<Index>(panels.size()));
    array.for_each_piece = [panels = std::move(panels)](const auto& take) {
        for (const Panel& panel : panels) take(panel.heatmap().values);
    };
    return array;
}

NamedArray array_of_curve(const Chart& chart, const ChartCurve& curve) {
    std::string name = chart.name + "." + curve.run;
    if (curve.curve.name != chart.name) name += "." + curve.curve.name;
    std::vector<float> values;
    for (const DepthPoint& point : curve.curve.points) {
        values.push_back(static_cast<float>(point.depth));
        values.push_back(static_cast<float>(point.value));
    }
    return {name, {static_cast<Index>(curve.curve.points.size()), 2}, [values](const auto& take) { take(values); }};
}

// An array whose name is taken gets a number.
void make_unique(std::vector<NamedArray>& arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const auto taken = [&](const std::string& name) {
            return std::any_of(arrays.begin(), arrays.begin() + static_cast<std::ptrdiff_t>(i),
                               [&](const NamedArray& a) { return a.name == name; });
        };
        const std::string own = arrays[i].name;
        for (int number = 2; taken(arrays[i].name); ++number) arrays[i].name = own + "." + std::to_string(number);
    }
}

}  // namespace

Index NamedArray::size() const {
    Index count = 1;
    for (const Index side : shape) count *= side;
    return count;
}

std::vector<NamedArray> arrays_of(const Exhibit& exhibit) {
    std::vector<NamedArray> arrays;
    for (std::size_t first = 0; first < exhibit.panels.size();) {
        const Panel& like = exhibit.panels[first];
        std::size_t last = first + 1;
        const auto joins = [&](const Panel& panel) {
            return panel.tensor == like.tensor && panel.rows == like.rows && panel.columns == like.columns;
        };
        while (last < exhibit.panels.size() && joins(exhibit.panels[last])) ++last;
        arrays.push_back(array_of_panels({exhibit.panels.begin() + static_cast<std::ptrdiff_t>(first),
                                          exhibit.panels.begin() + static_cast<std::ptrdiff_t>(last)}));
        first = last;
    }
    for (const Chart& chart : exhibit.charts)
        for (const ChartCurve& curve : chart.curves) arrays.push_back(array_of_curve(chart, curve));
    make_unique(arrays);
    return arrays;
}

NamedArray one_array_of(const Exhibit& exhibit) {
    std::vector<NamedArray> arrays = arrays_of(exhibit);
    if (arrays.empty()) throw Error("there are no numbers to write");
    if (arrays.size() == 1) return arrays.front();
    for (const NamedArray& array : arrays)
        if (array.shape != arrays.front().shape)
            throw Error(
                "{first} and {second} have different shapes, and an .npy holds one array; expected .npz or "
                ".safetensors",
                {{"first", array.name}, {"second", arrays.front().name}});
    NamedArray all = arrays.front();
    all.shape.insert(all.shape.begin(), static_cast<Index>(arrays.size()));
    all.for_each_piece = [arrays = std::move(arrays)](const auto& take) {
        for (const NamedArray& array : arrays) array.for_each_piece(take);
    };
    return all;
}

}  // namespace decoderscope
