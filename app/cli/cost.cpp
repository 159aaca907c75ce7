#include "app/core/ask/cost.h"
#include "app/cli/commands.h"
#include "engine/base/file.h"

#include <algorithm>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::cli {

namespace {

struct CostRequest {
    std::string by = "step", sort = "time", csv, gradient_target;
    std::size_t repeat = 9;
    bool json = false;
};

std::vector<std::string> words(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

void cost(const RunOptions& options, const CostRequest& request, std::ostream& out) {
    core::Scenario scenario = scenario_of(options);
    static_cast<void>(scenario.model());  // a recording computes nothing
    scenario.gradient_target = request.gradient_target;
    const std::shared_ptr<const Plan> plan = plan_naming_files(scenario, options);
    const core::ask::PassCost pass =
        core::finished(core::ask::measured_cost(plan, core::kept_now(*plan, scenario.recording, scenario.memory),
                                                {.least = request.repeat, .most = request.repeat}));
    const auto by = static_cast<core::ask::Grouping>(std::ranges::find(core::ask::kGroupingNames, request.by) -
                                                     core::ask::kGroupingNames.begin());
    const core::Table table = core::ask::cost_table(*plan, pass, by, request.sort);
    if (!request.csv.empty()) write_whole(request.csv, [&](std::ostream& csv) { core::write_csv(csv, table); });
    if (request.json)
        core::write_json(out, table);
    else if (request.csv.empty())
        core::write_text(out, table);
}

}  // namespace

void add_cost(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<CostRequest>();
    CLI::App& command =
        add_running(app, context, "cost", "List what each step costs: time, memory, operations and bytes moved");
    command.add_option("--by", request->by, "a line for each step, part or block (step)")
        ->check(CLI::IsMember(words(core::ask::kGroupingNames)).description(""));
    command.add_option("--sort", request->sort, "the largest first: time, memory, operations, moved; or order (time)")
        ->check(CLI::IsMember(words(core::ask::kSorts)).description(""));
    command.add_option("--repeat", request->repeat, "number of timed passes (9)")->transform(within(bounds::kRepeats));
    command.add_option("--gradients-of", request->gradient_target,
                       "also the backward pass: the gradients of a cell or of the loss");
    command.add_option("--csv", request->csv, "write the table to this file instead");
    command.add_flag("--json", request->json, "print the table as JSON");
    command.callback(
        [context, request] { context.work = [context, request] { cost(context.run, *request, context.out); }; });
}

}  // namespace decoderscope::cli
