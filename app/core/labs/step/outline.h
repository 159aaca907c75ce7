#pragma once

#include "engine/graph/plan.h"

#include <string>
#include <vector>

namespace decoderscope::core::step {

// A box of the diagram: steps that belong together.
struct OutlinePart {
    Part part = Part::input;
    Phrase title;  // "Self-attention", "LayerNorm"
    Meaning meaning = Meaning::residual;
    std::vector<StepId> steps;
    bool on_stream = false;               // it carries the residual stream, rather than adding to it from the side
    std::vector<std::size_t> reads = {};  // the parts of its block that its steps read, by number, in order
};

// A block, or the steps before, between and after the blocks (then `name` is empty).
struct OutlineBlock {
    std::string name;  // "blocks.0", "encoder.blocks.1"
    StackKind stack = StackKind::decoder;
    std::vector<OutlinePart> parts;
    bool is_back = false;  // of the backward pass: gradients
};

// "Encoder" or "Decoder".
[[nodiscard]] const char* stack_name(StackKind stack);

// The computed steps as the diagram draws them, in order. The arrows decide which parts lie on the stream: a norm does
// if a residual sum or the next block reads it.
[[nodiscard]] std::vector<OutlineBlock> outline_of(const Plan& plan);

}  // namespace decoderscope::core::step
