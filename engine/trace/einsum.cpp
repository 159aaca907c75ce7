#include "engine/trace/einsum.h"

#include <cstddef>
#include <utility>

namespace decoderscope::trace {

bool is_product(const TraceCall& call) {
    const bool of_two = call.function == "matmul" || call.function == "bmm" || call.function == "einsum";
    return call.parameters.empty() &&
           ((of_two && call.in.size() == 2) || (call.function == "baddbmm" && call.in.size() == 3));
}

std::optional<Einsum> einsum_of(const TraceCall& call) {
    const auto given = call.with.find("equation");
    if (call.function != "einsum" || given == call.with.end()) return std::nullopt;
    std::string equation = given->second;
    std::erase_if(equation, [](char c) { return c == ' ' || c == '.'; });
    const std::size_t arrow = equation.find("->");
    if (arrow == std::string::npos) return std::nullopt;
    Einsum found{{}, equation.substr(arrow + 2)};
    std::string operand;
    for (const char c : equation.substr(0, arrow) + ",") {
        if (c != ',')
            operand += c;
        else
            found.operands.push_back(std::exchange(operand, std::string()));
    }
    return found.operands.size() == call.in.size() ? std::optional(std::move(found)) : std::nullopt;
}

int from_last(const std::string& letters, char letter) {
    const std::size_t at = letters.rfind(letter);
    return at == std::string::npos ? -1 : static_cast<int>(letters.size() - 1 - at);
}

}  // namespace decoderscope::trace
