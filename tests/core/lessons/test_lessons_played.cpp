// The lessons that come with the program, played as a learner plays them: every wrong answer first, then the solution,
// through the window's commands.
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/player.h"
#include "app/views/frame/lab.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::lessons;
using decoderscope::testing::TemporaryFolder;

namespace {

void perform(Session& session, const std::vector<Command>& commands) {
    for (const Command& command : commands) {
        session.apply(command);
        INFO((session.message() && session.message()->failed ? session.message()->text.english() : std::string()));
        CHECK_FALSE((session.message() && session.message()->failed));
        session.finish();
    }
}

// What the window does in its frames until nothing is left to do.
void settle(Session& session, Player& player) {
    for (int frame = 0; frame < 6; ++frame) {
        session.finish();
        perform(session, player.advance(session).commands);
    }
}

// A learner at a session.
struct Learner {
    Session& session;
    Player& player;
    const lessons::Question& question;

    [[nodiscard]] Runs runs() const { return Runs(session.shown().scenario, session.shown().run, player.opened()); }
    [[nodiscard]] lessons::Spot spot(const CellAnswer& answer) const {
        Runs here = runs();
        return spot_of(answer, {here, nullptr, &player.lesson()->lets, &question.lets});
    }
    bool say(const Answer& answer) const {
        INFO(question.id);
        return player.answer(session, question, answer).right;
    }

    void operator()(const ByChoice& by) const {
        Runs here = runs();
        const std::size_t right = right_choices({*player.lesson(), question, here, player.opened().get()}).at(0);
        for (std::size_t i = 0; i < by.choices.size(); ++i)
            if (i != right) CHECK_FALSE(say(ChosenAnswer{i}));
        CHECK(say(ChosenAnswer{right}));
    }
    void operator()(const ByNumber& by) const {
        Runs here = runs();
        const Scope scope{here, nullptr, &player.lesson()->lets, &question.lets};
        for (const WrongNumber& wrong : by.wrong)
            CHECK_FALSE(say(NumberAnswer{number_of(evaluate(*wrong.number, scope))}));
        CHECK(say(NumberAnswer{number_of(evaluate(*by.answer, scope))}));
    }
    // As by clicking there: the cursor goes to the cell, and what the cursor shows is the answer.
    void go(const lessons::Spot& at) const {
        perform(session, {at.cell ? Command(command::Follow{at.step, *at.cell}) : Command(command::GoTo{at.step})});
    }
    bool point(const CellAnswer& answer) const {
        go(spot(answer));
        return say(PointedAnswer{session.step().name, session.cursor().cell});
    }
    void operator()(const ByPoint& by) const {
        for (const WrongCell& wrong : by.wrong) CHECK_FALSE(point(wrong.at));
        CHECK(point(by.solution));
    }
    void operator()(const ByRun& by) const {
        CHECK_FALSE(player.watch(session).has_value());  // nothing was done yet
        for (const WrongChange& wrong : by.wrong) {
            const std::vector<Command> commands = commands_of(wrong.changes);
            perform(session, commands);
            const std::optional<lessons::Verdict> verdict = player.watch(session);
            INFO(question.id);
            CHECK((!verdict || !verdict->right));
            for (std::size_t i = 0; i < commands.size(); ++i) perform(session, {command::Undo{}});
        }
        perform(session, commands_of(by.solution));
        const std::optional<lessons::Verdict> verdict = player.watch(session);
        INFO(question.id);
        REQUIRE(verdict.has_value());
        CHECK(verdict->right);
    }
    void operator()(const ByBug& by) const {
        Runs here = runs();
        const std::size_t right = right_choices({*player.lesson(), question, here, player.opened().get()}).at(0);
        for (std::size_t i = 0; i < by.choices.size(); ++i)
            if (i != right) CHECK_FALSE(say(BugAnswer{by.solution, i}));
        for (const WrongCell& wrong : by.wrong) CHECK_FALSE(say(BugAnswer{wrong.at.step, right}));
        if (!by.solution.empty()) go({by.solution, std::nullopt});
        CHECK(say(BugAnswer{by.solution.empty() ? "" : session.step().name, right}));
    }
};

void play(Session& session, Player& player) {
    for (std::size_t page = 0; page < player.lesson()->pages.size(); ++page) {
        player.turn_to(page);
        settle(session, player);
        while (const lessons::Question* question = player.open_question()) {
            const std::size_t shown = player.shown_blocks();
            std::visit(Learner{session, player, *question}, question->answer);
            INFO(question->id);
            REQUIRE(player.progress().solved(question->id));
            CHECK((player.shown_blocks() > shown || player.open_question() == nullptr));
            settle(session, player);
        }
        CHECK(player.shown_blocks() == player.shown_page().blocks.size());
    }
}

std::vector<std::string_view> tab_ids() {
    std::vector<std::string_view> ids;
    for (const Lab& lab : labs()) ids.push_back(lab.id);
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
        CHECK((card.kind == LessonKind::bug || (card.minutes >= 10 && card.minutes <= 15)));
    }
}

TEST_CASE("every solution passes, every wrong answer is refused, chance seldom helps, no place points at nothing") {
    for (const LessonCard& card : lesson_cards()) {
        const Lesson lesson = read_lesson(card.path);
        for (const Sentence& problem : check_lesson(lesson, tab_ids())) {
            INFO(problem.english());
            CHECK(false);
        }
    }
}

TEST_CASE("a translation has the same questions and numbers, and is played the same") {
    for (const LessonCard& card : lesson_cards())
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

TEST_CASE("each lesson can be played through the window's commands, and handed in") {
    const TemporaryFolder folder;
    for (const LessonCard& card : lesson_cards()) {
        if (card.kind == LessonKind::bug) continue;  // there are many, and they are played above
        INFO(card.name);
        const std::shared_ptr<const Lesson> lesson = find_lesson(card.name);
        Session session(load_model("reverse"));
        Player player(lesson, {});
        play(session, player);
        CHECK(player.progress().solved_of(*lesson) == card.questions);
        const std::string path = folder.file(lesson->name + ".json");
        std::ofstream(path) << handin_text(*lesson, player.progress());
        const JudgedHandin judged = judge_handin(path);
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
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    player.ask_hint(question);
    std::visit(Learner{session, player, question}, question.answer);
    player.turn_to(2);
    save_progress(path, {{lesson->name, player.progress()}});
    const Progress read = load_progress(path);
    REQUIRE(read.contains("weight"));
    CHECK(read.at("weight") == player.progress());

    Player again(lesson, read.at("weight"));
    CHECK(again.page() == 2);
    again.turn_to(0);
    CHECK(again.open_question() == nullptr);
    CHECK(load_progress(folder.file("none")).empty());
}

TEST_CASE("nothing in a hand-in is taken on trust") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    std::visit(Learner{session, player, question}, question.answer);
    LessonProgress forged = player.progress();
    const auto judged = [&](const LessonProgress& progress) {
        const std::string path = folder.file("h.json");
        std::ofstream(path) << handin_text(*lesson, progress);
        return judge_handin(path);
    };
    CHECK(judged(forged).right() == 1);
    CHECK(judged(forged).answers.at(1).given == false);
    forged.questions.at(question.id).answer = NumberAnswer{0.0};  // still said to be right
    CHECK(judged(forged).right() == 0);
    forged = player.progress();
    std::string& run = forged.questions.at(question.id).run;
    const std::string model = "\"bundled\":\"reverse\"";
    REQUIRE(run.find(model) != std::string::npos);
    run.replace(run.find(model), model.size(), "\"bundled\":\"reverse-post-norm\"");
    CHECK(judged(forged).right() == 0);
    std::ofstream(folder.file("no.json")) << "{}";
    CHECK_THROWS_AS(static_cast<void>(judge_handin(folder.file("no.json"))), Error);
}

TEST_CASE("no hand-in replaces another file") {
    const TemporaryFolder folder;
    const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    Lesson lesson;
    lesson.name = "gallery/no-scale";
    const auto hand_in = [&](const std::string& text) {
        const std::string path = handin_path(folder.path(), lesson, text);
        std::ofstream(path) << text;
        return name(path);
    };
    CHECK(hand_in("first") == "decoderscope-no-scale.json");
    CHECK(hand_in("second") == "decoderscope-no-scale-2.json");
    CHECK(hand_in("third") == "decoderscope-no-scale-3.json");
    CHECK(hand_in("second") == "decoderscope-no-scale-2.json");  // the same again needs no other file
    CHECK(read_text(folder.file("decoderscope-no-scale.json")) == "first");
    lesson.name = "/home/learner/my-lesson.md";
    CHECK(hand_in("x") == "decoderscope-my-lesson.json");
}

TEST_CASE("what is open is the learner's own, and a question on another model says so") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    // Their own word: the largest weight is another one, and is what the question asks for now.
    perform(session, commands_of(parse_changes("source=lamp ; target=pmal")));
    Runs runs(session.shown().scenario, session.shown().run, player.opened());
    const Scope scope{runs, nullptr, &lesson->lets, &question.lets};
    const double largest = number_of(evaluate(*parse_expression("max(row)"), scope));
    CHECK(player.answer(session, question, NumberAnswer{largest}).right);

    Player other(lesson, {});
    settle(session, other);
    perform(session, {command::OpenModel{"verses", {}}});
    const lessons::Verdict verdict = other.answer(session, question, NumberAnswer{0.9});
    CHECK_FALSE(verdict.right);
    REQUIRE(verdict.replies.size() == 1);
    CHECK(other.progress().questions.at(question.id).tries == 0);
    // A page's first place opens its model again.
    other.open(0);
    settle(session, other);
    CHECK(session.shown().scenario.model()->name == "reverse");
}
