#include "engine/files/safetensors.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/limits.h"
#include "engine/files/stored_numbers.h"
#include "engine/platform/pages.h"
#include "engine/tensor/rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <utility>

namespace decoderscope {

namespace {

std::vector<Index> read_shape(const Json& json, std::uint64_t data_size) {
    if (!json.is_array() || json.size() > limits::kAxes)
        throw Error("shape: expected a list of at most {most} sizes", {{"most", limits::kAxes}});
    const auto too_large = [&] {
        throw Error("shape: more elements than the file of {data_size} bytes can hold, or any tensor ({most})",
                    {{"data_size", data_size}, {"most", limits::kNumbers}});
    };
    std::vector<Index> shape;
    Index count = 1;  // with 1 for an empty axis, so that no part of the shape overflows either
    bool empty = false;
    for (const Json& size : json) {
        if (!size.is_number_unsigned()) throw Error("shape: expected sizes from 0");
        const auto length = size.get<std::uint64_t>();
        if (length > static_cast<std::uint64_t>(limits::kNumbers)) too_large();
        shape.push_back(static_cast<Index>(length));
        empty = empty || length == 0;
        const auto all = limits::count_of({count, std::max<Index>(1, shape.back())});
        if (!all) too_large();
        count = *all;
    }
    if (!empty && static_cast<std::uint64_t>(count) > data_size) too_large();
    return shape;
}

// How many bytes the shape takes. In 64 bits on every machine: read_shape() allows more than 32 bits count.
std::uint64_t bytes_of(const StoredTensor& tensor) {
    std::uint64_t bytes = dtype_named(tensor.dtype)->bytes;
    for (const Index size : tensor.shape) bytes *= static_cast<std::uint64_t>(size);
    return bytes;
}

void read_offsets(const Json& json, std::uint64_t data_size, StoredTensor& tensor) {
    if (!json.is_array() || json.size() != 2 || !json[0].is_number_unsigned() || !json[1].is_number_unsigned())
        throw Error("data_offsets: expected [begin, end]");
    tensor.begin = json[0].get<std::uint64_t>();
    tensor.end = json[1].get<std::uint64_t>();
    if (tensor.begin > tensor.end || tensor.end > data_size)
        throw Error(
            "data_offsets {begin} to {end} lie outside the file's {data_size} bytes of data; the file is truncated or "
            "its header is wrong",
            {{"begin", tensor.begin}, {"end", tensor.end}, {"data_size", data_size}});
}

StoredTensor read_tensor(const Json& json, std::uint64_t data_size) {
    if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets"))
        throw Error("the header lacks dtype, shape or data_offsets");
    if (!json["dtype"].is_string()) throw Error("dtype: expected a string");
    StoredTensor tensor;
    tensor.dtype = json["dtype"].get<std::string>();
    if (dtype_named(tensor.dtype) == nullptr)
        throw Error("dtype {text} is not one that safetensors has", {{"text", tensor.dtype.substr(0, 20)}});
    tensor.shape = read_shape(json["shape"], data_size);
    read_offsets(json["data_offsets"], data_size, tensor);
    if (tensor.end - tensor.begin != bytes_of(tensor))
        throw Error("{begin} bytes, expected {expected} for its shape and dtype",
                    {{"begin", tensor.end - tensor.begin}, {"expected", bytes_of(tensor)}});
    return tensor;
}

// Checks that tensors lie one after another from the first byte on, as the format requires. Returns where they end.
std::uint64_t check_layout(const StoredTensors& tensors) {
    std::vector<std::pair<std::string_view, const StoredTensor*>> in_order;
    for (const auto& [name, tensor] : tensors) in_order.emplace_back(name, &tensor);
    std::ranges::sort(in_order, [](const auto& a, const auto& b) {
        return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
    });
    std::uint64_t end = 0;
    for (const auto& [name, tensor] : in_order) {
        if (tensor->begin != end)
            throw Error("{name}: data_offsets begin at {begin}, expected {end}, where the tensor before it ends",
                        {{"name", name}, {"begin", tensor->begin}, {"end", end}});
        end = tensor->end;
    }
    return end;
}

Json parse_header(std::string_view text) {
    Json json = parse_json(text, message("a safetensors file's header"));
    if (!json.is_object()) throw Error("not a JSON object; expected a safetensors file's header");
    if (json.size() > limits::kTensors)
        throw Error("{count} tensors, expected at most {most}", {{"count", json.size()}, {"most", limits::kTensors}});
    return json;
}

StoredTensors read_tensors(std::string_view text, std::uint64_t data_size) {
    const Json header = naming(message("the header"), [&] { return parse_header(text); });
    StoredTensors tensors;
    for (const auto& [name, json] : header.items()) {
        if (name == "__metadata__") continue;
        if (name.size() > limits::kNameBytes)
            throw Error("{text}…: a name of {size} bytes, expected at most {most}",
                        {{"text", name.substr(0, 100)}, {"size", name.size()}, {"most", limits::kNameBytes}});
        if (const auto parts = 1 + static_cast<std::size_t>(std::ranges::count(name, '.')); parts > limits::kNameParts)
            throw Error("{text}…: a name of {parts} parts, expected at most {most}",
                        {{"text", name.substr(0, 100)}, {"parts", parts}, {"most", limits::kNameParts}});
        tensors.emplace(name, naming(name, [&, &json = json] { return read_tensor(json, data_size); }));
    }
    return tensors;
}

// Every integer up to here is exact as a float.
constexpr double kLargestExact = 16'777'216.0;

template <class T, class Convert>
Tensor converted(const char* from, Tensor to, Convert convert) {
    for (float& value : to.writable()) {
        value = convert(stored<T>(from));
        from += sizeof(T);
    }
    return to;
}

// The number of values read, converted and checked at a time: small enough for a processor's cache.
constexpr std::size_t kPiece = std::size_t{1} << 18;

// If the system can't bring the bytes in at once, they are still read, only more slowly. Throws Error if the file no
// longer extends this far: touching them would end the program.
void bring_in(const char* begin, std::size_t size) {
    if (!platform::bring_in(begin, size))
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

// Converted piece by piece into `values`. The file's pages were needed once, and don't stay beside the floats.
void convert_into(std::span<float> values, const char* from, const Dtype& dtype, const SafetensorsFile::Watch& watch) {
    in_pieces(from, dtype.bytes, values.size(), watch, [&](std::size_t at, std::size_t size) {
        dtype.convert(from + at * dtype.bytes, values.subspan(at, size));
        platform::release_pages(from + at * dtype.bytes, size * dtype.bytes);
        return values.subspan(at, size);
    });
}

// The recorder writes as it goes, parameters first: a program that died left them whole, and the rest cut.
StoredTensors stored_tensors(std::string_view header, std::uint64_t data_size) {
    if (header.find(kRecorderFormat) != std::string_view::npos) {
        const auto metadata = safetensors_metadata(header);
        const auto format = metadata.find("format");
        std::vector<std::string> lost;
        if (format != metadata.end() && format->second.starts_with(kRecorderFormat))
            if (StoredTensors whole = parse_cut_safetensors_header(header, data_size, lost);
                std::ranges::none_of(lost, [](const std::string& name) { return name.starts_with(kParameterPrefix); }))
                return whole;
    }
    return parse_safetensors_header(header, data_size);
}

}  // namespace

StoredTensors parse_safetensors_header(std::string_view text, std::uint64_t data_size) {
    StoredTensors tensors = read_tensors(text, data_size);
    if (const std::uint64_t end = check_layout(tensors); end != data_size)
        throw Error("the tensors end at byte {end} of the data, expected its end at {data_size}",
                    {{"end", end}, {"data_size", data_size}});
    return tensors;
}

StoredTensors parse_cut_safetensors_header(std::string_view text, std::uint64_t data_size,
                                           std::vector<std::string>& lost) {
    StoredTensors tensors = read_tensors(text, static_cast<std::uint64_t>(limits::kNumbers) * 8);
    static_cast<void>(check_layout(tensors));
    std::erase_if(tensors, [&](const auto& entry) {
        if (entry.second.end <= data_size) return false;
        lost.push_back(entry.first);
        return true;
    });
    return tensors;
}

std::map<std::string, std::string, std::less<>> safetensors_metadata(std::string_view text) {
    const Json header = naming(message("the header"), [&] { return parse_header(text); });
    std::map<std::string, std::string, std::less<>> metadata;
    const auto found = header.find("__metadata__");
    if (found == header.end() || !found->is_object()) return metadata;
    for (const auto& [key, value] : found->items())
        if (value.is_string()) metadata.emplace(key, value.get<std::string>());
    return metadata;
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), file_(path) {
    const std::size_t size = file_.size();
    if (size < 8)
        throw Error("{path}: {size} bytes, expected a safetensors file of at least 8",
                    {{"path", path}, {"size", size}});
    const auto header_size = stored<std::uint64_t>(file_.data());
    if (header_size > size - 8 || header_size > limits::kHeaderBytes)
        throw Error(
            "{path}: the header claims {size} bytes, expected at most {most}; not a safetensors file, or truncated",
            {{"path", path}, {"size", header_size}, {"most", std::min(size - 8, limits::kHeaderBytes)}});
    data_offset_ = 8 + static_cast<std::size_t>(header_size);
    const std::string_view header(file_.data() + 8, static_cast<std::size_t>(header_size));
    entries_ = naming(path, [&] { return stored_tensors(header, size - data_offset_); });
}

const SafetensorsFile::Entry& SafetensorsFile::entry(std::string_view name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) throw Error("{path}: {name}: missing", {{"path", path_}, {"name", name}});
    return found->second;
}

bool SafetensorsFile::only_under(std::string_view prefix) {
    StoredTensors under;
    for (const auto& [name, entry] : entries_)
        if (std::string_view(name).starts_with(prefix)) under.emplace(name.substr(prefix.size()), entry);
    if (under.empty()) return false;
    entries_ = std::move(under);
    return true;
}

std::vector<std::string> SafetensorsFile::names_in_order() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    std::ranges::stable_sort(names, {}, [&](const std::string& name) { return entries_.find(name)->second.begin; });
    return names;
}

void SafetensorsFile::check_floats(std::string_view name) const {
    const std::string& dtype = entry(name).dtype;
    if (dtype != "F32" && dtype != "F16" && dtype != "BF16" && dtype != "F64" && !dtype.starts_with("F8_"))
        throw Error("{path}: {name}: dtype {dtype}, expected F32, F16, BF16, F64, F8_E4M3 or F8_E5M2",
                    {{"path", path_}, {"name", name}, {"dtype", dtype}});
}

Tensor SafetensorsFile::floats(std::string_view name, const Watch& watch, Tensor* room) const {
    check_floats(name);
    file_.check();
    const Entry& e = entry(name);
    const char* from = file_.data() + data_offset_ + e.begin;
    const Axes axes = unnamed(e.shape);
    return naming(path_ + ": " + std::string(name), [&] { return read_floats(e.dtype, from, axes, watch, room); });
}

Tensor SafetensorsFile::read_floats(const std::string& dtype, const char* from, const Axes& axes, const Watch& watch,
                                    Tensor* room) const {
    if (dtype == "F32" && reinterpret_cast<std::uintptr_t>(from) % alignof(float) == 0) {
        Tensor mapped(
            axes,
            FileValues{{file_.bytes(), reinterpret_cast<const float*>(from)}, file_.descriptor(), from - file_.data()});
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
    convert_into(values, from, *dtype_named(dtype), watch);
    return to.beginning(axes);
}

std::span<const char> SafetensorsFile::bytes(std::string_view name) const {
    const Entry& e = entry(name);
    file_.check();
    const char* begin = file_.data() + data_offset_ + e.begin;
    bring_in(begin, static_cast<std::size_t>(e.end - e.begin));
    return {begin, static_cast<std::size_t>(e.end - e.begin)};
}

Tensor SafetensorsFile::integers(std::string_view name) const {
    const Entry& e = entry(name);
    file_.check();
    const char* from = file_.data() + data_offset_ + e.begin;
    const auto exact = [&](auto value) {
        if (std::abs(static_cast<double>(value)) > kLargestExact)
            throw Error("{path}: {name}: {value} is beyond what is read exactly, 2^24",
                        {{"path", path_}, {"name", name}, {"value", value}});
        return static_cast<float>(value);
    };
    Tensor to(unnamed(e.shape));
    if (e.dtype == "I64") return converted<std::int64_t>(from, std::move(to), exact);
    if (e.dtype == "I32") return converted<std::int32_t>(from, std::move(to), exact);
    if (e.dtype == "I16") return converted<std::int16_t>(from, std::move(to), exact);
    if (e.dtype == "I8") return converted<std::int8_t>(from, std::move(to), exact);
    if (e.dtype == "U8" || e.dtype == "BOOL") return converted<std::uint8_t>(from, std::move(to), exact);
    throw Error("{path}: {name}: dtype {dtype}, expected I64, I32, I16, I8, U8 or BOOL",
                {{"path", path_}, {"name", name}, {"dtype", e.dtype}});
}

namespace {

void write_numbers(std::ostream& file, std::span<const float> numbers) {
    file.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size_bytes()));
}

// What comes by rows is made and written some rows at a time, each to its place; what can't go back and forth takes it
// whole.
void write_values(std::ostream& file, const Tensor& tensor) {
    const std::int64_t begin = tensor.by_rows() != nullptr ? std::int64_t{file.tellp()} : -1;
    constexpr std::int64_t kBytes = sizeof(float);
    if (begin < 0) {
        file.clear(file.rdstate() & ~std::ios::failbit);
        const Tensor whole = tensor.for_one_use();
        return write_numbers(file, whole.values());
    }
    for_each_piece(tensor, [&](Index first, std::span<const float> piece) {
        file.seekp(begin + first * kBytes);
        write_numbers(file, piece);
    });
    file.seekp(begin + tensor.size() * kBytes);
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const std::map<std::string, std::string, std::less<>>& metadata) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::size_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
        const std::size_t end = offset + static_cast<std::size_t>(tensor.size()) * sizeof(float);
        header[name] = {{"dtype", "F32"}, {"shape", sizes_of(tensor.axes())}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data is aligned
    write_whole(path, [&](std::ostream& file) {
        const std::uint64_t size = text.size();
        file.write(reinterpret_cast<const char*>(&size), sizeof size);
        file << text;
        for (const auto& [name, tensor] : tensors) write_values(file, tensor);
    });
}

}  // namespace decoderscope
