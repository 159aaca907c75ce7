#include "app/core/lessons/player.h"

#include "app/core/files/session_file.h"
#include "app/core/lessons/page.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

bool is_place(const Block& block) { return std::holds_alternative<Place>(block); }

bool opens(const Block& block) {
    const auto* place = std::get_if<Place>(&block);
    return place != nullptr && !place->model.empty();
}

std::shared_ptr<const Scenario> opened_by(const Place& place, const Lesson& lesson, const LessonProgress& progress) {
    return made_or(std::shared_ptr<const Scenario>(),
                   [&] { return std::make_shared<const Scenario>(scenario_of(place, lesson, &progress)); });
}

}  // namespace

Player::Player(std::shared_ptr<const Lesson> lesson, LessonProgress progress, std::uint64_t seed)
    : lesson_(lesson_for(std::move(lesson), seed, progress.round)), progress_(std::move(progress)), seed_(seed) {
    turn_to(std::min(progress_.page, lesson_->pages.size() - 1));
    // Taken up on a page that goes on with the model of one before.
    const std::vector<Block>& blocks = shown_page().blocks;
    const auto first = std::ranges::find_if(blocks, is_place);
    resumes_ = opened_ && (first == blocks.end() || !opens(*first));
}

std::size_t Player::shown_blocks() const {
    const std::vector<Block>& blocks = shown_page().blocks;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        if (const auto* question = std::get_if<Question>(&blocks[i]))
            if (!is_passed(*question)) return i + 1;
    return blocks.size();
}

const Question* Player::open_question() const {
    const std::size_t shown = shown_blocks();
    if (shown == 0) return nullptr;
    const auto* question = std::get_if<Question>(&shown_page().blocks[shown - 1]);
    return question != nullptr && !is_passed(*question) ? question : nullptr;
}

bool Player::is_passed(const Question& question) const {
    return skipped_.contains(question.id) || is_over(*lesson_, question, progress_);
}

void Player::skip(const Question& question) { skipped_.insert(question.id); }

void Player::take_up(const Question& question) { skipped_.erase(question.id); }

ClosedPanels Player::withheld() const {
    const Question* question = open_question();
    return question == nullptr ? ClosedPanels() : question->withheld;
}

void Player::turn_to(std::size_t page) {
    progress_.page = page;
    skipped_.clear();
    reached_ = 0;
    to_open_.reset();
    to_go_.reset();
    // What is open stays open until the page says otherwise: if it begins without a model, the last one before counts.
    const Place* before = nullptr;
    for (std::size_t i = 0; i < page; ++i)
        for (const Block& block : lesson_->pages[i].blocks)
            if (opens(block)) before = &std::get<Place>(block);
    if (before != nullptr && !opened_) opened_ = opened_by(*before, *lesson_, progress_);
    reach_places();
    say_again();
}

void Player::begin_again() {
    progress_ = {.round = progress_.round + 1};
    lesson_ = lesson_for(lesson_, seed_, progress_.round);
    opened_ = nullptr;
    mistake_.reset();
    turn_to(0);
}

void Player::speak(std::shared_ptr<const Lesson> translated) {
    if (translated->pages.size() == lesson_->pages.size())
        lesson_ = lesson_for(std::move(translated), seed_, progress_.round);
    say_again();
}

const Said* Player::said(const Question& question) const {
    const auto found = progress_.questions.find(question.id);
    return found == progress_.questions.end() || !found->second.said ? nullptr : &*found->second.said;
}

// A reply in another language, or from before replies were kept, is given again, about the same run.
void Player::say_again() {
    for (const Block& block : shown_page().blocks) {
        const auto* question = std::get_if<Question>(&block);
        const auto found = question == nullptr ? progress_.questions.end() : progress_.questions.find(question->id);
        if (found == progress_.questions.end() || !found->second.right || found->second.given.empty()) continue;
        std::optional<Said>& said = found->second.said;
        if (said && said->language == language_of(*lesson_)) continue;
        try {
            const std::shared_ptr<const Scenario> opened = opened_for(*lesson_, *question);
            Runs runs(scenario_of_run(found->second.given.back().run, *opened), nullptr, opened);
            said = said_of({*lesson_, *question, runs, opened.get()}, found->second.given.back().answer);
        } catch (const Error&) {
            continue;  // the page shows it of the run that is open
        }
    }
}

// The page's first place, and places with a model, are opened when they come to be shown.
void Player::reach_places() {
    const std::vector<Block>& blocks = shown_page().blocks;
    const auto first = static_cast<std::size_t>(std::ranges::find_if(blocks, is_place) - blocks.begin());
    for (const std::size_t end = shown_blocks(); reached_ < end; ++reached_) {
        if (opens(blocks[reached_]) || (reached_ == first && is_place(blocks[reached_]))) to_open_ = reached_;
    }
}

void Player::open(std::size_t block) { to_open_ = block; }

void Player::keep_what_is_open() {
    resumes_ = false;
    if (!to_open_) return;
    const auto& place = std::get<Place>(shown_page().blocks[*std::exchange(to_open_, std::nullopt)]);
    if (!place.model.empty()) opened_ = opened_by(place, *lesson_, progress_);
}

Player::Step Player::advance(const Session& session) {
    Step step;
    reach_places();
    if (std::exchange(resumes_, false) && session.scenario().about().name != opened_->about().name) {
        step.commands.push_back(command::OpenScenario{opened_, {}});
        return step;
    }
    if (to_open_) {
        const auto& place = std::get<Place>(shown_page().blocks[*to_open_]);
        to_go_ = std::exchange(to_open_, std::nullopt);
        step.tab = place.tab;
        if (place.model.empty()) return step;
        try {
            opened_ = std::make_shared<const Scenario>(scenario_of(place, *lesson_, &progress_));
            step.commands.push_back(command::OpenScenario{opened_, place.step});
        } catch (const Error& error) {
            to_go_.reset();
            step.commands.push_back(command::Tell{error.sentence(), true});
        }
        return step;
    }
    if (to_go_ && !session.stale()) {
        const auto& place = std::get<Place>(shown_page().blocks[*to_go_]);
        to_go_.reset();
        step.point = place.point;
        try {
            Runs runs(session.shown().scenario, session.shown().run, opened_);
            step.commands = going_commands(place, {runs, nullptr, &lesson_->lets, &place.lets});
        } catch (const Error& error) {
            step.commands.push_back(command::Tell{error.sentence(), true});
        }
    }
    return step;
}

Verdict Player::answer(const Session& session, const Question& question, const Answer& given) {
    if (is_over(*lesson_, question, progress_)) return {progress_.solved(question.id), {}};
    try {
        Runs runs(session.shown().scenario, session.shown().run, opened_);
        const Asked asked{*lesson_, question, runs, opened_.get()};
        Verdict verdict = judge(asked, given);
        if (verdict.counts) note(asked, given, verdict);
        return verdict;
    } catch (const Error&) {
        const std::string sentence =
            tr("What is open doesn't have what this question asks about. The page's first button opens it again.");
        return {false, {{{Span::Style::plain, sentence, "", false}}}};
    }
}

// Keeps an answer, and what was said if it was right.
void Player::note(const Asked& asked, const Answer& answer, const Verdict& verdict) {
    QuestionProgress& progress = progress_.questions[asked.question.id];
    ++progress.tries;
    if (verdict.right || progress.given.size() < kMostGiven)
        progress.given.push_back({with_words(asked.question, answer), run_text(asked.runs.now().scenario),
                                  utc_text(std::chrono::system_clock::now())});
    if (!verdict.right) return;
    progress.said = said_of(asked, answer);
    progress.right = true;
}

// Whether the learner has changed what the place opened.
bool Player::is_touched(const Scenario& now) const {
    return !opened_ || !files::changed_parts({*opened_, {}, nullptr}, {now, {}, nullptr}).empty();
}

std::optional<Verdict> Player::watch(const Session& session) {
    const Question* question = open_question();
    if (question == nullptr || !std::holds_alternative<ByRun>(question->answer) || to_open_ || to_go_ ||
        session.stale() || session.shown().version == watched_)
        return std::nullopt;
    watched_ = session.shown().version;
    try {
        Runs runs(session.shown().scenario, session.shown().run, opened_);
        const Asked asked{*lesson_, *question, runs, opened_.get()};
        Verdict verdict = judge(asked, RunAnswer{});
        if (!verdict.right && !is_touched(session.shown().scenario)) return std::nullopt;  // nothing was answered yet
        // Wrong actions are kept if they show a mistake that the lesson knows, once in a row.
        if (verdict.right || (verdict.wrong && verdict.wrong != mistake_)) note(asked, RunAnswer{}, verdict);
        mistake_ = verdict.right ? std::nullopt : verdict.wrong;
        return verdict;
    } catch (const Error&) {
        return std::nullopt;
    }
}

void Player::ask_hint(const Question& question) {
    std::size_t& hints = progress_.questions[question.id].hints;
    hints = std::min(hints + 1, lesson_->hints);
}

}  // namespace decoderscope::core::lessons
