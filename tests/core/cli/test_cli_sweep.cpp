// The command sweep: what it prints and writes.
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>

using namespace decoderscope::testing;

TEST_CASE("sweep prints a row for each value, as a run with --set has it") {
    const Outcome swept = run({"sweep", "causal-lm", "--vary", "attention_scale=0.5,1", "--row",
                               "a = mean(blocks.0.attn.pattern ** 2)", "--json"});
    REQUIRE(swept.status == 0);
    const Json list = parse_json(swept.out, message("a list"));
    REQUIRE(list.size() == 2);
    for (const Json& row : list) {
        const Outcome alone = run({"explain", "causal-lm", "--set", "attention_scale=" + row["at"].dump(), "--row",
                                   "a = mean(blocks.0.attn.pattern ** 2)", "--cell", "a[0]"});
        REQUIRE(alone.status == 0);
        CHECK(contains(alone.out, "a[0] = " + row["value"].dump()));
    }
    // An earlier row can be read.
    const Outcome reads = run({"sweep", "causal-lm", "--vary", "attention_scale=0.5,1", "--row",
                               "a = mean(blocks.0.attn.pattern ** 2)", "--row", "2 * a", "--json"});
    REQUIRE(reads.status == 0);
    CHECK(parse_json(reads.out, message("a list"))[0]["value"].get<double>() ==
          Approx(2.0 * list[0]["value"].get<double>()));
}

TEST_CASE("a number that varies may be named by any row, and by several") {
    const std::string direct = "p = softmax(logits / temperature, dim=-1)[0, 3, 5]";
    const auto values = [](std::vector<std::string> rows) {
        std::vector<std::string> arguments = {"sweep", "causal-lm", "--vary", "temperature=0.5,1,2", "--json"};
        for (const std::string& row : rows) arguments.insert(arguments.end(), {"--row", row});
        const Outcome swept = run(arguments);
        INFO(swept.err);
        REQUIRE(swept.status == 0);
        std::vector<double> found;
        for (const Json& line : parse_json(swept.out, message("a list"))) found.push_back(line["value"].get<double>());
        return found;
    };
    const std::vector<double> expected = values({direct});
    REQUIRE(expected.size() == 3);
    CHECK(expected[0] != expected[1]);
    const std::string first = "scaled = logits / temperature", softmax = "softmax(scaled, dim=-1)[0, 3, 5]";
    CHECK(values({first, softmax}) == expected);
    CHECK(values({"mean_logit = mean(logits)", first, "again = scaled * 1", "softmax(again, dim=-1)[0, 3, 5]"}) ==
          expected);
    CHECK(values({first, "p = " + softmax, "p"}) == expected);
    const std::vector<double> both = values({first, "temperature * " + softmax});
    for (std::size_t i = 0; i < 3; ++i) CHECK(both[i] == Approx(expected[i] * std::vector{0.5, 1.0, 2.0}[i]));
    const Outcome unknown =
        run({"sweep", "causal-lm", "--vary", "temperature=1,2", "--row", "a = logits * 1", "--row", "a[0, 3, 5]"});
    CHECK(unknown.status == 1);
    CHECK(contains(unknown.err, "the row doesn't name it"));
}

TEST_CASE("sweep sorts, writes a table, and leaves nothing half-written") {
    const TemporaryFolder folder;
    const std::string csv = folder.file("a.csv");
    const Outcome text =
        run({"sweep", "causal-lm", "--vary", "each head of blocks.1", "--row", "logits[0, 3, 5]", "--sort"});
    CHECK(text.status == 0);
    CHECK(text.out.starts_with("head "));
    CHECK(run({"sweep", "causal-lm", "--vary", "each head", "--row", "logits[0, 3, 5]", "--csv", csv}).status == 0);
    CHECK(contains(decoderscope::testing::read_bytes(csv), "head,value,predictions_changed\r\nblocks.0.attn head 0,"));
    const Outcome alone =
        run({"sweep", "causal-lm", "--vary", "each head", "--row", "logits[0, 3, 5]", "--only-value", "--json"});
    CHECK_FALSE(contains(alone.out, "predictions_changed"));

    const std::string none = folder.file("none.csv");
    for (const std::vector<std::string>& wrong :
         std::vector<std::vector<std::string>>{{"--vary", "nothing=1,2", "--row", "logits[0, 3, 5]"},
                                               {"--vary", "nhead=8,3", "--row", "logits[0, 3, 5]"},
                                               {"--vary", "num_layers=1,2", "--row", "blocks.1.attn.pattern"},
                                               {"--vary", "each head", "--row", "no_such_name"},
                                               {"--vary", "each head", "--row", "logits", "--sort"}}) {
        std::vector<std::string> arguments = {"sweep", "causal-lm", "--csv", none};
        arguments.insert(arguments.end(), wrong.begin(), wrong.end());
        const Outcome refused = run(arguments);
        INFO(refused.err);
        CHECK(refused.status == 1);
        CHECK(is_one_line(refused.err));
        CHECK_FALSE(std::filesystem::exists(none));
    }
    CHECK(run({"sweep", "causal-lm", "--row", "logits"}).status == 2);
    CHECK(run({"sweep", "causal-lm", "--vary", "each head"}).status == 2);
}

TEST_CASE("a training's step varies the weights: each run is that of the model that train writes after so many steps") {
    const TemporaryFolder folder;
    const std::vector<std::string> how = {"--task", "induction", "--lr", "1e-2", "--batch", "4", "--seed", "3"};
    const auto with = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), how.begin(), how.end());
        return run(arguments);
    };
    const Outcome swept = with({"sweep", "induction", "--vary", "training_step=3,0,2", "--row",
                                "a = mean(blocks.1.attn.pattern ** 2)", "--json"});
    INFO(swept.err);
    REQUIRE(swept.status == 0);
    const Json list = parse_json(swept.out, message("a list"));
    REQUIRE(list.size() == 3);
    for (const Json& row : list) {
        const std::string step = std::to_string(row["at"].get<int>());
        std::string model = "induction";
        if (step != "0") {
            model = folder.file(step);
            REQUIRE(with({"train", "induction", "--steps", step, "--out", model}).status == 0);
        }
        const Outcome alone = run({"explain", model, "--tokens", "1,2,3,4,1,2", "--row",
                                   "a = mean(blocks.1.attn.pattern ** 2)", "--cell", "a[0]"});
        const Json same =
            parse_json(with({"sweep", "induction", "--tokens", "1,2,3,4,1,2", "--vary", "training_step=" + step,
                             "--row", "a = mean(blocks.1.attn.pattern ** 2)", "--json"})
                           .out,
                       message("a list"));
        CHECK(contains(alone.out, "a[0] = " + same[0]["value"].dump()));
    }
    CHECK(list[0]["value"] != list[1]["value"]);
    const Outcome none = run({"sweep", "induction", "--vary", "training_step=1,2", "--row", "logits.max()"});
    CHECK(none.status == 1);
    CHECK(contains(none.err, "--task"));
    CHECK(is_one_line(none.err));
    CHECK(with({"sweep", "induction", "--vary", "training_step=0.5,1", "--row", "logits.max()"}).status == 1);
}

// The command cost: what it prints and writes.

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
