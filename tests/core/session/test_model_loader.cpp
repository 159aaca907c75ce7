// Models opened in the background: read on their own thread, asked about, cancelled, refused.
#include "app/core/files/settings.h"
#include "app/core/session/session.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/messages.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/state_dict_folder.h"
#include "tests/engine/temporary_folder.h"

#include <sys/stat.h>

#include <atomic>
#include <limits>
#include <thread>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;

namespace {

void open(Session& session, const std::string& name, const Overrides& answers = {}) {
    apply(session, command::OpenModel{name, answers});
}

Session session_on(const char* model) { return Session(make_bundled_model(model)); }

}  // namespace

TEST_CASE("a model is read while the one before stays, and takes its place when its first run is there") {
    std::atomic<int> woken = 0;
    Session session(make_bundled_model("causal-lm"), [&] { ++woken; });
    const auto before = session.shown().run;
    session.apply(command::OpenModel{"pre-ln-layer", {}});
    REQUIRE(session.opening());
    CHECK(session.opening()->reading);
    CHECK(session.opening()->name == "pre-ln-layer");
    CHECK(session.shown().run == before);
    CHECK(session.scenario().about().name == "causal-lm");
    session.finish();
    CHECK_FALSE(session.opening());
    CHECK(session.shown().scenario.about().name == "pre-ln-layer");
    CHECK(session.cursor().step == "blocks.0.attn.pattern");
    while (woken == 0) std::this_thread::yield();
    apply(session, command::Undo{});
    CHECK(session.shown().scenario.about().name == "causal-lm");
}

TEST_CASE("tensors under names that say nothing are asked about, and open by a mapping") {
    const TemporaryFolder folder;
    const SafetensorsFile file(state_dict_folder("decoder") + "/model.safetensors");
    const Mapping known = mapping_of_model(state_dict_folder("decoder"));
    std::vector<std::pair<std::string, Tensor>> tensors;
    Mapping mapping;
    for (const std::string& name : file.names_in_order()) {
        tensors.emplace_back("t" + std::to_string(tensors.size()), file.floats(name));
        mapping[tensors.back().first] = known.at(name);
    }
    write_safetensors(folder.file("odd.safetensors"), tensors);
    Session session = session_on("causal-lm");
    open(session, folder.file("odd.safetensors"));
    REQUIRE(session.opening());
    REQUIRE(session.opening()->asks);
    CHECK_FALSE(session.opening()->error.empty());
    CHECK(session.opening()->asks->names.open.size() == tensors.size());
    apply(session, command::OpenModel{folder.file("odd.safetensors"), {}, mapping});
    REQUIRE(session.opening());
    REQUIRE(session.opening()->asks);
    CHECK(session.opening()->error.empty());
    CHECK(session.opening()->asks->questions.at(0).key == "nhead");
    apply(session, command::OpenModel{folder.file("odd.safetensors"), {{"nhead", "4"}}, mapping});
    CHECK_FALSE(session.opening());
    CHECK(session.scenario().model()->mapping == mapping);
    CHECK(session.scenario().config().nhead == 4);
    // What was assumed can be asked again.
    session.apply(command::AskAgain{});
    REQUIRE(session.opening());
    CHECK_FALSE(session.opening()->reading);
    CHECK(session.opening()->mapping == mapping);
    CHECK(session.opening()->answers == Overrides{{"nhead", "4"}});
}

TEST_CASE("what a state_dict doesn't say is asked, and the answers open it") {
    Session session = session_on("causal-lm");
    open(session, state_dict_folder("nn-transformer-decoder-pre"));
    REQUIRE(session.opening());
    CHECK_FALSE(session.opening()->reading);
    REQUIRE(session.opening()->asks);
    CHECK(session.opening()->asks->module.english() == "torch.nn.TransformerDecoder");
    CHECK(session.opening()->error.empty());
    CHECK(session.shown().scenario.about().name == "causal-lm");
    const std::string name = session.opening()->name;
    open(session, name, {{"nhead", "5"}});  // not a divisor of 16: the question stays
    REQUIRE(session.opening());
    CHECK(session.opening()->asks);
    check_message(session.opening()->error, {"nhead", "divisor of d_model = 16"});
    open(session, name, {{"nhead", "4"}, {"norm_first", "true"}, {"activation", "gelu"}});
    CHECK_FALSE(session.opening());
    CHECK(session.shown().scenario.config().nhead == 4);
    CHECK(session.shown().scenario.config().norm_first);
    CHECK(session.shown().scenario.model()->config().activation == ActivationKind::gelu);
}

TEST_CASE("a model that is no longer wanted is never delivered") {
    Session session = session_on("causal-lm");
    for (int i = 0; i < 20; ++i) {
        session.apply(command::OpenModel{"post-ln-encdec", {}});
        session.apply(command::StopOpening{});
        CHECK_FALSE(session.opening());
        session.finish();
        session.update(std::chrono::milliseconds(1));
    }
    CHECK(session.shown().scenario.about().name == "causal-lm");
    session.apply(command::OpenModel{"post-ln-encdec", {}});
    session.apply(command::OpenModel{"simple-decoder", {}});  // the last one wins
    session.finish();
    CHECK(session.shown().scenario.about().name == "simple-decoder");
}

TEST_CASE("what can't be opened says why, and nothing is lost", "[posix]") {
    const TemporaryFolder folder;
    const auto bytes = [&](const char* name, const std::string& content) {
        write_bytes(folder.file(name), content);
        return folder.file(name);
    };
    const std::string whole = read_bytes(state_dict_folder("decoder") + "/model.safetensors");
    std::filesystem::create_directories(folder.file("folder/model.safetensors"));
    std::filesystem::create_directories(folder.file("nothing"));
    REQUIRE(::mkfifo(folder.file("pipe.safetensors").c_str(), 0600) == 0);
    const std::vector<std::pair<std::string, std::string>> bad = {
        {"", "no such model"},
        {"/nowhere/at/all", "no such model"},
        {"/dev/zero", "no such model"},
        {"/dev/full", "no such model"},
        {std::string(5000, 'x'), "no such model"},
        {folder.file("nothing"), "No such file"},
        {folder.file("folder"), "not a file"},
        {folder.file("pipe.safetensors"), "not a file"},
        {bytes("empty.safetensors", ""), "0 bytes"},
        {bytes("short.safetensors", whole.substr(0, whole.size() / 2)), "truncated"},
        {bytes("long.safetensors", whole + "x"), "tensors end"},
        {bytes("claims.safetensors", with_header(R"({"emb.weight": {"dtype": "F32", "shape": [50000, 50000],
                                                     "data_offsets": [0, 10000000000]}})",
                                                 std::string(1000, ' '))),
         "more elements than the file"},
        {bytes("shape.safetensors", with_header(R"({"emb.weight": {"dtype": "F32",
                                       "shape": [1099511627776, 1099511627776], "data_offsets": [0, 0]}})")),
         "more elements than the file"},
        {bytes("text.safetensors", "this is no model, it is a text"), "header claims"},
        {bytes("trace.safetensors", raw_safetensors({{"blocks.0.attn.z", "F32", "[1]", raw<float>({1.0F})}})),
         "not a decoder's"},
        {bytes("whole.safetensors", raw_safetensors({{"q_proj.weight", "I64", "[1, 1]", raw<std::int64_t>({1})}})),
         "q_proj"},
        {bytes("model.pt", "PK"), "expected safetensors"},
    };
    Session session = session_on("causal-lm");
    const auto run = session.shown().run;
    for (const auto& [path, says] : bad) {
        INFO(path.substr(0, 200));
        open(session, path, path.ends_with("whole.safetensors") ? Overrides{{"nhead", "1"}} : Overrides{});
        REQUIRE(session.opening());
        CHECK_FALSE(session.opening()->reading);
        check_message(session.opening()->error, {says});
        REQUIRE(session.message());
        CHECK(session.message()->failed);
        CHECK(session.shown().run == run);
        CHECK(session.scenario().about().name == "causal-lm");
    }
    CHECK(session.opening()->python.find("safetensors.torch.save_file") != std::string::npos);
    session.apply(command::StopOpening{});
    CHECK_FALSE(session.opening());
    CHECK_FALSE(session.can_undo());
}

TEST_CASE("NaN weights are opened and reported") {
    const TemporaryFolder folder;
    const auto sound = load_model(state_dict_folder("decoder"), {{"nhead", "4"}});
    Weights weights = sound->weights;
    weights.find("embed.weight")->second.writable()[0] = std::numeric_limits<float>::quiet_NaN();
    write_bytes(folder.file("config.json"), sound->config_json);
    write_safetensors(folder.file("model.safetensors"), {weights.begin(), weights.end()});
    Session session = session_on("causal-lm");
    open(session, folder.path());
    CHECK(session.shown().scenario.about().name == folder.path());
    REQUIRE(session.message());
    CHECK_FALSE(session.message()->failed);
    check_message(session.message()->text.english(), {"embed.weight", "NaN"});
    const Session again(session.shown().scenario.model());
    REQUIRE(again.message());
    CHECK(again.message()->text.english() == session.message()->text.english());
}

TEST_CASE("the models opened last are remembered, once each, the last first") {
    const TemporaryFolder folder;
    Settings settings;
    for (const char* path : {"/a", "/b", "/a", "/c", "/d", "/e", "/f", "/g", "/h", "/i", "/b\n"})
        settings.recent = with_recent(std::move(settings.recent), path);
    CHECK(settings.recent == std::vector<std::string>{"/b\n", "/i", "/h", "/g", "/f", "/e", "/d", "/c"});
    save_settings(folder.file("settings.json"), settings);
    CHECK(load_settings(folder.file("settings.json")) == settings);
    write_bytes(folder.file("settings.json"), R"({"recent": [3, "/a", {}, "/a", null]})");
    CHECK(load_settings(folder.file("settings.json")).recent == std::vector<std::string>{"/a"});
    settings.recent = {"/\xff\xfe"};  // not UTF-8
    save_settings(folder.file("settings.json"), settings);
}
