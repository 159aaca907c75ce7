// decoderscope explain: one number's explanation as text and as a page.
#include "app/core/tabs/step/explanation_text.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/figure/markup.h"
#include "tests/core/tabs/step/shown_run.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

using namespace decoderscope::testing;
using namespace decoderscope::core::step;

namespace {

Outcome explain(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "explain");
    return run(arguments);
}

const std::string kCell = "blocks.0.cross_attn.pattern[0, 1, 2, 3]";

}  // namespace

TEST_CASE("explain writes the terms of a cell with every operand by tensor, index and token") {
    const ShownRun reverse = shown_run("reverse");
    const Outcome outcome = explain({"reverse", "--cell", kCell});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    const float value = reverse.run->value("blocks.0.cross_attn.pattern").at(Cell{0, 1, 2, 3});
    CHECK(outcome.out.starts_with(kCell + " = " + exact_number(value) + "\n"));
    CHECK(contains(outcome.out, "softmax"));
    for (Index key = 0; key < reverse.scenario.inputs.encoder_tokens.dim(1); ++key)
        CHECK(contains(outcome.out, "blocks.0.cross_attn.masked_scores[0, 1, 2, " + std::to_string(key) + "]"));
    const std::string token = reverse.scenario.encoder_tokenizer().piece(
        static_cast<Index>(reverse.scenario.inputs.encoder_tokens.at(Cell{0, 3})));
    CHECK(contains(outcome.out, "key 3 “" + token + "”"));
    // Spaces don't count.
    CHECK(explain({"reverse", "--cell", "blocks.0.cross_attn.pattern[0,1,2,3]"}).out == outcome.out);
}

TEST_CASE("explain goes down as many levels as asked") {
    const Outcome one = explain({"reverse", "--cell", kCell}),
                  three = explain({"reverse", "--cell", kCell, "--depth", "3"});
    CHECK(three.out.starts_with(one.out));
    CHECK_FALSE(contains(one.out, "\nblocks.0.cross_attn.attn_scores["));
    CHECK(contains(three.out, "\nblocks.0.cross_attn.attn_scores["));
    CHECK(contains(three.out, "blocks.0.cross_attn.q[0, 1, 2, "));
}

TEST_CASE("explain as HTML is a page with headings, tables and links that need nothing else") {
    const Outcome outcome = explain({"reverse", "--cell", kCell, "--depth", "3", "--html"});
    CHECK(outcome.status == 0);
    CHECK(outcome.out.starts_with("<!DOCTYPE html>"));
    CHECK(xml_fault(outcome.out.substr(outcome.out.find("<html"))) == "");
    CHECK(contains(outcome.out, "<html lang=\"en\">"));
    CHECK_FALSE(contains(outcome.out, "<script"));
    CHECK_FALSE(contains(outcome.out, "http"));
    const int tables = count_of(outcome.out, "<table>");
    CHECK(tables > 3);
    CHECK(count_of(outcome.out, "<caption>") == tables);
    CHECK(count_of(outcome.out, "<th scope=\"col\">") == 4 * tables);
    CHECK(count_of(outcome.out, "<h2") == count_of(outcome.out, "<section>"));
    // Every link leads to a heading of the page.
    for (std::size_t at = outcome.out.find("href=\"#"); at != std::string::npos;
         at = outcome.out.find("href=\"#", at + 1)) {
        const std::string name = outcome.out.substr(at + 7, outcome.out.find('"', at + 7) - at - 7);
        CHECK(count_of(outcome.out, "id=\"" + name + "\"") == 1);
    }
    CHECK(count_of(outcome.out, "href=\"#") > 3);
}

TEST_CASE("explain takes what the other commands take") {
    const TemporaryFolder folder;
    write_bytes(folder.file("edits.json"),
                R"([{"edit": "set_cell", "tensor": "embed", "index": [0, 1, 2], "value": 0.5}])");
    const Outcome edited = explain({"reverse", "--cell", "embed[0, 1, 2]", "--edits", folder.file("edits.json")});
    CHECK(edited.out.starts_with("embed[0, 1, 2] = 0.5\n"));
    CHECK(contains(edited.out, "set manually"));
    const Outcome filled =
        explain({"reverse", "--cell", "blocks.0.attn.masked_scores[0, 0, 1, 3]", "--set", "mask_value=-1e4"});
    CHECK(filled.out.starts_with("blocks.0.attn.masked_scores[0, 0, 1, 3] = −10000"));
    // A tensor that is made on demand, a weight and an input.
    for (const char* cell : {"blocks.0.attn.result[0, 1, 2, 3]", "lm_head.weight[3, 4]", "tokens[0, 1]"}) {
        INFO(cell);
        CHECK(explain({"reverse", "--cell", cell}).out.starts_with(cell));
    }
}

TEST_CASE("a cell that is none is one clear sentence") {
    const auto refused = [](const std::string& cell, int status, const std::vector<std::string>& names) {
        const Outcome outcome = explain({"reverse", "--cell", cell});
        INFO(cell << ": " << outcome.err);
        CHECK(outcome.status == status);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
        for (const std::string& name : names) CHECK(contains(outcome.err, name));
    };
    for (const char* cell : {"embed", "embed[", "embed[]", "[1]", "embed[0, 1, x]", "embed[0, -1, 2]", "embed[0 1 2]",
                             "embed[0,,2]", "embed[0, 1, 2] "})
        refused(cell, 2, {"NAME[i, j, …]"});
    refused("blocks.0.attn.patern[0, 0, 0, 0]", 1, {"blocks.0.attn.patern", "no such tensor"});
    refused("embed[0, 1]", 1, {"embed[0, 1]", "[batch, pos, d_model]"});
    refused("embed[0, 1, 64]", 1, {"embed[0, 1, 64]", "64]", "[batch, pos, d_model]"});
    CHECK(explain({"reverse"}).status == 2);
    CHECK(explain({"reverse", "--cell", kCell, "--depth", "0"}).status == 2);
}
