// A link on the command line: it opens the window, and stands wherever a model does.
#include "app/cli.h"
#include "app/core/files/link.h"
#include "app/page_request.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::app;

namespace {

SessionFile lesson() {
    SavedSession work;
    work.scenario = scenario_of(make_bundled_model("causal-lm"));
    work.scenario.edits = {ScaleHead{"blocks.0.attn", 1, 0.0F},
                           RewriteStep{"blocks.*.attn.pattern", "softmax(x / 2, -1)"},
                           AddRow{"far", "blocks.*.attn", "Σ_k pattern[b, h, q, k] · (q − k)"},
                           AddRow{"near", "", "blocks.1.attn.far < 100", true}};
    work.cursor = {"blocks.1.attn.pattern", {0, 2}, Cell{0, 2, 1, 0}};
    work.view.tab = "heads";
    return session_file_of(work);
}

}  // namespace

TEST_CASE("a link opens the window on its session") {
    const std::string link = link_of(lesson());
    for (const std::vector<std::string>& arguments :
         {std::vector{link}, {"--model", link}, {"https://example.org/" + link}, {link.substr(1)}}) {
        std::ostringstream out, err;
        const CliResult result = run_cli(arguments, out, err);
        INFO(err.str());
        REQUIRE(result.window);
        CHECK(result.window->work.scenario.edits == lesson().run.edits);
        CHECK(result.window->work.cursor == lesson().cursor);
        CHECK(result.window->work.view.tab == "heads");
        CHECK(result.window->work.saved_as.empty());
        CHECK_FALSE(result.window->embed);
        CHECK(result.window->is_named);
    }
    std::ostringstream nothing;
    const CliResult first = run_cli({}, nothing, nothing);
    REQUIRE(first.window);
    CHECK_FALSE(first.window->is_named);
    std::ostringstream out, err;
    const CliResult embedded = run_cli(std::vector<std::string>{"--embed", link}, out, err);
    REQUIRE(embedded.window);
    CHECK(embedded.window->embed);
}

TEST_CASE("a link's trace is that of its session's file, and of its edits alone") {
    const TemporaryFolder folder;
    const std::string session = folder.file("a.dscope"), edits = folder.file("edits.json");
    write_session_file(session, lesson());
    write_bytes(edits, edits_to_json(lesson().run.edits));
    const std::vector<std::vector<std::string>> models = {
        {session}, {link_of(lesson())}, {"causal-lm", "--edits", edits}};
    for (std::size_t i = 0; i < models.size(); ++i) {
        std::vector<std::string> arguments = {"trace"};
        arguments.insert(arguments.end(), models[i].begin(), models[i].end());
        arguments.insert(arguments.end(), {"--out", folder.file(std::to_string(i))});
        std::ostringstream out, err;
        CHECK(run_cli(arguments, out, err).status == 0);
        INFO(err.str());
        CHECK(err.str().empty());
    }
    CHECK(read_bytes(folder.file("0")) == read_bytes(folder.file("1")));
    CHECK(read_bytes(folder.file("0")) == read_bytes(folder.file("2")));
    const SafetensorsFile trace(folder.file("0"));
    const auto far = trace.floats("blocks.1.attn.far"), near = trace.floats("near");
    REQUIRE(far.size() > 0);
    for (std::size_t i = 0; i < far.values().size(); ++i)
        CHECK(near.values()[i] == (far.values()[i] < 100.0F ? 1.0F : 0.0F));
}

TEST_CASE("trace writes the tensors and ends with status 1 if a row that must hold doesn't") {
    const TemporaryFolder folder;
    const std::string edits = folder.file("edits.json"), trace = folder.file("t.safetensors");
    write_bytes(edits, R"json([{"edit": "row", "name": "sharp", "of": "blocks.*.attn",
                               "formula": "pattern.max(-1).values < 0.9", "must_hold": true}])json");
    std::ostringstream out, err;
    CHECK(run_cli(std::vector<std::string>{"trace", "causal-lm", "--edits", edits, "--out", trace}, out, err).status ==
          1);
    INFO(err.str());
    CHECK(err.str().find("blocks.*.attn.sharp must hold, and doesn't: ") != std::string::npos);
    CHECK(err.str().find("blocks.0.attn.sharp[0, 0, 0]: ") != std::string::npos);  // the first query sees only itself
    CHECK(SafetensorsFile(trace).floats("blocks.1.attn.sharp").size() > 0);
}

TEST_CASE("in a page a damaged link opens the default model, and the window says what is wrong") {
    const std::string link = link_of(lesson());
    const WindowRequest damaged = request_of_page(std::vector<std::string>{"--embed", link.substr(0, 40)});
    CHECK(damaged.embed);
    CHECK_FALSE(damaged.is_named);
    CHECK(damaged.work.scenario.about().name == kDefaultModel);
    CHECK(damaged.said.english().find("the link: ") == 0);
    const WindowRequest unknown = request_of_page(std::vector<std::string>{"--model", "nothing-of-the-kind"});
    CHECK(unknown.work.scenario.about().name == kDefaultModel);
    CHECK(unknown.said.english().find("nothing-of-the-kind") != std::string::npos);
}

TEST_CASE("a page opens its link, the model that it names, or the default model") {
    const WindowRequest linked = request_of_page(std::vector<std::string>{link_of(lesson())});
    CHECK(linked.work.scenario.edits == lesson().run.edits);
    CHECK(linked.work.cursor == lesson().cursor);
    CHECK(linked.is_named);
    CHECK(linked.said.empty());
    const WindowRequest named = request_of_page(std::vector<std::string>{"--model", "causal-lm"});
    CHECK(named.work.scenario.about().name == "causal-lm");
    CHECK(named.is_named);
    const WindowRequest first = request_of_page({});
    CHECK(first.work.scenario.about().name == kDefaultModel);
    CHECK_FALSE(first.is_named);
    CHECK(first.said.empty());
}

TEST_CASE("a link that can't be opened is said in one line") {
    const std::string link = link_of(lesson());
    for (const std::string& wrong : {link.substr(0, 40), "#s9" + link.substr(3)}) {
        std::ostringstream out, err;
        const CliResult result = run_cli(std::vector<std::string>{wrong}, out, err);
        INFO(err.str());
        CHECK_FALSE(result.window);
        CHECK(result.status == 1);
        CHECK(err.str().find("decoderscope: the link: ") == 0);
        CHECK(err.str().find('\n') == err.str().size() - 1);
    }
}
