#include "app/core/text/places.h"

#include "engine/base/translate.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <utility>

namespace decoderscope::core {

Sentence axis_sentence(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, Phrase>, 10> words = {{
        {axis::batch, message_c("axis", "batch")},
        {axis::pos, message_c("axis", "pos")},
        {axis::src, message_c("axis", "src")},
        {axis::head, message_c("axis", "head")},
        {axis::query, message_c("axis", "query")},
        {axis::key, message_c("axis", "key")},
        {axis::vocab, message_c("axis", "vocab")},
        {axis::expert, message_c("axis", "expert")},
        {axis::slot, message_c("axis", "slot")},
        {axis::rank, message_c("axis", "rank")},
    }};
    const auto found = std::ranges::find(words, name, &std::pair<std::string_view, Phrase>::first);
    return found == words.end() ? Sentence::verbatim(name) : Sentence(found->second);
}

std::string spoken_axis(std::string_view axis) { return tr(axis_sentence(axis)); }

std::string spoken_axes(std::string_view rows, std::string_view columns) {
    const std::string across = spoken_axis(columns) + " →";
    return rows.empty() ? across : spoken_axis(rows) + " ↓  " + across;
}

Sentence index_sentence(Index at, const std::string& label) {
    if (label.empty() || label == std::to_string(at)) return Sentence::verbatim(std::to_string(at));
    return message("{index} “{token}”", {{"index", at}, {"token", label}});
}

std::string spoken_index(Index at, const std::string& label) { return tr(index_sentence(at, label)); }

Sentence place_sentence(std::string_view axis, Index at, const std::string& label) {
    if (axis.empty()) return index_sentence(at, label);
    return message("{axis} {index}", {{"axis", axis_sentence(axis)}, {"index", index_sentence(at, label)}});
}

std::string spoken_place(std::string_view axis, Index at, const std::string& label) {
    return tr(place_sentence(axis, at, label));
}

}  // namespace decoderscope::core
