#include "app/cli/lesson_writing.h"

#include "app/cli/commands.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/progress.h"
#include "app/core/lessons/writing.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"

#include <memory>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

namespace decoderscope::cli {

namespace {

namespace lessons = core::lessons;

// A question in which a formula is written, with the run that it asks about.
struct Exercise {
    std::shared_ptr<const lessons::Lesson> lesson;
    const lessons::Question* question = nullptr;
    std::shared_ptr<const core::Scenario> opened;
    std::unique_ptr<lessons::Runs> runs;

    [[nodiscard]] lessons::Asked asked() const { return {*lesson, *question, *runs, opened.get()}; }
    [[nodiscard]] const lessons::ByFormula& by() const { return std::get<lessons::ByFormula>(question->answer); }
};

Exercise exercise_named(const std::string& name, const std::string& language) {
    const std::size_t slash = name.rfind('/');
    std::vector<std::string> among{name.substr(0, slash)};
    if (slash == std::string::npos) {
        among.clear();
        for (const lessons::LessonCard& card : lessons::lesson_cards())
            if (card.kind == lessons::LessonKind::lesson) among.push_back(card.name);
    }
    Exercise exercise;
    std::string known;
    for (const std::string& one : among) {
        const std::shared_ptr<const lessons::Lesson> lesson = lessons::find_lesson(one, language);
        for (const lessons::Question* question : lessons::questions_of(*lesson)) {
            if (!std::holds_alternative<lessons::ByFormula>(question->answer)) continue;
            known += (known.empty() ? "" : ", ") + one + "/" + question->id;
            if (exercise.question != nullptr || question->id != name.substr(slash + 1)) continue;
            exercise.lesson = lesson;
            exercise.question = question;
        }
    }
    if (exercise.question == nullptr)
        throw Error("{name}: there is no such exercise; expected one of {known}", {{"name", name}, {"known", known}});
    exercise.opened = lessons::opened_for(*exercise.lesson, *exercise.question);
    exercise.runs = std::make_unique<lessons::Runs>(*exercise.opened, nullptr, exercise.opened);
    return exercise;
}

std::vector<Tensor> numbers_in(const std::string& path, std::size_t texts) {
    const SafetensorsFile file(path);
    std::vector<Tensor> numbers;
    for (std::size_t text = 0; text < texts; ++text) numbers.push_back(file.floats(std::to_string(text)));
    return numbers;
}

void write_operands(const Exercise& exercise, const std::string& path) {
    std::vector<std::pair<std::string, Tensor>> all;
    const std::vector<lessons::WritingTask> tasks = lessons::writing_tasks(exercise.asked(), exercise.by());
    const Index one = 1;
    for (const auto& [name, value] : tasks.front().numbers)
        all.emplace_back("numbers/" + name, Tensor(unnamed(std::span(&one, 1)), {static_cast<float>(value)}));
    std::size_t text = 0;
    for (const lessons::WritingTask& task : tasks) {
        for (const auto& [name, values] : task.operands) all.emplace_back(std::to_string(text) + "/" + name, values);
        ++text;
    }
    write_safetensors(path, all);
}

void write_verdict(const lessons::Verdict& verdict, bool as_json, std::ostream& out) {
    if (!as_json) {
        if (verdict.right) out << "Right.\n";
        for (const lessons::Shown& reply : verdict.replies) out << lessons::plain_text(reply) << '\n';
        return;
    }
    nlohmann::ordered_json json = {{"right", verdict.right},
                                   {"read", verdict.counts},
                                   {"mistake", verdict.mistake},
                                   {"replies", nlohmann::ordered_json::array()}};
    for (const lessons::Shown& reply : verdict.replies) json["replies"].push_back(lessons::plain_text(reply));
    out << json.dump(1) << '\n';
}

}  // namespace

void write_exercise(const WritingWanted& wanted, std::ostream& out) {
    const Exercise exercise = exercise_named(wanted.exercise, wanted.language);
    const lessons::Asked asked = exercise.asked();
    if (!wanted.operands.empty()) write_operands(exercise, wanted.operands);
    if (wanted.formula.empty() && wanted.numbers.empty()) {
        if (!wanted.operands.empty()) return;
        out << lessons::plain_text(lessons::shown(exercise.question->ask, asked.scope())) << '\n';
        for (const std::string& shape : lessons::shapes_to_write(exercise.runs->now(), exercise.by()))
            out << "  " << shape << '\n';
        return;
    }
    const lessons::Verdict verdict =
        wanted.numbers.empty()
            ? lessons::judge_formula(asked, exercise.by(), wanted.formula)
            : lessons::judge_numbers(asked, exercise.by(), numbers_in(wanted.numbers, exercise.by().on.size() + 1));
    write_verdict(verdict, wanted.json, out);
    if (!verdict.right)
        throw Judgement(verdict.counts ? Judged::different : Judged::refused,
                        message("{exercise}: this isn't right yet", {{"exercise", wanted.exercise}}));
}

}  // namespace decoderscope::cli
