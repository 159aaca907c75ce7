// The lessons beside the stage: found, read, answered, left.
#include "app/views/lessons/lesson_page.h"
#include "app/views/lessons/lessons_panel.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <variant>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::views::lesson_panel;

// Texts on the screen are read without their spaces.
namespace {

LessonsState& panel_of(Driver& driver) { return driver.state.part<LessonsState>(); }

// The first page of a lesson, behind what it asks again.
void begin_first(Driver& driver) {
    driver.press(Key::f7);
    REQUIRE(driver.click_text("Aweightisacomparison"));
    driver.settle();
    panel_of(driver).player->turn_to(1);
    driver.settle();
}

}  // namespace

TEST_CASE("the first minute, the toolbar and F7 lead to the lessons") {
    Driver driver("reverse");
    driver.settle();
    CHECK_FALSE(panel_of(driver).open);
    REQUIRE(driver.click_label("Learn"));
    CHECK(panel_of(driver).open);
    CHECK(driver.sees("1.Fromtexttotext"));
    driver.press(Key::f7);
    CHECK_FALSE(panel_of(driver).open);
    driver.press(Key::f7);
    CHECK(panel_of(driver).open);
    REQUIRE(driver.click_label("Inspector"));
    CHECK_FALSE(driver.sees("1.Fromtexttotext"));
}

TEST_CASE("a lesson is opened in the language that is spoken, wherever it comes from") {
    Driver driver("reverse");
    driver.settle();
    speak_lessons(driver.state, "zh_CN");
    open_lesson(driver.state, lessons::find_lesson("weight"));  // as --lesson does
    CHECK(plain_text(panel_of(driver).player->lesson()->title) == "权重就是一次比较");
    speak_lessons(driver.state, "");
    CHECK(plain_text(panel_of(driver).player->lesson()->title) == "A weight is a comparison");
}

TEST_CASE("in the presentation F7 slides the lessons over the stage, and away") {
    Driver driver("reverse");
    driver.state.settings.reduced_motion = true;
    driver.press(Key::f11);
    REQUIRE_FALSE(driver.sees("1.Fromtexttotext"));
    begin_first(driver);  // by F7
    CHECK(driver.sees("Openthequery"));
    driver.press(Key::f7);
    CHECK_FALSE(driver.sees("Openthequery"));
}

TEST_CASE("a place opens its model and goes to its cell") {
    Driver driver("verses");
    driver.settle();
    begin_first(driver);
    CHECK(driver.session.shown().scenario.about().name == "reverse");
    CHECK(driver.session.step().name == "blocks.1.cross_attn.q");
    CHECK(driver.session.cursor().cell == Cell{0, 3, 2, 0});
    CHECK(driver.sees("How"));
    // What was open before comes back by undo.
    driver.press(Key::z, with_ctrl);
    CHECK(driver.session.shown().scenario.about().name == "verses");
}

TEST_CASE("closing the lessons gives back the person's own text and step; opening them again, the lesson's") {
    Driver driver("verses");
    driver.settle();
    driver.session.apply(command::RemoveLastToken{});
    driver.session.apply(command::GoTo{"blocks.2.attn.pattern"});
    driver.apply(command::ChooseHead{2});
    const std::size_t own = driver.session.scenario().inputs.tokens.values().size();
    begin_first(driver);
    REQUIRE(driver.session.shown().scenario.about().name == "reverse");
    driver.press(Key::f7);
    driver.settle();
    CHECK(driver.session.shown().scenario.about().name == "verses");
    CHECK(driver.session.scenario().inputs.tokens.values().size() == own);
    CHECK(driver.session.step().name == "blocks.2.attn.pattern");
    CHECK(driver.session.cursor().place.head == 2);
    CHECK(driver.sees("Yourowntextisback"));
    driver.press(Key::f7);
    driver.settle();
    CHECK(driver.session.shown().scenario.about().name == "reverse");
    // What the person opens in a lesson is theirs: it stays.
    driver.apply(command::OpenModel{"words", {}});
    driver.press(Key::f7);
    driver.settle();
    CHECK(driver.session.shown().scenario.about().name == "words");
}

TEST_CASE("what a page pins is seen on the stage while the page is read, and belongs to no work") {
    const decoderscope::testing::TemporaryFolder folder;
    const std::string path = folder.file("pins.md");
    decoderscope::testing::write_bytes(path, R"(# Pins

```lesson
minutes: 1
summary: Pins.
hints: 0
```

## First

```place
title: Open it
model: reverse
tab: step
step: blocks.1.cross_attn.pattern
```

```note
at: blocks.1.cross_attn.pattern[0, 0, 1, 2]
text: Right *here*.
```

## Second

Nothing.
)");
    Driver driver("reverse", 1.0F, {1280, 1400});
    open_lesson(driver.state, lessons::find_lesson(path));
    driver.settle();
    driver.settle();
    CHECK(driver.session.lent_notes() == Notes{{"blocks.1.cross_attn.pattern", {0, 0, 1, 2}, "Right here."}});
    CHECK(driver.sees("blocks.1.cross_attn.pattern[0,0,1,2]"));
    CHECK(driver.session.notes().empty());
    CHECK(driver.session.unsaved_parts().empty());
    driver.click_text("Lessons");  // the mouse is elsewhere
    driver.point(driver.heatmap("blocks.1.cross_attn.pattern").middle(1, 2));
    const auto texts = [&] {
        return std::ranges::count_if(driver.seen(), [](const DrawnText& one) { return one.text == "Righthere."; });
    };
    CHECK(texts() == 2);  // on the page, and under the mouse
    REQUIRE(driver.click_text("blocks.1.cross_attn.pattern[0,0,1,2]"));
    CHECK(driver.session.cursor().cell == Cell{0, 0, 1, 2});
    REQUIRE(driver.click_label("Goon"));
    CHECK(driver.session.lent_notes().empty());
    REQUIRE(driver.click_label("Back"));
    driver.settle();
    CHECK(driver.session.lent_notes().size() == 1);
    driver.press(Key::f7);
    CHECK(driver.session.lent_notes().empty());
}

TEST_CASE("a wrong answer gets its reply, hints come one by one, the right one opens what follows") {
    Driver driver("reverse", 1.0F, {1280, 1400});  // all of it is on the screen, without scrolling
    driver.settle();
    begin_first(driver);
    LessonsState& panel = panel_of(driver);
    const auto answer = [&](const char* text) {
        std::ranges::fill(panel.number, '\0');
        std::copy_n(text, std::string(text).size(), panel.number.begin());
        driver.settle();
        REQUIRE(driver.click_label("Answer"));
    };
    const std::size_t shown = panel.player->shown_blocks();
    answer("0.125");
    REQUIRE(panel.verdict.has_value());
    CHECK_FALSE(panel.verdict->right);
    CHECK(driver.sees("✗"));
    REQUIRE(driver.click_label("Hint"));
    REQUIRE(driver.click_label("Anotherhint"));
    CHECK(driver.sees("Hint2"));
    CHECK_FALSE(driver.sees("Hint3"));
    CHECK(panel.player->shown_blocks() == shown);
    answer("0,95");
    CHECK(panel.player->shown_blocks() > shown);
    CHECK(driver.sees("✓"));
    CHECK(panel.progress.lessons.at("weight").solved("largest"));
    // Left, and resumed from the list.
    REQUIRE(driver.click_label("Alllessons"));
    CHECK(driver.sees("1of"));
    REQUIRE(driver.click_text("Aweightisacomparison"));
    driver.settle();
    CHECK(panel.player->progress().solved("largest"));
}

TEST_CASE("a number that was wrong is typed over at once: letters are no shortcuts meanwhile") {
    Driver driver("reverse", 1.0F, {1280, 1400});
    driver.settle();
    begin_first(driver);
    LessonsState& panel = panel_of(driver);
    const std::optional<DrawnText> answer = find_text(driver.seen(), "Answer");
    REQUIRE(answer);
    driver.click({answer->low.x - 60, answer->middle().y});
    driver.hands.type("0.125");
    driver.press(Key::enter);
    REQUIRE(panel.verdict.has_value());
    const std::string step = driver.session.step().name, tab = driver.state.tab;
    driver.press(Key::a, with_ctrl);
    driver.hands.type("0.95");
    driver.press(Key::enter);
    CHECK(panel.progress.lessons.at("weight").solved("largest"));
    CHECK(driver.session.step().name == step);
    CHECK(driver.state.tab == tab);
}

TEST_CASE("typing on after the right number presses no shortcut") {
    Driver driver("reverse", 1.0F, {1280, 2400});
    driver.settle();
    begin_first(driver);
    LessonsState& panel = panel_of(driver);
    std::ranges::copy(std::string("0.95"), panel.number.begin());
    driver.settle();
    REQUIRE(driver.click_label("Answer"));
    REQUIRE(panel.progress.lessons.at("weight").solved("largest"));
    const std::string tab = driver.state.tab;
    const auto tokens = driver.session.scenario().inputs.tokens.size();
    driver.press(Key::digit_0);
    driver.press(Key::period);
    driver.press(Key::digit_9);
    CHECK(driver.state.tab == tab);
    CHECK(driver.session.scenario().inputs.tokens.size() == tokens);
}

TEST_CASE("a real bug and a false alarm are asked in the same form") {
    for (const char* name : {"gallery/spiky", "gallery/two-gelus", "gallery/mask-of-ones"}) {
        INFO(name);
        Driver driver("reverse", 1.0F, {1280, 2400});
        driver.settle();
        driver.press(Key::f7);
        open_lesson(driver.state, lessons::find_lesson(name));
        driver.settle();
        CHECK(driver.sees("Thisstep"));
        CHECK(driver.sees("Nostep"));
        LessonsState& panel = panel_of(driver);
        const lessons::Question& question = *panel.player->open_question();
        // Without a word on the step, nothing is judged.
        panel.choice = 0;
        driver.settle();
        REQUIRE(driver.click_label("Answer"));
        CHECK_FALSE(panel.verdict.has_value());
        REQUIRE(driver.click_label("Nostep"));
        const bool harmless = std::get<lessons::ByBug>(question.answer).solution.empty();
        const auto& choices = *lessons::choices_of(question);
        for (std::size_t i = 0; i < choices.size(); ++i)
            if (choices[i].mutation == "nothing") panel.choice = i;
        driver.settle();
        REQUIRE(driver.click_label("Answer"));
        CHECK(panel.player->progress().solved(question.id) == harmless);
    }
}

TEST_CASE("the list has parts, and finds a card of any by its words") {
    Driver driver("reverse", 1.0F, {1280, 3200});
    driver.settle();
    driver.press(Key::f7);
    const auto is_lesson = [](const lessons::LessonCard& card) { return card.kind == lessons::LessonKind::lesson; };
    const auto cards = lessons::lesson_cards();
    const std::string none_of_course = "0of" + std::to_string(std::ranges::count_if(cards, is_lesson)) + "done";
    CHECK(driver.sees(none_of_course));
    CHECK(driver.sees("Aweightisacomparison"));
    REQUIRE(driver.click_label("Findthebug"));
    CHECK_FALSE(driver.sees("Aweightisacomparison"));
    const auto bugs = std::ranges::count(cards, lessons::LessonKind::bug, &lessons::LessonCard::kind);
    CHECK(driver.sees("0of" + std::to_string(bugs) + "done"));
    LessonsState& panel = panel_of(driver);
    std::ranges::copy(std::string("WEIGHT comparison"), panel.sought.begin());
    driver.settle();
    CHECK(driver.sees("Aweightisacomparison"));
    const auto seek = [&](const std::string& words) {
        panel.sought.fill('\0');
        std::ranges::copy(words, panel.sought.begin());
        driver.settle();
    };
    seek("grouped-query");  // what a lesson says, not only its title
    CHECK(driver.sees("0of1done"));
    CHECK(driver.sees("Whatamoderndecoderchanges"));
    seek("qqxz");
    CHECK(driver.sees("Nomatches"));
    REQUIRE(driver.click_label("Course"));
    CHECK(driver.sees(none_of_course));
}

TEST_CASE("an unfinished lesson is gone on with, what was answered stays to be read, and the end leads to the next") {
    Driver driver("reverse", 1.0F, {1280, 2400});
    driver.settle();
    begin_first(driver);
    LessonsState& panel = panel_of(driver);
    const lessons::Question* open = panel.player->open_question();
    REQUIRE(open != nullptr);
    CHECK(panel.player->answer(driver.session, *open, NumberAnswer{0.9}).right);
    driver.settle();
    CHECK(driver.sees("Youranswer:0.9"));
    REQUIRE(driver.click_text("Alllessons"));
    driver.settle();
    REQUIRE(driver.click_text("Goonwith3.Aweightisacomparison"));
    driver.settle();
    CHECK(driver.sees("Youranswer:0.9"));
    panel.player->turn_to(panel.player->lesson()->pages.size() - 1);
    driver.settle();
    REQUIRE(driver.click_text("Next:4.Whomaylookatwhom"));
    driver.settle();
    CHECK(panel.player->lesson()->name == "masks");
}

TEST_CASE("a question on the last page is skipped, and taken up again") {
    Driver driver("reverse", 1.0F, {1280, 2400});
    driver.settle();
    begin_first(driver);
    LessonsState& panel = panel_of(driver);
    panel.player->turn_to(panel.player->lesson()->pages.size() - 1);
    driver.settle();
    const lessons::Question* open = panel.player->open_question();
    REQUIRE(open != nullptr);
    REQUIRE(driver.click_text("Skip"));
    driver.settle();
    CHECK(panel.player->is_last_page());
    CHECK(panel.player->open_question() != open);
    CHECK_FALSE(panel.player->progress().solved(open->id));
    REQUIRE(driver.click_text("Skipped.Answeritafterall"));
    driver.settle();
    CHECK(panel.player->open_question() == open);
}

TEST_CASE("where a lesson counts answers, a question closes when they are used up, and the third hint is withheld") {
    Driver driver("reverse", 1.0F, {1280, 2400});
    driver.settle();
    driver.press(Key::f7);
    auto strict = std::make_shared<lessons::Lesson>(*lessons::find_lesson("weight"));
    strict->tries = 2;
    strict->hints = 2;
    open_lesson(driver.state, strict);
    LessonsState& panel = panel_of(driver);
    panel.player = std::make_shared<lessons::Player>(strict, lessons::LessonProgress());
    driver.settle();
    const lessons::Question& question = *panel.player->open_question();
    for (const char* hint : {"Hint", "Anotherhint"}) REQUIRE(driver.click_label(hint));
    CHECK_FALSE(driver.click_label("Anotherhint"));
    CHECK(panel.player->progress().questions.at(question.id).hints == 2);
    CHECK(driver.sees("2answersleft"));
    for (const char* wrong : {"0.11", "0.5"}) {
        CHECK(panel.player->open_question() == &question);
        panel.number.fill('\0');
        std::ranges::copy(std::string(wrong), panel.number.begin());
        driver.settle();
        REQUIRE(driver.click_label("Answer"));
    }
    CHECK(panel.player->open_question() != &question);
    CHECK_FALSE(panel.player->progress().solved(question.id));
    CHECK(driver.sees("Noanswersareleft"));
    // A right one comes too late.
    CHECK_FALSE(panel.player->answer(driver.session, question, NumberAnswer{0.95}).right);
    CHECK_FALSE(panel.player->progress().solved(question.id));
}

TEST_CASE("what a lesson says of a deed is announced beside the inspector") {
    Driver driver("reverse");
    driver.settle();
    begin_first(driver);
    LessonsState& panel = panel_of(driver);
    panel.player->turn_to(4);
    driver.settle();
    REQUIRE(std::holds_alternative<lessons::ByRun>(panel.player->open_question()->answer));
    REQUIRE(driver.click_label("Inspector"));
    const auto score = [&](float value) {
        driver.apply(command::TypeOver{"blocks.1.cross_attn.attn_scores", Cell{0, 3, 2, 1}, value});
    };
    CHECK_FALSE(driver.sees("✗notyet"));
    score(5.0F);
    CHECK(driver.sees("✗notyet"));
    score(30.0F);
    CHECK(driver.sees("✓solved"));
    REQUIRE(driver.click_text("✓solved"));
    CHECK(driver.sees("Movetheattention"));
    CHECK_FALSE(driver.sees("✓solved"));
}

TEST_CASE("columns of a table give their headings' room before a cell is cut") {
    const std::array<ColumnNeeds, 2> columns = {{{.cells = 40, .word = 30, .heading = 100}, {30, 60, 160}}};
    CHECK(column_widths(columns, 400) == std::vector<float>{100, 160});
    CHECK(column_widths(columns, 180) == std::vector<float>{70, 110});  // what is left, in the ratio of what they lack
    CHECK(column_widths(columns, 100) == std::vector<float>{40, 60});
    CHECK(column_widths(columns, 90) == std::vector<float>{40, 50});
    CHECK(column_widths({}, 90).empty());
}

TEST_CASE("no table of an exercise is cut at the panel's edge") {
    Driver driver("reverse");
    driver.settle();
    driver.press(Key::f7);
    open_lesson(driver.state, lessons::find_lesson("gallery/spiky"));
    driver.settle();
    // The probabilities have four digits at least, each row the same number.
    CHECK(driver.sees("probability"));
    CHECK(driver.sees("1.00"));
}

TEST_CASE("while a question is open, what would give it away is closed, and said to be") {
    Driver driver("reverse", 1.0F, {1280, 1000});
    driver.settle();
    begin_first(driver);
    CHECK(driver.sees("Closedwhilethisquestionisopen"));
    const std::string tab = driver.state.tab;
    driver.press(Key::v);
    CHECK(driver.state.dialog == Dialog::none);
    REQUIRE(driver.session.message().has_value());
    CHECK(driver.session.message()->text.english().find("closed") != std::string::npos);
    driver.press(Key::c);
    CHECK(driver.state.tab == tab);
    const bool norm_first = driver.session.scenario().config().norm_first;
    driver.press(Key::n, with_shift);
    CHECK(driver.session.scenario().config().norm_first == norm_first);
    // Without the lesson all of it is back.
    driver.press(Key::f7);
    driver.press(Key::v);
    CHECK(driver.state.dialog == Dialog::checks);
}

TEST_CASE("an exercise of writing a formula closes the export, too") {
    Driver driver("reverse");
    driver.settle();
    panel_of(driver).progress.lessons["write"].page = 1;
    open_lesson(driver.state, lessons::find_lesson("write"));
    driver.settle();
    REQUIRE(driver.state.withheld.formulas);
    driver.press(Key::e, with_ctrl);
    CHECK(driver.state.dialog == Dialog::none);
    driver.press(Key::f7);
    driver.press(Key::e, with_ctrl);
    CHECK(driver.state.dialog == Dialog::export_file);
}

TEST_CASE("list and lesson are laid out without overlap on every screen, dark and light") {
    for (const Screen& screen : kScreens) {
        Driver driver("reverse", screen.scale, screen.size);
        driver.state.settings.introduction_closed = true;
        driver.settle();
        driver.press(Key::f7);
        check_layout(driver, screen.size);
        for (const lessons::LessonCard& card : lessons::lesson_cards()) {
            if (card.kind == lessons::LessonKind::bug) continue;
            open_lesson(driver.state, lessons::find_lesson(card.name));
            driver.settle();
            INFO(card.name);
            check_layout(driver, screen.size);
        }
    }
}
