#pragma once

#include "app/core/lessons/judge.h"
#include "app/core/lessons/progress.h"
#include "app/core/session/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace decoderscope::core::lessons {

// A lesson being read: its page, what is solved, and what its place opened. It changes nothing itself: it returns the
// commands.
class Player {
public:
    Player(std::shared_ptr<const Lesson> lesson, LessonProgress progress, std::uint64_t seed = 0);

    [[nodiscard]] const std::shared_ptr<const Lesson>& lesson() const { return lesson_; }
    [[nodiscard]] const LessonProgress& progress() const { return progress_; }
    [[nodiscard]] std::size_t page() const { return progress_.page; }
    [[nodiscard]] const Page& shown_page() const { return lesson_->pages[page()]; }
    // How many blocks of the page are shown: up to the first open question.
    [[nodiscard]] std::size_t shown_blocks() const;
    // The open question of the page; nullptr once all are solved.
    [[nodiscard]] const Question* open_question() const;
    [[nodiscard]] ClosedPanels withheld() const;
    // What the last place with a model opened; nullptr before that.
    [[nodiscard]] const std::shared_ptr<const Scenario>& opened() const { return opened_; }
    [[nodiscard]] bool is_last_page() const { return page() + 1 == lesson_->pages.size(); }

    // Goes to another page; its first place is opened.
    void turn_to(std::size_t page);
    // Opens a place of this page, by its block's number.
    void open(std::size_t block);
    // Keeps what is open instead of what the page would open, as if the reader had made it so.
    void keep_what_is_open();
    // The same lesson in another language.
    void speak(std::shared_ptr<const Lesson> translated);

    // What is to be done for a place that was reached. Call it each frame.
    struct Step {
        std::vector<Command> commands;
        std::string tab;  // to open; empty: as it is
        WindowPart point = WindowPart::none;
    };
    [[nodiscard]] Step advance(const Session& session);

    // Judges an answer to the open question on the session's run.
    Verdict answer(const Session& session, const Question& question, const Answer& given);
    // Whether the open question is solved by the run as it is: asked again with each new run.
    std::optional<Verdict> watch(const Session& session);
    // Shows one more hint.
    void ask_hint(const Question& question);
    // What the lesson said about a question of this page when it was solved; nullptr before that.
    [[nodiscard]] const Said* said(const Question& question) const;
    // Skips a question for as long as this page is read; and goes back to it.
    void skip(const Question& question);
    void take_up(const Question& question);
    [[nodiscard]] bool is_skipped(const Question& question) const { return skipped_.contains(question.id); }
    // Forgets every answer, and begins with the first page; of several versions, that of the next one.
    void begin_again();

private:
    [[nodiscard]] bool is_passed(const Question& question) const;
    void reach_places();
    [[nodiscard]] bool is_touched(const Scenario& now) const;
    void note(const Asked& asked, const Answer& answer, const Verdict& verdict);
    void say_again();

    std::shared_ptr<const Lesson> lesson_;
    LessonProgress progress_;
    std::uint64_t seed_;
    std::shared_ptr<const Scenario> opened_;
    std::optional<std::size_t> to_open_;  // a place of this page that is still to be opened
    std::optional<std::size_t> to_go_;    // one whose model is open, and where the cursor is still to go
    bool resumes_ = false;                // what a page before had opened is to be opened, if another model is open
    std::size_t reached_ = 0;             // the blocks of this page that were reached
    std::uint64_t watched_ = 0;           // the version of the last run that was watched
    std::set<std::string, std::less<>> skipped_;  // questions of this page
    std::optional<std::size_t> mistake_;  // the last action that was one of the wrong answers known to the lesson
};

}  // namespace decoderscope::core::lessons
