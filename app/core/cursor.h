#pragma once

#include "app/core/slice.h"

#include <optional>
#include <string>

namespace decoderscope {

// Where we look: a step by name, a place on its batch and head axes, and a cell of it.
struct Cursor {
    std::string step;
    Place place;
    std::optional<Cell> cell;
    bool operator==(const Cursor&) const = default;
};

}  // namespace decoderscope
