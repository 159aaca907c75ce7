#include "app/core/figure/export.h"
#include "app/cli/commands.h"
#include "app/core/compare/depth.h"
#include "app/core/compare/norm_rows.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "engine/base/error.h"
#include "engine/platform/process.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <functional>
#include <iostream>
#include <string>
#include <utility>

namespace decoderscope::cli {

namespace {

// Shows the progress of long work as a line in a terminal, removed at the end; writes nothing if there is no terminal.
// While it lives, Ctrl+C stops the work between two parts instead of killing the program in the middle of one.
class Progress {
public:
    Progress(std::string what, std::size_t parts);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Begins a part. Throws ExportStopped if Ctrl+C was pressed.
    void advance();

private:
    std::string what_;
    std::size_t done_ = 0, parts_;
    bool shown_;
    void (*handler_before_)(int);
};

// A signal handler may only use this.
volatile std::sig_atomic_t interrupted = 0;

extern "C" void interrupt(int) { interrupted = 1; }

Progress::Progress(std::string what, std::size_t parts)
    : what_(std::move(what)),
      parts_(std::max<std::size_t>(parts, 1)),
      shown_(parts > 1 && platform::errors_go_to_a_terminal()) {
    interrupted = 0;
    handler_before_ = std::signal(SIGINT, interrupt);
}

Progress::~Progress() {
    std::signal(SIGINT, handler_before_);
    if (shown_) std::cerr << "\r\x1b[K" << std::flush;
}

void Progress::advance() {
    if (interrupted != 0) throw core::ExportStopped();
    if (!shown_) return;
    constexpr std::size_t width = 30;
    const std::size_t filled = std::min(width, done_ * width / parts_);
    std::cerr << "\r\x1b[K" << what_ << " [" << std::string(filled, '#') << std::string(width - filled, '.') << "] "
              << std::min(done_, parts_) << " / " << parts_ << std::flush;
    ++done_;
}

struct ExportRequest {
    std::string tensor, path, ending = "png";
    Index batch = 0, head = 0;
    std::optional<Index> layer;
    bool norm_curves = false, with_operands = false, each_head = false;
    core::Gathering gathering;
    core::ExportOptions options;
};

void check_index(const Step& step, std::string_view axis_name, Index index) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i)
        if (step.axes[i].name == axis_name && index >= step.axes[i].size)
            throw Error(
                "{name}: {axis} {index} is out of range, expected 0 to {highest}",
                {{"name", step.name}, {"axis", axis_name}, {"index", index}, {"highest", step.axes[i].size - 1}});
}

// The requested slice. On the command line a head is one of the tensor's own, even if query heads share keys.
core::Place place_for(const Step& step, const ExportRequest& options, Index query_heads) {
    check_index(step, axis::batch, options.batch);
    check_index(step, axis::head, options.head);
    for (const Axis& axis : step.axes)
        if (axis.name == axis::head) return {options.batch, options.head * (query_heads / axis.size)};
    return {options.batch, 0};
}

// The requested step: by its name, or its counterpart in the requested block.
const Step& requested_step(const Run& run, const ExportRequest& request) {
    const Ref named = run.plan().find(request.tensor);
    if (named == nullptr)
        throw Error("{tensor}: this run has no such tensor; expected a name such as blocks.0.attn.pattern",
                    {{"tensor", request.tensor}});
    if (!request.layer) return *named;
    const Ref step = run.plan().twin_in(*named, *request.layer);
    if (step == nullptr)
        throw Error(
            "{tensor}: has no layer {layer}, expected a tensor of a block and the number of one of the model's blocks",
            {{"tensor", request.tensor}, {"layer", *request.layer}});
    return *step;
}

// The on-demand tensors to compute: the named one, and all of them if another layer or every layer is wanted.
std::vector<std::string> asked_for(const ExportRequest& request) {
    if (request.gathering.all_layers || request.layer) return {"*", request.tensor};
    return {request.tensor};
}

core::Exhibit requested_exhibit(const core::ShownRun& shown, const ExportRequest& request) {
    const Step& step = requested_step(*shown.run, request);
    const core::Place place = place_for(step, request, shown.scenario.query_heads());
    core::Gathering gathering = request.gathering;
    if (request.each_head) gathering.all_heads = true;
    if (gathering.all_heads || gathering.all_layers) return core::gathered_exhibit(shown, step, place, gathering);
    return core::step_exhibit(shown, step, place, request.with_operands);
}

// The same model, weights and input with the norms before the sublayers, and after them.
core::Exhibit norm_curves(const core::Scenario& scenario, const RunOptions& options) {
    const auto curves = [&](const char* norm_first) {
        return core::norms::depth_curves(*run_of(core::with_override(scenario, "norm_first", norm_first), options),
                                         StackKind::decoder);
    };
    return core::norms::depth_exhibit(scenario, curves("true"), curves("false"));
}

void write(core::Exhibit exhibit, const ExportRequest& request, std::ostream& out) {
    exhibit = naming(request.path, [&] { return core::cropped(std::move(exhibit), request.options.crop); });
    Progress progress(request.path, exhibit.panels.size());
    core::ExportOptions options = request.options;
    options.crop = {};
    exhibit = core::watched(std::move(exhibit), [&] { progress.advance(); });
    try {
        if (request.each_head)
            core::export_each(exhibit, request.path, "." + request.ending, options);
        else
            core::export_exhibit(exhibit, request.path, options);
    } catch (const core::ExportStopped& stopped) {
        throw Error("{path}: {reason}", {{"path", request.path}, {"reason", stopped.what()}});
    }
    if (!exhibit.panels.empty() && !exhibit.panels.front().part.empty())
        out << request.path << ": cropped to " << exhibit.panels.front().part << '\n';
}

void run_export(const RunOptions& options, const ExportRequest& request, std::ostream& out) {
    const core::files::SavedSession work = work_of(options);
    const core::Scenario& scenario = work.scenario;
    if (request.norm_curves) return write(norm_curves(scenario, options), request, out);
    core::ShownRun shown{scenario, run_of(scenario, options, asked_for(request)), work.notes};
    shown.unedited = [&, run = std::shared_ptr<const Run>()]() mutable {
        if (!run) run = run_of(core::varied(scenario, {.without_edits = true}), options, asked_for(request));
        return run;
    };
    write(requested_exhibit(shown, request), request, out);
}

// Checks that take more than one option.
void check_together(const ExportRequest& request) {
    if (request.tensor.empty() == !request.norm_curves)
        throw CLI::RequiredError(request.norm_curves ? "either --tensor or --norm-curves" : "--tensor");
    const std::string file = request.each_head ? "x." + request.ending : request.path;
    if (!core::is_export_path(file))
        throw CLI::ValidationError(request.each_head ? "--format " + request.ending : "--out " + request.path,
                                   "expected one of " + core::export_endings());
    if (request.with_operands && (request.gathering.all_heads || request.gathering.all_layers || request.each_head))
        throw CLI::ExcludesError("--with-operands", "--all-heads, --all-layers and --each-head");
    const core::Crop& crop = request.options.crop;
    if ((crop.rows || crop.columns) && (request.with_operands || request.norm_curves))
        throw CLI::ExcludesError("--crop", request.norm_curves ? "--norm-curves" : "--with-operands");
}

// An option whose text `take` reads; its fault is said as the command line says others.
void add_read(CLI::App& command, const char* option, const char* help, std::function<void(const std::string&)> take) {
    command.add_option_function<std::string>(
        option,
        [take = std::move(take), option](const std::string& text) {
            try {
                take(text);
            } catch (const Error& error) {
                throw CLI::ValidationError(option, error.sentence().english());
            }
        },
        help);
}

void add_pictures(CLI::App& command, const std::shared_ptr<ExportRequest>& request) {
    core::ExportOptions& options = request->options;
    CLI::Option* scale = command.add_option("--scale", options.scale, "pixels per 1/96 inch in a PNG, from 1 to 4 (2)")
                             ->transform(within(bounds::kScale));
    command
        .add_option_function<double>(
            "--dpi", [&options](double dpi) { options.scale = dpi / 96.0; }, "pixels per inch in a PNG, such as 300")
        ->transform(within(bounds::kDpi))
        ->excludes(scale);
    command.add_flag("--dark", options.style.dark, "draw pictures on a dark background");
    add_read(command, "--width", "how wide the figure is, in cm or inches, such as 8.5cm or 3.35in",
             [&options](const std::string& text) { options.style.width = core::width_from(text); });
    add_read(command, "--font-size", "the size of its labels in points, such as 7pt (8.25pt)",
             [&options](const std::string& text) { options.style.font_size = core::font_size_from(text); });
    add_read(command, "--colors", "the colours of its numbers: viridis, cividis, blues, greys or diverging",
             [&options](const std::string& text) { options.style.map = core::color_map_from(text); });
    const auto without = [&command](const char* option, bool& shown, const char* help) {
        command.add_flag_callback(
            option, [&shown] { shown = false; }, help);
    };
    without("--no-title", options.style.title, "without the tensor's name and place above the picture");
    without("--no-numbers", options.style.numbers, "without numbers in the cells");
    without("--no-bar", options.style.bar, "without the bar of colours");
    without("--no-caption", options.style.notes, "without the line that says what was run");
    command.add_flag("--lines", options.style.lines,
                     "an attention's weights as lines from queries to keys, in place of cells");
}

// Which part is written, in files of numbers, too.
void add_crop(CLI::App& command, const std::shared_ptr<ExportRequest>& request) {
    core::Crop& crop = request->options.crop;
    add_read(command, "--crop", "the rows and columns that are written, half-open, such as 0:8,0:8 or 2:,:",
             [&crop](const std::string& text) {
                 const core::Crop read = core::crop_from(text);
                 crop.rows = read.rows;
                 crop.columns = read.columns;
             });
    command.add_flag_callback(
        "--no-special", [&crop] { crop.special = false; },
        "without the rows and columns of special tokens: those that begin, end and pad a text");
}

}  // namespace

void add_export(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<ExportRequest>();
    CLI::App& command = add_running(
        app, context, "export",
        "Write a heatmap, all heads or layers of a tensor, or the norm curves to a file: " + core::export_endings());
    command.add_option("--tensor", request->tensor, "the tensor's name, such as blocks.0.attn.pattern");
    command.add_flag("--norm-curves", request->norm_curves,
                     "instead of a tensor: stream, updates and norms by depth, under Pre-Norm and Post-Norm");
    command.add_option("--out", request->path, "the file to write; its ending is the format")->required();
    command.add_option("--batch", request->batch, "which row of the batch (0)")->transform(within(bounds::kFrom0));
    CLI::Option* head =
        command.add_option("--head", request->head, "which head (0)")->transform(within(bounds::kFrom0));
    CLI::Option* layer = command.add_option("--layer", request->layer, "take the tensor from this block instead")
                             ->transform(within(bounds::kFrom0));
    command.add_flag("--all-heads", request->gathering.all_heads, "every head of the tensor in one figure")
        ->excludes(head);
    command.add_flag("--all-layers", request->gathering.all_layers, "the tensor of every block in one figure")
        ->excludes(layer);
    command.add_flag("--own-ranges", request->gathering.own_ranges,
                     "a separate colour range for each head or layer, instead of one for all");
    command.add_flag("--with-operands", request->with_operands, "also export the tensors that it is computed from");
    command
        .add_flag("--each-head", request->each_head,
                  "one file per head (with --all-layers, of every block) in the new folder --out")
        ->excludes(head);
    command.add_option("--format", request->ending, "the format that --each-head writes (png)");
    add_pictures(command, request);
    add_crop(command, request);
    command.callback([context, request] {
        check_together(*request);
        context.work = [context, request] { run_export(context.run, *request, context.out); };
    });
}

}  // namespace decoderscope::cli
