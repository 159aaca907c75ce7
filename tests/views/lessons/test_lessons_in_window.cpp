// Every lesson of the course, played in the window: on a screen of 1280 × 800 beside the stage, and in the
// presentation, in both languages. A question is first answered by its place on the screen, then wrong, then right;
// what is needed is found by scrolling.
#include "app/core/lessons/evaluate.h"
#include "app/core/lessons/judge.h"
#include "app/views/lessons/lesson_page.h"
#include "app/views/lessons/lessons_panel.h"
#include "engine/base/translate.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/shell/speaking.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <variant>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::views::lesson_panel;

namespace {

// How often the choice that stood first on the screen was right, and how often chance alone would make it so.
struct FirstShown {
    double right = 0.0, by_chance = 0.0, variance = 0.0;

    void add(bool is_right, double chance) {
        right += is_right ? 1.0 : 0.0;
        by_chance += chance;
        variance += chance * (1.0 - chance);
    }
};

// A learner's hands and eyes at the lesson that is open.
class PlayedInWindow {
public:
    PlayedInWindow(Driver& driver, FirstShown& first)
        : d_(driver), panel_(d_.state.part<LessonsState>()), first_(first) {}

    void play() {
        for (bool more = true; more;) {
            d_.settle();
            while (const lessons::Question* question = panel_.player->open_question()) {
                INFO(panel_.player->lesson()->name << "/" << question->id);
                for (int i = 0; i < 100 && panel_.question != question->id; ++i)
                    d_.settle();  // its numbers are computed
                REQUIRE(panel_.question == question->id);
                std::visit([&](const auto& by) { answer(*question, by); }, question->answer);
                REQUIRE(panel_.player->progress().solved(question->id));
                d_.settle();
            }
            more = !panel_.player->is_last_page();
            if (more) press(tr("Go on"));
        }
        press(tr("Hand in"));
        CHECK(d_.last<request::HandIn>() != nullptr);
    }

private:
    // Presses a button of the panel, wherever on the page it is.
    void press(const std::string& label) {
        const ImVec2 page = {ImGui::GetIO().DisplaySize.x - 60, ImGui::GetIO().DisplaySize.y * 0.6F};
        for (int notch = 0; notch < 60; ++notch) {
            const std::optional<ImVec2> button = find(label);
            d_.settle();
            if (const std::optional<ImVec2> still = find(label); button && still) {
                if (button->y != still->y) continue;  // the page still moves
                d_.click(*button);
                return;
            }
            d_.hands.push(MouseMove{page.x, page.y});
            d_.hands.push(Wheel{0.0F, notch == 0 ? 200.0F : -2.0F});
            d_.settle();
        }
        FAIL("no button " << label);
    }
    // A label by itself, or first in a line that stands close together.
    [[nodiscard]] std::optional<ImVec2> find(const std::string& label) const {
        const std::string drawn = without_spaces(label);
        for (const DrawnText& piece : d_.seen())
            if (piece.text == drawn && piece.low.x > left()) return piece.middle();
        for (const DrawnText& piece : d_.seen())
            if (piece.text.starts_with(drawn) && piece.low.x > left()) return piece.middle_of(drawn);
        return std::nullopt;
    }
    // Where the panel begins: the row above it chooses between lessons and inspector.
    [[nodiscard]] float left() const {
        const std::string inspector = without_spaces(tr("Inspector"));
        float found = ImGui::GetIO().DisplaySize.x * 0.5F;
        for (const DrawnText& piece : d_.seen())
            if (piece.text == inspector) found = piece.low.x - 150.0F;
        return found;
    }

    [[nodiscard]] Runs runs() const {
        return Runs(d_.session.shown().scenario, d_.session.shown().run, panel_.player->opened());
    }
    [[nodiscard]] double number(const lessons::Question& question, const ExpressionRef& of) const {
        Runs here = runs();
        return number_of(evaluate(*of, {here, nullptr, &panel_.player->lesson()->lets, &question.lets}));
    }

    void choose(std::size_t choice) {
        panel_.choice = choice;
        press(tr("Answer"));
    }
    void answer(const lessons::Question& question, const ByChoice& by) {
        Runs here = runs();
        const std::size_t right =
            right_choices({*panel_.player->lesson(), question, here, panel_.player->opened().get()}).at(0);
        const std::size_t shown = shown_order(*panel_.player->lesson(), question, panel_.progress.learner.seed).front();
        first_.add(shown == right, 1.0 / static_cast<double>(by.choices.size()));
        choose(right == 0 ? 1 : 0);
        refused();
        choose(right);
    }

    void type(double number) {
        panel_.number.fill('\0');
        const std::string text = std::to_string(number);
        std::copy_n(text.begin(), std::min(text.size(), panel_.number.size() - 1), panel_.number.begin());
        d_.settle();
        press(tr("Answer"));
    }
    void answer(const lessons::Question& question, const ByNumber& by) {
        type(number(question, by.wrong.at(0).number));
        refused();
        type(number(question, by.answer));
    }

    void point(const lessons::Question& question, const CellAnswer& at) {
        Runs here = runs();
        const lessons::Spot spot = spot_of(at, {here, nullptr, &panel_.player->lesson()->lets, &question.lets});
        d_.apply(spot.cell ? Command(command::Follow{spot.step, *spot.cell}) : Command(command::GoTo{spot.step}));
        press(tr("This one"));
    }
    void answer(const lessons::Question& question, const ByPoint& by) {
        point(question, by.wrong.at(0).at);
        refused();
        point(question, by.solution);
    }

    void change(const Changes& changes) {
        for (const Command& command : commands_of(changes)) d_.apply(command);
    }
    void answer(const lessons::Question&, const ByRun& by) {
        const Changes& wrong = by.wrong.at(0).changes;
        change(wrong);
        refused();
        for (std::size_t i = 0; i < commands_of(wrong).size(); ++i) {
            d_.session.apply(command::Undo{});
            d_.session.finish();
        }
        d_.settle();
        change(by.solution);
    }

    void answer(const lessons::Question&, const ByBug&) {}  // the gallery's

    void write(const std::string& formula) {
        panel_.formula = formula;
        d_.settle();
        press(tr("Answer"));
    }
    void answer(const lessons::Question&, const ByFormula& by) {
        write(by.wrong.at(0).formula);
        refused();
        write(by.solution);
    }

    // What is said of a wrong answer is on the screen without scrolling.
    void refused() {
        d_.settle();
        REQUIRE(panel_.verdict.has_value());
        CHECK_FALSE(panel_.verdict->right);
        REQUIRE_FALSE(panel_.verdict->replies.empty());
        const std::string reply = without_spaces(panel_.verdict->replies.back().front().text);
        const std::string beginning = reply.substr(0, valid_end(reply, 6));
        INFO(reply);
        CHECK(std::ranges::any_of(d_.seen(), [&](const DrawnText& piece) {
            return piece.low.x > left() && piece.text.find(beginning) != std::string::npos;
        }));
    }
    // The end of the last whole character before `most` bytes.
    [[nodiscard]] static std::size_t valid_end(const std::string& text, std::size_t most) {
        std::size_t end = std::min(most, text.size());
        while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
        return end;
    }

    Driver& d_;
    LessonsState& panel_;
    FirstShown& first_;
};

}  // namespace

// In one language each, which tests/core/lessons plays in both, and beside the stage or in the presentation.
TEST_CASE("each lesson is played in the window, every other one in the other language or in the presentation",
          "[long]") {
    FirstShown first;
    std::uint64_t seed = 0;
    for (const std::string language : {"", "zh_CN"}) {
        const Speaking speaking(language.empty() ? "en" : language);
        if (!Speaking::can_be_drawn()) continue;
        std::size_t number = 0;
        for (const lessons::LessonCard& card : lessons::lesson_cards(language)) {
            if (card.kind != lessons::LessonKind::lesson || number++ % 2 != (language.empty() ? 0U : 1U)) continue;
            const bool presented = number % 4 < 2;
            INFO(card.name << " " << language << (presented ? ", presented" : ""));
            Driver d("reverse");
            d.state.settings.reduced_motion = true;
            d.state.part<LessonsState>().progress.learner.seed = ++seed;
            speak_lessons(d.state, language);
            if (presented) d.press(Key::f11);
            d.press(Key::f7);
            open_lesson(d.state, lessons::find_lesson(card.name, language));
            PlayedInWindow(d, first).play();
            const auto& player = *d.state.part<LessonsState>().player;
            CHECK(player.progress().solved_of(*player.lesson()) == card.questions);
        }
    }
    // The first choice on the screen is right as often as any other.
    INFO(first.right << " right, by chance " << first.by_chance);
    CHECK(std::abs(first.right - first.by_chance) < 3.0 * std::sqrt(first.variance));
}
