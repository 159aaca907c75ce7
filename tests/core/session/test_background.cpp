// What takes long never blocks a frame: apply() only begins it, and update() takes it over.
#include "app/core/session/session.h"
#include "app/core/train/shown_training.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

using namespace decoderscope::testing;
using namespace decoderscope::core::train;

namespace {

std::shared_ptr<const ModelFolder> trained_folder() {
    TrainingPlan plan{.task = "reversal", .text = {}, .layers = 1, .d_model = 16, .rows = 2, .steps = 1};
    const Recipe recipe = recipes_of(plan).front();
    return folder_of(recipe, *model_of(recipe, first_trainer(recipe).weights(), 0));
}

}  // namespace

TEST_CASE("a trace is read in the background, and the one that is asked for last is compared with") {
    const TemporaryFolder folder;
    Session session(make_bundled_model("pre-ln-layer"));
    for (const char* name : {"a.safetensors", "b.safetensors"})
        write_safetensors(folder.file(name), recorded_tensors(*session.shown().run));
    session.apply(command::CompareWithFile{folder.file("a.safetensors")});
    CHECK(session.reading_trace() == folder.file("a.safetensors"));
    CHECK_FALSE(session.shown().trace_file);
    CHECK(session.work({}).view.trace == folder.file("a.safetensors"));
    apply(session, command::CompareWithFile{folder.file("b.safetensors")});
    CHECK(session.reading_trace().empty());
    REQUIRE(session.shown().trace_file);
    CHECK(session.shown().trace_file->label == "b.safetensors");

    session.apply(command::CompareWithFile{folder.file("a.safetensors")});
    session.apply(command::CompareWithFile{});  // no longer wanted
    session.finish();
    CHECK_FALSE(session.shown().trace_file);
}

TEST_CASE("a trace that is saved again is compared with as it is now") {
    const TemporaryFolder folder;
    Session session(make_bundled_model("pre-ln-layer"));
    const std::string path = folder.file("mine.safetensors");
    auto tensors = recorded_tensors(*session.shown().run);
    write_safetensors(path, tensors);
    apply(session, command::CompareWithFile{path});
    const auto update_until = [&](const auto& is_so) {
        for (int i = 0; i < 500 && !is_so(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            session.update();
        }
        return is_so();
    };
    const auto first = session.shown().trace_file;
    REQUIRE(first);
    CHECK(session.due());

    tensors.erase(std::prev(tensors.end()));
    write_safetensors(path, tensors);
    CHECK(update_until([&] { return session.shown().trace_file != nullptr && session.shown().trace_file != first; }));
    REQUIRE(session.message());
    CHECK(contains(tr(session.message()->text), "mine.safetensors was saved again"));
    const auto number = session.message()->number;

    // What can't be read isn't compared as if it were the file; and it is followed on.
    std::ofstream(path) << "half of it";
    CHECK(update_until([&] { return session.shown().trace_file == nullptr; }));
    CHECK(session.message()->failed);
    CHECK(session.message()->number != number);  // another message: it isn't let go with the one before
    write_safetensors(path, tensors);
    CHECK(update_until([&] { return session.shown().trace_file != nullptr; }));
    apply(session, command::CompareWithFile{});
    std::filesystem::remove(path);
    CHECK_FALSE(session.shown().trace_file);
}

TEST_CASE("a session is shown before the trace that it is compared with is read") {
    const TemporaryFolder folder;
    const std::string trace = folder.file("t.safetensors");
    SavedSession work;
    {
        Session session(make_bundled_model("pre-ln-layer"));
        write_safetensors(trace, recorded_tensors(*session.shown().run));
        apply(session, command::CompareWithFile{trace});
        work = session.work({});
    }
    Session session(work);
    CHECK(session.reading_trace() == trace);
    CHECK_FALSE(session.shown().trace_file);
    session.finish();
    REQUIRE(session.shown().trace_file);
    CHECK(session.shown().trace_file->path == trace);

    work.view.trace = folder.file("gone.safetensors");
    Session without(work);
    without.finish();
    CHECK_FALSE(without.shown().trace_file);
    REQUIRE(without.message());
    CHECK(contains(without.message()->text.english(), "gone.safetensors"));
}

TEST_CASE("a lesson's place is opened without waiting for its run, and what is typed meanwhile comes after it") {
    Session session(make_bundled_model("pre-ln-layer"));
    const auto place = std::make_shared<const Scenario>(scenario_of(load_model("reverse")));
    session.apply(command::OpenScenario{place, "blocks.1.attn.pattern"});
    if constexpr (kJobsOnThreads) {
        CHECK(session.stale());
        CHECK(session.shown().scenario.about().name == "pre-ln-layer");
    }
    SECTION("then it stands there, with nothing to save") {
        session.finish();
        CHECK(session.shown().scenario.about().name == "reverse");
        CHECK(session.cursor().step == "blocks.1.attn.pattern");
        CHECK_FALSE(session.unsaved());
        apply(session, command::Undo{});
        CHECK(session.shown().scenario.about().name == "pre-ln-layer");
    }
    SECTION("an edit at once is one of the place, and is not saved") {
        apply(session, command::ScaleHeadTo{"blocks.1.attn", 1, 0.0F});
        CHECK(session.cursor().step == "blocks.1.attn.pattern");
        CHECK(session.scenario().edits.size() == 1);
        CHECK(session.unsaved());
    }
}

TEST_CASE("models are written in the background, one after the other, and the last is opened where that was asked") {
    const TemporaryFolder folder;
    Session session(make_bundled_model("simple-decoder"));
    const std::shared_ptr<const ModelFolder> model = trained_folder();
    session.apply(command::SaveModel{model, folder.file("a"), false});
    CHECK_FALSE(session.message());
    apply(session, command::SaveModel{model, folder.file("b"), true});
    for (const char* name : {"a", "b"}) CHECK(std::filesystem::exists(folder.file(name) + "/model.safetensors"));
    CHECK(session.scenario().about().path == folder.file("b"));

    apply(session, command::SaveModel{model, folder.file("none/of/these"), true});
    REQUIRE(session.message());
    CHECK(session.message()->failed);
    CHECK(contains(session.message()->text.english(), folder.file("none")));
    CHECK(session.scenario().about().path == folder.file("b"));
}

TEST_CASE("a model that is being written is finished when the session ends") {
    const TemporaryFolder folder;
    {
        Session session(make_bundled_model("simple-decoder"));
        for (const char* name : {"a", "b"})
            session.apply(command::SaveModel{trained_folder(), folder.file(name), false});
    }
    for (const char* name : {"a", "b"}) CHECK(std::filesystem::exists(folder.file(name) + "/model.safetensors"));
}

TEST_CASE("what is pinned or exported while it is being computed is that run, not the one before or after") {
    const TemporaryFolder folder;
    Session session(make_bundled_model("causal-lm-as-meant"));
    session.apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    session.apply(command::Pin{});
    CHECK_FALSE(session.shown().pinned);  // nothing waited for the run
    session.finish();
    REQUIRE(session.shown().pinned);
    CHECK(session.shown().pinned->label == "causal-lm-as-meant, Post-Norm, 1 edit");

    session.apply(command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
    session.apply(command::Pin{});
    session.apply(command::Export{folder.file("step.json")});
    apply(session, command::ClearEdits{});
    CHECK(session.shown().pinned->label == "causal-lm-as-meant, Post-Norm, 2 edits");
    CHECK(std::filesystem::exists(folder.file("step.json")));
    CHECK(session.scenario().edits.empty());
}

TEST_CASE("what was said stays until a person asks for something") {
    Session session(make_bundled_model("pre-ln-layer"));
    session.apply(command::Tell{Sentence::verbatim("said")});
    session.apply(command::RequestAuxRun{"beside", Variation{.without_edits = true}});
    session.apply(command::LendNotes{});
    REQUIRE(session.message());
    CHECK(session.message()->text.english() == "said");
    session.apply(command::GoLast{});
    CHECK_FALSE(session.message());
}
