#include "engine/trace/named_calls.h"

#include "engine/base/tables.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

namespace decoderscope::trace {

namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t kLongestName = 500;

// What a field of a pattern may stand for: {module} and {any} for all but nothing, {layer}, {call} and {port} for
// digits, others for a word.
bool can_be(std::string_view field, std::string_view text) {
    if (field == "module" || field == "any") return !text.empty();
    const bool number = field == "layer" || field == "call" || field == "port";
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !text.empty() && (number ? std::ranges::all_of(text, is_digit) : std::ranges::all_of(text, is_word));
}

// Whether a name is of a pattern, "{module}/{operation}_output_{port}", and what stands in its fields; each takes as
// much as it can.
bool matches(std::string_view pattern, std::string_view name, Fields& fields) {
    if (pattern.empty()) return name.empty();
    if (pattern.front() != '{')
        return !name.empty() && name.front() == pattern.front() && matches(pattern.substr(1), name.substr(1), fields);
    const std::size_t end = pattern.find('}');
    const std::string_view field = pattern.substr(1, end - 1), rest = pattern.substr(end + 1);
    for (std::size_t length = name.size(); length > 0; --length) {
        const std::string_view text = name.substr(0, length);
        if (!can_be(field, text) || !matches(rest, name.substr(length), fields)) continue;
        fields.insert_or_assign(std::string(field), std::string(text));
        return true;
    }
    return false;
}

// "MatMul_1", "__matmul__" and "_softmax" as PyTorch calls the functions: "matmul", "softmax".
std::string function_of(std::string_view operation) {
    const std::size_t number = operation.rfind('_');
    if (number != std::string_view::npos && number > 0 && can_be("port", operation.substr(number + 1)))
        operation = operation.substr(0, number);
    const std::size_t first = operation.find_first_not_of('_'), last = operation.find_last_not_of('_');
    if (first == std::string_view::npos) return std::string(operation);
    std::string function(operation.substr(first, last - first + 1));
    std::ranges::transform(function, function.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return function;
}

TraceCall call_of(std::string_view name, const Fields& fields) {
    const auto field = [&](std::string_view key) {
        const auto found = fields.find(key);
        return found == fields.end() ? std::string() : found->second;
    };
    std::string module = field("module");
    std::ranges::replace(module, '/', '.');
    return {.name = std::string(name),
            .module = module.empty() ? "(model)" : module,
            .kind = field("class"),
            .function = function_of(field("operation")),
            .in = {},
            .out = {}};
}

std::optional<TraceCall> of_patterns(const OrderedJson& patterns, std::string_view name) {
    for (const OrderedJson& pattern : patterns)
        if (Fields fields; matches(pattern.get_ref<const std::string&>(), name, fields)) return call_of(name, fields);
    return std::nullopt;
}

// By names of modules and what each is here; others may stand before it ("backbone/transformer_layer_0/…").
std::optional<TraceCall> of_modules(const OrderedJson& modules, std::string_view name) {
    for (const auto& [pattern, ours] : modules.items()) {
        Fields fields;
        if (!matches(pattern, name, fields) && !matches("{any}/" + pattern, name, fields)) continue;
        std::string module = ours.get<std::string>();
        constexpr std::string_view layer = "{layer}";
        if (const std::size_t at = module.find(layer); at != std::string::npos)
            module.replace(at, layer.size(), fields.find("layer")->second);
        return TraceCall{.name = std::string(name), .module = module, .kind = {}, .function = {}, .in = {}, .out = {}};
    }
    return std::nullopt;
}

std::optional<TraceCall> of_program(const OrderedJson& names, std::string_view name) {
    if (name.size() > kLongestName) return std::nullopt;
    return names.is_array() ? of_patterns(names, name) : of_modules(names, name);
}

}  // namespace

void add_calls_by_names(Trace& trace) {
    if (!trace.calls.empty()) return;
    std::vector<TraceCall> most;
    std::string_view program;
    for (const auto& [name, names] : asset_table("dumps")["tensors"].items()) {
        std::vector<TraceCall> calls;
        for (const TraceTensor& tensor : trace.tensors)
            if (auto call = of_program(names, tensor.name)) {
                call->out = {{"", tensor.name}};
                calls.push_back(std::move(*call));
            }
        if (calls.size() <= most.size()) continue;
        most = std::move(calls);
        program = name;
    }
    if (most.size() < 2 || 4 * most.size() < trace.tensors.size()) return;
    trace.calls = std::move(most);
    trace.calls_by_names = true;
    trace.remarks.push_back(
        message("its tensors have the names that {program} gives them", {{"program", std::string(program)}}));
}

std::optional<TraceCall> named_call(std::string_view program, std::string_view name) {
    return of_program(asset_table("dumps")["calls"][std::string(program)], name);
}

std::string module_called(std::string_view tensor) {
    for (const OrderedJson& ending : asset_table("dumps")["endings"]) {
        const auto& text = ending.get_ref<const std::string&>();
        if (tensor.size() > text.size() && tensor.ends_with(text))
            return std::string(tensor.substr(0, tensor.size() - text.size()));
    }
    return std::string(tensor);
}

}  // namespace decoderscope::trace
