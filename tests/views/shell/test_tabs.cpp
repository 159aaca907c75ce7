// The list of tabs, and what follows from it: no other file says which tabs there are.
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/tab.h"
#include "app/views/shell/workspace.h"
#include "app/views/tabs/compare/tab.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;
using namespace decoderscope::views::dialogs;

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(DECODERSCOPE_TESTS_DIR).parent_path();

// "| S | Step | How is this tensor computed? |", and the same of a page, whose tab it names.
std::string row_of_keys(const TabPage& way) {
    return "| " + key_text(way.key) + " | " + std::string(find_tab(way.id)->title.english()) + " | " +
           std::string(way.question.english()) + " |\n";
}

}  // namespace

TEST_CASE("every tab has its own id, title, question and key") {
    std::set<std::string_view> ids, titles, questions;
    std::set<Key> keys;
    for (const TabPage& way : ways_in()) {
        INFO(way.id);
        CHECK(ids.insert(way.id).second);
        CHECK(titles.insert(way.title.english()).second);
        CHECK(questions.insert(way.question.english()).second);
        CHECK(std::string_view(way.question.english()).ends_with("?"));
        CHECK((way.key == Key::none || keys.insert(way.key).second));
        CHECK(find_tab(way.id) != nullptr);
    }
    for (const Tab& tab : tabs()) {
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

TEST_CASE("every tab has a tab, and is opened by its key or by that of its pages") {
    Driver d;
    std::set<std::string_view> opened;
    for (const TabPage& way : ways_in()) {
        if (way.key == Key::none) continue;
        INFO(way.id);
        d.press(way.key);
        const Tab* tab = find_tab(way.id);
        CHECK(d.state.tab == tab->id);
        opened.insert(tab->id);
        CHECK(d.sees(without_spaces(std::string(tab->title.english()))));
    }
    CHECK(opened.size() == tabs().size());
}

TEST_CASE("a page's id, which was a tab's, opens its tab there, and what such a tab saved is the tab's") {
    for (const Tab& tab : tabs())
        for (const TabPage& page : tab.pages) {
            INFO(page.id);
            Driver by_id, by_key;
            by_id.state.tab = page.id;
            by_id.settle();
            by_key.press(page.key);
            CHECK(by_id.state.tab == tab.id);
            CHECK(tab.save(by_id.state) == tab.save(by_key.state));
            CHECK(tab_label(page.title, page.question).english() ==
                  std::string(page.title.english()) + ": " + page.question.english());
        }
    CHECK(find_tab("causes") == find_tab("ask"));
}

TEST_CASE("docs/keys.md has a table of the tabs as they are") {
    const std::string page = read_bytes((kRoot / "docs/keys.md").string());
    std::string table = "| key | tab | its question |\n| --- | --- | --- |\n";
    for (const TabPage& way : ways_in())
        if (way.key != Key::none) table += row_of_keys(way);
    INFO(table);
    CHECK(page.find("\n" + table + "\n") != std::string::npos);
}

TEST_CASE("docs/keys.md names every key") {
    const std::string page = read_bytes((kRoot / "docs/keys.md").string());
    for (const Action& action : actions()) {
        if (!action.listed || action.key == Key::none) continue;
        INFO(chord_text(action) << ": " << action.label.english());
        const bool is_tab =
            std::ranges::any_of(ways_in(), [&](const TabPage& way) { return chord_text(action) == key_text(way.key); });
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
        CHECK(named <= 3);  // a question of a lesson has a key "ask"
    }
    CHECK(read > 200);
}

TEST_CASE("a tab of a newer program opens as the first tab, with a message, and its saved state is kept") {
    Driver d("pre-ln-layer");
    const TemporaryFolder folder;
    const std::string path = folder.file("newer.dscope");
    write_bytes(path, R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"},
                          "tab": "gradients", "labs": {"gradients": {"of": "loss"}}})");
    d.apply(command::OpenSession{path});
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
    check("compare", R"({"norms": {"layers": 0}})", {"norms.layers: 0", "from 1 to 36"});
    // Nothing is beyond what its control offers: 20,000 layers would take minutes and gigabytes.
    check("compare", R"({"norms": {"gradients": {"layers": 20000}}})",
          {"norms.gradients.layers: 20000", "from 1 to 18"});
    check("compare", R"({"norms": {"gradients": {"d_model": 1000000}}})",
          {"norms.gradients.d_model", "from 16 to 256"});
    check("compare", R"({"norms": {"layers": 37}})", {"norms.layers: 37", "from 1 to 36"});
    check("compare", R"({"norms": {"gain": 1e30}})", {"norms.gain", "from 0 to 2"});
    check("compare", R"({"norms": {"gain": null}})", {"norms.gain", "a number"});
    check("compare", R"({"norms": {"left": "pre", "right": "pre"}})", {"norms.right", "other than left's"});
    check("compare", R"({"norms": {"gradients": {"seeds": 0}}})", {"norms.gradients.seeds: 0", "from 1 to 10"});
    check("compare", R"({"tolerance": -1})", {"compare.tolerance"});
    check("compare", R"({"bisect": {"tolerance": 0}})", {"compare.bisect.tolerance", "above 0"});
    check("compare", R"({"bisect": {"matches": {"layer": 3}}})", {"compare.bisect.matches.layer", "a step's name"});
    check("compare", R"({"set": {"a": "1", "b": "2"}})", {"compare.set", "one configuration key"});
    check("compare", R"({"other": "norms"})", {"compare.other"});
    check("causes", R"({"page": "moves", "number": {"kind": "none"}})", {"labs.causes.number.kind"});
}

TEST_CASE("what Norms and Diff were called opens what they opened, with what 0.2.0 saved of both") {
    Driver d("pre-ln-layer");
    const TemporaryFolder folder;
    const std::string path = folder.file("old.dscope");
    const auto open = [&](const std::string& tab) {
        write_bytes(path, R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"},
                              "norms": {"view": "row", "layers": 6, "gain": 2, "shift": 1, "row": 2, "left": "peri",
                                        "right": "pre"},
                              "compare": {"with": "configuration", "tolerance": 1e-5, "set": {"activation": "gelu"}},
                              "tab": ")" +
                              tab + "\"}");
        d.apply(command::OpenSession{path});
        CHECK(d.state.tab == kCompareTab);
        const compare::CompareTabState& now = d.state.part<compare::CompareTabState>();
        CHECK(now.norms.view == compare::View::row);
        CHECK(now.norms.layers == 6);
        CHECK(now.norms.places == Places{NormPlacement::peri, NormPlacement::pre});
        CHECK(now.row == 2);
        CHECK(now.tolerance == 1e-5);
        CHECK(now.option == std::pair<std::string, std::string>{"activation", "gelu"});
        return now.against;
    };
    CHECK(open("norms") == compare::Against::norms);
    CHECK(d.session.shown().companion("norms.left")->scenario.config().placement() == NormPlacement::peri);
    d.press(Key::c);  // what it was compared with then is kept
    CHECK(d.state.part<compare::CompareTabState>().against == compare::Against::configuration);
    CHECK(open("diff") == compare::Against::configuration);
    CHECK(d.session.shown().companion("diff")->scenario.config().activation == ActivationKind::gelu);
    // Saved anew it says the same under the new name.
    d.press(Key::n);
    d.session.apply(command::SaveSession{path, saved_view(d.state)});
    d.session.finish();
    const Json saved = parse_json(read_bytes(path), message("JSON"));
    CHECK(saved["tab"] == "compare");
    CHECK(saved["compare"]["with"] == "norms");
    CHECK(saved["compare"]["other"] == "configuration");
    CHECK(saved["compare"]["norms"]["left"] == "peri");
    CHECK_FALSE(saved.contains("norms"));
}

TEST_CASE("a tab that was clicked covers nothing with its question until the mouse comes back to it") {
    Driver d("words");
    const auto title = find_text(d.seen(), "Masks");
    REQUIRE(title);
    d.point(title->middle());
    CHECK(d.sees("Whichmaskhideswhat"));
    d.click(title->middle());
    CHECK(d.state.tab == "masks");
    d.settle();
    CHECK_FALSE(d.find_on_stage("Whichmaskhideswhat"));
    d.point({title->middle().x, d.stage().high.y - 20.0F});
    d.point(title->middle());
    CHECK(d.find_on_stage("Whichmaskhideswhat"));
}
