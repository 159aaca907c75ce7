#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/base/tables.h"
#include "engine/files/mapped_file.h"
#include "engine/files/stored_numbers.h"
#include "engine/trace/recorded_file.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string_view>

namespace decoderscope::trace::sources {

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
    if (descr.starts_with("|O")) throw Error("pickled objects, which are not read; expected numbers");
    for (const auto& [name, dtype] : asset_table("names")["numpy"].items())
        if (descr.starts_with(name)) return dtype.get_ref<const std::string&>();
    throw Error("descr {descr} is not supported; expected little-endian floats or integers",
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

// zlib counts in 32 bits, so both sides are handed over a piece at a time.
constexpr std::size_t kPiece = std::numeric_limits<uInt>::max();

// Deflate can't pack more than about a thousand bytes into one, so a size beyond that is a lie.
constexpr std::size_t kMostRatio = 1032;

struct End {
    void operator()(z_stream* stream) const { ::inflateEnd(stream); }
};

// The bytes that a zip's entry was deflated from, `size` of them. Throws Error if they are others or damaged.
std::shared_ptr<const char> inflated(std::string_view packed, std::size_t size) {
    if (size / kMostRatio > packed.size()) throw Error("its compressed data is too short for its size");
    const std::shared_ptr<char[]> bytes = std::make_shared<char[]>(std::max<std::size_t>(size, 1));
    z_stream stream = {};
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    const std::unique_ptr<z_stream, End> ends(&stream);
    std::size_t read = 0, written = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        const std::size_t in = std::min(packed.size() - read, kPiece), out = std::min(size - written, kPiece);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));  // zlib only reads it
        stream.avail_in = static_cast<uInt>(in);
        stream.next_out = reinterpret_cast<Bytef*>(bytes.get() + written);
        stream.avail_out = static_cast<uInt>(out);
        status = ::inflate(&stream, Z_NO_FLUSH);
        read += in - stream.avail_in;
        written += out - stream.avail_out;
        if (status == Z_OK && in == stream.avail_in && out == stream.avail_out) break;  // nothing goes on
    }
    if (status != Z_STREAM_END || written != size) throw Error("its compressed data is damaged");
    return {bytes, bytes.get()};
}

// A zip's bytes, read with a check that they are there. What a file says of places and sizes is counted in 64 bits on
// every machine.
class Zip {
public:
    explicit Zip(const MappedFile& file) : file_(file) {}

    template <class T>
    [[nodiscard]] T at(std::uint64_t offset) const {
        T value;
        check(offset, sizeof value);
        std::memcpy(&value, file_.data() + offset, sizeof value);
        return value;
    }
    [[nodiscard]] std::string_view text(std::uint64_t offset, std::uint64_t size) const {
        check(offset, size);
        return {file_.data() + offset, static_cast<std::size_t>(size)};
    }
    [[nodiscard]] std::size_t size() const { return file_.size(); }
    void check(std::uint64_t offset, std::uint64_t size) const {
        if (offset > file_.size() || size > file_.size() - offset) throw Error("truncated, or not an .npz");
    }

private:
    const MappedFile& file_;
};

constexpr std::uint32_t kEnd = 0x06054b50U, kEntry = 0x02014b50U, kEnd64Locator = 0x07064b50U;
constexpr std::uint32_t kInExtra = 0xffffffffU;

struct Directory {
    std::uint64_t offset = 0, entries = 0;
};

// Where the list of files is: the last record of a zip says it.
Directory directory_of(const Zip& zip) {
    constexpr std::size_t kRecord = 22, kLongestComment = 65535;
    if (zip.size() < kRecord) throw Error("truncated, or not an .npz");
    const std::size_t last = zip.size() - kRecord;
    for (std::size_t back = 0; back <= std::min(last, kLongestComment); ++back) {
        const std::size_t at = last - back;
        if (zip.at<std::uint32_t>(at) != kEnd) continue;
        if (at >= 20 && zip.at<std::uint32_t>(at - 20) == kEnd64Locator) {
            const auto record = zip.at<std::uint64_t>(at - 12);
            return {zip.at<std::uint64_t>(record + 48), zip.at<std::uint64_t>(record + 32)};
        }
        return {zip.at<std::uint32_t>(at + 16), zip.at<std::uint16_t>(at + 10)};
    }
    throw Error("truncated, or not an .npz: a zip's list of files is missing");
}

constexpr int kStored = 0, kDeflated = 8;

struct Entry {
    std::string name;
    int method = 0;  // kStored, kDeflated, or one that isn't read
    std::uint64_t size = 0, packed = 0, offset = 0, next = 0;
};

Entry entry_at(const Zip& zip, std::uint64_t at) {
    if (zip.at<std::uint32_t>(at) != kEntry) throw Error("a zip's list of files is damaged");
    const auto name_size = zip.at<std::uint16_t>(at + 28);
    const auto extra_size = zip.at<std::uint16_t>(at + 30), comment_size = zip.at<std::uint16_t>(at + 32);
    Entry entry;
    entry.method = zip.at<std::uint16_t>(at + 10);
    entry.name = zip.text(at + 46, name_size);
    entry.next = at + 46 + name_size + extra_size + comment_size;
    const auto full = zip.at<std::uint32_t>(at + 24), packed = zip.at<std::uint32_t>(at + 20);
    const auto offset = zip.at<std::uint32_t>(at + 42);
    entry.size = full;
    entry.packed = packed;
    entry.offset = offset;
    // Sizes beyond 4 GB are in the extra field, in this order, each only if it is needed.
    for (std::uint64_t extra = at + 46 + name_size; extra + 4 <= at + 46 + name_size + extra_size;) {
        const auto id = zip.at<std::uint16_t>(extra), length = zip.at<std::uint16_t>(extra + 2);
        std::uint64_t value = extra + 4;
        if (id == 1) {
            if (full == kInExtra) entry.size = zip.at<std::uint64_t>(value);
            if (full == kInExtra) value += 8;
            if (packed == kInExtra) entry.packed = zip.at<std::uint64_t>(value);
            if (packed == kInExtra) value += 8;
            if (offset == kInExtra) entry.offset = zip.at<std::uint64_t>(value);
        }
        extra += 4 + std::uint64_t{length};
    }
    return entry;
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
        if (begin > bytes.size) throw Error("truncated within its .npy header");
        const std::string_view header(at + (long_header ? 12 : 10), length);
        TraceTensor tensor;
        tensor.name = name;
        tensor.dtype = dtype_of(after_key(header, "'descr'"));
        tensor.shape = shape_of(after_key(header, "'shape'"));
        constexpr std::string_view yes = "True";  // not a message: Python's word
        if (after_key(header, "'fortran_order'").starts_with(yes) && tensor.shape.size() > 1)
            throw Error(
                "stored column by column (Fortran order); expected rows, as numpy.ascontiguousarray gives them");
        const Dtype* dtype = dtype_named(tensor.dtype);
        std::uint64_t size = dtype == nullptr ? 0 : dtype->bytes;
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

Trace npz(const std::string& path) {
    const MappedFile file(path);
    const Zip zip(file);
    Trace trace;
    trace.path = path;
    trace.origin = message("an .npz of arrays");
    trace.remarks.push_back(message("only arrays: no calls, no parameters and no hyperparameters were saved"));
    return naming(path, [&] {
        const Directory directory = directory_of(zip);
        std::uint64_t at = directory.offset;
        for (std::uint64_t i = 0; i < directory.entries; ++i) {
            const Entry entry = entry_at(zip, at);
            at = entry.next;
            std::string name = entry.name;
            if (name.ends_with(".npy")) name.resize(name.size() - 4);
            if (entry.method != kStored && entry.method != kDeflated)
                throw Error("{name}: compressed by another method than numpy.savez_compressed's", {{"name", name}});
            const std::uint64_t begin =
                entry.offset + 30 + zip.at<std::uint16_t>(entry.offset + 26) + zip.at<std::uint16_t>(entry.offset + 28);
            if (entry.method == kDeflated) {
                const std::string_view deflated = zip.text(begin, entry.packed);
                naming(name, [&] {
                    if (entry.size > std::numeric_limits<std::size_t>::max() / 2)
                        throw Error("does not fit into the machine's memory");
                    const auto size = static_cast<std::size_t>(entry.size);
                    trace.tensors.push_back(npy_tensor(name, {inflated(deflated, size), size, nullptr, 0}));
                });
                continue;
            }
            zip.check(begin, entry.size);
            const std::shared_ptr<const char> first(file.bytes(), file.data() + begin);
            trace.tensors.push_back(npy_tensor(name, {first, static_cast<std::size_t>(entry.size), file.descriptor(),
                                                      static_cast<std::size_t>(begin)}));
        }
        return trace;
    });
}

}  // namespace decoderscope::trace::sources
