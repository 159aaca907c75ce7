#pragma once

#include "app/core/figure/figure.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

// What tests look for in a figure.
namespace decoderscope::testing {

using namespace decoderscope::core;

// Its primitives of one kind, in their order.
template <class T>
std::vector<T> all_of(const Figure& figure) {
    std::vector<T> found;
    for (const figure::Primitive& primitive : figure.primitives)
        if (const T* one = std::get_if<T>(&primitive)) found.push_back(*one);
    return found;
}

// Whether one of its texts has this part.
inline bool says(const Figure& figure, const std::string& part) {
    return std::ranges::any_of(all_of<figure::Text>(figure),
                               [&](const figure::Text& one) { return one.text.find(part) != std::string::npos; });
}

}  // namespace decoderscope::testing
