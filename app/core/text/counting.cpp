#include "app/core/text/counting.h"

namespace decoderscope {

std::string grouped(Index number) {
    std::string text = std::to_string(number);
    const std::ptrdiff_t first = number < 0 ? 1 : 0;
    for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > first; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string counted(std::size_t count, std::string_view thing) {
    return grouped(static_cast<Index>(count)) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

}  // namespace decoderscope
