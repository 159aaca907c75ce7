#include "app/cli/commands.h"
#include "engine/base/file.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"

#include <memory>
#include <ostream>
#include <string>

namespace decoderscope::cli {

void add_models(CLI::App& app, const Context& context) {
    app.add_subcommand("models", "List the bundled models, one per line")->callback([context] {
        context.work = [context] {
            for (const load::BundledModel& model : load::bundled_models())
                context.out << model.name << "  " << model.description.english() << '\n';
        };
    });
}

void add_names(CLI::App& app, const Context& context) {
    const auto path = std::make_shared<std::string>();
    CLI::App& command = *app.add_subcommand(
        "names", "Print what each tensor of a model is recognised as, in the form that --map takes");
    command.add_option("MODEL", context.run.model, kModelHelp)->required();
    add_set_option(command, context.run);
    command.add_option("--out", *path, "the JSON file to write instead");
    command.callback([context, path] {
        context.work = [context, path] {
            const std::string text =
                load::names::mapping_to_json(load::mapping_of_model(context.run.model, settings_of(context.run)));
            if (path->empty())
                context.out << text;
            else
                write_whole(*path, [&](std::ostream& out) { out << text; });
        };
    });
}

}  // namespace decoderscope::cli
