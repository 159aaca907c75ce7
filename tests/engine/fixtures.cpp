#include "tests/engine/fixtures.h"

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/decoder/initial_weights.h"
#include "engine/files/safetensors.h"

#include <algorithm>
#include <filesystem>

namespace decoderscope::testing {

using namespace decoderscope::decoder;

namespace {

namespace fs = std::filesystem;

// In the order of the data, which is that of computation; the reader itself sorts by name.
std::vector<std::pair<std::string, Tensor>> in_file_order(const SafetensorsFile& file) {
    std::vector<std::pair<std::size_t, std::string>> order;
    for (const auto& [name, entry] : file.entries()) order.emplace_back(entry.begin, name);
    std::sort(order.begin(), order.end());
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const auto& [begin, name] : order) tensors.emplace_back(name, file.floats(name));
    return tensors;
}

}  // namespace

std::string fixture_path(const std::string& relative) {
    return DECODERSCOPE_TESTS_DIR "/reference/fixtures/" + relative;
}

std::vector<std::string> fixture_names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(fixture_path("")))
        if (entry.is_directory()) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Fixture load_fixture(const std::string& name) {
    const auto path = [&](const std::string& file) { return fixture_path(name + "/" + file); };
    Fixture fixture{.name = name, .config = parse_config(read_text(path("config.json")))};
    const auto run =
        fs::exists(path("run.json")) ? nlohmann::json::parse(read_text(path("run.json"))) : nlohmann::json::object();
    if (run.contains("dropout_seed")) fixture.dropout_seed = run["dropout_seed"].get<std::uint64_t>();
    fixture.asked = run.value("asked", std::vector<std::string>{});
    fixture.bundled = run.value("bundled", std::string{});
    if (fs::exists(path("model.safetensors"))) {
        const SafetensorsFile file(path("model.safetensors"));
        for (const auto& [tensor, entry] : file.entries()) fixture.weights.emplace(tensor, file.floats(tensor));
    } else {
        fixture.weights = initial_weights(fixture.config, run["weights_seed"].get<std::uint64_t>());
    }
    fixture.inputs = load_inputs(path("inputs.safetensors"), fixture.config);
    if (fs::exists(path("edits.json"))) fixture.edits = parse_edits(read_text(path("edits.json")));
    fixture.expected = in_file_order(SafetensorsFile(path("expected.safetensors")));
    return fixture;
}

std::shared_ptr<const Run> Fixture::run() const { return execute(plan_decoder(request()), {.asked = asked}); }

std::vector<std::pair<std::string, Tensor>> trace_of(const Run& run) { return recorded_tensors(run); }

}  // namespace decoderscope::testing
