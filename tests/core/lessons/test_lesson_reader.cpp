// A lesson's file: what is read from it, and how a mistake is answered: with its line.
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/exercise.h"
#include "app/core/lessons/judge.h"
#include "app/core/lessons/lesson.h"
#include "app/core/lessons/page.h"
#include "app/core/lessons/progress.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

// Line 1 is the title.
const std::string kLesson = R"(# A title

```lesson
number: 7
minutes: 5
summary: What it is about.
let: row = blocks.1.attn.pattern[0, 3, 4, :]
```

## A page

```place
title: Open it
model: induction
target: abcab
step: blocks.1.attn.pattern
cell: 0, 3, 4, 2
```

The row has *{= size(row)} weights*, and adds up to {= sum(row) | 1}.

- first
- second

```question
id: how-many
kind: predict
ask: How many keys may the last position see?
answer: 6
within: 0.5
between: 0, 10
wrong: 5
reply: One more.
hint: Count.
hint: Count again.
hint: 6.
learned: All of them.
```

The end.
)";

std::string with(std::string_view what, std::string_view instead) {
    std::string text = kLesson;
    const auto at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), instead);
}

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

std::string error_of(const std::string& text) {
    try {
        static_cast<void>(parse_lesson(text, "x.md"));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::vector<std::string> problems_of(const std::string& text) {
    static constexpr std::array<std::string_view, 2> tabs = {"step", "masks"};
    std::vector<std::string> all;
    for (const Sentence& problem : check_lesson(parse_lesson(text, "x.md"), tabs)) all.push_back(problem.english());
    return all;
}

}  // namespace

TEST_CASE("a lesson is pages of paragraphs, places and questions") {
    const Lesson lesson = parse_lesson(kLesson, "x.md");
    CHECK(plain_text(lesson.title) == "A title");
    CHECK(lesson.number == 7);
    CHECK(lesson.minutes == 5);
    REQUIRE(lesson.pages.size() == 1);
    const lessons::Page& page = lesson.pages.front();
    REQUIRE(page.blocks.size() == 6);
    const auto& place = std::get<lessons::Place>(page.blocks[0]);
    CHECK(place.model == "induction");
    CHECK(place.changes.target == "abcab");
    CHECK(place.cell.size() == 4);
    CHECK(place.line == 12);
    const auto& paragraph = std::get<Paragraph>(page.blocks[1]);
    CHECK(plain_text(paragraph.prose) == "The row has {= size(row)} weights, and adds up to {= sum(row) | 1}.");
    CHECK(std::get<Paragraph>(page.blocks[3]).kind == Paragraph::Kind::bullet);
    const auto& question = std::get<lessons::Question>(page.blocks[4]);
    CHECK(question.id == "how-many");
    CHECK(question.withheld == ClosedPanels{true, true, true});
    CHECK(std::holds_alternative<ByNumber>(question.answer));
    CHECK(problems_of(kLesson).empty());
}

TEST_CASE("its numbers are computed, and a sign of Markdown in them is arithmetic") {
    const Lesson lesson = parse_lesson(with("{= sum(row) | 1}", "{= 2 * 3 * sum(row) | 1}"), "x.md");
    Runs runs(changed(decoderscope::core::scenario_of(load_model("induction")), parse_changes("target=abcab")));
    const Shown text = shown(std::get<Paragraph>(lesson.pages[0].blocks[1]).prose, {runs, nullptr, &lesson.lets});
    CHECK(plain_text(text) == "The row has 6 weights, and adds up to 6.0.");
    CHECK(text[1].style == Span::Style::emphasis);
    // What the run doesn't have is left open.
    Runs short_one(changed(decoderscope::core::scenario_of(load_model("induction")), parse_changes("target=a")));
    CHECK(plain_text(shown(std::get<Paragraph>(lesson.pages[0].blocks[1]).prose, {short_one, nullptr, &lesson.lets})) ==
          "The row has … weights, and adds up to ….");
}

TEST_CASE("a line break in the file is a space between words, and nothing between Chinese characters") {
    const auto paragraph = [](const std::string& text) {
        const Lesson lesson = parse_lesson(with("The end.", text), "x.md");
        return plain_text(std::get<Paragraph>(lesson.pages[0].blocks[5]).prose);
    };
    CHECK(paragraph("one\ntwo") == "one two");
    CHECK(paragraph("注意\n力，\n掩码") == "注意力，掩码");
    CHECK(paragraph("*注意*\n**力**") == "注意力");
    CHECK(paragraph("分数\nsoftmax\n权重") == "分数 softmax 权重");
    CHECK(paragraph("共有\n{= size(row)}\n个") == "共有 {= size(row)} 个");
    const Lesson lesson = parse_lesson(with("hint: Count.", "hint: 数一\n  数 q\n  k。"), "x.md");
    CHECK(plain_text(std::get<lessons::Question>(lesson.pages[0].blocks[4]).hints.front()) == "数一数 q k。");
}

TEST_CASE("a note is pinned where its expressions say, as long as the run has that place") {
    const std::string note =
        "```note\nat: blocks.1.attn.pattern[0, 3, size(row) - 1, -2]\ntext: The *last* row of {= "
        "size(row)}.\n```\n\nThe end.";
    const Lesson lesson = parse_lesson(with("The end.", note), "x.md");
    CHECK(problems_of(with("The end.", note)).empty());
    const lessons::Page& page = lesson.pages.front();
    REQUIRE(page.blocks.size() == 7);
    CHECK(std::get<PinnedNote>(page.blocks[5]).line == 40);
    const auto shown_of = [&](const std::string& target) {
        Runs runs(changed(decoderscope::core::scenario_of(load_model("induction")), parse_changes("target=" + target)));
        ShownPage all;
        for (const Block& block : page.blocks) all.blocks.push_back(shown_block(lesson, block, runs));
        return all;
    };
    const ShownPage shown = shown_of("abcab");
    CHECK(lessons::notes_of(shown, 7) == Notes{{"blocks.1.attn.pattern", {0, 3, 5, 4}, "The last row of 6."}});
    CHECK(lessons::notes_of(shown, 5).empty());  // behind a question that is open
    CHECK(lessons::notes_of(shown_of("a"), 7).empty());

    const auto other = [&](std::string_view what, std::string_view instead) {
        std::string text = with("The end.", note);
        return text.replace(text.find(what), what.size(), instead);
    };
    CHECK(error_of(other("at: blocks.1.attn.pattern[0, 3, size(row) - 1, -2]\n", "")) ==
          "x.md:40: a note without a place; expected \"at: STEP\" or \"at: STEP[INDEX, …]\"");
    CHECK(error_of(other("text: The", "words: The")).find("x.md:42: ") == 0);
    CHECK(error_of(other("-2]", "-2")).find("x.md:41: ") == 0);
    CHECK(problems_of(other("at: blocks.1", "at: blocks.7")).at(0).find("x.md:40: blocks.7.attn.pattern") == 0);
    CHECK(problems_of(other("size(row) - 1", "size(row)")).at(0).find("x.md:40: blocks.1.attn.pattern: index 6") == 0);
    CHECK(problems_of(other("{= size(row)}.", "{= size(rows)}.")).size() == 1);
}

TEST_CASE("a mistake in the file is answered with its line") {
    struct Mistake {
        std::string text, begins, says;
    };
    const std::vector<Mistake> mistakes = {
        {with("# A title", "A title"), "x.md:1", "before the first page"},
        {with("minutes: 5", "minuts: 5"), "x.md:5: ", "minutes"},
        {with("number: 7", "number: seven"), "x.md:4: ", "whole number"},
        {with("let: row =", "let: 3row ="), "x.md:7: ", "NAME = EXPRESSION"},
        {with("pattern[0, 3, 4, :]\n```\n\n##", "pattern[0, 3, 4\n```\n\n##"), "x.md:7: ", "]"},
        {with("title: Open it\n", ""), "x.md:12: ", "title"},
        {with("model: induction", "modell: induction"), "x.md:14: ", "modell"},
        {with("model: induction\n", ""), "x.md:12: ", "model"},
        {with("{= size(row)}", "{= size(row}"), "x.md:20: ", "“)” is missing"},
        {with("{= size(row)}", "{= size(row) "), "x.md:20: ", "has no end"},
        {with("{= sum(row) | 1}", "{= sum(row) | 1"), "x.md:20: ", "has no end"},
        {with("{= size(row)}", "{= with('[{}]', size(row))}"), "x.md:20: ", "inside a text"},
        {with("3, 4, :]\n```\n", "3, 4, :]\n"), "x.md:11: ", "inside another"},
        {with("target: abcab", "edits: [{\"edit\": \"mask\"]"), "x.md:15: ", "JSON"},
        {with("- first", "<b>first</b>"), "x.md:22", "HTML"},
        {with("The end.", "![a picture](x.png)"), "x.md:40", "image"},
        {with("kind: predict", "kind: guess"), "x.md:27: ", "guess"},
        {with("id: how-many", "id: how many"), "x.md:26: ", "letters"},
        {with("hint: Count.\n", ""), "x.md:25: ", "2 hints"},
        {with("within: 0.5\n", ""), "x.md:25: ", "within"},
        {with("reply: One more.\n", ""), "x.md:25: ", "reply"},
        {with("between: 0, 10", "between: 0"), "x.md:31: ", "two numbers"},
        {with("learned: All", "choice: All"), "x.md:25: ", "learned"},
        {with("within: 0.5", "within: 0.5\nright: 1"), "x.md:31: ", "right"},
        {with("```question", "```questions"), "x.md:25: ", "questions"},
        {with("answer: 6", "answer 6"), "x.md:29: ", "key: value"},
        {with("## A page\n", ""), "x.md:11: ", "##"},
        {with("hint: Count.", "hint: <b>Count</b>."), "x.md:34: ", "HTML"},
        {with("answer: 6", "answr: 6"), "x.md:29: ", "answr"},
        {with("within: 0.5", "witin: 0.5"), "x.md:30: ", "witin"},
        {with("The end.", repeated("> ", 40'000) + "deep"), "x.md:40", "pieces stand in each other"},
        {with("The end.", repeated("- ", 40'000) + "deep"), "x.md:40", "pieces stand in each other"},
        {with("The end.", repeated("> 1. ", 20'000) + "deep"), "x.md:40", "pieces stand in each other"},
        {with("The end.", repeated("*a **b ", 500) + repeated("x** y*", 500)), "x.md:40", "in each other"},
        {with("The end.", repeated("![", 900) + "a" + repeated("](a)", 900)), "x.md:40", "in each other"},
        {with("The end.", repeated("![[]()", 2'000)), "x.md", "image"},
        {with("hint: Count.", "hint: " + repeated("*a **b ", 500) + repeated("x** y*", 500)),
         "x.md:34: ", "pieces stand in each other"},
        {with("{= size(row)}", "{= 1" + repeated(" + 1", 20'000) + "}"), "x.md:20: ", "too long"},
    };
    for (const Mistake& mistake : mistakes) {
        const std::string error = error_of(mistake.text);
        INFO(mistake.says << " | " << error);
        CHECK(error.starts_with(mistake.begins));
        CHECK(error.find(mistake.says) != std::string::npos);
    }
}

TEST_CASE("a lesson asks questions of other lessons again, where they were asked") {
    const auto again = [](const std::string& lines) { return with("The end.", "```again\n" + lines + "```"); };
    const Lesson lesson = parse_lesson(again("question: weight/sharper\nquestion: tokens/seal\n"), "x.md");
    const std::vector<lessons::Block>& blocks = lesson.pages[0].blocks;
    REQUIRE(blocks.size() == 9);
    const auto& place = std::get<lessons::Place>(blocks[5]);
    CHECK(plain_text(place.title) == "A weight is a comparison");
    CHECK(place.model == "reverse");
    CHECK(place.line == 41);
    const auto& sharper = std::get<lessons::Question>(blocks[6]);
    CHECK(sharper.id == "weight-sharper");
    // What it calls by a name of its own lesson, it still knows; the model of a lesson's folder is found from here.
    CHECK(sharper.lets.contains("pattern"));
    const auto& pairs = std::get<lessons::Place>(blocks[7]);
    CHECK(pairs.model == "pairs");
    CHECK_NOTHROW(lessons::scenario_of(pairs, lesson));
    CHECK(problems_of(again("question: weight/sharper\nquestion: tokens/seal\n")).empty());
    // In the language of the lesson that asks.
    const Lesson chinese = parse_lesson(again("question: weight/sharper\n"), "x.zh_CN.md");
    CHECK(plain_text(std::get<lessons::Place>(chinese.pages[0].blocks[5]).title) != plain_text(place.title));
    // They count nowhere.
    CHECK(questions_of(lesson).size() == 1);

    CHECK(error_of(again("question: sharper\n")).find("expected LESSON/ID") != std::string::npos);
    CHECK(error_of(again("question: weight/sharpr\n")).find("is “sharper” meant?") != std::string::npos);
    CHECK(error_of(again("question: wight/sharper\n")).find("is “weight” meant?") != std::string::npos);
    CHECK(error_of(again("")).find("nothing is asked again") != std::string::npos);
    CHECK(error_of(again("question: weight/sharper\nquestion: weight/sharper\n")).find("is used twice") !=
          std::string::npos);
    CHECK(error_of(again("question: weight/sharpr\n")).starts_with("x.md:41: "));
}

TEST_CASE("a lesson's file is no longer than any lesson") {
    const TemporaryFolder folder;
    write_bytes(folder.file("long.md"), kLesson + std::string(std::size_t{1} << 20, 'x'));
    CHECK_THROWS_WITH(static_cast<void>(read_lesson(folder.file("long.md"))),
                      Catch::Matchers::ContainsSubstring("long.md: too long, expected at most 1048576 bytes"));
}

TEST_CASE("all mistakes of a file are told at once, with the names that are meant") {
    std::string text = with("minutes: 5", "minuts: 5");
    const auto mistype = [&](const std::string& what, const std::string& instead) {
        REQUIRE(text.find(what) != std::string::npos);
        text.replace(text.find(what), what.size(), instead);
    };
    mistype("```place", "```plce");
    mistype("{= size(row)}", "{= size(row}");
    mistype("kind: predict", "kind: predikt");
    mistype("answer: 6", "answr: 6");
    mistype("within: 0.5", "within 0.5");
    std::vector<std::string> said;
    for (const Sentence& mistake : mistakes_in(text, "x.md")) said.push_back(mistake.english());
    const std::vector<std::pair<std::string, std::string>> expected = {
        {"x.md:5: ", "is “minutes” meant?"},  {"x.md:12: ", "is “place” meant?"},  {"x.md:20: ", "“)” is missing"},
        {"x.md:27: ", "is “predict” meant?"}, {"x.md:29: ", "is “answer” meant?"}, {"x.md:30: ", "key: value"}};
    for (const auto& [place, words] : expected) {
        INFO(place << words << " among " << said.size());
        CHECK(std::ranges::count_if(said, [place = place, words = words](const std::string& one) {
                  return one.starts_with(place) && one.find(words) != std::string::npos;
              }) == 1);
    }
    CHECK(said.size() == expected.size());
    CHECK(mistakes_in(with("minutes: 5", "minutes: 5"), "x.md").empty());
    // What a run doesn't have: the nearest name that is known.
    CHECK(problems_of(with("{= size(row)}", "{= size(rwo)}")).at(0).find("is “row” meant?") != std::string::npos);
    CHECK(problems_of(with("{= size(row)}", "{= siez(row)}")).at(0).find("is “size” meant?") != std::string::npos);
}

TEST_CASE("a wrong choice has a reply") {
    const auto choosing = [&](const std::string& rest) {
        const std::string text = with("", "");
        REQUIRE(text.find("answer: 6") != std::string::npos);
        std::string changed;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("answer:"))
                changed += "choice: Six.\nif: true\nchoice: Five.\nreply: One more.\nchoice: Four.\n" + rest;
            else if (!line.starts_with("within:") && !line.starts_with("between:") && !line.starts_with("wrong:") &&
                     !line.starts_with("reply:") && !line.starts_with("otherwise:"))
                changed += line + "\n";
        }
        return problems_of(changed);
    };
    CHECK(choosing("reply: Two more.\n").empty());
    CHECK(choosing("otherwise: Count again.\n").empty());
    const std::vector<std::string> problems = choosing("");
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().find("a wrong choice without a reply") != std::string::npos);
}

TEST_CASE("what only a run can tell is found when the lesson is played") {
    struct Mistake {
        std::string text, begins, says;
    };
    const std::vector<Mistake> mistakes = {
        {with("model: induction", "model: inducton"), "x.md:12: ", "inducton"},
        {with("step: blocks.1", "step: blocks.8"), "x.md:12: ", "blocks.8.attn.pattern"},
        {with("cell: 0, 3, 4, 2", "cell: 0, 3, 4, 22"), "x.md:12: ", "22"},
        {with("cell: 0, 3, 4, 2", "tab: mask"), "x.md:12: ", "mask"},
        {with("{= size(row)}", "{= size(rows)}"), "x.md:20: ", "rows"},
        {with("wrong: 5", "wrong: 6"), "x.md:32: ", "accepted"},
        {with("wrong: 5", "wrong: ten"), "x.md:32: ", "ten"},
        {with("within: 0.5", "within: 3"), "x.md:25: ", "random"},
        {with("between: 0, 10", "between: 0, 4"), "x.md:25: ", "between"},
        {with("hint: Count.", "hint: {= what}."), "x.md:34: ", "what"},
        {with("The end.", "```place\ntitle: There\ntab: masks\n```\n\n```place\ntitle: Nowhere\nstep: embed\n```"),
         "x.md:45: ", "tab: step"},
    };
    for (const Mistake& mistake : mistakes) {
        const std::vector<std::string> problems = problems_of(mistake.text);
        INFO(mistake.says << " | " << (problems.empty() ? "" : problems.front()));
        REQUIRE_FALSE(problems.empty());
        CHECK(problems.front().starts_with(mistake.begins));
        CHECK(problems.front().find(mistake.says) != std::string::npos);
    }
}

TEST_CASE("what is said of a run carries its proof") {
    const std::string text = "The row has";
    CHECK(problems_of(with(text, "{= sum(row) < 1.1 | holds}The row has")).empty());
    const std::vector<std::string> problems = problems_of(with(text, "{= sum(row) > 2 | holds}The row has"));
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().starts_with("x.md:20: "));
    CHECK(problems.front().find("\"sum(row) > 2\": this doesn't hold") != std::string::npos);
    // Of another text, the page says so; of another model, it doesn't know.
    const Lesson lesson = parse_lesson(with(text, "{= length() == 6 | holds}The row has"), "x.md");
    const auto& prose = std::get<Paragraph>(lesson.pages[0].blocks[1]).prose;
    const auto said = [&](const char* model, const char* changes) {
        Runs runs(changed(decoderscope::core::scenario_of(load_model(model)), parse_changes(changes)));
        const Shown all = shown(prose, {runs, nullptr, &lesson.lets});
        return std::ranges::count_if(all, &ShownSpan::is_remark);
    };
    CHECK(said("induction", "target=abcab") == 0);
    CHECK(said("induction", "target=abc") == 1);
}

TEST_CASE("in a test the stage is closed where it would show the answer") {
    const auto closes = [](const std::string& text) {
        return std::get<lessons::Question>(parse_lesson(text, "x.md").pages[0].blocks[4]).withheld.stage;
    };
    CHECK_FALSE(closes(kLesson));
    CHECK(closes(with("number: 7", "kind: test")));
    CHECK(closes(with("hint: Count.\n", "withhold: stage\nhint: Count.\n")));
    const std::string open = with("number: 7", "kind: test");
    CHECK_FALSE(closes(std::string(open).replace(open.find("hint: Count.\n"), 0, "withhold: nothing\n")));
}

TEST_CASE("nonsense that passes is a problem of the lesson") {
    const auto asks = [](const std::string& lines) {
        const std::string text = kLesson;
        const std::size_t begin = text.find("kind: predict"), end = text.find("hint: Count.");
        return problems_of(std::string(text).replace(begin, end - begin, lines));
    };
    const auto has = [](const std::vector<std::string>& problems, const char* what) {
        return std::ranges::any_of(problems,
                                   [&](const std::string& problem) { return problem.find(what) != std::string::npos; });
    };
    const std::string off = R"([{"edit": "scale_head", "attention": "blocks.1.attn", "head": 3, "factor": 0}])";
    const auto task = [&](const std::string& right, const std::string& solution) {
        return asks("kind: do\nask: Do it.\nright: " + right + "\nsolution: " + solution +
                    "\nwrong: target=cab\nreply: Not this.\n");
    };
    CHECK(has(task("norm(blocks.1.attn.z[0, 3, :, :]) == 0", off), "all heads off"));
    CHECK_FALSE(has(task("norm(blocks.1.attn.z[0, 3, :, :]) == 0 and edits() == 1", off), "nonsense"));
    CHECK(has(task("length() < 4 and tokens[0, length() - 1] != id('c')", "target=ab"), "the text \"\""));
    CHECK(has(task("length() > 10", "target=abcdefghijkl"), "a key that is held down"));
    CHECK(has(task("not all(isfinite(probs)) and edits() == 1\nbreaks: rows, finite, norms, future, masked",
                   R"([{"edit": "set_cell", "tensor": "blocks.0.attn.v", "index": [0, 0, 1, 0], "value": "nan"}])"),
              "NaN over the selected cell"));
    const auto cell = [&](const std::string& right, const std::string& solution) {
        return asks("kind: point\nask: Click it.\nright: " + right + "\nsolution: " + solution +
                    "\nwrong: blocks.1.attn.pattern[0, 0, 0, 0]\nreply: Not this.\n");
    };
    CHECK(has(cell("head == 3 and query == 4 and key == 2", "blocks.1.attn.pattern[0, 3, 4, 2]"),
              "what is selected already"));
    CHECK(
        has(cell("head == 3 and value == max(blocks.1.attn.pattern[0, 3, :, :])", "blocks.1.attn.pattern[0, 3, 0, 0]"),
            "the brightest cell on the stage"));
}

TEST_CASE("a question for a formula has right forms that are right, wrong ones that are told apart, and another text") {
    const std::string text = kLesson;
    const auto has = [&](const std::string& lines, const std::string& what) {
        const std::size_t begin = text.find("kind: predict"), end = text.find("hint: Count.");
        const std::string asked =
            std::string(text).replace(begin, end - begin, "kind: write\nask: Write it.\nstep: " + lines);
        const std::string error = error_of(asked);
        if (!error.empty()) return error.find(what) != std::string::npos;
        const std::vector<std::string> problems = problems_of(asked);
        if (what.empty()) return problems.empty();
        return std::ranges::any_of(problems,
                                   [&](const std::string& problem) { return problem.find(what) != std::string::npos; });
    };
    const std::string z = "blocks.0.attn.z\n", right = z + "solution: pattern @ v\n", on = "on: target=cab\\nbcbca\n",
                      wrong = "wrong: v\nreply: Not this.\n";
    CHECK(has(right + on + wrong, ""));
    CHECK(has(right + wrong, "no other text"));
    CHECK(has(right + "on: nowhere\n" + wrong, "\"nowhere\" is not a change"));
    CHECK(has(right + on + "wrong: v\nif: true\nreply: Not this.\n", "a wrong formula has no condition"));
    CHECK(has(z + "solution: pattern @ k\n" + on + wrong, "the solution is refused: You get "));
    CHECK(has(right + "also: pattern @ v / 2\n" + on + wrong, "the solution is refused: You get "));
    CHECK(has(right + on + wrong + "wrong: einsum(\"bhqk,bhkd->bhqd\", pattern, v)\nreply: No.\n",
              "this wrong answer is accepted"));
    CHECK(has(right + on + wrong + "wrong: pattern @ w\nreply: No.\n", "can't be read: Character 11"));
    CHECK(has(right + on + wrong + "wrong: v + 0 * v\nreply: Another.\n", "a reply that isn't its own"));
    // A step that only passes on what it reads asks for nothing.
    CHECK(has("blocks.0.resid_post\nsolution: resid_mid\n" + on + "wrong: resid_pre\nreply: No.\n", "nonsense passes"));
}

TEST_CASE("a right number that is not quite the one is told what it is") {
    const Lesson lesson = parse_lesson(
        with("answer: 6\nwithin: 0.5\nbetween: 0, 10\nwrong: 5", "answer: 0.8\nwithin: 0.1\nbetween: 0, 1\nwrong: 0.5"),
        "x.md");
    Runs runs(changed(decoderscope::core::scenario_of(load_model("induction")), parse_changes("target=abcab")));
    const auto& question = std::get<lessons::Question>(lesson.pages[0].blocks[4]);
    const auto learned = [&](double number) {
        return plain_text(said_of({lesson, question, runs, nullptr}, NumberAnswer{number}).learned);
    };
    CHECK(learned(0.88).starts_with("Near enough: it is 0.8. "));
    CHECK(learned(0.801).find("Near enough") == std::string::npos);
}

TEST_CASE("a lesson limits answers and hints, and has versions") {
    const auto headed = [](const std::string& keys) { return with("minutes: 5", "minutes: 5\n" + keys); };
    const Lesson strict = parse_lesson(headed("tries: 2\nhints: 1"), "x.md");
    CHECK(strict.tries == 2);
    CHECK(strict.hints == 1);
    const auto& question = std::get<lessons::Question>(strict.pages[0].blocks[4]);
    LessonProgress progress;
    CHECK(answers_left(strict, question, progress) == std::size_t{2});
    progress.questions[question.id].tries = 2;
    CHECK(is_over(strict, question, progress));
    CHECK_FALSE(progress.solved(question.id));
    CHECK(error_of(headed("versions: many")).find("many") != std::string::npos);
    CHECK(error_of(with("answer: 6", "answer: 6\nversion: 2")).find("version") != std::string::npos);

    // `version` is a number in expressions, and a block may stand in one version only.
    std::string text = headed("versions: 2");
    const std::string answer = "answer: 6\n";
    text.replace(text.find(answer), answer.size(), "answer: pick(version, 6, 7)\n");
    text.replace(text.find("The end."), 8, "```place\ntitle: Only there\nversion: 1\ntab: step\n```");
    const auto lesson = std::make_shared<const Lesson>(parse_lesson(text, "x.md"));
    Runs runs(changed(decoderscope::core::scenario_of(load_model("induction")), parse_changes("target=abcab")));
    std::vector<std::size_t> blocks;
    for (int version = 0; version < 2; ++version) {
        const Lesson one = in_version(*lesson, version);
        const auto& asked = std::get<lessons::Question>(one.pages[0].blocks[4]);
        CHECK(judge({one, asked, runs, nullptr}, NumberAnswer{version == 0 ? 6.0 : 7.0}).right);
        CHECK_FALSE(judge({one, asked, runs, nullptr}, NumberAnswer{version == 0 ? 7.0 : 6.0}).right);
        std::size_t count = 0;
        for (const Page& page : one.pages) count += page.blocks.size();
        blocks.push_back(count);
    }
    CHECK(blocks[1] == blocks[0] + 1);
    // Each time that it is begun again, another one; each learner has one, and all of them are given out.
    std::array<int, 2> given{};
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const int first = version_for(*lesson, seed, 0);
        CHECK(version_for(*lesson, seed, 1) == 1 - first);
        CHECK(lesson_for(lesson, seed, 0)->version == first);
        ++given[static_cast<std::size_t>(first)];
    }
    CHECK(std::abs(given[0] - 50) < 20);
}

TEST_CASE("what can't be opened is said once, and a letter that isn't there is found") {
    const std::vector<std::string> one = problems_of(with("model: induction", "model: no-such-model"));
    REQUIRE(one.size() == 1);
    CHECK(one.front().find("no-such-model") != std::string::npos);
    const std::vector<std::string> none = problems_of(with("hint: Count.", "hint: At {= find('z', 0)}."));
    REQUIRE(none.size() == 1);
    CHECK(none.front().find("no such token") != std::string::npos);
}

TEST_CASE("a percentage without its sign is told from a wrong share") {
    const Lesson lesson = parse_lesson(
        with("answer: 6\nwithin: 0.5\nbetween: 0, 10\nwrong: 5", "answer: 0.25\nwithin: 0.05\nbetween: 0, 1\nwrong: 1"),
        "x.md");
    Runs runs(changed(decoderscope::core::scenario_of(load_model("induction")), parse_changes("target=abcab")));
    const auto& question = std::get<lessons::Question>(lesson.pages[0].blocks[4]);
    const auto said = [&](double number) {
        const lessons::Verdict verdict = judge({lesson, question, runs, nullptr}, NumberAnswer{number});
        CHECK_FALSE(verdict.right);
        return plain_text(verdict.replies.at(0));
    };
    CHECK(said(25.0).find("percent") != std::string::npos);
    CHECK(said(1.0) == "One more.");
    CHECK(said(0.6).find("percent") == std::string::npos);
}

TEST_CASE("an action doesn't pass if it breaks a check that held, unless the question says that it may") {
    const std::string action = R"(id: how-many
kind: do
ask: Change something.
right: edits() > 0
solution: [{"edit": "scale_head", "attention": "blocks.0.attn", "head": 1, "factor": 0}]
wrong: target=abcabc
reply: That is no edit.
hint: 1
hint: 2
hint: 3
learned: Changed.
)";
    const std::size_t begins = kLesson.find("id: how-many"), ends = kLesson.find("```\n\nThe end.");
    const auto passes = [&](const std::string& more, const std::string& changes) {
        const Lesson lesson = parse_lesson(kLesson.substr(0, begins) + action + more + kLesson.substr(ends), "x.md");
        const auto opened = std::make_shared<const Scenario>(
            changed(decoderscope::core::scenario_of(load_model("induction")), parse_changes("target=abcab")));
        Runs runs(changed(*opened, parse_changes(changes)), nullptr, opened);
        const auto& question = std::get<lessons::Question>(lesson.pages[0].blocks[4]);
        return judge({lesson, question, runs, opened.get()}, RunAnswer{});
    };
    const std::string off = R"([{"edit": "scale_head", "attention": "blocks.1.attn", "head": 0, "factor": 0}])";
    const std::string leak =
        R"([{"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": "*", "query": 1, "key": 4, "keep": true}])";
    CHECK(passes("", off).right);
    const lessons::Verdict verdict = passes("", leak);
    CHECK_FALSE(verdict.right);
    CHECK(plain_text(verdict.replies.at(0)).find("Nothing from the future moves the past") != std::string::npos);
    CHECK_FALSE(passes("breaks: rows, finite\n", leak).right);
    CHECK(passes("breaks: future\n", leak).right);
    // A lesson whose solution breaks a check is told so, with the reason.
    std::string broken = action;
    const std::string solution = "solution: ";
    const std::size_t at = broken.find(solution) + solution.size();
    broken.replace(at, broken.find('\n', at) - at, leak);
    const std::vector<std::string> problems = problems_of(kLesson.substr(0, begins) + broken + kLesson.substr(ends));
    REQUIRE_FALSE(problems.empty());
    CHECK(problems.front().starts_with("x.md:25: how-many: the solution is refused: It is done, but it broke"));
    CHECK(error_of(kLesson.substr(0, begins) + action + "breaks: everything\n" + kLesson.substr(ends))
              .find("everything") != std::string::npos);
}

TEST_CASE("a translation has other words and nothing else") {
    const TemporaryFolder folder;
    const std::string path = folder.file("lesson.md"), translated = folder.file("lesson.de.md");
    const auto differences = [&](const std::string& text) {
        write_bytes(path, kLesson);
        write_bytes(translated, text);
        std::vector<std::string> all;
        for (const Sentence& one : compare_translation(path, translated)) all.push_back(one.english());
        return all;
    };
    CHECK(differences(with("hint: Count.", "hint: Zähle.")).empty());
    CHECK(differences(with("The row has *{= size(row)} weights*, and adds up to {= sum(row) | 1}.",
                           "Die Summe ist {= sum(row) | 1} bei {= size(row)} Gewichten."))
              .empty());
    for (const std::string& text :
         {with("{= sum(row) | 1}", "1"), with("answer: 6", "answer: 7"), with("- second\n", ""),
          with("id: how-many", "id: wie-viele"), with("model: induction", "model: reverse")}) {
        const std::vector<std::string> found = differences(text);
        REQUIRE_FALSE(found.empty());
        CHECK(found.front().starts_with(translated + ":"));
    }
}

TEST_CASE("an exercise about any cell is a lesson in which nothing is wrong") {
    static constexpr std::array<std::string_view, 1> tabs = {"step"};
    for (const auto& [model, step, cell] :
         {std::tuple{"words", "blocks.1.attn.pattern", Cell{0, 2, 5, 3}},
          std::tuple{"reverse", "blocks.1.cross_attn.pattern", Cell{0, 3, 1, 6}},
          std::tuple{"verses", "blocks.0.resid_post", Cell{0, 0, 5}}, std::tuple{"verses", "logits", Cell{0, 9, 7}}}) {
        INFO(model << " " << step);
        core::Scenario scenario = core::scenario_of(load::make_bundled_model(model));
        scenario.edits.push_back(ScaleHead{"blocks.0.attn", 1, 0.0F});
        const std::shared_ptr<const Plan> plan = core::plan_of(scenario);
        const std::string text =
            exercise_about(scenario, *plan, *plan->find(step), cell, "“<bos>” looks at “*_x”", "head 2", 0.25F);
        const Lesson lesson = parse_lesson(text, "x.md");
        for (const Sentence& problem : check_lesson(lesson, tabs)) FAIL_CHECK(problem.english());
        CHECK(plain_text(lesson.title).find("“<bos>” looks at “*_x”") != std::string::npos);
        // Another block's, or another head's, says the same.
        CHECK(text.find(plan->find(step)->layer < 0
                            ? "(head 2)"
                            : "(block " + std::to_string(plan->find(step)->layer) + ", head 2)") != std::string::npos);
        const auto opened = core::lessons::scenario_of(
            std::get<core::lessons::Place>(lesson.pages.front().blocks.at(1)), lesson, nullptr);
        CHECK(opened.edits == scenario.edits);
        CHECK(std::ranges::equal(opened.inputs.tokens.values(), scenario.inputs.tokens.values()));
    }
}
