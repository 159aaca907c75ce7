#include "app/cli/commands.h"
#include "app/core/book/book_lines.h"

#include <memory>

namespace decoderscope::cli {

namespace {

struct FormulasRequest {
    bool markdown = false, ascii = false;
};

}  // namespace

void add_formulas(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<FormulasRequest>();
    CLI::App& command = *app.add_subcommand(
        "formulas", "Print the formulas by which every number is computed, with their sources and kernels");
    command.add_flag("--markdown", request->markdown, "as Markdown");
    command.add_flag("--ascii", request->ascii, "formulas without Unicode: sum_k instead of Σ_k");
    command.callback([context, request] {
        context.work = [context, request] {
            const auto script = request->ascii ? formulas::Script::ascii : formulas::Script::unicode;
            if (request->markdown)
                core::book::write_markdown(context.out, script);
            else
                core::book::write_text(context.out, script);
        };
    });
}

}  // namespace decoderscope::cli
