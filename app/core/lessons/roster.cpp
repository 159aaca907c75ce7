#include "app/core/lessons/roster.h"

#include "app/core/figure/csv_and_json.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/versions.h"
#include "app/core/run/overlay.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <ostream>
#include <string_view>

namespace decoderscope::core::lessons {

namespace {

constexpr std::size_t kMostLines = 100'000;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::array<std::string_view, 10> kIds = {
    "id",
    "username",
    "login",
    "idnumber",
    "email",
    "student id",     // not a message: a column
    "sis user id",    // not a message: a column
    "sis login id",   // not a message: a column
    "id number",      // not a message: a column
    "email address",  // not a message: a column
};
// Canvas' second line says this in the place of a name.
constexpr std::string_view kPoints = "Points Possible";  // not a message: Canvas' words

std::string known_as(const std::string& name) { return in_small_letters(readable(name)); }

// "Lovelace, Ada" is "Ada Lovelace", too.
std::string turned(const std::string& name) {
    const std::size_t comma = name.find(", ");
    return comma == std::string::npos ? std::string() : name.substr(comma + 2) + " " + name.substr(0, comma);
}

// The line of this roster with its columns known.
class RosterReader {
public:
    explicit RosterReader(const Roster& roster)
        : name_(first({"name", "student", "student name", "full name"}, roster)),  // not a message: columns
          given_(first({"first name", "firstname"}, roster)),                      // not a message: columns
          family_(first({"last name", "lastname", "surname"}, roster)),            // not a message: columns
          section_(first({"section", "group", "groups"}, roster)) {
        for (const std::string_view id : kIds)
            if (const int column = roster.column(std::string(id)); column >= 0) ids_.push_back(column);
    }

    [[nodiscard]] bool is_complete() const { return !ids_.empty() || name_ >= 0 || (given_ >= 0 && family_ >= 0); }

    [[nodiscard]] Enrolled learner(std::vector<std::string> fields) const {
        Enrolled one;
        const auto at = [&](int column) {
            const auto index = static_cast<std::size_t>(column);
            return column >= 0 && index < fields.size() ? readable(fields[index]) : std::string();
        };
        one.name = name_ >= 0 ? at(name_) : readable(at(given_) + " " + at(family_));
        one.section = at(section_);
        const auto answers_to = [&](const std::string& name) {
            const std::string known = known_as(name);
            if (!known.empty() && std::ranges::find(one.answers, known) == one.answers.end())
                one.answers.push_back(known);
        };
        for (const int id : ids_) {
            if (one.id.empty()) one.id = at(id);
            answers_to(at(id));
        }
        answers_to(one.name);
        answers_to(turned(one.name));
        one.fields = std::move(fields);
        return one;
    }

private:
    static int first(std::initializer_list<const char*> names, const Roster& roster) {
        for (const char* name : names)
            if (const int column = roster.column(name); column >= 0) return column;
        return -1;
    }

    int name_, given_, family_, section_;
    std::vector<int> ids_;
};

}  // namespace

std::vector<std::size_t> Roster::called(const std::string& name) const {
    const std::string known = known_as(name);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < learners.size(); ++i)
        if (std::ranges::find(learners[i].answers, known) != learners[i].answers.end()) found.push_back(i);
    return found;
}

int Roster::column(const std::string& name) const {
    const auto found = std::ranges::find(columns, known_as(name), known_as);
    return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

Roster read_roster(const std::string& path) {
    Roster roster;
    std::vector<CsvRecord> records = read_csv(read_text(path, kMostBytes), path, kMostLines);
    if (!records.empty()) roster.columns = records.front().fields;
    const RosterReader reader(roster);
    if (!reader.is_complete())
        throw Error("{path}:1: no column of ids or names; expected a first line such as \"id,name,section\"",
                    {{"path", path}});
    for (std::size_t i = 1; i < records.size(); ++i) {
        Enrolled learner = reader.learner(std::move(records[i].fields));
        if (learner.answers.empty() || learner.name == kPoints) continue;
        const std::string& id = learner.id;
        if (!id.empty() && std::ranges::find(roster.learners, id, &Enrolled::id) != roster.learners.end())
            throw Error("{path}:{line}: the id {id} stands in a line before this one; expected each once",
                        {{"path", path}, {"line", records[i].line}, {"id", id}});
        roster.learners.push_back(std::move(learner));
    }
    return roster;
}

Pseudonyms::Pseudonyms(const std::string& path) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown)) return;
    for (const CsvRecord& record : read_csv(read_text(path, kMostBytes), path, kMostLines)) {
        if (record.fields.size() != 2 || !record.fields[0].starts_with("learner-")) {
            if (record.line == 1 && record.fields == std::vector<std::string>{"pseudonym", "learner"}) continue;
            throw Error(
                "{path}:{line}: expected a pseudonym such as learner-3f2a, a comma and a learner: what "
                "--pseudonyms wrote before",
                {{"path", path}, {"line", record.line}});
        }
        by_learner_.emplace(record.fields[1], record.fields[0]);
    }
}

const std::string& Pseudonyms::of(const std::string& who) {
    std::string& mine = by_learner_[who];
    const auto is_taken = [&](const std::string& name) {
        return std::ranges::any_of(by_learner_, [&](const auto& other) { return other.second == name; });
    };
    while (mine.empty()) {
        std::array<char, 16> drawn{};
        std::snprintf(drawn.data(), drawn.size(), "learner-%05x", static_cast<unsigned>(new_seed() >> 1U & 0xFFFFFU));
        if (!is_taken(drawn.data())) mine = drawn.data();
    }
    return mine;
}

void Pseudonyms::write(std::ostream& out) const {
    out << "pseudonym,learner\n";
    for (const auto& [who, pseudonym] : by_learner_) out << pseudonym << ',' << csv_field(who) << '\n';
}

}  // namespace decoderscope::core::lessons
