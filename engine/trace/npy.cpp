#include "engine/error.h"
#include "engine/limits.h"
#include "engine/trace/sources.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>

namespace decoderscope::trace_sources {

namespace {

// The text behind a key of the header's Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
std::string_view after_key(std::string_view header, std::string_view key) {
    const std::size_t at = header.find(key);
    if (at == std::string_view::npos) throw Error("{key}: missing in the .npy header", {{"key", key}});
    std::string_view rest = header.substr(at + key.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" ':\""), rest.size()));
    return rest;
}

std::string_view dtype_of(std::string_view descr) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> types = {{
        {"<f4", "F32"},
        {"<f8", "F64"},
        {"<f2", "F16"},
        {"<V2", "BF16"},
        {"|V2", "BF16"},
        {"bfloat16", "BF16"},
        {"<i8", "I64"},
        {"<i4", "I32"},
        {"<i2", "I16"},
        {"|i1", "I8"},
        {"|u1", "U8"},
        {"|b1", "BOOL"},
        {"<u4", "U32"},
        {"<u2", "U16"},
    }};
    if (descr.starts_with("|O")) throw Error("pickled objects, which are not read; expected numbers");
    for (const auto& [name, dtype] : types)
        if (descr.starts_with(name)) return dtype;
    throw Error("descr {descr} is not read; expected little-endian floats or integers",
                {{"descr", descr.substr(0, 12)}});
}

std::vector<Index> shape_of(std::string_view text) {
    std::vector<Index> shape;
    if (text.empty() || text.front() != '(') throw Error("shape: expected a tuple");
    const char* at = text.data() + 1;
    const char* const end = text.data() + std::min(text.find(')'), text.size());
    Index count = 1;
    while (at < end) {
        if (*at == ' ' || *at == ',') {
            ++at;
            continue;
        }
        Index size = 0;
        const auto [after, failed] = std::from_chars(at, end, size);
        const auto all = limits::count_of({count, std::max<Index>(size, 1)});
        if (failed != std::errc() || size < 0 || !all || shape.size() >= limits::kAxes)
            throw Error("shape: expected at most {most} sizes", {{"most", limits::kAxes}});
        count = *all;
        shape.push_back(size);
        at = after;
    }
    return shape;
}

}  // namespace

TraceTensor npy_tensor(std::string name, const Bytes& bytes) {
    return naming(name, [&] {
        const char* at = bytes.first.get();
        if (bytes.size < 12 || std::memcmp(at, "\x93NUMPY", 6) != 0) throw Error("expected NumPy's .npy format");
        const bool long_header = at[6] > 1;
        std::uint32_t length = 0;
        std::memcpy(&length, at + 8, long_header ? 4 : 2);
        const std::size_t begin = (long_header ? 12 : 10) + std::size_t{length};
        if (begin > bytes.size) throw Error("cut within its .npy header");
        const std::string_view header(at + (long_header ? 12 : 10), length);
        TraceTensor tensor;
        tensor.name = name;
        tensor.dtype = dtype_of(after_key(header, "'descr'"));
        tensor.shape = shape_of(after_key(header, "'shape'"));
        constexpr std::string_view yes = "True";  // not a message: Python's word
        if (after_key(header, "'fortran_order'").starts_with(yes) && tensor.shape.size() > 1)
            throw Error("stored column by column; expected rows, which numpy.ascontiguousarray makes");
        std::uint64_t size = bytes_of_dtype(tensor.dtype);
        for (const Index length_of_axis : tensor.shape) {
            const auto rows = static_cast<std::uint64_t>(length_of_axis);
            if (rows != 0 && size > std::numeric_limits<std::uint64_t>::max() / rows)
                throw Error("its shape is larger than any file");
            size *= rows;
        }
        if (size != bytes.size - begin)
            throw Error("{size} bytes of numbers, expected {expected} for its shape",
                        {{"size", bytes.size - begin}, {"expected", size}});
        const std::shared_ptr<const char> first(bytes.first, at + begin);
        tensor.values = stored_tensor({first, static_cast<std::size_t>(size), bytes.descriptor, bytes.offset + begin},
                                      tensor.dtype, tensor.shape);
        return tensor;
    });
}

}  // namespace decoderscope::trace_sources
