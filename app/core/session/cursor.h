#pragma once

#include "app/core/step/slice.h"
#include "engine/model/model.h"

#include <optional>
#include <string>

namespace decoderscope {

// The user's position: a step by name, a place on its batch and head axes, and a cell of it.
struct Cursor {
    std::string step;
    Place place;
    std::optional<Cell> cell;
    bool operator==(const Cursor&) const = default;
};

// Where to open: where the model's author suggests, else on the first attention pattern, which shows most at a glance.
[[nodiscard]] Cursor opening_cursor(const Model& model, const Plan& plan);

}  // namespace decoderscope
