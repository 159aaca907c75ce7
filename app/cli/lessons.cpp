#include "app/cli/commands.h"
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/compare_translation.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page_html.h"
#include "app/views/shell/lab.h"
#include "engine/error.h"
#include "engine/file.h"

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::cli {

namespace {

using namespace lessons;

// "1 question", "7 questions": the command line is English.
std::string counted(std::size_t count, const char* thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

void list_lessons(std::ostream& out) {
    for (const LessonCard& card : lesson_cards()) {
        out << card.name << "  " << card.title;
        if (card.minutes > 0) out << " (" << card.minutes << " minutes, " << counted(card.questions, "question") << ")";
        out << (card.summary.empty() ? "" : ": ") << card.summary << '\n';
        if (!card.error.empty()) out << "  " << card.error << '\n';
    }
}

std::vector<std::string_view> tab_ids() {
    std::vector<std::string_view> ids;
    for (const Lab& lab : labs()) ids.push_back(lab.id);
    return ids;
}

// Each problem has its line in the file; the command's error says how many there are.
void check_lesson_file(const std::string& name, std::ostream& out) {
    const std::shared_ptr<const Lesson> lesson = find_lesson(name);
    std::vector<Sentence> problems = check_lesson(*lesson, tab_ids());
    for (const std::string& language : translations_of(lesson->path)) {
        const std::string translated = translation_of(lesson->path, language);
        for (const Sentence& problem : compare_translation(lesson->path, translated)) problems.push_back(problem);
        for (const Sentence& problem : check_lesson(read_lesson(translated), tab_ids())) problems.push_back(problem);
    }
    for (const Sentence& problem : problems) out << problem.english() << '\n';
    if (!problems.empty())
        throw Error(message_n("{path}: {count} mistake; expected none", "{path}: {count} mistakes; expected none",
                              problems.size(), {{"path", lesson->path}}));
    out << plain_text(lesson->title) << ": " << counted(lesson->pages.size(), "page") << ", "
        << counted(questions_of(*lesson).size(), "question")
        << "; every solution passes, every wrong answer is refused\n";
}

void check_handin_file(const std::string& path, std::ostream& out) {
    const JudgedHandin judged = judge_handin(path);
    out << judged.lesson << "  " << judged.title << ": " << judged.right() << " of " << judged.answers.size()
        << " right\n";
    for (const JudgedAnswer& answer : judged.answers) {
        out << "  " << answer.question << ": ";
        if (!answer.given)
            out << "not answered\n";
        else if (answer.right)
            out << "right (tries " << answer.tries << ", hints " << answer.hints << ")\n";
        else
            out << "wrong: " << answer.why << '\n';
    }
}

void check_file(const std::string& path, std::ostream& out) {
    if (path.ends_with(".json"))
        check_handin_file(path, out);
    else
        check_lesson_file(path, out);
}

void export_lesson(const std::string& name, const std::string& path) {
    const std::shared_ptr<const Lesson> lesson = find_lesson(name);
    write_whole(path, [&](std::ostream& out) { write_lesson_page(out, *lesson); });
}

}  // namespace

void add_lessons(CLI::App& app, const Context& context) {
    CLI::App& command = *app.add_subcommand("lessons", "List the lessons and the gallery of bugs, one per line");
    command.require_subcommand(0, 1);
    const auto path = std::make_shared<std::string>(), to = std::make_shared<std::string>();
    CLI::App& check =
        *command.add_subcommand("check", "Judge what a learner handed in, or look for mistakes in a lesson");
    check.add_option("FILE", *path, "what \"Hand in\" wrote (.json), a lesson (.md) or a lesson's name")->required();
    CLI::App& write = *command.add_subcommand("export", "Write a lesson as one page of HTML");
    write.add_option("NAME", *path, "a lesson's name or its file")->required();
    write.add_option("--out", *to, "the file to write (.html)")->required();
    command.callback([context, &check, &write, path, to] {
        if (check.parsed())
            context.work = [context, path] { check_file(*path, context.out); };
        else if (write.parsed())
            context.work = [path, to] { export_lesson(*path, *to); };
        else
            context.work = [context] { list_lessons(context.out); };
    });
}

}  // namespace decoderscope::cli
