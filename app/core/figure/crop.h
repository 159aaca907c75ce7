#pragma once

#include "app/core/figure/exhibit.h"
#include "engine/base/index.h"

#include <optional>
#include <string_view>

namespace decoderscope::core {

// From one row or column up to, but not including, another.
struct Extent {
    Index first = 0, end = 0;
    bool operator==(const Extent&) const = default;
};

// Which part of a picture is written.
struct Crop {
    std::optional<Extent> rows, columns;  // nothing: all of them
    bool special = true;                  // with the rows and columns of special tokens

    [[nodiscard]] bool keeps_all() const { return !rows && !columns && special; }
    bool operator==(const Crop&) const = default;
};

// "2:9,0:4": rows and columns, half-open, as Python writes a slice; "2:,:" leaves out what is all. Throws Error saying
// what was expected.
[[nodiscard]] Crop crop_from(std::string_view text);
// The text that crop_from() reads, without what it doesn't say of special tokens.
[[nodiscard]] std::string text_of(const Crop& crop);

// The part of every picture of an exhibit that a crop keeps. Their colours span what is kept. Charts stay as they are.
// Throws Error naming the tensor if it hasn't these rows or columns, or nothing would be left.
[[nodiscard]] Exhibit cropped(Exhibit exhibit, const Crop& crop);

}  // namespace decoderscope::core
