#include "app/views/frame/lab.h"

#include "engine/base/message.h"

#include <algorithm>

namespace decoderscope::views {

const Lab* find_lab(std::string_view id) {
    const std::span<const Lab> all = labs();
    const auto found = std::ranges::find(all, id, &Lab::id);
    return found == all.end() ? nullptr : &*found;
}

bool has_something(const Lab& lab, const core::Session& session) {
    return !lab.computes || session.shown().scenario.computes();
}

Sentence lab_label(const Lab& lab) {
    return message("{lab}: {question}", {{"lab", Sentence(lab.title)}, {"question", Sentence(lab.question)}});
}

}  // namespace decoderscope::views
