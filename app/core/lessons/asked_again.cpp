// Questions of other lessons that a lesson asks again: what was asked days ago and is answered once more is kept in
// mind (Roediger and Karpicke 2006, "Test-Enhanced Learning").
#include "app/core/lessons/lesson.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "engine/base/error.h"
#include "engine/formulas/words.h"

#include <optional>
#include <tuple>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

struct OldName {
    std::string lesson, id;
};

OldName old_name(const std::string& name) {
    const auto slash = name.rfind('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == name.size())
        throw Error("\"{name}\", expected LESSON/ID, a question of another lesson", {{"name", name}});
    return {name.substr(0, slash), name.substr(slash + 1)};
}

Lesson old_lesson(const std::string& name, const Lesson& asking) {
    const std::string path = lesson_file(name), translated = translation_of(path, language_of(asking));
    return read_lesson(translated.empty() ? path : translated, OldQuestions::left_out);
}

// What is on the stage when the question is asked: what the last place with a model opened, and where those after it
// led.
std::optional<Place> place_of(const Lesson& lesson, const std::string& id) {
    std::optional<Place> place;
    for (const Page& page : lesson.pages)
        for (const Block& block : page.blocks) {
            if (const auto* here = std::get_if<Question>(&block); here != nullptr && here->id == id) return place;
            const auto* next = std::get_if<Place>(&block);
            if (next == nullptr) continue;
            if (!next->model.empty()) {
                place = *next;
            } else if (place) {
                if (!next->tab.empty()) place->tab = next->tab;
                if (next->step.empty()) continue;
                std::tie(place->step, place->cell, place->batch, place->head) =
                    std::tie(next->step, next->cell, next->batch, next->head);
            }
        }
    return std::nullopt;
}

}  // namespace

AskedAgain asked_again(const std::string& name, const Lesson& asking) {
    const OldName old = old_name(name);
    const Lesson lesson = old_lesson(old.lesson, asking);
    std::vector<std::string> known;
    for (const Question* question : questions_of(lesson)) {
        known.push_back(question->id);
        if (question->id != old.id) continue;
        std::optional<Place> place = place_of(lesson, old.id);
        if (!place)
            throw Error("{name}: stands before any place with a model, and can't be asked alone", {{"name", name}});
        place->title = lesson.title;
        place->from = lesson.path;
        place->lets = lesson.lets;
        Question again = *question;
        again.id = old.lesson + "-" + old.id;
        again.again = true;
        again.lets.insert(lesson.lets.begin(), lesson.lets.end());
        return {std::move(*place), std::move(again)};
    }
    throw Error(formulas::with_nearest(
        message("the lesson {lesson} has no question {id}", {{"lesson", old.lesson}, {"id", old.id}}), old.id, known));
}

}  // namespace decoderscope::core::lessons
