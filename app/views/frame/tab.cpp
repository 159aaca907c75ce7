#include "app/views/frame/tab.h"

#include "engine/base/message.h"

#include <algorithm>

namespace decoderscope::views {

const Tab* find_tab(std::string_view id) {
    const std::span<const Tab> all = tabs();
    const auto found = std::ranges::find_if(all, [&](const Tab& tab) {
        return tab.id == id || std::ranges::find(tab.pages, id, &TabPage::id) != tab.pages.end();
    });
    return found == all.end() ? nullptr : &*found;
}

void open_page(ViewState& state) {
    const Tab* tab = find_tab(state.tab);
    if (tab == nullptr || tab->id == state.tab) return;
    std::ranges::find(tab->pages, state.tab, &TabPage::id)->open(state);
    state.tab = tab->id;
}

std::vector<TabPage> ways_in() {
    std::vector<TabPage> all;
    for (const Tab& tab : tabs()) {
        all.push_back({tab.id, tab.title, tab.question, tab.key, tab.term});
        all.insert(all.end(), tab.pages.begin(), tab.pages.end());
    }
    return all;
}

bool is_about(const Tab& tab, const core::Session& session) {
    return tab.about_this == nullptr || tab.about_this(session);
}

bool has_something(const Tab& tab, const core::Session& session) {
    return (!tab.computes || session.shown().scenario.computes()) && is_about(tab, session);
}

void save_option(Json& json, const std::pair<std::string, std::string>& option) {
    if (!option.first.empty()) json["set"] = {{option.first, option.second}};
}

std::pair<std::string, std::string> restored_option(JsonObject& json) {
    const Json* set = json.find("set");
    if (set == nullptr) return {};
    const bool one = set->is_object() && set->size() == 1 && set->begin().value().is_primitive();
    if (!one) json.fail("set", message("expected one configuration key"));
    const Json& value = set->begin().value();
    return {set->begin().key(), value.is_string() ? value.get<std::string>() : value.dump()};
}

Sentence tab_label(Phrase title, Phrase question) {
    return message("{tab}: {question}", {{"tab", Sentence(title)}, {"question", Sentence(question)}});
}

}  // namespace decoderscope::views
