#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/files/mapped_file.h"
#include "engine/trace/named_calls.h"
#include "engine/trace/recorded_file.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

namespace decoderscope::trace::sources {

namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 90;

OrderedJson parsed(const std::string& text) { return parse_ordered_json(text, message("a dump of tensors")); }

Bytes from_base64(const std::string& text) {
    const auto bytes = std::make_shared<const std::string>(read_base64(text));
    return {std::shared_ptr<const char>(bytes, bytes->data()), bytes->size(), nullptr, 0};
}

// ---- Hugging Face's model debugger

// One tree of calls: {"module_path": …, "inputs": …, "outputs": …, "children": […]}. A tensor in it is an object with
// shape, dtype and value: the name of a file beside it, or its print-out.
struct Debugger {
    fs::path folder;
    std::string root;
    Trace trace;
    std::size_t printed = 0;

    void tensor(const OrderedJson& json, const std::string& name,
                std::vector<std::pair<std::string, std::string>>& ports, const std::string& port) {
        const OrderedJson& value = json["value"];
        if (!value.is_string()) {
            ++printed;
            return;
        }
        const std::string file = fs::path(value.get<std::string>()).filename().string();
        Trace stored = recorded_file((folder / file).string()).trace;
        if (stored.tensors.size() != 1)
            throw Error("{file}: {count} tensors, expected one", {{"file", file}, {"count", stored.tensors.size()}});
        stored.tensors[0].name = name;
        trace.tensors.push_back(std::move(stored.tensors[0]));
        ports.emplace_back(port, name);
    }

    void values(const OrderedJson& json, const std::string& name,
                std::vector<std::pair<std::string, std::string>>& ports, const std::string& port, int depth) {
        if (depth > kDeepest) return;
        if (json.is_object() && json.contains("shape") && json.contains("value"))
            return tensor(json, name, ports, port);
        const auto inside = [&](const std::string& key, const OrderedJson& value) {
            const bool wrapper = key == "args" || key == "kwargs";
            values(value, wrapper ? name : name + "." + key, ports,
                   wrapper        ? port
                   : port.empty() ? key
                                  : port + "." + key,
                   depth + 1);
        };
        if (json.is_object())
            for (const auto& [key, value] : json.items()) inside(key, value);
        if (json.is_array())
            for (std::size_t i = 0; i < json.size(); ++i) inside(std::to_string(i), json[i]);
    }

    void call(const OrderedJson& node, int depth) {
        const bool is_call = node.is_object() && node.contains("module_path") && node["module_path"].is_string();
        if (depth > kDeepest || !is_call) return;
        std::string path = node["module_path"].get<std::string>();
        if (path.starts_with(root + "."))
            path.erase(0, root.size() + 1);
        else
            path = "(model)";
        const std::size_t number = trace.calls.size();
        trace.calls.push_back({path, path, {}, {}, {}, {}});
        std::vector<std::pair<std::string, std::string>> in, out;
        if (node.contains("inputs")) values(node["inputs"], path + "/in", in, "", 0);
        if (const auto children = node.find("children"); children != node.end() && children->is_array())
            for (const OrderedJson& child : *children) call(child, depth + 1);
        if (node.contains("outputs")) values(node["outputs"], path + "/out", out, "", 0);
        trace.calls[number].in = std::move(in);
        trace.calls[number].out = std::move(out);
    }
};

}  // namespace

Trace debugger(const std::string& path, const std::string& text) {
    const OrderedJson tree = parsed(text);
    Debugger reader;
    reader.folder = fs::path(path).parent_path();
    if (!tree.is_object() || !tree.contains("module_path") || !tree["module_path"].is_string())
        throw Error("module_path: missing");
    reader.root = tree["module_path"].get<std::string>();
    reader.trace.path = path;
    reader.trace.origin = message("Hugging Face's model debugger");
    reader.call(tree, 0);
    if (reader.trace.tensors.empty())
        throw Error(
            "no full tensors; expected a dump of model_addition_debugger_context(model, debug_path=…, "
            "do_prune_layers=False, use_repr=False), its _FULL_TENSORS.json");
    if (reader.printed > 0)
        reader.trace.remarks.push_back(message_n("{count} tensor was printed, not saved, and is left out",
                                                 "{count} tensors were printed, not saved, and are left out",
                                                 reader.printed));
    reader.trace.remarks.push_back(
        message("only modules' inputs and outputs: it has no functions, parameters or hyperparameters, and outputs "
                "only of modules without parts"));
    return reader.trace;
}

// ---- Polygraphy

// {"lst": [[runner, [{"outputs": {name: {"values": {"array": base64 of .npy}}}}]]]}, or the part behind "outputs".
Trace polygraphy(const std::string& path, const std::string& text) {
    const OrderedJson json = parsed(text);
    Trace trace;
    trace.path = path;
    trace.origin = message("Polygraphy");
    std::size_t others = 0;
    const auto iteration = [&](const OrderedJson& result) {
        const auto outputs = result.find("outputs");
        if (outputs == result.end() || !outputs->is_object()) return;
        for (const auto& [name, output] : outputs->items()) {
            const OrderedJson* value = &output;
            if (value->is_object() && value->contains("values")) value = &(*value)["values"];
            if (!value->is_object() || !value->contains("array") || !(*value)["array"].is_string()) {
                ++others;
                continue;
            }
            const Bytes bytes = naming(name, [&] { return from_base64((*value)["array"].get<std::string>()); });
            trace.tensors.push_back(npy_tensor(name, bytes));
        }
    };
    if (json.is_object() && json.contains("lst") && json["lst"].is_array() && !json["lst"].empty()) {
        const OrderedJson& runner = json["lst"][0];
        if (!runner.is_array() || runner.size() != 2 || !runner[1].is_array() || runner[1].empty())
            throw Error("lst: expected [[runner, [results]]]");
        iteration(runner[1][0]);
        if (json["lst"].size() > 1 || runner[1].size() > 1)
            trace.remarks.push_back(message("several runners or iterations: only the first's tensors are opened"));
    } else if (json.is_object()) {
        iteration(json);
    }
    if (trace.tensors.empty()) throw Error("no outputs; expected what polygraphy run --save-outputs writes");
    if (others > 0)
        trace.remarks.push_back(message_n("{count} output is not an array and is left out",
                                          "{count} outputs are not arrays and are left out", others));
    trace.remarks.push_back(
        message("the network's outputs by their names in ONNX: no calls and no parameters are in it"));
    return trace;
}

// ---- msProbe

namespace {

// One list of an msProbe call's tensors. Its files lie beside the list of calls; a pickled one is a program.
struct Probed {
    fs::path folder;
    Trace trace;
    std::size_t pickled = 0;

    void tensor(const OrderedJson& json, const std::string& port,
                std::vector<std::pair<std::string, std::string>>& ports) {
        if (!json.is_object() || !json.contains("data_name") || !json["data_name"].is_string()) return;
        const fs::path file = fs::path(json["data_name"].get<std::string>()).filename();
        if (file.extension() != ".npy") {
            ++pickled;
            return;
        }
        const MappedFile mapped((folder / file).string());
        const std::string name = file.stem().string();
        trace.tensors.push_back(
            npy_tensor(name, {{mapped.bytes(), mapped.data()}, mapped.size(), mapped.descriptor(), 0}));
        ports.emplace_back(port, name);
    }

    void side(const OrderedJson& call, const char* key, std::vector<std::pair<std::string, std::string>>& ports) {
        const auto list = call.find(key);
        if (list == call.end()) return;
        if (list->is_object())  // of keyword arguments
            for (const auto& [port, value] : list->items()) tensor(value, port, ports);
        if (list->is_array())
            for (std::size_t i = 0; i < list->size(); ++i)
                tensor((*list)[i], i == 0 ? "input" : i == 1 ? "other" : std::to_string(i), ports);
    }

    void call(const std::string& name, const OrderedJson& json) {
        std::optional<TraceCall> made = named_call("msProbe", name);
        if (!made || !json.is_object()) return;
        for (const char* key : {"input", "input_args", "input_kwargs"}) side(json, key, made->in);
        side(json, "output", made->out);
        trace.calls.push_back(std::move(*made));
    }
};

}  // namespace

// {"data": {"Module.h.0.attn.Attention.forward.0": {"input_args": [{"data_name": "….npy"}], "output": […]}, …}}, in the
// order of the calls; the tensors are files in dump_tensor_data/.
Trace ms_probe(const std::string& path, const std::string& text) {
    const OrderedJson json = parsed(text);
    Probed reader;
    reader.folder = fs::path(path).parent_path() / "dump_tensor_data";
    reader.trace.path = path;
    reader.trace.origin = message("msProbe");
    if (!json.is_object() || !json.contains("data") || !json["data"].is_object())
        throw Error("data: missing; expected msProbe's calls by their names");
    for (const auto& [name, call] : json["data"].items()) reader.call(name, call);
    if (reader.trace.tensors.empty())
        throw Error(
            "no .npy file of a forward call; expected them in dump_tensor_data/ (those that end in .pt are pickles, "
            "which "
            "are not read: numpy.save(name + \".npy\", torch.load(name + \".pt\").numpy()) converts one, and "
            "\"data_name\" says its name)");
    if (reader.pickled > 0)
        reader.trace.remarks.push_back(message_n("{count} tensor is pickled, and is left out",
                                                 "{count} tensors are pickled, and are left out", reader.pickled));
    reader.trace.remarks.push_back(message("calls and tensors: no parameters are in it"));
    return reader.trace;
}

}  // namespace decoderscope::trace::sources
