#include "app/cli/gradebook.h"

#include "app/core/lessons/roster.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

namespace decoderscope::cli {

namespace {

using namespace core::lessons;

// Platforms' own words, in the order in which they write them.
constexpr std::string_view kStudent = "Student";
constexpr std::array<std::string_view, 7> kOfCanvas = {kStudent,         "ID",           "SIS User ID", "SIS Login ID",
                                                       "Integration ID", "Root Account", "Section"};
// Those of Canvas' that no other roster has.
constexpr std::array<std::string_view, 2> kOnlyExported = {"Integration ID", "Root Account"};
constexpr std::array<std::string_view, 6> kOfMoodle = {"First name", "Last name", "Surname",
                                                       "Username",   "ID number", "Email address"};
// Those of Moodle's by which an import can find a learner.
constexpr std::array<std::string_view, 3> kFinders = {"Username", "ID number", "Email address"};

bool has_column(const Roster* roster, std::string_view column) {
    return roster != nullptr && roster->column(std::string(column)) >= 0;
}
bool is_among(std::span<const std::string_view> columns, std::string_view column) {
    return std::ranges::find(columns, column) != columns.end();
}

// Only those who handed something in: an empty field would take away a grade that they have.
std::vector<ClassLine> lines_with_points(const ClassGrades& grades, const Roster* roster) {
    std::vector<ClassLine> lines = class_lines(grades, roster), kept;
    std::ranges::copy_if(lines, std::back_inserter(kept), [](const ClassLine& line) {
        return std::ranges::any_of(line.handins, [](const GradedHandin* handin) { return handin != nullptr; });
    });
    return kept;
}

// As the roster's file has it; nothing if it doesn't.
std::string field_of(const ClassLine& line, int column) {
    const auto index = static_cast<std::size_t>(column);
    const bool is_there = column >= 0 && line.enrolled != nullptr && index < line.enrolled->fields.size();
    return is_there ? readable(line.enrolled->fields[index]) : std::string();
}

// "From text to text", "From text to text (123)" as Canvas exports it, "Manual item: From text to text (Real)" as
// Moodle does.
bool is_column_of(const std::string& column, const std::string& title) {
    std::string heading = readable(column);
    if (heading != title && heading.ends_with(")")) heading.erase(std::min(heading.rfind(" ("), heading.size()));
    return heading == title || heading.ends_with(": " + title);
}

// A lesson's column: its name, and where the roster has it.
struct LessonColumn {
    std::string name;
    int in_roster = -1;
};
std::vector<LessonColumn> columns_of(const ClassGrades& grades, const Roster* roster) {
    std::vector<LessonColumn> columns;
    for (const LessonGrades& of : grades.lessons) {
        LessonColumn column{plain_text(of.lesson->title), -1};
        for (std::size_t i = 0; roster != nullptr && i < roster->columns.size(); ++i)
            if (is_column_of(roster->columns[i], column.name)) {
                column = {readable(roster->columns[i]), static_cast<int>(i)};
                break;
            }
        columns.push_back(std::move(column));
    }
    return columns;
}

// The points; where a hand-in is missing, what the roster has. "-" is Moodle's for "no grade".
std::string points_of(const ClassLine& line, std::size_t lesson, const LessonColumn& column) {
    if (line.handins[lesson] != nullptr) return std::to_string(line.handins[lesson]->judged.right());
    const std::string known = field_of(line, column.in_roster);
    return known == "-" ? std::string() : known;
}

// The book's lines: who, by `field`, and the points.
template <class Field>
void add_lines(Gradebook& book, const std::vector<ClassLine>& lines, const std::vector<LessonColumn>& lessons,
               const std::vector<std::string>& who, const Field& field) {
    for (const ClassLine& line : lines) {
        std::vector<std::string>& record = book.records.emplace_back();
        for (const std::string& column : who) record.push_back(field(line, column));
        for (std::size_t i = 0; i < lessons.size(); ++i) record.push_back(points_of(line, i, lessons[i]));
    }
}

std::vector<std::string> with_lessons(std::vector<std::string> who, const std::vector<LessonColumn>& lessons) {
    for (const LessonColumn& lesson : lessons) who.push_back(lesson.name);
    return who;
}

}  // namespace

Gradebook canvas_gradebook(const ClassGrades& grades, const Roster* roster) {
    const std::vector<LessonColumn> lessons = columns_of(grades, roster);
    const bool is_canvas =
        has_column(roster, "ID") && (has_column(roster, "SIS User ID") || has_column(roster, "SIS Login ID"));
    std::vector<std::string> who;
    for (const std::string_view column : kOfCanvas)
        if (column == kStudent || (is_canvas ? has_column(roster, column) : !is_among(kOnlyExported, column)))
            who.emplace_back(column);
    Gradebook book;
    book.records.push_back(with_lessons(who, lessons));
    std::vector<std::string>& possible = book.records.emplace_back(who.size());
    possible.front() = "Points Possible";
    for (const LessonGrades& of : grades.lessons) possible.push_back(std::to_string(of.questions.size()));
    add_lines(book, lines_with_points(grades, roster), lessons, who,
              [&](const ClassLine& line, const std::string& column) -> std::string {
                  if (is_canvas && has_column(roster, column)) return field_of(line, roster->column(column));
                  if (column == kStudent) return line.learner;
                  if (line.enrolled != nullptr && column == "SIS User ID") return line.enrolled->id;
                  if (line.enrolled != nullptr && column == "Section") return line.enrolled->section;
                  return {};
              });
    return book;
}

Gradebook moodle_gradebook(const ClassGrades& grades, const Roster* roster) {
    std::vector<ClassLine> lines = lines_with_points(grades, roster);
    std::vector<std::string> who, finders;
    for (const std::string_view column : kOfMoodle)
        if (has_column(roster, column)) (is_among(kFinders, column) ? finders : who).emplace_back(column);
    const bool is_moodle = !finders.empty();
    if (!is_moodle) who = {"Full name"}, finders = {"ID number"};
    const auto field = [&](const ClassLine& line, const std::string& column) {
        if (is_moodle) return field_of(line, roster->column(column));
        return column == "Full name" || line.enrolled == nullptr ? line.learner : line.enrolled->id;
    };
    const auto empty_in = [&](const std::string& column) {
        return std::ranges::count_if(lines, [&](const ClassLine& line) { return field(line, column).empty(); });
    };
    std::ranges::stable_sort(finders, {}, empty_in);
    const auto fullest = empty_in(finders.front());
    Gradebook book;
    for (const std::string& column : finders)
        if (column == finders.front() || empty_in(column) == 0) who.push_back(column);
    if (fullest > 0)
        std::erase_if(lines, [&](const ClassLine& line) {
            if (!field(line, finders.front()).empty()) return false;
            book.left_out.push_back(line.learner);
            return true;
        });
    const std::vector<LessonColumn> lessons = columns_of(grades, roster);
    book.records.push_back(with_lessons(who, lessons));
    add_lines(book, lines, lessons, who, field);
    return book;
}

}  // namespace decoderscope::cli
