#include "app/cli/commands.h"
#include "app/cli/lesson_grades.h"
#include "app/cli/lesson_writing.h"
#include "app/core/language/languages.h"
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/grade.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

#include <memory>
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
    const std::shared_ptr<const core::lessons::Lesson> lesson = core::lessons::find_lesson(name);
    std::vector<Sentence> problems = core::lessons::check_lesson(*lesson, context.tabs);
    for (const std::string& language : core::lessons::translations_of(lesson->path)) {
        const std::string translated = core::lessons::translation_of(lesson->path, language);
        for (const Sentence& problem : core::lessons::compare_translation(lesson->path, translated))
            problems.push_back(problem);
        for (const Sentence& problem :
             core::lessons::check_lesson(core::lessons::read_lesson(translated), context.tabs))
            problems.push_back(problem);
    }
    for (const Sentence& problem : problems) context.out << problem.english() << '\n';
    if (!problems.empty())
        throw Error(message_n("{path}: {count} mistake; expected none", "{path}: {count} mistakes; expected none",
                              problems.size(), {{"path", lesson->path}}));
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

struct GradesWanted {
    std::string folder, lesson, csv;
    bool json = false;
};

// Whatever can't be read, the others are graded; then the command fails.
void grade_handins(const GradesWanted& wanted, std::ostream& out) {
    const auto lesson = wanted.lesson.empty() ? nullptr : core::lessons::find_lesson(wanted.lesson);
    const core::lessons::ClassGrades grades = core::lessons::grade_folder(wanted.folder, lesson);
    if (!wanted.csv.empty()) write_whole(wanted.csv, [&](std::ostream& csv) { write_grades_csv(csv, grades); });
    if (wanted.json)
        write_grades_json(out, grades);
    else
        write_grades(out, grades);
    if (const std::size_t unread = grades.unreadable.size(); unread > 0)
        throw Error(message_n("{folder}: {count} hand-in could not be read; expected none",
                              "{folder}: {count} hand-ins could not be read; expected none", unread,
                              {{"folder", wanted.folder}}));
}

struct PageWanted {
    std::string name, path;
    std::string language;  // empty: the file's own
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

// The page is in one language: its own words are in that of the lesson.
void export_lesson(const PageWanted& wanted) {
    const std::shared_ptr<const core::lessons::Lesson> lesson =
        core::lessons::lesson_for(wanted_lesson(wanted), wanted.options.seed, 0);
    const auto no_environment = [](const char*) -> const char* { return nullptr; };
    core::language::WindowLanguage spoken(core::language::languages(), no_environment);
    static_cast<void>(
        spoken.follow(core::lessons::language_of(*lesson)));  // otherwise the page's own words are English
    write_whole(wanted.path,
                [&](std::ostream& out) { core::lessons::write_lesson_page(out, *lesson, wanted.options); });
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
    CLI::App& write = *command.add_subcommand("export", "Write a lesson as one page of HTML");
    write.add_option("NAME", page->name, "a lesson's name or its file")->required();
    write.add_option("--out", page->path, "the file to write (.html)")->required();
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
