#pragma once

#include "engine/tensor.h"

#include <string>
#include <string_view>

namespace decoderscope {

// What a checkpoint tensor is, judging by its name.
struct CanonicalName {
    enum class Packing {
        alone,       // one parameter
        one_by_one,  // q's rows, then k's, then v's; `name` ends in "qkv.weight" or "qkv.bias"
        unclear,     // q, k and v in an order that differs between modules that use this name
    };
    std::string name;  // the contract's; the original name if unknown
    Index head = -1;   // one head's rows of it; -1: all of it
    Packing packing = Packing::alone;
};

[[nodiscard]] CanonicalName canonical_name(std::string_view name);

// Whether it isn't learned: masks, frequencies and positional codes that modules keep as buffers.
[[nodiscard]] bool is_buffer(std::string_view name);

}  // namespace decoderscope
