#include "app/core/lessons/lesson.h"

#include "app/core/lessons/versions.h"
#include "app/core/text/characters.h"
#include "app/core/text/text_layout.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/formulas/words.h"
#include "engine/mutations/mutations.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <sstream>

namespace decoderscope::core::lessons {

namespace {

constexpr std::string_view kBlanks = " \t\r";

bool is_key(std::string_view text) {
    if (text.empty()) return false;
    for (const char c : text)
        if (std::islower(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
    return true;
}

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

// A key of a block: what its line sets, and whether it may stand several times.
struct Key {
    std::string_view name;
    std::function<void(const BlockLine&)> take;
    bool repeats = false;
};

// Sets `to` to what `read` makes of the line's value.
template <class To, class Read = std::identity>
std::function<void(const BlockLine&)> into(To& to, Read read = {}) {
    return [&to, read](const BlockLine& line) { to = read(line.value); };
}

// "plce" is near "place": which of these words is meant.
[[noreturn]] void refuse(const Sentence& why, const std::string& word, const std::vector<std::string>& known) {
    throw Error(formulas::with_nearest(why, word, known));
}

std::string listed(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
    return all;
}

// Reads a block's lines by its keys. An Error names the line; another key is one, and so is one that is given twice.
void read_keys(const BlockSource& source, const std::vector<Key>& keys) {
    std::set<std::string> seen;
    const auto read = [&](const BlockLine& line) {
        const auto key = std::ranges::find(keys, line.key, &Key::name);
        if (!seen.insert(line.key).second && (key == keys.end() || !key->repeats))
            throw Error("{key} is given twice; expected it once", {{"key", line.key}});
        naming(line.key, [&] {
            if (key != keys.end()) return key->take(line);
            std::vector<std::string> known;
            for (const Key& other : keys) known.emplace_back(other.name);
            refuse(message("\"{key}\" is not a key here; expected one of {known}",
                           {{"key", line.key}, {"known", listed(known)}}),
                   line.key, known);
        });
    };
    for (const BlockLine& line : source.lines)
        gathering(source.mistakes, [&] { at_line(source.path, line.line, [&] { read(line); }); });
}

void add_row(std::optional<std::string>& rows, const std::string& row) {
    if (rows)
        rows->append("\n").append(row);
    else
        rows = row;
}

LessonKind kind_of(const std::string& value) {
    constexpr std::array kKinds = {"lesson", "bug", "test"};  // by LessonKind
    const auto found = std::ranges::find(kKinds, value);
    if (found == kKinds.end()) throw Error("\"{value}\", expected lesson, bug or test", {{"value", value}});
    return static_cast<LessonKind>(found - kKinds.begin());
}

WindowPart window_part(const std::string& value) {
    if (value == "map" || value == "timeline") return WindowPart::strip;  // what older lessons point at
    const auto found = std::ranges::find(kWindowParts, value);
    if (found == kWindowParts.end() || value.empty())
        throw Error("\"{value}\", expected one of input, toolbar, strip, tabs, stage, foot, inspector",
                    {{"value", value}});
    return static_cast<WindowPart>(found - kWindowParts.begin());
}

// Of a place's model: "own" are those that the learner has written in the lesson.
bool are_own(const std::string& value) {
    if (value != "own")
        throw Error("\"{value}\", expected own: those that the learner has written", {{"value", value}});
    return true;
}

auto prose_of(const BlockSource& source) {
    return [&source](const std::string& value) { return read_prose(value, source.formulas); };
}

// Puts the blocks of a file together to a lesson.
class LessonReader {
public:
    LessonReader(std::string path, const FormulaTable& formulas, OldQuestions old,
                 std::vector<Sentence>* mistakes = nullptr)
        : formulas_(formulas), old_(old), mistakes_(mistakes) {
        lesson_.path = std::move(path);
        lesson_.name = lesson_.path;
    }

    Lesson read(const std::vector<MarkdownBlock>& blocks) {
        for (const MarkdownBlock& block : blocks) {
            for (const Paragraph& paragraph : block.paragraphs) gathering(mistakes_, [&] { add(paragraph); });
            if (!block.info.empty()) gathering(mistakes_, [&] { add_fenced(block); });
        }
        const auto need = [&](bool is_there, const Sentence& why) {
            gathering(mistakes_, [&] {
                if (!is_there) at_line(lesson_.path, 1, [&] { throw Error(why); });
            });
        };
        need(!lesson_.title.empty(), message("no title; expected a heading such as \"# A weight is a comparison\""));
        need(has_head_, message("no ```lesson block; expected one before the first page"));
        need(!lesson_.pages.empty(), message("no pages; expected headings such as \"## One weight\""));
        if (lesson_.versions == 1) return std::move(lesson_);
        lesson_.all_pages = std::make_shared<const std::vector<Page>>(std::move(lesson_.pages));
        return in_version(lesson_, 0);
    }

private:
    void add(const Paragraph& paragraph) {
        if (paragraph.kind == Paragraph::Kind::heading && paragraph.level == 1) {
            at_line(lesson_.path, paragraph.line, [&] {
                if (!lesson_.title.empty()) throw Error("a second title; expected ## for a page");
            });
            lesson_.title = paragraph.prose;
        } else if (paragraph.kind == Paragraph::Kind::heading && paragraph.level == 2) {
            lesson_.pages.push_back({paragraph.prose, {}, paragraph.line});
        } else {
            page(paragraph.line).blocks.emplace_back(paragraph);
        }
    }

    void add_fenced(const MarkdownBlock& block) {
        const std::size_t before = mistakes_ == nullptr ? 0 : mistakes_->size();
        const BlockSource source{read_block_lines(block.contents, block.line + 1, lesson_.path, mistakes_),
                                 formulas_,
                                 lesson_.path,
                                 block.line,
                                 mistakes_,
                                 before};
        // What stands in a block with a mistake is read, and then left out.
        if (block.info == "lesson") return add_head(source);
        if (block.info == "place") {
            Place place = read_place(source);
            if (!source.is_broken()) add_place(std::move(place));
        } else if (block.info == "question") {
            Question question = read_question(source, lesson_.kind);
            if (!source.is_broken()) add_question(std::move(question));
        } else if (block.info == "table") {
            page(block.line).blocks.emplace_back(read_table(source));
        } else if (block.info == "note") {
            PinnedNote note = read_note(source);
            if (!source.is_broken()) add_note(std::move(note));
        } else if (block.info == "again") {
            for (const BlockLine& named : read_again(source)) gathering(mistakes_, [&] { add_again(named); });
        } else {
            at_line(lesson_.path, block.line, [&] {
                refuse(message("a block \"{info}\"; expected lesson, place, question, again, table or note",
                               {{"info", block.info}}),
                       block.info, {"lesson", "place", "question", "again", "table", "note"});
            });
        }
    }

    void add_head(const BlockSource& source) {
        at_line(lesson_.path, source.line, [&] {
            if (has_head_) throw Error("a second ```lesson block; expected one");
            if (!lesson_.pages.empty()) throw Error("a ```lesson block on a page; expected it before the first ##");
        });
        has_head_ = true;
        read_head(source, lesson_);
    }

    void add_place(Place place) {
        Page& here = page(place.line);
        need_version(place.version, place.line);
        const bool opens = !place.model.empty() && !place.version;  // those of versions take turns
        at_line(lesson_.path, place.line, [&] {
            if (opens && opened_since_question_)
                throw Error("a second place with a model; expected it after a question, or on a page of its own");
        });
        opened_since_question_ = opened_since_question_ || opens;
        here.blocks.emplace_back(std::move(place));
    }

    void add_question(Question question) {
        need_version(question.version, question.line);
        at_line(lesson_.path, question.line, [&] {
            const bool is_new = ids_.insert({question.id, question.version}).second;
            if (!is_new || (question.version && ids_.contains({question.id, std::nullopt})))
                throw Error("id: \"{id}\" is used twice; expected another", {{"id", question.id}});
        });
        at_line(lesson_.path, question.line, [&] {
            if (question.hints.front().empty() && lesson_.hints > 0)
                throw Error("no hints; expected {wanted}, or \"hints: 0\" in the ```lesson block",
                            {{"wanted", kHints}});
        });
        opened_since_question_ = false;
        page(question.line).blocks.emplace_back(std::move(question));
    }

    void add_again(const BlockLine& named) {
        if (old_ == OldQuestions::left_out) return;
        AskedAgain again = at_line(lesson_.path, named.line, [&] { return asked_again(named.value, lesson_); });
        again.place.line = again.question.line = named.line;
        add_place(std::move(again.place));
        add_question(std::move(again.question));
    }

    void add_note(PinnedNote note) {
        need_version(note.version, note.line);
        page(note.line).blocks.emplace_back(std::move(note));
    }

    void need_version(const std::optional<int>& version, int line) const {
        at_line(lesson_.path, line, [&] {
            if (version && *version >= lesson_.versions)
                throw Error("version: {given}; expected less than the lesson's versions, {count}",
                            {{"given", *version}, {"count", lesson_.versions}});
        });
    }

    Page& page(int line) {
        at_line(lesson_.path, line, [&] {
            if (lesson_.pages.empty()) throw Error("this comes before the first page; expected a heading ## first");
        });
        if (current_page_ != lesson_.pages.size()) {
            current_page_ = lesson_.pages.size();
            opened_since_question_ = false;
        }
        return lesson_.pages.back();
    }

    const FormulaTable& formulas_;
    OldQuestions old_;
    std::vector<Sentence>* mistakes_;
    Lesson lesson_;
    bool has_head_ = false;
    std::size_t current_page_ = 0;
    bool opened_since_question_ = false;
    std::set<std::pair<std::string, std::optional<int>>> ids_;
};

}  // namespace

std::vector<BlockLine> read_block_lines(const std::string& contents, int line, const std::string& path,
                                        std::vector<Sentence>* mistakes) {
    std::vector<BlockLine> lines;
    const auto read = [&](const std::string& text) {
        const std::string whole(trimmed(text, kBlanks));
        if (whole.empty() || text.starts_with('#')) return;
        if (text.starts_with("  ")) {
            if (lines.empty()) throw Error("a line begins with spaces; expected a key first");
            std::string& value = lines.back().value;
            if (!value.empty()) value += between_lines(value, whole);
            value += whole;
            return;
        }
        if (whole.starts_with("```")) throw Error("a block begins inside another; expected ``` before it");
        const auto colon = text.find(':');
        const std::string key = text.substr(0, colon);
        if (colon == std::string::npos || !is_key(key))
            throw Error("\"{text}\"; expected \"key: value\", or two spaces before a continuation", {{"text", whole}});
        lines.push_back({key, std::string(trimmed(std::string_view(text).substr(colon + 1), kBlanks)), line});
    };
    std::istringstream in(contents);
    for (std::string text; std::getline(in, text); ++line)
        gathering(mistakes, [&] { at_line(path, line, [&] { read(text); }); });
    return lines;
}

void add_let(Lets& lets, const std::string& text) {
    const auto sign = text.find('=');
    const std::string name = without_blanks(text.substr(0, sign));
    const bool valid = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                       std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (sign == std::string::npos || !valid)
        throw Error("\"{text}\", expected NAME = EXPRESSION with a name of letters, digits and _", {{"text", text}});
    if (!lets.emplace(name, parse_expression(text.substr(sign + 1))).second)
        throw Error("\"{name}\" is used twice; expected another name", {{"name", name}});
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
    read_keys(
        source,
        {{"number", into(lesson.number, whole_number)},
         {"minutes", into(lesson.minutes, whole_number)},
         {"tries", into(lesson.tries, whole_number)},
         {"hints", into(lesson.hints,
                        [](const std::string& value) {
                            return std::min(static_cast<std::size_t>(whole_number(value)), kHints);
                        })},
         {"versions", into(lesson.versions, [](const std::string& value) { return std::max(whole_number(value), 1); })},
         {"summary", into(lesson.summary, prose_of(source))},
         {"kind", into(lesson.kind, kind_of)},
         {"happened", [&](const BlockLine& line) { lesson.happened.push_back(line.value); }, true},
         {"let", [&](const BlockLine& line) { add_let(lesson.lets, line.value); }, true}});
}

Place read_place(const BlockSource& source) {
    Place place;
    place.line = source.line;
    Changes& changes = place.changes;
    const auto add_changes = [&](const BlockLine& line) {
        const Changes part = parse_changes(line.value);
        changes.set.insert(changes.set.end(), part.set.begin(), part.set.end());
        changes.edits.insert(changes.edits.end(), part.edits.begin(), part.edits.end());
    };
    read_keys(
        source,
        {{"title", into(place.title, prose_of(source))},
         {"model", into(place.model)},
         {"source", [&](const BlockLine& line) { add_row(changes.source, line.value); }, true},
         {"target", [&](const BlockLine& line) { add_row(changes.target, line.value); }, true},
         {"set", add_changes, true},
         {"edits", add_changes},
         {"mutation",
          into(changes.mutation, [](const std::string& value) { return parse_changes("mutation=" + value).mutation; })},
         {"pass", into(changes.pass, [](const std::string& value) { return parse_changes("pass=" + value).pass; })},
         {"dropout_seed",
          into(changes.dropout_seed,
               [](const std::string& value) { return parse_changes("dropout_seed=" + value).dropout_seed; })},
         {"gradients_of", into(changes.gradient_target)},
         {"formulas", [&](const BlockLine& line) { place.own_formulas = are_own(line.value); }},
         {"tab", into(place.tab)},
         {"step", into(place.step)},
         {"cell", into(place.cell, expressions)},
         {"batch", into(place.batch, parse_expression)},
         {"head", into(place.head, parse_expression)},
         {"point", into(place.point, window_part)},
         {"version", into(place.version, whole_number)}});
    if (source.is_broken()) return place;
    at_line(source.path, source.line, [&] {
        if (place.title.empty()) throw Error("a place without a title; expected \"title: …\"");
        if (place.model.empty() && (changes != Changes{} || place.own_formulas))
            throw Error(
                "a place that changes what is open; expected a model, too: only the learner changes what is open");
        if (!place.cell.empty() && place.step.empty()) throw Error("cell without step; expected both");
    });
    return place;
}

Table read_table(const BlockSource& source) {
    Table table;
    table.line = source.line;
    const auto read_count = [&](const BlockLine& line) {
        const auto sign = line.value.find('=');
        if (sign == std::string::npos) throw Error("\"{value}\", expected NAME = COUNT", {{"value", line.value}});
        table.variable = without_blanks(line.value.substr(0, sign));
        table.count = parse_expression(line.value.substr(sign + 1));
    };
    const auto read_row = [&](const BlockLine& line) {
        std::vector<Formula>& row = table.rows.emplace_back();
        for (const std::string& cell : split_at(line.value, ',')) {
            const auto bar = cell.rfind('|');
            Formula formula{.source = without_blanks(cell), .line = line.line};
            formula.expression = parse_expression(std::string_view(cell).substr(0, bar));
            if (bar != std::string::npos) formula.format = parse_format(std::string_view(cell).substr(bar + 1));
            row.push_back(std::move(formula));
        }
    };
    const auto read_columns = [&](const BlockLine& line) {
        for (const std::string& column : split_at(line.value, ','))
            table.columns.push_back(read_prose(without_blanks(column), source.formulas));
    };
    read_keys(source, {{"caption", into(table.caption, prose_of(source))},
                       {"columns", read_columns},
                       {"for", read_count},
                       {"row", read_row, true}});
    if (source.is_broken()) return table;
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

PinnedNote read_note(const BlockSource& source) {
    PinnedNote note;
    note.line = source.line;
    read_keys(source, {{"at", into(note.at, parse_cell_answer)},
                       {"text", into(note.text, prose_of(source))},
                       {"version", into(note.version, whole_number)}});
    if (source.is_broken()) return note;
    at_line(source.path, source.line, [&] {
        if (note.at.step.empty())
            throw Error("a note without a place; expected \"at: STEP\" or \"at: STEP[INDEX, …]\"");
        if (note.text.empty()) throw Error("a note without a text; expected \"text: …\"");
    });
    return note;
}

std::vector<BlockLine> read_again(const BlockSource& source) {
    std::vector<BlockLine> named;
    read_keys(source, {{"question", [&](const BlockLine& line) { named.push_back(line); }, true}});
    if (source.is_broken()) return named;
    at_line(source.path, source.line, [&] {
        if (named.empty()) throw Error("nothing is asked again; expected \"question: LESSON/ID\"");
    });
    return named;
}

// Reads a lesson's file: pages, and on them paragraphs and the lesson's own blocks.

Lesson parse_lesson(const std::string& text, const std::string& path, OldQuestions old) {
    FormulaTable formulas;
    const std::string markdown = formulas.taken_out(text, path);
    return LessonReader(path, formulas, old).read(read_markdown(markdown, formulas, path));
}

std::vector<Sentence> mistakes_in(const std::string& text, const std::string& path) {
    std::vector<Sentence> mistakes;
    FormulaTable formulas;
    gathering(&mistakes, [&] {
        const std::string markdown = formulas.taken_out(text, path, &mistakes);
        static_cast<void>(
            LessonReader(path, formulas, OldQuestions::read, &mistakes).read(read_markdown(markdown, formulas, path)));
    });
    return mistakes;
}

std::string lesson_text(const std::string& path) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // the longest of ours has 40,000
    return read_text(path, kMostBytes);
}

Lesson read_lesson(const std::string& path, OldQuestions old) { return parse_lesson(lesson_text(path), path, old); }

std::vector<const Question*> questions_of(const Lesson& lesson) {
    std::vector<const Question*> all;
    for (const Page& page : lesson.pages)
        for (const Block& block : page.blocks)
            if (const auto* question = std::get_if<Question>(&block); question != nullptr && !question->again)
                all.push_back(question);
    return all;
}

}  // namespace decoderscope::core::lessons
