// What a lesson says, on the run that is on the screen when it says it: every number has a value, every place shows
// what it is to show, and what the words claim of the run holds.
#include "app/core/lessons/evaluate.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "app/core/lessons/player.h"
#include "app/views/frame/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/lessons/learner.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

// Fails if a number of a text has no value, or what the text claims of the run doesn't hold.
void need_numbers(const Shown& text) {
    for (const ShownSpan& span : text) {
        INFO(plain_text(text));
        CHECK_FALSE((span.is_number && span.text == "…"));
        CHECK_FALSE(span.is_remark);
    }
}

void need_numbers(const ShownTable& table) {
    need_numbers(table.caption);
    for (const Shown& column : table.columns) need_numbers(column);
    for (const auto& row : table.rows)
        for (const std::string& cell : row) CHECK(cell != "…");
}

// Reads what is shown, as it comes to be shown.
class Watcher {
public:
    Watcher(Session& session, Player& player) : session_(session), player_(player) {}

    [[nodiscard]] Onlooker onlooker() {
        return {[this] { read_on(); }, [this](const lessons::Question& question) { read_solved(question); }};
    }

private:
    void read_on() {
        if (page_ != player_.page()) read_ = 0;
        page_ = player_.page();
        Runs runs(session_.shown().scenario, session_.shown().run, player_.opened());
        for (const std::size_t end = player_.shown_blocks(); read_ < end; ++read_) {
            const Block& block = player_.shown_page().blocks[read_];
            const ShownBlock shown = shown_block(*player_.lesson(), block, runs);
            need_numbers(shown.text);
            for (const Shown& choice : shown.choices) need_numbers(choice);
            for (const Shown& hint : shown.hints) need_numbers(hint);
            need_numbers(shown.table);
            CHECK((!std::holds_alternative<Table>(block) || !shown.table.rows.empty()));
        }
    }
    // What is said now stays, whatever is opened next.
    void read_solved(const lessons::Question& question) {
        const Said* said = player_.said(question);
        REQUIRE(said != nullptr);
        INFO(question.id);
        need_numbers(said->ask);
        need_numbers(said->learned);
    }
    Session& session_;
    Player& player_;
    std::size_t page_ = 0, read_ = 0;
};

std::vector<LessonCard> course() {
    std::vector<LessonCard> cards = lesson_cards();
    std::erase_if(cards, [](const LessonCard& card) { return card.kind != LessonKind::lesson; });
    return cards;
}

constexpr std::array kLanguages = {"", "zh_CN"};

}  // namespace

TEST_CASE("every number has a value on the run that is open when it is shown, and what the words say of it holds") {
    for (const std::string language : kLanguages) {
        if (kSanitized && !language.empty()) continue;
        for (const LessonCard& card : looked_at(course(), 5)) {
            INFO(card.name << " " << language);
            Session session(load::load_model("reverse"));
            Player player(find_lesson(card.name, language), {});
            Watcher watcher(session, player);
            play(session, player, watcher.onlooker());
        }
    }
}

TEST_CASE("every place of every lesson opens what it says, where it stands") {
    for (const LessonCard& card : looked_at(lesson_cards(), 20)) {
        const std::shared_ptr<const Lesson> lesson = find_lesson(card.name);
        Session session(load::load_model("reverse"));
        Player player(lesson, {});
        for (std::size_t page = 0; page < lesson->pages.size(); ++page) {
            player.turn_to(page);
            settle(session, player);
            while (const lessons::Question* question = player.open_question()) {
                player.skip(*question);
                settle(session, player);
            }
            for (std::size_t i = 0; i < player.shown_blocks(); ++i) {
                const auto* place = std::get_if<lessons::Place>(&player.shown_page().blocks[i]);
                if (place == nullptr) continue;
                INFO(card.name << ": " << plain_text(place->title));
                player.open(i);
                std::string tab;
                for (int frame = 0; frame < 4; ++frame) {
                    session.finish();
                    const Player::Step step = player.advance(session);
                    if (!step.tab.empty()) tab = step.tab;
                    perform(session, step.commands);
                }
                CHECK(tab == place->tab);
                CHECK((tab.empty() || views::find_tab(tab) != nullptr));
                if (!place->model.empty())
                    CHECK(session.shown().scenario.about().name == player.opened()->about().name);
                if (place->step.empty()) continue;
                CHECK(session.step().name == place->step);
                if (place->cell.empty()) continue;
                Runs runs(session.shown().scenario, session.shown().run, player.opened());
                const lessons::Spot spot =
                    spot_of({place->step, place->cell}, {runs, nullptr, &player.lesson()->lets, &place->lets});
                CHECK(session.cursor().cell == spot.cell);
            }
        }
    }
}

TEST_CASE("five fresh Post-Norm blocks have gradients of about the same length, as the lesson on norms says") {
    core::Scenario scenario = scenario_of(load::make_bundled_model("causal-lm-as-meant"));
    scenario.gradient_target = "loss";
    Runs runs(std::move(scenario));
    std::vector<double> lengths;
    for (int block = 0; block < 5; ++block)
        lengths.push_back(number_of(
            evaluate(*parse_expression("norm(grad.blocks." + std::to_string(block) + ".resid_pre)"), {runs})));
    const auto [least, most] = std::ranges::minmax(lengths);
    CHECK(most < 1.2 * least);
}
