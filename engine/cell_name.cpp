#include "engine/cell_name.h"

#include "engine/error.h"

#include <charconv>

namespace decoderscope {

namespace {

[[noreturn]] void fail(std::string_view text) {
    throw Error("{text}: expected a tensor and a cell of it, such as logits[0, 1, 2]", {{"text", std::string(text)}});
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

CellName parse_cell_name(std::string_view text) {
    const std::string_view whole = trimmed(text);
    const std::size_t open = whole.find('[');
    if (open == 0 || open == std::string_view::npos || !whole.ends_with(']')) fail(text);
    CellName name = {std::string(trimmed(whole.substr(0, open))), {}};
    std::string_view rest = whole.substr(open + 1, whole.size() - open - 2);
    for (bool more = true; more;) {
        const std::size_t comma = rest.find(',');
        more = comma != std::string_view::npos;
        const std::string_view number = trimmed(rest.substr(0, comma));
        Index index = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
        if (error != std::errc() || end != number.data() + number.size() || number.empty()) fail(text);
        name.cell.push_back(index);
        if (more) rest.remove_prefix(comma + 1);
    }
    return name;
}

std::string written(const CellName& name) {
    std::string text = name.tensor + "[";
    for (std::size_t i = 0; i < name.cell.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(name.cell[i]);
    return text + "]";
}

void check_cell(const CellName& name, const Axes& axes) {
    bool inside = name.cell.size() == axes.size();
    for (std::size_t i = 0; inside && i < axes.size(); ++i) inside = name.cell[i] >= 0 && name.cell[i] < axes[i].size;
    if (!inside)
        throw Error("{name}: no such cell, expected indices within {shape} ({axes})",
                    {{"name", name.tensor}, {"shape", shape_text(axes)}, {"axes", axes_text(axes)}});
}

}  // namespace decoderscope
