#include "app/cli/commands.h"
#include "app/cli/lesson_grades.h"
#include "app/cli/lesson_writing.h"
#include "app/core/language/languages.h"
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/feedback.h"
#include "app/core/lessons/grade.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "app/core/lessons/scorm.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace decoderscope::cli {

namespace {

// "1 question", "7 questions": the command line is English.
std::string counted(std::size_t count, const char* thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

void list_lessons(std::ostream& out) {
    for (const core::lessons::LessonCard& card : core::lessons::lesson_cards()) {
        out << card.name << "  " << card.title;
        if (card.minutes > 0) out << " (" << card.minutes << " minutes, " << counted(card.questions, "question") << ")";
        out << (card.summary.empty() ? "" : ": ") << card.summary << '\n';
        if (!card.error.empty()) out << "  " << card.error << '\n';
    }
}

// Each problem has its line in the file; the command's error says how many there are.
void check_lesson_file(const std::string& name, const Context& context) {
    const auto tell = [&](const std::string& path, const std::vector<Sentence>& problems) {
        for (const Sentence& problem : problems) context.out << problem.english() << '\n';
        if (!problems.empty())
            throw Error(message_n("{path}: {count} mistake; expected none", "{path}: {count} mistakes; expected none",
                                  problems.size(), {{"path", path}}));
    };
    const std::string path = core::lessons::lesson_file(name);
    tell(path, core::lessons::mistakes_in(read_text(path), path));
    const std::shared_ptr<const core::lessons::Lesson> lesson = core::lessons::find_lesson(name);
    std::vector<Sentence> problems = core::lessons::check_lesson(*lesson, context.tabs);
    for (const std::string& language : core::lessons::translations_of(lesson->path)) {
        const std::string translated = core::lessons::translation_of(lesson->path, language);
        tell(translated, core::lessons::mistakes_in(read_text(translated), translated));
        for (const Sentence& problem : core::lessons::compare_translation(lesson->path, translated))
            problems.push_back(problem);
        for (const Sentence& problem :
             core::lessons::check_lesson(core::lessons::read_lesson(translated), context.tabs))
            problems.push_back(problem);
    }
    tell(lesson->path, problems);
    context.out << core::lessons::plain_text(lesson->title) << ": " << counted(lesson->pages.size(), "page") << ", "
                << counted(core::lessons::questions_of(*lesson).size(), "question")
                << "; every solution passes, every wrong answer is refused\n";
}

void check_handin_file(const std::string& path, std::ostream& out) {
    const core::lessons::JudgedHandin judged = core::lessons::judge_handin(path);
    out << judged.lesson << "  " << judged.title << ": " << judged.right() << " of " << judged.answers.size()
        << " right\n";
    if (judged.is_edited) out << "  edited since it was handed in, and judged as it is now\n";
    for (const core::lessons::JudgedAnswer& answer : judged.answers) {
        out << "  " << answer.question << ": ";
        if (!answer.given)
            out << "not answered\n";
        else if (answer.right)
            out << "right (tries " << answer.tries << ", hints " << answer.hints << ")\n";
        else
            out << "wrong: " << answer.why << '\n';
    }
}

void check_file(const std::string& path, const Context& context) {
    if (path.ends_with(".json"))
        check_handin_file(path, context.out);
    else
        check_lesson_file(path, context);
}

// While it exists, the program's own words are in the language of the lesson, or else English.
class SpokenFor {
public:
    explicit SpokenFor(const core::lessons::Lesson& lesson)
        : spoken_(core::language::languages(), [](const char*) -> const char* { return nullptr; }) {
        static_cast<void>(spoken_.follow(core::lessons::language_of(lesson)));
    }

private:
    core::language::WindowLanguage spoken_;
};

struct GradesWanted {
    std::string folder, lesson, csv, canvas, moodle, roster, pseudonyms, feedback, language;
    int tries = 0;
    bool json = false;
};

void tell_left_out(const std::string& file, const Gradebook& moodle) {
    std::string learners;
    for (const std::string& learner : moodle.left_out) learners += (learners.empty() ? "" : ", ") + learner;
    if (!learners.empty())
        throw Error(
            "{file}: without {learners}, of whom the roster has no id; expected one of each learner, since Moodle "
            "gives the points of a line without an id to the learner of the line before",
            {{"file", file}, {"learners", learners}});
}

// Whatever can't be read, the others are graded; then the command fails.
void grade_handins(const GradesWanted& wanted, std::ostream& out) {
    using namespace core::lessons;
    const auto lesson = wanted.lesson.empty() ? nullptr : find_lesson(wanted.lesson, wanted.language);
    std::optional<SpokenFor> spoken;
    if (lesson && !wanted.feedback.empty()) spoken.emplace(*lesson);
    const auto roster =
        wanted.roster.empty() ? std::optional<Roster>() : std::optional<Roster>(read_roster(wanted.roster));
    const Roster* of_class = roster ? &*roster : nullptr;
    Pseudonyms pseudonyms = wanted.pseudonyms.empty() ? Pseudonyms() : Pseudonyms(wanted.pseudonyms);
    const ClassGrades grades = grade_folder(
        wanted.folder, lesson,
        {.tries = wanted.tries, .roster = of_class, .pseudonyms = wanted.pseudonyms.empty() ? nullptr : &pseudonyms});
    const auto write = [&](const std::string& path, const auto& contents) {
        if (!path.empty()) write_whole(path, contents);
    };
    write(wanted.pseudonyms, [&](std::ostream& file) { pseudonyms.write(file); });
    write(wanted.csv, [&](std::ostream& csv) { write_grades_csv(csv, grades); });
    write(wanted.canvas, [&](std::ostream& csv) { write_gradebook(csv, canvas_gradebook(grades, of_class)); });
    const Gradebook moodle = moodle_gradebook(grades, of_class);
    write(wanted.moodle, [&](std::ostream& csv) { write_gradebook(csv, moodle); });
    if (!wanted.feedback.empty()) write_feedback(wanted.feedback, grades);
    if (wanted.json)
        write_grades_json(out, grades, of_class);
    else
        write_grades(out, grades, of_class);
    if (!wanted.moodle.empty()) tell_left_out(wanted.moodle, moodle);
    if (const std::size_t unread = grades.unreadable.size(); unread > 0)
        throw Error(message_n("{folder}: {count} hand-in could not be read; expected none",
                              "{folder}: {count} hand-ins could not be read; expected none", unread,
                              {{"folder", wanted.folder}}));
}

struct PageWanted {
    std::string name, path;
    std::string language;  // empty: the file's own
    int tries = 1;         // answers to a question that a package counts
    core::lessons::LessonPageOptions options;
};

std::shared_ptr<const core::lessons::Lesson> wanted_lesson(const PageWanted& wanted) {
    const std::shared_ptr<const core::lessons::Lesson> lesson =
        core::lessons::find_lesson(wanted.name, wanted.language);
    if (wanted.language.empty() || core::lessons::language_of(*lesson) == wanted.language) return lesson;
    std::string there(core::language::kEnglish);
    for (const std::string& language : core::lessons::translations_of(lesson->path)) there += ", " + language;
    throw Error("{lesson}: not in the language {language}, expected one of: {languages}",
                {{"lesson", wanted.name}, {"language", wanted.language}, {"languages", there}});
}

// A page is in one language, that of the lesson.
void export_lesson(const PageWanted& wanted) {
    const std::shared_ptr<const core::lessons::Lesson> lesson =
        core::lessons::lesson_for(wanted_lesson(wanted), wanted.options.seed, 0);
    const SpokenFor spoken(*lesson);
    write_whole(wanted.path, [&](std::ostream& out) {
        if (wanted.path.ends_with(".zip"))
            core::lessons::write_scorm(out, *lesson, wanted.options, wanted.tries);
        else
            core::lessons::write_lesson_page(out, *lesson, wanted.options);
    });
}

void write_answers(const PageWanted& wanted, std::ostream& out) {
    const std::shared_ptr<const core::lessons::Lesson> lesson = wanted_lesson(wanted);
    out << core::lessons::plain_text(lesson->title) << '\n';
    for (int version = 0; version < lesson->versions; ++version) {
        if (lesson->versions > 1) out << "\nversion " << version << '\n';
        const core::lessons::Lesson one = core::lessons::in_version(*lesson, version);
        for (const core::lessons::KeyEntry& entry : core::lessons::answer_key(one))
            out << '\n'
                << entry.question << ": " << core::lessons::plain_text(entry.ask) << "\n  = " << entry.answer << "\n  "
                << core::lessons::plain_text(entry.learned) << '\n';
    }
}

}  // namespace

void add_lessons(CLI::App& app, const Context& context) {
    CLI::App& command = *app.add_subcommand("lessons", "List the lessons and the gallery of bugs, one per line");
    command.require_subcommand(0, 1);
    const auto path = std::make_shared<std::string>();
    const auto page = std::make_shared<PageWanted>();
    CLI::App& check = *command.add_subcommand("check", "Grade a learner's hand-in, or look for mistakes in a lesson");
    check.add_option("FILE", *path, "what \"Hand in\" wrote (.json), a lesson (.md) or a lesson's name")->required();
    CLI::App& write = *command.add_subcommand("export", "Write a lesson as one page of HTML, or as a SCORM package");
    write.add_option("NAME", page->name, "a lesson's name or its file")->required();
    write.add_option("--out", page->path, "the file to write: .html, or .zip for SCORM 1.2")->required();
    write
        .add_option("--tries", page->tries,
                    "of a SCORM package: how many answers to a question count, if the lesson doesn't say")
        ->check(CLI::Range(1, 1000));
    write.add_option("--language", page->language, "zh_CN, for example: a lesson's translation");
    write.add_flag("--answers", page->options.answers, "print the answers at the end of the page");
    write.add_option("--seed", page->options.seed,
                     "the order of the choices: a different number gives a different version");
    write.add_option("--site", page->options.site, "the browser version's address: places and tasks link to it");
    CLI::App& answers = *command.add_subcommand("answers", "Print the right answers to a lesson's questions");
    answers.add_option("NAME", page->name, "a lesson's name or its file")->required();
    answers.add_option("--language", page->language, "zh_CN, for example: a lesson's translation");
    const auto grades = std::make_shared<GradesWanted>();
    CLI::App& grade = *command.add_subcommand("grade", "Judge the hand-ins of a class: learners by questions");
    grade.add_option("FOLDER", grades->folder, "where the hand-ins are (.json), in folders of their own or not")
        ->required();
    grade.add_option("--lesson", grades->lesson, "judge only hand-ins for this lesson: its name or its file");
    grade.add_option("--csv", grades->csv, "also write the points to this file, one line per hand-in");
    grade.add_option("--language", grades->language, "of --lesson: zh_CN, for example");
    grade.add_option("--tries", grades->tries, "how many answers to a question count; 1: the first. Without it, all")
        ->check(CLI::Range(1, 1000));
    grade.add_option("--roster", grades->roster,
                     "who is in the class: a CSV file with columns such as id, name, section");
    CLI::Option* canvas =
        grade.add_option("--canvas", grades->canvas, "also write a column per lesson for Canvas' gradebook");
    CLI::Option* moodle =
        grade.add_option("--moodle", grades->moodle, "also write a column per lesson for Moodle's grade import");
    grade
        .add_option("--pseudonyms", grades->pseudonyms,
                    "print pseudonyms instead of names; this file keeps whose they are")
        ->excludes(canvas)
        ->excludes(moodle)
        ->excludes(grade.get_option("--roster"));
    grade.add_option("--feedback", grades->feedback, "also write a page for each learner to this folder");
    grade.add_flag("--json", grades->json, "print everything as JSON");
    const auto writing = std::make_shared<WritingWanted>();
    CLI::App& exercise = *command.add_subcommand(
        "write", "An exercise of writing a formula: what is asked, or judge an answer; status 1 if it isn't right");
    exercise.add_option("EXERCISE", writing->exercise, "a lesson and a question of it: write/softmax")->required();
    exercise.add_option("--formula", writing->formula, "judge this formula, in index notation or as in PyTorch");
    exercise.add_option(
        "--operands", writing->operands,
        "write what a function is given to this file (.safetensors): 0/x for the first text, 1/x for the next");
    exercise.add_option("--numbers", writing->numbers,
                        "judge what a function made of it, from this file (.safetensors): 0, 1, …");
    exercise.add_option("--language", writing->language, "zh_CN, for example: the lesson's translation");
    exercise.add_flag("--json", writing->json, "print the judgement as JSON");
    command.callback([context, &check, &write, &answers, &grade, &exercise, path, page, grades, writing] {
        if (check.parsed())
            context.work = [context, path] { check_file(*path, context); };
        else if (grade.parsed())
            context.work = [context, grades] { grade_handins(*grades, context.out); };
        else if (write.parsed())
            context.work = [page] { export_lesson(*page); };
        else if (exercise.parsed())
            context.work = [context, writing] { write_exercise(*writing, context.out); };
        else if (answers.parsed())
            context.work = [context, page] { write_answers(*page, context.out); };
        else
            context.work = [context] { list_lessons(context.out); };
    });
}

}  // namespace decoderscope::cli
