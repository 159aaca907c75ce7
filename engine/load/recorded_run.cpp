#include "engine/load/recorded_run.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/trace/recorded_file.h"

#include <filesystem>
#include <utility>

namespace decoderscope::load {

namespace {

namespace fs = std::filesystem;

Sentence description_of(const trace::Trace& trace, std::size_t steps) {
    const Sentence tensors = message_n("{count} tensor", "{count} tensors", steps);
    return message("Recorded elsewhere ({origin}): {tensors}. There are no weights here, so nothing is recomputed.",
                   {{"origin", trace.origin}, {"tensors", tensors}});
}

}  // namespace

bool is_recording(const std::string& path) {
    std::error_code failed;
    if (!fs::is_regular_file(path, failed)) return false;
    const fs::path ending = fs::path(path).extension();
    if (ending == ".npz" || ending == ".json") return true;
    if (ending != ".safetensors") return false;
    try {
        return trace::sources::recorded_file(path).is_recorders;
    } catch (const Error&) {
        return false;
    }
}

std::shared_ptr<const RecordedRun> run_of_trace(const std::string& path) {
    const trace::Trace trace = trace::open_trace(path);
    RecordedRun run;
    run.name = path;
    run.path = absolute_path(path);
    run.plan = std::make_shared<const Plan>(trace::plan_of_trace(trace));
    run.sizes = trace::sizes_of(trace);
    run.has_parameters = !trace.parameters.empty();
    run.description = description_of(trace, run.plan->steps().size());
    run.remarks = trace.remarks;
    run.trace = trace;
    return std::make_shared<const RecordedRun>(std::move(run));
}

std::shared_ptr<const ModelInfo> about(const Opened& opened) {
    return std::visit([](const auto& one) -> std::shared_ptr<const ModelInfo> { return one; }, opened);
}

const RecordedRun* recorded(const Opened& opened) {
    const auto* run = std::get_if<std::shared_ptr<const RecordedRun>>(&opened);
    return run == nullptr ? nullptr : run->get();
}

}  // namespace decoderscope::load
