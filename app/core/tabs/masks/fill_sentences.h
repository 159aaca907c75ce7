#pragma once

#include "app/core/tabs/masks/shown_masks.h"
#include "app/core/text/numbers.h"

#include <string>

// What the fill of a mask does, in sentences.
namespace decoderscope::core::masks {

// A score or weight, as they write it.
[[nodiscard]] inline std::string measured_text(float value) { return short_number_text(static_cast<double>(value), 4); }

// How much weight masked cells get.
[[nodiscard]] std::string weight_sentence(const FillConsequences& fill);
// How much weight each row gives to masked keys, for rows that give any.
[[nodiscard]] std::string leaks_by_row(const FillConsequences& fill);
// Whether a kept score lies below the fill.
[[nodiscard]] std::string below_sentence(const FillConsequences& fill);
// Which queries see no key, and what they do instead.
[[nodiscard]] std::string empty_sentence(const FillConsequences& fill);

}  // namespace decoderscope::core::masks
