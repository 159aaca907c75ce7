// What README, CONTRIBUTING and docs tell a person to type does what they say: every command is run, or says why it
// isn't.
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/program/documented.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

struct NotRun {
    const char* begins_with;
    const char* because;
};

constexpr std::array<NotRun, 10> kNotRun{{
    {"./run.sh", "it is the first thing that tests/bare/everything.sh runs"},
    {"./test.sh", "it is what runs this test, or takes as long again"},
    {"scripts/bare.sh", "it is what runs this test"},
    {"scripts/browser.sh", "./test.sh browser runs it, and takes as long as all other tests"},
    {"scripts/windows.sh", "./test.sh windows runs it: 40 minutes"},
    {"scripts/release.sh", "it builds for every system, and tries by itself what it has built"},
    {"scripts/wheel.sh", "./test.sh notebook runs it, with the page that it needs"},
    {"scripts/pictures.sh", "it takes minutes, and a person has to look at what it draws"},
    {"python3 -m decoderscope",
     "it needs the Python package; test_watch.py, test_chat.py, test_grade.py and test_scorm.py run it"},
    {"pip install build/wheel/", "./test.sh notebook installs it"},
}};

// Why a line is not run; empty if it is.
std::string reason_of(const std::string& line) {
    if (line.find("http.server") != std::string::npos)
        return "it serves until it is ended; the tests of the page serve it, too";
    const auto found =
        std::ranges::find_if(kNotRun, [&](const NotRun& one) { return line.starts_with(one.begins_with); });
    return found == kNotRun.end() ? "" : found->because;
}

struct Said {
    int status = 0;
    std::string out, err;
};

// As a person types it into a shell, in this folder, without a display.
Said shell(const std::string& folder, const std::string& script, const std::string& before = {}) {
    const TemporaryFolder said;
    write_bytes(said.file("script"), before + script + "\n");
    const int how =
        std::system(("cd '" + folder + "' && env -u DISPLAY -u WAYLAND_DISPLAY sh -e '" + said.file("script") +
                     "' </dev/null >'" + said.file("out") + "' 2>'" + said.file("err") + "'")
                        .c_str());
    return {WIFEXITED(how) ? WEXITSTATUS(how) : -1, read_bytes(said.file("out")), read_bytes(said.file("err"))};
}

// Whether it did what was asked: ended well; judged, which is status 1 or 3; or had no display for its window.
bool did(const std::string& line, const Said& said) {
    if (said.status == 0) return true;
    const bool compares =
        std::regex_search(line, std::regex("decoderscope (diff|bisect|check|compare|lessons check|lessons write) "));
    if (compares && (said.status == 1 || said.status == 3)) return !said.out.empty();
    return said.status == 1 && said.err.find("cannot open a window: there is no display") != std::string::npos;
}

}  // namespace

TEST_CASE("every documented command of the program runs as it is written", "[long]") {
    std::size_t ran = 0;
    for (const DocumentedBlock& block : documented_blocks()) {
        const TemporaryFolder folder;
        // The program by its name, and nothing left in a person's home.
        const std::string before = "PATH='" + std::filesystem::path(DECODERSCOPE_PROGRAM).parent_path().string() +
                                   "':\"$PATH\" HOME='" + folder.path() + "' GITHUB_STEP_SUMMARY=summary.md\n" +
                                   "export PATH HOME GITHUB_STEP_SUMMARY\n";
        std::vector<std::string> lines;
        for (const std::string& line : block.lines)
            if (is_of_decoderscope(line) && reason_of(line).empty()) lines.push_back(line);
        lines = typed(lines);
        make_files_for(lines, folder.path());
        for (const std::string& line : lines) {
            const Said said = shell(folder.path(), line, before);
            INFO(block.where << ": " << line << "\nstatus " << said.status << "\n" << said.out << said.err);
            CHECK(did(line, said));
            ++ran;
        }
    }
    CHECK(ran >= 20);  // the documents were found and read
}

// From the repository's root, on a machine that is thrown away (scripts/bare.sh): they install packages.
TEST_CASE("every other documented command runs on a machine of its own", "[.][on_a_bare_machine]") {
    const std::string root = std::filesystem::path(DECODERSCOPE_TESTS_DIR).parent_path().string();
    for (const DocumentedBlock& block : documented_blocks()) {
        std::string script;
        for (const std::string& line : block.lines) {
            const std::string reason = is_of_decoderscope(line) ? "./test.sh runs it" : reason_of(line);
            if (reason.empty()) script += line + "\n";
        }
        if (script.empty()) continue;
        const Said said = shell(root, script);
        INFO(block.where << ":\n" << script << "status " << said.status << "\n" << said.out << said.err);
        CHECK(said.status == 0);
    }
}
