#include "engine/axes.h"

namespace decoderscope {

Axes unnamed(std::span<const Index> shape) {
    Axes axes;
    for (const Index size : shape) axes.push_back({"", size});
    return axes;
}

std::vector<Index> sizes_of(const Axes& axes) {
    std::vector<Index> sizes;
    for (const Axis& axis : axes) sizes.push_back(axis.size);
    return sizes;
}

Axes named_from_last(Axes axes, std::span<const std::string_view> names) {
    for (std::size_t i = 0; i < axes.size() && i < names.size(); ++i)
        axes.rename(axes.size() - 1 - i, names[names.size() - 1 - i]);
    return axes;
}

Index element_count(const Axes& axes) {
    Index count = 1;
    for (const Axis& axis : axes) count *= axis.size;
    return count;
}

std::string shape_text(const Axes& axes) {
    std::string text = "[";
    for (const Axis& axis : axes) text += (text.size() > 1 ? ", " : "") + std::to_string(axis.size);
    return text + "]";
}

std::string shape_text(std::span<const Index> shape) { return shape_text(unnamed(shape)); }

std::string axes_text(const Axes& axes) {
    std::string text = "[";
    for (const Axis& axis : axes) (text += text.size() > 1 ? ", " : "") += axis.name;
    return text + "]";
}

}  // namespace decoderscope
