#include "app/core/lessons/player.h"

#include "app/core/files/saved_session.h"
#include "app/core/files/session_file.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

// As progress keeps it: in one line, with its keys in order.
std::string run_text(const Session& session) {
    const files::SavedSession work{.scenario = session.shown().scenario, .cursor = session.cursor()};
    return nlohmann::json::parse(files::session_text(files::session_file_of(work), "")).dump();
}

}  // namespace

Player::Player(std::shared_ptr<const Lesson> lesson, LessonProgress progress)
    : lesson_(std::move(lesson)), progress_(std::move(progress)) {
    turn_to(std::min(progress_.page, lesson_->pages.size() - 1));
}

std::size_t Player::shown_blocks() const {
    const std::vector<Block>& blocks = shown_page().blocks;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        if (const auto* question = std::get_if<Question>(&blocks[i]))
            if (!progress_.solved(question->id)) return i + 1;
    return blocks.size();
}

const Question* Player::open_question() const {
    const std::size_t shown = shown_blocks();
    if (shown == 0) return nullptr;
    const auto* question = std::get_if<Question>(&shown_page().blocks[shown - 1]);
    return question != nullptr && !progress_.solved(question->id) ? question : nullptr;
}

ClosedPanels Player::withheld() const {
    const Question* question = open_question();
    return question == nullptr ? ClosedPanels() : question->withheld;
}

void Player::turn_to(std::size_t page) {
    progress_.page = page;
    reached_ = 0;
    to_open_.reset();
    to_go_.reset();
    // What is open stays open until the page says otherwise: if it begins without a model, the last one before counts.
    const Place* before = nullptr;
    for (std::size_t i = 0; i < page; ++i)
        for (const Block& block : lesson_->pages[i].blocks)
            if (const auto* place = std::get_if<Place>(&block); place != nullptr && !place->model.empty())
                before = place;
    if (before != nullptr && !opened_) {
        try {
            opened_ = std::make_shared<const Scenario>(scenario_of(*before, lesson_->path));
        } catch (const Error&) {
            opened_ = nullptr;
        }
    }
    reach_places();
}

void Player::speak(std::shared_ptr<const Lesson> translated) {
    if (translated->pages.size() == lesson_->pages.size()) lesson_ = std::move(translated);
}

// The page's first place, and places with a model, are opened when they come to be shown.
void Player::reach_places() {
    const std::vector<Block>& blocks = shown_page().blocks;
    const auto is_place = [](const Block& block) { return std::holds_alternative<Place>(block); };
    const auto first = static_cast<std::size_t>(std::ranges::find_if(blocks, is_place) - blocks.begin());
    for (const std::size_t end = shown_blocks(); reached_ < end; ++reached_) {
        const auto* place = std::get_if<Place>(&blocks[reached_]);
        if (place != nullptr && (reached_ == first || !place->model.empty())) to_open_ = reached_;
    }
}

void Player::open(std::size_t block) { to_open_ = block; }

void Player::keep_what_is_open() {
    if (!to_open_) return;
    const auto& place = std::get<Place>(shown_page().blocks[*std::exchange(to_open_, std::nullopt)]);
    if (place.model.empty()) return;
    try {
        opened_ = std::make_shared<const Scenario>(scenario_of(place, lesson_->path));
    } catch (const Error&) {
        opened_ = nullptr;
    }
}

Player::Step Player::advance(const Session& session) {
    Step step;
    reach_places();
    if (to_open_) {
        const auto& place = std::get<Place>(shown_page().blocks[*to_open_]);
        to_go_ = std::exchange(to_open_, std::nullopt);
        step.tab = place.tab;
        if (place.model.empty()) return step;
        try {
            opened_ = std::make_shared<const Scenario>(scenario_of(place, lesson_->path));
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
            step.commands = going_commands(place, {runs, nullptr, &lesson_->lets});
        } catch (const Error& error) {
            step.commands.push_back(command::Tell{error.sentence(), true});
        }
    }
    return step;
}

Verdict Player::judged(const Session& session, const Question& question, const Answer& given) const {
    Runs runs(session.shown().scenario, session.shown().run, opened_);
    return judge({*lesson_, question, runs, opened_.get()}, given);
}

Verdict Player::answer(const Session& session, const Question& question, const Answer& given) {
    QuestionProgress& progress = progress_.questions[question.id];
    if (progress.right) return {true, {}};
    Verdict verdict;
    try {
        verdict = judged(session, question, given);
    } catch (const Error&) {
        const std::string sentence =
            tr("What is open lacks what this question asks about. The page's first button opens it again.");
        return {false, {{{Span::Style::plain, sentence, "", false}}}};
    }
    ++progress.tries;
    if (verdict.right) note_solved(session, question, given);
    return verdict;
}

void Player::note_solved(const Session& session, const Question& question, const Answer& given) {
    QuestionProgress& progress = progress_.questions[question.id];
    progress.right = true;
    progress.answer = given;
    progress.run = run_text(session);
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
        Verdict verdict = judged(session, *question, RunAnswer{});
        if (!verdict.right) {
            if (!is_touched(session.shown().scenario)) return std::nullopt;  // nothing was answered yet
            return verdict;
        }
        ++progress_.questions[question->id].tries;
        note_solved(session, *question, RunAnswer{});
        return verdict;
    } catch (const Error&) {
        return std::nullopt;
    }
}

void Player::ask_hint(const Question& question) {
    std::size_t& hints = progress_.questions[question.id].hints;
    hints = std::min(hints + 1, kHints);
}

}  // namespace decoderscope::core::lessons
