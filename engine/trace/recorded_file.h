#pragma once

#include "engine/trace/trace.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::trace {

// Among a trace's hyperparameters if it ends before what was recorded did; its first remark says why.
inline constexpr std::string_view kUnfinished = "(recording).unfinished";

}  // namespace decoderscope::trace

// The kinds of files that hold traces, each read by a function of its own.
namespace decoderscope::trace::sources {

// Bytes that stay where they are as long as they are used: of a mapped file, or decoded from a text.
struct Bytes {
    std::shared_ptr<const char> first;
    std::size_t size = 0;
    std::shared_ptr<const int> descriptor;  // of the mapped file, if it is one
    std::size_t offset = 0;                 // of the first byte in the file
};

// A tensor of stored numbers; F32 is used in place, others are converted when they are first read. Its bytes must be
// there. An unsupported dtype gives an empty tensor.
[[nodiscard]] Tensor stored_tensor(const Bytes& bytes, std::string_view dtype, const std::vector<Index>& shape);

// The tensor in NumPy's .npy format. Throws Error saying what was expected.
[[nodiscard]] TraceTensor npy_tensor(std::string name, const Bytes& bytes);

// A recorder's file: what its header says of the recording.
struct RecordedFile {
    Trace trace;
    bool is_recorders = false;
    Index rank = 0, world_size = 1;
    std::map<std::string, Index, std::less<>> sharded;  // the axis along which this rank holds a part
};
[[nodiscard]] RecordedFile recorded_file(const std::string& path);

// Whether a safetensors file holds tensors but no parameter ("….weight", "….bias"): no model, but what one computed, as
// `trace` writes it.
[[nodiscard]] bool holds_no_parameter(const std::string& path);

[[nodiscard]] Trace ranks(const std::string& manifest, const std::string& text);
[[nodiscard]] Trace npz(const std::string& path);
[[nodiscard]] Trace debugger(const std::string& path, const std::string& text);
[[nodiscard]] Trace polygraphy(const std::string& path, const std::string& text);
[[nodiscard]] Trace ms_probe(const std::string& path, const std::string& text);

}  // namespace decoderscope::trace::sources
