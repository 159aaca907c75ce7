// What a file dropped on the window does.
#include "app/application.h"
#include "app/core/files/link.h"
#include "app/core/lessons/progress.h"
#include "app/core/run/open_model.h"
#include "app/platform.h"
#include "app/views/tabs/compare/tab.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <variant>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::app;
using namespace decoderscope::views::compare;

TEST_CASE("of several paths dropped at once a model is opened; what could be made one is answered with how") {
    const decoderscope::testing::TemporaryFolder folder;
    decoderscope::testing::write_bytes(folder.file("notes.txt"), "x");
    decoderscope::testing::write_bytes(folder.file("gpt.pt"), "PK");
    Application application(scenario_of(make_bundled_model("pre-ln-layer")));
    const auto drop = [&](const std::vector<std::string>& paths) {
        application.dropped(paths);
        application.session().finish();
    };
    drop({folder.file("notes.txt"), folder.file("gpt.pt")});
    REQUIRE(application.session().opening());
    CHECK(application.session().opening()->python.find("gpt.safetensors") != std::string::npos);
    drop({folder.file("notes.txt"), folder.file("gpt.pt"),
          DECODERSCOPE_TESTS_DIR "/reference/state_dicts/heads-gpt/model.safetensors"});
    REQUIRE(application.session().opening());
    CHECK(application.session().opening()->asks);
    application.session().finish();  // without threads a pending measurement would request the next frame
    CHECK(std::isinf(application.next_wake()));
    application.dropped(std::vector<std::string>{folder.file("notes.txt")});
    CHECK(application.next_wake() <= 0.1);  // loading progress is shown
    application.session().finish();
    CHECK(std::isinf(application.next_wake()));
    CHECK(application.session().opening()->error.english().find("notes.txt: no such model") != std::string::npos);
    drop({DECODERSCOPE_TESTS_DIR "/reference/fixtures/gpt2-like"});
    CHECK_FALSE(application.session().opening());
    CHECK(application.session().shown().scenario.about().name.find("gpt2-like") != std::string::npos);
}

TEST_CASE("a session that is dropped is opened, and the title says whether it is saved") {
    const decoderscope::testing::TemporaryFolder folder;
    const std::string path = folder.file("lesson.dscope");
    decoderscope::testing::write_bytes(
        path, R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"}})");
    Application application(scenario_of(make_bundled_model("pre-ln-layer")));
    application.dropped(std::vector<std::string>{path});
    application.session().finish();
    CHECK(application.session().scenario().about().name == "causal-lm");
    CHECK(application.session().file() == path);
    CHECK(application.title().find("lesson.dscope · causal-lm") == 0);
    application.session().apply(command::SetOption{"norm_first", "true"});
    CHECK(application.title().find("lesson.dscope • · ") == 0);
}

TEST_CASE("a trace dropped on the Diff tab is compared with; elsewhere a dropped path is a model") {
    const decoderscope::testing::TemporaryFolder folder;
    const std::vector<std::string> trace = {folder.file("t.safetensors")};
    Application application(scenario_of(make_bundled_model("pre-ln-layer")));
    write_safetensors(trace.front(), recorded_tensors(*application.session().shown().run));
    application.dropped(trace);
    application.session().finish();
    REQUIRE(application.session().message());
    CHECK(application.session().message()->failed);
    CHECK_FALSE(application.session().shown().trace_file);
    application.state().tab = "diff";
    application.dropped(trace);
    application.session().finish();
    REQUIRE(application.session().shown().trace_file);
    CHECK(application.session().shown().trace_file->label == "t.safetensors");
    CHECK(application.state().part<CompareTabState>().against == Against::file);
    CHECK(application.state().part<CompareTabState>().typed.data() == trace.front());
}

TEST_CASE("a recording that is dropped on Compare, beside the model that it holds, is bisected") {
    const std::string path = DECODERSCOPE_TESTS_DIR "/reference/bugs/traces/bare/model.safetensors";
    Application application(scenario_of(std::get<std::shared_ptr<const Model>>(open_model(path, OpenAs::model))));
    REQUIRE(application.session().scenario().computes());
    application.state().tab = "compare";
    application.dropped(std::vector<std::string>{path});
    application.session().finish();
    CHECK(application.session().scenario().computes());
    CHECK(application.state().part<CompareTabState>().against == Against::bisect);
    REQUIRE(application.session().shown().trace_file);
}

TEST_CASE("a link is opened as a page gives it, whatever tab is open; links lead to the address in the settings") {
    SavedSession work;
    work.scenario = scenario_of(make_bundled_model("causal-lm"));
    work.view.tab = "heads";
    const std::string link = link_of(session_file_of(work));
    Application application(scenario_of(make_bundled_model("pre-ln-layer")));
    application.state().tab = "diff";
    application.dropped(std::vector<std::string>{link});
    application.session().finish();
    CHECK(application.session().scenario().about().name == "causal-lm");
    CHECK(application.session().file().empty());
    CHECK(link_base({.browser_address = " https://example.org/d/#s1=old"}).address == "https://example.org/d/");
    CHECK(link_base({}).address.empty());
    CHECK(link_base({}).from_settings);
}

TEST_CASE("damaged settings and lessons are kept beside those that are begun, and what another version wrote stays") {
    const decoderscope::testing::TemporaryFolder folder;
    const std::string settings = folder.file("settings.json"), lessons = folder.file("lessons.json");
    const auto open = [&] {
        auto application = std::make_unique<Application>(scenario_of(make_bundled_model("pre-ln-layer")));
        application->remember_settings(settings);
        const Sentence said = application->session().message() ? application->session().message()->text : Sentence();
        application->remember_lessons(lessons);
        return std::pair(std::move(application), said.english());
    };
    const auto said = [](Application& application) {
        const auto& message = application.session().message();
        return message ? message->text.english() : std::string();
    };
    decoderscope::testing::write_bytes(settings, R"({"dark": true, "recent": ["/a")");
    decoderscope::testing::write_bytes(lessons, std::string("\0\0\0\0", 4));
    {
        const auto [application, first] = open();
        CHECK(first.find(settings) == 0);
        CHECK(first.find("settings.json.damaged") != std::string::npos);
        CHECK(said(*application).find("lessons.json.damaged") != std::string::npos);
        CHECK(decoderscope::testing::read_bytes(settings + ".damaged") == R"({"dark": true, "recent": ["/a")");
        CHECK(decoderscope::testing::read_bytes(lessons + ".damaged") == std::string("\0\0\0\0", 4));
    }
    // A lesson that this version can't read is none that is damaged.
    const std::string newer = R"({"lessons": {"weight": {"page": "three"}, "masks": {"page": 1, "questions": {}}}})";
    decoderscope::testing::write_bytes(lessons, newer);
    Progress progress = read_progress(lessons);
    CHECK(progress.lessons.size() == 1);
    save_progress(lessons, progress);
    CHECK(nlohmann::json::parse(decoderscope::testing::read_bytes(lessons))["lessons"] ==
          nlohmann::json::parse(newer)["lessons"]);
    const auto [application, nothing] = open();
    CHECK(said(*application).empty());
}

TEST_CASE("other work takes the place of unsaved work only when the user has agreed") {
    const decoderscope::testing::TemporaryFolder folder;
    SavedSession work;
    work.scenario = scenario_of(make_bundled_model("causal-lm"));
    const std::string link = link_of(session_file_of(work)), path = folder.file("lesson.dscope");
    decoderscope::testing::write_bytes(
        path, R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"}})");
    for (const std::string& other : {link, path}) {
        INFO(other);
        Application application(scenario_of(make_bundled_model("reverse")));
        const auto drop = [&](const std::string& dropped) {
            application.dropped(std::vector<std::string>{dropped});
            application.session().finish();
        };
        application.session().apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
        application.session().finish();
        drop(other);
        CHECK(application.state().dialog == Dialog::unsaved);
        CHECK(application.session().scenario().about().name == "reverse");
        application.state().dialog = Dialog::none;
        drop(link.substr(0, 40));  // a damaged link opens nothing, and is said to be damaged at once
        CHECK(application.state().dialog == Dialog::none);
        application.session().apply(command::Undo{});  // nothing is unsaved any more
        application.session().finish();
        drop(other);
        CHECK(application.state().dialog == Dialog::none);
        CHECK(application.session().scenario().about().name == "causal-lm");
    }
}
