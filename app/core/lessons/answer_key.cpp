#include "app/core/lessons/answer_key.h"

#include "engine/base/error.h"

namespace decoderscope::core::lessons {

namespace {

struct RightAnswer {
    const Asked& asked;

    [[nodiscard]] std::size_t right_choice() const {
        const std::vector<std::size_t> right = right_choices(asked);
        if (right.empty()) throw Error("{id}: no choice is right", {{"id", asked.question.id}});
        return right.front();
    }
    [[nodiscard]] std::string in_words(const Answer& answer) const { return answer_text(asked, answer, {true, {}}); }
    [[nodiscard]] std::string number(const ExpressionRef& of) const {
        return shown_text(single(number_of(evaluate(*of, asked.scope()))));
    }

    std::string operator()(const ByChoice&) const { return in_words(ChosenAnswer{right_choice()}); }
    std::string operator()(const ByNumber& by) const { return number(by.answer) + " ± " + number(by.within); }
    std::string operator()(const ByPoint& by) const {
        const Spot spot = spot_of(by.solution, asked.scope());
        return in_words(PointedAnswer{spot.step, spot.cell});
    }
    std::string operator()(const ByRun& by) const { return by.solution_text; }
    std::string operator()(const ByBug& by) const { return in_words(BugAnswer{by.solution, right_choice()}); }
};

}  // namespace

KeyEntry key_entry(const Lesson& lesson, const Question& question, const std::shared_ptr<const Scenario>& opened) {
    Runs runs(*opened, nullptr, opened);
    const Asked asked{lesson, question, runs, opened.get()};
    const auto* action = std::get_if<ByRun>(&question.answer);
    Runs solved(action == nullptr ? *opened : changed(*opened, action->solution),
                action == nullptr ? runs.now().run : nullptr, opened);
    return {question.id, shown(question.ask, asked.scope()), std::visit(RightAnswer{asked}, question.answer),
            shown(question.learned, {solved, nullptr, &lesson.lets, &question.lets})};
}

std::vector<KeyEntry> answer_key(const Lesson& lesson) {
    std::vector<KeyEntry> key;
    for (const Question* question : questions_of(lesson))
        key.push_back(key_entry(lesson, *question, opened_for(lesson, *question)));
    return key;
}

}  // namespace decoderscope::core::lessons
