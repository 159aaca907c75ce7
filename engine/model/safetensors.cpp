#include "engine/model/safetensors.h"

#include "engine/error.h"
#include "engine/file.h"
#include "engine/json.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>

namespace decoderscope {

namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

// Headers of real models stay far below; the format's own limit.
constexpr std::size_t kLargestHeader = 100'000'000;
constexpr std::size_t kMostAxes = 8;
// Every integer up to here is a float of its own.
constexpr double kLargestExact = 16'777'216.0;

struct Mapping {
    std::shared_ptr<char> bytes;
    std::size_t size = 0;
};

// The file's bytes, private to this process: writing to them never reaches the file.
Mapping map_file(const std::string& path) {
    const auto fail = [&] { throw Error(path + ": cannot be read: " + std::strerror(errno)); };
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not keep us waiting
    if (file < 0) fail();
    const std::shared_ptr<const int> close_later(&file, [](const int* descriptor) { ::close(*descriptor); });
    struct stat status {};
    if (::fstat(file, &status) != 0) fail();
    if (!S_ISREG(status.st_mode))
        throw Error(path + ": expected a safetensors file, found something that is not a file");
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size < 8) throw Error(path + ": " + std::to_string(size) + " bytes, expected a safetensors file of at least 8");
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) fail();
    return {{static_cast<char*>(memory), [size](char* bytes) { ::munmap(bytes, size); }}, size};
}

// 0 for a type that the format doesn't know.
std::size_t bytes_of(std::string_view dtype) {
    static constexpr std::pair<std::string_view, std::size_t> sizes[] = {
        {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},  {"I32", 4},     {"I16", 2},    {"I8", 1},
        {"U64", 8}, {"U32", 4}, {"U16", 2}, {"U8", 1},   {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
    for (const auto& [name, size] : sizes)
        if (name == dtype) return size;
    return 0;
}

Json parse_header(const std::string& path, std::string_view text) {
    try {
        Json json = parse_json(text, "a safetensors file's header");
        if (!json.is_object()) throw Error("not a JSON object; expected a safetensors file's header");
        return json;
    } catch (const Error& error) {
        throw Error(path + ": the header: " + error.what());
    }
}

// What a header says of one tensor, checked as far as it can be without the tensor's name.
class HeaderReader {
public:
    HeaderReader(std::string path, std::size_t data_size) : path_(std::move(path)), data_size_(data_size) {}

    [[nodiscard]] SafetensorsFile::Entry read(const std::string& name, const Json& json) const {
        const auto fail = [&](const std::string& expected) { throw Error(path_ + ": " + name + ": " + expected); };
        if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets"))
            fail("the header lacks dtype, shape or data_offsets");
        if (!json["dtype"].is_string()) fail("dtype: expected a string");
        SafetensorsFile::Entry entry;
        entry.dtype = json["dtype"].get<std::string>();
        const std::size_t width = bytes_of(entry.dtype);
        if (width == 0) fail("dtype " + entry.dtype.substr(0, 20) + " is not one that safetensors has");
        const std::size_t bytes = read_shape(name, json["shape"], entry) * width;
        read_offsets(name, json["data_offsets"], entry);
        if (entry.end - entry.begin != bytes)
            fail(std::to_string(entry.end - entry.begin) + " bytes, expected " + std::to_string(bytes) +
                 " for its shape and dtype");
        return entry;
    }

private:
    // Returns the number of elements, which never exceeds the file's bytes.
    std::size_t read_shape(const std::string& name, const Json& json, SafetensorsFile::Entry& entry) const {
        if (!json.is_array() || json.size() > kMostAxes)
            throw Error(path_ + ": " + name + ": shape: expected a list of at most " + std::to_string(kMostAxes) +
                        " sizes");
        std::size_t count = 1;
        for (const Json& size : json) {
            if (!size.is_number_unsigned()) throw Error(path_ + ": " + name + ": shape: expected sizes from 0");
            const auto length = size.get<std::uint64_t>();
            const bool beyond_index = length > static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
            if (beyond_index || (length != 0 && count > data_size_ / length))
                throw Error(path_ + ": " + name + ": shape: more elements than the file of " +
                            std::to_string(data_size_) + " bytes can hold");
            count *= length;
            entry.shape.push_back(static_cast<Index>(length));
        }
        return count;
    }

    void read_offsets(const std::string& name, const Json& json, SafetensorsFile::Entry& entry) const {
        if (!json.is_array() || json.size() != 2 || !json[0].is_number_unsigned() || !json[1].is_number_unsigned())
            throw Error(path_ + ": " + name + ": data_offsets: expected [begin, end]");
        entry.begin = json[0].get<std::uint64_t>();
        entry.end = json[1].get<std::uint64_t>();
        if (entry.begin > entry.end || entry.end > data_size_)
            throw Error(path_ + ": " + name + ": data_offsets " + std::to_string(entry.begin) + " to " +
                        std::to_string(entry.end) + " lie outside the file's " + std::to_string(data_size_) +
                        " bytes of data; the file is cut short or its header is wrong");
    }

    std::string path_;
    std::size_t data_size_;
};

Axes unnamed(const std::vector<Index>& shape) {
    Axes axes;
    for (const Index size : shape) axes.push_back({"", size});
    return axes;
}

// One stored number, whatever its alignment.
template <class T>
T stored(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// The fraction and the exponent move into their places; times 2^112 the exponent counts from where a float's does, and
// a subnormal becomes a normal number. Infinities and NaN keep their bits.
float from_half(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t moved = static_cast<std::uint32_t>(bits & 0x7fffU) << 13;
    const std::uint32_t finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(moved) * 0x1p112F);
    const std::uint32_t magnitude = (bits & 0x7c00U) == 0x7c00U ? moved | 0x7f800000U : finite;
    return std::bit_cast<float>(magnitude | sign);
}

float from_bfloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

template <class T, class Convert>
Tensor converted(const char* from, Tensor to, Convert convert) {
    for (float& value : to.writable()) {
        value = convert(stored<T>(from));
        from += sizeof(T);
    }
    return to;
}

// What is brought in, converted and looked at in one go: small enough for a processor's cache.
constexpr std::size_t kPiece = std::size_t{1} << 18;

// Has the pages of these bytes read from the disk at once, instead of one by one as they are touched. Where the system
// can't, they still are read, only slower. Throws Error where the file no longer reaches so far: touching them would
// end the program.
void bring_in(const char* begin, std::size_t size) {
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::uintptr_t start = address / page * page;
#ifdef MADV_POPULATE_READ
    const int advice = MADV_POPULATE_READ;
#else
    const int advice = MADV_WILLNEED;
#endif
    if (::madvise(reinterpret_cast<void*>(start), address - start + size, advice) != 0 && errno == EFAULT)
        throw Error("cannot be read to its end; expected the file to stay as it was while it is read");
}

// Piece by piece: `take` makes a piece's values ready and returns them.
template <class Take>
void in_pieces(const char* from, std::size_t width, std::size_t count, const SafetensorsFile::Watch& watch, Take take) {
    for (std::size_t at = 0; at < count; at += kPiece) {
        const std::size_t size = std::min(kPiece, count - at);
        if (watch) bring_in(from + at * width, size * width);
        const std::span<const float> values = take(at, size);
        if (watch) watch(values, size * width);
    }
}

template <class T, class Convert>
void convert_into(std::span<float> values, const char* from, const SafetensorsFile::Watch& watch, Convert convert) {
    in_pieces(from, sizeof(T), values.size(), watch, [&](std::size_t at, std::size_t size) {
        const char* piece = from + at * sizeof(T);
        for (float& value : values.subspan(at, size)) {
            value = convert(stored<T>(piece));
            piece += sizeof(T);
        }
        return values.subspan(at, size);
    });
}

// Whether tensors lie one behind the other, from the first byte to the last, as the format wants them.
void check_layout(const std::string& path, const std::map<std::string, SafetensorsFile::Entry, std::less<>>& entries,
                  std::size_t data_size) {
    std::vector<std::pair<std::string_view, const SafetensorsFile::Entry*>> in_order;
    for (const auto& [name, entry] : entries) in_order.emplace_back(name, &entry);
    std::ranges::sort(in_order, [](const auto& a, const auto& b) {
        return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
    });
    std::size_t end = 0;
    for (const auto& [name, entry] : in_order) {
        if (entry->begin != end)
            throw Error(path + ": " + std::string(name) + ": data_offsets begin at " + std::to_string(entry->begin) +
                        ", expected " + std::to_string(end) + ", where the tensor before it ends");
        end = entry->end;
    }
    if (end != data_size)
        throw Error(path + ": the tensors end at byte " + std::to_string(end) + " of the data, expected its end at " +
                    std::to_string(data_size));
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
    const Mapping file = map_file(path);
    mapping_ = file.bytes;
    const auto header_size = stored<std::uint64_t>(file.bytes.get());
    if (header_size > file.size - 8 || header_size > kLargestHeader)
        throw Error(path + ": the header claims " + std::to_string(header_size) + " bytes, expected at most " +
                    std::to_string(std::min(file.size - 8, kLargestHeader)) + "; not a safetensors file, or cut short");
    data_offset_ = 8 + header_size;
    const char* header = file.bytes.get() + 8;
    const Json json = parse_header(path, {header, static_cast<std::size_t>(header_size)});
    const HeaderReader reader(path, file.size - data_offset_);
    for (const auto& [name, value] : json.items())
        if (name != "__metadata__") entries_.emplace(name, reader.read(name, value));
    check_layout(path, entries_, file.size - data_offset_);
}

const SafetensorsFile::Entry& SafetensorsFile::entry(std::string_view name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) throw Error(path_ + ": " + std::string(name) + ": missing");
    return found->second;
}

std::vector<std::string> SafetensorsFile::names_in_order() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    std::ranges::stable_sort(names, {}, [&](const std::string& name) { return entries_.find(name)->second.begin; });
    return names;
}

void SafetensorsFile::check_floats(std::string_view name) const {
    const std::string& dtype = entry(name).dtype;
    if (dtype != "F32" && dtype != "F16" && dtype != "BF16" && dtype != "F64")
        throw Error(path_ + ": " + std::string(name) + ": dtype " + dtype + ", expected F32, F16, BF16 or F64");
}

Tensor SafetensorsFile::floats(std::string_view name, const Watch& watch, Tensor* room) const {
    check_floats(name);
    const Entry& e = entry(name);
    const char* from = mapping_.get() + data_offset_ + e.begin;
    const Axes axes = unnamed(e.shape);
    return naming(path_ + ": " + std::string(name), [&] { return read_floats(e.dtype, from, axes, watch, room); });
}

Tensor SafetensorsFile::read_floats(const std::string& dtype, const char* from, const Axes& axes, const Watch& watch,
                                    Tensor* room) const {
    if (dtype == "F32" && reinterpret_cast<std::uintptr_t>(from) % alignof(float) == 0) {
        Tensor mapped(axes, FileValues{{mapping_, reinterpret_cast<const float*>(from)}});
        if (watch)
            in_pieces(from, sizeof(float), mapped.values().size(), watch,
                      [&](std::size_t at, std::size_t size) { return mapped.values().subspan(at, size); });
        return mapped;
    }
    Tensor own;
    Tensor& to = room != nullptr ? *room : own;
    const Index size = element_count(axes);
    if (to.size() < size || to.empty()) to = Tensor({{"", size}});
    const std::span<float> values = to.writable().first(static_cast<std::size_t>(size));
    if (dtype == "F32")
        convert_into<float>(values, from, watch, [](float value) { return value; });
    else if (dtype == "F64")
        convert_into<double>(values, from, watch, [](double value) { return static_cast<float>(value); });
    else if (dtype == "F16")
        convert_into<std::uint16_t>(values, from, watch, from_half);
    else
        convert_into<std::uint16_t>(values, from, watch, from_bfloat);
    return to.beginning(axes);
}

Tensor SafetensorsFile::integers(std::string_view name) const {
    const Entry& e = entry(name);
    const char* from = mapping_.get() + data_offset_ + e.begin;
    const auto exact = [&](auto value) {
        if (std::abs(static_cast<double>(value)) > kLargestExact)
            throw Error(path_ + ": " + std::string(name) + ": " + std::to_string(value) +
                        " is beyond what is read exactly, 2^24");
        return static_cast<float>(value);
    };
    Tensor to(unnamed(e.shape));
    if (e.dtype == "I64") return converted<std::int64_t>(from, std::move(to), exact);
    if (e.dtype == "I32") return converted<std::int32_t>(from, std::move(to), exact);
    if (e.dtype == "I16") return converted<std::int16_t>(from, std::move(to), exact);
    if (e.dtype == "I8") return converted<std::int8_t>(from, std::move(to), exact);
    if (e.dtype == "U8" || e.dtype == "BOOL") return converted<std::uint8_t>(from, std::move(to), exact);
    throw Error(path_ + ": " + std::string(name) + ": dtype " + e.dtype + ", expected I64, I32, I16, I8, U8 or BOOL");
}

void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    std::size_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
        Json shape = Json::array();
        for (const Axis& axis : tensor.axes()) shape.push_back(axis.size);
        const std::size_t end = offset + static_cast<std::size_t>(tensor.size()) * sizeof(float);
        header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data is aligned
    write_whole(path, [&](std::ostream& file) {
        const std::uint64_t size = text.size();
        file.write(reinterpret_cast<const char*>(&size), sizeof size);
        file << text;
        for (const auto& [name, tensor] : tensors)
            file.write(reinterpret_cast<const char*>(tensor.data()),
                       static_cast<std::streamsize>(static_cast<std::size_t>(tensor.size()) * sizeof(float)));
    });
}

}  // namespace decoderscope
