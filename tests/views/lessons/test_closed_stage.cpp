// What a test asks can't be read off the window, and each of its items is reached.
#include "app/core/lessons/library.h"
#include "app/views/lessons/lesson_page.h"
#include "app/views/lessons/lessons_panel.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::views::lesson_panel;

namespace {

std::string item(const std::string& id) {
    return "\n```question\nid: " + id + "\nkind: predict\nask: Where does " + id +
           " look?\nanswer: 3\nwithin: 0.4\nbetween: 0, 9\nwrong: 2\nreply: No.\nlearned: There.\n```\n";
}

}  // namespace

TEST_CASE("while a test asks, the window shows no number of the run; Skip leads to the next item of the page") {
    const TemporaryFolder folder;
    const std::string path = folder.file("test.md");
    write_bytes(path,
                "# Test\n\n```lesson\nkind: test\nhints: 0\ntries: 1\nsummary: S.\n```\n\n## Page\n\n```place\n"
                "title: Open it\nmodel: reverse\ntab: step\nstep: blocks.1.cross_attn.pattern\n```\n" +
                    item("alpha") + item("beta") + "\n## Last\n\nThe end.\n");
    Driver driver("reverse", 1.0F, {1280, 1400});
    driver.settle();
    CHECK(driver.sees("100%"));
    open_lesson(driver.state, lessons::find_lesson(path));
    driver.settle();
    driver.settle();
    const auto is_closed = [&] { return driver.sees("Closedwhilethelesson'squestionisopen") && !driver.sees("100%"); };
    const auto skip = [&] {  // the button, not what is said of a question that was skipped
        const auto button = std::ranges::find_if(driver.seen(), [](const DrawnText& piece) {
            return piece.text.starts_with("Skip") && !piece.text.starts_with("Skipped");
        });
        REQUIRE(button != driver.seen().end());
        driver.click({button->low.x + 10.0F, button->middle().y});
    };
    REQUIRE(driver.sees("Wheredoesalphalook?"));
    CHECK(is_closed());
    REQUIRE(driver.click_label("Inspector"));
    driver.settle();
    CHECK_FALSE(driver.sees("blocks.1.cross_attn.pattern"));
    REQUIRE(driver.click_label("Lessons"));
    driver.settle();
    skip();
    driver.settle();
    REQUIRE(driver.sees("Wheredoesbetalook?"));
    CHECK(is_closed());
    CHECK(driver.state.part<LessonsState>().player->page() == 0);
    skip();
    driver.settle();
    CHECK_FALSE(is_closed());
    CHECK(driver.sees("100%"));
    REQUIRE(driver.click_text("Goon"));
    driver.settle();
    CHECK(driver.state.part<LessonsState>().player->page() == 1);
}

TEST_CASE("how a number is read is said before it counts") {
    Driver driver("reverse", 1.0F, {1280, 1400});
    driver.settle();
    open_lesson(driver.state, lessons::find_lesson("weight"));
    driver.settle();
    driver.settle();
    LessonsState& panel = driver.state.part<LessonsState>();
    REQUIRE(panel.player->open_question() != nullptr);
    const auto typed = [&](const std::string& text) {
        text.copy(panel.number.data(), text.size());
        panel.number[text.size()] = '\0';
        driver.settle();
    };
    typed("4,096");
    CHECK(driver.sees("Readas4096"));
    typed("4096");
    CHECK_FALSE(driver.sees("Readas"));
    typed("15 tokens");
    CHECK(driver.sees("Readas15"));
    typed("some");
    CHECK(driver.sees("Thisisnotanumber."));
}
