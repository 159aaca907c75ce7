#pragma once

#include "engine/files/mapped_file.h"
#include "engine/tensor/storage.h"
#include "engine/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope {

// What a safetensors file's header says about a tensor.
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

// As above, for a file that may be truncated: tensors whose bytes are not all there are left out, and named in
// `lost`. Bytes after the last tensor are not read: they were not listed yet when the writing program ended.
[[nodiscard]] StoredTensors parse_cut_safetensors_header(std::string_view text, std::uint64_t data_size,
                                                         std::vector<std::string>& lost);

// How the recorder's files begin to say what they are, in their metadata's "format".
inline constexpr std::string_view kRecorderFormat = "decoderscope-trace";

// What the header says about the file as a whole: its __metadata__. Values that aren't texts are left out.
[[nodiscard]] std::map<std::string, std::string, std::less<>> safetensors_metadata(std::string_view text);

// Where parameters are among a recorded file's tensors: "param/h.0.attn.q.weight".
inline constexpr std::string_view kParameterPrefix = "param/";

// A file in the safetensors format (https://github.com/huggingface/safetensors), mapped into memory: opening it reads
// only the header. Every size and offset is checked against the file before anything is allocated. As with any mapping,
// the file must keep its length while its tensors are in use (mapped_file.h says what happens if not). Replacing the
// file by renaming another over it, as careful programs do, is harmless.
class SafetensorsFile {
public:
    using Entry = StoredTensor;

    // Throws Error naming the file and what is wrong with it.
    explicit SafetensorsFile(const std::string& path);

    [[nodiscard]] const std::string& path() const { return path_; }
    // By name, sorted.
    [[nodiscard]] const StoredTensors& entries() const { return entries_; }
    [[nodiscard]] bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }
    // Keeps only the tensors whose names begin so, under the rest of their names; all as they are if there is none.
    // Returns whether there are any.
    bool only_under(std::string_view prefix);

    // The names in the order in which their numbers lie in the file.
    [[nodiscard]] std::vector<std::string> names_in_order() const;

    // Called with each piece of a tensor as it is read: its values, and how many bytes of the file they took. If it
    // throws, reading ends.
    using Watch = std::function<void(std::span<const float> values, std::size_t bytes)>;
    // A floating tensor (F64, F32, F16, BF16, F8_E4M3, F8_E5M2) as float, its axes unnamed; F32 stays in the mapping,
    // nothing is copied. Without a watch it is read from disk on demand, with one immediately. Converted values are put
    // into `room`, which is enlarged if needed; they are valid until it is used again. Throws Error naming the tensor
    // if it is absent or of another type.
    [[nodiscard]] Tensor floats(std::string_view name, const Watch& watch = {}, Tensor* room = nullptr) const;
    // Throws the same Error as floats(), without reading anything.
    void check_floats(std::string_view name) const;
    // A tensor's bytes, as they are stored. Throws Error naming the tensor if it is absent.
    [[nodiscard]] std::span<const char> bytes(std::string_view name) const;
    // An integer tensor (I64, I32, I16, I8, U8, BOOL) as float. Throws Error if a value is beyond ±2^24, which a float
    // can't hold exactly.
    [[nodiscard]] Tensor integers(std::string_view name) const;

private:
    [[nodiscard]] const Entry& entry(std::string_view name) const;
    [[nodiscard]] Tensor read_floats(const std::string& dtype, const char* from, const Axes& axes, const Watch& watch,
                                     Tensor* room) const;

    std::string path_;
    MappedFile file_;
    std::size_t data_offset_ = 0;
    StoredTensors entries_;
};

// Writes float tensors in the order given, as F32; the file appears whole or not at all. Throws Error naming the file.
void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const std::map<std::string, std::string, std::less<>>& metadata = {});

}  // namespace decoderscope
