#include "tests/core/lessons/learner.h"

#include "app/core/lessons/evaluate.h"
#include "tests/catch.h"
#include "tests/core/lessons/right_answers.h"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

namespace decoderscope::testing {

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

void perform(Session& session, const std::vector<Command>& commands) {
    for (const Command& command : commands) {
        session.apply(command);
        INFO((session.message() && session.message()->failed ? session.message()->text.english() : std::string()));
        CHECK_FALSE((session.message() && session.message()->failed));
        session.finish();
    }
}

// What the window does in its frames until nothing is left to do.
void settle(Session& session, Player& player) {
    for (int frame = 0; frame < 6; ++frame) {
        session.finish();
        perform(session, player.advance(session).commands);
    }
}

namespace {

// A learner at a session.
struct Learner {
    Session& session;
    Player& player;
    const lessons::Question& question;

    // The answer of this kind that is written down.
    template <class T>
    [[nodiscard]] T right() const {
        const std::string name = player.lesson()->name + "/" + question.id;
        INFO(name);
        // A question of another lesson, asked again, is "weight-sharper".
        const auto found = std::ranges::find_if(right_answers(), [&](const auto& known) {
            std::string again = known.first;
            std::ranges::replace(again, '/', '-');
            return known.first == name || again == question.id;
        });
        REQUIRE(found != right_answers().end());
        const Right answer = found->second({session.shown().scenario, *session.shown().run});
        REQUIRE(std::holds_alternative<T>(answer));
        return std::get<T>(answer);
    }
    [[nodiscard]] Runs runs() const { return Runs(session.shown().scenario, session.shown().run, player.opened()); }
    [[nodiscard]] lessons::Spot spot(const CellAnswer& answer) const {
        Runs here = runs();
        return spot_of(answer, {here, nullptr, &player.lesson()->lets, &question.lets});
    }
    bool say(const lessons::Answer& answer) const {
        INFO(question.id);
        return player.answer(session, question, answer).right;
    }

    void operator()(const ByChoice& by) const {
        const auto chosen = right<std::size_t>();
        for (std::size_t i = 0; i < by.choices.size(); ++i)
            if (i != chosen) CHECK_FALSE(say(ChosenAnswer{i}));
        CHECK(say(ChosenAnswer{chosen}));
    }
    void operator()(const ByNumber& by) const {
        Runs here = runs();
        const Scope scope{here, nullptr, &player.lesson()->lets, &question.lets};
        for (const WrongNumber& wrong : by.wrong)
            CHECK_FALSE(say(NumberAnswer{number_of(evaluate(*wrong.number, scope))}));
        CHECK(say(NumberAnswer{right<double>()}));
    }
    // As by clicking there: the cursor goes to the cell, and what the cursor shows is the answer.
    void go(const lessons::Spot& at) const {
        perform(session, {at.cell ? Command(command::Follow{at.step, *at.cell}) : Command(command::GoTo{at.step})});
    }
    bool point(const CellAnswer& answer) const {
        go(spot(answer));
        return say(PointedAnswer{session.step().name, session.cursor().cell});
    }
    void operator()(const ByPoint& by) const {
        for (const WrongCell& wrong : by.wrong) CHECK_FALSE(point(wrong.at));
        const auto [step, cell] = right<Pointed>();
        go({step, cell.empty() ? std::nullopt : std::optional(cell)});
        CHECK(say(PointedAnswer{session.step().name, session.cursor().cell}));
    }
    void operator()(const ByRun& by) const {
        CHECK_FALSE(player.watch(session).has_value());  // nothing was done yet
        for (const WrongChange& wrong : by.wrong) {
            const std::vector<Command> commands = commands_of(wrong.changes);
            perform(session, commands);
            const std::optional<lessons::Verdict> verdict = player.watch(session);
            INFO(question.id);
            CHECK((!verdict || !verdict->right));
            for (std::size_t i = 0; i < commands.size(); ++i) perform(session, {command::Undo{}});
        }
        perform(session, commands_of(parse_changes(right<std::string>())));
        const std::optional<lessons::Verdict> verdict = player.watch(session);
        INFO(question.id);
        REQUIRE(verdict.has_value());
        CHECK(verdict->right);
    }
    void operator()(const ByBug& by) const {
        Runs here = runs();
        const std::size_t right = right_choices({*player.lesson(), question, here, player.opened().get()}).at(0);
        for (std::size_t i = 0; i < by.choices.size(); ++i)
            if (i != right) CHECK_FALSE(say(BugAnswer{by.solution, i}));
        for (const WrongCell& wrong : by.wrong) CHECK_FALSE(say(BugAnswer{wrong.at.step, right}));
        if (!by.solution.empty()) go({by.solution, std::nullopt});
        CHECK(say(BugAnswer{by.solution.empty() ? "" : session.step().name, right}));
    }
    // What is typed last before it is right is the lesson's own wrong forms: the run decides, not this table.
    void operator()(const ByFormula& by) const {
        for (const WrongFormula& wrong : by.wrong) CHECK_FALSE(say(FormulaAnswer{wrong.formula}));
        CHECK(say(FormulaAnswer{by.also.empty() ? by.solution : by.also.back()}));
    }
};

}  // namespace

void answer_question(Session& session, Player& player, const lessons::Question& question) {
    std::visit(Learner{session, player, question}, question.answer);
}

void play(Session& session, Player& player, const Onlooker& onlooker) {
    const auto look = [&] {
        if (onlooker.shown) onlooker.shown();
    };
    for (std::size_t page = 0; page < player.lesson()->pages.size(); ++page) {
        player.turn_to(page);
        settle(session, player);
        look();
        while (const lessons::Question* question = player.open_question()) {
            const std::size_t shown = player.shown_blocks();
            answer_question(session, player, *question);
            INFO(question->id);
            REQUIRE(player.progress().solved(question->id));
            CHECK((player.shown_blocks() > shown || player.open_question() == nullptr));
            if (onlooker.solved) onlooker.solved(*question);
            settle(session, player);
            look();
        }
        CHECK(player.shown_blocks() == player.shown_page().blocks.size());
    }
}

}  // namespace decoderscope::testing
