// Other projects' state_dicts (tests/reference/foreign) open with what a person knows of them, or by a mapping, and
// give their own modules' logits.
#include "engine/decoder/decoder.h"
#include "engine/file.h"
#include "engine/json.h"
#include "engine/model/model.h"
#include "engine/model/safetensors.h"
#include "engine/run.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

using namespace decoderscope;
namespace fs = std::filesystem;

namespace {

// Those without a config.json, and that the contract's keys can say.
std::vector<fs::path> state_dicts() {
    const fs::path models = DECODERSCOPE_TESTS_DIR "/reference/foreign/models";
    std::vector<fs::path> found;
    if (fs::exists(models))
        for (const auto& entry : fs::directory_iterator(models))
            if (!fs::exists(entry.path() / "config.json")) found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

Overrides answers(const nlohmann::json& about) {
    Overrides known;
    for (const char* list : {"asks", "assumes"})
        if (about.contains(list))
            for (const auto& [key, value] : about[list].items()) {
                const nlohmann::json& answer = value["answer"];
                known.emplace_back(key, answer.is_string() ? answer.get<std::string>() : answer.dump());
            }
    return known;
}

// The largest difference from the module's logits, relative to their scale.
double difference(const fs::path& folder, const Overrides& answers, const Mapping& mapping) {
    const auto model = load_model(folder.string(), answers, nullptr, mapping);
    const Config config = model->config();
    const Inputs inputs = load_inputs((folder / "inputs.safetensors").string(), config);
    const auto run = execute(plan_decoder({config, &model->weights, inputs, {}, std::nullopt}));
    const Tensor ours = run->value("logits");
    const Tensor theirs = SafetensorsFile((folder / "expected.safetensors").string()).floats("logits");
    REQUIRE(ours.size() == theirs.size());
    double largest = 0.0, scale = 0.0;
    for (Index i = 0; i < ours.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(ours.data()[i]) - theirs.data()[i]));
        scale = std::max(scale, std::abs(static_cast<double>(theirs.data()[i])));
    }
    return largest / scale;
}

}  // namespace

TEST_CASE("other projects' decoders give their own logits, by recognition and by a mapping") {
    for (const fs::path& folder : state_dicts()) {
        INFO(folder.filename().string());
        const nlohmann::json about = parse_json(read_text((folder / "about.json").string()), message("about"));
        if (about.contains("needs")) continue;
        CHECK(difference(folder, answers(about), {}) < 1e-5);
        Mapping mapping = parse_mapping(about["map"].dump());
        if (about.contains("skipped"))
            for (const auto& [theirs, why] : about["skipped"].items()) mapping[theirs] = {};
        CHECK(difference(folder, answers(about), mapping) < 1e-5);
    }
}
