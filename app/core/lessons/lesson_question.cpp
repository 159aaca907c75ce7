// A question's block: what all kinds have, then what each needs.
#include "app/core/lessons/lesson.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "engine/base/error.h"
#include "engine/formulas/words.h"
#include "engine/mutations/mutations.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <type_traits>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

const std::set<std::string_view> kKeys = {"id",        "kind",     "ask",    "let",        "hint",    "learned",
                                          "otherwise", "withhold", "answer", "within",     "between", "right",
                                          "solution",  "breaks",   "choice", "wrong",      "if",      "reply",
                                          "also",      "version",  "step",   "everywhere", "on",      "without"};
const std::set<std::string_view> kRepeated = {"let", "hint", "choice", "wrong", "if", "reply", "also", "on"};

// A choice or a wrong answer with the lines that belong to it.
struct Group {
    BlockLine head;
    const BlockLine* condition = nullptr;
    const BlockLine* reply = nullptr;
};

// The lines of a block by their keys, and the groups that "choice" and "wrong" begin.
class QuestionLines {
public:
    explicit QuestionLines(const BlockSource& source) : source_(source) {
        for (const BlockLine& line : source.lines)
            gathering(source.mistakes, [&] { at_line(source.path, line.line, [&] { add(line); }); });
    }

    [[nodiscard]] const BlockLine* find(const std::string& key) {
        used_.insert(key);
        const auto found = by_key_.find(key);
        return found == by_key_.end() ? nullptr : &found->second.front();
    }
    [[nodiscard]] std::vector<BlockLine> all(const std::string& key) {
        used_.insert(key);
        const auto found = by_key_.find(key);
        return found == by_key_.end() ? std::vector<BlockLine>() : found->second;
    }
    [[nodiscard]] const std::vector<Group>& groups(const std::string& key) {
        used_.insert(key);
        return groups_[key];
    }

    template <class Read>
    auto at(const BlockLine& line, Read read) const {
        return gathering(source_.mistakes,
                         [&] { return at_line(source_.path, line.line, [&] { return naming(line.key, read); }); });
    }

    // What `read` returns for the value of a required key.
    template <class Read>
    auto need(const std::string& key, const char* example, Read read) {
        const BlockLine* line = find(key);
        using Made = std::decay_t<decltype(read(line->value))>;
        if (line == nullptr) {
            fail(message("no {key}; expected \"{key}: {example}\"", {{"key", key}, {"example", example}}));
            return Made();
        }
        return at(*line, [&] { return read(line->value); });
    }

    [[nodiscard]] Prose prose(const std::string& value) const { return read_prose(value, source_.formulas); }
    [[nodiscard]] Prose prose_of(const BlockLine& line) const {
        return at(line, [&] { return prose(line.value); });
    }
    [[nodiscard]] Prose reply_of(const Group& group) const {
        return group.reply == nullptr ? Prose() : prose_of(*group.reply);
    }
    [[nodiscard]] ExpressionRef condition_of(const Group& group) const {
        if (group.condition == nullptr) return nullptr;
        return at(*group.condition, [&] { return parse_expression(group.condition->value); });
    }
    void fail(const Sentence& why) const {
        if (source_.is_broken()) return;
        gathering(source_.mistakes, [&] { at_line(source_.path, source_.line, [&] { throw Error(why); }); });
    }

    // Throws if a key was not read: this kind of question doesn't have it.
    void finish(const std::string& kind) const {
        for (const auto& [key, lines] : by_key_) refuse_unused(kind, key, lines.front().line);
        for (const auto& [key, groups] : groups_)
            if (!groups.empty()) refuse_unused(kind, key, groups.front().head.line);
    }

private:
    void add(const BlockLine& line) {
        if (!kKeys.contains(line.key))
            throw Error(formulas::with_nearest(
                message("\"{key}\" is not a key of a question; docs/lessons.md lists them", {{"key", line.key}}),
                line.key, std::vector<std::string>(kKeys.begin(), kKeys.end())));
        if (line.key == "choice" || line.key == "wrong") {
            groups_[line.key].push_back({line});
            group_ = &groups_[line.key].back();
            return;
        }
        if (line.key == "if" || line.key == "reply") {
            if (group_ == nullptr)
                throw Error("{key} before any choice or wrong answer; expected it after one", {{"key", line.key}});
            const BlockLine*& of_group = line.key == "if" ? group_->condition : group_->reply;
            if (of_group != nullptr) throw Error("{key} is given twice; expected it once", {{"key", line.key}});
            of_group = &line;
            return;
        }
        std::vector<BlockLine>& lines = by_key_[line.key];
        if (!lines.empty() && !kRepeated.contains(line.key))
            throw Error("{key} is given twice; expected it once", {{"key", line.key}});
        lines.push_back(line);
    }

    void refuse_unused(const std::string& kind, const std::string& key, int line) const {
        if (used_.contains(key) || source_.is_broken()) return;
        gathering(source_.mistakes, [&] {
            at_line(source_.path, line, [&] {
                throw Error("\"{key}\" is not a key of a question of kind {kind}; docs/lessons.md lists them",
                            {{"key", key}, {"kind", kind}});
            });
        });
    }

    const BlockSource& source_;
    std::map<std::string, std::vector<BlockLine>> by_key_;
    std::map<std::string, std::vector<Group>> groups_;
    Group* group_ = nullptr;
    std::set<std::string> used_;
};

std::vector<Choice> choices_of(QuestionLines& lines, bool of_bug) {
    std::vector<Choice> choices;
    for (const Group& group : lines.groups("choice")) {
        Choice choice{.right = lines.condition_of(group), .reply = lines.reply_of(group), .line = group.head.line};
        const std::string& text = group.head.value;
        if (of_bug && (text == "nothing" || mutations::find_mutation(text) != nullptr))
            choice.mutation = text;
        else
            choice.text = lines.at(group.head, [&] { return lines.prose(text); });
        choices.push_back(std::move(choice));
    }
    if (choices.size() < 3) lines.fail(message("{count} choices; expected at least 3", {{"count", choices.size()}}));
    return choices;
}

ByChoice by_choice(QuestionLines& lines, bool explains) { return {choices_of(lines, false), explains}; }

ByNumber by_number(QuestionLines& lines) {
    ByNumber number;
    number.answer = lines.need("answer", "EXPRESSION", parse_expression);
    number.within = lines.need("within", "0.1", parse_expression);
    lines.need("between", "0, 1", [&](const std::string& value) {
        const std::vector<std::string> ends = split_at(value, ',');
        if (ends.size() != 2) throw Error("\"{value}\", expected two numbers", {{"value", value}});
        number.low = parse_expression(ends[0]);
        number.high = parse_expression(ends[1]);
    });
    for (const Group& group : lines.groups("wrong"))
        number.wrong.push_back({lines.at(group.head, [&] { return parse_expression(group.head.value); }),
                                lines.reply_of(group), group.head.line});
    return number;
}

template <class Wrong, class Read>
std::vector<Wrong> wrong_answers(QuestionLines& lines, Read read) {
    std::vector<Wrong> wrong;
    for (const Group& group : lines.groups("wrong"))
        wrong.push_back({lines.at(group.head, [&] { return read(group.head.value); }), lines.condition_of(group),
                         lines.reply_of(group), group.head.line});
    return wrong;
}

ByPoint by_point(QuestionLines& lines) {
    return {lines.need("right", "CONDITION", parse_expression), lines.need("solution", "STEP[…]", parse_cell_answer),
            wrong_answers<WrongCell>(lines, parse_cell_answer)};
}

// "future, rows" without the commas.
std::vector<std::string> words_of(std::string list) {
    std::ranges::replace(list, ',', ' ');
    std::istringstream in(list);
    return {std::istream_iterator<std::string>(in), {}};
}

// "future, rows": the checks that an action may break.
MayBreak may_break(QuestionLines& lines) {
    MayBreak laws{};
    const BlockLine* line = lines.find("breaks");
    if (line == nullptr) return laws;
    return lines.at(*line, [&] {
        for (const std::string& name : words_of(line->value)) {
            const auto found = std::ranges::find(kLawNames, name);
            if (found == kLawNames.end())
                throw Error("\"{word}\", expected some of rows, masked, future, norms, finite", {{"word", name}});
            laws[static_cast<std::size_t>(found - kLawNames.begin())] = true;
        }
        return laws;
    });
}

ByRun by_run(QuestionLines& lines) {
    ByRun run{.may_break = may_break(lines)};
    run.right = lines.need("right", "CONDITION", parse_expression);
    run.solution_text = lines.need("solution", "CHANGES", std::identity{});
    run.solution = lines.need("solution", "CHANGES", parse_changes);
    run.wrong = wrong_answers<WrongChange>(lines, parse_changes);
    return run;
}

ByBug by_bug(QuestionLines& lines) {
    ByBug bug{.choices = choices_of(lines, true), .wrong = wrong_answers<WrongCell>(lines, parse_cell_answer)};
    if (const BlockLine* solution = lines.find("solution")) bug.solution = solution->value;
    for (const BlockLine& also : lines.all("also")) bug.also.push_back(also.value);
    return bug;
}

// What is written with an `if` in a group that knows none would be lost.
std::vector<WrongFormula> wrong_formulas(QuestionLines& lines) {
    std::vector<WrongFormula> wrong;
    for (const Group& group : lines.groups("wrong")) {
        if (group.condition != nullptr)
            lines.at(*group.condition, [] { throw Error("a wrong formula has no condition: its numbers decide"); });
        wrong.push_back({group.head.value, lines.reply_of(group), group.head.line});
    }
    return wrong;
}

ByFormula by_formula(QuestionLines& lines) {
    ByFormula formula;
    formula.step = lines.need("step", "blocks.0.attn.z", std::identity{});
    formula.solution = lines.need("solution", "FORMULA", std::identity{});
    const auto words = [&](const char* key) {
        const BlockLine* line = lines.find(key);
        return line == nullptr ? std::vector<std::string>() : words_of(line->value);
    };
    formula.everywhere = words("everywhere");
    formula.without = words("without");
    if (const BlockLine* right = lines.find("right")) formula.right = right->value;
    for (const BlockLine& also : lines.all("also")) formula.also.push_back(also.value);
    for (const BlockLine& on : lines.all("on")) {
        static_cast<void>(lines.at(on, [&] { return parse_changes(on.value); }));
        formula.on.push_back(on.value);
    }
    if (formula.on.empty())
        lines.fail(
            message("no other text; expected \"on: target=…\", so that one that fits this text alone isn't right"));
    formula.wrong = wrong_formulas(lines);
    return formula;
}

// Of a test, the stage shows what is asked: only questions that are answered on it leave it open.
ClosedPanels withheld_by(QuestionLines& lines, const std::string& kind, LessonKind of) {
    const BlockLine* line = lines.find("withhold");
    if (line == nullptr && kind == "do") return {.checks = true};
    if (line == nullptr && kind == "write") return {.diff = true, .formulas = true};
    const bool is_said = kind == "predict" || kind == "explain";
    if (line == nullptr) return {true, true, true, of == LessonKind::test && is_said};
    return lines.at(*line, [&] {
        const std::map<std::string_view, bool ClosedPanels::*> panels{{"diff", &ClosedPanels::diff},
                                                                      {"checks", &ClosedPanels::checks},
                                                                      {"configuration", &ClosedPanels::configuration},
                                                                      {"stage", &ClosedPanels::stage},
                                                                      {"formulas", &ClosedPanels::formulas}};
        ClosedPanels withheld;
        for (const std::string& word : words_of(line->value)) {
            if (const auto panel = panels.find(word); panel != panels.end())
                withheld.*panel->second = true;
            else if (word != "nothing")
                throw Error("\"{word}\", expected some of diff, checks, configuration, stage, formulas, or nothing",
                            {{"word", word}});
        }
        return withheld;
    });
}

std::string checked_id(const std::string& id) {
    const bool valid =
        !id.empty() && std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
    if (!valid) throw Error("\"{id}\", expected letters, digits and -", {{"id", id}});
    return id;
}

int single_digit(const std::string& text) {
    if (text.size() != 1 || std::isdigit(static_cast<unsigned char>(text[0])) == 0)
        throw Error("\"{text}\", expected a digit", {{"text", text}});
    return text[0] - '0';
}

std::size_t replies_in(const Question& question) {
    const auto count = [](const auto& list) {
        return static_cast<std::size_t>(
            std::ranges::count_if(list, [](const auto& one) { return !one.reply.empty(); }));
    };
    return std::visit(
        [&](const auto& by) -> std::size_t {
            std::size_t replies = 0;
            if constexpr (requires { by.choices; }) replies += count(by.choices);
            if constexpr (requires { by.wrong; }) replies += count(by.wrong);
            return replies;
        },
        question.answer);
}

}  // namespace

Question read_question(const BlockSource& source, LessonKind of) {
    QuestionLines lines(source);
    Question question;
    question.line = source.line;
    question.id = lines.need("id", "how-much", checked_id);
    const std::string kind = lines.need("kind", "predict", std::identity{});
    const auto prose = [&](const std::string& value) { return lines.prose(value); };
    question.ask = lines.need("ask", "…", prose);
    question.learned = lines.need("learned", "…", prose);
    if (const BlockLine* line = lines.find("otherwise")) question.otherwise = lines.prose_of(*line);
    for (const BlockLine& let : lines.all("let")) lines.at(let, [&] { add_let(question.lets, let.value); });
    const std::vector<BlockLine> hints = lines.all("hint");
    if (!hints.empty() && hints.size() != kHints)
        lines.fail(message("{count} hints; expected {wanted}: the last one shows the answer",
                           {{"count", hints.size()}, {"wanted", kHints}}));
    for (std::size_t i = 0; i < hints.size(); ++i) question.hints[i] = lines.prose_of(hints[i]);
    question.withheld = withheld_by(lines, kind, of);
    if (const BlockLine* line = lines.find("version"))
        question.version = lines.at(*line, [&] { return single_digit(line->value); });
    if (kind == "predict" && lines.groups("choice").empty())
        question.answer = by_number(lines);
    else if (kind == "predict" || kind == "explain")
        question.answer = by_choice(lines, kind == "explain");
    else if (kind == "point")
        question.answer = by_point(lines);
    else if (kind == "do")
        question.answer = by_run(lines);
    else if (kind == "bug")
        question.answer = by_bug(lines);
    else if (kind == "write")
        question.answer = by_formula(lines);
    else
        lines.need("kind", "predict", [&](const std::string& value) {
            throw Error(formulas::with_nearest(
                message("\"{value}\", expected predict, point, do, explain, bug or write", {{"value", value}}), value,
                std::vector<std::string>{"predict", "point", "do", "explain", "bug", "write"}));
        });
    lines.finish(kind);
    if (replies_in(question) == 0) lines.fail(message("no wrong answer with a reply; expected at least one"));
    return question;
}

// Questions of other lessons that a lesson asks again: what was asked days ago and is answered once more is kept in
// mind (Roediger and Karpicke 2006, "Test-Enhanced Learning").

namespace {

struct OldName {
    std::string lesson, id;
};

OldName old_name(const std::string& name) {
    const auto slash = name.rfind('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == name.size())
        throw Error("\"{name}\", expected LESSON/ID, a question of another lesson", {{"name", name}});
    return {name.substr(0, slash), name.substr(slash + 1)};
}

Lesson old_lesson(const std::string& name, const Lesson& asking) {
    const std::string path = lesson_file(name), translated = translation_of(path, language_of(asking));
    return read_lesson(translated.empty() ? path : translated, OldQuestions::left_out);
}

// What is on the stage when the question is asked: what the last place with a model opened, and where those after it
// led.
std::optional<Place> place_of(const Lesson& lesson, const std::string& id) {
    std::optional<Place> place;
    for (const Page& page : lesson.pages)
        for (const Block& block : page.blocks) {
            if (const auto* here = std::get_if<Question>(&block); here != nullptr && here->id == id) return place;
            const auto* next = std::get_if<Place>(&block);
            if (next == nullptr) continue;
            if (!next->model.empty()) {
                place = *next;
            } else if (place) {
                if (!next->tab.empty()) place->tab = next->tab;
                if (next->step.empty()) continue;
                std::tie(place->step, place->cell, place->batch, place->head) =
                    std::tie(next->step, next->cell, next->batch, next->head);
            }
        }
    return std::nullopt;
}

}  // namespace

AskedAgain asked_again(const std::string& name, const Lesson& asking) {
    const OldName old = old_name(name);
    const Lesson lesson = old_lesson(old.lesson, asking);
    std::vector<std::string> known;
    for (const Question* question : questions_of(lesson)) {
        known.push_back(question->id);
        if (question->id != old.id) continue;
        std::optional<Place> place = place_of(lesson, old.id);
        if (!place)
            throw Error("{name}: stands before any place with a model, and can't be asked alone", {{"name", name}});
        place->title = lesson.title;
        place->from = lesson.path;
        place->lets = lesson.lets;
        Question again = *question;
        again.id = old.lesson + "-" + old.id;
        again.again = true;
        again.lets.insert(lesson.lets.begin(), lesson.lets.end());
        return {std::move(*place), std::move(again)};
    }
    throw Error(formulas::with_nearest(
        message("the lesson {lesson} has no question {id}", {{"lesson", old.lesson}, {"id", old.id}}), old.id, known));
}

}  // namespace decoderscope::core::lessons
