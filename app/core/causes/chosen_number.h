#pragma once

#include "engine/run.h"

#include <optional>
#include <string>

namespace decoderscope {

// A number of a run that is asked about: a cell, or the difference of two cells of one tensor (of two logits).
struct ChosenNumber {
    std::string tensor;  // "logits"
    Cell cell;
    std::optional<Cell> minus;

    // In a tensor of that name.
    [[nodiscard]] double in(const Tensor& values) const {
        const double value = static_cast<double>(values.at(cell));
        return minus ? value - static_cast<double>(values.at(*minus)) : value;
    }
    bool operator==(const ChosenNumber&) const = default;
};

// Throws Error naming the tensor or the cell if the run has no such number.
void check_number(const Run& run, const ChosenNumber& number);

}  // namespace decoderscope
