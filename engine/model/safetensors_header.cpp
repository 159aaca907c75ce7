#include "engine/model/safetensors_header.h"

#include "engine/error.h"
#include "engine/json.h"
#include "engine/limits.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace decoderscope {

namespace {

using Json = nlohmann::json;

// 0 for a type that the format doesn't know.
std::size_t bytes_of(std::string_view dtype) {
    static constexpr std::pair<std::string_view, std::size_t> sizes[] = {
        {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},  {"I32", 4},     {"I16", 2},    {"I8", 1},
        {"U64", 8}, {"U32", 4}, {"U16", 2}, {"U8", 1},   {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
    for (const auto& [name, size] : sizes)
        if (name == dtype) return size;
    return 0;
}

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
    std::uint64_t bytes = bytes_of(std::string_view(tensor.dtype));
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
            "data_offsets {begin} to {end} lie outside the file's {data_size} bytes of data; the file is cut short or "
            "its header is wrong",
            {{"begin", tensor.begin}, {"end", tensor.end}, {"data_size", data_size}});
}

StoredTensor read_tensor(const Json& json, std::uint64_t data_size) {
    if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets"))
        throw Error("the header lacks dtype, shape or data_offsets");
    if (!json["dtype"].is_string()) throw Error("dtype: expected a string");
    StoredTensor tensor;
    tensor.dtype = json["dtype"].get<std::string>();
    if (bytes_of(std::string_view(tensor.dtype)) == 0)
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

}  // namespace

namespace {

StoredTensors read_tensors(std::string_view text, std::uint64_t data_size) {
    const Json header = naming(message("the header"), [&] { return parse_header(text); });
    StoredTensors tensors;
    for (const auto& [name, json] : header.items()) {
        if (name == "__metadata__") continue;
        if (name.size() > limits::kNameBytes)
            throw Error("{text}…: a name of {size} bytes, expected at most {most}",
                        {{"text", name.substr(0, 100)}, {"size", name.size()}, {"most", limits::kNameBytes}});
        tensors.emplace(name, naming(name, [&, &json = json] { return read_tensor(json, data_size); }));
    }
    return tensors;
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

}  // namespace decoderscope
