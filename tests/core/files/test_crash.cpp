// What is left of the user's work when the program is killed at any moment, a hundred times over.
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/files/child_process.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace decoderscope::testing;

namespace {

constexpr int kKills = decoderscope::testing::kSanitized ? 10 : 100;
constexpr const char* kEditing = "a process that edits until it is killed";
constexpr const char* kSaving = "a process that saves until it is killed";
constexpr const char* kOpening = "a process that edits and then opens another model and crashes";

SetCell edit_number(std::uint64_t number) { return {"blocks.0.attn.z", {0, 0, 0, 0}, static_cast<float>(number)}; }

// Kills the process at an arbitrary moment after this many of its reports. Returns its last report.
std::uint64_t killed_at_random(ChildProcess& process, std::mt19937& random) {
    const auto reports = std::uniform_int_distribution<int>(0, 4)(random);
    std::uint64_t known = 0;
    for (int i = 0; i <= reports; ++i) {
        const auto report = process.next_report();
        REQUIRE(report);
        known = *report;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<int>(0, 4000)(random)));
    process.kill();
    while (const auto report = process.next_report()) known = *report;  // what it said before it died
    return known;
}

std::uint64_t number_in(const SessionFile& file) {
    REQUIRE(file.run.edits.size() >= 1);
    const auto& edit = std::get<SetCell>(file.run.edits.front());
    CHECK(edit.tensor == "blocks.0.attn.z");
    return static_cast<std::uint64_t>(edit.value);
}

}  // namespace

TEST_CASE("a process that edits until it is killed", "[.]") {
    Session session(make_bundled_model("simple-decoder"));
    session.autosave_in(folder_of_test(), std::chrono::milliseconds(2));
    report(0);
    for (std::uint64_t number = 1, safe = 0;; ++number) {
        const SetCell edit = edit_number(number);
        session.apply(command::TypeOver{edit.tensor, edit.index, edit.value});
        session.update(std::chrono::milliseconds(1));
        session.keep({});
        if (session.autosaved_changes() > safe) report(safe = session.autosaved_changes());
    }
}

TEST_CASE("a process that saves until it is killed", "[.]") {
    SavedSession work;
    work.scenario = scenario_of(make_bundled_model("simple-decoder"));
    SessionFile file = session_file_of(work);
    report(0);
    for (std::uint64_t number = 1;; ++number) {
        file.run.edits.assign(1 + number * 37 % 3000, edit_number(number));  // longer or shorter than the previous one
        write_session_file(folder_of_test() + "/work.dscope", file);
        report(number);
    }
}

TEST_CASE("a process that edits and then opens another model and crashes", "[.]") {
    Session session(make_bundled_model("simple-decoder"));
    session.autosave_in(folder_of_test());
    const SetCell edit = edit_number(1);
    session.apply(command::TypeOver{edit.tensor, edit.index, edit.value});
    session.update(std::chrono::milliseconds(1));
    session.keep({});
    while (session.autosaved_changes() < session.changes()) session.update(std::chrono::milliseconds(1));
    session.apply(command::OpenModel{"causal-lm", {}, {}});
    while (session.scenario().about().name != "causal-lm" || session.stale()) {
        session.update(std::chrono::milliseconds(1));
        session.keep({});
    }
    session.update();
    session.keep({});
    session.finish();
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's would write pages about it
    std::raise(SIGSEGV);
}

TEST_CASE("a crash just after another model was opened: the edits of the one before are there") {
    const TemporaryFolder folder;
    ChildProcess process(kOpening, folder.path());
    CHECK_FALSE(process.next_report());  // it ends
    process.kill();
    const std::vector<Leftover> left = leftovers(folder.path());
    REQUIRE(left.size() == 1);
    CHECK(number_in(read_session_file(left.front().path)) == 1);
}

TEST_CASE("killed during an edit, a hundred times: everything reported as saved is there") {
    std::mt19937 random(1);
    for (int i = 0; i < kKills; ++i) {
        const TemporaryFolder folder;
        ChildProcess process(kEditing, folder.path());
        const std::uint64_t safe = killed_at_random(process, random);
        const std::vector<Leftover> left = leftovers(folder.path());
        if (safe > 0) REQUIRE(left.size() == 1);
        if (left.empty()) continue;
        const SessionFile file = read_session_file(left.front().path);
        CHECK(number_in(file) >= safe);
        CHECK(file.run.edits.size() == 1);
        CHECK(folder.entries() == 2);  // the autosave and its lock: nothing half-written is left
    }
}

TEST_CASE("killed in the middle of a save, a hundred times: the file is the one before or the new one") {
    std::mt19937 random(2);
    const TemporaryFolder folder;
    for (int i = 0; i < kKills; ++i) {
        std::filesystem::remove(folder.file("work.dscope"));
        ChildProcess process(kSaving, folder.path());
        const std::uint64_t saved = killed_at_random(process, random);
        if (saved == 0 && !std::filesystem::exists(folder.file("work.dscope"))) continue;
        const SessionFile file = read_session_file(folder.file("work.dscope"));
        const std::uint64_t number = number_in(file);
        CHECK((number == saved || number == saved + 1));
        CHECK(file.run.edits.size() == 1 + number * 37 % 3000);
        for (const Edit& edit : file.run.edits) REQUIRE(edit == Edit(edit_number(number)));
    }
    // The next save removes half-written files of killed processes.
    write_session_file(folder.file("work.dscope"),
                       session_file_of({.scenario = scenario_of(make_bundled_model("simple-decoder"))}));
    CHECK(folder.entries() == 1);
}
