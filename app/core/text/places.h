#pragma once

#include "engine/base/index.h"
#include "engine/base/message.h"

#include <string>
#include <string_view>

namespace decoderscope::core {

// Axes and places along them in the words of the window's language.

// An axis as a sentence calls it: "key". d_model and the like are names in every language.
[[nodiscard]] Sentence axis_sentence(std::string_view axis);
[[nodiscard]] std::string spoken_axis(std::string_view axis);
// What a heatmap's rows and columns are: "query ↓ key →". Without rows: "key →".
[[nodiscard]] std::string spoken_axes(std::string_view rows, std::string_view columns);

// An index with its label: "3 “a”"; "3" if the label is just the index.
[[nodiscard]] Sentence index_sentence(Index at, const std::string& label);
[[nodiscard]] std::string spoken_index(Index at, const std::string& label);
// As above, with its axis: "key 3 “a”"; without it if `axis` is empty.
[[nodiscard]] Sentence place_sentence(std::string_view axis, Index at, const std::string& label);
[[nodiscard]] std::string spoken_place(std::string_view axis, Index at, const std::string& label);

}  // namespace decoderscope::core
