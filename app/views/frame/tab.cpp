#include "app/views/frame/tab.h"

#include "engine/base/message.h"

#include <algorithm>

namespace decoderscope::views {

const Tab* find_tab(std::string_view id) {
    const std::span<const Tab> all = tabs();
    const auto found = std::ranges::find(all, id, &Tab::id);
    return found == all.end() ? nullptr : &*found;
}

bool is_about(const Tab& tab, const core::Session& session) {
    return tab.about_this == nullptr || tab.about_this(session);
}

bool has_something(const Tab& tab, const core::Session& session) {
    return (!tab.computes || session.shown().scenario.computes()) && is_about(tab, session);
}

Sentence tab_label(const Tab& tab) {
    return message("{tab}: {question}", {{"tab", Sentence(tab.title)}, {"question", Sentence(tab.question)}});
}

}  // namespace decoderscope::views
