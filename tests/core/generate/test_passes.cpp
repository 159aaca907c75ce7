// A generation as a run of runs: each pass has what the whole text's pass has there, for chunks of every size, and the
// cache is what the passes before it computed.
#include "app/core/generate/generator.h"
#include "app/core/generate/passes.h"
#include "app/core/generate/shown_generation.h"
#include "engine/base/translate.h"
#include "engine/decoder/kv_cache.h"
#include "engine/files/safetensors.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/fixture_scenario.h"
#include "tests/engine/largest_difference.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <map>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;

namespace {

Passes generated(const Scenario& scenario, PassesRequest request) {
    return finished(passes_of(scenario, std::move(request)));
}

// The rows of a whole pass's tensor at these positions.
Tensor at_positions(const Tensor& whole, const InputsPart& part) {
    Axes axes = whole.axes();
    axes.resize(1, part.count);
    return part_of(whole, {0, part.first, 0}, axes);
}

Scenario on(const char* model, const std::vector<std::vector<Index>>& rows) {
    Scenario scenario = scenario_of(load::load_model(model));
    TokenBatch batch = decoderscope::padded_batch(rows, axis::pos);
    scenario.inputs = {.tokens = batch.tokens, .attention_mask = batch.mask};
    return scenario;
}

std::string error_of(const Scenario& scenario, PassesRequest request) {
    try {
        static_cast<void>(generated(scenario, std::move(request)));
    } catch (const Error& error) {
        return error.what();
    }
    return "(no error)";
}

}  // namespace

TEST_CASE("every pass has what one pass over the whole text has there, for chunks of every size") {
    const Scenario scenario = on("verses", {{3, 5, 7, 9, 11, 4}, {2, 8, 6, 3, 5, 10}});
    for (const std::vector<Index>& chunks :
         std::vector<std::vector<Index>>{{}, {1}, {2, 3}, {5, 1}, {1, 1, 1, 1, 1, 1}}) {
        const Passes passes = generated(scenario, {.count = 3, .chunks = chunks});
        Scenario whole = scenario;
        whole.inputs = {.tokens = passes.tokens};
        const auto run = execute(plan_of(whole));
        REQUIRE(passes.tokens.dim(1) == 9);
        Index covered = 0;
        for (const Pass& pass : passes.all) {
            CHECK(pass.part.first == covered);
            covered += pass.part.count;
            for (const char* name : {"logits", "blocks.1.attn_out", "blocks.0.resid_post"})
                CHECK(largest_difference(at_positions(run->value(name), pass.part), pass.run->value(name)) < 1e-4);
            if (covered > pass.part.count) CHECK(pass.before.of("blocks.0.attn").k.dim(2) == pass.part.first);
        }
        CHECK(covered == 8);  // the last token is in no pass
    }
}

TEST_CASE("the tokens are those that the generator draws row by row") {
    const Scenario scenario = on("verses", {{3, 5, 7, 9}, {2, 8, 6, 3}});
    const Passes passes = generated(scenario, {.count = 4});
    for (Index row = 0; row < 2; ++row) {
        Generator generator(scenario, row, {.temperature = 0.0});
        for (Index i = 0; i < 4; ++i)
            if (const auto token = generator.next())
                CHECK(static_cast<float>(*token) == passes.tokens.at(Cell{row, 4 + i}));
    }
}

TEST_CASE("a row that is padded on the right goes on behind the padding, from its own last token") {
    const Scenario scenario = with_override(on("verses", {{3, 5, 7, 9}, {2, 8}}), "positions", "from_mask");
    const Passes passes = generated(scenario, {.count = 2, .chunks = {3}});
    Scenario alone = with_override(on("verses", {{2, 8}}), "positions", "from_mask");
    const Passes single = generated(alone, {.count = 2});
    for (Index i = 0; i < 2; ++i) CHECK(passes.tokens.at(Cell{1, 4 + i}) == single.tokens.at(Cell{0, 2 + i}));
}

TEST_CASE("trace --generate writes every pass under its number, and the cache before it") {
    const TemporaryFolder folder;
    const std::string path = folder.file("passes.safetensors");
    REQUIRE(run({"trace", "verses", "--tokens", "3 5 7 9 11", "--generate", "2", "--chunks", "3,1", "--out", path})
                .status == 0);
    const SafetensorsFile file(path);
    const auto& entries = file.entries();
    CHECK(file.floats("tokens").dim(1) == 7);
    CHECK(file.floats("pass.0/logits").dim(1) == 3);
    CHECK(file.floats("pass.2/logits").dim(1) == 1);
    CHECK(file.floats("pass.3/blocks.0.attn.pattern").dim(3) == 6);
    CHECK(file.floats("pass.1/cache/blocks.0.attn.k").dim(2) == 3);
    CHECK(file.floats("pass.3/cache/blocks.1.attn.v").dim(2) == 5);
    CHECK_FALSE(entries.contains("pass.0/cache/blocks.0.attn.k"));
    CHECK_FALSE(entries.contains("pass.4/logits"));
}

TEST_CASE("what can't be generated is refused in a sentence") {
    const Scenario scenario = on("verses", {{3, 5, 7}});
    check_message(error_of(scenario, {.count = 1, .chunks = {2, 2}}), {"chunks", "4 positions", "3"});
    check_message(error_of(scenario, {.count = 0}), {"0 tokens", "at least 1"});
    check_message(error_of(with_override(scenario, "lm_head", "false"), {.count = 1}), {"lm_head is false"});
    CHECK(run({"trace", "verses", "--chunks", "3", "--out", "x"}).status == 2);
    CHECK(run({"trace", "verses", "--generate", "0", "--out", "x"}).status == 2);
}

TEST_CASE("what a row of the cache holds is what a pass over it leaves") {
    for (const char* name : {"llama-like", "gemma-3-like", "deepseek-v2-like", "deepseek-v3-like", "gpt2-like"}) {
        INFO(name);
        const Scenario scenario = fixture_scenario(name);
        const std::shared_ptr<const Run> run = execute(plan_of(scenario));
        const CacheSize size = cache_size(run->plan());
        const Index rows = scenario.inputs.batch() * scenario.inputs.pos();
        CHECK(size.kept * rows == decoder::past_of(*run).numbers());
        CHECK(size.is_latent() == (scenario.config().kv_lora_rank > 0));
        CHECK((size.kept < size.with_k_and_v) == size.is_latent());
    }
}

TEST_CASE("a latent cache says its bytes, and what k and v would take") {
    const CacheSize size = {.kept = 40, .with_k_and_v = 256, .latent = 16, .shared = 4};
    CHECK(
        tr(latent_cache_sentence(size, 3, 2)) ==
        std::string("Kept 3 rows × (16 latent + 4 shared numbers) × 2 layers = 120 numbers, 480 bytes; k and v, which "
                    "are made from them only to be looked at, would take 768 numbers, 3,072 bytes"));
}
