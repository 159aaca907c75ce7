// Lessons as pages of HTML: one language, nothing from outside, and every question that the page can judge.
#include "app/cli.h"
#include "app/core/figure/picture_files.h"
#include "app/core/files/link.h"
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::app;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string exported(const std::vector<std::string>& options) {
    const TemporaryFolder folder;
    const std::string path = folder.file("lesson.html");
    std::vector<std::string> arguments = {"lessons", "export"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--out", path});
    std::ostringstream out, err;
    const CliResult result = run_cli(arguments, out, err);
    INFO(err.str());
    REQUIRE(result.status == 0);
    return read_text(path, std::size_t{1} << 24);
}

std::size_t count_of(const std::string& part, const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

// What stands between `begin` and the next quotation mark, each time. std::regex needs a frame of the stack a letter.
std::vector<std::string> quoted(const std::string& begin, const std::string& html) {
    std::vector<std::string> texts;
    for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at)) {
        at += begin.size();
        texts.push_back(html.substr(at, html.find('"', at) - at));
    }
    return texts;
}

// What is packed in these attributes of the page.
std::vector<std::string> unpacked(const std::string& name, const std::string& html) {
    std::vector<std::string> texts;
    for (const std::string& packed : quoted(name + "=\"", html)) texts.push_back(bytes_of_base64(packed).value());
    return texts;
}

std::vector<nlohmann::json> answers_in(const std::string& html) {
    std::vector<nlohmann::json> answers;
    for (const std::string& text : unpacked("data-answer", html)) answers.push_back(nlohmann::json::parse(text));
    return answers;
}

// With those that it asks again.
std::vector<const lessons::Question*> asked_in(const Lesson& lesson) {
    std::vector<const lessons::Question*> asked;
    for (const lessons::Page& page : lesson.pages)
        for (const lessons::Block& block : page.blocks)
            if (const auto* question = std::get_if<lessons::Question>(&block)) asked.push_back(question);
    return asked;
}

}  // namespace

TEST_CASE("every lesson is a page of its own, in both languages") {
    for (const LessonCard& card : testing::looked_at(lesson_cards(), 16)) {
        if (card.kind != LessonKind::lesson) continue;
        std::vector<std::size_t> judged;
        for (const char* language : {"en", "zh_CN"}) {
            INFO(card.name << " " << language);
            const std::string html = exported({card.name, "--language", language});
            const bool chinese = std::string(language) == "zh_CN";
            CHECK_THAT(html, ContainsSubstring(chinese ? "<html lang=\"zh-CN\">" : "<html lang=\"en\">"));
            // Nothing is loaded: no address stands where a browser would follow it by itself.
            CHECK(count_of("src=", html) == 0);
            CHECK(count_of("<link", html) == 0);
            CHECK(count_of("@import", html) == 0);
            CHECK(count_of("<h1>", html) == 1);
            const auto lesson = find_lesson(card.name, chinese ? language : "");
            CHECK(count_of("<h2>", html) == lesson->pages.size());
            CHECK(count_of("<form", html) == asked_in(*lesson).size());
            CHECK(count_of(chinese ? "<legend>问题" : "<legend>Question", html) == asked_in(*lesson).size());
            const std::vector<nlohmann::json> answers = answers_in(html);
            judged.push_back(answers.size());
            // A hint, an answer and what is learned of it stand nowhere in clear.
            const std::vector<std::string> folded = unpacked("data-text", html);
            CHECK(folded.size() >= kHints * asked_in(*lesson).size());
            for (const std::string& hint : folded)
                if (hint.size() > 16 && !hint.starts_with("<figure"))  // a place may be shown again, openly
                    CHECK(html.find(hint) == std::string::npos);       // "5." may be part of a number
            for (const nlohmann::json& answer : answers)
                CHECK(html.find(answer["learned"].get<std::string>()) == std::string::npos);
            for (const nlohmann::json& answer : answers) {
                if (answer.contains("right"))
                    CHECK(answer["right"].get<std::size_t>() < answer["replies"].size());
                else
                    for (const nlohmann::json& wrong : answer["wrong"])
                        CHECK(std::abs(wrong["number"].get<double>() - answer["number"].get<double>()) >
                              answer["within"].get<double>());
            }
        }
        CHECK(judged[0] == judged[1]);
        // A page judges choices and numbers, but no formula.
        const auto is_judged = [](const auto* one) {
            return std::holds_alternative<ByChoice>(one->answer) || std::holds_alternative<ByNumber>(one->answer);
        };
        CHECK((judged[0] > 0) == std::ranges::any_of(asked_in(*find_lesson(card.name)), is_judged));
    }
}

TEST_CASE("a lesson's page shows its places, leads to them, and has versions and a key for the teacher") {
    const std::string html = exported({"weight", "--language", "en"});
    CHECK(count_of("<svg", html) > 0);
    CHECK(count_of("<a href=\"http", html) == 0);
    // A link opens the place with the lesson beside it.
    const std::string linked = exported({"weight", "--site", "https://example.org/scope/"});
    const std::vector<std::string> links = quoted("<a href=\"https://example.org/scope/", linked);
    REQUIRE_FALSE(links.empty());
    const decoderscope::core::files::SessionFile session = decoderscope::core::files::session_of_link(links.front());
    CHECK(session.run.model.bundled);
    CHECK(session.view.lesson == "weight");
    CHECK_FALSE(session.cursor.step.empty());
    // Another number, another order of the same choices.
    const auto order_of = [](const std::string& page) {
        std::string order;
        for (const std::string& choice : quoted("name=\"choice\" value=\"", page)) order += choice;
        return order;
    };
    const std::string other = exported({"weight", "--seed", "2"});
    std::string first = order_of(html), second = order_of(other);
    CHECK(first != second);
    std::ranges::sort(first);
    std::ranges::sort(second);
    CHECK(first == second);

    const std::string with_key = exported({"weight", "--answers"});
    const auto lesson = find_lesson("weight");
    const std::vector<KeyEntry> key = answer_key(*lesson);
    REQUIRE(key.size() == questions_of(*lesson).size());
    std::ostringstream printed, err;
    const std::vector<std::string> asked = {"lessons", "answers", "weight"};
    REQUIRE(run_cli(asked, printed, err).status == 0);
    for (const KeyEntry& entry : key) {
        INFO(entry.question << " = " << entry.answer);
        CHECK_FALSE(entry.answer.empty());
        CHECK_THAT(with_key,
                   ContainsSubstring("<strong>" + decoderscope::core::xml_escaped(entry.answer) + "</strong>"));
        CHECK_THAT(printed.str(), ContainsSubstring("= " + entry.answer));
    }
    CHECK(key.front().answer.starts_with("0.9"));  // the largest weight of the row, as in test_lessons_panel.cpp
}

TEST_CASE("notes are printed with their place; behind a question they are folded away like all else") {
    const TemporaryFolder folder;
    const std::string path = folder.file("pins.md");
    decoderscope::testing::write_bytes(
        path,
        "# Pins\n\n```lesson\nminutes: 1\nsummary: Pins.\nhints: 0\n```\n\n## Page\n\n```place\ntitle: Open it\n"
        "model: reverse\nstep: blocks.1.cross_attn.pattern\n```\n\n"
        "```note\nat: blocks.1.cross_attn.pattern[0, 3, 1, 1 + 1]\ntext: Before & it.\n```\n\n"
        "```question\nid: q\nkind: explain\nask: Which?\nchoice: This.\nif: true\nchoice: That.\nreply: No.\n"
        "choice: Neither.\nreply: No.\nlearned: Yes.\n```\n\n"
        "```note\nat: logits\ntext: Behind it.\n```\n");
    const std::string html = exported({path});
    CHECK_THAT(html, ContainsSubstring("<code>blocks.1.cross_attn.pattern[0, 3, 1, 2]</code> Before &amp; it."));
    CHECK(html.find("Behind it") == std::string::npos);
    const std::vector<std::string> folded = unpacked("data-text", html);
    CHECK(std::ranges::any_of(folded, [](const std::string& text) { return text.find("Behind it") < text.size(); }));
}

TEST_CASE("what a lesson says behind a question stands nowhere in clear on its page") {
    // "From text to text" shows what follows each position, after it has been asked for.
    const std::string html = exported({"text", "--language", "en"}), caption = "What each position reads";
    CHECK(count_of(caption, html) == 0);
    const std::vector<std::string> folded = unpacked("data-text", html);
    CHECK(std::ranges::count_if(folded, [&](const std::string& text) { return text.find(caption) != text.npos; }) == 1);
    // A table before the question is to be seen.
    CHECK(count_of("A small text, as words", exported({"tokens", "--language", "en"})) == 1);
}

TEST_CASE("a lesson's page is asked for in a language that it has") {
    const TemporaryFolder folder;
    const std::string path = folder.file("page.html");
    const std::vector<std::string> arguments = {"lessons", "export", "weight", "--language", "fr", "--out", path};
    std::ostringstream out, err;
    CHECK(run_cli(arguments, out, err).status != 0);
    CHECK_THAT(err.str(), ContainsSubstring("weight: not in the language fr, expected one of: en, zh_CN"));
    CHECK_FALSE(std::filesystem::exists(path));
}
