// The test of twenty items in its four versions. What is right is worked out here from the numbers of each item, not by
// the lesson's expressions.
#include "app/core/lessons/handin.h"
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

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

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

// The column of row `other` whose key is turned against its query as that of `column` is in row `row`.
double as_far_back(int row, int column, int other) {
    constexpr double kTurn = 0.1;  // of one position: no angle comes round within 20 of them
    for (int key = 0; key <= other; ++key)
        if (std::abs(std::cos(kTurn * (other - key)) - std::cos(kTurn * (row - column))) < 1e-9) return key;
    return -1.0;
}

// How many of a text's positions see padding under a causal mask alone.
double sees_padding(int text, int in_front, int behind) {
    double seeing = 0.0;
    for (int query = in_front; query < in_front + text; ++query) {
        bool sees = false;
        for (int key = 0; key < in_front + text + behind; ++key)
            sees = sees || (key <= query && (key < in_front || key >= in_front + text));
        seeing += sees ? 1.0 : 0.0;
    }
    return seeing;
}

// The first of two letters' weight once the score of a third key is hidden: a softmax over the other two.
double without_mark(double mark, double first) {
    const double score = std::log(first), other = std::log(1.0 - mark - first);
    return std::exp(score) / (std::exp(score) + std::exp(other));
}

template <class Work, class Given>
Numbers each(Work work, const std::array<Given, 4>& given) {
    return {work(given[0]), work(given[1]), work(given[2]), work(given[3])};
}

std::map<std::string, Numbers> numbers() {
    using Words = std::array<std::string, 4>;
    std::map<std::string, Numbers> right;
    right["merge"] = each(tokens_after_one_merge, Words{"ababcab", "xyxyzxyz", "lolalolo", "deedede"});
    right["perplexity"] = each([](double p) { return std::exp(-std::log(p)); }, Numbers{0.5, 0.25, 0.125, 0.2});
    right["top-p"] = each(kept_by_top_p, Numbers{0.7, 0.85, 0.45, 0.95});
    right["softmax"] = each([](double x) { return std::exp(x) / (1.0 + std::exp(x)); }, Numbers{1, 2, 0.5, 1.5});
    right["tied"] = {300, 500, 800, 1000};
    right["distance"] = {as_far_back(9, 4, 12), as_far_back(11, 7, 15), as_far_back(8, 2, 13), as_far_back(12, 9, 17)};
    right["padding"] = {sees_padding(8, 0, 4), sees_padding(10, 4, 0), sees_padding(12, 0, 6), sees_padding(15, 6, 0)};
    right["sink"] = {without_mark(0.8, 0.15), without_mark(0.9, 0.08), without_mark(0.6, 0.1), without_mark(0.7, 0.24)};
    right["stream"] = {0.5 + 0.3 + 0.2 + 0.1, -0.2 + 0.6 - 0.3 + 0.2, 1.0 - 0.4 + 0.1 + 0.3, 0.3 + 0.2 - 0.6 + 0.4};
    right["experts"] = {4, 4, 8, 16};
    right["block-parameters"] =
        each([](double d) { return (4 * d * d + 2 * d * 4 * d) / 1000; }, Numbers{256, 512, 768, 1024});
    right["all-hidden"] = {0.25, 0.2, 0.125, 0.1};
    right["cache"] = {768, 512, 320, 192};
    return right;
}

// What the right sentence says, in English.
const std::map<std::string, std::array<std::string, 4>> kSentences = {
    {"teacher",
     {"as it stands in the text", "as it stands in the text", "as it stands in the text", "as it stands in the text"}},
    {"roles", {"the vector k", "the vector q", "the vector v", "the vector q"}},
    {"order",
     {"Those two change places", "Those two change places", "Those two change places", "Those two change places"}},
    {"norms", {"In Pre-Norm", "In Pre-Norm", "In Pre-Norm", "In Pre-Norm"}},
    {"lens", {"The later blocks", "The later blocks", "The later blocks", "The later blocks"}},
};

const std::map<std::string, std::array<std::string, 4>> kBugs = {
    {"bug", {"softmax-twice", "no-causal-mask", "softmax-over-heads", "query-and-key-swapped"}},
    {"other-bug", {"key-and-value-swapped", "no-residual-mlp", "gain-not-applied", "activation-twice"}},
};

// The choice of these words, by its place in the English lesson; a translation has the same order.
ChosenAnswer sentence(const lessons::Question& question, const std::string& words, std::size_t version) {
    const Lesson english = in_version(*find_lesson("test"), static_cast<int>(version));
    const std::vector<const lessons::Question*> all = questions_of(english);
    const auto same = std::ranges::find(all, question.id, &lessons::Question::id);
    REQUIRE(same != all.end());
    const std::vector<Choice>& choices = *choices_of(**same);
    const auto found = std::ranges::find_if(
        choices, [&](const Choice& choice) { return plain_text(choice.text).find(words) != std::string::npos; });
    REQUIRE(found != choices.end());
    return {static_cast<std::size_t>(found - choices.begin())};
}

// What is answered by a learner who knows.
Answer right_answer(const lessons::Question& question, std::size_t version) {
    static const std::map<std::string, Numbers> known = numbers();
    if (const auto found = known.find(question.id); found != known.end())
        return NumberAnswer{found->second.at(version)};
    if (const auto found = kSentences.find(question.id); found != kSentences.end())
        return sentence(question, found->second.at(version), version);
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

TEST_CASE("a test is judged in the version that the learner had") {
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
        const std::string path = folder.file(std::to_string(seed) + ".json");
        std::ofstream(path) << handin_text(*own, progress, {"learner " + std::to_string(seed), seed});
        INFO(path);
        const JudgedHandin judged = judge_handin(path);
        CHECK(judged.answers.size() == 20);
        CHECK(judged.right() == 20);
        CHECK(judged.lesson->version == own->version);
    }
}
