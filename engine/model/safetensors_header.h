#pragma once

#include "engine/storage.h"

#include <cstdint>
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
    std::uint64_t begin = 0;  // bytes from the start of the data
    std::uint64_t end = 0;
};

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;  // by name

// Parses the header's text, followed by `data_size` bytes of data. Checks that shapes, types and offsets fit each other
// and cover the data from the first byte to the last, and that no product of a shape's sizes overflows, even with empty
// axes. Throws Error naming the tensor and what was expected.
[[nodiscard]] StoredTensors parse_safetensors_header(std::string_view text, std::uint64_t data_size);

// The same of a file that may have been cut short: tensors whose bytes are not all there are left out, and named in
// `lost`. Bytes behind the last tensor are not looked at: they were not listed yet when the writing program ended.
[[nodiscard]] StoredTensors parse_cut_safetensors_header(std::string_view text, std::uint64_t data_size,
                                                         std::vector<std::string>& lost);

// How the recorder's files begin to say what they are, in their metadata's "format".
inline constexpr std::string_view kRecorderFormat = "decoderscope-trace";

// What the header says of the file as a whole: its __metadata__. Values that are no texts are left out.
[[nodiscard]] std::map<std::string, std::string, std::less<>> safetensors_metadata(std::string_view text);

}  // namespace decoderscope
