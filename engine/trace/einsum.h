#pragma once

#include "engine/trace/trace.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::trace {

// Whether a call multiplies two tensors, neither of them a parameter; baddbmm's third is what they are added to.
[[nodiscard]] bool is_product(const TraceCall& call);

// What torch.einsum was told: a letter for each axis, "bqhd" and "bkhd" -> "bhqk". What "…" stands for, in front, is
// left out, so letters are counted from the last.
struct Einsum {
    std::vector<std::string> operands;
    std::string out;
};

// Of a recorded call; nothing if it isn't an einsum with "->" and as many operands as tensors.
[[nodiscard]] std::optional<Einsum> einsum_of(const TraceCall& call);

// How far from the last axis the letter stands, from 0; -1 if it doesn't.
[[nodiscard]] int from_last(const std::string& letters, char letter);

}  // namespace decoderscope::trace
