// The command line: what it prints, what it writes, and its exit status.
#include "app/core/files/saved_session.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace decoderscope::testing;

TEST_CASE("without a command the window is opened") {
    CHECK(run({}).window);
    CHECK(run({"--model", "causal-lm", "--tokens", "1 2", "--set", "norm_first=true"}).window);
    CHECK(run({"--model", "no-such-model"}).status == 1);
    CHECK_FALSE(run({"models"}).window);
}

TEST_CASE("names prints a mapping that opens the model again, and a wrong one opens nothing") {
    const TemporaryFolder folder;
    const std::string model = DECODERSCOPE_TESTS_DIR "/reference/state_dicts/decoder";
    const std::string map = folder.file("names.json"), out = folder.file("a.safetensors");
    CHECK(contains(run({"names", model}).out, R"("layer_list.0.q_proj.weight": "layers.0.self_attn.q_proj.weight")"));
    REQUIRE(run({"names", model, "--out", map}).status == 0);
    CHECK(run({"trace", model, "--set", "nhead=4", "--map", map, "--out", out}).status == 0);
    CHECK(run({"trace", model, "--set", "nhead=4", "--out", folder.file("b.safetensors")}).status == 0);
    CHECK(decoderscope::testing::read_bytes(out) == decoderscope::testing::read_bytes(folder.file("b.safetensors")));
    const std::string whole = decoderscope::testing::read_bytes(map);
    const std::string entry = R"("emb.weight": "embed.weight",)";
    REQUIRE(contains(whole, entry));
    for (const std::string instead :
         {R"("emb.weight": "layers.0.norm1.weight",)", R"("emb.weight": "embed.weight, upside down",)",
          R"("emb.weight": "embed.weight", "emb.weight": "embed.weight",)"}) {
        INFO(instead);
        std::string wrong = whole;
        write_bytes(folder.file("wrong.json"), wrong.replace(wrong.find(entry), entry.size(), instead));
        const Outcome refused = run({"trace", model, "--set", "nhead=4", "--map", folder.file("wrong.json"), "--out",
                                     folder.file("c.safetensors")});
        CHECK(refused.status == 1);
        CHECK(is_one_line(refused.err));
        CHECK(contains(refused.err, "emb.weight"));
        CHECK_FALSE(std::filesystem::exists(folder.file("c.safetensors")));
    }
    CHECK(run({"trace", model, "--set", "nhead=4", "--map", folder.file("none.json"), "--out", out}).status == 1);
    // What it doesn't name is what it is recognised as.
    write_bytes(folder.file("one.json"), R"({"emb.weight": "embed.weight"})");
    CHECK(run({"trace", model, "--set", "nhead=4", "--map", folder.file("one.json"), "--out", out}).status == 0);
    CHECK(decoderscope::testing::read_bytes(out) == decoderscope::testing::read_bytes(folder.file("b.safetensors")));
}

TEST_CASE("a session opens the window, and stands wherever a model does") {
    const TemporaryFolder folder;
    const std::string session = folder.file("a.dscope");
    write_bytes(session, R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"},
        "edits": [{"edit": "scale_head", "attention": "blocks.0.attn", "head": 1, "factor": 0.0}], "tab": "heads",
        "set": {"norm_first": "true"}, "input": {"tokens": [[1, 2, 3]]}, "dropout_seed": 3})");
    write_bytes(folder.file("edits.json"),
                R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 1, "factor": 0.0}])");
    CHECK(run({session}).window);
    CHECK(run({"--model", session}).window);
    CHECK(run({"trace", session, "--out", folder.file("a.safetensors")}).status == 0);
    CHECK(run({"trace", "causal-lm", "--edits", folder.file("edits.json"), "--set", "norm_first=true", "--tokens",
               "1 2 3", "--dropout-seed", "3", "--out", folder.file("b.safetensors")})
              .status == 0);
    CHECK(decoderscope::testing::read_bytes(folder.file("a.safetensors")) ==
          decoderscope::testing::read_bytes(folder.file("b.safetensors")));
    CHECK(run({"diff", session, "--against", folder.file("b.safetensors"), "--tolerance", "0"}).status == 0);
    CHECK(run({"diff", session, "--tokens", "1 2 4", "--against", folder.file("b.safetensors")}).status == 1);
    CHECK(run({"bench", session, "--repeat", "1"}).status == 0);
    CHECK(run({"export", session, "--tensor", "blocks.0.attn.pattern", "--out", folder.file("a.csv")}).status == 0);
    write_bytes(session, R"({"format": "decoderscope-session", "version": 7})");
    const Outcome newer = run({"trace", session, "--out", folder.file("c.safetensors")});
    CHECK(newer.status == 1);
    CHECK(is_one_line(newer.err));
    CHECK(contains(newer.err, session));
    CHECK(contains(newer.err, "newer Decoderscope"));
    CHECK(run({"nonsense"}).status == 2);
    CHECK(contains(run({"nonsense"}).err, "nonsense"));
}

TEST_CASE("every command has a usage") {
    for (const std::string command :
         {"", "models", "trace", "export", "explain", "report", "diff", "bench", "generate"}) {
        const Outcome outcome =
            run(command.empty() ? std::vector<std::string>{"--help"} : std::vector<std::string>{command, "--help"});
        INFO(command);
        CHECK(outcome.status == 0);
        CHECK_FALSE(outcome.window);
        CHECK(contains(outcome.out, "Usage"));
    }
}

TEST_CASE("a name from a file moves no cursor and paints nothing in a terminal") {
    const TemporaryFolder folder;
    const std::string name =
        "a\x1b[31m\x07\r\x7f\xC2\x9b"
        "1mé\tb";
    decoderscope::write_safetensors(folder.file("a.safetensors"), {{name, Tensor({{"", 1}})}});
    const Outcome listed = run({"open", folder.file("a.safetensors"), "--list"});
    CHECK(listed.status == 0);
    CHECK(contains(listed.out, "a\uFFFD[31m\uFFFD\uFFFD\uFFFD\uFFFD1mé\tb\tF32"));
    const Outcome refused = run({"trace", "verses", "--edits", folder.file("\x1b.json"), "--out", folder.file("b")});
    CHECK(refused.status != 0);
    for (const Outcome& ended : {listed, refused})
        for (const char c : ended.out + ended.err)
            CHECK((static_cast<unsigned char>(c) >= 0x20U || c == '\n' || c == '\t'));
}

TEST_CASE("models lists the bundled models, a line each") {
    const Outcome outcome = run({"models"});
    CHECK(outcome.status == 0);
    std::istringstream lines(outcome.out);
    std::string line;
    for (const BundledModel& model : bundled_models()) {
        REQUIRE(std::getline(lines, line));
        CHECK(line.starts_with(model.name + "  "));
    }
    CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("a wrong command line is status 2") {
    for (const auto& arguments : std::vector<std::vector<std::string>>{
             {"nonsense"},
             {"trace"},
             {"trace", "causal-lm"},
             {"trace", "causal-lm", "--out"},
             {"trace", "causal-lm", "--out", "a", "--what"},
             {"trace", "causal-lm", "--out", "a", "--set", "bias"},
             {"trace", "causal-lm", "--out", "a", "--dropout-seed", "x"},
             {"export", "causal-lm", "--tensor", "z", "--out", "a.bmp"},
             {"export", "causal-lm", "--out", "a.png"},
             {"export", "causal-lm", "--tensor", "z", "--norm-curves", "--out", "a.png"},
             {"export", "causal-lm", "--tensor", "z", "--out", "a.png", "--scale", "5"},
             {"export", "causal-lm", "--tensor", "z", "--out", "a.png", "--head", "1", "--all-heads"},
             {"export", "causal-lm", "--tensor", "z", "--out", "a", "--each-head", "--format", "bmp"},
             {"report", "causal-lm"},
             {"bench", "causal-lm", "--repeat", "0", "--json"}}) {
        const Outcome outcome = run(arguments);
        INFO(outcome.err);
        CHECK(outcome.status == 2);
        CHECK(is_one_line(outcome.err));
    }
}

TEST_CASE("work that fails is status 1, with one line that names what is wrong, and nothing written") {
    const TemporaryFolder folder;
    const std::string out = folder.file("t.safetensors");
    write_bytes(
        folder.file("edits.json"),
        R"([{"edit": "mask", "attention": "blocks.9.attn", "batch": 0, "head": 0, "query": 0, "key": 0, "keep": false}])");
    write_bytes(folder.file("broken.json"), "[{]");
    write_bytes(folder.file("bad.safetensors"), "12345678not a header");
    const std::size_t files = folder.entries();
    const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> cases = {
        {{"trace", "no-such-model", "--out", out}, {"no-such-model"}},
        {{"trace", "causal-lm", "--out", out, "--set", "nheads=4"}, {"nheads"}},
        {{"trace", "causal-lm", "--out", out, "--set", "nhead=5"}, {"nhead", "64"}},
        {{"trace", "causal-lm", "--out", out, "--set", "d_model=32"}, {"embed.weight", "[12, 64]", "[12, 32]"}},
        {{"trace", "causal-lm", "--out", out, "--tokens", "1 2 12"}, {"tokens", "12", "11"}},
        {{"trace", "causal-lm", "--out", out, "--tokens", "1 two"}, {"two"}},
        {{"trace", "causal-lm", "--out", out, "--text", "hello"}, {"causal-lm", "vocabulary"}},
        {{"trace", "simple-decoder", "--out", out, "--tokens", "1"}, {"tokens", "vocab_size"}},
        {{"trace", "causal-lm", "--out", out, "--inputs", folder.file("none")}, {folder.file("none")}},
        {{"trace", "causal-lm", "--out", out, "--inputs", folder.file("bad.safetensors")},
         {"bad.safetensors", "header"}},
        {{"trace", "causal-lm", "--out", out, "--edits", folder.file("edits.json")}, {"edits.json", "blocks.9.attn"}},
        {{"trace", "causal-lm", "--out", out, "--edits", folder.file("broken.json")}, {"broken.json", "JSON"}},
        {{"trace", "causal-lm", "--out", folder.file("no/where.safetensors")}, {folder.file("no/where.safetensors")}},
        {{"export", "causal-lm", "--tensor", "blocks.0.attn.patern", "--out", folder.file("a.png")},
         {"blocks.0.attn.patern"}},
        {{"export", "causal-lm", "--tensor", "embed", "--out", folder.file("a.png"), "--batch", "3"},
         {"embed", "batch 3", "2"}},
        {{"export", "causal-lm", "--tensor", "blocks.0.attn.z", "--out", folder.file("a.png"), "--head", "8"},
         {"head 8", "7"}},
        {{"export", "causal-lm", "--tensor", "embed", "--out", folder.file("no/where.png")},
         {folder.file("no/where.png")}},
        {{"export", "causal-lm", "--tensor", "embed", "--out", folder.file("a.png"), "--all-heads"},
         {"embed", "heads"}},
        {{"export", "causal-lm", "--tensor", "blocks.0.attn.z", "--out", folder.file("a.png"), "--layer", "5"},
         {"blocks.0.attn.z", "layer 5"}},
        {{"export", "causal-lm", "--tensor", "blocks.0.attn.z", "--out", folder.path(), "--each-head"},
         {folder.path(), "already exists"}},
        {{"report", "causal-lm", "--out", folder.file("r.html"), "--head", "8"}, {"head 8", "7"}},
        {{"report", "causal-lm", "--out", folder.file("no/r.html")}, {folder.file("no/r.html")}},
    };
    for (const auto& [arguments, names] : cases) {
        const Outcome outcome = run(arguments);
        INFO(outcome.err);
        CHECK(outcome.status == 1);
        CHECK(is_one_line(outcome.err));
        for (const std::string& name : names) CHECK(contains(outcome.err, name));
        CHECK(folder.entries() == files);
    }
}

TEST_CASE("trace writes what was recorded, and edits, settings and dropout reach it") {
    const TemporaryFolder folder;
    const std::string out = folder.file("t.safetensors");
    REQUIRE(run({"trace", "causal-lm", "--out", out}).status == 0);
    {
        const SafetensorsFile file(out);
        CHECK(file.contains("probs"));
        CHECK_FALSE(file.contains("blocks.0.attn.result"));
        CHECK_FALSE(file.contains("embed.weight"));
        CHECK(file.entries().at("blocks.0.attn.pattern").shape == std::vector<Index>{3, 8, 4, 4});
    }
    write_bytes(folder.file("edits.json"),
                R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 3, "factor": 0.0}])");
    REQUIRE(run({"trace", "causal-lm", "--out", out, "--edits", folder.file("edits.json"), "--set", "norm_first=true",
                 "--ask", "*", "--dropout-seed", "4", "--tokens", "1 2 3; 4 5"})
                .status == 0);
    const SafetensorsFile file(out);
    CHECK(file.contains("blocks.4.attn.result"));
    CHECK(file.contains("blocks.0.mlp_out.dropout_mask"));
    CHECK(file.entries().at("blocks.0.attn.z").shape == std::vector<Index>{2, 8, 3, 8});
    CHECK(file.floats("blocks.0.attn.z").at(Cell{0, 3, 2, 1}) == 0.0F);
    // The shorter row is padded and masked.
    CHECK(file.floats("blocks.0.attn.mask").at(Cell{1, 0, 2, 2}) == 0.0F);
    CHECK(file.floats("blocks.0.attn.mask").at(Cell{0, 0, 2, 2}) == 1.0F);
}

TEST_CASE("export writes every format") {
    const TemporaryFolder folder;
    for (const std::string ending : {"png", "svg", "pdf", "csv", "npy", "npz", "json", "safetensors"}) {
        INFO(ending);
        const std::string path = folder.file("pattern." + ending);
        CHECK(run({"export", "causal-lm", "--tensor", "blocks.1.attn.pattern", "--out", path, "--batch", "2", "--head",
                   "5"})
                  .status == 0);
        CHECK(std::filesystem::file_size(path) > 100);
    }
}

TEST_CASE("export takes another layer, all of them, and a file a head") {
    const TemporaryFolder folder;
    const auto exported = [&](const std::string& file, std::vector<std::string> more) {
        std::vector<std::string> command = {"export", "causal-lm",      "--tensor", "blocks.0.attn.pattern",
                                            "--out",  folder.file(file)};
        command.insert(command.end(), more.begin(), more.end());
        const Outcome outcome = run(command);
        INFO(outcome.err);
        CHECK(outcome.status == 0);
        return std::filesystem::is_regular_file(folder.file(file))
                   ? decoderscope::testing::read_bytes(folder.file(file))
                   : "";
    };
    const std::string named = exported("a.json", {"--layer", "3", "--head", "2"});
    CHECK(nlohmann::json::parse(named)["tensor"] == "blocks.3.attn.pattern");
    CHECK(nlohmann::json::parse(exported("b.json", {"--all-heads", "--all-layers"}))["heatmaps"].size() == 5 * 8);
    const std::string scaled = exported("c.png", {"--scale", "4"}), whole = exported("d.png", {"--scale", "1"});
    const auto width = [](const std::string& png) {
        return (static_cast<unsigned char>(png[18]) << 8) + static_cast<unsigned char>(png[19]);
    };
    CHECK(width(scaled) == 4 * width(whole));
    exported("heads", {"--each-head", "--all-layers", "--format", "npy"});
    CHECK(std::filesystem::file_size(folder.file("heads/blocks.4.attn.pattern.head7.npy")) == 128 + 64);
    CHECK(folder.entries() == 5);
}

TEST_CASE("a tensor that is made only when asked for can be exported of every layer") {
    const TemporaryFolder folder;
    CHECK(run({"export", "causal-lm", "--tensor", "blocks.0.attn.result", "--all-layers", "--all-heads", "--out",
               folder.file("r.npz")})
              .status == 0);
}

TEST_CASE("report writes a page") {
    const TemporaryFolder folder;
    write_bytes(folder.file("edits.json"),
                R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 3, "factor": 0.0}])");
    const Outcome outcome = run({"report", "causal-lm", "--edits", folder.file("edits.json"), "--tensor",
                                 "blocks.2.attn.pattern", "--out", folder.file("r.html")});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    const std::string page = decoderscope::testing::read_bytes(folder.file("r.html"));
    CHECK(contains(page, "blocks.2.attn.pattern = softmax"));
    CHECK(contains(page, "<li>"));
}

TEST_CASE("report writes the page of a session, from where it looks") {
    const TemporaryFolder folder;
    SavedSession work{.scenario = scenario_of(make_bundled_model("causal-lm"))};
    work.scenario.edits = {ScaleHead{"blocks.1.attn", 2, 0.5F}};
    work.cursor = {"blocks.3.attn.masked_scores", {2, 4}, {}};
    write_session_file(folder.file("lesson & more.dscope"), session_file_of(work));
    const Outcome outcome = run({"report", folder.file("lesson & more.dscope"), "--out", folder.file("r.html")});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    const std::string page = decoderscope::testing::read_bytes(folder.file("r.html"));
    CHECK(contains(page, "<h1>lesson &amp; more</h1>"));
    CHECK(contains(page, "<li>" + describe(work.scenario.edits.front()) + "</li>"));
    CHECK(contains(page, "blocks.3.attn.masked_scores · batch 2, head 4 · 1 edit"));
}

TEST_CASE("an on-demand tensor can be exported") {
    const TemporaryFolder folder;
    CHECK(run({"export", "causal-lm", "--tensor", "blocks.1.attn.result", "--out", folder.file("r.npy")}).status == 0);
}

TEST_CASE("bench prints JSON") {
    const Outcome outcome = run({"bench", "simple-decoder", "--repeat", "3", "--json"});
    CHECK(outcome.status == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json["runs"] == 3);
    CHECK(json["forward_ms"].get<double>() > 0.0);
    std::size_t bytes = 0;
    const Scenario scenario = scenario_of(make_bundled_model("simple-decoder"));
    for (const auto& [name, tensor] : recorded_tensors(*execute(plan_of(scenario))))
        bytes += tensor.values().size_bytes();
    CHECK(json["recorded_bytes"].get<std::size_t>() == bytes);
}

TEST_CASE("bench with edits times the answer to them, too") {
    const TemporaryFolder folder;
    std::ofstream(folder.file("edits.json"))
        << R"([{"edit": "scale_head", "attention": "blocks.4.attn", "head": 0, "factor": 0}])";
    const Outcome outcome =
        run({"bench", "causal-lm", "--repeat", "3", "--edits", folder.file("edits.json"), "--json"});
    CHECK(outcome.status == 0);
    CHECK(nlohmann::json::parse(outcome.out)["edit_ms"].get<double>() > 0.0);
}

TEST_CASE("bench times a token behind the KV cache, and says why it can't") {
    const Outcome outcome = run({"bench", "causal-lm", "--repeat", "1", "--length", "3", "--json"});
    CHECK(outcome.status == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json["token_ms"].get<double>() > 0.0);
    CHECK_FALSE(nlohmann::json::parse(run({"bench", "causal-lm", "--repeat", "1", "--json"}).out).contains("token_ms"));
    const Outcome without_logits = run({"bench", "pre-ln-layer", "--repeat", "1", "--length", "3"});
    CHECK(without_logits.status == 1);
    CHECK(contains(without_logits.err, "pre-ln-layer"));
}

TEST_CASE("generate writes the text on, the same with and without the cache, and by its seed") {
    const std::vector<std::string> command = {
        "generate", "causal-lm-as-meant", "--tokens", "1 2 3; 4 5", "--length", "6", "--json"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), command.begin(), command.end());
        const Outcome outcome = run(more);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return nlohmann::json::parse(outcome.out);
    };
    const auto greedy = with({});
    REQUIRE(greedy["rows"].size() == 2);
    CHECK(greedy["rows"][0]["prompt"] == nlohmann::json({1, 2, 3}));
    CHECK(greedy["rows"][1]["prompt"] == nlohmann::json({4, 5}));
    CHECK(greedy["rows"][1]["generated"].size() == 6);
    CHECK(greedy["rows"][0]["computed_positions"] == 3 + 5);
    const auto full = with({"--no-cache"});
    CHECK(full["rows"][0]["generated"] == greedy["rows"][0]["generated"]);
    CHECK(full["rows"][0]["computed_positions"] == 3 + 4 + 5 + 6 + 7 + 8);
    const auto warm = with({"--temperature", "3", "--seed", "1"});
    CHECK(warm == with({"--temperature", "3", "--seed", "1"}));
    CHECK(warm != with({"--temperature", "3", "--seed", "2"}));
    CHECK(with({"--temperature", "3", "--top-k", "1"})["rows"] == greedy["rows"]);
    std::string ids = "1 2 3";
    for (const auto& id : greedy["rows"][0]["generated"]) ids += " " + std::to_string(id.get<int>());
    CHECK(greedy["rows"][0]["text"] == ids);  // a model without a vocabulary
    CHECK(run({"generate", "causal-lm-as-meant", "--tokens", "1 2 3", "--length", "6"}).out == ids + "\n");
    // Documents are told apart as where they are typed; what is added goes on with the last.
    const std::string alone = run({"generate", "verses", "--text", "In the ", "--length", "6"}).out;
    const Outcome both =
        run({"generate", "verses", "--text", "And God‖In the ", "--length", "6", "--set", "positions=from_segments"});
    CHECK(both.out == "And God‖" + alone);
}

TEST_CASE("generate says what it can't do") {
    const Outcome vectors = run({"generate", "pre-ln-layer"});
    CHECK(vectors.status == 1);
    CHECK(is_one_line(vectors.err));
    CHECK(contains(vectors.err, "reads vectors"));
    CHECK(
        contains(run({"generate", "causal-lm", "--top-p", "1.5"}).err, "--top-p: \"1.5\", expected a number above 0"));
    CHECK(contains(run({"generate", "causal-lm-as-meant", "--dropout-seed", "1"}).err, "dropout is on"));
    CHECK(run({"generate", "causal-lm", "--length", "-1"}).status == 2);
}

// ---- the user's own weights

TEST_CASE("what a state_dict doesn't say is asked for in one line, and what was taken unasked is noted") {
    const TemporaryFolder folder;
    const std::string weights = DECODERSCOPE_TESTS_DIR "/reference/state_dicts/gpt2/model.safetensors";
    const std::string out = folder.file("t.safetensors");
    const Outcome asked = run({"trace", weights, "--tokens", "1 2 3", "--out", out});
    CHECK(asked.status == 1);
    CHECK(is_one_line(asked.err));
    CHECK(contains(asked.err, "config.json"));
    CHECK(contains(asked.err, "Hugging Face GPT-2"));
    CHECK(contains(asked.err, "--set nhead=N with N one of 1, 2, 4, 8, 16"));
    CHECK(contains(asked.err, "activation=gelu_tanh"));
    CHECK(folder.entries() == 0);
    const Outcome done = run({"trace", weights, "--tokens", "1 2 3", "--out", out, "--set", "nhead=4"});
    CHECK(done.status == 0);
    CHECK(is_one_line(done.err));
    CHECK(contains(done.err, "note: model.safetensors"));
    CHECK(contains(done.err, "norm_first=true"));
    CHECK(SafetensorsFile(out).entries().find("blocks.0.attn.pattern")->second.shape == std::vector<Index>{1, 4, 3, 3});
    const Outcome bundled = run({"bench", "pre-ln-layer", "--repeat", "1"});
    CHECK(bundled.err.empty());
}

TEST_CASE("a pickled file is answered with a command that converts it, in one line") {
    const TemporaryFolder folder;
    write_bytes(folder.file("gpt.pt"), "PK\x03\x04");
    const Outcome outcome = run({"trace", folder.file("gpt.pt"), "--out", folder.file("t.safetensors")});
    CHECK(outcome.status == 1);
    CHECK(is_one_line(outcome.err));
    CHECK(contains(outcome.err, folder.file("gpt.pt") + ": pickled by Python, expected safetensors"));
    CHECK(contains(outcome.err, "import torch, safetensors.torch; state = torch.load("));
    CHECK(contains(outcome.err, "gpt.safetensors"));
}
