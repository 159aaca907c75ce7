#include "engine/trace/trace.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/files/path_kind.h"
#include "engine/trace/adapters.h"
#include "engine/trace/named_calls.h"
#include "engine/trace/recorded_file.h"
#include "engine/trace/recorded_numbers.h"
#include "engine/trace/static_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>

namespace decoderscope::trace {

namespace {

// A JSON text by what is in it: the recorder's manifest, Polygraphy's results, the debugger's tree of calls or
// msProbe's list of them.
Trace from_json(const std::string& path) {
    // A dump of tensors as text is large; with 32 bits, as large as there are addresses.
    constexpr std::size_t kMost =
        std::min<std::uint64_t>(std::uint64_t{4} << 30U, std::numeric_limits<std::size_t>::max());
    const std::string text = read_text(path, kMost);
    const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    return naming(path, [&] {
        if (has("\"world_size\"")) return sources::ranks(path, text);
        if (has("polygraphy")) return sources::polygraphy(path, text);
        if (has("\"module_path\"")) return sources::debugger(path, text);
        if (has("\"data_name\"")) return sources::ms_probe(path, text);
        throw Error(
            "expected a recorder's manifest, the tree of Hugging Face's model debugger (…_FULL_TENSORS.json), "
            "Polygraphy's outputs or msProbe's dump.json");
    });
}

[[noreturn]] void refuse_pickle(const std::string& path) {
    throw Error(
        "{path}: pickled by Python, and a pickle is a program, which isn't run here; expected safetensors, which a "
        "dictionary of tensors (nnsight's cache too) is saved as by safetensors.torch.save_file({{str(k): "
        "v.contiguous() "
        "for k, v in cache.items()}}, \"trace.safetensors\")",
        {{"path", path}});
}

Trace opened(const std::string& path) {
    const std::string ending = std::filesystem::path(path).extension().string();
    if (kind_of_path(path) == PathKind::pickled) refuse_pickle(path);
    if (ending == ".json") return from_json(path);
    if (ending == ".npz") return sources::npz(path);
    return sources::recorded_file(path).trace;
}

// A norm may multiply by its gain before it divides: gain · x / √(mean(x²) + eps). What the multiplication gave is no
// norm's output yet; that is what one of the next calls is given, divided by a number a row.
void follow_divided_gains(Trace& trace) {
    constexpr std::size_t kNext = 4;
    for (std::size_t at = 0; at < trace.calls.size(); ++at) {
        TraceCall& call = trace.calls[at];
        if (call.function != "mul" || call.parameters.size() != 1 || call.out.size() != 1) continue;
        std::string& gave = call.out.front().second;
        const TraceTensor* out = trace.find(gave);
        if (out == nullptr || out->shape.size() < 2 || out->values.size() == 0) continue;
        const auto width = static_cast<std::size_t>(out->shape.back());
        const auto follows = [&](const std::string& name) {
            const TraceTensor* in = trace.find(name);
            if (in == nullptr || in->shape != out->shape || in->dtype != out->dtype) return false;
            const auto a = out->values.values(), b = in->values.values();
            return are_parallel(a.first(width), b.first(width)) && are_parallel(a.last(width), b.last(width)) &&
                   !std::ranges::equal(a.first(width), b.first(width));
        };
        bool is_read = false;
        for (std::size_t next = at + 1; next < std::min(trace.calls.size(), at + 1 + kNext) && !is_read; ++next)
            for (const auto& [port, name] : trace.calls[next].in) {
                is_read = is_read || name == gave;
                if (is_read || !follows(name)) continue;
                gave = name;
                is_read = true;
            }
    }
}

}  // namespace

const TraceTensor* Trace::find(std::string_view name) const {
    const auto found = std::ranges::find(tensors, name, &TraceTensor::name);
    return found == tensors.end() ? nullptr : &*found;
}

const TraceCall* Trace::call_of(std::string_view tensor) const {
    const std::optional<CallSide> side = side_of(tensor);
    const auto found = side ? std::ranges::find(calls, side->call, &TraceCall::name) : calls.end();
    return found == calls.end() ? nullptr : &*found;
}

std::optional<CallSide> side_of(std::string_view tensor) {
    const std::size_t slash = tensor.rfind('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::string_view last = tensor.substr(slash + 1);
    const bool gave = last == "out" || last.starts_with("out.");
    if (!gave && !last.starts_with("in.")) return std::nullopt;
    return CallSide{tensor.substr(0, slash), gave};
}

std::string text_of(const CodeLine& line) {
    if (line.file.empty()) return {};
    return line.file + ":" + std::to_string(line.line) + ": " + line.text;
}

std::string_view Trace::precision() const {
    const auto holds = [&](std::string_view dtype) {
        return std::ranges::any_of(tensors, [&](const TraceTensor& tensor) { return tensor.dtype == dtype; });
    };
    return holds("BF16") ? "BF16" : holds("F16") ? "F16" : "F32";
}

void check_not_empty(const Trace& trace) {
    if (!trace.tensors.empty() || trace.remarks.empty()) return;
    throw Error("{path}: holds no tensor: {why}", {{"path", trace.path}, {"why", trace.remarks.front()}});
}

Trace open_trace(const std::string& path) {
    Trace trace = opened(path);
    if (trace.files.empty()) trace.files.push_back(path);
    add_calls_by_names(trace);
    leave_out_unwritten_keys(trace);
    follow_divided_gains(trace);
    merge_adapters(trace);
    return trace;
}

}  // namespace decoderscope::trace
