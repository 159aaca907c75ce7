#include "app/core/lessons/read_block.h"

#include "app/core/text/trimmed.h"
#include "engine/error.h"
#include "engine/mutations/mutation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace decoderscope::lessons {

namespace {

std::string without_blanks(std::string_view text) { return std::string(trimmed(text, " \t")); }

int whole_number(const std::string& text) {
    if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
        throw Error("\"{text}\", expected a whole number", {{"text", text}});
    return std::stoi(text);
}

std::vector<ExpressionRef> expressions(const std::string& text) {
    std::vector<ExpressionRef> all;
    for (const std::string& part : split_at(text, ',')) all.push_back(parse_expression(part));
    return all;
}

[[noreturn]] void refuse_key(const std::string& key, const char* known) {
    throw Error("\"{key}\" is no key here; expected one of {known}", {{"key", key}, {"known", known}});
}

// Runs `take(line)` for each line; an Error of it names the line, and a key that stands twice is one, unless it is
// among `repeated`.
template <class Take>
void for_each_line(const BlockSource& source, const std::set<std::string_view>& repeated, Take take) {
    std::set<std::string> seen;
    for (const BlockLine& line : source.lines)
        at_line(source.path, line.line, [&] {
            if (!seen.insert(line.key).second && !repeated.contains(line.key))
                throw Error("{key} stands twice; expected it once", {{"key", line.key}});
            naming(line.key, [&] { take(line); });
        });
}

void add_row(std::optional<std::string>& rows, const std::string& row) { rows = rows ? *rows + "\n" + row : row; }

}  // namespace

void add_let(Lets& lets, const std::string& text) {
    const auto sign = text.find('=');
    const std::string name = without_blanks(text.substr(0, sign));
    const bool valid = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                       std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (sign == std::string::npos || !valid)
        throw Error("\"{text}\", expected NAME = EXPRESSION with a name of letters, digits and _", {{"text", text}});
    if (!lets.emplace(name, parse_expression(text.substr(sign + 1))).second)
        throw Error("\"{name}\" stands twice; expected another name", {{"name", name}});
}

CellAnswer parse_cell_answer(const std::string& text) {
    const auto bracket = text.find('[');
    CellAnswer answer{without_blanks(text.substr(0, bracket)), {}};
    if (answer.step.empty()) throw Error("\"{text}\", expected STEP or STEP[INDEX, …]", {{"text", text}});
    if (bracket == std::string::npos) return answer;
    const auto end = text.rfind(']');
    if (end == std::string::npos || end < bracket) throw Error("\"{text}\", expected ] at the end", {{"text", text}});
    answer.cell = expressions(text.substr(bracket + 1, end - bracket - 1));
    return answer;
}

void read_head(const BlockSource& source, Lesson& lesson) {
    for_each_line(source, {"let", "happened"}, [&](const BlockLine& line) {
        const auto& [key, value, at] = line;
        if (key == "number")
            lesson.number = whole_number(value);
        else if (key == "minutes")
            lesson.minutes = whole_number(value);
        else if (key == "summary")
            lesson.summary = read_prose(value, source.formulas);
        else if (key == "kind" && (value == "lesson" || value == "bug"))
            lesson.kind = value == "bug" ? LessonKind::bug : LessonKind::lesson;
        else if (key == "kind")
            throw Error("\"{value}\", expected lesson or bug", {{"value", value}});
        else if (key == "happened")
            lesson.happened.push_back(value);
        else if (key == "let")
            add_let(lesson.lets, value);
        else
            refuse_key(key, "number, minutes, summary, kind, happened, let");  // not a message: keys
    });
}

Place read_place(const BlockSource& source) {
    Place place;
    place.line = source.line;
    bool changes = false;
    for_each_line(source, {"set", "source", "target"}, [&](const BlockLine& line) {
        const auto& [key, value, at] = line;
        changes = changes || key == "set" || key == "edits" || key == "mutation" || key == "dropout_seed" ||
                  key == "gradients_of" || key == "source" || key == "target";
        if (key == "title") {
            place.title = read_prose(value, source.formulas);
        } else if (key == "model") {
            place.model = value;
        } else if (key == "source") {
            add_row(place.changes.source, value);
        } else if (key == "target") {
            add_row(place.changes.target, value);
        } else if (key == "set" || key == "edits") {
            const Changes part = parse_changes(value);
            place.changes.set.insert(place.changes.set.end(), part.set.begin(), part.set.end());
            place.changes.edits.insert(place.changes.edits.end(), part.edits.begin(), part.edits.end());
        } else if (key == "mutation") {
            place.changes.mutation = parse_changes("mutation=" + value).mutation;
        } else if (key == "dropout_seed") {
            place.changes.dropout_seed = parse_changes("dropout_seed=" + value).dropout_seed;
        } else if (key == "gradients_of") {
            place.changes.gradients_of = value;
        } else if (key == "tab") {
            place.tab = value;
        } else if (key == "step") {
            place.step = value;
        } else if (key == "cell") {
            place.cell = expressions(value);
        } else if (key == "batch") {
            place.batch = parse_expression(value);
        } else if (key == "head") {
            place.head = parse_expression(value);
        } else if (key == "point") {
            const auto found = std::ranges::find(kWindowParts, value);
            if (found == kWindowParts.end() || value.empty())
                throw Error("\"{value}\", expected one of input, toolbar, map, tabs, stage, timeline, inspector",
                            {{"value", value}});
            place.point = static_cast<WindowPart>(found - kWindowParts.begin());
        } else {
            refuse_key(key,
                       "title, model, source, target, set, edits, mutation, dropout_seed, "  // not a message: keys
                       "gradients_of, tab, step, cell, batch, head, point");                 // not a message: keys
        }
    });
    at_line(source.path, source.line, [&] {
        if (place.title.empty()) throw Error("a place without a title; expected \"title: …\"");
        if (place.model.empty() && changes)
            throw Error("a place that changes what is open; expected a model, too: changes are the learner's");
        if (!place.cell.empty() && place.step.empty()) throw Error("cell without step; expected both");
    });
    return place;
}

Table read_table(const BlockSource& source) {
    Table table;
    table.line = source.line;
    for_each_line(source, {"row"}, [&](const BlockLine& line) {
        const auto& [key, value, at] = line;
        if (key == "caption") {
            table.caption = read_prose(value, source.formulas);
        } else if (key == "columns") {
            for (const std::string& column : split_at(value, ','))
                table.columns.push_back(read_prose(without_blanks(column), source.formulas));
        } else if (key == "for") {
            const auto sign = value.find('=');
            if (sign == std::string::npos) throw Error("\"{value}\", expected NAME = COUNT", {{"value", value}});
            table.variable = without_blanks(value.substr(0, sign));
            table.count = parse_expression(value.substr(sign + 1));
        } else if (key == "row") {
            std::vector<Formula>& row = table.rows.emplace_back();
            for (const std::string& cell : split_at(value, ',')) {
                const auto bar = cell.rfind('|');
                Formula formula{.source = without_blanks(cell), .line = at};
                formula.expression = parse_expression(std::string_view(cell).substr(0, bar));
                if (bar != std::string::npos) formula.format = parse_format(std::string_view(cell).substr(bar + 1));
                row.push_back(std::move(formula));
            }
        } else {
            refuse_key(key, "caption, columns, for, row");  // not a message: keys
        }
    });
    at_line(source.path, source.line, [&] {
        if (table.caption.empty()) throw Error("a table without a caption; expected \"caption: …\"");
        if (table.rows.empty()) throw Error("a table without a row; expected \"row: …\"");
        for (const auto& row : table.rows)
            if (row.size() != table.columns.size())
                throw Error("{cells} cells in a row; expected {columns}, one per column",
                            {{"cells", row.size()}, {"columns", table.columns.size()}});
        if (!table.variable.empty() && table.rows.size() != 1) throw Error("for with several rows; expected one");
    });
    return table;
}

}  // namespace decoderscope::lessons
