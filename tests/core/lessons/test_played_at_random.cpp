// A learner who answers at random: choices by lot, numbers from where a guess would be made, any cell of the step that
// is asked about, any head switched off. Such a learner is right no more often than chance says.
#include "app/core/lessons/judge.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/progress.h"
#include "app/core/lessons/versions.h"
#include "app/core/lessons/writing.h"
#include "engine/base/random.h"
#include "tests/catch.h"
#include "tests/sanitized.h"

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <variant>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

constexpr int kGuesses = 40;  // at each question
constexpr double kMostByChance = 1.0 / 3.0;

// How often guesses were right, how often chance alone would have made them so, and the variance of that.
struct Score {
    double right = 0.0, by_chance = 0.0, variance = 0.0;
    int questions = 0;

    void add(double share, double chance) {
        right += share;
        by_chance += chance;
        variance += chance * (1.0 - chance) / kGuesses;
        ++questions;
    }
    // So far above chance by luck alone: once in four thousand.
    [[nodiscard]] bool is_chance() const { return right <= by_chance + 3.5 * std::sqrt(variance); }
};

class Guesser {
public:
    Guesser(const Lesson& lesson, const lessons::Question& question)
        : opened_(opened_for(lesson, question)),
          runs_(*opened_, nullptr, opened_),
          asked_{lesson, question, runs_, opened_.get()},
          dice_(11, lesson.name + "/" + question.id) {}

    void guess(Score& score) {
        double right = 0.0, chance = 0.0;
        for (int i = 0; i < kGuesses; ++i) {
            std::visit([&](const auto& by) { right += is_right(by) ? 1.0 : 0.0; }, asked_.question.answer);
            std::visit([&](const auto& by) { chance = chance_of(by); }, asked_.question.answer);
        }
        score.add(right / kGuesses, chance);
    }

private:
    [[nodiscard]] std::size_t one_of(std::size_t count) {
        return static_cast<std::size_t>(dice_.uniform(thrown_++) * static_cast<double>(count));
    }
    [[nodiscard]] double number(const ExpressionRef& of) const { return number_of(evaluate(*of, asked_.scope())); }
    [[nodiscard]] bool said(const Answer& answer) const { return judge(asked_, answer).right; }
    [[nodiscard]] const Plan& plan() const { return runs_.now().run->plan(); }

    [[nodiscard]] bool is_right(const ByChoice& by) { return said(ChosenAnswer{one_of(by.choices.size())}); }
    [[nodiscard]] double chance_of(const ByChoice& by) const { return 1.0 / static_cast<double>(by.choices.size()); }

    [[nodiscard]] bool is_right(const ByNumber& by) {
        const double low = number(by.low), high = number(by.high);
        return said(NumberAnswer{low + dice_.uniform(thrown_++) * (high - low)});
    }
    [[nodiscard]] double chance_of(const ByNumber& by) const {
        return std::min(2.0 * number(by.within) / (number(by.high) - number(by.low)), kMostByChance);
    }

    [[nodiscard]] bool is_right(const ByPoint& by) {
        if (by.solution.cell.empty()) return said(PointedAnswer{any_step(), std::nullopt});
        Cell cell;
        for (const Axis& along : plan().find(by.solution.step)->axes)
            cell.push_back(static_cast<Index>(one_of(static_cast<std::size_t>(along.size))));
        return said(PointedAnswer{by.solution.step, cell});
    }
    [[nodiscard]] double chance_of(const ByPoint&) const { return kMostByChance; }

    // Any head of the model switched off.
    [[nodiscard]] bool is_right(const ByRun&) {
        std::vector<std::string> attentions;
        for (const Step& step : plan().steps())
            if (!step.attention.empty() && (attentions.empty() || attentions.back() != step.attention))
                attentions.push_back(step.attention);
        if (attentions.empty()) return false;
        const auto head = static_cast<Index>(one_of(static_cast<std::size_t>(opened_->query_heads())));
        Scenario off = *opened_;
        off.edits.emplace_back(ScaleHead{attentions[one_of(attentions.size())], head, 0.0F});
        Runs runs(std::move(off), nullptr, opened_);
        return judge({asked_.lesson, asked_.question, runs, opened_.get()}, RunAnswer{}).right;
    }
    [[nodiscard]] double chance_of(const ByRun&) const { return kMostByChance; }

    // A step by lot, or none, and a cause by lot.
    [[nodiscard]] bool is_right(const ByBug& by) {
        return said(BugAnswer{one_of(2) == 0 ? "" : any_step(), one_of(by.choices.size())});
    }
    [[nodiscard]] double chance_of(const ByBug& by) const { return 1.0 / static_cast<double>(by.choices.size()); }

    // Any tensor of the run, under its name.
    [[nodiscard]] bool is_right(const ByFormula& by) { return formula_fits(asked_, by, any_step()); }
    [[nodiscard]] double chance_of(const ByFormula&) const { return 0.0; }

    [[nodiscard]] std::string any_step() {
        const Step* step = &plan().steps()[one_of(plan().steps().size())];
        return step->name;
    }

    std::shared_ptr<const Scenario> opened_;
    mutable Runs runs_;
    Asked asked_;
    RandomStream dice_;
    std::uint64_t thrown_ = 0;
};

}  // namespace

TEST_CASE("played at random, no lesson and no exercise is solved more often than chance says, in both languages") {
    for (const std::string language : {"", "zh_CN"}) {
        if (kSanitized && !language.empty()) continue;
        Score all;
        for (const LessonCard& card : looked_at(lesson_cards(), 16)) {
            const std::shared_ptr<const Lesson> lesson = find_lesson(card.name, language);
            Score score;
            for (const lessons::Question* question : questions_of(*lesson)) Guesser(*lesson, *question).guess(score);
            INFO(card.name << " " << language << ": " << score.right << " of " << score.questions << ", by chance "
                           << score.by_chance);
            CHECK(score.is_chance());
            CHECK(score.right < 0.4 * score.questions);
            all.right += score.right;
            all.by_chance += score.by_chance;
            all.variance += score.variance;
            all.questions += score.questions;
        }
        INFO(language << ": " << all.right << " of " << all.questions << ", by chance " << all.by_chance);
        CHECK(all.is_chance());
        CHECK(all.questions > (kSanitized ? 5 : 150));
    }
}
