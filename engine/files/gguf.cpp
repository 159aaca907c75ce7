#include "engine/files/gguf.h"

#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/files/stored_numbers.h"
#include "engine/platform/pages.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace decoderscope {

namespace {

// Whether all of a text is UTF-8, as JSON must have it.
bool is_utf8(const Json& text) {
    try {
        static_cast<void>(text.dump());
        return true;
    } catch (const Json::exception&) {
        return false;
    }
}

class HeaderReader {
public:
    explicit HeaderReader(std::span<const char> file) : file_(file) {}

    [[nodiscard]] std::uint64_t at() const { return at_; }
    [[nodiscard]] std::uint64_t left() const { return file_.size() - at_; }

    template <class T>
    T number() {
        need(sizeof(T));
        const T value = stored<T>(file_.data() + at_);
        at_ += sizeof(T);
        return value;
    }

    std::string text(std::uint64_t most) {
        const auto size = number<std::uint64_t>();
        if (size > most)
            throw Error("a text of {size} bytes, expected at most {most}", {{"size", size}, {"most", most}});
        need(size);
        std::string text(file_.data() + at_, static_cast<std::size_t>(size));
        at_ += size;
        return text;
    }

    // A value of the metadata, by the number of its type.
    Json value(std::uint32_t type) { return (this->*kind_of(type).read)(); }

private:
    void need(std::uint64_t bytes) const {
        if (bytes > left())
            throw Error("the file ends at byte {size}, expected {bytes} more from byte {at} on",
                        {{"size", file_.size()}, {"bytes", bytes}, {"at", at_}});
    }

    // As JSON must have it: what isn't UTF-8 becomes the replacement character.
    static Json valid_text(Json text) {
        return is_utf8(text) ? text : Json::parse(text.dump(-1, ' ', false, Json::error_handler_t::replace));
    }

    // How a value of a type is read, and how many bytes it takes at least.
    struct Kind {
        Json (HeaderReader::*read)();
        std::uint64_t least_bytes = 8;
    };

    static const Kind& kind_of(std::uint32_t type) {
        static constexpr std::array<Kind, 13> kinds = {{{&HeaderReader::json<std::uint8_t>, 1},
                                                        {&HeaderReader::json<std::int8_t>, 1},
                                                        {&HeaderReader::json<std::uint16_t>, 2},
                                                        {&HeaderReader::json<std::int16_t>, 2},
                                                        {&HeaderReader::json<std::uint32_t>, 4},
                                                        {&HeaderReader::json<std::int32_t>, 4},
                                                        {&HeaderReader::json<float>, 4},
                                                        {&HeaderReader::flag, 1},
                                                        {&HeaderReader::text_value},
                                                        {&HeaderReader::list},
                                                        {&HeaderReader::json<std::uint64_t>},
                                                        {&HeaderReader::json<std::int64_t>},
                                                        {&HeaderReader::json<double>}}};
        if (type >= kinds.size()) throw Error("a value of type {kind}, expected a type from 0 to 12", {{"kind", type}});
        return kinds[type];
    }

    template <class T>
    Json json() {
        return number<T>();
    }
    Json flag() { return number<std::uint8_t>() != 0; }
    Json text_value() { return valid_text(text(limits::kTextBytes)); }

    Json list() {
        const auto type = number<std::uint32_t>();
        const auto count = number<std::uint64_t>();
        const Kind& kind = kind_of(type);
        if (kind.read == &HeaderReader::list) throw Error("a list of lists, expected a list of numbers or texts");
        const auto most = std::min<std::uint64_t>(limits::kJsonValues - values_, left() / kind.least_bytes);
        if (count > most)
            throw Error("a list of {count} values, expected at most {most}", {{"count", count}, {"most", most}});
        values_ += count;
        Json values = Json::array();
        for (std::uint64_t i = 0; i < count; ++i) values.push_back((this->*kind.read)());
        return values;
    }

    std::span<const char> file_;
    std::uint64_t at_ = 0;
    std::uint64_t values_ = 0;  // in all lists: each takes many times the room that it has in the file
};

// A tensor's entry: its axes from the innermost on, its type, and where it begins.
GgufTensor read_tensor(HeaderReader& reader) {
    GgufTensor tensor;
    const auto axes = reader.number<std::uint32_t>();
    if (axes > limits::kAxes)
        throw Error("{axes} axes, expected at most {most}", {{"axes", axes}, {"most", limits::kAxes}});
    Index count = 1;
    for (std::uint32_t i = 0; i < axes; ++i) {
        const auto size = reader.number<std::uint64_t>();
        const auto all = size > static_cast<std::uint64_t>(limits::kNumbers)
                             ? std::nullopt
                             : limits::count_of({count, std::max<Index>(1, static_cast<Index>(size))});
        if (size == 0 || !all)
            throw Error("an axis of {size}, expected a positive number, and at most {most} numbers in all",
                        {{"size", size}, {"most", limits::kNumbers}});
        tensor.shape.insert(tensor.shape.begin(), static_cast<Index>(size));
        count = *all;
    }
    const auto type = reader.number<std::uint32_t>();
    tensor.type = packed::block_type(type);
    if (tensor.type == nullptr)
        throw Error("type {type}, expected one of {types}", {{"type", type}, {"types", packed::block_type_names()}});
    if (tensor.shape.empty() || tensor.shape.back() % tensor.type->numbers != 0)
        throw Error("shape {shape}, expected rows of whole blocks of {numbers}, as {type} has them",
                    {{"shape", shape_text(tensor.shape)},
                     {"numbers", tensor.type->numbers},
                     {"type", std::string(tensor.type->name)}});
    tensor.begin = reader.number<std::uint64_t>();
    tensor.end = static_cast<std::uint64_t>(count / tensor.type->numbers * tensor.type->bytes);
    return tensor;
}

void read_metadata(HeaderReader& reader, std::uint64_t count, Json& metadata) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string key =
            naming(message("metadata {number}", {{"number", i}}), [&] { return reader.text(limits::kNameBytes); });
        if (!is_utf8(key) || metadata.contains(key))
            throw Error("metadata {number}: duplicate or invalid key", {{"number", i}});
        metadata[key] = naming(key, [&] { return reader.value(reader.number<std::uint32_t>()); });
    }
}

std::uint64_t alignment_of(const Json& metadata) {
    constexpr std::uint64_t kAlignment = 32;
    const auto found = metadata.find("general.alignment");
    if (found == metadata.end()) return kAlignment;
    const bool fits = found->is_number_unsigned() && std::has_single_bit(found->get<std::uint64_t>()) &&
                      found->get<std::uint64_t>() <= limits::kHeaderBytes;
    if (!fits) throw Error("general.alignment: {found}, expected a power of 2", {{"found", found->dump()}});
    return found->get<std::uint64_t>();
}

}  // namespace

GgufHeader parse_gguf_header(std::span<const char> file) {
    constexpr std::string_view kMagic = "GGUF";
    HeaderReader reader(file);
    if (file.size() < kMagic.size() || std::string_view(file.data(), kMagic.size()) != kMagic)
        throw Error("expected a GGUF file, which begins with these four letters");
    static_cast<void>(reader.number<std::uint32_t>());
    if (const auto version = reader.number<std::uint32_t>(); version != 2 && version != 3)
        throw Error("version {version} of GGUF, expected 2 or 3", {{"version", version}});
    const auto tensors = reader.number<std::uint64_t>(), keys = reader.number<std::uint64_t>();
    if (tensors > limits::kTensors)
        throw Error("{count} tensors, expected at most {most}", {{"count", tensors}, {"most", limits::kTensors}});
    if (keys > limits::kMetadataKeys)
        throw Error("{count} keys of metadata, expected at most {most}",
                    {{"count", keys}, {"most", limits::kMetadataKeys}});
    GgufHeader header;
    read_metadata(reader, keys, header.metadata);
    for (std::uint64_t i = 0; i < tensors; ++i) {
        const std::string name =
            naming(message("tensor {number}", {{"number", i}}), [&] { return reader.text(limits::kNameBytes); });
        const GgufTensor tensor = naming(name, [&] { return read_tensor(reader); });
        if (!is_utf8(name) || !header.tensors.emplace(name, tensor).second)
            throw Error("tensor {number}: duplicate or invalid name", {{"number", i}});
    }
    const std::uint64_t alignment = alignment_of(header.metadata);
    header.data_offset = (reader.at() + alignment - 1) / alignment * alignment;
    const std::uint64_t data = file.size() - std::min<std::uint64_t>(header.data_offset, file.size());
    for (auto& [name, tensor] : header.tensors) {
        const std::uint64_t size = tensor.end;
        if (tensor.begin > data || size > data - tensor.begin)
            throw Error(
                "{name}: {size} bytes from byte {begin} of the data on, expected them within its {data} bytes; "
                "the file is truncated or its header is wrong",
                {{"name", name}, {"size", size}, {"begin", tensor.begin}, {"data", data}});
        if (tensor.begin % alignment != 0)
            throw Error("{name}: begins at byte {begin} of the data, expected a multiple of {alignment}",
                        {{"name", name}, {"begin", tensor.begin}, {"alignment", alignment}});
        tensor.end = tensor.begin + size;
    }
    return header;
}

GgufFile::GgufFile(const std::string& path) : path_(path), file_(path) {
    header_ = naming(path, [&] { return parse_gguf_header({file_.data(), file_.size()}); });
}

std::vector<std::string> GgufFile::names_in_order() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : header_.tensors) names.push_back(name);
    std::ranges::stable_sort(names, {},
                             [&](const std::string& name) { return header_.tensors.find(name)->second.begin; });
    return names;
}

const GgufTensor& GgufFile::entry(std::string_view name) const {
    const auto found = header_.tensors.find(name);
    if (found == header_.tensors.end()) throw Error("{path}: {name}: missing", {{"path", path_}, {"name", name}});
    file_.check();
    return found->second;
}

std::span<const char> GgufFile::blocks(std::string_view name) const {
    const GgufTensor& tensor = entry(name);
    return {file_.data() + header_.data_offset + tensor.begin, static_cast<std::size_t>(tensor.end - tensor.begin)};
}

std::optional<packed::StoredNumber> GgufFile::stored_number(std::string_view name, Index at) const {
    const GgufTensor& tensor = entry(name);
    const packed::BlockType& type = *tensor.type;
    if (type.stored == nullptr) return std::nullopt;
    const char* block =
        file_.data() + header_.data_offset + tensor.begin + static_cast<std::size_t>(at / type.numbers * type.bytes);
    return type.stored(block, static_cast<int>(at % type.numbers));
}

Tensor GgufFile::floats(std::string_view name, const SafetensorsFile::Watch& watch, Tensor* room) const {
    const GgufTensor& tensor = entry(name);
    const Axes axes = unnamed(tensor.shape);
    const Index size = element_count(axes);
    Tensor own;
    Tensor& to = room != nullptr ? *room : own;
    if (to.size() < size || to.empty()) to = Tensor({{"", size}});
    const std::span<float> values = to.writable().first(static_cast<std::size_t>(size));
    const char* from = file_.data() + header_.data_offset + tensor.begin;
    // Piece by piece, so that each stays in the processor's cache.
    constexpr std::size_t kAtOnce = std::size_t{1} << 18;
    const auto numbers = static_cast<std::size_t>(tensor.type->numbers),
               bytes = static_cast<std::size_t>(tensor.type->bytes);
    for (std::size_t at = 0; at < values.size(); at += kAtOnce) {
        const std::span<float> piece = values.subspan(at, std::min(kAtOnce, values.size() - at));
        const std::size_t stored_bytes = piece.size() / numbers * bytes;
        packed::expand_blocks(*tensor.type, {from + at / numbers * bytes, stored_bytes}, piece);
        platform::release_pages(from + at / numbers * bytes, stored_bytes);  // the file's, beside the floats
        if (watch) watch(piece, stored_bytes);
    }
    return to.beginning(axes);
}

}  // namespace decoderscope
