// The hand-ins of a class of thirty: three damaged, two of another lesson, one edited by hand.
#include "app/cli/lesson_grades.h"
#include "app/core/lessons/library.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/lessons/class_of_thirty.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::lessons;
using decoderscope::testing::TemporaryFolder;

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

// Twenty-four learners, four for each number of good answers from 0 to 5.
void write_class(const TemporaryFolder& folder, const Lesson& lesson) {
    for (std::size_t i = 0; i < 24; ++i) {
        const std::string name = "learner-" + std::to_string(10 + i);
        std::ofstream(folder.file(name + ".json")) << handin_text(lesson, learner_of(lesson, i % 6), {name, i + 1});
    }
    const std::shared_ptr<const Lesson> other = find_lesson("weight");
    for (const char* name : {"lost-1", "lost-2"}) {
        LessonProgress progress;
        give(*other, progress, "largest", {NumberAnswer{0.95}});
        std::ofstream(folder.file(std::string(name) + ".json")) << handin_text(*other, progress, {name, 1});
    }
    const std::string whole = handin_text(lesson, learner_of(lesson, 5), {"edited", 99});
    std::ofstream(folder.file("damaged-1.json")) << whole.substr(0, whole.size() / 2);
    std::ofstream(folder.file("damaged-2.json")) << "";
    std::ofstream(folder.file("damaged-3.json")) << R"({"format": "decoderscope-handin", "version": 2})";
    Json edited = Json::parse(whole);  // its wrong answer was made right, and a right one wrong
    edited["answers"][0]["given"][0]["answer"]["number"] = 200.0;
    std::ofstream(folder.file("edited.json")) << edited.dump();
}

const QuestionGrades& grades_of(const LessonGrades& of, const std::string& id) {
    const auto found = std::ranges::find(of.questions, id, &QuestionGrades::id);
    REQUIRE(found != of.questions.end());
    return *found;
}

}  // namespace

TEST_CASE("a class of thirty is graded; what can't be read is named, and nothing is lost", "[long]") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("masks");
    write_class(folder, *lesson);
    const ClassGrades grades = grade_folder(folder.path(), lesson);
    REQUIRE(grades.lessons.size() == 1);
    const LessonGrades& of = grades.lessons.front();
    CHECK(of.handins.size() == 25);
    CHECK(grades.foreign.size() == 2);
    CHECK(grades.foreign.front().why.find("A weight is a comparison") != std::string::npos);
    REQUIRE(grades.unreadable.size() == 3);
    for (const Ungraded& one : grades.unreadable) {
        INFO(one.file << ": " << one.why);
        CHECK(one.file.starts_with("damaged"));
        CHECK_FALSE(one.why.empty());
        CHECK(one.why.find('\n') == std::string::npos);
        CHECK(one.why.find(folder.path()) == std::string::npos);
    }
    // What was edited counts for what it says now.
    const auto edited = std::ranges::find(of.handins, "edited.json", &GradedHandin::file);
    REQUIRE(edited != of.handins.end());
    CHECK(edited->judged.right() == 4);
    CHECK(edited->judged.is_edited);
    CHECK(std::ranges::count_if(of.handins, [](const GradedHandin& h) { return h.judged.is_edited; }) == 1);
    CHECK(edited->seed == 99);
    const auto first = std::ranges::find(of.handins, "learner-10", &GradedHandin::learner);
    REQUIRE(first != of.handins.end());
    CHECK(first->judged.right() == 5);
    CHECK(first->judged.answers.at(0).tries == 2);
    CHECK_FALSE(first->judged.answers.at(0).at_first);
    CHECK(first->time.ends_with("Z"));

    // Of 24, those with more good answers than the question's number have it right at first; the edited one has all but
    // the first.
    const std::vector<std::string> asked = {"kept", "leak", "both", "unhidden", "where"};
    for (std::size_t i = 0; i < asked.size(); ++i) {
        INFO(asked[i]);
        const QuestionGrades& question = grades_of(of, asked[i]);
        const std::size_t at_first = 4 * (5 - i) + (i == 0 ? 0 : 1);
        CHECK(question.answered == 25);
        CHECK(question.right == (i == 0 ? 24U : 25U));
        CHECK(question.at_first == at_first);
        CHECK(question.difficulty == Approx(static_cast<double>(at_first) / 25.0));
        REQUIRE_FALSE(question.wrong.empty());
        CHECK(question.wrong.front().count == 24 - 4 * (5 - i));
    }
    const WrongAnswer& wrong = grades_of(of, "kept").wrong.front();
    CHECK(wrong.said == "289");
    CHECK(wrong.why == "Then there would be no mask.");
    CHECK(grades_of(of, "kept").wrong.back().said == "200");
    CHECK(grades_of(of, "leak").wrong.front().said.starts_with("Yes: the score is computed"));
    CHECK(grades_of(of, "open").answered == 0);
    CHECK_FALSE(grades_of(of, "open").discrimination.has_value());
}

TEST_CASE("difficulty, discrimination and reliability are those of the formulas") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("masks");
    // Four learners with 0, 2, 4 and 5 good answers of five: the items are 0111, 0111, 0011, 0011, 0001.
    const std::vector<std::size_t> good = {0, 2, 4, 5};
    for (const std::size_t number : good)
        std::ofstream(folder.file(std::to_string(number) + ".json"))
            << handin_text(*lesson, learner_of(*lesson, number), {std::to_string(number), 1});
    const LessonGrades of = grade_folder(folder.path(), nullptr).lessons.at(0);
    CHECK(grades_of(of, "both").difficulty == Approx(0.5));
    // "both" is 0, 0, 1, 1 against 0, 2, 3, 4 of the others: Pearson by hand, 0.625 / (0.5 · √2.1875).
    CHECK(*grades_of(of, "both").discrimination == Approx(0.625 / (0.5 * std::sqrt(2.1875))));
    // Variances: 3/16 twice, 1/4 twice, 3/16 and two of 0; of the totals 0, 2, 4, 5: 3.6875. Seven items.
    CHECK(*of.reliability == Approx(7.0 / 6.0 * (1.0 - (3 * 3.0 / 16.0 + 2 * 0.25) / 3.6875)));
}

TEST_CASE("a learner's first and last time are compared") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("masks");
    const auto hand_in = [&](const std::string& learner, std::size_t good, std::uint64_t round) {
        LessonProgress progress = learner_of(*lesson, good);
        progress.round = round;
        std::ofstream(folder.file(learner + std::to_string(round) + ".json"))
            << handin_text(*lesson, progress, {learner, 1});
    };
    hand_in("Ada", 1, 0);
    hand_in("Ada", 4, 1);
    hand_in("Bo", 2, 0);
    hand_in("Bo", 3, 2);
    hand_in("once", 5, 0);
    const LessonGrades of = grade_folder(folder.path(), lesson).lessons.at(0);
    REQUIRE(of.twice.has_value());
    CHECK(of.twice->learners == 2);
    CHECK(of.twice->before == Approx(1.5 / 7.0));  // of seven questions
    CHECK(of.twice->after == Approx(3.5 / 7.0));
    CHECK(*of.twice->gain == Approx((3.5 - 1.5) / (7.0 - 1.5)));
}

TEST_CASE("where a lesson counts answers, those beyond don't count, whatever a file holds") {
    const TemporaryFolder lessons, folder;
    const std::string text = read_text(find_lesson("masks")->path);
    const std::size_t at = text.find("minutes:");
    std::ofstream(lessons.file("strict.md")) << text.substr(0, at) << "tries: 1\n" << text.substr(at);
    const std::shared_ptr<const Lesson> strict = find_lesson(lessons.file("strict.md"));
    std::ofstream(folder.file("a.json")) << handin_text(*strict, learner_of(*strict, 3), {"Ada", 1});
    CHECK(grade_folder(folder.path(), strict).lessons.at(0).handins.at(0).judged.right() == 3);
}

TEST_CASE("a lesson from elsewhere is known by its contents, wherever it lies") {
    const TemporaryFolder here, there, handins;
    const std::string text = read_text(find_lesson("masks")->path) + "\n";
    std::ofstream(here.file("mine.md")) << text;
    std::ofstream(there.file("other-name.md")) << text;
    std::ofstream(there.file("mine.md")) << text << "\nMore.\n";
    const std::shared_ptr<const Lesson> learners = find_lesson(here.file("mine.md"));
    const std::string handed_in = handin_text(*learners, learner_of(*learners, 5), {"Ada", 1});
    CHECK(handed_in.find(here.path()) == std::string::npos);
    std::ofstream(handins.file("a.json")) << handed_in;
    const auto graded = [&](const std::string& file) { return grade_folder(handins.path(), find_lesson(file)); };
    CHECK(graded(there.file("other-name.md")).lessons.at(0).handins.at(0).judged.right() == 5);
    // Another edition of the same file is judged by what the hand-in says, and named.
    const ClassGrades edition = graded(there.file("mine.md"));
    REQUIRE(edition.lessons.size() == 1);
    CHECK(edition.lessons.at(0).handins.at(0).judged.right() == 5);
    CHECK(edition.lessons.at(0).handins.at(0).judged.remarks.at(0).find("another edition") != std::string::npos);
    std::ofstream(there.file("mine.md")) << "# Another title\n" << text.substr(text.find('\n') + 1);
    CHECK(graded(there.file("mine.md")).foreign.size() == 1);
    CHECK(grade_folder(handins.path(), nullptr).unreadable.size() == 1);  // none of the program's
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

TEST_CASE("the command prints a table, CSV and JSON, and fails where a file can't be read", "[long]") {
    const TemporaryFolder folder, out;
    write_class(folder, *find_lesson("masks"));
    const std::string csv = out.file("points.csv");
    const auto text = testing::run({"lessons", "grade", folder.path(), "--lesson", "masks", "--csv", csv});
    CHECK(text.status == 1);
    CHECK(testing::is_one_line(text.err));
    CHECK(text.err.find("3 hand-ins") != std::string::npos);
    for (const char* seen : {"25 hand-ins", "learner-10", "✓2", "damaged-2.json: ", "lost-1.json: ", "difficulty",
                             "edited.json: edited"}) {
        INFO(seen);
        CHECK(text.out.find(seen) != std::string::npos);
    }
    std::istringstream lines(read_text(csv));
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    REQUIRE(all.size() == 26);
    // The first two columns are what learning platforms import.
    CHECK(all.front() == "id,points,of,lesson,time,file,kept,future,leak,open,both,unhidden,where");
    CHECK(all.at(1).starts_with("edited,4,7,masks,"));  // e comes before l
    CHECK(all.at(2).starts_with("learner-10,5,7,masks,"));
    CHECK(all.at(1).ends_with(",edited.json,0,,1,,1,1,1"));
    CHECK(all.at(2).ends_with(",learner-10.json,1,,1,,1,1,1"));

    const auto json = testing::run({"lessons", "grade", folder.path(), "--json"});
    CHECK(json.status == 1);
    const Json read = Json::parse(json.out);
    CHECK(read.at("lessons").size() == 2);  // without --lesson both are graded
    CHECK(read.at("lessons").at(0).at("lesson") == "weight");
    CHECK(read.at("lessons").at(1).at("learners").size() == 25);
    CHECK(read.at("unreadable").size() == 3);

    CHECK(testing::run({"lessons", "grade", folder.file("nothing-here")}).status == 1);
    CHECK(testing::run({"lessons", "grade"}).status == 2);
    std::ofstream(out.file("a,b.json")) << handin_text(*find_lesson("masks"), {}, {"=1+1", 1});
    std::ostringstream written;
    cli::write_grades_csv(written, grade_folder(out.path(), nullptr));
    CHECK(written.str().find("\n'=1+1,0,7,masks,") != std::string::npos);
    CHECK(written.str().find(",\"a,b.json\"") != std::string::npos);
}

TEST_CASE("docs/lessons.md shows what is printed of a class of thirty", "[long]") {
    const TemporaryFolder folder;
    testing::write_class_of_thirty(folder.path());
    const auto printed = testing::run({"lessons", "grade", folder.path(), "--lesson", "text"});
    CHECK(printed.status == 1);
    std::istringstream out(printed.out);
    std::istringstream docs(read_text(DECODERSCOPE_TESTS_DIR "/../docs/lessons.md"));
    std::string line;
    while (std::getline(docs, line) && !line.starts_with("A class of thirty")) {
    }
    std::getline(docs, line);
    std::size_t shown = 0;
    while (std::getline(docs, line) && (line.empty() || line.starts_with("    "))) {
        if (line.empty() || line.ends_with("  …")) continue;  // "…": lines are left out here
        const std::string wanted = line.substr(4);
        ++shown;
        INFO(wanted);
        std::string found;
        while (std::getline(out, found)) {
            found.erase(found.find_last_not_of(' ') + 1);  // as in the docs
            if (found == wanted) break;
        }
        CHECK(found == wanted);
    }
    CHECK(shown > 20);
}

// To try it: test_app_core "[class]" writes the class of docs/lessons.md to the folder class-of-thirty.
TEST_CASE("a class of thirty is written to a folder", "[.][class]") {
    std::filesystem::create_directories("class-of-thirty");
    testing::write_class_of_thirty("class-of-thirty");
}
