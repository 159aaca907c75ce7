// Unsaved work survives the program and is offered at the next start; saved work needs no autosave.
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace fs = std::filesystem;

namespace {

const command::TypeOver kEdit = {"blocks.0.attn.z", {0, 0, 0, 0}, 7.0F};

// A session with an edit that only its autosave holds, as when the program is told to stop.
void leave_unsaved(const std::string& folder, const command::TypeOver& edit = kEdit) {
    Session session(make_bundled_model("simple-decoder"));
    session.autosave_in(folder);
    session.apply(edit);
    session.keep({.tab = "heads"});
    session.end(false);
}

// The files that hold work, not locks.
std::size_t autosaves_in(const std::string& folder) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder)) count += entry.path().extension() == ".dscope" ? 1U : 0U;
    return count;
}

}  // namespace

TEST_CASE("autosaves lie in the state folder", "[posix]") {
    const char* before = std::getenv("XDG_STATE_HOME");
    const std::string kept = before == nullptr ? "" : before;
    ::setenv("XDG_STATE_HOME", "/state", 1);
    CHECK(autosave_folder() == "/state/decoderscope");
    before == nullptr ? ::unsetenv("XDG_STATE_HOME") : ::setenv("XDG_STATE_HOME", kept.c_str(), 1);
}

TEST_CASE("a change is autosaved within the last second, and not before there is one") {
    CHECK(SessionKeeper::kDelay <= std::chrono::milliseconds(500));
    const TemporaryFolder folder;
    Session session(make_bundled_model("simple-decoder"));
    session.autosave_in(folder.file("state/decoderscope"), std::chrono::milliseconds(0));
    session.apply(command::GoLast{});
    session.keep({});
    session.finish();
    CHECK_FALSE(session.unsaved());
    CHECK(autosaves_in(folder.file("state/decoderscope")) == 0);
    session.apply(kEdit);
    session.keep({});
    while (session.autosaved_changes() < session.changes()) session.update(std::chrono::milliseconds(1));
    CHECK(autosaves_in(folder.file("state/decoderscope")) == 1);
}

TEST_CASE("what a process left is offered, opened with everything, and gone once it is safe elsewhere") {
    const TemporaryFolder folder;
    leave_unsaved(folder.path());
    REQUIRE(autosaves_in(folder.path()) == 1);
    {
        Session session(make_bundled_model("causal-lm"));
        session.autosave_in(folder.path());
        REQUIRE(session.offer());
        CHECK(session.offer()->text.english().find("simple-decoder, 1 edit, ") == 0);
        const std::string left = session.offer()->leftover.path;
        apply(session, command::OpenSession{left, true});
        CHECK_FALSE(session.offer());
        CHECK(session.scenario().about().name == "simple-decoder");
        CHECK(session.shown().run->value("blocks.0.attn.z").at(Cell{0, 0, 0, 0}) == 7.0F);
        REQUIRE(session.take_view());
        CHECK(session.unsaved());
        CHECK(session.file().empty());
        CHECK(fs::exists(left));  // until this process has its own
        session.keep({});
        session.end(false);
        CHECK_FALSE(fs::exists(left));
        CHECK(autosaves_in(folder.path()) == 1);
    }
    Session session(make_bundled_model("causal-lm"));
    session.autosave_in(folder.path());
    REQUIRE(session.offer());
    session.apply(command::DiscardLeftover{});
    CHECK_FALSE(session.offer());
    CHECK(autosaves_in(folder.path()) == 0);
}

TEST_CASE("the saved view is restored with the work") {
    const TemporaryFolder folder;
    leave_unsaved(folder.path());
    Session session(make_bundled_model("causal-lm"));
    session.autosave_in(folder.path());
    REQUIRE(session.offer());
    apply(session, command::OpenSession{session.offer()->leftover.path, true});
    const auto view = session.take_view();
    REQUIRE(view);
    CHECK(view->tab == "heads");
    CHECK_FALSE(session.take_view());
}

TEST_CASE("the newest of several is offered first, and never another process's") {
    const TemporaryFolder folder;
    leave_unsaved(folder.path());
    leave_unsaved(folder.path(), {"blocks.0.attn.z", {0, 0, 0, 1}, 8.0F});
    CHECK(autosaves_in(folder.path()) == 2);
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    std::string oldest;
    for (const Leftover& leftover : leftovers(folder.path())) oldest = leftover.path;
    fs::last_write_time(oldest, old);
    Session first(make_bundled_model("simple-decoder")), second(make_bundled_model("simple-decoder"));
    first.autosave_in(folder.path());
    second.autosave_in(folder.path());
    REQUIRE(first.offer());
    CHECK(first.offer()->leftover.path != oldest);
    first.apply(command::DiscardLeftover{});
    REQUIRE(first.offer());
    CHECK(first.offer()->leftover.path == oldest);
    CHECK_FALSE(second.offer());
}

TEST_CASE("an end that the person wanted leaves nothing") {
    const TemporaryFolder folder;
    {
        Session session(make_bundled_model("simple-decoder"));
        session.autosave_in(folder.path(), std::chrono::milliseconds(0));
        session.apply(kEdit);
        session.keep({});
        while (session.autosaved_changes() < session.changes()) session.update(std::chrono::milliseconds(1));
        session.end(true);
    }
    CHECK(folder.entries() == 0);
}

TEST_CASE("saved under a name the work is safe: no autosave, until the next change") {
    const TemporaryFolder folder, state;
    Session session(make_bundled_model("simple-decoder"));
    session.autosave_in(state.path(), std::chrono::milliseconds(0));
    session.apply(kEdit);
    session.apply(command::Pin{});
    session.keep({});
    CHECK(session.unsaved());
    apply(session, command::SaveSession{folder.file("a.dscope"), {.tab = "masks"}});
    CHECK_FALSE(session.unsaved());
    CHECK(session.file() == folder.file("a.dscope"));
    REQUIRE(session.message());
    CHECK(session.message()->text.english() == "Saved to " + folder.file("a.dscope"));
    CHECK(autosaves_in(state.path()) == 0);
    session.apply(command::Undo{});
    CHECK(session.unsaved());
    Session again(make_bundled_model("causal-lm"));
    apply(again, command::OpenSession{folder.file("a.dscope")});
    CHECK_FALSE(again.unsaved());
    CHECK(again.file() == folder.file("a.dscope"));
    CHECK(again.scenario().edits.size() == 1);
    CHECK(again.take_view()->tab == "masks");
    REQUIRE(again.shown().pinned);
    CHECK(again.shown().pinned->label == "simple-decoder, Post-Norm, 1 edit");
    CHECK(again.shown().pinned->run->value("blocks.0.attn.z").at(Cell{0, 0, 0, 0}) == 7.0F);
    apply(again, command::Undo{});
    CHECK(again.scenario().about().name == "causal-lm");
}

TEST_CASE("if a session can't be saved, opened or autosaved, one sentence says so and work continues") {
    const TemporaryFolder folder;
    write_bytes(folder.file("file"), "");
    Session session(make_bundled_model("simple-decoder"));
    const auto told = [&](const Command& command, const std::vector<std::string>& says) {
        apply(session, command);
        REQUIRE(session.message());
        CHECK(session.message()->failed);
        check_message(session.message()->text.english(), says);
    };
    session.autosave_in(folder.file("file/state"));
    REQUIRE(session.message());
    check_message(session.message()->text.english(), {"Autosave is off", folder.file("file/state")});
    told(command::SaveSession{folder.file("absent/a.dscope"), {}},
         {folder.file("absent/a.dscope"), "cannot be written"});
    CHECK(session.file().empty());
    told(command::OpenSession{folder.file("absent.dscope")}, {folder.file("absent.dscope"), "cannot be read"});
    write_bytes(folder.file("new.dscope"), R"({"format": "decoderscope-session", "version": 9})");
    told(command::OpenSession{folder.file("new.dscope")}, {"new.dscope", "newer Decoderscope"});
    session.apply(kEdit);
    session.keep({});
    session.finish();
    CHECK(session.scenario().edits.size() == 1);
    session.end(true);
    CHECK(folder.entries() == 2);
}

TEST_CASE("a failing autosave is reported once, and repeated as soon as possible") {
    const TemporaryFolder folder;
    const std::string state = folder.file("state");
    Session session(make_bundled_model("simple-decoder"));
    session.autosave_in(state, std::chrono::milliseconds(0));
    // A folder with something in it has the name that the autosave will have: beside its lock.
    const fs::path lock = fs::directory_iterator(state)->path();
    REQUIRE(lock.extension() == ".lock");
    const fs::path taken = fs::path(lock).replace_extension(".dscope");
    fs::create_directories(taken / "something");
    session.apply(kEdit);
    session.keep({});
    while (!session.message()) session.update(std::chrono::milliseconds(1));
    check_message(session.message()->text.english(), {"Autosave is off", state});
    fs::remove_all(taken);
    SECTION("with the next change") {
        session.apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
        session.keep({});
    }
    SECTION("also without one, as a full disk may have room again") {}
    while (session.autosaved_changes() < session.changes()) session.update(std::chrono::milliseconds(1));
    CHECK(autosaves_in(state) == 1);
    CHECK(session.message()->text.english() == "Your work is autosaved again.");
    fs::remove(taken);
    fs::create_directories(taken / "something");
    session.apply(kEdit);
    session.keep({});
    session.end(false);  // ends, though nothing can be written
}

TEST_CASE("without a home folder one sentence says that nothing is autosaved") {
    Session session(make_bundled_model("simple-decoder"));
    session.autosave_in("");
    REQUIRE(session.message());
    check_message(session.message()->text.english(), {"Autosave is off", "home folder", "HOME"});
}

TEST_CASE("what was unsaved when other work was opened is offered after a crash, and gone after an end") {
    const bool by_user = GENERATE(false, true);
    const std::string opened = GENERATE("causal-lm", "a place");
    const TemporaryFolder folder;
    {
        Session session(make_bundled_model("simple-decoder"));
        session.autosave_in(folder.path());
        session.apply(kEdit);
        session.keep({});
        if (opened == "a place")
            session.apply(command::OpenScenario{
                std::make_shared<const Scenario>(scenario_of(make_bundled_model("causal-lm"))), {}});
        else
            session.apply(command::OpenModel{opened, {}, {}});
        while (session.scenario().about().name != "causal-lm" || session.stale()) {
            session.keep({});
            session.update(std::chrono::milliseconds(1));
        }
        session.update();
        CHECK_FALSE(session.unsaved());
        session.keep({});
        apply(session, command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
        session.keep({});
        session.end(by_user);
    }
    std::vector<std::string> offered;
    for (const Leftover& left : leftovers(folder.path()))
        offered.push_back(read_session_file(left.path).run.model.name);
    std::ranges::sort(offered);
    CHECK(offered == (by_user ? std::vector<std::string>() : std::vector<std::string>{"causal-lm", "simple-decoder"}));
    if (by_user) CHECK(folder.entries() == 0);
}

TEST_CASE(
    "a session's file that another program wrote to is known to have changed, and work that is recovered knows it") {
    const TemporaryFolder folder, state;
    const std::string path = folder.file("a.dscope");
    std::optional<Session> session(std::in_place, make_bundled_model("simple-decoder"));
    session->autosave_in(state.path());
    const auto save = [&] {
        session->apply(command::SaveSession{path, {}});
        session->finish();
    };
    CHECK_FALSE(session->file_has_changed());
    session->apply(kEdit);
    save();
    CHECK_FALSE(session->file_has_changed());
    const std::string saved = read_bytes(path);
    write_bytes(path, saved);  // the same again
    CHECK_FALSE(session->file_has_changed());
    fs::remove(path);
    CHECK_FALSE(session->file_has_changed());  // there is nothing to replace
    write_bytes(path, saved + "\n");
    CHECK(session->file_has_changed());
    save();
    CHECK_FALSE(session->file_has_changed());

    const bool written = GENERATE(false, true);
    session->apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    session->finish();
    session->keep({});
    session->end(false);
    session.reset();
    if (written) write_bytes(path, saved + "\n\n");
    Session opened(make_bundled_model("causal-lm"));
    apply(opened, command::OpenSession{path});
    CHECK_FALSE(opened.file_has_changed());
    Session again(make_bundled_model("causal-lm"));
    again.autosave_in(state.path());
    REQUIRE(again.offer());
    apply(again, command::OpenSession{again.offer()->leftover.path, true});
    CHECK(again.file() == path);
    CHECK(again.file_has_changed() == written);
}

TEST_CASE("a session that is saved says which weights it was made with") {
    const TemporaryFolder folder;
    fs::copy(DECODERSCOPE_TESTS_DIR "/reference/fixtures/gpt2-like", folder.file("model"));
    std::optional<Session> session(std::in_place, load_model(folder.file("model")));
    session->apply(command::SaveSession{folder.file("a.dscope"), {}});
    session->finish();
    const SavedModel saved = read_session_file(folder.file("a.dscope")).run.model;
    const ModelChecksums checksums = finished(checksums_of_model(folder.file("model")));
    CHECK(saved.name == folder.file("model"));
    CHECK(saved.weights == checksums.weights);
    CHECK(saved.config == checksums.config);
    CHECK(saved.weights.starts_with("xxh64:"));
    // The open work stays as it was opened, whatever happens to the files. Windows keeps those that are open.
    std::error_code kept;
    fs::remove_all(folder.file("model"), kept);
    session->apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    session->apply(command::SaveSession{folder.file("a.dscope"), {}});
    session->finish();
    CHECK(read_session_file(folder.file("a.dscope")).run.model == saved);
    session.reset();
    fs::remove_all(folder.file("model"));
    Session other(make_bundled_model("simple-decoder"));
    apply(other, command::OpenSession{folder.file("a.dscope")});
    REQUIRE(other.message());
    check_message(other.message()->text.english(), {"a.dscope", "model", folder.file("model"), "no such model"});
    CHECK(other.scenario().about().name == "simple-decoder");
}

TEST_CASE("the offer says what it holds: another input, settings, a pinned run, and the edits") {
    const TemporaryFolder folder;
    {
        Session session(make_bundled_model("reverse"));
        session.autosave_in(folder.path());
        apply(session, command::TypeInput{.typed = {.source = Typed{.text = "hello"}}});
        session.keep({});
        session.end(false);
    }
    {
        Session session(make_bundled_model("causal-lm"));
        session.autosave_in(folder.path());
        REQUIRE(session.offer());
        CHECK(session.offer()->text.english().starts_with("reverse, a changed input, from "));
        CHECK(session.offer()->text.english().find("edit") == std::string::npos);
        session.apply(command::DiscardLeftover{});
    }
    {
        Session session(make_bundled_model("reverse"));
        session.autosave_in(folder.path());
        session.apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
        session.apply(command::ScaleHeadTo{"blocks.1.attn", 2, 0.0F});
        apply(session, command::SetOption{"norm_first", "false"});
        apply(session, command::Pin{});
        session.keep({});
        session.end(false);
    }
    Session session(make_bundled_model("causal-lm"));
    session.autosave_in(folder.path());
    REQUIRE(session.offer());
    CHECK(session.offer()->text.english().starts_with("reverse, 2 edits, changed settings, a pinned run, from "));
}

TEST_CASE("a program that is told to stop leaves nothing where nothing differs") {
    const TemporaryFolder folder;
    const auto stop_after = [&](const std::vector<Command>& commands) {
        Session session(make_bundled_model("simple-decoder"));
        session.autosave_in(folder.path());
        for (const Command& command : commands) {
            apply(session, command);
            session.keep({.tab = "heads"});
        }
        session.end(false);
        return autosaves_in(folder.path());
    };
    CHECK(stop_after({}) == 0);
    CHECK(stop_after({command::GoLast{}, command::SelectCell{{0, 0, 0}}}) == 0);
    CHECK(stop_after({command::SetOption{"norm_first", "true"}, command::SetOption{"norm_first", "false"}}) == 0);
    CHECK(stop_after({kEdit, command::Undo{}}) == 0);
    CHECK(stop_after({command::OpenModel{"causal-lm"}}) == 0);
    CHECK(stop_after({kEdit, command::Undo{}, command::Redo{}}) == 1);
}

TEST_CASE("undo back to what was saved is saved") {
    const TemporaryFolder folder;
    Session session(make_bundled_model("simple-decoder"));
    session.autosave_in(folder.path());
    session.apply(kEdit);
    const TemporaryFolder elsewhere;
    apply(session, command::SaveSession{elsewhere.file("a.dscope"), {}});
    CHECK_FALSE(session.unsaved());
    apply(session, command::Undo{});
    CHECK(session.unsaved());
    CHECK(session.unsaved_parts() == std::vector<WorkPart>{WorkPart::edits});
    session.keep({});
    apply(session, command::Redo{});
    CHECK_FALSE(session.unsaved());
    session.keep({});
    session.end(false);
    CHECK(autosaves_in(folder.path()) == 0);
}
