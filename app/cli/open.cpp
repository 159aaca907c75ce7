#include "app/cli/commands.h"
#include "engine/base/error.h"
#include "engine/trace/trace.h"

#include <memory>
#include <ostream>
#include <string>

namespace decoderscope::cli {

namespace {

void list(const trace::Trace& trace, std::ostream& out) {
    for (const trace::TraceTensor& tensor : trace.tensors)
        out << tensor.name << '\t' << tensor.dtype << '\t' << shape_text(unnamed(tensor.shape)) << '\n';
    out << trace.origin.english() << ": " << trace.tensors.size() << " tensors, " << trace.parameters.size()
        << " parameters, " << trace.calls.size() << " calls\n";
    for (const Sentence& remark : trace.remarks) out << "note: " << remark.english() << '\n';
}

}  // namespace

void add_open(CLI::App& app, const Context& context) {
    struct Wanted {
        std::string path;
        bool list = false;
    };
    const auto wanted = std::make_shared<Wanted>();
    CLI::App& command = *app.add_subcommand("open", "Open the window on a trace recorded elsewhere, without its model");
    command.add_option("TRACE", wanted->path, kTraces)->required();
    command.add_flag("--list", wanted->list, "print its tensors instead: name, type, shape, in the order of recording");
    command.callback([context, wanted] {
        context.work = [context, wanted] {
            if (wanted->list) return list(trace::open_trace(wanted->path), context.out);
            context.open_trace(wanted->path);
        };
    });
}

}  // namespace decoderscope::cli
