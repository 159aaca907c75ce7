// The lessons that come with the program, played as a learner plays them: every wrong answer first, then the right one,
// through the window's commands. What is right is written down or computed here, not taken from the lesson.
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/player.h"
#include "app/views/frame/tab.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/lessons/learner.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core::checks;

namespace {

std::vector<std::string_view> tab_ids() {
    std::vector<std::string_view> ids;
    for (const TabPage& way : ways_in()) ids.push_back(way.id);
    return ids;
}

}  // namespace

TEST_CASE("every lesson is read, and has what the list says of it") {
    const std::vector<LessonCard> cards = lesson_cards();
    REQUIRE_FALSE(cards.empty());
    for (const LessonCard& card : cards) {
        INFO(card.name << " " << card.error);
        CHECK(card.error.empty());
        CHECK_FALSE(card.title.empty());
        CHECK_FALSE(card.summary.empty());
        CHECK(card.questions > 0);
        // Writing takes longer than reading.
        const int most = card.name.starts_with("write") ? 40 : 15;
        CHECK((card.kind != LessonKind::lesson || (card.minutes >= 10 && card.minutes <= most)));
    }
}

TEST_CASE("every solution passes, every wrong answer is refused, chance seldom helps, no place points at nothing") {
    for (const LessonCard& card : looked_at(lesson_cards(), 5)) {
        const Lesson lesson = read_lesson(card.path);
        for (const Sentence& problem : check_lesson(lesson, tab_ids())) {
            INFO(problem.english());
            CHECK(false);
        }
    }
}

TEST_CASE("a translation has the same questions and numbers, and is played the same") {
    for (const LessonCard& card : looked_at(lesson_cards(), 5))
        for (const std::string& language : translations_of(card.path)) {
            const std::string path = translation_of(card.path, language);
            for (const Sentence& problem : compare_translation(card.path, path)) {
                INFO(problem.english());
                CHECK(false);
            }
            for (const Sentence& problem : check_lesson(read_lesson(path), tab_ids())) {
                INFO(problem.english());
                CHECK(false);
            }
        }
}

TEST_CASE("each lesson can be played through the window's commands, and handed in", "[.thorough]") {
    const TemporaryFolder folder;
    for (const LessonCard& card : looked_at(lesson_cards(), 3)) {
        if (card.kind != LessonKind::lesson) continue;  // the others are played above
        INFO(card.name);
        const std::shared_ptr<const Lesson> lesson = find_lesson(card.name);
        Session session(load_model("reverse"));
        Player player(lesson, {});
        play(session, player);
        CHECK(player.progress().solved_of(*lesson) == card.questions);
        const std::string path = folder.file(lesson->name + ".json");
        std::ofstream(path) << handin_text(*lesson, player.progress(), {"Ada", 7});
        const JudgedHandin judged = judge_handin(path);
        CHECK(judged.right() == card.questions);
        CHECK(testing::run({"lessons", "check", path}).status == 0);
        for (const JudgedAnswer& answer : judged.answers) {
            INFO(answer.question << ": " << answer.why);
            CHECK(answer.right);
        }
    }
}

TEST_CASE("a lesson is left and taken up where it was, and progress survives the program") {
    const TemporaryFolder folder;
    const std::string path = folder.file("config/lessons.json");
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    player.turn_to(1);
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    player.ask_hint(question);
    answer_question(session, player, question);
    player.turn_to(2);
    const Progress kept = {.learner = {"Ada", 7}, .lessons = {{lesson->name, player.progress()}}};
    save_progress(path, kept);
    const Progress read = read_progress(path);
    REQUIRE(read.lessons.contains("weight"));
    CHECK(read == kept);

    Player again(lesson, read.lessons.at("weight"));
    CHECK(again.page() == 2);
    again.turn_to(1);
    CHECK(again.open_question() == nullptr);
    CHECK(read_progress(folder.file("none")).lessons.empty());
    again.begin_again();
    CHECK(again.page() == 0);
    CHECK(again.progress().questions.empty());
}

TEST_CASE("a lesson that is taken up where another model is open opens its own again") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    const auto taken_up = [&](Session& session) {
        Player player(lesson, LessonProgress{.page = 2, .round = 0, .questions = {}});
        settle(session, player);
        return session.scenario().about().name;
    };
    Session other(load_model("induction"));
    CHECK(taken_up(other) == "reverse");
    // The learner's own text on the same model stays.
    Session same(load_model("reverse"));
    perform(same, commands_of(parse_changes("source=garden ; target=nedrag")));
    CHECK(taken_up(same) == "reverse");
    CHECK(same.scenario().inputs.encoder_tokens.dim(1) == 7);  // the mark, and six letters
}

TEST_CASE("progress of an older version is read") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    const lessons::Question& question = *questions_of(*lesson).front();
    const std::string run = run_text(*opened_for(*lesson, question));
    std::ofstream(folder.file("lessons.json"))
        << R"({"weight": {"page": 1, "questions": {"largest": {"right": true, "tries": 3, "hints": 1,
               "answer": {"kind": "number", "number": 0.95}, "run": )"
        << run << "}}}}";
    const Progress read = read_progress(folder.file("lessons.json"));
    REQUIRE(read.lessons.contains("weight"));
    CHECK(read.learner == lessons::Learner{});
    const QuestionProgress& kept = read.lessons.at("weight").questions.at("largest");
    CHECK(kept.right);
    CHECK(kept.tries == 3);
    REQUIRE(kept.given.size() == 1);
    CHECK(kept.given.front().answer == lessons::Answer(NumberAnswer{0.95}));
    // What was said then is computed again of the run that it was said of.
    Player player(lesson, read.lessons.at("weight"));
    player.turn_to(1);
    REQUIRE(player.said(question) != nullptr);
    CHECK(plain_text(player.said(question)->learned).find("0.95") != std::string::npos);
}

TEST_CASE("what is solved stays as it was said, of the run that it was said of") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("fill");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    play(session, player);
    // All of it was NaN when this was solved; the next question has cured it.
    const std::vector<const lessons::Question*> questions = questions_of(*lesson);
    const auto spread = *std::ranges::find(questions, std::string("spread"), &lessons::Question::id);
    Runs cured(session.shown().scenario, session.shown().run, player.opened());
    const std::string now = plain_text(shown(spread->learned, {cured, nullptr, &lesson->lets, &spread->lets}));
    REQUIRE(now.starts_with("0 of 17"));
    REQUIRE(player.said(*spread) != nullptr);
    CHECK(plain_text(player.said(*spread)->learned).starts_with("17 of 17"));
    // In another language it is said again, of the same run, when its page is read.
    for (std::size_t page = 0; page < lesson->pages.size(); ++page)
        for (const Block& block : lesson->pages[page].blocks)
            if (const auto* here = std::get_if<lessons::Question>(&block); here != nullptr && here->id == "spread")
                player.turn_to(page);
    player.speak(find_lesson("fill", "zh_CN"));
    const std::string chinese = plain_text(player.said(*spread)->learned);
    CHECK(player.said(*spread)->language == "zh_CN");
    CHECK(chinese.find("17") != std::string::npos);
    CHECK(chinese.find(" of ") == std::string::npos);
}

TEST_CASE("nothing in a hand-in is taken on trust") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    player.turn_to(1);
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    answer_question(session, player, question);
    LessonProgress forged = player.progress();
    const auto judged = [&](const LessonProgress& progress) {
        const std::string path = folder.file("h.json");
        std::ofstream(path) << handin_text(*lesson, progress, {});
        return judge_handin(path);
    };
    CHECK(judged(forged).right() == 1);
    CHECK(judged(forged).answers.at(1).given == false);
    forged.questions.at(question.id).given.back().answer = NumberAnswer{0.0};  // still said to be right
    CHECK(judged(forged).right() == 0);
    forged = player.progress();
    std::string& run = forged.questions.at(question.id).given.back().run;
    const std::string model = "\"bundled\":\"reverse\"";
    REQUIRE(run.find(model) != std::string::npos);
    run.replace(run.find(model), model.size(), "\"bundled\":\"reverse-post-norm\"");
    CHECK(judged(forged).right() == 0);
    std::ofstream(folder.file("no.json")) << "{}";
    CHECK_THROWS_AS(static_cast<void>(judge_handin(folder.file("no.json"))), Error);
}

TEST_CASE("no hand-in replaces another file") {
    const TemporaryFolder folder;
    Lesson lesson;
    lesson.name = "gallery/no-scale";
    std::string learner;
    const auto hand_in = [&](const std::string& text) {
        const std::string path = handin_path(folder.path(), lesson, learner, text);
        std::ofstream(path) << text;
        return std::filesystem::path(path).filename().string();
    };
    CHECK(hand_in("first") == "decoderscope-no-scale.json");
    CHECK(hand_in("second") == "decoderscope-no-scale-2.json");
    CHECK(hand_in("third") == "decoderscope-no-scale-3.json");
    CHECK(hand_in("second") == "decoderscope-no-scale-2.json");  // the same again needs no other file
    CHECK(read_text(folder.file("decoderscope-no-scale.json")) == "first");
    lesson.name = "/home/learner/my-lesson.md";
    CHECK(hand_in("x") == "decoderscope-my-lesson.json");
    learner = "Ada L. / ../7";
    CHECK(hand_in("x") == "decoderscope-my-lesson-Ada-L-7.json");
    learner = "小明";
    CHECK(hand_in("x") == "decoderscope-my-lesson-小明.json");
}

TEST_CASE("what is open is the learner's own, and a question on another model says so") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    player.turn_to(1);
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    // Their own word: the largest weight is another one, and is what the question asks for now.
    perform(session, commands_of(parse_changes("source=lamp ; target=pmal")));
    Runs runs(session.shown().scenario, session.shown().run, player.opened());
    const Scope scope{runs, nullptr, &lesson->lets, &question.lets};
    const double largest = number_of(evaluate(*parse_expression("max(row)"), scope));
    CHECK(player.answer(session, question, NumberAnswer{largest}).right);

    Player other(lesson, {});
    other.turn_to(1);
    settle(session, other);
    perform(session, {command::OpenModel{"verses", {}}});
    const lessons::Verdict verdict = other.answer(session, question, NumberAnswer{0.9});
    CHECK_FALSE(verdict.right);
    REQUIRE(verdict.replies.size() == 1);
    CHECK_FALSE(other.progress().questions.contains(question.id));  // it was no answer
    // A page's first place opens its model again.
    other.open(0);
    settle(session, other);
    CHECK(session.shown().scenario.about().name == "reverse");
}
