#include "app/cli/commands.h"
#include "engine/file.h"
#include "engine/model/assets.h"

#include <ostream>

namespace decoderscope::cli {

void add_recorder(CLI::App& app, const Context& context) {
    CLI::App& command = *app.add_subcommand(
        "recorder", "Print the Python file that records a PyTorch model: decoderscope recorder > record.py");
    command.callback(
        [context] { context.work = [context] { context.out << read_text(asset_path("recorder/record.py")); }; });
}

}  // namespace decoderscope::cli
