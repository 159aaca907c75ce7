// The list of tabs, and what follows from it: no other file says which tabs there are.
#include "app/views/dialogs/saving.h"
#include "app/views/frame/tab.h"
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
std::string row_of_keys(const Tab& tab) {
    return "| " + key_text(tab.key) + " | " + std::string(tab.title.english()) + " | " +
           std::string(tab.question.english()) + " |\n";
}

}  // namespace

TEST_CASE("every tab has its own id, title, question and key") {
    std::set<std::string_view> ids, titles, questions;
    std::set<Key> keys;
    for (const Tab& tab : tabs()) {
        INFO(tab.id);
        CHECK(ids.insert(tab.id).second);
        CHECK(titles.insert(tab.title.english()).second);
        CHECK(questions.insert(tab.question.english()).second);
        CHECK(std::string_view(tab.question.english()).ends_with("?"));
        CHECK((tab.key == Key::none || keys.insert(tab.key).second));
        CHECK(tab.draw != nullptr);
        CHECK((tab.save == nullptr) == (tab.restore == nullptr));
        CHECK(find_tab(tab.id) == &tab);
    }
    CHECK(find_tab(kStepTab) == &tabs().front());
    CHECK(find_tab("sheets") == nullptr);
}

TEST_CASE("no two actions share a chord") {
    std::set<std::string> chords;
    for (const Action& action : actions()) {
        INFO(action.label.english());
        CHECK((action.key == Key::none || chords.insert(chord_text(action)).second));
    }
}

TEST_CASE("every tab has a tab, and is opened by its key") {
    Driver d;
    for (const Tab& tab : tabs()) {
        INFO(tab.id);
        d.hands.tap(tab.key);
        d.settle();
        CHECK(d.state.tab == tab.id);
        CHECK(d.sees(without_spaces(std::string(tab.title.english()))));
    }
}

TEST_CASE("docs/keys.md has a table of the tabs as they are") {
    const std::string page = read_bytes((kRoot / "docs/keys.md").string());
    std::string table = "| key | tab | its question |\n| --- | --- | --- |\n";
    for (const Tab& tab : tabs()) table += row_of_keys(tab);
    INFO(table);
    CHECK(page.find("\n" + table + "\n") != std::string::npos);
}

TEST_CASE("docs/keys.md names every key") {
    const std::string page = read_bytes((kRoot / "docs/keys.md").string());
    for (const Action& action : actions()) {
        if (!action.listed || action.key == Key::none) continue;
        INFO(chord_text(action) << ": " << action.label.english());
        const bool is_tab = std::ranges::any_of(
            tabs(), [&](const Tab& tab) { return tab.key == action.key && chord_text(action) == key_text(tab.key); });
        CHECK((is_tab || page.find("`" + chord_text(action) + "`") != std::string::npos));
    }
}

// The six tabs of version 1 session files are also listed in the reader of these files; that list never grows.
TEST_CASE("no other file lists the tabs") {
    const std::set<fs::path> lists = {"app/views/shell/tabs.cpp", "app/core/files/session_file_read.cpp"};
    std::size_t read = 0;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / "app")) {
        const fs::path path = fs::relative(entry.path(), kRoot);
        if ((path.extension() != ".cpp" && path.extension() != ".h") || lists.contains(path)) continue;
        ++read;
        const std::string text = read_bytes(entry.path().string());
        std::size_t named = 0;
        for (const Tab& tab : tabs()) {
            const std::string id(tab.id);
            if (text.find("\"" + id + "\"") != std::string::npos || text.find(id + "_tab()") != std::string::npos)
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
    CHECK(d.state.tab == kStepTab);
    REQUIRE(d.session.message());
    CHECK(d.session.message()->text.english().find("gradients") != std::string::npos);
    d.session.apply(command::SaveSession{path, saved_view(d.state)});
    d.session.finish();
    CHECK(read_bytes(path).find(R"("gradients": {"of": "loss"})") != std::string::npos);
}

TEST_CASE("what a tab can't have saved is named with its key and what was expected, and the tab is as at first") {
    const auto said = [](std::string_view tab, std::string_view object) {
        Driver d;
        SavedView view = saved_view(d.state);
        view.tabs[std::string(tab)] = object;
        const Commands told = show_saved(d.state, view);
        REQUIRE(told.size() == 1);
        CHECK(saved_view(d.state).tabs[std::string(tab)] == saved_view(Driver().state).tabs[std::string(tab)]);
        return as<command::Tell>(told.front())->sentence.english();
    };
    const auto check = [&](std::string_view tab, std::string_view object, const std::vector<std::string>& says) {
        const std::string sentence = said(tab, object);
        for (const std::string& part : says) {
            INFO(sentence);
            CHECK(sentence.find(part) != std::string::npos);
        }
    };
    check("norms", R"({"layers": 0})", {"norms.layers", "at least 1"});
    check("norms", R"({"gain": null})", {"norms.gain", "a number"});
    check("norms", R"({"left": "pre", "right": "pre"})", {"norms.right", "other than left's"});
    check("norms", R"({"gradients": {"seeds": 0}})", {"norms.gradients.seeds", "at least 1"});
    check("diff", R"({"tolerance": -1})", {"compare.tolerance"});
    check("diff", R"({"bisect": {"tolerance": 0}})", {"compare.bisect.tolerance", "above 0"});
    check("diff", R"({"bisect": {"matches": {"layer": 3}}})", {"compare.bisect.matches.layer", "a step's name"});
    check("diff", R"({"set": {"a": "1", "b": "2"}})", {"compare.set", "one configuration key"});
    check("causes", R"({"page": "moves", "number": {"kind": "none"}})", {"labs.causes.number.kind"});
}
