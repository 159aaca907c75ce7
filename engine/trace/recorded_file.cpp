#include "engine/trace/recorded_file.h"

#include "engine/backward/gradient.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/limits.h"
#include "engine/base/message.h"
#include "engine/files/mapped_file.h"
#include "engine/files/safetensors.h"
#include "engine/files/stored_numbers.h"
#include "engine/tensor/storage.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace decoderscope::trace::sources {

namespace {

// Stored numbers that become floats when they are read, any row by itself.
class StoredNumbers : public LazyRows {
public:
    StoredNumbers(Bytes bytes, const Dtype& dtype, Index width)
        : bytes_(std::move(bytes)), dtype_(dtype), width_(width) {}

    void make(std::span<float> values) const override { convert(0, values); }
    void rows(Index begin, Index end, std::span<float> values) const override {
        convert(begin * width_, values.first(static_cast<std::size_t>((end - begin) * width_)));
    }
    [[nodiscard]] Index finite_at_most(Index) const override { return width_; }
    [[nodiscard]] std::span<const float> in_place(Index) const override { return {}; }

private:
    void convert(Index first, std::span<float> values) const {
        dtype_.convert(bytes_.first.get() + static_cast<std::size_t>(first) * dtype_.bytes, values);
    }

    Bytes bytes_;
    const Dtype& dtype_;
    Index width_;
};

// The header's text. A file cut within its header holds nothing that could be opened.
std::string_view header_of(const std::string& path, const MappedFile& file) {
    std::uint64_t size = 0;
    if (file.size() >= 8) std::memcpy(&size, file.data(), sizeof size);
    if (file.size() < 8 || size > file.size() - 8 || size > limits::kHeaderBytes)
        throw Error("{path}: {size} bytes, expected a safetensors file: not one, or truncated within its header",
                    {{"path", path}, {"size", file.size()}});
    return {file.data() + 8, static_cast<std::size_t>(size)};
}

// In the order of the arguments, which says what a model was given first.
std::vector<std::pair<std::string, std::string>> ports(const OrderedJson& call, const char* side) {
    std::vector<std::pair<std::string, std::string>> found;
    if (const auto at = call.find(side); at != call.end() && at->is_object())
        for (const auto& [port, tensor] : at->items())
            if (tensor.is_string()) found.emplace_back(port, tensor.get<std::string>());
    return found;
}

std::map<std::string, std::string, std::less<>> arguments_of(const OrderedJson& call) {
    std::map<std::string, std::string, std::less<>> found;
    if (const auto at = call.find("with"); at != call.end() && at->is_object())
        for (const auto& [key, value] : at->items())
            found.emplace(key, value.is_string() ? value.get<std::string>() : value.dump());
    return found;
}

std::string text_of(const OrderedJson& call, const char* key) {
    const auto at = call.find(key);
    return at != call.end() && at->is_string() ? at->get<std::string>() : std::string();
}

CodeLine line_of(const OrderedJson& call) {
    const auto at = call.find("at");
    if (at == call.end() || !at->is_object()) return {};
    const auto number = at->find("line");
    if (number == at->end() || !number->is_number_unsigned()) return {};
    return {one_line(text_of(*at, "file")), number->get<Index>(), one_line(text_of(*at, "text"))};
}

std::vector<TraceCall> calls_of(const std::string& text) {
    std::vector<TraceCall> calls;
    const OrderedJson list = parse_ordered_json(text, message("a list of calls"));
    if (!list.is_array()) throw Error("calls: expected a list");
    for (const OrderedJson& call : list)
        if (call.is_object())
            calls.push_back({text_of(call, "name"), text_of(call, "module"), text_of(call, "class"),
                             text_of(call, "function"), ports(call, "in"), ports(call, "out"), arguments_of(call),
                             line_of(call), ports(call, "parameters")});
    return calls;
}

// {"h.0.ln_1": {"eps": 1e-05}} as "h.0.ln_1.eps" and "1e-05".
std::map<std::string, std::string, std::less<>> hyperparameters_of(const std::string& text) {
    std::map<std::string, std::string, std::less<>> found;
    const Json modules = parse_json(text, message("an object of modules"));
    if (!modules.is_object()) return found;
    for (const auto& [module, values] : modules.items())
        if (values.is_object())
            for (const auto& [key, value] : values.items())
                found.emplace(module + "." + key, value.is_string() ? value.get<std::string>() : value.dump());
    return found;
}

// "PyTorch 2.1", "llama.cpp": what was recorded.
std::string program_of(const std::map<std::string, std::string, std::less<>>& metadata) {
    if (const auto program = metadata.find("program"); program != metadata.end()) return one_line(program->second);
    const auto version = metadata.find("torch");
    return "PyTorch " + (version == metadata.end() ? std::string("?") : one_line(version->second));
}

void say_what_is_missing(const std::map<std::string, std::string, std::less<>>& metadata,
                         const std::vector<std::string>& lost, Trace& trace) {
    constexpr std::size_t kMost = 160;  // a message may hold whole tensors
    const auto say = [&](Sentence sentence) {
        trace.hyperparameters.emplace(kUnfinished, sentence.english());
        trace.remarks.push_back(std::move(sentence));
    };
    if (!lost.empty())
        say(message_n("the file is truncated: {count} tensor is missing, {first}",
                      "the file is truncated: {count} tensors are missing, {first} the first", lost.size(),
                      {{"first", lost.front()}}));
    const auto finished = metadata.find("finished");
    if (finished == metadata.end() || finished->second == "yes") return;
    if (finished->second == "no")
        say(message("the recorded program ended before the recording did: this is what was written until then"));
    else
        say(message("the recorded program ended with {error}",
                    {{"error", one_line(finished->second.substr(0, kMost))}}));
}

void say_what_was_skipped(const std::map<std::string, std::string, std::less<>>& metadata, Trace& trace) {
    const auto skipped = metadata.find("skipped");
    if (skipped == metadata.end()) return;
    const Json names = parse_json(skipped->second, message("an object of names"));
    if (!names.is_object() || names.empty()) return;
    trace.remarks.push_back(message_n("{count} tensor could not be recorded: {first}",
                                      "{count} tensors could not be recorded: {first} is the first", names.size(),
                                      {{"first", names.begin().key()}}));
}

Index number_of(const std::map<std::string, std::string, std::less<>>& metadata, const char* key, Index otherwise) {
    const auto found = metadata.find(key);
    if (found == metadata.end() || found->second.empty() || found->second.size() > 6 ||
        !std::ranges::all_of(found->second, [](char c) { return c >= '0' && c <= '9'; }))
        return otherwise;
    return std::stol(found->second);
}

// "q_proj.weight", "in_proj_bias"; not "blocks.0.mlp.expert_weight", which a run computes.
bool is_parameter(std::string_view name) {
    const std::string_view last = name.substr(name.rfind('.') + 1);
    const bool named =
        last == "weight" || last == "bias" || last.ends_with("proj_weight") || last.ends_with("proj_bias");
    return named && !name.starts_with(backward::gradient_name(""));
}

}  // namespace

Tensor stored_tensor(const Bytes& bytes, std::string_view dtype, const std::vector<Index>& shape) {
    const Dtype* type = dtype_named(dtype);
    if (type == nullptr) return {};
    const Axes axes = unnamed(shape);
    const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.first.get()) % alignof(float) == 0;
    if (dtype == "F32" && aligned) {
        const std::shared_ptr<const float> first(bytes.first, reinterpret_cast<const float*>(bytes.first.get()));
        if (bytes.descriptor == nullptr) return {axes, first};
        return {axes, FileValues{first, bytes.descriptor, static_cast<std::int64_t>(bytes.offset)}};
    }
    const Index width = shape.empty() ? 1 : shape.back();
    return {axes, std::make_shared<const StoredNumbers>(bytes, *type, width)};
}

RecordedFile recorded_file(const std::string& path) {
    const MappedFile file(path);
    const std::string_view header = header_of(path, file);
    const std::size_t data_offset = 8 + header.size();
    RecordedFile recorded;
    Trace& trace = recorded.trace;
    trace.path = path;
    return naming(path, [&] {
        const auto metadata = safetensors_metadata(header);
        const auto format = metadata.find("format");
        recorded.is_recorders = format != metadata.end() && format->second.starts_with(kRecorderFormat);
        if (recorded.is_recorders && metadata.contains("hashed"))
            throw Error(
                "it holds hashes in place of tensors, expected their numbers; python3 record.py compares it with "
                "another "
                "recording, and says where the two part");
        trace.origin = recorded.is_recorders
                           ? message("the recorder, of {program}", {{"program", program_of(metadata)}})
                           : Sentence(message("a safetensors file"));
        // Only the recorder's files are written as they go; another one that is truncated is damaged.
        std::vector<std::string> lost;
        const std::size_t size = file.size() - data_offset;
        const StoredTensors stored = recorded.is_recorders ? parse_cut_safetensors_header(header, size, lost)
                                                           : parse_safetensors_header(header, size);
        std::vector<const StoredTensors::value_type*> order;
        for (const auto& entry : stored) order.push_back(&entry);
        std::ranges::stable_sort(order, {},
                                 [](const auto* entry) { return std::pair(entry->second.begin, entry->second.end); });
        for (const auto* entry : order) {
            const StoredTensor& at = entry->second;
            const std::shared_ptr<const char> first(file.bytes(),
                                                    file.data() + data_offset + static_cast<std::size_t>(at.begin));
            TraceTensor tensor = {entry->first, at.dtype, at.shape,
                                  stored_tensor({first, static_cast<std::size_t>(at.end - at.begin), file.descriptor(),
                                                 data_offset + static_cast<std::size_t>(at.begin)},
                                                at.dtype, at.shape)};
            const bool parameter = recorded.is_recorders && tensor.name.starts_with(kParameterPrefix);
            if (parameter) tensor.name.erase(0, kParameterPrefix.size());
            (parameter ? trace.parameters : trace.tensors).push_back(std::move(tensor));
        }
        if (!recorded.is_recorders) return recorded;
        recorded.rank = number_of(metadata, "rank", 0);
        recorded.world_size = number_of(metadata, "world_size", 1);
        if (const auto calls = metadata.find("calls"); calls != metadata.end()) trace.calls = calls_of(calls->second);
        if (const auto carried = metadata.find("hyperparameters"); carried != metadata.end())
            trace.hyperparameters = hyperparameters_of(carried->second);
        if (const auto shards = metadata.find("shards"); shards != metadata.end()) {
            const Json axes = parse_json(shards->second, message("an object of axes"));
            for (const auto& [name, axis] : axes.items())
                if (axes.is_object() && axis.is_number_integer()) recorded.sharded.emplace(name, axis.get<Index>());
        }
        say_what_is_missing(metadata, lost, trace);
        say_what_was_skipped(metadata, trace);
        if (const auto training = metadata.find("training"); training != metadata.end() && training->second == "true")
            trace.remarks.push_back(message("the module was in training mode: its dropout was on"));
        if (const Index calls = number_of(metadata, "calls_in_other_threads", 0); calls > 0)
            trace.remarks.push_back(message_n("{count} call of the model in another thread was not recorded",
                                              "{count} calls of the model in other threads were not recorded",
                                              static_cast<std::size_t>(calls)));
        if (recorded.world_size > 1)
            trace.remarks.push_back(message("rank {rank} of {count}: the manifest opens all of them",
                                            {{"rank", recorded.rank}, {"count", recorded.world_size}}));
        return recorded;
    });
}

bool holds_no_parameter(const std::string& path) {
    if (!path.ends_with(".safetensors")) return false;
    try {
        const Trace trace = recorded_file(path).trace;
        return std::ranges::none_of(trace.tensors, [](const TraceTensor& tensor) { return is_parameter(tensor.name); });
    } catch (const Error&) {
        return false;
    }
}

}  // namespace decoderscope::trace::sources
