#pragma once

#include "engine/base/message.h"
#include "engine/model/config.h"

#include <span>

namespace decoderscope::core {

// One of the places that a block's norms may have, in words.
struct PlaceOfNorms {
    NormPlacement placement = NormPlacement::pre;
    const char* word = "";     // the value of norm_placement: "pre"
    Phrase title;              // "Pre-Norm"
    const char* formula = "";  // "x + f(norm(x))"
    Phrase meaning;            // what it means for the stream, in a sentence or two
};

// All four, in the order in which they are offered.
[[nodiscard]] std::span<const PlaceOfNorms> places_of_norms();
[[nodiscard]] const PlaceOfNorms& place_of_norms(NormPlacement placement);

// The Norms tab compares two of them: a value for the one on the left, and one for the one on the right.
template <class T>
struct BothNorms {
    T left, right;
    bool operator==(const BothNorms&) const = default;
};
using Places = BothNorms<NormPlacement>;
inline constexpr Places kPreAndPost = {NormPlacement::pre, NormPlacement::post};

// What is compared first: Pre-Norm and Post-Norm, or the model's own place, if it is another, and Pre-Norm.
[[nodiscard]] Places first_places(const Config& config);

}  // namespace decoderscope::core
