#pragma once

#include "app/core/derived/derived.h"

#include <memory>
#include <utility>

namespace decoderscope::core {

// What a page shows while an answer may take longer than a frame: the answer, or, until it is there, the one before,
// with the question that it answers. The one before is stale: it is shown as such, and nothing in it acts.
template <class Question, class Answer>
class LastAnswer {
public:
    // To be called each frame, with the answer to what is asked now, empty while it is computed. `question()` is what
    // is needed to show that answer; asked for when it is new. What was shown of another `subject` (a model, a
    // training) is forgotten.
    template <class Subject, class MakeQuestion>
    void take(const std::shared_ptr<const Subject>& subject, const Value<Answer>& answer, MakeQuestion&& question) {
        if (subject_.owner_before(subject) || subject.owner_before(subject_)) *this = {};
        subject_ = subject;
        stale_ = !answer;
        if (!answer || answer.number() == answer_.number()) return;
        question_ = question();
        answer_ = answer;
    }

    // Whether there is something to show.
    explicit operator bool() const { return static_cast<bool>(answer_); }
    // Whether this answers a question other than the one asked now.
    [[nodiscard]] bool stale() const { return stale_; }
    [[nodiscard]] const Question& question() const { return question_; }
    [[nodiscard]] const Value<Answer>& answer() const { return answer_; }

private:
    std::weak_ptr<const void> subject_;
    Question question_{};
    Value<Answer> answer_;
    bool stale_ = false;
};

}  // namespace decoderscope::core
