#include "app/views/frame/tab.h"

#include "engine/base/message.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

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

namespace {

constexpr auto kKeyTexts = std::to_array<std::pair<Key, Phrase>>({{Key::left, Phrase("←")},
                                                                  {Key::right, Phrase("→")},
                                                                  {Key::up, Phrase("↑")},
                                                                  {Key::down, Phrase("↓")},
                                                                  {Key::home, message_c("key", "Home")},
                                                                  {Key::end, message_c("key", "End")},
                                                                  {Key::page_up, message_c("key", "PageUp")},
                                                                  {Key::page_down, message_c("key", "PageDown")},
                                                                  {Key::space, message_c("key", "Space")},
                                                                  {Key::enter, message_c("key", "Enter")},
                                                                  {Key::escape, message_c("key", "Esc")},
                                                                  {Key::backspace, message_c("key", "Backspace")},
                                                                  {Key::plus, Phrase("+")},
                                                                  {Key::equal, Phrase("=")},
                                                                  {Key::minus, Phrase("−")},
                                                                  {Key::comma, Phrase(",")},
                                                                  {Key::period, Phrase(".")},
                                                                  {Key::left_bracket, Phrase("[")},
                                                                  {Key::right_bracket, Phrase("]")}});

}  // namespace

std::string key_text(Key key) {
    if (key >= Key::a && key <= Key::z)
        return {static_cast<char>('A' + static_cast<int>(key) - static_cast<int>(Key::a))};
    if (key >= Key::digit_0 && key <= Key::digit_9)
        return {static_cast<char>('0' + static_cast<int>(key) - static_cast<int>(Key::digit_0))};
    if (key >= Key::f1 && key <= Key::f12)
        return "F" + std::to_string(static_cast<int>(key) - static_cast<int>(Key::f1) + 1);
    for (const auto& [named, text] : kKeyTexts)
        if (named == key) return tr(text);
    return {};
}

std::string chord_text(const Action& action) {
    if (action.key == Key::none) return {};
    return std::string(action.mods.ctrl ? tr(message_c("key", "Ctrl+")) : "") +
           (action.mods.alt ? tr(message_c("key", "Alt+")) : "") +
           (action.mods.shift ? tr(message_c("key", "Shift+")) : "") + key_text(action.key);
}

}  // namespace decoderscope::views
