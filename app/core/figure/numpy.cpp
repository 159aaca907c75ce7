#include "app/core/figure/numpy.h"

#include "engine/base/error.h"

#include <zip.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ostream>
#include <utility>

namespace decoderscope::core {

namespace {

// ---- a stream as minizip sees a file

// The bytes of one array's entry, held in memory until it is complete: minizip seeks back to its beginning to write its
// length, and the output stream need not be seekable.
struct Pending {
    std::ostream& out;
    std::uint64_t written = 0;  // bytes already in the stream
    std::string bytes;          // the bytes after them
    std::size_t at = 0;         // where in these bytes to write next

    void put(const char* from, std::size_t count) {
        bytes.replace(at, count, from, count);
        at += count;
    }
    bool seek(std::uint64_t offset) {
        if (offset < written || offset > written + bytes.size()) return false;
        at = static_cast<std::size_t>(offset - written);
        return true;
    }
    void flush() {
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        written += bytes.size();
        bytes.clear();
        at = 0;
    }
};

Pending& pending(void* stream) { return *static_cast<Pending*>(stream); }

// minizip is C: no exception may escape into it.

voidpf open_stream(voidpf opaque, const void*, int) { return opaque; }

uLong read_nothing(voidpf, voidpf, void*, uLong) { return 0; }

uLong write_to_stream(voidpf, voidpf stream, const void* bytes, uLong count) noexcept {
    try {
        pending(stream).put(static_cast<const char*>(bytes), count);
        return count;
    } catch (...) {
        return 0;
    }
}

ZPOS64_T tell_in_stream(voidpf, voidpf stream) noexcept { return pending(stream).written + pending(stream).at; }

long seek_in_stream(voidpf, voidpf stream, ZPOS64_T offset, int origin) noexcept {
    const Pending& now = pending(stream);
    const std::uint64_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                               : origin == ZLIB_FILEFUNC_SEEK_CUR ? now.written + now.at
                                                                  : now.written + now.bytes.size();
    return pending(stream).seek(from + offset) ? 0 : -1;
}

int close_stream(voidpf, voidpf) { return 0; }

int error_of_stream(voidpf, voidpf) { return 0; }

zlib_filefunc64_def functions_on(Pending& stream) {
    return {open_stream,    read_nothing, write_to_stream, tell_in_stream,
            seek_in_stream, close_stream, error_of_stream, &stream};
}

// ---- the archive

void check(int status) {
    if (status != ZIP_OK) throw Error("cannot write the zip: the archive reports error {status}", {{"status", status}});
}

// Writes a zip, entry by entry: uncompressed and without dates, so that the same entries give the same bytes. One entry
// at a time is in memory. All throw Error if it cannot be written.
class ZipWriter {
public:
    explicit ZipWriter(std::ostream& out) : stream_{.out = out, .bytes = {}}, functions_(functions_on(stream_)) {
        zip_ = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions_);
        if (zip_ == nullptr) throw Error("cannot write the zip: the archive cannot be created");
    }
    ZipWriter(const ZipWriter&) = delete;
    ZipWriter& operator=(const ZipWriter&) = delete;
    // An archive that wasn't closed is no zip.
    ~ZipWriter() {
        if (zip_ != nullptr) zipClose(zip_, nullptr);
    }

    // `large`: the entry may exceed 4 GB, which a zip must know beforehand.
    void begin(const std::string& name, bool large) {
        zip_fileinfo info{};
        info.dosDate = 0x00210000;  // 1 January 1980, the first that a zip can name
        constexpr int stored = 0, store_level = 0;
        check(zipOpenNewFileInZip64(zip_, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, stored, store_level,
                                    large ? 1 : 0));
    }
    void write(const std::string& bytes) {
        constexpr std::size_t most = std::size_t{1} << 30;
        for (std::size_t at = 0; at < bytes.size(); at += most)
            check(
                zipWriteInFileInZip(zip_, bytes.data() + at, static_cast<unsigned>(std::min(most, bytes.size() - at))));
    }
    void end() {
        check(zipCloseFileInZip(zip_));
        stream_.flush();
    }
    void close() {
        check(zipClose(std::exchange(zip_, nullptr), nullptr));
        stream_.flush();
    }

private:
    Pending stream_;
    zlib_filefunc64_def functions_;
    zipFile zip_ = nullptr;
};

// ---- arrays

// Without the sink's column, which is a tensor of its own.
std::vector<float> values_of_tensor(Heatmap heatmap) {
    if (!heatmap.has_sink) return std::move(heatmap.values);
    std::vector<float> values;
    for (Index row = 0; row < heatmap.rows; ++row) {
        const auto first = heatmap.values.begin() + row * heatmap.columns;
        values.insert(values.end(), first, first + heatmap.own_columns());
    }
    return values;
}

NamedArray array_of_panels(std::vector<Panel> panels) {
    NamedArray array{panels.front().tensor, {panels.front().rows, panels.front().own_columns()}, {}};
    if (panels.size() > 1) array.shape.insert(array.shape.begin(), static_cast<Index>(panels.size()));
    array.for_each_piece = [panels = std::move(panels)](const auto& take) {
        for (const Panel& panel : panels) take(values_of_tensor(panel.heatmap()));
    };
    return array;
}

NamedArray array_of_curve(const Chart& chart, const ChartCurve& curve) {
    std::string name = chart.name + "." + curve.run;
    if (curve.curve.name != chart.name) name += "." + curve.curve.name;
    std::vector<float> values;
    for (const DepthPoint& point : curve.curve.points) {
        values.push_back(static_cast<float>(point.depth));
        values.push_back(static_cast<float>(point.value));
    }
    return {name, {static_cast<Index>(curve.curve.points.size()), 2}, [values](const auto& take) { take(values); }};
}

// An array whose name is taken gets a number.
void make_unique(std::vector<NamedArray>& arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const auto taken = [&](const std::string& name) {
            return std::any_of(arrays.begin(), arrays.begin() + static_cast<std::ptrdiff_t>(i),
                               [&](const NamedArray& a) { return a.name == name; });
        };
        const std::string own = arrays[i].name;
        for (int number = 2; taken(arrays[i].name); ++number) arrays[i].name = own + "." + std::to_string(number);
    }
}

// As Python writes a tuple: "(2, 3)", "(4,)".
std::string tuple(const std::vector<Index>& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

// Magic, version and length take ten bytes; with spaces and a line break the values start at a multiple of 64.
std::string npy_header(const std::vector<Index>& shape) {
    std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': " + tuple(shape) + ", }";
    constexpr std::size_t before = 10, alignment = 64;
    const std::size_t unpadded = before + text.size() + 1;
    text.append((alignment - unpadded % alignment) % alignment, ' ');
    text += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 0xFFU) +
           static_cast<char>(text.size() >> 8U) + text;
}

std::string npy_values(std::span<const float> values) {
    std::string bytes;
    bytes.reserve(values.size_bytes());
    for (const float value : values) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xFFU);
    }
    return bytes;
}

}  // namespace

Index NamedArray::size() const {
    Index count = 1;
    for (const Index side : shape) count *= side;
    return count;
}

std::vector<NamedArray> arrays_of(const Exhibit& exhibit) {
    std::vector<NamedArray> arrays;
    for (std::size_t first = 0; first < exhibit.panels.size();) {
        const Panel& like = exhibit.panels[first];
        std::size_t last = first + 1;
        const auto joins = [&](const Panel& panel) {
            return panel.tensor == like.tensor && panel.rows == like.rows && panel.own_columns() == like.own_columns();
        };
        while (last < exhibit.panels.size() && joins(exhibit.panels[last])) ++last;
        arrays.push_back(array_of_panels({exhibit.panels.begin() + static_cast<std::ptrdiff_t>(first),
                                          exhibit.panels.begin() + static_cast<std::ptrdiff_t>(last)}));
        first = last;
    }
    for (const Chart& chart : exhibit.charts)
        for (const ChartCurve& curve : chart.curves) arrays.push_back(array_of_curve(chart, curve));
    make_unique(arrays);
    return arrays;
}

NamedArray one_array_of(const Exhibit& exhibit) {
    std::vector<NamedArray> arrays = arrays_of(exhibit);
    if (arrays.empty()) throw Error("there are no numbers to write");
    if (arrays.size() == 1) return arrays.front();
    for (const NamedArray& array : arrays)
        if (array.shape != arrays.front().shape)
            throw Error(
                "{first} and {second} have different shapes, and an .npy holds one array; expected .npz or "
                ".safetensors",
                {{"first", array.name}, {"second", arrays.front().name}});
    NamedArray all = arrays.front();
    all.shape.insert(all.shape.begin(), static_cast<Index>(arrays.size()));
    all.for_each_piece = [arrays = std::move(arrays)](const auto& take) {
        for (const NamedArray& array : arrays) array.for_each_piece(take);
    };
    return all;
}

void write_npy(std::ostream& out, const NamedArray& array) {
    out << npy_header(array.shape);
    array.for_each_piece([&](std::span<const float> values) { out << npy_values(values); });
}

void write_npy(std::ostream& out, const Heatmap& heatmap) {
    out << npy_header({heatmap.rows, heatmap.own_columns()}) << npy_values(values_of_tensor(heatmap));
}

void write_npz(std::ostream& out, const std::vector<NamedArray>& arrays) {
    ZipWriter archive(out);
    for (const NamedArray& array : arrays) {
        // Beyond 4 GB a zip needs wider numbers, and must know so beforehand.
        archive.begin(array.name + ".npy", array.size() > (Index{1} << 29));
        archive.write(npy_header(array.shape));
        array.for_each_piece([&](std::span<const float> values) { archive.write(npy_values(values)); });
        archive.end();
    }
    archive.close();
}

}  // namespace decoderscope::core
