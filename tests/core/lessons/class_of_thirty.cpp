#include "tests/core/lessons/class_of_thirty.h"

#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "engine/base/json.h"
#include "engine/base/random.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <vector>

namespace decoderscope::testing {

using namespace decoderscope::core::lessons;
using namespace decoderscope::core;

namespace {

// What a class may answer to one question: the right answer, the mistakes that learners make, and the share of learners
// who are right at first.
struct Item {
    const char* question;
    Answer right;
    std::vector<Answer> mistakes;
    double ease = 0.5;
    const char* action = nullptr;  // the text that is typed for the right answer
};

// "In the beginning" has 17 tokens with its mark; the rows of its probabilities have a column for each of 65.
const std::vector<Item>& items() {
    const auto cell = [](Index pos, Index column) { return PointedAnswer{"probs", Cell{0, pos, column}}; };
    static const std::vector<Item> all = {
        {"count", NumberAnswer{19}, {NumberAnswer{18}, NumberAnswer{15}, NumberAnswer{4}}, 0.55},
        {"case", ChosenAnswer{2}, {ChosenAnswer{1}, ChosenAnswer{0}}, 0.7},
        {"clueless", NumberAnswer{1.0 / 65.0}, {NumberAnswer{1.0 / 26.0}, NumberAnswer{1}}, 0.6},
        {"first-choice", cell(16, 3), {cell(16, 45), cell(15, 45)}, 0.75},
        {"shift", ChosenAnswer{1}, {ChosenAnswer{0}, ChosenAnswer{2}}, 0.5},
        {"loop", ChosenAnswer{3}, {ChosenAnswer{0}, ChosenAnswer{2}, ChosenAnswer{1}}, 0.65},
        {"passes", NumberAnswer{20}, {NumberAnswer{37}, NumberAnswer{1}}, 0.6},
        {"own", RunAnswer{}, {RunAnswer{}}, 0.4, "And the childr"},
    };
    return all;
}

// A learner who is as able as `able` says, from −0.4 to 0.4.
class Classmate {
public:
    Classmate(const Lesson& lesson, const std::string& name, double able)
        : lesson_(lesson), dice_(28, name), clock_(29, name), able_(able) {}

    [[nodiscard]] LessonProgress answers() {
        for (const lessons::Question* question : questions_of(lesson_))
            for (const Item& item : items())
                if (question->id == item.question) answer(*question, item);
        return std::move(progress_);
    }

private:
    [[nodiscard]] double throw_dice() { return dice_.uniform(thrown_++); }

    // Each learner's own seconds.
    [[nodiscard]] std::string time() {
        second_ += 20 + static_cast<int>(clock_.uniform(thrown_) * 40.0);
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "2026-03-02T09:%02d:%02dZ", second_ / 60 % 60, second_ % 60);
        return text.data();
    }

    void answer(const lessons::Question& question, const Item& item) {
        if (throw_dice() < 0.08 - 0.1 * able_) return;  // skipped
        const std::shared_ptr<const Scenario> opened = opened_for(lesson_, question);
        const auto give = [&](const Answer& given, const char* action) {
            const Changes typed = parse_changes(std::string("target=") + (action == nullptr ? "" : action));
            const std::string run = run_text(action == nullptr ? *opened : changed(*opened, typed));
            progress_.questions[question.id].given.push_back({with_words(question, given), run, time()});
        };
        double chance = item.ease + able_;
        for (int tries = 0; tries < 3; ++tries, chance += 0.25) {
            if (throw_dice() < chance) return give(item.right, item.action);
            const auto which = static_cast<std::size_t>(throw_dice() * static_cast<double>(item.mistakes.size()));
            give(item.mistakes[which], item.action == nullptr ? nullptr : "The");
        }
    }

    const Lesson& lesson_;
    RandomStream dice_, clock_;
    double able_;
    int second_ = 0;
    std::uint64_t thrown_ = 0;
    LessonProgress progress_;
};

void write(const std::string& folder, const std::string& file, const std::string& text) {
    std::ofstream(folder + "/" + file) << text;
}

}  // namespace

void write_class_of_thirty(const std::string& folder) {
    const std::shared_ptr<const Lesson> lesson = find_lesson("text");
    constexpr std::array kNames = {"Ada",   "Ben",  "Chen", "Dana", "Emil", "Fatma", "Gao",  "Hanna",
                                   "Ivo",   "Jana", "Kofi", "Lena", "Mei",  "Nils",  "Olga", "Pia",
                                   "Quang", "Rosa", "Sami", "Tao",  "Uma",  "Vera",  "Wei",  "Yara"};
    std::uint64_t seed = 0;
    std::string whole;
    for (const std::string name : kNames) {
        const double able = 0.8 * (static_cast<double>(seed * 7 % kNames.size()) / (kNames.size() - 1) - 0.5);
        whole = handin_text(*lesson, Classmate(*lesson, name, able).answers(), {name, ++seed});
        write(folder, "decoderscope-text-" + name + ".json", whole);
    }
    Json edited = Json::parse(handin_text(*lesson, Classmate(*lesson, "Xenia", -0.3).answers(), {"Xenia", ++seed}));
    for (Json& answer : edited["answers"])  // two wrong answers are taken out
        if (answer["question"] == "clueless") answer["given"] = Json::array({answer["given"].back()});
    write(folder, "edited.json", edited.dump());
    write(folder, "damaged-1.json", whole.substr(0, whole.size() / 2));
    write(folder, "damaged-2.json", "");
    write(folder, "damaged-3.json", R"({"format": "decoderscope-handin", "version": 2})");
    const std::shared_ptr<const Lesson> other = find_lesson("weight");
    for (const std::string name : {"other-1", "other-2"}) {
        LessonProgress progress;
        const lessons::Question& question = *questions_of(*other).front();
        progress.questions[question.id].given.push_back(
            {NumberAnswer{0.95}, run_text(*opened_for(*other, question)), "2026-03-02T09:15:00Z"});
        write(folder, name + ".json", handin_text(*other, progress, {name, ++seed}));
    }
}

}  // namespace decoderscope::testing
