#include "app/views/frame/lab.h"

#include "engine/base/message.h"

#include <algorithm>

namespace decoderscope::views {

const Lab* find_lab(std::string_view id) {
    const std::span<const Lab> all = labs();
    const auto found = std::ranges::find(all, id, &Lab::id);
    return found == all.end() ? nullptr : &*found;
}

bool is_about(const Lab& lab, const core::Session& session) {
    return lab.about_this == nullptr || lab.about_this(session);
}

bool has_something(const Lab& lab, const core::Session& session) {
    return (!lab.computes || session.shown().scenario.computes()) && is_about(lab, session);
}

Sentence lab_label(const Lab& lab) {
    return message("{lab}: {question}", {{"lab", Sentence(lab.title)}, {"question", Sentence(lab.question)}});
}

}  // namespace decoderscope::views
