#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

// Safetensors files built from raw bytes, so that they can hold what the program itself never writes.
namespace decoderscope::testing {

// Numbers as they are stored in a file.
template <class T>
std::string raw(const std::vector<T>& numbers) {
    std::string bytes;
    for (const T number : numbers) {
        char at[sizeof(T)];
        std::memcpy(at, &number, sizeof(T));
        bytes.append(at, sizeof(T));
    }
    return bytes;
}

// A file of this header and this data, whether they fit or not.
inline std::string with_header(const std::string& header, const std::string& data = {}) {
    return raw<std::uint64_t>({header.size()}) + header + data;
}

struct RawTensor {
    std::string name, dtype, shape;  // "tokens", "I64", "[2, 3]"
    std::string bytes;
};

inline std::string raw_safetensors(const std::vector<RawTensor>& tensors) {
    std::string header, data;
    for (const RawTensor& tensor : tensors) {
        const std::string begin = std::to_string(data.size());
        data += tensor.bytes;
        header += (header.empty() ? "{" : ", ") + ("\"" + tensor.name) + "\": {\"dtype\": \"" + tensor.dtype +
                  "\", \"shape\": " + tensor.shape + ", \"data_offsets\": [" + begin + ", " +
                  std::to_string(data.size()) + "]}";
    }
    return with_header(header.empty() ? "{}" : header + "}", data);
}

}  // namespace decoderscope::testing
