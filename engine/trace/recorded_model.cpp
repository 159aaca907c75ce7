#include "engine/trace/recorded_model.h"

#include "engine/error.h"
#include "engine/file.h"
#include "engine/json.h"
#include "engine/trace/recorded_plan.h"
#include "engine/trace/sources.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

// What stands in for a configuration: views need the number of heads, and nothing is computed with the rest.
std::string stand_in(const RecordedSizes& sizes) {
    const nlohmann::json config = {
        {"model_type", "decoderscope"}, {"d_model", sizes.heads}, {"nhead", sizes.heads}, {"num_layers", 1}};
    return config.dump();
}

Sentence description_of(const Trace& trace, std::size_t steps) {
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
        return trace_sources::recorded_file(path).is_recorders;
    } catch (const Error&) {
        return false;
    }
}

std::shared_ptr<const Model> model_of_trace(const std::string& path) {
    const Trace trace = open_trace(path);
    const RecordedSizes sizes = sizes_of(trace);
    Model model;
    model.name = path;
    model.path = absolute_path(path);
    model.config_json = stand_in(sizes);
    model.recorded = plan_of_trace(trace);
    model.recorded_parameters = !trace.parameters.empty();
    model.description = description_of(trace, model.recorded->steps().size());
    model.remarks = trace.remarks;
    model.example.x = Tensor({{axis::batch, sizes.batch}, {axis::pos, sizes.positions}, {axis::d_model, sizes.heads}});
    std::ranges::fill(model.example.x.writable(), 0.0F);
    return std::make_shared<const Model>(std::move(model));
}

}  // namespace decoderscope
