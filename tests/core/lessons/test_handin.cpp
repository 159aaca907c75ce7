// A hand-in that is judged again by itself. What a class's are made into: tests/notebook/test_grade.py.
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

const lessons::Question& question_of_id(const Lesson& lesson, const std::string& id) {
    const std::vector<const lessons::Question*> all = questions_of(lesson);
    const auto found = std::ranges::find(all, id, &lessons::Question::id);
    REQUIRE(found != all.end());
    return **found;
}

// Answers to one question, on the run that its place opens.
void give(const Lesson& lesson, LessonProgress& progress, const std::string& id, const std::vector<Answer>& answers) {
    const std::string run = run_text(*opened_for(lesson, question_of_id(lesson, id)));
    for (const Answer& answer : answers) progress.questions[id].given.push_back({answer, run, "2026-03-01T10:00:00Z"});
}

// A learner of the lesson on masks. The text has 17 tokens: 153 cells of a triangle. The first `good` of five questions
// are right at once; the others after a wrong answer.
LessonProgress learner_of(const Lesson& lesson, std::size_t good) {
    LessonProgress progress;
    const auto answered = [&](std::size_t number, const std::string& id, const Answer& right, const Answer& wrong) {
        give(lesson, progress, id, number < good ? std::vector{right} : std::vector{wrong, right});
    };
    answered(0, "kept", NumberAnswer{153.0}, NumberAnswer{289.0});
    answered(1, "leak", ChosenAnswer{2}, ChosenAnswer{0});
    answered(2, "both", ChosenAnswer{3}, ChosenAnswer{1});
    answered(3, "unhidden", ChosenAnswer{0}, ChosenAnswer{2});
    answered(4, "where", ChosenAnswer{1}, ChosenAnswer{3});
    return progress;
}

}  // namespace

TEST_CASE("lessons check of a hand-in ends with what was found of its answers") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("masks");
    const auto status_of = [&](const std::string& text) {
        std::ofstream(folder.file("a.json")) << text;
        return testing::run({"lessons", "check", folder.file("a.json")}).status;
    };
    const std::string right = handin_text(*lesson, learner_of(*lesson, 5), {"Ada", 1});  // five of seven questions
    CHECK(status_of(right) == 3);
    LessonProgress progress = learner_of(*lesson, 5);
    progress.questions["leak"].given.back().answer = ChosenAnswer{0};
    CHECK(status_of(handin_text(*lesson, progress, {"Ada", 1})) == 1);
    CHECK(status_of(right.substr(0, right.size() / 2)) == 2);
}

TEST_CASE("a hand-in of version 1 is read, and says what only it says") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("masks");
    const std::string run = run_text(*opened_for(*lesson, question_of_id(*lesson, "leak")));
    std::ofstream(folder.file("old.json")) << R"({"format": "decoderscope-handin", "version": 1, "lesson": "masks",
        "answers": [{"question": "leak", "answer": {"kind": "choice", "choice": 2}, "tries": 3, "hints": 1, "run": )"
                                           << run << "}]}";
    const JudgedHandin judged = judge_handin(folder.file("old.json"));
    CHECK(judged.right() == 1);
    const auto leak = std::ranges::find(judged.answers, "leak", &JudgedAnswer::question);
    CHECK(leak->tries == 3);
    CHECK_FALSE(leak->complete);
    CHECK_FALSE(leak->at_first);
}

TEST_CASE("a number with groups of digits counts as it was meant, in older hand-ins, too") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("modern");
    const std::string run = run_text(*opened_for(*lesson, question_of_id(*lesson, "outgrow")));
    const auto judged = [&](const Answer& answer, const char* version) {
        LessonProgress progress;
        progress.questions["outgrow"].given = {{answer, run, ""}};
        std::string text = handin_text(*lesson, progress, {"Ada", 1});
        const std::string wrote = "\"version\": 4";
        text.replace(text.find(wrote), wrote.size(), std::string("\"version\": ") + version);
        std::ofstream(folder.file("a.json")) << text;
        const JudgedHandin handin = judge_handin(folder.file("a.json"));
        return std::ranges::find(handin.answers, "outgrow", &JudgedAnswer::question)->all.at(0);
    };
    // Until version 2, 2,048 was read as 2.048.
    CHECK(judged(NumberAnswer{2.048}, "2").right);
    CHECK(judged(NumberAnswer{2.048}, "2").said.find("2,048") != std::string::npos);
    CHECK_FALSE(judged(NumberAnswer{2.048}, "3").right);
    CHECK_FALSE(judged(NumberAnswer{2.04}, "2").right);
    CHECK(judged(NumberAnswer{2048, "2,048"}, "3").right);
    CHECK(judged(NumberAnswer{2048, "2,048"}, "3").said.find("2,048") != std::string::npos);
}

TEST_CASE("whatever a hand-in holds, it is judged or refused in one sentence") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("masks");
    const Json whole = Json::parse(handin_text(*lesson, learner_of(*lesson, 5), {"Ada", 1}));
    // How many are right then; nothing: what the refusal says.
    const auto judged = [&](const std::string& text, const std::optional<std::size_t>& right, const std::string& says) {
        std::ofstream(folder.file("a.json"), std::ios::binary) << text;
        INFO(text.substr(0, 200));
        if (right) {
            CHECK(judge_handin(folder.file("a.json")).right() == *right);
            return;
        }
        CHECK_THROWS_WITH(judge_handin(folder.file("a.json")), Catch::Matchers::ContainsSubstring(says));
    };
    const auto with = [&](const char* pointer, const Json& value) {
        Json file = whole;
        file[Json::json_pointer(pointer)] = value;
        return file.dump();
    };
    const auto repeated = [](std::size_t count, const Json& value) { return Json(Json::array_t(count, value)); };
    const Json wrong = {{"answer", {{"kind", "number"}, {"number", 289.0}}}, {"run", 0}, {"time", ""}};
    judged(whole.dump(), 5, "");
    judged("\xef\xbb\xbf" + whole.dump(), 5, "");
    judged(with("/answers", repeated(2000, nullptr)), {}, "2000 questions");
    judged(with("/answers", Json::array()), 0, "");
    judged(with("/answers/0/given", repeated(75'000, wrong)), 4, "");
    judged(with("/answers/0/hints", -1), {}, "hints");
    judged(with("/answers/0/given/0/run", 99), {}, "expected less than");
    judged(with("/answers/0/given/0/answer", {{"kind", "essay"}}), {}, "essay");
    judged(with("/answers/1/given/0/answer/choice", 999), 4, "");
    judged(with("/runs", repeated(500, nullptr)), {}, "500 runs");
    judged(with("/runs", repeated(whole["runs"].size(), {1, 2})), 0, "");
    judged(with("/lesson", {{"name", "../../../etc/passwd"}, {"title", ""}, {"digest", "1"}}), {}, "handed in for");
    judged(with("/version", 99), {}, "expected 1 to");
    judged(std::string("PK\x03\x04\0\0\0word/document.xml", 25), {}, "is 0, expected a text");
    judged(std::string(17U << 20U, ' '), {}, "expected");
    judged(std::string(100'000, '['), {}, "nested");
    judged(R"({"format": "decoderscope-handin", "version": 1e999})", {}, "not valid JSON");
    CHECK_THROWS_WITH(judge_handin(folder.file("a.json"), find_lesson("weight")),
                      Catch::Matchers::ContainsSubstring("not valid JSON"));
    judged(whole.dump(), 5, "");
    CHECK(judge_handin(folder.file("a.json"), find_lesson("weight")).refused ==
          "handed in for “Who may look at whom”, not for “A weight is a comparison”");
    CHECK(judge_handin(folder.file("a.json"), lesson, 1).right() == 5);
}
