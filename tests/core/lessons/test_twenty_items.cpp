// The test of twenty items in its four versions. What is right is worked out here from the numbers of each item, not by
// the lesson's expressions.
#include "app/core/lessons/grade.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/versions.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::lessons;
using decoderscope::testing::TemporaryFolder;

namespace {
namespace twenty_items {

using Numbers = std::array<double, 4>;  // by version

// How many tokens a word is once its most frequent pair is joined.
double tokens_after_one_merge(const std::string& word) {
    std::map<std::string, std::size_t> pairs;
    for (std::size_t i = 0; i + 1 < word.size(); ++i) ++pairs[word.substr(i, 2)];
    const auto most = std::ranges::max_element(pairs, {}, [](const auto& pair) { return pair.second; });
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < word.size(); ++tokens) i += word.substr(i, 2) == most->first ? 2 : 1;
    return static_cast<double>(tokens);
}

double kept_by_top_p(double top) {
    double sum = 0.0, kept = 0.0;
    for (const double probability : {0.5, 0.25, 0.15, 0.06, 0.04}) {
        if (sum >= top) break;
        sum += probability;
        ++kept;
    }
    return kept;
}

// The cells of a causal mask with a window, counted one by one.
double cells_of_window(int positions, int window) {
    double cells = 0.0;
    for (int query = 0; query < positions; ++query)
        for (int key = 0; key <= query; ++key) cells += query - key < window ? 1.0 : 0.0;
    return cells;
}

double third_of_layer_norm(double x) {
    const double mean = x / 3.0;
    const double variance = (2.0 * mean * mean + (x - mean) * (x - mean)) / 3.0;
    return (x - mean) / std::sqrt(variance);
}

// One behind the place where the text's last letter stood before; the mark at the beginning is position 0.
double behind_its_last(const std::string& text) {
    return static_cast<double>(text.rfind(text.back(), text.size() - 2) + 2);
}

template <class Work, class Given>
Numbers each(Work work, const std::array<Given, 4>& given) {
    return {work(given[0]), work(given[1]), work(given[2]), work(given[3])};
}

std::map<std::string, Numbers> numbers() {
    using Words = std::array<std::string, 4>;
    std::map<std::string, Numbers> right;
    right["merge"] = each(tokens_after_one_merge, Words{"ababcab", "xyxyzxyz", "lolalolo", "deedede"});
    right["predictions"] = {11, 16, 19, 32};
    right["perplexity"] = each([](double p) { return std::exp(-std::log(p)); }, Numbers{0.5, 0.25, 0.125, 0.2});
    right["top-p"] = each(kept_by_top_p, Numbers{0.7, 0.85, 0.45, 0.95});
    right["temperature"] = {3, 4, 16, 5};  // roots of 9, 16 and 25, and 4 squared
    right["softmax"] = each([](double x) { return std::exp(x) / (1.0 + std::exp(x)); }, Numbers{1, 2, 0.5, 1.5});
    right["scale"] = {4, 8, 10, 12};
    right["key-head"] = each([](int head) { return static_cast<double>(head / 4); }, std::array<int, 4>{5, 13, 22, 30});
    right["block-parameters"] =
        each([](double d) { return (4 * d * d + 2 * d * 4 * d) / 1000; }, Numbers{256, 512, 768, 1024});
    right["norm"] = each(third_of_layer_norm, Numbers{3, 6, 30, 9});
    right["without-head"] = {-0.2 + 0.9 + 0.3, 0.6 + 0.9 + 0.3, 0.6 - 0.2 + 0.3, 0.6 - 0.2 + 0.9};
    right["window"] = each([](int n) { return cells_of_window(n, 3); }, std::array<int, 4>{6, 8, 10, 12});
    right["all-hidden"] = {0.25, 0.2, 0.125, 0.1};
    right["copy"] = each(behind_its_last, Words{"windowwindo", "algorithmalg", "mountainmo", "keyboardkeyboa"});
    right["backwards"] = {6 - 1, 7 - 3, 8 - 5, 6 - 2};  // letters less the row; position 0 is the mark
    right["cache"] = {768, 512, 320, 192};
    right["outgrow"] = {2048, 4096, 1024, 3072};
    return right;
}

const std::map<std::string, std::array<std::string, 4>> kBugs = {
    {"bug", {"softmax-twice", "no-causal-mask", "softmax-over-heads", "query-and-key-swapped"}},
    {"other-bug", {"key-and-value-swapped", "no-residual-mlp", "gain-not-applied", "activation-twice"}},
};

// What is answered by a learner who knows.
Answer right_answer(const lessons::Question& question, std::size_t version) {
    static const std::map<std::string, Numbers> known = numbers();
    if (const auto found = known.find(question.id); found != known.end())
        return NumberAnswer{found->second.at(version)};
    if (question.id == "order") return ChosenAnswer{2};
    const std::string& mutation = kBugs.at(question.id).at(version);
    const auto& bug = std::get<ByBug>(question.answer);
    const auto found = std::ranges::find(bug.choices, mutation, &Choice::mutation);
    REQUIRE(found != bug.choices.end());
    return BugAnswer{bug.solution, static_cast<std::size_t>(found - bug.choices.begin())};
}

}  // namespace twenty_items
}  // namespace

TEST_CASE("each version of the test has twenty items, and takes what is right") {
    for (const std::string language : {"", "zh_CN"}) {
        const std::shared_ptr<const Lesson> lesson = find_lesson("test", language);
        CHECK(lesson->kind == LessonKind::test);
        CHECK(lesson->versions == 4);
        std::map<std::string, std::set<std::string>> asked_texts;
        for (int version = 0; version < lesson->versions; ++version) {
            const Lesson one = in_version(*lesson, version);
            const std::vector<const lessons::Question*> questions = questions_of(one);
            CHECK(questions.size() == 20);
            for (const lessons::Question* question : questions) {
                INFO(language << " version " << version << ": " << question->id);
                const std::shared_ptr<const Scenario> opened = opened_for(one, *question);
                Runs runs(*opened, nullptr, opened);
                const Asked asked{one, *question, runs, opened.get()};
                const Answer answer = twenty_items::right_answer(*question, static_cast<std::size_t>(version));
                CHECK(judge(asked, answer).right);
                asked_texts[question->id].insert(plain_text(shown(question->ask, asked.scope())) + opened->mutation);
            }
        }
        for (const auto& [id, texts] : asked_texts) {
            INFO(id);
            CHECK(texts.size() == 4);  // no version is another's
        }
    }
}

TEST_CASE("a test is graded in the version that the learner had") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("test");
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const std::uint64_t round = seed % 2;
        const std::shared_ptr<const Lesson> own = lesson_for(lesson, seed, round);
        LessonProgress progress;
        progress.round = round;
        for (const lessons::Question* question : questions_of(*own))
            progress.questions[question->id].given.push_back(
                {twenty_items::right_answer(*question, static_cast<std::size_t>(own->version)),
                 run_text(*opened_for(*own, *question)), ""});
        std::ofstream(folder.file(std::to_string(seed) + ".json"))
            << handin_text(*own, progress, {"learner " + std::to_string(seed), seed});
    }
    const ClassGrades grades = grade_folder(folder.path(), nullptr);
    CHECK(grades.unreadable.empty());
    REQUIRE(grades.lessons.size() == 1);
    CHECK(grades.lessons.front().questions.size() == 20);
    REQUIRE(grades.lessons.front().handins.size() == 12);
    for (const GradedHandin& handin : grades.lessons.front().handins) {
        INFO(handin.file);
        CHECK(handin.judged.right() == 20);
    }
}
