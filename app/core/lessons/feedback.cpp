#include "app/core/lessons/feedback.h"

#include "app/core/lessons/page.h"
#include "app/core/report/html_page.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"

#include <filesystem>
#include <ostream>
#include <set>
#include <system_error>
#include <vector>

namespace decoderscope::core::lessons {

namespace {

std::string text_of(const JudgedTry& one) {
    if (one.right) return "✓ " + one.said;
    return "✗ " + one.said + (one.why.empty() ? "" : " → " + one.why);
}

void write_page(std::ostream& out, const Lesson& lesson, const GradedHandin& handin) {
    const JudgedHandin& judged = handin.judged;
    std::string below = tr_n("{right} of {count} answer right", "{right} of {count} answers right",
                             judged.answers.size(), {{"right", judged.right()}});
    if (!handin.learner.empty()) below = handin.learner + " · " + below;
    if (!handin.time.empty()) below += " · " + tr("handed in on {time}", {{"time", handin.time}});
    report::Page page(out, judged.title, below, html_language(lesson));
    for (std::size_t i = 0; i < judged.answers.size(); ++i) {
        const JudgedAnswer& answer = judged.answers[i];
        page.section(tr("Question {number}", {{"number", i + 1}}));
        page.paragraph(answer.ask.empty() ? answer.question : answer.ask);
        std::vector<std::string> given;
        for (const JudgedTry& one : answer.all) given.push_back(text_of(one));
        if (given.empty())
            page.paragraph(tr("Not answered."));
        else
            page.list(given);
        if (answer.right && !answer.all.back().learned.empty()) page.paragraph(answer.all.back().learned);
    }
}

}  // namespace

void write_feedback(const std::string& folder, const ClassGrades& grades) {
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (!fs::is_directory(folder, failed)) throw Error("{path}: expected a folder for the pages", {{"path", folder}});
    std::set<std::string> taken;
    for (const LessonGrades& of : grades.lessons)
        for (const GradedHandin& handin : of.handins) {
            const std::string who = in_file_name(handin.learner);
            const std::string stem =
                in_file_name(fs::path(of.lesson->name).stem().string()) + (who.empty() ? "" : "-" + who);
            std::string name = stem;
            for (int number = 2; !taken.insert(name).second; ++number) name = stem + "-" + std::to_string(number);
            write_whole((fs::path(folder) / (name + ".html")).string(),
                        [&](std::ostream& out) { write_page(out, *of.lesson, handin); });
        }
}

}  // namespace decoderscope::core::lessons
