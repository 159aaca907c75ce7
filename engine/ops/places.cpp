#include "engine/ops/places.h"

#include <utility>

namespace decoderscope::ops {

std::vector<OperandName> Places::with_numbers(std::vector<OperandName> operands) const {
    if (given) operands.emplace_back("positions", OperandRole::positions);
    return operands;
}

float Places::number(const Operands& in, std::size_t operand, Index row, Index position) const {
    return given ? in[operand].at(Cell{row, first + position}) : static_cast<float>(first + position);
}

std::vector<float> Places::numbers(const Operands& in, std::size_t operand, Index count) const {
    std::vector<float> numbers;
    for (Index row = 0; row < (given ? in[operand].dim(0) : 1); ++row)
        for (Index position = 0; position < count; ++position) numbers.push_back(number(in, operand, row, position));
    return numbers;
}

Factor Places::factor(double value, std::string text, std::size_t operand, Index row, Index position) const {
    if (!given) return constant_factor(value, std::move(text));
    return derived_factor(value, std::move(text), operand, Cell{row, first + position});
}

}  // namespace decoderscope::ops
