#include "app/core/lessons/grade.h"

#include "app/core/lessons/library.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <tuple>

namespace decoderscope::core::lessons {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> json_files_in(const std::string& folder) {
    std::error_code failed;
    if (!fs::is_directory(folder, failed)) throw Error("{path}: expected a folder of hand-ins", {{"path", folder}});
    std::vector<fs::path> files;
    constexpr auto kGoOn = fs::directory_options::skip_permission_denied;
    for (auto at = fs::recursive_directory_iterator(folder, kGoOn, failed);
         !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
        std::error_code unknown;
        if (at->path().extension() == ".json" && !at->is_directory(unknown)) files.push_back(at->path());
    }
    std::ranges::sort(files);
    return files;
}

double share(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

double mean_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

double variance_of(const std::vector<double>& values) {
    const double mean = mean_of(values);
    double sum = 0.0;
    for (const double value : values) sum += (value - mean) * (value - mean);
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

std::optional<double> correlation_of(const std::vector<double>& a, const std::vector<double>& b) {
    const double spread = std::sqrt(variance_of(a) * variance_of(b));
    if (spread < 1e-12) return {};
    std::vector<double> products;
    for (std::size_t i = 0; i < a.size(); ++i) products.push_back(a[i] * b[i]);
    return (mean_of(products) - mean_of(a) * mean_of(b)) / spread;
}

// 1 where a learner's first answer to a question was right: a list for each question.
std::vector<std::vector<double>> first_answers(const LessonGrades& grades) {
    std::vector<std::vector<double>> all(grades.questions.size());
    for (const GradedHandin& handin : grades.handins)
        for (std::size_t i = 0; i < all.size(); ++i) all[i].push_back(handin.judged.answers[i].at_first ? 1.0 : 0.0);
    return all;
}

std::vector<double> totals_of(const std::vector<std::vector<double>>& items) {
    std::vector<double> totals(items.empty() ? 0 : items.front().size(), 0.0);
    for (const std::vector<double>& item : items)
        for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += item[i];
    return totals;
}

std::optional<double> cronbach_alpha(const std::vector<std::vector<double>>& items) {
    const double total = variance_of(totals_of(items));
    if (items.size() < 2 || total < 1e-12) return {};
    double single_items = 0.0;
    for (const std::vector<double>& item : items) single_items += variance_of(item);
    const auto count = static_cast<double>(items.size());
    return count / (count - 1.0) * (1.0 - single_items / total);
}

std::vector<WrongAnswer> wrong_answers(const LessonGrades& grades, std::size_t question) {
    std::map<std::string, WrongAnswer> by_words;
    for (const GradedHandin& handin : grades.handins)
        for (const JudgedTry& one : handin.judged.answers[question].all) {
            if (one.right) continue;
            WrongAnswer& wrong = by_words[one.said + '\n' + one.why];
            wrong.said = one.said;
            wrong.why = one.why;
            ++wrong.count;
        }
    std::vector<WrongAnswer> all;
    for (auto& [words, wrong] : by_words) all.push_back(std::move(wrong));
    std::ranges::stable_sort(all, std::greater<>(), &WrongAnswer::count);
    return all;
}

std::optional<BeforeAndAfter> before_and_after(const LessonGrades& grades) {
    std::map<std::string, std::vector<const GradedHandin*>> by_learner;
    for (const GradedHandin& handin : grades.handins)
        if (!handin.learner.empty()) by_learner[handin.learner].push_back(&handin);
    std::vector<double> before, after;
    const auto share_at_first = [](const GradedHandin& handin) {
        const std::vector<JudgedAnswer>& answers = handin.judged.answers;
        return share(static_cast<std::size_t>(std::ranges::count_if(answers, &JudgedAnswer::at_first)), answers.size());
    };
    for (const auto& [learner, handins] : by_learner) {
        const auto [first, last] = std::ranges::minmax_element(handins, {}, &GradedHandin::round);
        if ((*first)->round == (*last)->round) continue;
        before.push_back(share_at_first(**first));
        after.push_back(share_at_first(**last));
    }
    if (before.empty()) return {};
    BeforeAndAfter twice{before.size(), mean_of(before), mean_of(after), {}};
    if (twice.before < 1.0) twice.gain = (twice.after - twice.before) / (1.0 - twice.before);
    return twice;
}

// What the hand-ins show of each question.
void sum_up(LessonGrades& grades) {
    std::ranges::sort(grades.handins, {}, [](const GradedHandin& h) { return std::tie(h.learner, h.round, h.file); });
    for (const Question* question : questions_of(*grades.lesson)) grades.questions.push_back({.id = question->id});
    const std::vector<std::vector<double>> items = first_answers(grades);
    const std::vector<double> totals = totals_of(items);
    for (std::size_t i = 0; i < grades.questions.size(); ++i) {
        QuestionGrades& question = grades.questions[i];
        for (const GradedHandin& handin : grades.handins) {
            const JudgedAnswer& answer = handin.judged.answers[i];
            question.answered += answer.given ? 1 : 0;
            question.right += answer.right ? 1 : 0;
            question.at_first += answer.at_first ? 1 : 0;
        }
        question.wrong = wrong_answers(grades, i);
        question.difficulty = share(question.at_first, grades.handins.size());
        std::vector<double> rest = totals;
        for (std::size_t learner = 0; learner < rest.size(); ++learner) rest[learner] -= items[i][learner];
        question.discrimination = correlation_of(items[i], rest);
    }
    grades.reliability = cronbach_alpha(items);
    grades.twice = before_and_after(grades);
}

// The judges of the lessons that were met so far.
class Judges {
public:
    explicit Judges(std::shared_ptr<const Lesson> only) {
        if (only) judges_.push_back(std::make_unique<HandinJudge>(std::move(only)));
        only_ = !judges_.empty();
    }

    // nullptr: it is of another lesson than the one that is asked for. Throws Error if there is no such lesson.
    HandinJudge* judge_of(const Handin& handin) {
        for (const auto& judge : judges_)
            if (is_of(handin, judge->lesson())) return judge.get();
        if (only_) return nullptr;
        return judges_.emplace_back(std::make_unique<HandinJudge>(lesson_of_handin(handin))).get();
    }

private:
    static std::shared_ptr<const Lesson> lesson_of_handin(const Handin& handin) {
        try {
            return find_bundled_lesson(handin.lesson);
        } catch (const Error&) {
            throw Error("handed in for {lesson}, which isn't one of the program's lessons; name its file with --lesson",
                        {{"lesson", handin.lesson}});
        }
    }

    std::vector<std::unique_ptr<HandinJudge>> judges_;
    bool only_ = false;
};

}  // namespace

ClassGrades grade_folder(const std::string& folder, std::shared_ptr<const Lesson> lesson) {
    ClassGrades grades;
    const std::string wanted = lesson ? plain_text(lesson->title) : std::string();
    Judges judges(std::move(lesson));
    std::map<const Lesson*, LessonGrades> by_lesson;
    for (const fs::path& path : json_files_in(folder)) {
        const std::string file = path.lexically_relative(folder).string();
        try {
            const Handin handin = read_handin(path.string());
            HandinJudge* judge = naming(path.string(), [&] { return judges.judge_of(handin); });
            if (judge == nullptr) {
                const std::string& title = handin.title.empty() ? handin.lesson : handin.title;
                grades.foreign.push_back(
                    {file, tr("handed in for “{given}”, not for “{wanted}”", {{"given", title}, {"wanted", wanted}})});
                continue;
            }
            LessonGrades& of = by_lesson[&judge->lesson()];
            if (!of.lesson) of.lesson = std::make_shared<const Lesson>(judge->lesson());
            of.handins.push_back({file, handin.learner, handin.time, handin.seed, handin.round, judge->judge(handin)});
        } catch (const std::exception& error) {  // whatever is in a file, the others are graded
            const std::string begin = path.string() + ": ", why = error.what();
            grades.unreadable.push_back({file, why.starts_with(begin) ? why.substr(begin.size()) : why});
        }
    }
    for (auto& [known, of] : by_lesson) {
        sum_up(of);
        grades.lessons.push_back(std::move(of));
    }
    std::ranges::sort(grades.lessons, {},
                      [](const LessonGrades& of) { return std::tuple(of.lesson->number, of.lesson->name); });
    return grades;
}

}  // namespace decoderscope::core::lessons
