#include "engine/load/recorded_run.h"

#include "engine/backward/gradient.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/ops/activation.h"
#include "engine/trace/recorded_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::load {

namespace {

namespace fs = std::filesystem;

Sentence description_of(const trace::Trace& trace, std::size_t steps) {
    const Sentence tensors = message_n("{count} tensor", "{count} tensors", steps);
    return message("Recorded elsewhere ({origin}): {tensors}. There are no weights here, so nothing is recomputed.",
                   {{"origin", trace.origin}, {"tensors", tensors}});
}

bool is_softmax(const trace::TraceCall& call) {
    return call.function == "softmax" || call.function == "scaled_dot_product_attention";
}

bool is_norm(const trace::TraceCall& call) {
    constexpr std::string_view of_module = "Norm";  // not a message: PyTorch's name
    return call.kind.find(of_module) != std::string::npos || call.function.find("_norm") != std::string::npos;
}

// The one value of all; nothing if there is none or they differ.
std::optional<std::string> only(const std::set<std::string>& values) {
    return values.size() == 1 ? std::optional(*values.begin()) : std::nullopt;
}

// The heads that attention was computed for; otherwise the number that its modules carry.
std::optional<std::string> heads_of(const trace::Trace& trace) {
    std::set<std::string> counted, carried;
    for (const trace::TraceCall& call : trace.calls)
        if (is_softmax(call))
            for (const auto& [port, name] : call.in)
                if (const trace::TraceTensor* tensor = trace.find(name);
                    tensor != nullptr && tensor->shape.size() == 4 && (port == "input" || port == "query"))
                    counted.insert(std::to_string(tensor->shape[1]));
    if (!counted.empty()) return only(counted);
    static constexpr std::array<std::string_view, 8> names = {
        ".n_head", ".n_heads", ".num_heads", ".nhead", ".num_attention_heads", ".heads", ".h", ".n_attention_heads"};
    for (const auto& [key, value] : trace.hyperparameters)
        if (std::ranges::any_of(names, [&ends = key](std::string_view name) { return ends.ends_with(name); }) &&
            std::ranges::all_of(value, [](unsigned char c) { return std::isdigit(c) != 0; }))
            carried.insert(value);
    return only(carried);
}

std::optional<std::string> eps_of(const trace::Trace& trace) {
    std::set<std::string> values;
    for (const auto& [key, value] : trace.hyperparameters)
        if (key.ends_with(".eps") || key.ends_with(".variance_epsilon")) values.insert(value);
    return only(values);
}

// "layers.0" of "layers.0.attention": up to the first number.
std::string_view block_of(std::string_view module) {
    for (std::size_t from = 0; from < module.size();) {
        const std::size_t dot = std::min(module.find('.', from), module.size());
        if (from > 0 && std::isdigit(static_cast<unsigned char>(module[from])) != 0) return module.substr(0, dot);
        from = dot + 1;
    }
    return {};
}

// Whether each block that computes an attention calls a norm before it.
std::optional<std::string> norm_first_of(const trace::Trace& trace) {
    std::set<std::string> found;
    std::set<std::string_view> judged;
    for (std::size_t i = 0; i < trace.calls.size(); ++i) {
        const std::string_view block = block_of(trace.calls[i].module);
        if (!is_softmax(trace.calls[i]) || block.empty() || !judged.insert(block).second) continue;
        const auto in_block = [&](const trace::TraceCall& call) {
            return is_norm(call) && block_of(call.module) == block;
        };
        const auto softmax = trace.calls.begin() + static_cast<std::ptrdiff_t>(i);
        const bool before = std::any_of(trace.calls.begin(), softmax, in_block);
        if (before || std::any_of(softmax, trace.calls.end(), in_block)) found.insert(before ? "true" : "false");
    }
    return only(found);
}

std::optional<std::string> activation_of(const trace::Trace& trace) {
    std::set<std::string> found;
    const auto take = [&](std::string_view key, const std::string& name, const auto& said, const std::string& where) {
        const auto approximate = said.find(where);
        const auto kind = ops::activation_named(
            key, name, approximate == said.end() ? "none" : std::string_view(approximate->second));
        if (kind) found.insert(std::string(kind->name));
    };
    for (const trace::TraceCall& call : trace.calls) {
        take("function", call.function, call.with, "approximate");
        take("class", call.kind, trace.hyperparameters, call.module + ".approximate");
    }
    return only(found);
}

const trace::TraceTensor* parameter(const trace::Trace& trace, const std::string& name) {
    const auto found = std::ranges::find(trace.parameters, name, &trace::TraceTensor::name);
    return found == trace.parameters.end() ? nullptr : &*found;
}

// Whether the last projection has the numbers of an embedding, and no gradient of its own: PyTorch's state_dict stores
// what is tied under both names, and its gradient is the sum of both uses.
std::optional<std::string> tied_of(const trace::Trace& trace) {
    static constexpr std::string_view projection = "Linear", table = "Embedding";  // not a message: PyTorch's names
    const auto last = std::find_if(trace.calls.rbegin(), trace.calls.rend(),
                                   [](const trace::TraceCall& call) { return call.kind == projection; });
    if (last == trace.calls.rend()) return std::nullopt;
    const trace::TraceTensor* head = parameter(trace, last->module + ".weight");
    if (head == nullptr || trace.find(backward::gradient_name(head->name)) != nullptr) return std::nullopt;
    for (const trace::TraceCall& call : trace.calls) {
        if (call.kind != table) continue;
        const trace::TraceTensor* embedding = parameter(trace, call.module + ".weight");
        if (embedding != nullptr && embedding->shape == head->shape &&
            std::ranges::equal(embedding->values.values(), head->values.values()))
            return "true";
    }
    return std::nullopt;
}

}  // namespace

bool is_recording(const std::string& path) {
    std::error_code failed;
    if (!fs::is_regular_file(path, failed)) return false;
    const fs::path ending = fs::path(path).extension();
    if (ending == ".npz" || ending == ".json") return true;
    if (ending != ".safetensors") return false;
    try {
        return trace::sources::recorded_file(path).is_recorders;
    } catch (const Error&) {
        return false;
    }
}

std::shared_ptr<const RecordedRun> run_of_trace(const std::string& path) {
    const trace::Trace trace = trace::open_trace(path);
    RecordedRun run;
    run.name = path;
    run.path = absolute_path(path);
    run.plan = std::make_shared<const Plan>(trace::plan_of_trace(trace));
    run.sizes = trace::sizes_of(trace);
    run.has_parameters = !trace.parameters.empty();
    run.description = description_of(trace, run.plan->steps().size());
    run.remarks = trace.remarks;
    run.trace = trace;
    return std::make_shared<const RecordedRun>(std::move(run));
}

std::shared_ptr<const ModelInfo> about(const Opened& opened) {
    return std::visit([](const auto& one) -> std::shared_ptr<const ModelInfo> { return one; }, opened);
}

const RecordedRun* recorded(const Opened& opened) {
    const auto* run = std::get_if<std::shared_ptr<const RecordedRun>>(&opened);
    return run == nullptr ? nullptr : run->get();
}

Overrides hints_of_trace(const trace::Trace& trace) {
    Overrides hints;
    const auto add = [&](const char* key, const std::optional<std::string>& value) {
        if (value) hints.emplace_back(key, *value);
    };
    add("nhead", heads_of(trace));
    add("norm_first", norm_first_of(trace));
    add("layer_norm_eps", eps_of(trace));
    add("activation", activation_of(trace));
    add("tie_word_embeddings", tied_of(trace));
    return hints;
}

Overrides hints_of_file(const std::string& path) {
    if (!path.ends_with(".safetensors") || !is_recording(path)) return {};
    return hints_of_trace(trace::open_trace(path));
}

}  // namespace decoderscope::load
