#pragma once

#include "engine/tensor.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::names {

// A parameter's name is a path of components, "layers", "0", "self_attn", "W_query"; a component is made of words.
using Path = std::vector<std::string>;
using Words = std::vector<std::string>;  // lower-case

[[nodiscard]] Path split(std::string_view name);
[[nodiscard]] std::string join(const Path& path);
[[nodiscard]] bool begins_with(const Path& path, const Path& prefix);

// The words of a component: split at underscores, at capitals (selfAttention) and where digits begin or end (fc1).
[[nodiscard]] Words words_of(std::string_view component);
// Of all components, in turn.
[[nodiscard]] Words words_of(const Path& path);

// Whether one of the words is one of these.
[[nodiscard]] bool any_is(const Words& words, std::initializer_list<std::string_view> these);
// Whether one of the words contains one of these: "toqueries" has "quer".
[[nodiscard]] bool any_has(const Words& words, std::initializer_list<std::string_view> these);

// A number as a ModuleList writes it; -1 if it is not one.
[[nodiscard]] Index number(std::string_view text);
// The last number among the words, or -1.
[[nodiscard]] Index last_number(const Words& words);

}  // namespace decoderscope::names
