// That nothing but knowing tells the right choice from the others: neither its place, nor its length, nor the form of
// the question. Counted over all lessons and the gallery, in both languages.
#include "app/core/lessons/library.h"
#include "app/core/lessons/progress.h"
#include "app/core/lessons/versions.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

// χ² that chance alone exceeds one time in a hundred, by degrees of freedom.
double rare(std::size_t degrees) { return std::vector<double>{0.0, 6.63, 9.21, 11.34, 13.28}.at(degrees); }

// How far counts are from being equal.
double chi_square(const std::vector<double>& counts) {
    double sum = 0.0, chi = 0.0;
    for (const double count : counts) sum += count;
    const double expected = sum / static_cast<double>(counts.size());
    for (const double count : counts) chi += (count - expected) * (count - expected) / expected;
    return chi;
}

// Characters, not bytes.
std::size_t length_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// A question with choices, as the learner sees it on the run that its place opens.
struct Seen {
    LessonKind kind;
    std::string name;
    std::vector<std::string> texts;
    std::vector<bool> computed;  // whether a number in it is shown as a computed one, in another colour
    std::vector<bool> marked;    // whether a word in it is emphasised
    std::size_t right = 0;
};

std::vector<Seen> all_questions(const std::string& language) {
    std::vector<Seen> all;
    for (const LessonCard& card : lesson_cards()) {
        const std::shared_ptr<const Lesson> lesson = find_lesson(card.name, language);
        for (const lessons::Question* question : questions_of(*lesson)) {
            const std::vector<Choice>* choices = choices_of(*question);
            if (choices == nullptr) continue;
            INFO(card.name << " " << question->id);
            const std::shared_ptr<const Scenario> opened = opened_for(*lesson, *question);
            Runs runs(*opened, nullptr, opened);
            const Asked asked{*lesson, *question, runs, opened.get()};
            Seen seen{
                .kind = card.kind, .name = card.name + "/" + question->id, .texts = {}, .computed = {}, .marked = {}};
            for (const Choice& choice : *choices) {
                const Shown text = shown_choice(choice, asked.scope());
                seen.texts.push_back(plain_text(text));
                seen.computed.push_back(std::ranges::any_of(text, &ShownSpan::is_number));
                seen.marked.push_back(
                    std::ranges::any_of(text, [](const ShownSpan& span) { return span.style != Span::Style::plain; }));
            }
            const std::vector<std::size_t> right = right_choices(asked);
            REQUIRE(right.size() == 1);
            seen.right = right.front();
            all.push_back(std::move(seen));
        }
    }
    return all;
}

// Whether the right choice is the only one with something, or the only one without.
bool stands_out(const std::vector<bool>& has, std::size_t right) {
    const auto with = static_cast<std::size_t>(std::ranges::count(has, true));
    return has[right] ? with == 1 : with + 1 == has.size();
}

// Counts of something about the right choice, apart for lessons and gallery and by the number of choices.
using Counts = std::map<std::pair<LessonKind, std::size_t>, std::vector<double>>;

void need_chance(const Counts& counts) {
    for (const auto& [group, numbers] : counts) {
        INFO((group.first == LessonKind::bug ? "gallery, " : "lessons, ")
             << group.second << " choices: " << Catch::StringMaker<std::vector<double>>::convert(numbers));
        CHECK(chi_square(numbers) < rare(numbers.size() - 1));
    }
}

}  // namespace

TEST_CASE("neither place nor length tells the right choice, and all exercises have one form", "[long]") {
    for (const std::string language : {"", "zh_CN"}) {
        INFO(language);
        Counts places, lengths;
        std::set<std::size_t> exercises;  // how many choices they have
        for (const Seen& seen : all_questions(language)) {
            const std::size_t count = seen.texts.size();
            std::vector<double>& place = places[{seen.kind, count}];
            std::vector<double>& length = lengths[{seen.kind, count}];
            place.resize(count);
            length.resize(count);
            ++place[seen.right];
            // How many are longer; those of the same length share the ranks.
            const std::size_t own = length_of(seen.texts[seen.right]);
            std::size_t longer = 0, same = 0;
            for (const std::string& text : seen.texts) {
                longer += length_of(text) > own ? 1 : 0;
                same += length_of(text) == own ? 1 : 0;
            }
            for (std::size_t rank = longer; rank < longer + same; ++rank)
                length[rank] += 1.0 / static_cast<double>(same);
            if (seen.kind == LessonKind::bug) exercises.insert(count);
        }
        need_chance(places);
        need_chance(lengths);
        CHECK(exercises == std::set<std::size_t>{5});
    }
}

TEST_CASE("choices are shuffled for each learner, and stay as they are", "[long]") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight"), chinese = find_lesson("weight", "zh_CN");
    std::map<std::string, std::vector<double>> first;  // how often each choice comes first
    std::size_t alike = 0, all = 0;
    constexpr std::uint64_t kLearners = 2000;
    for (std::uint64_t seed = 1; seed <= kLearners; ++seed) {
        std::set<std::vector<std::size_t>> orders;
        for (std::size_t i = 0; i < questions_of(*lesson).size(); ++i) {
            const lessons::Question& question = *questions_of(*lesson)[i];
            if (choices_of(question) == nullptr) continue;
            const std::vector<std::size_t> order = shown_order(*lesson, question, seed);
            REQUIRE(std::set<std::size_t>(order.begin(), order.end()).size() == choices_of(question)->size());
            CHECK(order == shown_order(*lesson, question, seed));
            CHECK(order == shown_order(*chinese, *questions_of(*chinese)[i], seed));
            std::vector<double>& counts = first[question.id];
            counts.resize(order.size());
            ++counts[order.front()];
            alike += orders.insert(order).second ? 0 : 1;
            ++all;
        }
    }
    for (const auto& [id, counts] : first) {
        INFO(id);
        CHECK(chi_square(counts) < rare(counts.size() - 1));
    }
    // Three questions of four choices: two orders of 24 are alike one time in eight.
    CHECK(alike < all / 8);
    const std::shared_ptr<const Lesson> spiky = find_lesson("gallery/spiky");
    const lessons::Question& question = *questions_of(*spiky).front();
    CHECK(shown_order(*spiky, question, 1) != shown_order(*spiky, question, 2));
    CHECK(new_seed() != 0);
}

TEST_CASE("the right choice is not the only one whose number is computed, or the only one whose number isn't",
          "[long]") {
    for (const std::string language : {"", "zh_CN"}) {
        for (const Seen& seen : all_questions(language)) {
            INFO(seen.name << " " << language);
            const auto has_number = [&](std::size_t i) {
                return std::ranges::any_of(seen.texts[i], [](char c) { return c >= '0' && c <= '9'; });
            };
            if (!has_number(seen.right)) continue;
            std::size_t alike = 0, others = 0;
            for (std::size_t i = 0; i < seen.texts.size(); ++i) {
                if (i == seen.right || !has_number(i)) continue;
                ++(seen.computed[i] == seen.computed[seen.right] ? alike : others);
            }
            CHECK((alike > 0 || others == 0));
        }
    }
}

// Signs of one kind, in both languages; the last are digits.
constexpr std::array<std::array<std::string_view, 2>, 8> kSigns = {
    {{",", "，"}, {":", "："}, {";", "；"}, {"(", "（"}, {"“", "\""}, {"?", "？"}, {"—", "–"}, {".", "。"}}};

TEST_CASE("no choice is told by its signs, its emphasis, its number, or a length of its own", "[long]") {
    for (const std::string language : {"", "zh_CN"}) {
        for (const Seen& seen : all_questions(language)) {
            if (seen.kind == LessonKind::bug) continue;  // causes are the same sentences everywhere
            INFO(seen.name << " " << language << ": " << seen.texts[seen.right]);
            const auto apart = [&](const auto& has) {
                std::vector<bool> all;
                for (const std::string& text : seen.texts) all.push_back(has(text));
                return stands_out(all, seen.right);
            };
            for (const auto& signs : kSigns) {
                const std::string_view latin = signs[0], wide = signs[1];
                INFO(latin);
                CHECK_FALSE(apart([&](std::string text) {
                    // A point inside a number is no sign.
                    for (std::size_t at = 0; latin == "." && (at = text.find('.', at)) != std::string::npos; ++at)
                        if (at + 1 < text.size() && text[at + 1] != ' ') text[at] = '0';
                    return text.find(latin) != std::string::npos || text.find(wide) != std::string::npos;
                }));
            }
            CHECK_FALSE(apart([](const std::string& text) {
                return std::ranges::any_of(text, [](char c) { return c >= '0' && c <= '9'; });
            }));
            CHECK_FALSE(stands_out(seen.marked, seen.right));
            std::size_t shortest = std::string::npos, longest = 0;
            for (std::size_t i = 0; i < seen.texts.size(); ++i) {
                if (i == seen.right) continue;
                shortest = std::min(shortest, length_of(seen.texts[i]));
                longest = std::max(longest, length_of(seen.texts[i]));
            }
            // A fifth more or less than all the others, and three letters, can be seen at a glance.
            const auto own = static_cast<double>(length_of(seen.texts[seen.right]));
            CHECK(own <= std::max(1.2 * static_cast<double>(longest), static_cast<double>(longest) + 3.0));
            CHECK(own >= std::min(static_cast<double>(shortest) / 1.2, static_cast<double>(shortest) - 3.0));
        }
    }
}
