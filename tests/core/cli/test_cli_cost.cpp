// The command cost: what it prints and writes.
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>

using namespace decoderscope;
using decoderscope::testing::contains;
using decoderscope::testing::is_one_line;
using decoderscope::testing::Outcome;
using decoderscope::testing::run;
using decoderscope::testing::TemporaryFolder;

TEST_CASE("cost lists the steps, the costliest first, and their sum") {
    const Outcome listed = run({"cost", "causal-lm", "--sort", "operations", "--repeat", "2"});
    REQUIRE(listed.status == 0);
    CHECK(listed.out.starts_with("step"));
    CHECK(contains(listed.out, "\ntotal "));
    CHECK(contains(listed.out, "median of 2"));
    const Outcome json = run({"cost", "causal-lm", "--by", "part", "--sort", "operations", "--repeat", "1", "--json"});
    REQUIRE(json.status == 0);
    const Json read = parse_json(json.out, message("an object"));
    CHECK(read["by"] == "part");
    double last = 1e300, sum = 0.0;
    for (const Json& row : read["rows"]) {
        CHECK(row["operations"].get<double>() <= last);
        last = row["operations"].get<double>();
        sum += last;
    }
    CHECK(read["total"]["operations"].get<double>() == sum);
    const Outcome blocks = run({"cost", "causal-lm", "--by", "block", "--sort", "order", "--repeat", "1"});
    CHECK(contains(blocks.out, "\nblocks.0 "));
}

TEST_CASE("cost counts the backward pass, too, and writes its table to a file") {
    const TemporaryFolder folder;
    const std::string csv = folder.file("cost.csv");
    const Outcome outcome = run({"cost", "causal-lm", "--gradients-of", "loss", "--repeat", "1", "--csv", csv});
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.empty());
    const std::string table = decoderscope::testing::read_bytes(csv);
    CHECK(contains(table, "grad.logits,"));
    CHECK(contains(table, "blocks.0.attn.pattern,Self-attention,blocks.0,"));
    CHECK(run({"cost", "causal-lm", "--by", "colour"}).status == 2);
    const Outcome refused = run({"cost", "no-such-model"});
    CHECK(refused.status == 1);
    CHECK(is_one_line(refused.err));
}
