#pragma once

#include "engine/tensor.h"

#include <string>
#include <string_view>

namespace decoderscope {

// A cell as people write it: "blocks.0.attn.z[0, 1, 2, 3]".
struct CellName {
    std::string tensor;
    Cell cell;
};

// Throws Error quoting the text if it isn't one.
[[nodiscard]] CellName parse_cell_name(std::string_view text);
// "blocks.0.attn.z[0,1,2,3]", which parse_cell_name reads.
[[nodiscard]] std::string written(const CellName& name);
// Throws Error naming the tensor if these axes have no such cell.
void check_cell(const CellName& name, const Axes& axes);

}  // namespace decoderscope
