#include "app/cli/lesson_grades.h"

#include "app/core/figure/csv_and_json.h"
#include "engine/base/json.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace decoderscope::cli {

namespace {

using namespace core::lessons;

// How wide a text is in a terminal, near enough: Chinese characters take two columns.
std::size_t columns_of(const std::string& text) {
    std::size_t columns = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0U) != 0x80U) columns += byte >= 0xE3U && byte < 0xF0U ? 2 : 1;
    }
    return columns;
}

std::string filled_up(const std::string& text, std::size_t width) {
    const std::size_t columns = columns_of(text);
    return text + std::string(columns < width ? width - columns : 0, ' ');
}

std::string two_digits(double number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", number);
    return text.data();
}

std::string named(const GradedHandin& handin) { return handin.learner.empty() ? "(no name)" : handin.learner; }

// "✓" right at once, "✓3" at the third answer, "✗" wrong, "·" not answered.
std::string mark_of(const JudgedAnswer& answer) {
    if (!answer.given) return "·";
    if (!answer.right) return "✗";
    return answer.at_first ? "✓" : "✓" + std::to_string(answer.tries);
}

void write_table(std::ostream& out, const LessonGrades& grades) {
    std::size_t learner = columns_of("learner"), file = columns_of("file");
    for (const GradedHandin& handin : grades.handins) {
        learner = std::max(learner, columns_of(named(handin)));
        file = std::max(file, columns_of(handin.file));
    }
    out << "  " << filled_up("learner", learner) << "  " << filled_up("file", file) << "  right";
    for (const QuestionGrades& question : grades.questions) out << "  " << question.id;
    out << '\n';
    for (const GradedHandin& handin : grades.handins) {
        out << "  " << filled_up(named(handin), learner) << "  " << filled_up(handin.file, file) << "  "
            << filled_up(std::to_string(handin.judged.right()), 5);
        for (std::size_t i = 0; i < grades.questions.size(); ++i)
            out << "  " << filled_up(mark_of(handin.judged.answers[i]), grades.questions[i].id.size());
        out << '\n';
    }
}

void write_questions(std::ostream& out, const LessonGrades& grades) {
    for (const QuestionGrades& question : grades.questions) {
        out << "  " << question.id << ": " << question.right << " of " << grades.handins.size() << " right, "
            << question.at_first << " at the first answer; difficulty " << two_digits(question.difficulty)
            << ", discrimination "
            << (question.discrimination ? two_digits(*question.discrimination) : std::string("none")) << '\n';
        for (const WrongAnswer& wrong : question.wrong)
            out << "    " << wrong.count << " × " << wrong.said << (wrong.why.empty() ? "" : "  → " + wrong.why)
                << '\n';
    }
}

void write_ungraded(std::ostream& out, const std::string& title, const std::vector<Ungraded>& files) {
    if (files.empty()) return;
    out << title << '\n';
    for (const Ungraded& one : files) out << "  " << one.file << ": " << one.why << '\n';
}

std::vector<Ungraded> edited_of(const LessonGrades& grades) {
    std::vector<Ungraded> edited;
    for (const GradedHandin& handin : grades.handins)
        if (handin.judged.is_edited) edited.push_back({handin.file, named(handin)});
    return edited;
}

std::vector<Ungraded> remarks_of(const LessonGrades& grades) {
    std::vector<Ungraded> remarks;
    for (const GradedHandin& handin : grades.handins)
        for (const std::string& remark : handin.judged.remarks)
            remarks.push_back({handin.file, named(handin) + ": " + remark});
    return remarks;
}

std::string how_alike(const Copies& copies) {
    std::string how = copies.same_seed ? "the same seed (one file, or one computer)" : "";
    if (copies.same_seconds > 0)
        how += (how.empty() ? "" : ", and ") + std::to_string(copies.same_seconds) +
               " answers that are the same in the same second";
    return how;
}

std::vector<Ungraded> copies_of(const LessonGrades& grades) {
    std::vector<Ungraded> all;
    for (const Copies& one : grades.copies)
        all.push_back(
            {one.file, one.learner + ", as " + one.of_learner + " in " + one.of_file + ": " + how_alike(one)});
    return all;
}

std::string named(const Enrolled& learner) {
    std::string name = learner.name.empty() ? learner.id : learner.name;
    if (!learner.name.empty() && !learner.id.empty()) name += " (" + learner.id + ")";
    return name + (learner.section.empty() ? "" : ", " + learner.section);
}

void write_missing(std::ostream& out, const LessonGrades& grades, const Roster& roster) {
    if (grades.missing.empty()) return;
    out << "Missing, " << grades.missing.size() << " of " << roster.learners.size() << ":\n";
    for (const std::size_t i : grades.missing) out << "  " << named(roster.learners[i]) << '\n';
}

// A field as spreadsheets read it; one that begins like a formula is made a text.
std::string csv_text(const std::string& text) {
    const bool computes = !text.empty() && std::string("=+-@\t\r").find(text.front()) != std::string::npos;
    return core::csv_field(computes ? "'" + text : text);
}

nlohmann::ordered_json number_or_null(const std::optional<double>& number) {
    return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

nlohmann::ordered_json json_of_both(const std::optional<BeforeAndAfter>& twice) {
    if (!twice) return {};
    return {{"learners", twice->learners},
            {"before", twice->before},
            {"after", twice->after},
            {"gain", number_or_null(twice->gain)}};
}

nlohmann::ordered_json json_of_handin(const GradedHandin& handin) {
    nlohmann::ordered_json json = {{"learner", handin.learner},
                                   {"file", handin.file},
                                   {"time", handin.time},
                                   {"seed", handin.seed},
                                   {"round", handin.round},
                                   {"edited", handin.judged.is_edited},
                                   {"right", handin.judged.right()},
                                   {"remarks", handin.judged.remarks},
                                   {"answers", nlohmann::ordered_json::array()}};
    for (const JudgedAnswer& answer : handin.judged.answers) {
        nlohmann::ordered_json one = {{"question", answer.question}, {"answered", answer.given},
                                      {"right", answer.right},       {"right_at_first", answer.at_first},
                                      {"tries", answer.tries},       {"hints_said_by_file", answer.hints},
                                      {"complete", answer.complete}, {"given", nlohmann::ordered_json::array()}};
        for (const JudgedTry& judged : answer.all)
            one["given"].push_back({{"answer", judged.said}, {"right", judged.right}, {"reply", judged.why}});
        json["answers"].push_back(std::move(one));
    }
    return json;
}

nlohmann::ordered_json json_of_question(const QuestionGrades& question) {
    nlohmann::ordered_json json = {{"id", question.id},
                                   {"answered", question.answered},
                                   {"right", question.right},
                                   {"right_at_first", question.at_first},
                                   {"difficulty", question.difficulty},
                                   {"discrimination", number_or_null(question.discrimination)},
                                   {"wrong", nlohmann::ordered_json::array()}};
    for (const WrongAnswer& wrong : question.wrong)
        json["wrong"].push_back({{"answer", wrong.said}, {"count", wrong.count}, {"reply", wrong.why}});
    return json;
}

nlohmann::ordered_json json_of_files(const std::vector<Ungraded>& files) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Ungraded& one : files) json.push_back({{"file", one.file}, {"why", one.why}});
    return json;
}

}  // namespace

void write_grades(std::ostream& out, const ClassGrades& grades, const Roster* roster) {
    for (const LessonGrades& of : grades.lessons) {
        out << of.lesson->name << "  " << plain_text(of.lesson->title) << ": " << of.handins.size()
            << (of.handins.size() == 1 ? " hand-in, " : " hand-ins, ") << of.questions.size() << " questions";
        if (of.reliability) out << ", reliability (Cronbach's alpha) " << two_digits(*of.reliability);
        out << "\n  (✓ right at the first answer, ✓3 at the third, ✗ wrong, · not answered)\n";
        if (of.twice)
            out << "  before and after, " << of.twice->learners
                << (of.twice->learners == 1 ? " learner: " : " learners: ") << two_digits(of.twice->before) << " and "
                << two_digits(of.twice->after) << " right at the first answer"
                << (of.twice->gain ? ", gain " + two_digits(*of.twice->gain) : "") << '\n';
        write_table(out, of);
        out << '\n';
        write_questions(out, of);
        out << '\n';
        write_ungraded(out, "Edited since they were handed in, and judged as they are now:", edited_of(of));
        write_ungraded(out, "Alike:", copies_of(of));
        write_ungraded(out, "To look at:", remarks_of(of));
        write_ungraded(out, "Replaced:", of.replaced);
        if (roster != nullptr) write_missing(out, of, *roster);
    }
    if (grades.lessons.empty()) out << "no hand-in that could be graded\n";
    write_ungraded(out, "Of another lesson:", grades.foreign);
    write_ungraded(out, "Not read:", grades.unreadable);
}

// Learning platforms find a learner by the first column and import the second.
void write_grades_csv(std::ostream& out, const ClassGrades& grades) {
    out << "id,points,of,lesson,time,file";
    const bool several = grades.lessons.size() > 1;
    for (const LessonGrades& of : grades.lessons)
        for (const QuestionGrades& question : of.questions)
            out << ',' << csv_text(several ? of.lesson->name + "." + question.id : question.id);
    out << '\n';
    std::size_t before = 0, all = 0;
    for (const LessonGrades& of : grades.lessons) all += of.questions.size();
    for (const LessonGrades& of : grades.lessons) {
        for (const GradedHandin& handin : of.handins) {
            out << csv_text(handin.learner) << ',' << handin.judged.right() << ',' << of.questions.size() << ','
                << csv_text(of.lesson->name) << ',' << csv_text(handin.time) << ',' << csv_text(handin.file)
                << std::string(before, ',');
            for (const JudgedAnswer& answer : handin.judged.answers)
                out << ',' << (!answer.given ? "" : answer.right ? "1" : "0");
            out << std::string(all - before - of.questions.size(), ',') << '\n';
        }
        before += of.questions.size();
    }
}

void write_gradebook(std::ostream& out, const Gradebook& book) {
    for (const std::vector<std::string>& record : book.records)
        for (std::size_t i = 0; i < record.size(); ++i)
            out << csv_text(record[i]) << (i + 1 < record.size() ? "," : "\n");
}

void write_grades_json(std::ostream& out, const ClassGrades& grades, const Roster* roster) {
    nlohmann::ordered_json json = {{"lessons", nlohmann::ordered_json::array()}};
    for (const LessonGrades& of : grades.lessons) {
        nlohmann::ordered_json one = {{"lesson", of.lesson->name},
                                      {"title", plain_text(of.lesson->title)},
                                      {"reliability", number_or_null(of.reliability)},
                                      {"before_and_after", json_of_both(of.twice)},
                                      {"questions", nlohmann::ordered_json::array()},
                                      {"learners", nlohmann::ordered_json::array()}};
        for (const QuestionGrades& question : of.questions) one["questions"].push_back(json_of_question(question));
        for (const GradedHandin& handin : of.handins) one["learners"].push_back(json_of_handin(handin));
        one["alike"] = nlohmann::ordered_json::array();
        for (const Copies& copies : of.copies)
            one["alike"].push_back({{"file", copies.file},
                                    {"of", copies.of_file},
                                    {"same_seed", copies.same_seed},
                                    {"same_seconds", copies.same_seconds}});
        one["replaced"] = json_of_files(of.replaced);
        one["missing"] = nlohmann::ordered_json::array();
        if (roster != nullptr)
            for (const std::size_t i : of.missing) one["missing"].push_back(named(roster->learners[i]));
        json["lessons"].push_back(std::move(one));
    }
    json["other_lessons"] = json_of_files(grades.foreign);
    json["unreadable"] = json_of_files(grades.unreadable);
    out << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace decoderscope::cli
