#include "app/views/shell/lab.h"

#include <algorithm>

namespace decoderscope {

const Lab* find_lab(std::string_view id) {
    const std::span<const Lab> all = labs();
    const auto found = std::ranges::find(all, id, &Lab::id);
    return found == all.end() ? nullptr : &*found;
}

std::string lab_label(const Lab& lab) { return std::string(lab.title) + ": " + std::string(lab.question); }

}  // namespace decoderscope
