// Lessons as pages of HTML: one language, nothing from outside, and every question that the page can judge.
#include "app/cli.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::app;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core::lessons;
using Catch::Matchers::Contains;
using decoderscope::testing::TemporaryFolder;

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

// What the forms' data-answer attributes hold.
std::vector<nlohmann::json> answers_in(const std::string& html) {
    static const std::regex attribute("data-answer=\"([^\"]*)\"");
    std::vector<nlohmann::json> answers;
    for (std::sregex_iterator found(html.begin(), html.end(), attribute), end; found != end; ++found) {
        std::string json = (*found)[1];
        for (const auto& [escaped, character] :
             {std::pair{"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
            json = std::regex_replace(json, std::regex(escaped), character);
        answers.push_back(nlohmann::json::parse(json));
    }
    return answers;
}

std::size_t questions_in(const Lesson& lesson) { return questions_of(lesson).size(); }

}  // namespace

TEST_CASE("every lesson is a page of its own, in both languages") {
    for (const LessonCard& card : lesson_cards()) {
        if (card.kind != LessonKind::lesson) continue;
        std::vector<std::size_t> judged;
        for (const char* language : {"en", "zh_CN"}) {
            INFO(card.name << " " << language);
            const std::string html = exported({card.name, "--language", language});
            const bool chinese = std::string(language) == "zh_CN";
            CHECK_THAT(html, Contains(chinese ? "<html lang=\"zh-CN\">" : "<html lang=\"en\">"));
            // Nothing is loaded: no address stands where a browser would follow it by itself.
            CHECK(count_of("src=", html) == 0);
            CHECK(count_of("<link", html) == 0);
            CHECK(count_of("@import", html) == 0);
            CHECK(count_of("<h1>", html) == 1);
            const auto lesson = find_lesson(card.name, chinese ? language : "");
            CHECK(count_of("<h2>", html) == lesson->pages.size());
            CHECK(count_of("<form", html) == questions_in(*lesson));
            CHECK(count_of(chinese ? "<legend>问题" : "<legend>Question", html) == questions_in(*lesson));
            const std::vector<nlohmann::json> answers = answers_in(html);
            judged.push_back(answers.size());
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
        CHECK(judged[0] > 0);
    }
}

TEST_CASE("a lesson's page is asked for in a language that it has") {
    const TemporaryFolder folder;
    const std::string path = folder.file("page.html");
    const std::vector<std::string> arguments = {"lessons", "export", "weight", "--language", "fr", "--out", path};
    std::ostringstream out, err;
    CHECK(run_cli(arguments, out, err).status != 0);
    CHECK_THAT(err.str(), Contains("weight: not in the language fr, expected one of: en, zh_CN"));
    CHECK_FALSE(std::filesystem::exists(path));
}
