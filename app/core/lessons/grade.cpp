#include "app/core/lessons/grade.h"

#include "app/core/lessons/library.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

namespace fs = std::filesystem;
constexpr auto kReplace = Json::error_handler_t::replace;

std::vector<fs::path> json_files_in(const std::string& folder) {
    std::error_code failed;
    const auto is_wanted = [](const fs::path& path) {
        const std::string file = in_small_letters(path.filename().string());
        // "._…" is what a Mac's archive adds to a file.
        return !file.starts_with("._") && (file.ends_with(".json") || file.starts_with("decoderscope-"));
    };
    if (!fs::is_directory(folder, failed)) throw Error("{path}: expected a folder of hand-ins", {{"path", folder}});
    std::vector<fs::path> files;
    constexpr auto kGoOn = fs::directory_options::skip_permission_denied;
    for (auto at = fs::recursive_directory_iterator(folder, kGoOn, failed);
         !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
        std::error_code unknown;
        if (is_wanted(at->path()) && !at->is_directory(unknown)) files.push_back(at->path());
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
    for (const GradedHandin& handin : grades.handins) {
        std::set<std::string> own;
        for (const JudgedTry& one : handin.judged.answers[question].all) {
            const std::string words = one.said + '\n' + one.why;
            if (one.right || !own.insert(words).second) continue;
            WrongAnswer& wrong = by_words[words];
            wrong.said = one.said;
            wrong.why = one.why;
            ++wrong.count;
        }
    }
    std::vector<WrongAnswer> all;
    for (auto& [words, wrong] : by_words) all.push_back(std::move(wrong));
    std::ranges::stable_sort(all, std::greater<>(), &WrongAnswer::count);
    return all;
}

std::optional<BeforeAndAfter> before_and_after(const LessonGrades& grades) {
    std::map<std::string, std::vector<const GradedHandin*>> by_learner;
    for (const GradedHandin& handin : grades.handins)
        if (!handin.learner.empty()) by_learner[handin.who].push_back(&handin);
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

// ---- who handed in

// What was answered in which second.
std::vector<std::uint64_t> moments_of(const Handin& handin) {
    std::vector<std::uint64_t> moments;
    for (const auto& [question, handed] : handin.answers)
        for (const GivenAnswer& given : handed.given)
            if (!given.time.empty())
                moments.push_back(std::hash<std::string>()(question + '\n' + given.time + '\n' +
                                                           json_of(given.answer).dump(-1, ' ', false, kReplace)));
    std::ranges::sort(moments);
    return moments;
}

bool is_earlier(const GradedHandin& a, const GradedHandin& b) {
    return std::tie(a.time, a.file) < std::tie(b.time, b.file);
}

// Of a learner's hand-ins of one round, the last one counts.
void keep_the_last(LessonGrades& grades) {
    std::map<std::pair<std::string, std::uint64_t>, const GradedHandin*> last;
    for (const GradedHandin& handin : grades.handins) {
        const GradedHandin*& latest = last[{handin.who, handin.round}];
        if (latest == nullptr || is_earlier(*latest, handin)) latest = &handin;
    }
    std::vector<GradedHandin> kept;
    for (const GradedHandin& handin : grades.handins) {
        const GradedHandin& latest = *last[{handin.who, handin.round}];
        if (&latest == &handin)
            kept.push_back(handin);
        else
            grades.replaced.push_back({handin.file, tr("handed in again; {file} counts", {{"file", latest.file}})});
    }
    grades.handins = std::move(kept);
}

// Each one that is like another learner's is named with the earliest that it is most like.
std::vector<Copies> copies_in(const LessonGrades& grades) {
    constexpr std::size_t kFewest = 3;  // answers in the same second: two may be chance
    std::vector<const GradedHandin*> in_order;
    for (const GradedHandin& handin : grades.handins) in_order.push_back(&handin);
    std::ranges::sort(in_order, [](const auto* a, const auto* b) { return is_earlier(*a, *b); });
    std::vector<Copies> all;
    for (std::size_t i = 0; i < in_order.size(); ++i) {
        const GradedHandin& one = *in_order[i];
        std::optional<Copies> most;
        for (std::size_t j = 0; j < i; ++j) {
            const GradedHandin& before = *in_order[j];
            if (before.who == one.who) continue;
            std::vector<std::uint64_t> common;
            std::ranges::set_intersection(one.moments, before.moments, std::back_inserter(common));
            const bool alike =
                common.size() >= kFewest && 2 * common.size() >= std::min(one.moments.size(), before.moments.size());
            const Copies copies{one.file,
                                one.learner,
                                before.file,
                                before.learner,
                                one.seed > 0 && one.seed == before.seed,
                                alike ? common.size() : 0};
            const auto how_much = [](const Copies& of) { return std::tuple(of.same_seconds, of.same_seed); };
            if ((copies.same_seed || alike) && (!most || how_much(copies) > how_much(*most))) most = copies;
        }
        if (most) all.push_back(*std::move(most));
    }
    return all;
}

// Two of one name are told apart by their seeds, unless a roster has only one.
void name_namesakes(LessonGrades& grades) {
    std::map<std::string, std::set<std::uint64_t>> seeds;
    for (const GradedHandin& handin : grades.handins)
        if (!handin.learner.empty() && handin.seed > 0) seeds[handin.learner].insert(handin.seed);
    for (GradedHandin& handin : grades.handins)
        if (const auto found = seeds.find(handin.learner); found != seeds.end() && found->second.size() > 1)
            handin.judged.remarks.emplace_back(
                handin.enrolled
                    ? tr("another hand-in with this name has another seed: another computer, or another learner")
                    : tr("another learner has this name, or the same one used another computer"));
}

// Whom a hand-in belongs to.
void identify(GradedHandin& handin, const Roster* roster) {
    handin.who = handin.seed > 0 ? handin.learner + " · seed " + std::to_string(handin.seed) : handin.file;
    if (roster == nullptr) return;
    const std::vector<std::size_t> called = roster->called(handin.learner);
    if (called.empty()) {
        handin.judged.remarks.emplace_back(tr("not on the roster"));
    } else if (called.size() > 1) {
        handin.judged.remarks.push_back(
            tr("{count} on the roster go by this name; expected an id instead", {{"count", called.size()}}));
    } else {
        const Enrolled& one = roster->learners[called.front()];
        handin.enrolled = called.front();
        handin.who = one.id.empty() ? one.name : one.id;
    }
}

// The file of the same name as the learner: "learner-3f2a.json", or "learner-3f2a-2.json".
void hide_name(GradedHandin& handin, Pseudonyms& pseudonyms, std::set<std::string>& files) {
    handin.learner = pseudonyms.of(handin.who);
    handin.who = handin.learner;
    for (int number = 1;; ++number) {
        handin.file = handin.learner + (number > 1 ? "-" + std::to_string(number) : "") + ".json";
        if (files.insert(handin.file).second) return;
    }
}

std::vector<std::size_t> missing_of(const LessonGrades& grades, const Roster& roster) {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < roster.learners.size(); ++i)
        if (std::ranges::find(grades.handins, std::optional(i), &GradedHandin::enrolled) == grades.handins.end())
            missing.push_back(i);
    return missing;
}

// The judges of the lessons that were met so far.
class Judges {
public:
    Judges(std::shared_ptr<const Lesson> only, int tries) : tries_(tries) {
        if (only) judges_.push_back(std::make_unique<HandinJudge>(std::move(only), tries_));
        only_ = !judges_.empty();
    }

    // nullptr: it is of another lesson than the one that is asked for. Throws Error if there is no such lesson.
    HandinJudge* judge_of(const Handin& handin) {
        for (const auto& judge : judges_)
            if (is_of(handin, judge->lesson())) return judge.get();
        if (only_) return nullptr;
        return judges_.emplace_back(std::make_unique<HandinJudge>(lesson_of_handin(handin), tries_)).get();
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
    int tries_;
    bool only_ = false;
};

}  // namespace

ClassGrades grade_folder(const std::string& folder, std::shared_ptr<const Lesson> lesson, const GradeOptions& options) {
    ClassGrades grades;
    const std::string wanted = lesson ? plain_text(lesson->title) : std::string();
    Judges judges(std::move(lesson), options.tries);
    std::map<const Lesson*, LessonGrades> by_lesson;
    std::set<std::string> files;
    for (const fs::path& path : json_files_in(folder)) {
        std::string file = readable(path.lexically_relative(folder).string());
        if (options.pseudonyms != nullptr) file = "file " + std::to_string(files.size() + grades.unreadable.size() + 1);
        try {
            const Handin handin = read_handin(path.string());
            HandinJudge* judge = naming(path.string(), [&] { return judges.judge_of(handin); });
            if (judge == nullptr) {
                const bool by_name = handin.title.empty() || handin.title == wanted;
                const std::string& title = by_name ? handin.lesson : handin.title;
                grades.foreign.push_back(
                    {file, tr("handed in for “{given}”, not for “{wanted}”", {{"given", title}, {"wanted", wanted}})});
                continue;
            }
            LessonGrades& of = by_lesson[&judge->lesson()];
            if (!of.lesson) of.lesson = std::make_shared<const Lesson>(judge->lesson());
            GradedHandin one{file, handin.learner,    handin.time, handin.seed, handin.round, judge->judge(handin), {},
                             {},   moments_of(handin)};
            identify(one, options.roster);
            if (options.pseudonyms != nullptr) hide_name(one, *options.pseudonyms, files);
            of.handins.push_back(std::move(one));
        } catch (const std::exception& error) {  // whatever is in a file, the others are graded
            const std::string begin = path.string() + ": ";
            std::string why = error.what();
            while (why.starts_with(begin)) why.erase(0, begin.size());
            grades.unreadable.push_back({file, readable(why, 400)});
        }
    }
    for (auto& [known, of] : by_lesson) {
        keep_the_last(of);
        name_namesakes(of);
        of.copies = copies_in(of);
        if (options.roster != nullptr) of.missing = missing_of(of, *options.roster);
        sum_up(of);
        grades.lessons.push_back(std::move(of));
    }
    std::ranges::sort(grades.lessons, {},
                      [](const LessonGrades& of) { return std::tuple(of.lesson->number, of.lesson->name); });
    return grades;
}

std::vector<ClassLine> class_lines(const ClassGrades& grades, const Roster* roster) {
    std::vector<ClassLine> lines;
    std::map<std::string, std::size_t> line_of;
    const std::size_t lessons = grades.lessons.size();
    if (roster != nullptr)
        for (const Enrolled& one : roster->learners)
            lines.push_back({&one, one.name, std::vector<const GradedHandin*>(lessons)});
    for (std::size_t i = 0; i < lessons; ++i)
        for (const GradedHandin& handin : grades.lessons[i].handins) {
            if (roster != nullptr && !handin.enrolled) continue;
            std::size_t line = handin.enrolled.value_or(0);
            if (roster == nullptr) {
                line = line_of.emplace(handin.who, lines.size()).first->second;
                if (line == lines.size())
                    lines.push_back({nullptr, handin.learner, std::vector<const GradedHandin*>(lessons)});
            }
            const GradedHandin*& counts = lines[line].handins[i];
            if (counts == nullptr || counts->round < handin.round) counts = &handin;
        }
    return lines;
}

}  // namespace decoderscope::core::lessons
