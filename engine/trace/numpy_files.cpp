#include "engine/base/error.h"
#include "engine/base/json.h"
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
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace decoderscope::trace::sources {

namespace {

// What stands before the numbers of an .npy file.
struct NpyHeader {
    std::string dtype;
    std::vector<Index> shape;
    std::size_t begin = 0;    // of the numbers, in bytes
    std::uint64_t bytes = 0;  // of the numbers
};

// Where the numbers can begin at the latest. NumPy itself reads no dictionary of more than 10,000 bytes.
constexpr std::size_t kMostHeader = 65'536;

// The header's dictionary as Python reads it: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderReader {
public:
    explicit HeaderReader(std::string_view text) : text_(text) {}

    void read(NpyHeader& header) {
        std::set<std::string_view> keys;
        need('{');
        while (!took('}')) {
            const std::string_view key = quoted();
            need(':');
            if (!keys.insert(key).second) throw Error("{name}: given twice, expected once", {{"name", quotable(key)}});
            if (key == "descr")
                header.dtype = dtype();
            else if (key == "shape")
                header.shape = shape();
            else if (key == "fortran_order")
                by_columns_ = flag();
            else
                throw Error("the .npy header has an unknown key, {key}", {{"key", quotable(key)}});
            if (next() != '}') need(',');
        }
        if (next() != '\0') fail();
        for (const std::string_view key : {"descr", "fortran_order", "shape"})
            if (!keys.contains(key))
                throw Error("{key}: missing in the .npy header", {{"key", "'" + std::string(key) + "'"}});
        if (by_columns_ && header.shape.size() > 1)
            throw Error(
                "stored column by column (Fortran order); expected rows, as numpy.ascontiguousarray gives them");
    }

private:
    [[noreturn]] void fail() const {
        throw Error("the .npy header is {text}, expected a dictionary of descr, fortran_order and shape",
                    {{"text", quotable(text_)}});
    }
    // Of another's text, as much as a sentence can hold.
    static std::string quotable(std::string_view text) {
        constexpr std::size_t kMost = 100;
        std::string quoted;
        for (const char c : text.substr(0, kMost)) quoted += c >= ' ' && c <= '~' ? c : '?';
        return quoted.substr(0, quoted.find_last_not_of(' ') + 1) + (text.size() > kMost ? "…" : "");
    }

    // The next character that is no space; NUL at the end.
    [[nodiscard]] char next() {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    [[nodiscard]] bool took(char sign) {
        const bool here = next() == sign;
        if (here) ++at_;
        return here;
    }
    void need(char sign) {
        if (!took(sign)) fail();
    }
    [[nodiscard]] std::string_view quoted() {
        const char quote = next();
        const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
        if (end == std::string_view::npos) fail();
        const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
        if (text.find('\\') != std::string_view::npos) fail();
        at_ = end + 1;
        return text;
    }
    [[nodiscard]] std::string_view word() {
        static_cast<void>(next());
        const auto is_part = [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        };
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_part(text_[at_])) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    [[nodiscard]] bool flag() {
        const std::string_view given = word();
        const bool yes = given == "True";      // not a message: Python's word
        if (!yes && given != "False") fail();  // not a message: Python's word
        return yes;
    }
    [[nodiscard]] std::string dtype() {
        if (next() == '[') throw Error("records of several fields; expected numbers of one type");
        const std::string_view descr = quoted();
        if (descr == "|O") throw Error("pickled objects, which are not read; expected numbers");
        const OrderedJson& known = asset_table("names")["numpy"];
        const auto found = known.find(descr);
        if (found == known.end())
            throw Error("descr '{descr}' is not supported; expected little-endian floats or integers",
                        {{"descr", quotable(descr)}});
        return found->get<std::string>();
    }
    [[nodiscard]] std::vector<Index> shape() {
        std::vector<Index> shape;
        Index count = 1;
        if (!took('(')) throw Error("shape: expected a tuple");
        while (!took(')')) {
            const std::string_view digits = word();
            Index size = 0;
            const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
            const auto all = limits::count_of({count, std::max<Index>(size, 1)});
            if (digits.empty() || failed != std::errc() || end != digits.data() + digits.size() || !all ||
                shape.size() >= limits::kAxes)
                throw Error("shape: expected at most {most} sizes", {{"most", limits::kAxes}});
            count = *all;
            shape.push_back(size);
            if (next() != ')') need(',');
        }
        return shape;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool by_columns_ = false;
};

// `beginning`: the file's first bytes, up to kMostHeader of them.
NpyHeader npy_header(std::string_view beginning) {
    constexpr std::string_view kMagic = "\x93NUMPY";
    if (beginning.size() < 12 || !beginning.starts_with(kMagic)) throw Error("expected NumPy's .npy format");
    const int version = beginning[6];
    if (version < 1 || version > 3)
        throw Error("version {version} of NumPy's .npy format, expected 1 to 3", {{"version", version}});
    std::uint32_t length = 0;
    std::memcpy(&length, beginning.data() + 8, version > 1 ? 4 : 2);
    const std::size_t dictionary = version > 1 ? 12 : 10;
    if (length > beginning.size() - dictionary) throw Error("truncated within its .npy header");
    NpyHeader header{.begin = dictionary + length};
    HeaderReader(beginning.substr(dictionary, length)).read(header);
    header.bytes = dtype_named(header.dtype)->bytes;
    for (const Index size : header.shape) header.bytes *= static_cast<std::uint64_t>(size);
    return header;
}

void check_size(const NpyHeader& header, std::uint64_t size) {
    if (header.bytes != size - header.begin)
        throw Error("{size} bytes of numbers, expected {expected} for its shape",
                    {{"size", size - header.begin}, {"expected", header.bytes}});
}

// zlib counts in 32 bits, so both sides are handed over a piece at a time.
constexpr std::size_t kPiece = std::numeric_limits<uInt>::max();

// Deflate can't pack more than about a thousand bytes into one, so a size beyond that is a lie.
constexpr std::size_t kMostRatio = 1032;

struct End {
    void operator()(z_stream* stream) const { ::inflateEnd(stream); }
};

// Unpacks the bytes that a zip's entry was deflated from, as many as `bytes` has room for; `whole`: they must be all.
// Throws Error if they are fewer or damaged.
void inflate(std::string_view packed, std::span<char> bytes, bool whole) {
    z_stream stream = {};
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    const std::unique_ptr<z_stream, End> ends(&stream);
    std::size_t read = 0, written = 0;
    int status = Z_OK;
    while (status == Z_OK && (whole || written < bytes.size())) {
        const std::size_t in = std::min(packed.size() - read, kPiece), out = std::min(bytes.size() - written, kPiece);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));  // zlib only reads it
        stream.avail_in = static_cast<uInt>(in);
        stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + written);
        stream.avail_out = static_cast<uInt>(out);
        status = ::inflate(&stream, Z_NO_FLUSH);
        read += in - stream.avail_in;
        written += out - stream.avail_out;
        if (status == Z_OK && in == stream.avail_in && out == stream.avail_out) break;  // nothing goes on
    }
    if (written != bytes.size() || (whole && status != Z_STREAM_END)) throw Error("its compressed data is damaged");
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

constexpr std::uint32_t kEnd = 0x06054b50U, kEntry = 0x02014b50U, kFile = 0x04034b50U, kEnd64Locator = 0x07064b50U;
constexpr std::uint32_t kInExtra = 0xffffffffU;

struct Directory {
    std::uint64_t offset = 0, entries = 0, size = 0;
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
            return {zip.at<std::uint64_t>(record + 48), zip.at<std::uint64_t>(record + 32),
                    zip.at<std::uint64_t>(record + 40)};
        }
        return {zip.at<std::uint32_t>(at + 16), zip.at<std::uint16_t>(at + 10), zip.at<std::uint32_t>(at + 12)};
    }
    throw Error("truncated, or not an .npz: a zip's list of files is missing");
}

constexpr int kStored = 0, kDeflated = 8;

struct Entry {
    std::string file, name;  // "logits.npy" is the array logits
    int method = 0;          // kStored, kDeflated, or one that isn't read
    std::uint32_t checksum = 0;
    std::uint64_t size = 0, packed = 0, offset = 0, next = 0;
    std::uint64_t begin = 0;  // of its bytes
};

Entry entry_at(const Zip& zip, std::uint64_t at) {
    if (zip.at<std::uint32_t>(at) != kEntry) throw Error("a zip's list of files is damaged");
    const auto name_size = zip.at<std::uint16_t>(at + 28);
    const auto extra_size = zip.at<std::uint16_t>(at + 30), comment_size = zip.at<std::uint16_t>(at + 32);
    Entry entry;
    entry.method = zip.at<std::uint16_t>(at + 10);
    entry.checksum = zip.at<std::uint32_t>(at + 16);
    entry.file = zip.text(at + 46, name_size);
    entry.name = entry.file.substr(0, entry.file.size() - (entry.file.ends_with(".npy") ? 4 : 0));
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

// All of a zip's entries, in its list's order. No two may have one name or share bytes: a small file could otherwise
// claim any size, and which of two arrays is meant, nobody knows.
std::vector<Entry> entries_of(const Zip& zip) {
    const Directory directory = directory_of(zip);
    std::vector<Entry> entries;
    if (directory.entries > limits::kTensors)
        throw Error("{count} tensors, expected at most {most}",
                    {{"count", directory.entries}, {"most", limits::kTensors}});
    std::uint64_t at = directory.offset;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
        Entry entry = entry_at(zip, at);
        at = entry.next;
        if (zip.at<std::uint32_t>(entry.offset) != kFile) throw Error("a zip's list of files is damaged");
        entry.begin =
            entry.offset + 30 + zip.at<std::uint16_t>(entry.offset + 26) + zip.at<std::uint16_t>(entry.offset + 28);
        zip.check(entry.begin, entry.packed);
        entries.push_back(std::move(entry));
    }
    if (at - directory.offset != directory.size) throw Error("a zip's list of files is damaged");
    std::vector<const Entry*> sorted;
    for (const Entry& entry : entries) sorted.push_back(&entry);
    std::ranges::sort(sorted, {}, &Entry::name);
    if (const auto twice = std::ranges::adjacent_find(sorted, {}, &Entry::name); twice != sorted.end())
        throw Error("{name}: stored twice, expected once", {{"name", (*twice)->name}});
    std::ranges::sort(sorted, {}, &Entry::offset);
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (sorted[i]->offset < sorted[i - 1]->begin + sorted[i - 1]->packed)
            throw Error("{name}: shares bytes with {other}, expected its own",
                        {{"name", sorted[i]->name}, {"other", sorted[i - 1]->name}});
    for (const Entry& entry : entries)
        if (zip.text(entry.offset + 30, zip.at<std::uint16_t>(entry.offset + 26)) != entry.file)
            throw Error("{name}: has another name where it is stored", {{"name", entry.name}});
    return entries;
}

// Nothing is unpacked if all of it takes far more room than the file: no recording is so regular.
void check_unpacked_size(const std::vector<Entry>& entries, std::size_t file) {
    constexpr std::uint64_t kLittle = std::uint64_t{256} << 20;
    std::uint64_t left = std::max(kLittle, 100 * std::uint64_t{file});
    for (const Entry& entry : entries) {
        if (entry.method != kDeflated) continue;
        naming(entry.name, [&] {
            if (entry.size / kMostRatio > entry.packed) throw Error("its compressed data is too short for its size");
        });
        if (entry.size > left)
            throw Error(
                "{name}: unpacked, it and those before it take more than a hundred times the file's {size} bytes",
                {{"name", entry.name}, {"size", file}});
        left -= entry.size;
    }
}

// The bytes of an entry: those of the file, or unpacked.
Bytes bytes_of(const Zip& zip, const MappedFile& file, const Entry& entry) {
    if (entry.method != kStored && entry.method != kDeflated)
        throw Error("{name}: compressed by another method than numpy.savez_compressed's", {{"name", entry.name}});
    const std::string_view stored = zip.text(entry.begin, entry.packed);
    Bytes bytes{{file.bytes(), stored.data()}, stored.size(), file.descriptor(), static_cast<std::size_t>(entry.begin)};
    if (entry.method == kDeflated) {
        std::vector<char> beginning(static_cast<std::size_t>(std::min<std::uint64_t>(entry.size, kMostHeader)));
        const auto unpacked = naming(entry.name, [&] {
            inflate(stored, beginning, false);
            check_size(npy_header({beginning.data(), beginning.size()}), entry.size);
            auto all = std::make_shared<std::vector<char>>(static_cast<std::size_t>(entry.size));
            inflate(stored, *all, true);
            return all;
        });
        bytes = {{unpacked, unpacked->data()}, unpacked->size(), nullptr, 0};
    } else if (entry.size != entry.packed) {
        throw Error("a zip's list of files is damaged");
    }
    const auto* first = reinterpret_cast<const Bytef*>(bytes.first.get());
    if (::crc32_z(0, first, bytes.size) != entry.checksum)
        throw Error("{name}: damaged: its checksum isn't the one that was stored with it", {{"name", entry.name}});
    return bytes;
}

}  // namespace

TraceTensor npy_tensor(std::string name, const Bytes& bytes) {
    return naming(name, [&] {
        NpyHeader header = npy_header({bytes.first.get(), std::min(bytes.size, kMostHeader)});
        check_size(header, bytes.size);
        const std::shared_ptr<const char> first(bytes.first, bytes.first.get() + header.begin);
        TraceTensor tensor;
        tensor.name = name;
        tensor.values = stored_tensor(
            {first, static_cast<std::size_t>(header.bytes), bytes.descriptor, bytes.offset + header.begin},
            header.dtype, header.shape);
        tensor.dtype = std::move(header.dtype);
        tensor.shape = std::move(header.shape);
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
        const std::vector<Entry> entries = entries_of(zip);
        check_unpacked_size(entries, file.size());
        for (const Entry& entry : entries) {
            const Bytes bytes = bytes_of(zip, file, entry);
            trace.tensors.push_back(npy_tensor(entry.name, bytes));
        }
        return trace;
    });
}

}  // namespace decoderscope::trace::sources
