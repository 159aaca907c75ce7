#include "app/cli/commands.h"
#include "app/core/compare/comparison_text.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/comparison.h"
#include "app/core/run/output_moves.h"
#include "engine/base/error.h"

#include <ostream>

namespace decoderscope::cli {

namespace {

// How far the output is from the file's, and how many predictions differ; empty if the file has no such output.
Sentence output_sentence(const core::Scenario& scenario, const Run& run, const core::ReferenceRun& reference) {
    const Ref output = core::output_step(run.plan());
    const Tensor* theirs = output == nullptr ? nullptr : reference.find(output->name);
    if (theirs == nullptr || output->axes.size() != 3) return {};
    const Tensor& ours = run.value(output->id);
    if (ours.empty() || sizes_of(theirs->axes()) != sizes_of(ours.axes())) return {};
    core::OutputMoves moves = core::moves_of(*theirs, ours, scenario.inputs.attention_mask, output->name == "logits");
    moves.output = output->name;
    return core::moves_sentence(scenario, moves, core::Mood::happened);
}

// Throws what two comparisons of names come to, so that a script can tell. What only one side has was not compared.
void judge(const core::Comparison& comparison, const std::string& path, const Sentence& verdict) {
    const bool shapes = std::ranges::any_of(comparison.tensors, [](const core::TensorDifference& tensor) {
        return tensor.presence == core::Presence::other_shape;
    });
    if (comparison.differs())
        throw Judgement(comparison.over > 0 || shapes ? Judged::different : Judged::in_part,
                        message("{path}: {verdict}", {{"path", path}, {"verdict", verdict}}));
}

// Compares two files of one model, say the original and a quantised one: their weights, then what each step and the
// predictions became, on the first one's input.
void diff_models(const RunOptions& options, const std::string& other, double tolerance, std::ostream& out) {
    RunOptions of_other = options;
    of_other.model = other;
    of_other.map.clear();
    const core::Scenario a = scenario_of(options);
    core::Scenario b = scenario_of(of_other);
    if (!a.computes() || !b.computes())
        throw Error("{model}: a recording, expected a model; compare with it by --against",
                    {{"model", a.computes() ? other : options.model}});
    b.inputs = a.inputs;
    const std::shared_ptr<const Run> before = run_of(a, options), after = run_of(b, of_other);
    const core::Comparison weights =
        core::compare(core::diff::weights_of(*before), core::diff::weights_of(*after), tolerance);
    const core::Comparison steps = core::compare(recorded_tensors(*before), recorded_tensors(*after), tolerance);
    const auto report = [&](const char* what, const core::Comparison& comparison) {
        out << what << '\n'
            << core::diff::moves_table(comparison, "A", "B") << core::diff::measured_text(comparison) << '\n'
            << core::diff::verdict_of(comparison) << "\n\n";
    };
    out << "A: " << options.model << "\nB: " << other << "\n\n";
    report("Weights, furthest first, relative to the largest number of each tensor:", weights);
    report("Steps, in the same way:", steps);
    const core::OutputMoves moves = core::finished(core::output_moves(before, after, a.inputs.attention_mask));
    if (!moves.output.empty())
        out << "From A to B: " << core::moves_sentence(a, moves, core::Mood::happened).english() << '\n';
    for (const core::Comparison* one : {&weights, &steps})
        judge(*one, other, Sentence::verbatim(core::diff::verdict_of(*one)));
}

// Compares a run with a trace's file.
void diff(const RunOptions& options, const std::string& path, double tolerance, std::ostream& out) {
    const core::ReferenceRun reference = core::read_trace(path);
    std::vector<std::string> asked;  // on-demand tensors are compared if the file has them
    for (const auto& [name, tensor] : reference.tensors) asked.push_back(name);
    const core::Scenario scenario = scenario_of(options);
    const std::shared_ptr<const Run> run = run_of(scenario, options, asked);
    const core::Comparison comparison = core::compare(recorded_tensors(*run), reference.tensors, tolerance);
    out << core::diff::difference_table(comparison, "the run", "the file") << core::diff::measured_text(comparison)
        << '\n'
        << core::diff::verdict_of(comparison) << '\n';
    if (const Sentence moved = output_sentence(scenario, *run, reference); !moved.empty())
        out << "From the file to the run: " << moved.english() << '\n';
    judge(comparison, path,
          message("{verdict} {first}", {{"verdict", core::diff::verdict_of(comparison)},
                                        {"first", core::diff::first_difference(comparison, "the run", "the file")}}));
}

}  // namespace

void add_diff(CLI::App& app, const Context& context) {
    struct Wanted {
        std::string other, against;
        double tolerance = 1e-5;
    };
    const auto wanted = std::make_shared<Wanted>();
    CLI::App& command = add_running(app, context, "diff",
                                    "Compare a run with a trace, or two files of one model, tensor by tensor, worst "
                                    "first");
    cli::judge(command, context);
    CLI::Option* other = command.add_option(
        "OTHER", wanted->other,
        "another file of the same model, such as a quantised one: its weights, steps and predictions are compared");
    CLI::Option* against = command.add_option("--against", wanted->against,
                                              "safetensors file whose tensors have the names that trace writes");
    against->excludes(other);
    command.add_option("--tolerance", wanted->tolerance, "differences up to this count as none (1e-5)")
        ->transform(within(bounds::kTolerance));
    command.callback([context, wanted] {
        if (wanted->other.empty() && wanted->against.empty()) throw CLI::RequiredError("OTHER or --against");
        context.work = [context, wanted] {
            if (wanted->against.empty())
                diff_models(context.run, wanted->other, wanted->tolerance, context.out);
            else
                diff(context.run, wanted->against, wanted->tolerance, context.out);
        };
    });
}

}  // namespace decoderscope::cli
