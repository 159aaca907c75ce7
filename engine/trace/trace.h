#pragma once

#include "engine/base/message.h"
#include "engine/model/config.h"
#include "engine/tensor/tensor.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::trace {

// A tensor that another program recorded. Its numbers stay in the mapped file until they are read.
struct TraceTensor {
    std::string name;
    std::string dtype;  // as stored: "F32", "BF16", …
    std::vector<Index> shape;
    Tensor values;  // as floats, axes unnamed

    // Whether its numbers are floats, of any size, and not indices or truth values.
    [[nodiscard]] bool has_floats() const { return dtype.find('F') != std::string::npos; }
};

// A line of the recorded program: "model.py", 57, "att = F.softmax(att, dim=2)". No file: not known.
struct CodeLine {
    std::string file;
    Index line = 0;
    std::string text;

    bool operator==(const CodeLine&) const = default;
};

// "model.py:57: att = F.softmax(att, dim=2)": the form in which editors jump to it; empty if not known.
[[nodiscard]] std::string text_of(const CodeLine& line);

// A call that was recorded: of a module, or of a function inside of one. Ports name what it was given and gave: the
// argument's name and the tensor's.
struct TraceCall {
    std::string name;      // "h.0.attn#2", "h.0.attn/softmax"
    std::string module;    // "h.0.attn": the module that was called, or that called the function
    std::string kind;      // the module's class, "Linear"; empty for a function
    std::string function;  // "softmax"; empty for a module
    std::vector<std::pair<std::string, std::string>> in, out;
    std::map<std::string, std::string, std::less<>> with = {};  // other arguments: "approximate" and "tanh"
    CodeLine at = {};                                           // that made it
    // Of a function: what it was given of the model's own, by port; "wpe[:]" is the first rows of a table.
    std::vector<std::pair<std::string, std::string>> parameters = {};
};

// Of which call a recorder's tensor is by its name, and whether that call gave it: "h.0.attn/softmax/out" is what
// "h.0.attn/softmax" gave, "h.0.attn/softmax/in.input" what it was given. Nothing for names of other programs.
struct CallSide {
    std::string_view call;
    bool gave = false;
};
[[nodiscard]] std::optional<CallSide> side_of(std::string_view tensor);

// What a model computed elsewhere: its tensors in the order in which they were recorded, without the model.
struct Trace {
    std::string path;
    std::vector<std::string> files;    // all that hold its numbers
    Sentence origin;                   // what wrote it
    std::vector<TraceTensor> tensors;  // without the parameters
    std::vector<TraceTensor> parameters;
    std::vector<TraceCall> calls;  // empty if it doesn't list them
    bool calls_by_names = false;   // they are what the tensors' names tell, each with what it gave alone
    std::map<std::string, std::string, std::less<>> hyperparameters;  // "h.0.ln_1.eps" and "1e-05"
    std::vector<Sentence> remarks;                                    // what it lacks, a sentence each

    // nullptr if there is none of that name.
    [[nodiscard]] const TraceTensor* find(std::string_view name) const;
    // The call that a tensor is named after: that gave it, or was given it. nullptr if there is none.
    [[nodiscard]] const TraceCall* call_of(std::string_view tensor) const;
    // The coarsest type of its floating tensors: "F32", "F16" or "BF16".
    [[nodiscard]] std::string_view precision() const;
};

// Opens a trace without reading its numbers. It may be
// - a file of the recorder (assets/recorder/record.py), also a truncated one, or the manifest of several ranks;
// - any safetensors file of tensors, such as a TransformerLens cache or what `decoderscope trace` writes;
// - an .npz of arrays;
// - Hugging Face's model debugger's JSON with full tensors;
// - Polygraphy's JSON of outputs;
// - msProbe's dump.json, with .npy files.
// Throws Error naming the file and what was expected. Pickles are never read.
[[nodiscard]] Trace open_trace(const std::string& path);

// Throws Error with the reason if a recording was truncated before its first tensor.
void check_not_empty(const Trace& trace);

}  // namespace decoderscope::trace
