#pragma once

#include "app/core/checks/invariants.h"
#include "app/core/lessons/expression.h"
#include "app/core/lessons/prose.h"
#include "app/core/lessons/runs.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace decoderscope::core::lessons {

// What is closed while a question is open, because it would give the answer away.
struct ClosedPanels {
    bool diff = false, checks = false, configuration = false;
    bool stage = false;     // all that shows numbers of the run: tabs, strip, foot, inspector, predictions
    bool formulas = false;  // all that says how a number is computed: inspector, formulas of steps, the book of them
    bool operator==(const ClosedPanels&) const = default;

    [[nodiscard]] bool anything() const { return diff || checks || configuration || stage || formulas; }
};

// A lesson as its file says it; docs/lessons.md describes the format.

// The parts of the window that a place can point at.
enum class WindowPart { none, input, toolbar, strip, tabs, stage, foot, inspector };
inline constexpr std::array kWindowParts = {"", "input", "toolbar", "strip", "tabs", "stage", "foot", "inspector"};

// Where the window goes.
struct Place {
    Prose title;
    std::string model;          // empty: what is open stays
    Changes changes;            // on the model's example
    bool own_formulas = false;  // with those that the learner has written in this lesson
    std::string tab, step;
    std::vector<ExpressionRef> cell;  // one per axis; empty: none is selected
    ExpressionRef batch, head;        // nullptr: as they are
    std::string from;                 // the file of the lesson that it comes from, if that isn't this one
    Lets lets;                        // that lesson's names
    WindowPart point = WindowPart::none;
    std::optional<int> version;  // the only one that it stands in
    int line = 0;
};

// A cell of a step by expressions; without any, the step itself.
struct CellAnswer {
    std::string step;
    std::vector<ExpressionRef> cell;
};

// One of several sentences.
struct Choice {
    std::string mutation;  // of a bug: the mistake's name, whose sentence is shown; "nothing"; otherwise empty
    Prose text;
    ExpressionRef right;  // nullptr: wrong
    Prose reply;
    int line = 0;
};

struct WrongNumber {
    ExpressionRef number;
    Prose reply;
    int line = 0;
};
struct WrongCell {
    CellAnswer at;
    ExpressionRef where;  // which other cells get the same reply; nullptr: this one only
    Prose reply;
    int line = 0;
};
struct WrongChange {
    Changes changes;
    ExpressionRef where;  // after which runs it is said; nullptr: after none but this
    Prose reply;
    int line = 0;
};

struct ByChoice {
    std::vector<Choice> choices;
    bool explains = false;  // the right one is known without a run
};
struct ByNumber {
    ExpressionRef answer, within, low, high;
    std::vector<WrongNumber> wrong;
};
struct ByPoint {
    ExpressionRef right;
    CellAnswer solution;
    std::vector<WrongCell> wrong;
};
// What an action may break; every other check that held before has to hold after it. By Law.
using MayBreak = std::array<bool, checks::kLaws>;
inline constexpr std::array<std::string_view, checks::kLaws> kLawNames = {"rows", "masked", "future", "norms",
                                                                          "finite"};
struct ByRun {
    ExpressionRef right;
    Changes solution;
    std::string solution_text;  // as the file writes it
    MayBreak may_break{};
    std::vector<WrongChange> wrong;
};
struct ByBug {
    std::vector<Choice> choices;
    std::string solution;           // the first wrong step; empty: only the cause is asked
    std::vector<std::string> also;  // steps that are accepted, too
    std::vector<WrongCell> wrong;   // steps
};

struct WrongFormula {
    std::string formula;
    Prose reply;
    int line = 0;
};
// A formula that the learner writes for a step, or for a row of that name. Every cell counts (writing.h).
struct ByFormula {
    std::string step;
    std::vector<std::string> everywhere;  // all steps that it has to compute in a model, with "*" for layers; or none
    std::string solution, right;          // the row's right numbers, if not those of the solution
    std::vector<std::string> also;        // other formulas that are right
    std::vector<std::string> on;          // changes: on the runs with these it is judged, too
    std::vector<std::string> without;     // tensors that it may not read, because they are the answer
    std::vector<WrongFormula> wrong;
};

inline constexpr std::size_t kHints = 3;

struct Question {
    std::string id;
    Prose ask;
    Lets lets;
    std::array<Prose, kHints> hints;
    Prose learned, otherwise;
    ClosedPanels withheld;
    std::variant<ByChoice, ByNumber, ByPoint, ByRun, ByBug, ByFormula> answer;
    std::optional<int> version;  // the only one that it stands in
    bool again = false;          // it is another lesson's: practice, which counts nowhere
    int line = 0;
};

struct Table {
    Prose caption;
    std::vector<Prose> columns;
    std::string variable;  // counts the rows; empty: one row of cells each
    ExpressionRef count;
    std::vector<std::vector<Formula>> rows;
    int line = 0;
};

// A sentence that is pinned to a step, or to a cell of it, while its page is read.
struct PinnedNote {
    CellAnswer at;
    Prose text;
    std::optional<int> version;  // the only one that it stands in
    int line = 0;
};

using Block = std::variant<Paragraph, Place, Question, Table, PinnedNote>;

struct Page {
    Prose title;
    std::vector<Block> blocks;
    int line = 0;
};

enum class LessonKind { lesson, bug, test };

struct Lesson {
    std::string name;      // "weight", "gallery/no-scale", or the path of a file from elsewhere
    std::string path;      // of the file
    bool bundled = false;  // it comes with the program: its name finds it on any machine
    std::string digest;    // of the file that it is, or is a translation of; empty: not read from a file
    Prose title, summary;
    LessonKind kind = LessonKind::lesson;
    int number = 1000;
    int minutes = 0;
    int tries = 0;               // max attempts per question (0 = unlimited); doesn't apply to actions
    std::size_t hints = kHints;  // how many are given
    std::vector<std::string> happened;
    Lets lets;
    int versions = 1;  // how many there are (versions.h)
    int version = 0;   // which of them these pages are
    std::vector<Page> pages;
    std::shared_ptr<const std::vector<Page>> all_pages;  // of all versions; nullptr if there is one
};

// Whether the questions of other lessons that a lesson asks again (asked_again) are read, too.
enum class OldQuestions { read, left_out };

// Reads a lesson; of several versions, the first one. Throws Error with path, line and what was expected.
[[nodiscard]] Lesson parse_lesson(const std::string& text, const std::string& path,
                                  OldQuestions old = OldQuestions::read);
[[nodiscard]] Lesson read_lesson(const std::string& path, OldQuestions old = OldQuestions::read);
// A lesson's file as a text. Throws Error if it is longer than any lesson.
[[nodiscard]] std::string lesson_text(const std::string& path);
// What parse_lesson would throw, and what it would throw after that was mended: every line's mistake, in order. Empty
// if the lesson can be read.
[[nodiscard]] std::vector<Sentence> mistakes_in(const std::string& text, const std::string& path);

// A question of another lesson, asked again, and the place that it is about: its model, input and step, under the
// lesson's title. Its id is "weight-sharper".
struct AskedAgain {
    Place place;
    Question question;
};
// "weight/sharper" is the question `sharper` of the program's lesson `weight`, in the language of the lesson that asks.
// Throws Error if there is none.
[[nodiscard]] AskedAgain asked_again(const std::string& name, const Lesson& asking);

// All its own questions, in order: not those that it asks again.
[[nodiscard]] std::vector<const Question*> questions_of(const Lesson& lesson);

// A line of a lesson's block: "key: value".
struct BlockLine {
    std::string key, value;
    int line = 0;
};

// The lines of a block whose contents begin at `line` of the file. Throws Error with the line; with `mistakes`, gathers
// all of them.
[[nodiscard]] std::vector<BlockLine> read_block_lines(const std::string& contents, int line, const std::string& path,
                                                      std::vector<Sentence>* mistakes = nullptr);

// The kinds of block that a lesson has of its own. All throw Error with path, line and what was expected.

struct BlockSource {
    std::vector<BlockLine> lines;
    const FormulaTable& formulas;
    const std::string& path;
    int line = 0;                               // of the block
    std::vector<Sentence>* mistakes = nullptr;  // where they are gathered; nullptr: the first one is thrown
    std::size_t before = 0;                     // how many there were before this block

    // A line of it has a mistake: what the block seems to miss isn't told then.
    [[nodiscard]] bool is_broken() const { return mistakes != nullptr && mistakes->size() > before; }
};

// What `make` returns. If mistakes are gathered, an Error is one of them, and an empty value is returned.
template <class Make>
auto gathering(std::vector<Sentence>* mistakes, Make make) -> decltype(make()) {
    using Made = decltype(make());
    if (mistakes == nullptr) return make();
    try {
        return make();
    } catch (const Error& error) {
        mistakes->push_back(error.sentence());
        if constexpr (!std::is_void_v<Made>) return Made{};
    }
}

void read_head(const BlockSource& source, Lesson& lesson);
[[nodiscard]] Place read_place(const BlockSource& source);
[[nodiscard]] Question read_question(const BlockSource& source, LessonKind kind);
[[nodiscard]] Table read_table(const BlockSource& source);
[[nodiscard]] PinnedNote read_note(const BlockSource& source);
// The names of the questions that are asked again.
[[nodiscard]] std::vector<BlockLine> read_again(const BlockSource& source);

// "STEP[EXPRESSION, …]" or "STEP".
[[nodiscard]] CellAnswer parse_cell_answer(const std::string& text);
// "NAME = EXPRESSION".
void add_let(Lets& lets, const std::string& text);

}  // namespace decoderscope::core::lessons
