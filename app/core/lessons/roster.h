#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

// A class by its roster, and what learners are called if their names aren't to be seen.
namespace decoderscope::core::lessons {

struct Enrolled {
    std::string id, name, section;     // empty: the roster doesn't say
    std::vector<std::string> fields;   // of the line, by the roster's columns
    std::vector<std::string> answers;  // to "who are you?": ids and names by which a hand-in finds it, in small letters
};

// A roster: CSV with a line of column names first. Known ones are Name or Student, or First name and Last name (or
// Surname); ID, Student ID, SIS User ID, SIS Login ID, ID number, Username, Email address; Section or Group: those of
// the gradebooks that Canvas and Moodle export. Others are skipped, and so is Canvas' line of possible points.
struct Roster {
    std::vector<std::string> columns;
    std::vector<Enrolled> learners;

    // The learners who go by this name or number; more than one if a name is theirs.
    [[nodiscard]] std::vector<std::size_t> called(const std::string& name) const;
    // The column of this name, in any letters; -1 if there is none.
    [[nodiscard]] int column(const std::string& name) const;
};
// Throws Error naming the file, the line and what was expected.
[[nodiscard]] Roster read_roster(const std::string& path);

// "learner-3f2a" in the place of a name. A file keeps who has which one, so that it stays the same.
class Pseudonyms {
public:
    Pseudonyms() = default;
    // Those that were written before; none if there is no such file. Throws Error naming the file.
    explicit Pseudonyms(const std::string& path);

    // `who`: a learner, told apart from all others. The first time, a pseudonym is drawn.
    [[nodiscard]] const std::string& of(const std::string& who);
    void write(std::ostream& out) const;

private:
    std::map<std::string, std::string> by_learner_;
};

}  // namespace decoderscope::core::lessons
