// What a recording says of its model beyond names and shapes.
#include "engine/load/model.h"
#include "engine/load/recorded_hints.h"
#include "engine/load/recorded_run.h"
#include "tests/catch.h"
#include "tests/engine/recorded_traces.h"

#include <algorithm>

using namespace decoderscope;
using namespace decoderscope::load;
using decoderscope::testing::kTraces;

namespace {

std::string said(const Overrides& hints, const std::string& key) {
    const auto found = std::ranges::find(hints, key, &std::pair<std::string, std::string>::first);
    return found == hints.end() ? std::string() : found->second;
}

}  // namespace

TEST_CASE("a recording says how many heads there are, where the norms stand, eps and the activation") {
    const Overrides gpt = hints_of_file(kTraces + "gpt/right-plain.safetensors");
    CHECK(said(gpt, "nhead") == "2");
    CHECK(said(gpt, "norm_first") == "true");
    CHECK(said(gpt, "layer_norm_eps") == "1e-05");
    CHECK(said(gpt, "activation").empty());  // its GELU is written out
    const Overrides layers = hints_of_file(kTraces + "torch-layers/right-plain.safetensors");
    CHECK(said(layers, "nhead") == "2");
    CHECK(said(layers, "norm_first") == "false");
    const Overrides llama = hints_of_file(kTraces + "llama/right-plain.safetensors");
    CHECK(said(llama, "nhead") == "4");
    CHECK(said(llama, "activation") == "silu");
    // Nothing is said where the recording doesn't agree with itself, or isn't one.
    CHECK(hints_of_file(kTraces + "gpt/model.safetensors").empty());
}

TEST_CASE("a recording with parameters needs no answer that it gives itself") {
    const std::string path = kTraces + "gpt/right-apart.safetensors";
    const auto recognised = recognise_model(path);
    REQUIRE(recognised);
    const auto heads = std::ranges::find(recognised->questions, "nhead", &Question::key);
    REQUIRE(heads != recognised->questions.end());
    CHECK(heads->proposal == "2");
    CHECK_FALSE(heads->required);
    if (recognised->problem.empty()) {
        const Config config = load_model(path)->config();
        CHECK(config.nhead == 2);
        CHECK(config.norm_first);
        // What the user says counts more.
        CHECK(load_model(path, {{"nhead", "4"}})->config().nhead == 4);
    }
}
