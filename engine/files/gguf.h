#pragma once

#include "engine/base/json.h"
#include "engine/files/block_numbers.h"
#include "engine/files/mapped_file.h"
#include "engine/files/safetensors.h"
#include "engine/tensor/tensor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope {

// What a GGUF file says about a tensor.
struct GgufTensor {
    const packed::BlockType* type = nullptr;
    std::vector<Index> shape;  // the innermost axis last, unlike in the file
    std::uint64_t begin = 0;   // bytes from the start of the data
    std::uint64_t end = 0;
};

// All that comes before the data.
struct GgufHeader {
    Json metadata = Json::object();
    std::map<std::string, GgufTensor, std::less<>> tensors;
    std::uint64_t data_offset = 0;  // bytes from the start of the file
};

// Reads the header of a whole file, version 2 or 3 (https://github.com/ggml-org/ggml, docs/gguf.md). Checks every
// length, count, type, shape and offset against the file before anything of that size is allocated. Throws Error naming
// the key or tensor and what was expected.
[[nodiscard]] GgufHeader parse_gguf_header(std::span<const char> file);

// What llama.cpp and Ollama keep: metadata, a tokenizer and tensors in one file, mapped into memory. Opening it reads
// only the header.
class GgufFile {
public:
    // Throws Error naming the file and what is wrong with it.
    explicit GgufFile(const std::string& path);

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const Json& metadata() const { return header_.metadata; }
    [[nodiscard]] const std::map<std::string, GgufTensor, std::less<>>& entries() const { return header_.tensors; }
    [[nodiscard]] std::vector<std::string> names_in_order() const;

    // A tensor as float, its axes unnamed; converted values are put into `room`, as by SafetensorsFile::floats().
    // Throws Error naming the tensor if it is absent.
    [[nodiscard]] Tensor floats(std::string_view name, const SafetensorsFile::Watch& watch = {},
                                Tensor* room = nullptr) const;
    // A tensor's stored blocks. Throws the same.
    [[nodiscard]] std::span<const char> blocks(std::string_view name) const;
    // What a tensor's number, in row-major order, is expanded from; nothing if it is stored as it is. Throws the same.
    [[nodiscard]] std::optional<packed::StoredNumber> stored_number(std::string_view name, Index at) const;

private:
    [[nodiscard]] const GgufTensor& entry(std::string_view name) const;

    std::string path_;
    MappedFile file_;
    GgufHeader header_;
};

}  // namespace decoderscope
