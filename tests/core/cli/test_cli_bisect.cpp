// decoderscope bisect, open and recorder.
#include "app/cli.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/recorded_run.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/recorded_traces.h"
#include "tests/engine/temporary_folder.h"

#include <cstdint>
#include <cstring>
#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::app;

namespace {

const std::string kGpt = kTraces + "gpt/";

Outcome bisect_gpt(const std::string& trace, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "bisect", kGpt + "model.safetensors", "--against", trace, "--set", "nhead=2", "--set", "norm_first=true",
        "--set",  "activation=gelu_tanh"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
}

// The bytes of a recording in which every call stands on a line of model.py: the first on line 10, the next on 11, ….
std::string with_lines_of_code(const std::string& path) {
    const std::string bytes = decoderscope::testing::read_bytes(path);
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    Json header = Json::parse(bytes.substr(8, size));
    Json calls = Json::parse(header["__metadata__"]["calls"].get<std::string>());
    int line = 10;
    for (Json& call : calls) {
        call["at"] = {{"file", "model.py"}, {"line", line}, {"text", "y = f(x)"}};
        ++line;
    }
    header["__metadata__"]["calls"] = calls.dump();
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return with_header(text, bytes.substr(8 + size));
}

}  // namespace

TEST_CASE("under another program's names, a tensor that differs is matched by place and by how its name ends") {
    const TemporaryFolder folder;
    const std::string ours = folder.file("ours.safetensors"), theirs = folder.file("theirs.safetensors");
    REQUIRE(run({"trace", "causal-lm-as-meant", "--mutation", "no-scale", "--out", ours}).status == 0);
    const SafetensorsFile file(ours);
    std::vector<std::pair<std::string, Tensor>> renamed;
    for (const std::string& name : file.names_in_order()) {
        if (!name.starts_with("blocks.") || name.find("mask") != std::string::npos || name.ends_with("pattern"))
            continue;
        renamed.emplace_back("stack" + name.substr(6), file.floats(name));
    }
    write_safetensors(theirs, renamed);
    const Outcome wrong = run({"bisect", "causal-lm-as-meant", "--against", theirs, "--json"});
    CHECK(wrong.status == 1);
    const auto found = parse_json(wrong.out, message("a result"));
    CHECK(found["first"] == "blocks.0.attn.attn_scores");
    CHECK(found["theirs"] == "stack.0.attn.attn_scores");
}

TEST_CASE("bisect ends with status 1 where something differs and names it") {
    const Outcome wrong = bisect_gpt(kGpt + "no-scale.safetensors");
    CHECK(wrong.status == 1);
    CHECK(contains(wrong.out, "First difference: blocks.0.attn.attn_scores"));
    CHECK(contains(wrong.out, "no-scale: The scores are not divided by √d_head. With it, everything agrees."));
    CHECK(contains(wrong.err, "no-scale.safetensors"));
    const Outcome right = bisect_gpt(kGpt + "right-additive.safetensors");
    CHECK(right.status == 0);
    CHECK(contains(right.out, "tensors agree"));
}

TEST_CASE("bisect, compare and the recording's own steps name the line of their code, if the recorder wrote it down") {
    const TemporaryFolder folder;
    const std::string lined = folder.file("lined.safetensors");
    write_bytes(lined, with_lines_of_code(kGpt + "no-scale.safetensors"));
    const Outcome found = bisect_gpt(lined, {"--json"});
    const nlohmann::json said = nlohmann::json::parse(found.out);
    const trace::Trace trace = trace::open_trace(lined);
    const trace::TraceCall* call = trace.call_of(said["theirs"].get<std::string>());
    REQUIRE(call != nullptr);
    CHECK(said["line"]["file"] == "model.py");
    CHECK(said["line"]["line"] == call->at.line);
    CHECK(said["line"]["made"] == trace::side_of(said["theirs"].get<std::string>())->gave);
    const std::string begins = "\nmodel.py:" + std::to_string(call->at.line) + ": ";
    CHECK(contains(bisect_gpt(lined).out, begins));
    CHECK(contains(said["text"].get<std::string>(), begins));
    const Outcome compared = run({"compare", kGpt + "right-plain.safetensors", lined, "--markdown"});
    CHECK(contains(compared.out, "model.py:"));
    const auto plan = load::run_of_trace(lined)->plan;
    for (const Step& step : plan->steps()) {
        const trace::TraceCall* made = trace.call_of(step.name);
        if (made != nullptr && trace::side_of(step.name)->gave)
            CHECK(step.operation.about().formula == text_of(made->at));
    }
    // One that knows no lines says none.
    const Outcome without = bisect_gpt(kGpt + "no-scale.safetensors", {"--json"});
    CHECK(nlohmann::json::parse(without.out)["line"].is_null());
    CHECK_FALSE(contains(bisect_gpt(kGpt + "no-scale.safetensors").out, ".py:"));
}

TEST_CASE("bisect takes inputs and a tolerance from the command line") {
    // The recorded model was given other tokens than these.
    CHECK(bisect_gpt(kGpt + "right-plain.safetensors", {"--tokens", "1 2 3 4 5; 5 4 3 2 1"}).status == 1);
    CHECK(bisect_gpt(kGpt + "gelu-exact.safetensors").status == 1);
    CHECK(bisect_gpt(kGpt + "gelu-exact.safetensors", {"--tolerance", "0.1"}).status == 0);
    CHECK(bisect_gpt(kGpt + "right-plain.safetensors", {"--tolerance", "-1"}).status == 2);
    CHECK(bisect_gpt(kGpt + "no-such-file.safetensors").status == 2);
}

TEST_CASE("a mistake of the gallery is saved as a trace, and bisect finds it") {
    const TemporaryFolder folder;
    const std::string trace = folder.file("wrong.safetensors");
    CHECK(
        run({"trace", "induction", "--text", "abcabc", "--mutation", "softmax-over-queries", "--out", trace}).status ==
        0);
    const Outcome found = run({"bisect", "induction", "--text", "abcabc", "--against", trace, "--json"});
    CHECK(found.status == 1);
    const nlohmann::json said = nlohmann::json::parse(found.out);
    CHECK(said["first"] == "blocks.0.attn.pattern");
    CHECK(said["causes"][0]["name"] == "softmax-over-queries");
    const Outcome unknown = run({"trace", "induction", "--mutation", "no-such-mistake", "--out", trace});
    CHECK(unknown.status == 1);
    CHECK(contains(unknown.err, "no-such-mistake"));
    const Outcome both = run({"bisect", "induction", "--against", trace, "--mutation", "no-scale"});
    CHECK(both.status == 2);
    CHECK(contains(both.err, "--mutation"));
}

TEST_CASE("the loss is found, too, where a trace goes on to it", "[long]") {
    const TemporaryFolder folder;
    const std::string trace = folder.file("wrong.safetensors");
    CHECK(run({"trace", "induction", "--text", "abcabc", "--gradients-of", "loss", "--mutation", "targets-not-shifted",
               "--out", trace})
              .status == 0);
    const Outcome found = run({"bisect", "induction", "--text", "abcabc", "--against", trace, "--json"});
    const nlohmann::json said = nlohmann::json::parse(found.out);
    CHECK(said["first"] == "loss_per_token");
    CHECK(said["causes"][0]["name"] == "targets-not-shifted");
}

TEST_CASE("a recording that has the parameters is a model, too") {
    const std::string trace = kGpt + "right-apart.safetensors";
    const Outcome same = run({"bisect", trace, "--against", trace, "--json", "--set", "nhead=2", "--set",
                              "norm_first=true", "--set", "activation=gelu_tanh"});
    CHECK(same.status == 0);
    CHECK(nlohmann::json::parse(same.out)["first"].is_null());
}

TEST_CASE("open lists a trace's tensors in the order of recording") {
    const Outcome listed = run({"open", kGpt + "no-scale.safetensors", "--list"});
    CHECK(listed.status == 0);
    CHECK(contains(listed.out, "h.0.attn/softmax/out\tF32\t[2, 2, 5, 5]\n"));
    CHECK(listed.out.find("wte/out") < listed.out.find("lm_head/out"));
    CHECK(run({"open", kGpt + "set.json", "--list"}).status == 1);
    CHECK(run({"open"}).status == 2);
    std::ostringstream out, err;
    const CliResult opened = run_cli(std::vector<std::string>{"open", kGpt + "no-scale.safetensors"}, out, err);
    REQUIRE(opened.window);
    CHECK(contains(opened.window->work.scenario.about().path, "no-scale.safetensors"));
}

TEST_CASE("recorder prints the Python file") {
    const Outcome printed = run({"recorder"});
    CHECK(printed.status == 0);
    CHECK(contains(printed.out, "class record:"));
    CHECK(!contains(printed.out, "import numpy"));
}
