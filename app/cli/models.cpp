#include "app/cli/commands.h"
#include "engine/model/bundled.h"

#include <ostream>

namespace decoderscope::cli {

void add_models(CLI::App& app, const Context& context) {
    app.add_subcommand("models", "List the bundled models, one per line")->callback([context] {
        context.work = [context] {
            for (const BundledModel& model : bundled_models())
                context.out << model.name << "  " << model.description << '\n';
        };
    });
}

}  // namespace decoderscope::cli
