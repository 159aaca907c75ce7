// decoderscope diff: a run against a trace's file.
#include "app/core/run/comparison.h"
#include "engine/files/safetensors.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <sstream>

using namespace decoderscope::testing;

TEST_CASE("diff against the run's own trace finds nothing and ends with status 0") {
    const TemporaryFolder folder;
    const std::string trace = folder.file("t.safetensors");
    REQUIRE(run({"trace", "causal-lm-as-meant", "--out", trace, "--ask", "blocks.1.attn.result"}).status == 0);
    const Outcome same = run({"diff", "causal-lm-as-meant", "--against", trace, "--tolerance", "0"});
    CHECK(same.status == 0);
    CHECK(same.err.empty());
    CHECK(contains(same.out, "Nothing differs: 99 tensors are equal bit for bit."));
    CHECK(contains(same.out, "largest difference 0"));
    CHECK(contains(same.out, "From the file to the run: logits stayed the same"));
}

TEST_CASE("diff prints the worst first, names the first, and ends with status 1") {
    const TemporaryFolder folder;
    const std::string trace = folder.file("t.safetensors");
    REQUIRE(run({"trace", "causal-lm-as-meant", "--out", trace}).status == 0);
    const Outcome other = run({"diff", "causal-lm-as-meant", "--against", trace, "--set", "activation=gelu"});
    CHECK(other.status == 1);
    CHECK(is_one_line(other.err));
    CHECK(contains(other.err, trace));
    CHECK(contains(other.err, "The first to differ is blocks.0.mlp.post, by up to"));
    std::istringstream lines(other.out);
    std::string line, name;
    REQUIRE(std::getline(lines, line));
    CHECK(contains(line, "largest"));
    double before = 1e30, largest = 0.0;
    int rows = 0;
    while (std::getline(lines, line) && contains(line, " of ")) {
        std::istringstream(line) >> name >> largest;
        CHECK(largest <= before);
        before = largest;
        ++rows;
    }
    CHECK(rows > 50);
    CHECK(run({"diff", "causal-lm-as-meant", "--against", trace, "--set", "activation=gelu", "--tolerance", "100"})
              .status == 0);
}

TEST_CASE("diff lists what is missing, surplus or misshapen") {
    const TemporaryFolder folder;
    const std::string trace = folder.file("t.safetensors");
    REQUIRE(run({"trace", "pre-ln-layer", "--out", trace}).status == 0);
    NamedTensors tensors;
    {
        const SafetensorsFile file(trace);
        for (const auto& [name, entry] : file.entries()) tensors.emplace_back(name, file.floats(name));
    }
    std::erase_if(tensors, [](const auto& t) { return t.first == "blocks.0.attn.q"; });
    for (auto& [name, tensor] : tensors)
        if (name == "blocks.0.attn.k") tensor = tensor.with_axes({{"", tensor.size()}});
    tensors.emplace_back("blocks.0.attn.qk", tensors.front().second);
    write_safetensors(folder.file("u.safetensors"), tensors);
    const Outcome outcome = run({"diff", "pre-ln-layer", "--against", folder.file("u.safetensors")});
    CHECK(outcome.status == 1);
    CHECK(is_one_line(outcome.err));
    CHECK(contains(outcome.out, "only in the run"));
    CHECK(contains(outcome.out, "only in the file"));
    CHECK(contains(outcome.out, "[384] in the file"));
    CHECK(contains(outcome.err, "3 are not in both or of another shape"));
}

TEST_CASE("diff against traces that PyTorch wrote") {
    for (const std::string model : {"causal-lm", "causal-lm-as-meant", "simple-decoder"}) {
        INFO(model);
        const std::string trace =
            std::string(DECODERSCOPE_TESTS_DIR) + "/reference/fixtures/" + model + "/expected.safetensors";
        const Outcome outcome = run({"diff", model, "--against", trace, "--tolerance", "1e-4"});
        INFO(outcome.out);
        CHECK(outcome.status == 0);
        // Both are floats, so they are not equal bit for bit.
        CHECK(contains(outcome.out, "differs by more than 1e-4"));
    }
}

TEST_CASE("a diff that cannot be: status 2 for the command line and for a file that cannot be read") {
    CHECK(run({"diff", "--help"}).status == 0);
    CHECK(run({"diff", "causal-lm"}).status == 2);
    CHECK(run({"diff", "causal-lm", "--against"}).status == 2);
    CHECK(run({"diff", "causal-lm", "--against", "x", "--tolerance", "-1"}).status == 2);
    const Outcome none = run({"diff", "causal-lm", "--against", "/nowhere.safetensors"});
    CHECK(none.status == 2);
    CHECK(is_one_line(none.err));
    CHECK(contains(none.err, "/nowhere.safetensors"));
}
