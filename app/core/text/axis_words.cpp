#include "app/core/text/axis_words.h"

#include "engine/axes.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <utility>

namespace decoderscope {

std::string spoken_axis(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, Phrase>, 7> words = {{
        {axis::batch, message_c("axis", "batch")},
        {axis::pos, message_c("axis", "pos")},
        {axis::src, message_c("axis", "src")},
        {axis::head, message_c("axis", "head")},
        {axis::query, message_c("axis", "query")},
        {axis::key, message_c("axis", "key")},
        {axis::vocab, message_c("axis", "vocab")},
    }};
    const auto found = std::ranges::find(words, name, &std::pair<std::string_view, Phrase>::first);
    return found == words.end() ? std::string(name) : tr(found->second);
}

std::string spoken_axes(std::string_view rows, std::string_view columns) {
    const std::string across = spoken_axis(columns) + " →";
    return rows.empty() ? across : spoken_axis(rows) + " ↓  " + across;
}

std::string spoken_index(Index at, const std::string& label) {
    if (label.empty() || label == std::to_string(at)) return std::to_string(at);
    return tr("{index} “{token}”", {{"index", at}, {"token", label}});
}

std::string spoken_place(std::string_view axis, Index at, const std::string& label) {
    return tr("{axis} {index}", {{"axis", spoken_axis(axis)}, {"index", spoken_index(at, label)}});
}

void append_name(std::string& names, const std::string& name) {
    if (!names.empty()) names += tr(message_c("between names of a list", ", "));
    names += name;
}

}  // namespace decoderscope
