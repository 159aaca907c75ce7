// A talk of eight states given twice, edited in between, and a picture said in words.
#include "app/core/figure/said.h"
#include "app/core/files/saved_session.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/tab.h"
#include "app/views/shell/workspace.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

TEST_CASE("a talk of eight states is given twice, with edits in between") {
    Driver d("reverse");
    std::vector<std::pair<std::string, Index>> shown;
    for (Index i = 0; i < 8; ++i) {
        d.session.apply(core::command::GoTo{i < 4 ? "blocks.0.attn.pattern" : "blocks.1.cross_attn.pattern"});
        d.session.apply(core::command::ChooseHead{i % 4});
        d.press(Key::f10);
        shown.emplace_back(d.session.step().name, d.session.cursor().place.head);
    }
    REQUIRE(d.session.talk().size() == 8);
    for (int time = 0; time < 2; ++time) {
        d.press(Key::f11);
        if (time == 1)
            for (int i = 0; i < 7; ++i) d.press(Key::page_up);
        for (std::size_t i = 0; i < 8; ++i) {
            d.settle();
            INFO(i);
            CHECK(d.session.step().name == shown[i].first);
            CHECK(d.session.cursor().place.head == shown[i].second);
            CHECK(d.session.scenario().edits.empty());
            CHECK(d.sees(std::to_string(i + 1) + "/8"));
            if (i == 3) {  // an edit, and a wrong turn
                d.session.apply(core::command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
                d.apply(core::command::GoTo{"logits"});
                d.press(Key::enter);
                d.settle();
                CHECK(d.session.scenario().edits.empty());
                CHECK(d.session.step().name == shown[i].first);
            }
            d.press(i % 2 == 0 ? Key::right : Key::page_down);
        }
        d.settle();
        CHECK(d.session.step().name == shown[7].first);  // the last one stays
        d.press(Key::escape);
        CHECK_FALSE(d.state.presenting);
    }
}

TEST_CASE("F9 says the picture, and what it says follows it") {
    Driver d("reverse");
    d.press(Key::f9);
    d.settle();
    const auto said = [&] {
        return d.session.step().name + ",batch0,head" + std::to_string(d.session.cursor().place.head);
    };
    CHECK(d.sees(said()));
    d.apply(core::command::ChooseHead{2});
    CHECK(d.sees(said()));
    d.apply(core::command::GoTo{"logits"});
    CHECK(d.sees("logits,batch0"));
    d.press(Key::f9);
    d.settle();
    CHECK_FALSE(d.sees("Thelargest"));
}

TEST_CASE("a talk is written with what each state shows, whichever its tab") {
    Driver d("reverse");
    d.session.apply(core::command::GoTo{"blocks.0.attn.pattern"});
    d.session.apply(core::command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    std::vector<core::Exhibit> shown;
    for (const Tab& tab : tabs()) {
        if (!is_about(tab, d.session)) continue;
        d.state.tab = tab.id;
        d.settle();
        d.settle();
        d.press(Key::f10);
        REQUIRE(d.state.tab == tab.id);
        shown.push_back(export_choices(d.session, d.state).front().exhibit());
    }
    const core::Talk& talk = d.session.talk();
    REQUIRE(talk.size() == shown.size());
    std::size_t of_tabs = 0;
    for (std::size_t i = 0; i < talk.size(); ++i) {
        const core::Exhibit written = shell::stage_picture(core::files::shown_state(talk[i], d.session.scenario()));
        INFO(talk[i].sentence << ": " << written.title << ", " << shown[i].title);
        CHECK(written.title == shown[i].title);
        CHECK(written.charts.size() == shown[i].charts.size());
        REQUIRE(written.panels.size() == shown[i].panels.size());
        for (std::size_t panel = 0; panel < written.panels.size(); ++panel) {
            CHECK(written.panels[panel].tensor == shown[i].panels[panel].tensor);
            // What it took is measured anew.
            if (written.panels[panel].tensor != "cost")
                CHECK(written.panels[panel].heatmap().values == shown[i].panels[panel].heatmap().values);
        }
        if (written.panels.size() + written.charts.size() > 1) ++of_tabs;
    }
    CHECK(of_tabs >= 3);  // Heads, Masks, Compare at least show more than a step
}

TEST_CASE("a talk replaces a file only when that was asked") {
    const decoderscope::testing::TemporaryFolder folder;
    decoderscope::testing::write_bytes(folder.file("mine.html"), "mine");
    Driver d("reverse");
    d.press(Key::f10);
    d.state.part<dialogs::TalkPlace>().path = folder.file("mine.html");
    d.state.show(Dialog::talk);
    d.settle();
    REQUIRE(d.click_label("Write"));
    CHECK(d.sees("alreadyexists.Replaceit?"));
    CHECK(d.last<request::WriteTalk>() == nullptr);
    REQUIRE(d.click_label("Replace"));
    REQUIRE(d.last<request::WriteTalk>() != nullptr);
    CHECK(d.last<request::WriteTalk>()->path == folder.file("mine.html"));
    CHECK(d.state.dialog == Dialog::none);
}
