#include "engine/axes.h"

namespace decoderscope {

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

std::string axes_text(const Axes& axes) {
    std::string text = "[";
    for (const Axis& axis : axes) (text += text.size() > 1 ? ", " : "") += axis.name;
    return text + "]";
}

}  // namespace decoderscope
