#pragma once

#include "engine/tensor.h"

#include <string>
#include <string_view>

namespace decoderscope {

// What a tensor of a checkpoint is, as far as its name tells.
struct CanonicalName {
    enum class Packing {
        alone,       // one parameter
        one_by_one,  // q's rows, then k's, then v's; `name` ends in "qkv.weight" or "qkv.bias"
        unclear,     // q, k and v in an order that different modules of this name don't agree on
    };
    std::string name;  // the contract's; the name as it stood where nothing is known of it
    Index head = -1;   // one head's rows of it; -1: all of it
    Packing packing = Packing::alone;
};

[[nodiscard]] CanonicalName canonical_name(std::string_view name);

// What isn't learned: masks, frequencies and positional codes that modules keep as buffers.
[[nodiscard]] bool is_buffer(std::string_view name);

}  // namespace decoderscope
