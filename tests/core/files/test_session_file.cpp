// Sessions as files: what is written is read back, and errors name the fault.
#include "app/core/files/checksum.h"
#include "app/core/files/saved_session.h"
#include "app/core/files/session_file.h"
#include "engine/files/safetensors.h"
#include "engine/graph/edit.h"
#include "engine/graph/run.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/files/sessions.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;

namespace fs = std::filesystem;

namespace {

const std::string kFixtures = DECODERSCOPE_TESTS_DIR "/reference/fixtures/";

// All recorded tensors of two runs, bit for bit.
void check_same_run(const Scenario& a, const Scenario& b) {
    const auto run_a = recorded_tensors(*execute(plan_of(a))), run_b = recorded_tensors(*execute(plan_of(b)));
    REQUIRE(run_a.size() == run_b.size());
    for (std::size_t i = 0; i < run_a.size(); ++i) {
        INFO(run_a[i].first);
        REQUIRE(run_a[i].first == run_b[i].first);
        REQUIRE(run_a[i].second.axes() == run_b[i].second.axes());
        CHECK(std::memcmp(run_a[i].second.data(), run_b[i].second.data(),
                          static_cast<std::size_t>(run_a[i].second.size()) * sizeof(float)) == 0);
    }
}

// Saves and reopens; the second save equals the first byte for byte.
SavedSession saved_and_opened(const SavedSession& work, const std::string& path) {
    write_session_file(path, session_file_of(work));
    const std::string text = read_bytes(path);
    SavedSession again = open_session(path);
    SessionFile file = session_file_of(again);
    file.saved_as = work.saved_as;
    CHECK(session_text(file, fs::path(path).parent_path().string()) == text);
    return again;
}

std::string error_reading(const std::string& text) {
    return error_of([&] { static_cast<void>(parse_session(text, "/home")); });
}

std::string error_opening(const std::string& path) {
    return error_of([&] { static_cast<void>(open_session(path)); });
}

std::string copy_of_fixture(const TemporaryFolder& folder, const std::string& fixture, const std::string& name) {
    fs::copy(kFixtures + fixture, folder.file(name));
    return folder.file(name);
}

}  // namespace

TEST_CASE("every bundled model's session opens to the same numbers") {
    const TemporaryFolder folder;
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        const Scenario scenario = scenario_of(make_bundled_model(model.name));
        const SavedSession again = saved_and_opened(work_of(scenario), folder.file("a.dscope"));
        CHECK(again.scenario.about().name == model.name);
        CHECK(again.remarks.empty());
        check_same_run(again.scenario, scenario);
    }
}

TEST_CASE("every model of the reference opens by its path to the same numbers") {
    const TemporaryFolder folder;
    for (const auto& entry : fs::directory_iterator(kFixtures)) {
        if (!fs::exists(entry.path() / "model.safetensors")) continue;
        INFO(entry.path());
        const Scenario scenario = scenario_of(load_model(entry.path().string()));
        check_same_run(saved_and_opened(work_of(scenario), folder.file("a.dscope")).scenario, scenario);
    }
}

TEST_CASE("all of the work is in its session") {
    const TemporaryFolder folder;
    SavedSession work = changed_work({{"norm_first", "true"}, {"mask_value", "-1e4"}});
    Scenario& scenario = work.scenario;
    scenario.recording = Recording::patterns;
    work.cursor.place.outer = 3;
    work.view.tabs["compare"] = R"({"bisect":{"matches":{"dropout":""}},"with":"bisect"})";
    work.view.trace = folder.file("trace.safetensors");
    const SavedSession again = saved_and_opened(work, folder.file("a.dscope"));
    check_same_run(again.scenario, scenario);
    CHECK(again.scenario.edits == scenario.edits);
    CHECK(again.scenario.overrides() == scenario.overrides());  // norm_first was set before mask_value
    CHECK(again.scenario.dropout_seed == scenario.dropout_seed);
    CHECK(again.scenario.gradient_target == scenario.gradient_target);
    CHECK(again.scenario.recording == scenario.recording);
    CHECK(again.scenario.generated == scenario.generated);
    CHECK(again.sampling == work.sampling);
    CHECK(again.cursor == work.cursor);
    CHECK(again.view == work.view);
    REQUIRE(again.pins.size() == 1);
    CHECK(again.pins[0].label == "without head 0");
    CHECK(again.pins[0].scenario.model() == again.scenario.model());
    check_same_run(again.pins[0].scenario, work.pins[0].scenario);
    CHECK(again.saved_as == folder.file("a.dscope"));
}

TEST_CASE("numbers that are not finite are read back bit for bit, from edits and from inputs") {
    const TemporaryFolder folder;
    std::vector<float> values;
    for (const std::uint32_t bits : {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0x7fffffffU, 0x7f800000U, 0xff800000U,
                                     0x80000000U, 0x00000001U, 0x7f7fffffU, 0x3eaaaaabU, 0x42f6e979U})
        values.push_back(std::bit_cast<float>(bits));
    values.resize(64, 0.5F);
    SavedSession work = work_of(scenario_of(make_bundled_model("simple-decoder")));
    work.scenario.inputs = {.x = Tensor({{axis::batch, 1}, {axis::pos, 1}, {axis::d_model, 64}}, values)};
    for (std::size_t i = 0; i < values.size(); ++i)
        work.scenario.edits.push_back(SetCell{"blocks.0.resid_mid", {0, 0, static_cast<Index>(i)}, values[i]});
    const SavedSession again = saved_and_opened(work, folder.file("a.dscope"));
    const auto same = [](float a, float b) {
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    };
    REQUIRE(again.scenario.inputs.x.size() == 64);
    REQUIRE(again.scenario.edits.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        CHECK(same(again.scenario.inputs.x.data()[i], values[i]));
        CHECK(same(std::get<SetCell>(again.scenario.edits[i]).value, values[i]));
    }
}

TEST_CASE("a session is opened on any tab's tab, though the tab keeps nothing of its own") {
    for (const std::string tab : {"step", "experts", "causes", "a-tab-of-tomorrow"}) {
        SavedSession work = work_of(scenario_of(make_bundled_model("experts")));
        work.view.tab = tab;
        CHECK(parse_session(session_text(session_file_of(work), ""), "").view.tab == tab);
        work.view.tabs = {{"causes", "{}"}, {"sweep", "{}"}};  // between them, too
        const std::string text = session_text(session_file_of(work), "");
        CHECK(session_text(parse_session(text, ""), "") == text);
    }
}

TEST_CASE("a session is laid out to be compared: an edit a line, a batch row a line, paths as they are") {
    SavedSession work = work_of(scenario_of(make_bundled_model("causal-lm")));
    const Axes axes = {{axis::batch, 3}, {axis::pos, 4}};
    work.scenario.inputs = {.tokens = Tensor(axes, {1, 10, 11, 6, 3, 3, 0, 0, 3, 2, 9, 0}),
                            .attention_mask = Tensor(axes, {1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0})};
    work.scenario.edits = {ScaleHead{"blocks.1.attn", 3, 0.1F}, SetCell{"blocks.2.attn.z", {1, 2, 0, 5}, NAN}};
    work.cursor = {"blocks.0.attn.pattern", {0, 2}, {}};
    CHECK(session_text(session_file_of(work), "") == R"({
  "format": "decoderscope-session",
  "version": 1,
  "model": {"bundled": "causal-lm"},
  "set": {},
  "input": {
    "tokens": [
      [1, 10, 11, 6],
      [3, 3],
      [3, 2, 9]
    ]
  },
  "edits": [
    {"edit": "scale_head", "attention": "blocks.1.attn", "head": 3, "factor": 0.1},
    {"edit": "set_cell", "tensor": "blocks.2.attn.z", "index": [1, 2, 0, 5], "value": "nan"}
  ],
  "sampling": {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "seed": 0},
  "cursor": {"step": "blocks.0.attn.pattern", "batch": 0, "head": 2},
  "tab": "step",
  "pins": []
}
)");
}

TEST_CASE("a text is written as text, and vectors by where they come from") {
    const auto input_of = [](const Scenario& scenario) {
        const std::string text = session_text(session_file_of(work_of(scenario)), "");
        const std::size_t from = text.find("\"input\""), to = text.find("\"edits\"");
        return text.substr(from, to - from);
    };
    CHECK(input_of(scenario_of(make_bundled_model("reverse"))).find("\"text\": [") != std::string::npos);
    const std::string vectors = input_of(scenario_of(make_bundled_model("pre-ln-encdec")));
    CHECK(vectors.find(R"("x": {"from": "example", "checksum": "xxh64:)") != std::string::npos);
    CHECK(vectors.find(R"("memory": {"from": "example", "checksum": "xxh64:)") != std::string::npos);
    CHECK(vectors.size() < 600);
}

TEST_CASE("vectors of an inputs file are read from it again, and a file with others gets a remark") {
    const TemporaryFolder folder;
    Scenario scenario = scenario_of(make_bundled_model("simple-decoder"));
    const auto write_x = [&](float value) {
        const std::vector<float> values(2 * 64, value);
        const Tensor x({{axis::batch, 1}, {axis::pos, 2}, {axis::d_model, 64}}, values);
        write_safetensors(folder.file("inputs.safetensors"), {{"x", x}});
    };
    write_x(0.25F);
    scenario.inputs_path = folder.file("inputs.safetensors");
    scenario.inputs = load_inputs(scenario.inputs_path, scenario.config());
    const SavedSession again = saved_and_opened(work_of(scenario), folder.file("a.dscope"));
    check_same_run(again.scenario, scenario);
    CHECK(again.scenario.inputs_path == scenario.inputs_path);
    CHECK(read_bytes(folder.file("a.dscope")).find(R"("x": {"file": "inputs.safetensors", "checksum")") !=
          std::string::npos);
    write_x(0.5F);
    {
        const SavedSession other = open_session(folder.file("a.dscope"));
        REQUIRE(other.remarks.size() == 1);
        CHECK(other.remarks[0].english().find("inputs.safetensors have changed") != std::string::npos);
        CHECK(other.scenario.inputs.x.data()[0] == 0.5F);
    }
    fs::remove(folder.file("inputs.safetensors"));
    check_message(error_opening(folder.file("a.dscope")), {"a.dscope", "x: ", "inputs.safetensors"});
}

TEST_CASE("a model beside its session is found wherever both are moved; elsewhere its path is absolute") {
    const TemporaryFolder folder;
    fs::create_directory(folder.file("here"));
    copy_of_fixture(folder, "gpt2-like", "here/model");
    const Scenario scenario = scenario_of(load_model(folder.file("here/model")));
    static_cast<void>(saved_and_opened(work_of(scenario), folder.file("here/a.dscope")));
    CHECK(read_bytes(folder.file("here/a.dscope")).find(R"({"path": "model"})") != std::string::npos);
    fs::rename(folder.file("here"), folder.file("there"));
    check_same_run(open_session(folder.file("there/a.dscope")).scenario, scenario);
    write_session_file(folder.file("b.dscope"), session_file_of(open_session(folder.file("there/a.dscope"))));
    CHECK(read_bytes(folder.file("b.dscope")).find(R"("path": "there/model")") != std::string::npos);
    fs::create_directory(folder.file("elsewhere"));
    write_session_file(folder.file("elsewhere/b.dscope"), session_file_of(open_session(folder.file("there/a.dscope"))));
    const std::string whole = nlohmann::json(folder.file("there/model")).dump();
    CHECK(read_bytes(folder.file("elsewhere/b.dscope")).find("\"path\": " + whole) != std::string::npos);
}

TEST_CASE("a state_dict's answers are in its session") {
    const TemporaryFolder folder;
    const std::string path =
        DECODERSCOPE_TESTS_DIR "/reference/state_dicts/nn-transformer-decoder-pre/model.safetensors";
    const Scenario scenario = scenario_of(load_model(path, {{"nhead", "4"}, {"activation", "gelu"}}));
    const SavedSession again = saved_and_opened(work_of(scenario), folder.file("a.dscope"));
    CHECK(again.scenario.config() == scenario.config());
    check_same_run(again.scenario, scenario);
}

TEST_CASE("a mapping of names is in the session, and opens its model again") {
    const TemporaryFolder folder;
    const std::string path = DECODERSCOPE_TESTS_DIR "/reference/state_dicts/decoder/model.safetensors";
    Mapping mapping = mapping_of_model(path);
    std::swap(mapping.at("layer_list.0.layernorm_att.weight"), mapping.at("layer_list.0.layernorm_ffn.weight"));
    const Scenario scenario = scenario_of(load_model(path, {{"nhead", "4"}}, nullptr, mapping));
    const SavedSession again = saved_and_opened(work_of(scenario), folder.file("a.dscope"));
    CHECK(again.scenario.model()->mapping == mapping);
    check_same_run(again.scenario, scenario);
    const std::string bytes = read_bytes(folder.file("a.dscope"));
    CHECK(bytes.find("\"mapping\"") != std::string::npos);
    write_bytes(folder.file("b.dscope"), R"({"format": "decoderscope-session", "version": 1,
        "model": {"path": "/nowhere", "mapping": {"a": "norm.weight", "b": "norm.weight"}}})");
    CHECK_THROWS_AS(open_session(folder.file("b.dscope")), Error);
}

TEST_CASE("weights that changed since saving are reported in one sentence, and open") {
    const TemporaryFolder folder;
    const std::string model = copy_of_fixture(folder, "gpt2-like", "model");
    // Nothing is open: Windows lets no open file be written to.
    SessionFile file = [&] {
        SavedSession work = work_of(scenario_of(load_model(model)));
        work.scenario.edits = {ScaleHead{"blocks.0.attn", 0, 0.0F}};
        return session_file_of(work);
    }();
    const ModelChecksums checksums = finished(checksums_of_model(model));
    CHECK(checksums.weights == finished(checksum_of_files({model + "/model.safetensors"})));
    CHECK(checksums.config == finished(checksum_of_files({model + "/config.json"})));
    file.run.model.weights = checksums.weights;
    file.run.model.config = checksums.config;
    write_session_file(folder.file("a.dscope"), file);
    CHECK(open_session(folder.file("a.dscope")).remarks.empty());
    std::string bytes = read_bytes(model + "/model.safetensors");
    bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);
    write_bytes(model + "/model.safetensors", bytes);
    {
        const SavedSession again = open_session(folder.file("a.dscope"));
        REQUIRE(again.remarks.size() == 1);
        CHECK(again.remarks[0].english().find(model + ": its weights have changed") == 0);
        CHECK(again.scenario.edits.size() == 1);
    }
    write_bytes(model + "/config.json", read_bytes(model + "/config.json") + "\n");
    CHECK(open_session(folder.file("a.dscope")).remarks.at(0).english().find("its weights and config.json have") !=
          std::string::npos);
}

TEST_CASE("edits that no longer fit are left out of a model that changed, and refused where nothing did") {
    const TemporaryFolder folder;
    const std::string model = copy_of_fixture(folder, "gpt2-like", "model");
    SessionFile file = session_file_of(work_of(scenario_of(load_model(model))));
    file.run.edits = {ScaleHead{"blocks.0.attn", 0, 0.0F}, ScaleHead{"blocks.99.attn", 0, 0.0F}};
    write_session_file(folder.file("a.dscope"), file);
    check_message(error_opening(folder.file("a.dscope")), {"a.dscope: ", "edits", "edit 1", "blocks.99.attn"});
    file.run.model.weights = "xxh64:0000000000000000";
    write_session_file(folder.file("a.dscope"), file);
    const SavedSession work = open_session(folder.file("a.dscope"));
    CHECK(work.scenario.edits == std::vector<Edit>{ScaleHead{"blocks.0.attn", 0, 0.0F}});
    REQUIRE(work.remarks.size() == 2);
    CHECK(work.remarks[1].english() == "1 edit no longer fits and was left out");
}

TEST_CASE("the smallest session is a model; a session written manually is read") {
    CHECK(open_session(parse_session(session(""), "/"), "a.dscope").scenario.batch() == 3);
    const SavedSession work = open_session(
        parse_session(
            session(R"("set": {"norm_first": true, "layer_norm_eps": 1e-3}, "input": {"tokens": [[1], [2, 3]]},
                                 "cursor": {"step": "logits"}, "tab": "heads")"),
            "/"),
        "a.dscope");
    CHECK(work.scenario.config().norm_first);
    CHECK(work.scenario.config().layer_norm_eps == 1e-3);
    CHECK(work.scenario.inputs.tokens.at(Cell{1, 1}) == 3.0F);
    CHECK(work.scenario.inputs.attention_mask.at(Cell{0, 1}) == 0.0F);
    CHECK(work.view.tab == "heads");
}

TEST_CASE("a session of a newer version is refused with what to do, whatever else it holds") {
    check_message(error_reading(R"({"format": "decoderscope-session", "version": 2, "model": 7, "new": {}})"),
                  {"version 2", "up to version 1", "newer Decoderscope"});
    check_message(error_reading(R"({"format": "decoderscope-session", "version": 0, "model": {}})"), {"version"});
    check_message(error_reading(R"({"format": "decoderscope-session", "version": "1", "model": {}})"),
                  {"version", "whole number"});
    check_message(error_reading(R"({"format": "other", "version": 1})"), {"not a Decoderscope session"});
    check_message(error_reading("[]"), {"not a Decoderscope session"});
    check_message(error_reading("{"), {"not valid JSON", "line 1"});
    check_message(error_reading(""), {"not valid JSON"});
}

TEST_CASE("what is wrong in a session is named with its key and what was expected") {
    const auto check = [](const std::string& members, const std::vector<std::string>& says) {
        INFO(members);
        check_message(error_reading(session(members)), says);
    };
    check(R"("colour": 1)", {"unknown key \"colour\""});
    check(R"("cursor": {"step": "logits", "colour": 1})", {"cursor: unknown key \"colour\""});
    check(R"("cursor": {"batch": 1})", {"cursor: \"step\" is missing"});
    check(R"("cursor": {"step": "logits", "head": -1})", {"cursor.head", "an index from 0"});
    check(R"("cursor": [])", {"cursor: expected an object"});
    check(R"("tab": "sheets")", {"tab", "\"sheets\"", "step, heads, masks"});
    check(R"("tab": 3)", {"tab", "a string"});
    check(R"("set": {"nhead": [4]})", {"set.nhead", "--set"});
    check(R"("set": [])", {"set", "an object"});
    check(R"("edits": {})", {"edits", "list of edits"});
    check(R"("edits": [{"edit": "erase"}])", {"edits: edit 0", "erase"});
    check(R"("edits": [{"edit": "set_cell", "tensor": "t", "index": [0], "value": "NaN"}])",
          {"edit 0: value", "\"nan\", \"inf\" or \"-inf\""});
    check(R"~("edits": [{"edit": "set_cell", "tensor": "t", "index": [0], "value": "nan(0x3f800000)"}])~", {"value"});
    check(R"("dropout_seed": -1)", {"dropout_seed", "whole number"});
    check(R"("gradients_of": 3)", {"gradients_of", "a string"});
    check(R"("record": "some")", {"record", "patterns"});
    check(R"("sampling": {"top_p": 2})", {"sampling", "top_p"});
    check(R"("norms": [])", {"norms", "an object"});
    check(R"("compare": {"file": 3})", {"compare.file", "a string"});
    check(R"("input": {"text": ["a"], "tokens": [[1]]})", {"input.text", "together with tokens"});
    check(R"("input": {"tokens": []})", {"input.tokens", "at least one"});
    check(R"("input": {"tokens": [1]})", {"input.tokens", "batch rows"});
    check(R"("input": {"tokens": [[0.5]]})", {"input.tokens", "an index"});
    check(R"("input": {"x": {"from": "memory"}})", {"input.x.from", "example"});
    check(R"("input": {"x": {"file": "a", "checksum": "sha"}})", {"input.x.checksum", "xxh64:"});
    check(R"("input": {"x": [[1, 2], [3]]})", {"input.x", "equal lengths"});
    check(R"("input": {"x": [[1, 2], 3]})", {"input.x", "equal lengths"});
    check(R"("input": {"x": [[]]})", {"input.x", "none of them empty"});
    check(R"("input": {"x": [[[[[[[[[1]]]]]]]]]})", {"input.x"});
    check(R"("generated": {"one": [1]})", {"generated.one", "batch row"});
    check(R"("pins": [{}])", {"pins[0]: \"label\" is missing"});
    check(R"("pins": [{"label": "a"}, {"label": "b"}])", {"pins", "at most 1"});
    check(R"("tab": "step", "tab": "heads")", {"tab", "twice"});
    check_message(error_reading(R"({"format": "decoderscope-session", "version": 1})"), {"\"model\" is missing"});
    check_message(error_reading(R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "none"}})"),
                  {"model.bundled", "\"none\""});
    check_message(error_reading(R"({"format": "decoderscope-session", "version": 1, "model": {}})"),
                  {"model: \"path\" is missing"});
}

TEST_CASE("what doesn't fit the model is named with the session's file") {
    const TemporaryFolder folder;
    const auto check = [&](const std::string& text, std::vector<std::string> says) {
        write_bytes(folder.file("a.dscope"), text);
        says.push_back(folder.file("a.dscope") + ": ");
        check_message(error_opening(folder.file("a.dscope")), says);
    };
    check(session(R"("set": {"colour": "red"})"), {"set", "colour"});
    check(session(R"("input": {"tokens": [[99]]})"), {"input", "tokens", "id 99"});
    check(session(R"("input": {"text": ["abc"]})"), {"input", "text", "tokens"});
    check(session(R"("input": {"tokens": [[]]})"), {"input", "tokens", "empty"});
    check(session(R"("input": {"x": [[[1.0]]]})"), {"input", "x"});
    check(session(R"("input": {"attention_mask": [[1], [1, 1]]})"), {"attention_mask", "different lengths"});
    check(session(R"("edits": [{"edit": "scale_head", "attention": "blocks.7.attn", "head": 0, "factor": 1}])"),
          {"edits", "edit 0", "blocks.7.attn"});
    check(R"({"format": "decoderscope-session", "version": 1, "model": {"path": "nowhere"}})",
          {"model", folder.file("nowhere"), "no such model"});
    check_message(error_opening(folder.file("absent.dscope")), {"absent.dscope", "cannot be read"});
    // A thousand rows of one token and one of 20,000: once padded, far larger than the file.
    std::string rows = "[0";
    for (int i = 0; i < 20'000; ++i) rows += ",0";
    rows += "]";
    for (int i = 0; i < 1'000; ++i) rows += ",[0]";
    check(session(R"("input": {"tokens": [)" + rows + "]}"), {"tokens", "16777216"});
}
