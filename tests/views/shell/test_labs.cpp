// The list of labs, and what follows from it: no other file says which labs there are.
#include "app/views/dialogs/saving.h"
#include "app/views/frame/lab.h"
#include "app/views/shell/workspace.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core::files;
using namespace decoderscope::core::generate;
using namespace decoderscope::core;
using namespace decoderscope::views::dialogs;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(DECODERSCOPE_TESTS_DIR).parent_path();

// "| S | Step | How is this tensor computed? |"
std::string row_of_keys(const Lab& lab) {
    return "| " + key_text(lab.key) + " | " + std::string(lab.title.english()) + " | " +
           std::string(lab.question.english()) + " |\n";
}

}  // namespace

TEST_CASE("every lab has its own id, title, question and key") {
    std::set<std::string_view> ids, titles, questions;
    std::set<Key> keys;
    for (const Lab& lab : labs()) {
        INFO(lab.id);
        CHECK(ids.insert(lab.id).second);
        CHECK(titles.insert(lab.title.english()).second);
        CHECK(questions.insert(lab.question.english()).second);
        CHECK(std::string_view(lab.question.english()).ends_with("?"));
        CHECK((lab.key == Key::none || keys.insert(lab.key).second));
        CHECK(lab.draw != nullptr);
        CHECK((lab.save == nullptr) == (lab.restore == nullptr));
        CHECK(find_lab(lab.id) == &lab);
    }
    CHECK(find_lab(kStepLab) == &labs().front());
    CHECK(find_lab("sheets") == nullptr);
}

TEST_CASE("no two actions share a chord") {
    std::set<std::string> chords;
    for (const Action& action : actions()) {
        INFO(action.label.english());
        CHECK((action.key == Key::none || chords.insert(chord_text(action)).second));
    }
}

TEST_CASE("every lab has a tab, and is opened by its key") {
    Driver d;
    for (const Lab& lab : labs()) {
        INFO(lab.id);
        d.hands.tap(lab.key);
        d.settle();
        CHECK(d.state.tab == lab.id);
        CHECK(d.sees(without_spaces(std::string(lab.title.english()))));
    }
}

TEST_CASE("docs/keys.md has a table of the labs as they are") {
    const std::string page = read_bytes((kRoot / "docs/keys.md").string());
    std::string table = "| key | tab | its question |\n| --- | --- | --- |\n";
    for (const Lab& lab : labs()) table += row_of_keys(lab);
    INFO(table);
    CHECK(page.find("\n" + table + "\n") != std::string::npos);
}

TEST_CASE("docs/keys.md names every key") {
    const std::string page = read_bytes((kRoot / "docs/keys.md").string());
    for (const Action& action : actions()) {
        if (!action.listed || action.key == Key::none) continue;
        INFO(chord_text(action) << ": " << action.label.english());
        const bool is_tab = std::ranges::any_of(
            labs(), [&](const Lab& lab) { return lab.key == action.key && chord_text(action) == key_text(lab.key); });
        CHECK((is_tab || page.find("`" + chord_text(action) + "`") != std::string::npos));
    }
}

// The six labs of version 1 session files are also listed in the reader of these files; that list never grows.
TEST_CASE("no other file lists the labs") {
    const std::set<fs::path> lists = {"app/views/shell/labs.cpp", "app/core/files/session_file_read.cpp"};
    std::size_t read = 0;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / "app")) {
        const fs::path path = fs::relative(entry.path(), kRoot);
        if ((path.extension() != ".cpp" && path.extension() != ".h") || lists.contains(path)) continue;
        ++read;
        const std::string text = read_bytes(entry.path().string());
        std::size_t named = 0;
        for (const Lab& lab : labs()) {
            const std::string id(lab.id);
            if (text.find("\"" + id + "\"") != std::string::npos || text.find(id + "_lab()") != std::string::npos)
                ++named;
        }
        INFO(path);
        CHECK(named <= 2);
    }
    CHECK(read > 200);
}

TEST_CASE("a tab of a newer program opens as the first tab, with a message, and its saved state is kept") {
    Driver d("pre-ln-layer");
    const TemporaryFolder folder;
    const std::string path = folder.file("newer.dscope");
    write_bytes(path, R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"},
                          "tab": "gradients", "labs": {"gradients": {"of": "loss"}}})");
    d.session.apply(command::OpenSession{path});
    d.settle();
    CHECK(d.state.tab == kStepLab);
    REQUIRE(d.session.message());
    CHECK(d.session.message()->text.english().find("gradients") != std::string::npos);
    d.session.apply(command::SaveSession{path, saved_view(d.state)});
    d.session.finish();
    CHECK(read_bytes(path).find(R"("gradients": {"of": "loss"})") != std::string::npos);
}
