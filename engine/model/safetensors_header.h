#pragma once

#include "engine/storage.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// What a safetensors file's header says of a tensor.
struct StoredTensor {
    std::string dtype;  // "F32", "I64", …
    std::vector<Index> shape;
    std::size_t begin = 0;  // bytes from the start of the data
    std::size_t end = 0;
};

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;  // by name

// Parses the header's text, followed by `data_size` bytes of data. Checks that shapes, types and offsets fit each other
// and cover the data from the first byte to the last, and that no product of a shape's sizes overflows, even with empty
// axes. Throws Error naming the tensor and what was expected.
[[nodiscard]] StoredTensors parse_safetensors_header(std::string_view text, std::size_t data_size);

}  // namespace decoderscope
