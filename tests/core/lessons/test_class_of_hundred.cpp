// A hundred hand-ins with some fifty kinds of trouble: each is graded right or named, and the others are graded.
#include "app/core/files/checksum.h"
#include "app/core/lessons/grade.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <sys/stat.h>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::lessons;
using decoderscope::testing::TemporaryFolder;

namespace {

// The right answers to five of the lesson's seven questions, each with a wrong one. Its text has 17 tokens: 153 cells
// of a triangle.
struct Item {
    const char* question;
    Answer right, wrong;
};
const std::array<Item, 5> kItems = {{{"kept", NumberAnswer{153.0}, NumberAnswer{289.0}},
                                     {"leak", ChosenAnswer{2}, ChosenAnswer{0}},
                                     {"both", ChosenAnswer{3}, ChosenAnswer{1}},
                                     {"unhidden", ChosenAnswer{0}, ChosenAnswer{2}},
                                     {"where", ChosenAnswer{1}, ChosenAnswer{3}}}};

const Lesson& masks() {
    static const std::shared_ptr<const Lesson> lesson = find_lesson("masks");
    return *lesson;
}

const lessons::Question& question_of(const std::string& id) {
    const auto all = questions_of(masks());
    return **std::ranges::find(all, id, &lessons::Question::id);
}

const std::string& run_of(const std::string& id) {
    static std::map<std::string, std::string> runs;
    std::string& run = runs[id];
    if (run.empty()) run = run_text(*opened_for(masks(), question_of(id)));
    return run;
}

// As the program signs what it writes: a learner who can do this can forge a hand-in, which counts for what it says.
std::string signed_text(Json file) {
    file.erase("checksum");
    const std::string text = file.dump(-1, ' ', false, Json::error_handler_t::replace);
    file["checksum"] = files::checksum_of(std::as_bytes(std::span(text)));
    return file.dump(1, ' ', false, Json::error_handler_t::replace);
}

// A learner whose first `good` questions are right at once, the others at the second answer.
LessonProgress answers(std::uint64_t seed, std::size_t good) {
    LessonProgress progress;
    std::uint64_t second = 0;
    const auto give = [&](const Item& item, const Answer& answer) {
        std::array<char, 32> time{};
        std::snprintf(time.data(), time.size(), "2026-03-%02dT10:%02d:%02dZ", static_cast<int>(1 + seed % 28),
                      static_cast<int>(seed / 28 % 60), static_cast<int>(7 * second++ % 60));
        progress.questions[item.question].given.push_back(
            {with_words(question_of(item.question), answer), run_of(item.question), time.data()});
    };
    for (std::size_t i = 0; i < kItems.size(); ++i) {
        if (i >= good) give(kItems[i], kItems[i].wrong);
        give(kItems[i], kItems[i].right);
    }
    return progress;
}

Json file_of(const std::string& name, std::uint64_t seed, std::size_t good = 5) {
    return Json::parse(handin_text(masks(), answers(seed, good), {name, seed}));
}

// The answer of a file to a question.
Json& given_in(Json& file, const std::string& question) {
    for (Json& answer : file["answers"])
        if (answer["question"] == question) return answer["given"];
    throw Error("no such question");
}

// A kind of trouble: how a file gets it, how many are right then (nothing: it has no grades), and what is printed in
// its line (nothing: it can't be seen, or does no harm).
struct Trouble {
    std::function<std::string(Json)> make;
    std::optional<std::size_t> right = 5;
    const char* named = "";
    std::string file = {};  // its name, if it has its own
    std::string learner = {};
};

auto with(std::function<void(Json&)> change) {
    return [change = std::move(change)](Json file) {
        change(file);
        return signed_text(std::move(file));
    };
}
auto as_is(std::string text) {
    return [text = std::move(text)](const Json&) { return text; };
}
// With one answer to a question instead.
auto answering(const std::string& question, const Json& answer) {
    return with([=](Json& file) {
        Json& given = given_in(file, question);
        given = Json::array({given.back()});
        given.front()["answer"] = answer;
    });
}
Json choice(int number, const char* says) { return {{"kind", "choice"}, {"choice", number}, {"says", says}}; }

std::vector<Trouble> troubles() {
    const auto named = [](const std::string& name) { return with([=](Json& file) { file["learner"] = name; }); };
    const std::string words = words_of((*choices_of(question_of("leak")))[2]);
    const Lesson chinese = read_lesson(translation_of(masks().path, "zh_CN"));
    const auto of_chinese = questions_of(chinese);
    const std::string chinese_words =
        words_of((*choices_of(**std::ranges::find(of_chinese, "leak", &lessons::Question::id)))[2]);
    const auto other_edition = [](Json& file) { file["lesson"]["digest"] = "0123456789abcdef"; };
    const Json whole = file_of("whole", 900);
    std::vector<Trouble> all = {
        // Names.
        {named("A\x1b[31mda"), 5, "characters that can't be shown"},
        {named("Ada\u202Etxt"), 5, "characters that can't be shown"},
        {named("Ada\nBob"), 5, "characters that can't be shown"},
        {named(std::string(10'000, 'a')), 5, "too long"},
        {named(" "), 5, "no name"},
        {named("=1+1"), 5},
        {named("Lovelace, \"Ada\""), 5},
        {named("<script>alert(1)</script>"), 5},
        {named("Sam"), 5, "another learner has this name"},
        {named("Sam"), 5, "another learner has this name"},
        {named("Namesake"), 5, "2 on the roster go by this name"},
        {named("N-2"), 5},  // the id of one of them
        {named("Stranger"), 5, "not on the roster"},
        // Answers.
        {[](const Json& file) {
             Json edited = file;
             given_in(edited, "kept").back()["answer"]["number"] = 200.0;
             return edited.dump();
         },
         4, "Edited"},
        {with([](Json& file) { given_in(file, "kept").back()["answer"]["number"] = 200.0; }), 4},
        {with([](Json& file) {
             Json& given = given_in(file, "kept");
             Json wrong = given.front();
             wrong["answer"]["number"] = 289.0;
             given.insert(given.begin(), 75'000, wrong);
         }),
         4, "75001 answers, of which the first 201 are judged"},
        {answering("leak", {{"kind", "choice"}, {"choice", 999}}), 4, "there is no such choice"},
        {answering("leak", choice(0, words.c_str())), 5, "numbered as another choice"},
        {answering("leak", choice(2, chinese_words.c_str())), 5},
        {answering("leak", {{"kind", "choice"}, {"choice", 2}}), 5},
        {answering("leak", {{"kind", "number"}, {"number", 2}}), 4, "not an answer to a question of this kind"},
        {answering("kept", {{"kind", "number"}, {"number", nullptr}}), {}, "expected a"},
        {answering("kept", {{"kind", "essay"}}), {}, "essay"},
        {with([](Json& file) {
             Json& given = given_in(file, "leak");
             Json wrong = given.front();
             wrong["answer"] = choice(0, "");
             given.push_back(wrong);
         }),
         5, "answers follow the right one"},
        {with([](Json& file) { file["answers"][0]["question"] = "nonsense"; }), 4, "which the lesson doesn't ask"},
        {with([](Json& file) { file["answers"].push_back(file["answers"][0]); }), 5, "answered in two places"},
        {with([](Json& file) { file["answers"] = Json::array(); }), 0},
        {with([](Json& file) { file["answers"][0]["hints"] = -1; }), {}, "hints"},
        {with([](Json& file) { file["answers"][0]["hints"] = 1'000'000'000; }), 5},
        {with([](Json& file) {
             file["answers"] = Json::array();
             file["answers"].get_ref<Json::array_t&>().resize(2000);
         }),
         {},
         "2000 questions"},
        // Runs.
        {with([](Json& file) {
             for (Json& run : file["runs"]) run["model"] = "reverse";
         }),
         0, "model"},
        {with([](Json& file) { given_in(file, "kept").front()["run"] = 99; }), {}, "expected less than"},
        {with([](Json& file) { file["runs"].get_ref<Json::array_t&>().resize(500); }), {}, "500 runs"},
        {with([](Json& file) {
             for (Json& run : file["runs"]) run = Json::array({1, 2});
         }),
         0, "kept: "},
        // Lessons and editions.
        {with([](Json& file) {
             file["lesson"]["name"] = "weight";
             file["lesson"]["digest"] = "1";
         }),
         {},
         "handed in for"},
        {with([](Json& file) {
             file["lesson"]["name"] = "../../../etc/passwd";
             file["lesson"]["digest"] = "1";
         }),
         {},
         "handed in for"},
        {with(other_edition), 5, "another edition"},
        {with([=](Json& file) {
             other_edition(file);
             for (Json& given : given_in(file, "leak")) given["answer"] = choice(0, words.c_str());
         }),
         5, "another edition"},
        {with([=](Json& file) {
             other_edition(file);
             for (Json& given : given_in(file, "leak")) given["answer"] = choice(2, "It is Tuesday.");
         }),
         4, "no choice here says “It is Tuesday.”"},
        {with([=](Json& file) {
             other_edition(file);
             for (Json& given : given_in(file, "leak")) given["answer"].erase("says");
         }),
         5, "known by numbers alone"},
        // Files.
        {as_is(R"({"format": "decoderscope-handin", "version": 1, "lesson": "masks", "answers": []})"), 0, "no name"},
        {with([](Json& file) { file["version"] = 99; }), {}, "expected 1 to"},
        {as_is(whole.dump().substr(0, 400)), {}, "not valid JSON"},
        {as_is(""), {}, "not valid JSON"},
        {as_is(std::string("PK\x03\x04\0\0\0word/document.xml", 25)), {}, "not valid JSON"},
        {as_is("[1, 2]"), {}, "expected what"},
        {as_is(R"({"learner": {"name": "Ada", "seed": 1}, "lessons": {}})"), {}, "format"},
        {as_is("\xef\xbb\xbf" + file_of("Bom", 901).dump()), 5},
        {as_is(std::string("\xff\xfe{\0}\0", 6)), {}, "not valid JSON"},
        {as_is(std::string(17U << 20U, ' ')), {}, "expected"},
        {as_is(std::string(100'000, '[')), {}, "nested"},
        {as_is(R"({"format": "decoderscope-handin", "format": "x"})"), {}, "format"},
        {as_is(R"({"format": "decoderscope-handin", "version": 1e999})"), {}, "not valid JSON"},
        {as_is(file_of("Capital", 902).dump()), 5, "", "ada.JSON"},
        {as_is(file_of("Text", 903).dump()), {}, "not a .json file", "decoderscope-masks-Ada.json.txt"},
        {as_is(file_of("Escape", 904).dump()), 5, "", "\x1b[2Jescape.json"},
        {as_is(file_of("Copied", 905).dump()), 5, ""},
        {with([](Json& file) {
             file = file_of("Copied", 905);
             file["learner"] = "Copier";
         }),
         5, "the same seed"},
        {with([](Json& file) {
             file = file_of("Copied", 905);
             file["learner"] = "Sly";
             file["seed"] = 906;
         }),
         5, "5 answers that are the same in the same second"},
        {as_is(file_of("Twice", 907).dump()), {}, "handed in again"},
        {as_is(file_of("Twice", 907).dump()), 5, ""},
    };
    return all;
}

// The lines that are printed of a file.
std::string lines_of(const std::string& printed, const std::string& file) {
    std::istringstream in(printed);
    std::string found, section;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("  ")) section = line;
        if (line.starts_with("  " + file + ": ")) found += section + line + "\n";
    }
    return found;
}

}  // namespace

TEST_CASE("a hundred hand-ins with fifty kinds of trouble are graded right, and each trouble is named", "[long]") {
    const TemporaryFolder folder, out;
    std::vector<Trouble> all = troubles();
    REQUIRE(all.size() >= 50);
    std::string roster = "id,name,section\nN-1,Namesake,A\nN-2,Namesake,B\n";
    std::map<std::string, std::size_t> points;  // by file
    for (std::size_t i = 0; i < 50; ++i) {
        const std::string name = "Plain " + std::to_string(10 + i);
        points["plain-" + std::to_string(10 + i) + ".json"] = 5;
        std::ofstream(folder.file("plain-" + std::to_string(10 + i) + ".json"))
            << handin_text(masks(), answers(10 + i, i % 6), {name, 10 + i});
        if (i < 48) roster += "P-" + std::to_string(i) + ",\"" + std::to_string(10 + i) + ", Plain\",A\n";
    }
    roster += "P-98,Plain 58,B\nP-99,Plain 59,B\nM-1,Missing Person,B\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string number = std::to_string(100 + i);
        if (all[i].file.empty()) all[i].file = "trouble-" + number + ".json";
        std::ofstream(folder.file(all[i].file), std::ios::binary) << all[i].make(file_of("Learner " + number, 100 + i));
    }
    std::filesystem::create_directory(folder.file("folder.json"));
    std::ofstream(folder.file("folder.json/inside.json")) << file_of("Inside", 950).dump();
    points["folder.json/inside.json"] = 5;
    std::filesystem::create_symlink("nowhere.json", folder.file("dangling.json"));
    REQUIRE(::mkfifo(folder.file("pipe.json").c_str(), 0600) == 0);
    std::ofstream(folder.file("._plain-10.json")) << std::string("\0\5\x16\7", 4);
    std::ofstream(folder.file("roster.csv")) << roster;

    const auto graded =
        testing::run({"lessons", "grade", folder.path(), "--lesson", "masks", "--roster", folder.file("roster.csv"),
                      "--csv", out.file("points.csv"), "--canvas", out.file("canvas.csv"), "--moodle",
                      out.file("moodle.csv"), "--feedback", out.file("pages")});
    CHECK(graded.status == 1);  // some can't be read
    for (const char c : graded.out) REQUIRE((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
    CHECK(graded.out.find("\u202E") == std::string::npos);

    const Roster of_class = read_roster(folder.file("roster.csv"));
    const ClassGrades grades = grade_folder(folder.path(), find_lesson("masks"), {.roster = &of_class});
    REQUIRE(grades.lessons.size() == 1);
    const LessonGrades& of = grades.lessons.front();
    std::map<std::string, std::size_t> found;
    for (const GradedHandin& handin : of.handins) found[handin.file] = handin.judged.right();
    for (const Trouble& trouble : all) {
        const std::string file = readable(trouble.file);
        const std::string lines = lines_of(graded.out, file);
        INFO(file << ": " << lines);
        if (trouble.right)
            points[file] = *trouble.right;
        else
            CHECK_FALSE(lines.empty());
        CHECK(lines.find(trouble.named) != std::string::npos);
    }
    CHECK(found == points);
    CHECK(lines_of(graded.out, "dangling.json").find("Not read") != std::string::npos);
    CHECK(lines_of(graded.out, "pipe.json").find("a pipe or a device") != std::string::npos);
    CHECK(lines_of(graded.out, "._plain-10.json").empty());
    CHECK(lines_of(graded.out, "plain-10.json").empty());
    CHECK(graded.out.find("  Missing Person (M-1), B\n") != std::string::npos);
    // 75,000 wrong answers of one learner count once: those of 40 plain learners, and these.
    REQUIRE_FALSE(of.questions.front().wrong.empty());
    CHECK(of.questions.front().wrong.front().said == "289");
    CHECK(of.questions.front().wrong.front().count < 60);
    // Files for the platforms: a line for each of the roster who handed in, and nothing of those who aren't on it.
    const std::string canvas = read_text(out.file("canvas.csv")), moodle = read_text(out.file("moodle.csv"));
    CHECK(canvas.starts_with("Student,ID,SIS User ID,SIS Login ID,Section,"));
    CHECK(canvas.find("\nPoints Possible,,,,,7\n") != std::string::npos);
    CHECK(canvas.find("\nPlain 58,,P-98,,B,5\n") != std::string::npos);
    CHECK(canvas.find("\n\"10, Plain\",,P-0,,A,5\n") != std::string::npos);
    CHECK(canvas.find("Missing Person") == std::string::npos);  // an empty field would take a grade away
    CHECK(canvas.find("Stranger") == std::string::npos);
    CHECK(moodle.starts_with("Full name,ID number,"));
    CHECK(moodle.find("\nPlain 58,P-98,5\n") != std::string::npos);
    CHECK(read_text(out.file("points.csv")).find("\n'=1+1,5,7,") != std::string::npos);
    // A page each, in which nothing of a name is markup.
    std::size_t pages = 0;
    for (const auto& entry : std::filesystem::directory_iterator(out.file("pages"))) {
        const std::string page = read_text(entry.path().string());
        CHECK(page.find("<script") == std::string::npos);
        ++pages;
    }
    CHECK(pages == of.handins.size());
}

TEST_CASE("points by the first answers, or by the first two") {
    const TemporaryFolder folder;
    std::ofstream(folder.file("a.json")) << file_of("Ada", 1, 2).dump();
    const auto right = [&](int tries) {
        return grade_folder(folder.path(), find_lesson("masks"), {.tries = tries})
            .lessons.at(0)
            .handins.at(0)
            .judged.right();
    };
    CHECK(right(0) == 5);
    CHECK(right(1) == 2);
    CHECK(right(2) == 5);
    const auto printed = testing::run({"lessons", "grade", folder.path(), "--tries", "1"});
    CHECK(printed.status == 0);
    CHECK(printed.out.find("kept: 1 of 1 right") != std::string::npos);
    CHECK(printed.out.find("both: 0 of 1 right") != std::string::npos);
    CHECK(testing::run({"lessons", "grade", folder.path(), "--tries", "0"}).status == 2);
}

TEST_CASE("pseudonyms stay the same, and no name is printed") {
    const TemporaryFolder folder, out;
    std::ofstream(folder.file("Ada.json")) << file_of("Ada", 1).dump();
    std::ofstream(folder.file("Zoe.json")) << file_of("Zoe", 2).dump();
    const std::vector<std::string> command = {
        "lessons", "grade", folder.path(), "--pseudonyms", out.file("names.csv"), "--csv", out.file("points.csv")};
    const auto first = testing::run(command);
    CHECK(first.status == 0);
    const std::string names = read_text(out.file("names.csv"));
    CHECK(names.find("Ada · seed 1\n") != std::string::npos);
    std::ofstream(folder.file("Ben.json")) << file_of("Ben", 3).dump();
    const auto second = testing::run(command);
    for (const std::string& printed : {first.out, second.out, read_text(out.file("points.csv"))})
        for (const char* name : {"Ada", "Zoe", "Ben"}) CHECK(printed.find(name) == std::string::npos);
    std::istringstream lines(names);
    for (std::string line; std::getline(lines, line);)
        CHECK(read_text(out.file("names.csv")).find(line + "\n") != std::string::npos);
    std::ofstream(out.file("names.csv")) << "Ada,1\n";
    CHECK(testing::run(command).status == 1);
}

TEST_CASE("a roster is read as Canvas and Moodle export it") {
    const TemporaryFolder folder;
    const auto roster_of = [&](const std::string& text) {
        std::ofstream(folder.file("roster.csv")) << text;
        return read_roster(folder.file("roster.csv"));
    };
    const Roster canvas = roster_of(
        "Student,ID,SIS User ID,SIS Login ID,Section,Quiz (12)\n    Points Possible,,,,,10\n"
        "\"Lovelace, Ada\",71,S-1,ada@example.org,Morning,9\n");
    REQUIRE(canvas.learners.size() == 1);
    for (const char* name : {"Ada Lovelace", "ada lovelace", "Lovelace, Ada", "71", "s-1", "ada@example.org"})
        CHECK(canvas.called(name) == std::vector<std::size_t>{0});
    CHECK(canvas.called("Ada").empty());
    CHECK(canvas.called("Points Possible").empty());
    const Roster moodle = roster_of("First name,Last name,ID number,Email address\nAda,Lovelace,S-1,ada@example.org\n");
    CHECK(moodle.called("Ada Lovelace").size() == 1);
    CHECK_THROWS_AS(roster_of("Quiz,Section\n1,2\n"), Error);
    CHECK_THROWS_AS(roster_of(""), Error);
    CHECK_THROWS_AS(roster_of("id,name\n1,Ada\n1,Ben\n"), Error);
}

// What an import does with a field is read from the platforms' sources, which app/cli/gradebook.h names.
TEST_CASE("a platform's import takes no grade away, and gives none to another learner") {
    const TemporaryFolder folder, handins;
    std::ofstream(handins.file("a.json")) << file_of("ada@example.org", 1).dump();
    const auto file = [&](const std::string& option, const std::string& roster, int status = 0) {
        std::ofstream(folder.file("roster.csv")) << roster;
        const auto graded = testing::run({"lessons", "grade", handins.path(), "--roster", folder.file("roster.csv"),
                                          option, folder.file("out.csv")});
        INFO(graded.err);
        CHECK(graded.status == status);
        return read_text(folder.file("out.csv"));
    };
    // Canvas': who handed nothing in has no line, since an empty field would take away what stands there.
    CHECK(file("--canvas",
               "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
               "\"Lovelace, Ada\",71,S-1,ada@example.org,Morning\nBen,72,S-2,ben@example.org,Morning\n") ==
          "Student,ID,SIS User ID,SIS Login ID,Section,Who may look at whom\nPoints Possible,,,,,7\n"
          "\"Lovelace, Ada\",71,S-1,ada@example.org,Morning,5\n");
    // Columns as Canvas has them for a teacher who may not see SIS ids; the assignment is found by its number.
    CHECK(file("--canvas",
               "LastName,FirstName,ID,SIS Login ID,Section,Who may look at whom (9)\n"
               "Lovelace,Ada,71,ada@example.org,Morning,\n") ==
          "Student,ID,SIS Login ID,Section,Who may look at whom (9)\nPoints Possible,,,,7\n"
          "Ada Lovelace,71,ada@example.org,Morning,5\n");
    // Moodle finds a learner by the column that is chosen at the import, and where that is empty, takes the line's
    // points for the learner before. So a column that isn't full isn't written.
    std::ofstream(handins.file("b.json")) << file_of("S-2", 2).dump();
    CHECK(file("--moodle",
               "First name,Last name,ID number,Email address\n"
               "Ada,Lovelace,,ada@example.org\nBen,B,S-2,ben@example.org\nCy,C,,\n") ==
          "First name,Last name,Email address,Who may look at whom\n"
          "Ada,Lovelace,ada@example.org,5\nBen,B,ben@example.org,5\n");
    // Neither is full: who is missing in the fuller one is left out, and named.
    std::ofstream(handins.file("c.json")) << file_of("Cy C", 3).dump();
    CHECK(file("--moodle",
               "First name,Last name,ID number,Email address\n"
               "Ada,Lovelace,,ada@example.org\nBen,B,S-2,ben@example.org\nCy,C,S-3,\n",
               1)
              .find("Ada") == std::string::npos);
    // Of two lessons, the one that a learner didn't hand in keeps the grade that the exported gradebook has.
    std::ofstream(handins.file("d.json")) << handin_text(*find_lesson("weight"), {}, {"S-2", 2});
    CHECK(file("--moodle",
               "First name,Last name,ID number,Manual item: A weight is a comparison (Real)\n"
               "Ben,B,S-2,-\nCy,C,S-3,3.5\n") ==
          "First name,Last name,ID number,Manual item: A weight is a comparison (Real),Who may look at whom\n"
          "Ben,B,S-2,0,5\nCy,C,S-3,3.5,5\n");
}
