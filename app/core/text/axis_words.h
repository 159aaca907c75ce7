#pragma once

#include "engine/tensor.h"

#include <string>
#include <string_view>

// Axes and places along them in the words of the window's language.
namespace decoderscope {

// An axis as a sentence calls it: "key". d_model and the like are names in every language.
[[nodiscard]] std::string spoken_axis(std::string_view axis);
// What a heatmap's rows and columns are: "query ↓ key →". Without rows: "key →".
[[nodiscard]] std::string spoken_axes(std::string_view rows, std::string_view columns);

// An index with its label: "3 “a”"; "3" if the label is just the index.
[[nodiscard]] std::string spoken_index(Index at, const std::string& label);
// The same with its axis: "key 3 “a”".
[[nodiscard]] std::string spoken_place(std::string_view axis, Index at, const std::string& label);

// Adds a name to others: "head 2, d_head 5".
void append_name(std::string& names, const std::string& name);

}  // namespace decoderscope
