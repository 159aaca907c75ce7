#include "app/cli/commands.h"
#include "app/core/tabs/bisect/formula_check.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::cli {

namespace {

struct CheckRequest {
    std::string path;
    std::vector<std::string> constants, mistakes;
    core::bisect::Expectation expectation;
    bool json = false;
};

// "eps=1e-5" and "It is LayerNorm = …": what stands before and behind the first sign.
std::pair<std::string, std::string> parts(const std::string& option, const std::string& text) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0)
        throw Error("{option}: {text}, expected KEY=VALUE", {{"option", option}, {"text", text}});
    return {text.substr(0, sign), text.substr(sign + 1)};
}

void run_check(const CheckRequest& request, std::ostream& out) {
    core::bisect::Expectation expectation = request.expectation;
    for (const std::string& text : request.constants) {
        const auto [name, value] = parts("--number", text);
        const std::optional<double> number = number_from(value);
        if (!number) throw Error("--number: {text}, expected KEY=NUMBER", {{"text", text}});
        expectation.constants[name] = *number;
    }
    for (const std::string& text : request.mistakes) expectation.mistakes.insert(parts("--mistake", text));
    const core::bisect::FormulaCheck check = core::bisect::check_formula(trace::open_trace(request.path), expectation);
    out << (request.json ? core::bisect::formula_check_json(check) : core::bisect::formula_check_text(check));
    if (!check.agrees)
        throw Judgement(Judged::different, message("{path}: {name} is not what the formula says",
                                                   {{"path", request.path}, {"name", expectation.got}}));
}

}  // namespace

void add_check(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<CheckRequest>();
    CLI::App& command = *app.add_subcommand(
        "check", "Hold a recorded tensor against the formula that it should be, and find the mistake");
    judge(command, context);
    command.add_option("FILE", request->path, "safetensors or .npz of the tensor and of what the formula reads")
        ->required();
    command
        .add_option("--formula", request->expectation.formula,
                    "what it should be, in index notation or as in PyTorch: \"softmax(q @ k.mT / sqrt(d_head), -1)\"")
        ->required();
    command.add_option("--got", request->expectation.got, "the name of the tensor (got)");
    command.add_option("--number", request->constants, "KEY=VALUE: a number that the formula names; may be repeated");
    command.add_option("--mistake", request->mistakes,
                       "SENTENCE=FORMULA: a mistake to be looked for, besides those of one node; may be repeated");
    command
        .add_option("--tolerance", request->expectation.tolerance,
                    "how far numbers may differ, relative to the largest magnitude (1e-5)")
        ->transform(within(bounds::kTolerance));
    command.add_flag("--json", request->json, "print JSON: agrees, cell, expected, got, terms, causes, relation, text");
    command.callback([context, request] { context.work = [context, request] { run_check(*request, context.out); }; });
}

}  // namespace decoderscope::cli
