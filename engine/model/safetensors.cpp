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

float from_half(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
    if (exponent == 31)
        return fraction != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
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
}

const SafetensorsFile::Entry& SafetensorsFile::entry(std::string_view name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) throw Error(path_ + ": " + std::string(name) + ": missing");
    return found->second;
}

Tensor SafetensorsFile::floats(std::string_view name) const {
    const Entry& e = entry(name);
    const char* from = mapping_.get() + data_offset_ + e.begin;
    const Axes axes = unnamed(e.shape);
    if (e.dtype == "F32" && reinterpret_cast<std::uintptr_t>(from) % alignof(float) == 0)
        return {axes, std::shared_ptr<const float>(mapping_, reinterpret_cast<const float*>(from))};
    if (e.dtype == "F32") return converted<float>(from, Tensor(axes), [](float value) { return value; });
    if (e.dtype == "F64")
        return converted<double>(from, Tensor(axes), [](double value) { return static_cast<float>(value); });
    if (e.dtype == "F16") return converted<std::uint16_t>(from, Tensor(axes), from_half);
    if (e.dtype == "BF16") return converted<std::uint16_t>(from, Tensor(axes), from_bfloat);
    throw Error(path_ + ": " + std::string(name) + ": dtype " + e.dtype + ", expected F32, F16, BF16 or F64");
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
