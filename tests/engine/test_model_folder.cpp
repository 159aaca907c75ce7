// A model that is saved over one that is open. Each system has its own rules for files that are.
#include "engine/decoder/initial_weights.h"
#include "engine/load/model.h"
#include "engine/load/model_folder.h"
#include "tests/catch.h"
#include "tests/engine/same_weights.h"
#include "tests/engine/small_models.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>
#include <set>
#include <string>

using namespace decoderscope::testing;

namespace {

ModelFolder model_from_seed(std::uint64_t seed) {
    const Config config = small_config();
    return {.config = config, .weights = decoder::initial_weights(config, seed), .files = {}};
}

}  // namespace

TEST_CASE("a model that is open is replaced whole, keeps its numbers while it is open, and leaves nothing beside it") {
    const TemporaryFolder place;
    const std::string folder = place.file("model");
    const ModelFolder first = model_from_seed(1), second = model_from_seed(2), third = model_from_seed(3);
    write_model_folder(folder, first);
    {
        const auto open = load_model(folder);
        write_model_folder(folder, second);
        CHECK(place.entries() == 1);
        const auto newer = load_model(folder);
        CHECK(same_weights(newer->weights, second.weights));
        write_model_folder(folder, third);
        CHECK(place.entries() == 1);
        CHECK(same_weights(load_model(folder)->weights, third.weights));
        CHECK(same_weights(open->weights, first.weights));
        CHECK(same_weights(newer->weights, second.weights));
    }
    CHECK(place.entries() == 1);
    write_model_folder(folder, first);
    CHECK(same_weights(load_model(folder)->weights, first.weights));
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.insert(entry.path().filename().string());
    CHECK(names == std::set<std::string>{"config.json", "model.safetensors"});
}

// An alpha without a weight beside it looked like another program's norm, and every name was guessed.
TEST_CASE(
    "a folder with the contract's own names is read by them, also if its norms have nothing but an alpha and a shift") {
    const TemporaryFolder place;
    const Config config = small_config({{"norm", "dynamic_tanh"},
                                        {"norm_gain", "false"},
                                        {"kv_lora_rank", "5"},
                                        {"qk_rope_head_dim", "2"},
                                        {"head_dim", "7"},
                                        {"positional_encoding", "rope"},
                                        {"cross_attention", "false"}});
    const ModelFolder model = {.config = config, .weights = decoder::initial_weights(config, 1), .files = {}};
    REQUIRE(model.weights.contains("layers.0.norm1.alpha"));
    REQUIRE_FALSE(model.weights.contains("layers.0.norm1.weight"));
    write_model_folder(place.file("model"), model);
    CHECK(same_weights(load_model(place.file("model"))->weights, model.weights));
}
