#pragma once

#include "engine/formulas/reach.h"
#include "engine/graph/run.h"

#include <cstddef>
#include <vector>

// What reads a cell next, as a spreadsheet's dependents: the steps that have its tensor among their operands, and which
// of their cells read it.
namespace decoderscope::sheet {

struct Reader {
    StepId step = 0;
    formulas::Box cells;    // that read it; the smallest box around them
    std::size_t count = 0;  // of cells in the box
    Cell nearest;           // of these, the one at the same place, as far as both have the same axes
};

// The readers of a cell in the order of computation, of the backward pass, too. An operation says by its formula which
// cells read it, whatever their numbers: keys that the mask hides are read, too. One without a formula is computed once
// more with NaN there. Steps in which no cell reads it are left out.
[[nodiscard]] std::vector<Reader> readers_of(const Run& run, const Step& step, const Cell& cell);

}  // namespace decoderscope::sheet
