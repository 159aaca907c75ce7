#include "engine/model/names/words.h"

#include <algorithm>
#include <charconv>

namespace decoderscope::names {

namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Whether a new word begins between two characters: fooBar, foo1, 1foo.
bool parts(char before, char after) {
    return (is_lower(before) && is_upper(after)) || is_digit(before) != is_digit(after);
}

}  // namespace

Path split(std::string_view name) {
    Path path;
    for (std::size_t start = 0; start <= name.size();) {
        const std::size_t point = std::min(name.find('.', start), name.size());
        path.emplace_back(name.substr(start, point - start));
        start = point + 1;
    }
    return path;
}

std::string join(const Path& path) {
    std::string name;
    for (const std::string& part : path) name += (name.empty() ? "" : ".") + part;
    return name;
}

bool begins_with(const Path& path, const Path& prefix) {
    return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

Words words_of(std::string_view component) {
    Words words;
    bool fresh = true;
    for (std::size_t i = 0; i < component.size(); ++i) {
        const char c = component[i];
        if (c == '_' || c == '-' || c == ' ' || c == '/') {
            fresh = true;
            continue;
        }
        if (fresh || parts(component[i - 1], c)) words.emplace_back();
        words.back() += lower(c);
        fresh = false;
    }
    return words;
}

Words words_of(const Path& path) {
    Words all;
    for (const std::string& component : path) {
        const Words words = words_of(component);
        all.insert(all.end(), words.begin(), words.end());
    }
    return all;
}

bool any_is(const Words& words, std::initializer_list<std::string_view> these) {
    return std::ranges::any_of(words,
                               [&](const std::string& word) { return std::ranges::find(these, word) != these.end(); });
}

bool any_has(const Words& words, std::initializer_list<std::string_view> these) {
    return std::ranges::any_of(words, [&](const std::string& word) {
        return std::ranges::any_of(these, [&](std::string_view part) { return word.find(part) != std::string::npos; });
    });
}

Index number(std::string_view text) {
    constexpr std::size_t kMostDigits = 9;
    Index value = -1;
    if (text.empty() || text.size() > kMostDigits || !is_digit(text.front())) return -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

Index last_number(const Words& words) {
    for (auto word = words.rbegin(); word != words.rend(); ++word)
        if (const Index value = number(*word); value >= 0) return value;
    return -1;
}

}  // namespace decoderscope::names
