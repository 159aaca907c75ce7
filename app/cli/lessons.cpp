#include "app/cli/commands.h"
#include "app/cli/lesson_writing.h"
#include "app/core/language/languages.h"
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"

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
            throw Judgement(Judged::different,
                            message_n("{path}: {count} mistake; expected none",
                                      "{path}: {count} mistakes; expected none", problems.size(), {{"path", path}}));
    };
    const std::string path = core::lessons::lesson_file(name);
    tell(path, core::lessons::mistakes_in(core::lessons::lesson_text(path), path));
    const std::shared_ptr<const core::lessons::Lesson> lesson = core::lessons::find_lesson(name);
    std::vector<Sentence> problems = core::lessons::check_lesson(*lesson, context.tabs);
    for (const std::string& language : core::lessons::translations_of(lesson->path)) {
        const std::string translated = core::lessons::translation_of(lesson->path, language);
        tell(translated, core::lessons::mistakes_in(core::lessons::lesson_text(translated), translated));
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

void write_judged(std::ostream& out, const core::lessons::JudgedHandin& judged) {
    out << judged.lesson->name << "  " << core::lessons::plain_text(judged.lesson->title) << ": " << judged.right()
        << " of " << judged.answers.size() << " right\n";
    if (judged.handin.is_edited) out << "  edited since it was handed in, and judged as it is now\n";
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

void check_handin_file(const std::string& path, std::ostream& out) {
    const core::lessons::JudgedHandin judged = core::lessons::judge_handin(path);
    write_judged(out, judged);
    std::size_t wrong = 0, missing = 0;
    for (const core::lessons::JudgedAnswer& answer : judged.answers) {
        wrong += answer.given && !answer.right ? 1 : 0;
        missing += answer.given ? 0 : 1;
    }
    if (wrong > 0)
        throw Judgement(Judged::different, message_n("{path}: {count} answer is wrong",
                                                     "{path}: {count} answers are wrong", wrong, {{"path", path}}));
    if (missing > 0)
        throw Judgement(Judged::in_part,
                        message_n("{path}: {count} question is not answered",
                                  "{path}: {count} questions are not answered", missing, {{"path", path}}));
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

struct JudgeWanted {
    std::string path, lesson, language;
    int tries = 0;
    bool json = false;
};

// All that a class's grades are made of: `python3 -m decoderscope grade` reads it. What stands for each question is in
// the order of the learner's version; `versions` has the questions of all.
void write_judged_json(std::ostream& out, const core::lessons::JudgedHandin& judged) {
    const core::lessons::Lesson& lesson = *judged.lesson;
    const core::lessons::Handin& handin = judged.handin;
    nlohmann::ordered_json json = {{"learner", handin.learner},
                                   {"lesson", lesson.name},
                                   {"version", lesson.version},
                                   {"questions", nlohmann::ordered_json::array()},
                                   {"title", core::lessons::plain_text(lesson.title)},
                                   {"lesson_number", lesson.number},
                                   {"bundled", lesson.bundled},
                                   {"language", core::lessons::html_language(lesson)},
                                   {"versions", nlohmann::ordered_json::array()},
                                   {"time", handin.time},
                                   {"seed", handin.seed},
                                   {"round", handin.round},
                                   {"edited", handin.is_edited},
                                   {"remarks", judged.remarks}};
    if (!judged.refused.empty()) json["refused"] = judged.refused;
    for (const core::lessons::JudgedAnswer& question : judged.answers) {
        nlohmann::ordered_json answers = nlohmann::ordered_json::array();
        for (const core::lessons::JudgedTry& one : question.all)
            answers.push_back(
                {{"answer", one.said}, {"right", one.right}, {"reply", one.right ? one.learned : one.why}});
        json["questions"].push_back({{"name", question.question},
                                     {"points", question.right ? 1 : 0},
                                     {"of", 1},
                                     {"answers", answers},
                                     {"first_right", question.at_first},
                                     {"ask", question.ask},
                                     {"tries", question.tries},
                                     {"hints_said_by_file", question.hints},
                                     {"complete", question.complete}});
    }
    for (int version = 0; version < lesson.versions; ++version) {
        nlohmann::ordered_json& asked = json["versions"].emplace_back(nlohmann::ordered_json::array());
        const core::lessons::Lesson own = core::lessons::in_version(lesson, version);
        for (const core::lessons::Question* question : core::lessons::questions_of(own)) asked.push_back(question->id);
    }
    out << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void judge_handin(const JudgeWanted& wanted, std::ostream& out) {
    using namespace core::lessons;
    const auto lesson = wanted.lesson.empty() ? nullptr : find_lesson(wanted.lesson, wanted.language);
    std::optional<SpokenFor> spoken;
    if (lesson) spoken.emplace(*lesson);
    const JudgedHandin judged = core::lessons::judge_handin(wanted.path, lesson, wanted.tries);
    if (wanted.json)
        write_judged_json(out, judged);
    else if (judged.refused.empty())
        write_judged(out, judged);
    if (!judged.refused.empty()) throw Error(Sentence::verbatim(wanted.path + ": " + judged.refused));
}

struct PageWanted {
    std::string name, path;
    std::string language;  // empty: the file's own
    int tries = 0;         // only of a package, which Python makes
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
    if (wanted.path.ends_with(".zip") || wanted.tries > 0)
        tell_moved("lessons export --out FILE.zip", "python3 -m decoderscope scorm NAME --out FILE.zip");
    const std::shared_ptr<const core::lessons::Lesson> lesson =
        core::lessons::lesson_for(wanted_lesson(wanted), wanted.options.seed, 0);
    const SpokenFor spoken(*lesson);
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
    judge(check, context);
    check.add_option("FILE", *path, "what \"Hand in\" wrote (.json), a lesson (.md) or a lesson's name")->required();
    CLI::App& write = *command.add_subcommand("export", "Write a lesson as one page of HTML");
    write.add_option("NAME", page->name, "a lesson's name or its file")->required();
    write.add_option("--out", page->path, "the file to write")->required();
    write.add_option("--tries", page->tries)->transform(within(bounds::kTries))->group("");  // hidden
    write.add_option("--language", page->language, "zh_CN, for example: a lesson's translation");
    write.add_flag("--answers", page->options.answers, "print the answers at the end of the page");
    write.add_option("--seed", page->options.seed,
                     "the order of the choices: a different number gives a different version");
    write.add_option("--site", page->options.site, "the browser version's address: places and tasks link to it");
    CLI::App& answers = *command.add_subcommand("answers", "Print the right answers to a lesson's questions");
    answers.add_option("NAME", page->name, "a lesson's name or its file")->required();
    answers.add_option("--language", page->language, "zh_CN, for example: a lesson's translation");
    const auto judging = std::make_shared<JudgeWanted>();
    CLI::App& judged = *command.add_subcommand("judge", "Judge a learner's hand-in, each answer on its own run");
    judged.add_option("FILE", judging->path, "what \"Hand in\" wrote (.json)")->required();
    judged.add_option("--lesson", judging->lesson,
                      "the lesson that it has to be of: its name or its file. Without it, the one that it names");
    judged.add_option("--language", judging->language, "of --lesson: zh_CN, for example");
    judged.add_option("--tries", judging->tries, "how many answers to a question count; 1: the first. Without it, all")
        ->transform(within(bounds::kTries));
    judged.add_flag("--json", judging->json, "print everything as JSON");
    CLI::App& grade = *command.add_subcommand("grade", "Moved to Python: python3 -m decoderscope grade FOLDER");
    grade.allow_extras();
    const auto writing = std::make_shared<WritingWanted>();
    CLI::App& exercise =
        *command.add_subcommand("write", "An exercise of writing a formula: what is asked, or judge an answer");
    judge(exercise, context);
    exercise.add_option("EXERCISE", writing->exercise, "a lesson and a question of it: write/softmax")->required();
    exercise.add_option("--formula", writing->formula, "judge this formula, in index notation or as in PyTorch");
    exercise.add_option(
        "--operands", writing->operands,
        "write what a function is given to this file (.safetensors): 0/x for the first text, 1/x for the next");
    exercise.add_option("--numbers", writing->numbers,
                        "judge what a function made of it, from this file (.safetensors): 0, 1, …");
    exercise.add_option("--language", writing->language, "zh_CN, for example: the lesson's translation");
    exercise.add_flag("--json", writing->json, "print the judgement as JSON");
    command.callback([context, &check, &write, &answers, &judged, &grade, &exercise, path, page, judging, writing] {
        if (check.parsed())
            context.work = [context, path] { check_file(*path, context); };
        else if (judged.parsed())
            context.work = [context, judging] { judge_handin(*judging, context.out); };
        else if (grade.parsed())
            context.work = [] { tell_moved("lessons grade", "python3 -m decoderscope grade FOLDER"); };
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
