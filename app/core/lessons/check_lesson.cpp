#include "app/core/lessons/check_lesson.h"

#include "app/core/files/saved_view.h"
#include "app/core/lessons/judge.h"
#include "app/core/lessons/prose.h"
#include "app/core/lessons/versions.h"
#include "app/core/lessons/writing.h"
#include "engine/base/error.h"
#include "engine/base/random.h"
#include "engine/mutations/mutations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

// ---- answers without understanding

constexpr std::array kNumbers = {0.0, 1.0, -1.0, 999.0, 1e9, -1e9, std::numeric_limits<double>::quiet_NaN()};

// Calls `visit` with every cell of a tensor.
template <class Visit>
void each_cell(const Tensor& tensor, Visit visit) {
    Cell cell(tensor.axes().size(), 0);
    for (Index left = tensor.size(); left > 0; --left) {
        visit(cell);
        for (std::size_t i = cell.size(); i-- > 0;) {
            if (++cell[i] < tensor.axes()[i].size) break;
            cell[i] = 0;
        }
    }
}

struct Nonsense {
    const Asked& asked;
    const Place* at;
    std::vector<Sentence> passed = {};

    [[nodiscard]] const Ran& now() const { return asked.runs.now(); }

    // Whether it passes; what can't be done or judged doesn't.
    template <class Done>
    void attempt(const Sentence& what, Done done) {
        if (made_or(false, done)) passed.push_back(what);
    }

    // ---- a number

    void operator()(const ByNumber&) {
        for (const double number : {-1.0, 1e9, -1e9, std::numeric_limits<double>::quiet_NaN()})
            attempt(message("the number {number}", {{"number", shown_text(single(number))}}),
                    [&] { return judge(asked, NumberAnswer{number}).right; });
    }

    // ---- a cell

    // The step and the cell that the lesson has selected; without a cell if it has selected none.
    [[nodiscard]] std::optional<Spot> lit() const {
        if (at == nullptr || at->step.empty()) return {};
        return made_or(std::optional<Spot>(), [&] {
            return std::optional(spot_of({at->step, at->cell}, asked.scope()));
        });
    }

    // The largest or the smallest number among some cells of a step.
    template <class Among>
    [[nodiscard]] std::optional<Cell> extreme(const std::string& step, double sign, Among among) const {
        const Tensor values = asked.runs.tensor(now(), step);
        std::optional<Cell> best;
        each_cell(values, [&](const Cell& cell) {
            if (among(cell) && !std::isnan(values.at(cell)) &&
                (!best || sign * values.at(cell) > sign * values.at(*best)))
                best = cell;
        });
        return best;
    }

    void point(const Sentence& what, const std::string& step, const std::optional<Cell>& cell) {
        attempt(what, [&] { return judge(asked, PointedAnswer{step, cell}).right; });
    }

    void operator()(const ByPoint& by) {
        const std::optional<Spot> here = lit();
        if (here) point(message("what is selected already"), here->step, here->cell);
        if (by.solution.cell.empty()) return;
        const std::string& step = here ? here->step : by.solution.step;
        const Ref found = now().run->plan().find(step);
        if (found == nullptr) return;
        // What is on the stage: one batch row, one head.
        const auto fixed = [&](std::string_view axis) -> Index {
            if (axis == "head" && at != nullptr && at->head)
                return static_cast<Index>(std::llround(number_of(evaluate(*at->head, asked.scope()))));
            for (std::size_t i = 0; i < found->axes.size(); ++i)
                if (here && here->cell && found->axes[i].name == axis) return (*here->cell)[i];
            return 0;
        };
        const auto along = [&](const Cell& cell, const auto&... axes) {
            bool all = true;
            for (std::size_t i = 0; i < cell.size(); ++i)
                if (((found->axes[i].name == axes) || ...)) all = all && cell[i] == fixed(found->axes[i].name);
            return all;
        };
        const auto on_stage = [&](const Cell& cell) { return along(cell, "batch", "head"); };
        const auto in_row = [&](const Cell& cell) { return along(cell, "batch", "head", "pos", "query"); };
        point(message("the brightest cell on the stage"), step, extreme(step, 1.0, on_stage));
        point(message("the darkest cell on the stage"), step, extreme(step, -1.0, on_stage));
        if (here && here->cell)
            point(message("the brightest cell of the selected row"), step, extreme(step, 1.0, in_row));
        point(message("the first cell of the stage"), step, Cell(found->axes.size(), 0));
    }

    // ---- an action

    void act(const Sentence& what, Scenario scenario) {
        if (made_by_solution(scenario)) return;
        attempt(what, [&] {
            const auto opened = std::make_shared<const Scenario>(*asked.opened);
            Runs other(std::move(scenario), nullptr, opened);
            return judge({asked.lesson, asked.question, other, asked.opened}, RunAnswer{}).right;
        });
    }
    [[nodiscard]] bool made_by_solution(const Scenario& scenario) const {
        const auto& by = std::get<ByRun>(asked.question.answer);
        const Scenario solved = changed(*asked.opened, by.solution);
        return solved.edits == scenario.edits && solved.edits != asked.opened->edits;
    }

    void type(const Sentence& what, const std::string& text) {
        for (std::optional<std::string> Changes::*line : {&Changes::target, &Changes::source}) {
            Changes changes;
            changes.*line = text;
            if (std::optional<Scenario> typed =
                    made_or(std::optional<Scenario>(), [&] { return std::optional(changed(*asked.opened, changes)); }))
                act(what, std::move(*typed));
        }
    }

    template <class Add>
    void edit(const Sentence& what, Add add) {
        Scenario scenario = *asked.opened;
        add(scenario.edits);
        act(what, std::move(scenario));
    }

    void operator()(const ByRun&) {
        for (const std::string text : {"", " ", "a"}) type(message("the text \"{text}\"", {{"text", text}}), text);
        type(message("a key that is held down"), "aaaaaaaaaaaaaaaa");
        switch_off();
        if (const std::optional<Spot> here = lit()) write_over(*here);
    }

    void switch_off() {
        std::set<std::string> attentions;
        for (const Step& step : now().run->plan().steps())
            if (!step.attention.empty()) attentions.insert(step.attention);
        const auto off = [&](std::vector<Edit>& edits, const std::string& attention) {
            for (Index head = 0; head < asked.opened->query_heads(); ++head)
                edits.emplace_back(ScaleHead{attention, head, 0.0F});
        };
        edit(message("all heads off"), [&](std::vector<Edit>& edits) {
            for (const std::string& attention : attentions) off(edits, attention);
        });
        for (const std::string& attention : attentions) {
            edit(message("all heads of {attention} off", {{"attention", attention}}),
                 [&](std::vector<Edit>& edits) { off(edits, attention); });
            for (const bool keep : {false, true})
                edit(keep ? message("{attention} with nothing hidden", {{"attention", attention}})
                          : message("{attention} with everything hidden", {{"attention", attention}}),
                     [&](std::vector<Edit>& edits) {
                         MaskEdit mask;
                         mask.attention = attention;
                         mask.keep = keep;
                         edits.emplace_back(mask);
                     });
        }
    }

    void write_over(const Spot& here) {
        const Ref found = now().run->plan().find(here.step);
        if (found == nullptr) return;
        const auto write = [&](const Sentence& where, const Cell& cell, double number) {
            edit(message("{number} over {where}", {{"number", shown_text(single(number))}, {"where", where}}),
                 [&](std::vector<Edit>& edits) {
                     edits.emplace_back(SetCell{here.step, cell, static_cast<float>(number)});
                 });
        };
        const RandomStream random(0, asked.question.id);
        Cell any;
        for (std::size_t i = 0; i < found->axes.size(); ++i)
            any.push_back(static_cast<Index>(random.uniform(i) * static_cast<double>(found->axes[i].size)));
        for (const double number : kNumbers) {
            if (here.cell) write(message("the selected cell"), *here.cell, number);
            write(message("a random cell"), any, number);
        }
    }

    // ---- a formula

    void operator()(const ByFormula& by) {
        const auto write = [&](const std::string& formula) {
            attempt(message("the formula \"{formula}\"", {{"formula", formula}}),
                    [&] { return formula_fits(asked, by, formula); });
        };
        for (const char* formula : {"", "0", "1", "x", "0 / 0", "tokens"}) write(formula);
        // What it reads, as it comes: which is right for a step that computes nothing.
        const Plan& plan = now().run->plan();
        if (const Ref step = plan.find(by.step))
            for (const StepId operand : step->operands) write(plan[operand].name);
        write(by.step);
        for (const std::string& step : by.without) write(step);
    }

    template <class Other>
    void operator()(const Other&) {}
};

// Answers a question without having understood it: clicks what is lit or brightest, types no text or holds a key
// down, switches everything off, types 0, 999 or NaN over the selected cell. Returns what each was that passes, "the
// brightest cell". `at`: where the lesson has gone last; nullptr: nowhere. Choices are judged by their form, in a test.
std::vector<Sentence> nonsense_that_passes(const Asked& asked, const Place* at) {
    Nonsense nonsense{asked, at};
    if (asked.opened != nullptr) std::visit([&](const auto& by) { nonsense(by); }, asked.question.answer);
    return std::move(nonsense.passed);
}

// ---- the check

struct RightAnswer {
    const Asked& asked;

    [[nodiscard]] std::size_t right_choice() const {
        const std::vector<std::size_t> right = right_choices(asked);
        if (right.empty()) throw Error("{id}: no choice is right", {{"id", asked.question.id}});
        return right.front();
    }
    [[nodiscard]] std::string in_words(const Answer& answer) const { return answer_text(asked, answer, {true, {}}); }
    [[nodiscard]] std::string number(const ExpressionRef& of) const {
        return shown_text(single(number_of(evaluate(*of, asked.scope()))));
    }

    std::string operator()(const ByChoice&) const { return in_words(ChosenAnswer{right_choice()}); }
    std::string operator()(const ByNumber& by) const { return number(by.answer) + " ± " + number(by.within); }
    std::string operator()(const ByPoint& by) const {
        const Spot spot = spot_of(by.solution, asked.scope());
        return in_words(PointedAnswer{spot.step, spot.cell});
    }
    std::string operator()(const ByRun& by) const { return by.solution_text; }
    std::string operator()(const ByBug& by) const { return in_words(BugAnswer{by.solution, right_choice()}); }
    std::string operator()(const ByFormula& by) const { return by.solution; }
};

constexpr double kMostByChance = 1.0 / 3.0;
constexpr Index kGuesses = 60;

class Check {
public:
    Check(const Lesson& lesson, std::span<const std::string_view> tabs) : lesson_(lesson), tabs_(tabs) {}

    std::vector<Sentence> all() {
        for (const Page& page : lesson_.pages)
            for (const Block& block : page.blocks) std::visit([&](const auto& one) { check(one); }, block);
        return std::move(problems_);
    }

private:
    // Runs `work`; what it throws is a problem of that line.
    template <class Work>
    void at(int line, Work work) {
        try {
            at_line(lesson_.path, line, work);
        } catch (const Error& error) {
            problems_.push_back(error.sentence());
        }
    }

    // A letter that isn't in the text: it would be shown as position -1, or as the last one.
    static void need_found(const Expression& expression, const Scope& scope) {
        // What these compute is for variables and runs that aren't known here.
        static const std::set<std::string_view> elsewhere = {"each", "if", "pick", "before", "with"};
        if (const std::string* function = function_in(expression)) {
            const bool finds = *function == "find" || *function == "source_find";
            if (finds && number_of(evaluate(expression, scope)) < 0.0)
                throw Error("{function}: the text has no such token, so this is -1", {{"function", *function}});
            if (elsewhere.contains(*function)) return;
        }
        for (const ExpressionRef& part : expression.children) need_found(*part, scope);
    }

    void computed(const Prose& prose, const Lets* lets) {
        if (runs_) computed(prose, lets, *runs_);
    }
    void computed(const Prose& prose, const Lets* lets, Runs& runs) {
        if (is_broken_) return;
        try {
            const Scope scope{runs, nullptr, &lesson_.lets, lets};
            check_formulas(prose, scope, lesson_.path);
            for (const Span& span : prose)
                if (span.formula)
                    at_line(lesson_.path, span.formula->line, [&] { need_found(*span.formula->expression, scope); });
        } catch (const Error& error) {
            problems_.push_back(error.sentence());
        }
    }

    void check(const Paragraph& paragraph) { computed(paragraph.prose, nullptr); }

    void check(const Place& place) {
        place_ = &place;
        at(place.line, [&] {
            if (!place.model.empty()) {
                is_broken_ = true;  // until it is open
                opened_ = std::make_shared<const Scenario>(scenario_of(place, lesson_));
                runs_ = std::make_unique<Runs>(*opened_, nullptr, opened_);
                is_broken_ = false;
            }
            if (is_broken_) return;
            if (!place.tab.empty() && std::ranges::find(tabs_, place.tab) == tabs_.end())
                throw Error("tab: \"{tab}\", expected the id of one of the window's tabs", {{"tab", place.tab}});
            if (!place.tab.empty()) tab_ = place.tab;
            if (!place.step.empty() && place.tab.empty() && !tab_.empty() && tab_ != files::kStepTab)
                throw Error("{step}: the tab that is open here, {tab}, doesn't show it; expected \"tab: step\", too",
                            {{"step", place.step}, {"tab", tab_}});
            need_run();
            const Scope scope{*runs_, nullptr, &lesson_.lets, &place.lets};
            for (const ExpressionRef& index : place.cell) need_found(*index, scope);
            static_cast<void>(going_commands(place, scope));
        });
    }

    void check(const Table& table) {
        if (is_broken_) return;
        at(table.line, [&] {
            need_run();
            Scope scope{*runs_, nullptr, &lesson_.lets};
            const double count = table.variable.empty() ? 1.0 : number_of(evaluate(*table.count, scope));
            for (double i = 0; i < count; ++i) {
                if (!table.variable.empty()) scope.variables.insert_or_assign(table.variable, single(i));
                for (const auto& row : table.rows)
                    for (const Formula& cell : row) static_cast<void>(evaluate(*cell.expression, scope));
            }
        });
    }

    void check(const PinnedNote& note) {
        if (is_broken_) return;
        at(note.line, [&] {
            need_run();
            const Scope scope{*runs_, nullptr, &lesson_.lets};
            for (const ExpressionRef& index : note.at.cell) need_found(*index, scope);
            static_cast<void>(spot_of(note.at, scope));
        });
        computed(note.text, nullptr);
    }

    void need_run() const {
        if (!runs_) throw Error("no model is open yet; expected a place with one before this");
    }

    void check(const Question& question) {
        if (is_broken_) return;
        at(question.line, [&] {
            need_run();
            computed(question.ask, &question.lets);
            for (const Prose& hint : question.hints) computed(hint, &question.lets);
            computed(question.otherwise, &question.lets);
            std::visit([&](const auto& by) { play(question, by); }, question.answer);
            for (const Sentence& nonsense : nonsense_that_passes(asked(question, *runs_), place_))
                at(question.line, [&] {
                    throw Error("{id}: nonsense passes: {what}; expected a condition that asks for more",
                                {{"id", question.id}, {"what", nonsense}});
                });
        });
    }

    [[nodiscard]] Asked asked(const Question& question, Runs& runs) const {
        return {lesson_, question, runs, opened_.get()};
    }
    [[nodiscard]] Verdict judged(const Question& question, const Answer& answer) const {
        return judge(asked(question, *runs_), answer);
    }

    static void need_accepted(const Question& question, const Verdict& verdict) {
        if (verdict.right) return;
        throw Error("{id}: the solution is refused: {why}",
                    {{"id", question.id},
                     {"why", verdict.replies.empty() ? std::string() : plain_text(verdict.replies.front())}});
    }

    void need_right(const Question& question, const Answer& answer) {
        need_accepted(question, judged(question, answer));
        computed(question.learned, &question.lets);
    }

    // A wrong answer is refused, with the reply that was written for it.
    void need_wrong(const Question& question, const Verdict& verdict, const Prose& reply, Runs& runs, int line) {
        at(line, [&] {
            if (verdict.right) throw Error("{id}: this wrong answer is accepted", {{"id", question.id}});
            if (reply.empty()) return;
            const Scope scope = asked(question, runs).scope();
            check_formulas(reply, scope, lesson_.path);
            const std::string expected = plain_text(shown(reply, scope));
            if (verdict.replies.empty() || plain_text(verdict.replies.back()) != expected)
                throw Error("{id}: this wrong answer gets a reply that isn't its own; expected its `if` to come first",
                            {{"id", question.id}});
        });
    }

    // A wrong choice is answered, unless the lesson doesn't say what was wrong.
    void need_reply(const Question& question, const Choice& choice) {
        if (lesson_.kind == LessonKind::test || !choice.reply.empty() || !question.otherwise.empty()) return;
        at(choice.line, [&] {
            throw Error("{id}: a wrong choice without a reply; expected \"reply: …\" after it, or an \"otherwise\"",
                        {{"id", question.id}});
        });
    }

    void limit_chance(const Question& question, double share) {
        if (share > kMostByChance)
            throw Error("{id}: {percent} % of random answers pass; expected at most one in three",
                        {{"id", question.id}, {"percent", static_cast<int>(std::lround(share * 100.0))}});
    }

    void play(const Question& question, const ByChoice& by) {
        const std::vector<std::size_t> right = right_choices(asked(question, *runs_));
        if (right.size() != 1)
            throw Error("{id}: {count} choices are right; expected one",
                        {{"id", question.id}, {"count", right.size()}});
        for (std::size_t i = 0; i < by.choices.size(); ++i) {
            computed(by.choices[i].text, &question.lets);
            if (i == right.front()) {
                need_right(question, ChosenAnswer{i});
                continue;
            }
            need_reply(question, by.choices[i]);
            need_wrong(question, judged(question, ChosenAnswer{i}), by.choices[i].reply, *runs_, by.choices[i].line);
        }
    }

    void play(const Question& question, const ByNumber& by) {
        const Scope scope = asked(question, *runs_).scope();
        const auto number = [&](const ExpressionRef& e) { return number_of(evaluate(*e, scope)); };
        const double answer = number(by.answer), low = number(by.low), high = number(by.high);
        if (!(answer >= low && answer <= high))
            throw Error("{id}: the answer is {answer}; expected it between {low} and {high}",
                        {{"id", question.id},
                         {"answer", shown_text(single(answer))},
                         {"low", shown_text(single(low))},
                         {"high", shown_text(single(high))}});
        need_right(question, NumberAnswer{answer});
        limit_chance(question, 2.0 * number(by.within) / (high - low));
        for (const WrongNumber& wrong : by.wrong)
            at(wrong.line, [&] {
                need_wrong(question, judged(question, NumberAnswer{number(wrong.number)}), wrong.reply, *runs_,
                           wrong.line);
            });
    }

    void play(const Question& question, const ByPoint& by) {
        const Scope scope = asked(question, *runs_).scope();
        const Spot spot = spot_of(by.solution, scope);
        need_right(question, PointedAnswer{spot.step, spot.cell});
        for (const WrongCell& wrong : by.wrong)
            at(wrong.line, [&] {
                const Spot elsewhere = spot_of(wrong.at, scope);
                need_wrong(question, judged(question, PointedAnswer{elsewhere.step, elsewhere.cell}), wrong.reply,
                           *runs_, wrong.line);
            });
        limit_chance(question, spot.cell ? share_of_cells(question, spot.step) : share_of_steps(question));
    }

    double share_of_cells(const Question& question, const std::string& step) {
        const Axes axes = runs_->now().run->plan().find(step)->axes;
        const RandomStream random(0, question.id);
        Index right = 0;
        std::uint64_t draw = 0;
        for (Index i = 0; i < kGuesses; ++i) {
            Cell cell;
            for (const Axis& along : axes)
                cell.push_back(static_cast<Index>(random.uniform(draw++) * static_cast<double>(along.size)));
            if (judged(question, PointedAnswer{step, cell}).right) ++right;
        }
        return static_cast<double>(right) / static_cast<double>(kGuesses);
    }

    double share_of_steps(const Question& question) {
        double right = 0.0, steps = 0.0;
        for (const Step& step : runs_->now().run->plan().steps()) {
            if (step.is_source()) continue;
            ++steps;
            if (judged(question, PointedAnswer{step.name, std::nullopt}).right) ++right;
        }
        return right / steps;
    }

    void play(const Question& question, const ByRun& by) {
        if (judged(question, RunAnswer{}).right)
            throw Error("{id}: it is solved before anything is done", {{"id", question.id}});
        Runs solved(changed(*opened_, by.solution), nullptr, opened_);
        need_accepted(question, judge(asked(question, solved), RunAnswer{}));
        computed(question.learned, &question.lets, solved);
        for (const WrongChange& wrong : by.wrong)
            at(wrong.line, [&] {
                Runs other(changed(*opened_, wrong.changes), nullptr, opened_);
                need_wrong(question, judge(asked(question, other), RunAnswer{}), wrong.reply, other, wrong.line);
            });
        limit_chance(question, share_of_heads(question));
    }

    // The share of runs with one head off that pass.
    double share_of_heads(const Question& question) {
        double right = 0.0, tried = 0.0;
        std::string last;
        for (const Step& step : runs_->now().run->plan().steps()) {
            if (step.attention.empty() || step.attention == last) continue;
            last = step.attention;
            for (Index head = 0; head < opened_->query_heads(); ++head) {
                Scenario scenario = *opened_;
                scenario.edits.emplace_back(ScaleHead{last, head, 0.0F});
                Runs other(std::move(scenario), nullptr, opened_);
                ++tried;
                if (judge(asked(question, other), RunAnswer{}).right) ++right;
            }
        }
        return tried == 0.0 ? 0.0 : right / tried;
    }

    void play(const Question& question, const ByBug& by) {
        const std::vector<std::size_t> right = right_choices(asked(question, *runs_));
        if (right.size() != 1)
            throw Error(
                "{id}: {count} choices are right; expected one: the place's mutation, \"nothing\" if there is none or "
                "it is harmless, or a sentence with `if: true`",
                {{"id", question.id}, {"count", right.size()}});
        const std::string first = first_wrong_step(*opened_);
        const mutations::Mutation* mutation = mutation_of(*opened_);
        const bool harmless = mutation == nullptr || mutation->harmless;
        if (!harmless && by.solution.empty())
            throw Error("{id}: no solution; the first wrong step is {step}", {{"id", question.id}, {"step", first}});
        if (!by.solution.empty() && !first.empty() && by.solution != first)
            throw Error("{id}: solution: {given}; the first step that the mutation computes differently is {step}",
                        {{"id", question.id}, {"given", by.solution}, {"step", first}});
        const Plan& plan = runs_->now().run->plan();
        for (const std::string& step : by.also)
            if (plan.find(step) == nullptr) throw Error("{name}: the run has no such tensor", {{"name", step}});
        if (!by.solution.empty() && plan.find(by.solution) == nullptr)
            throw Error("{name}: the run has no such tensor", {{"name", by.solution}});
        need_right(question, BugAnswer{by.solution, right.front()});
        for (std::size_t i = 0; i < by.choices.size(); ++i) {
            computed(by.choices[i].text, &question.lets);
            if (i == right.front()) continue;
            need_reply(question, by.choices[i]);
            need_wrong(question, judged(question, BugAnswer{by.solution, i}), by.choices[i].reply, *runs_,
                       by.choices[i].line);
        }
        for (const WrongCell& wrong : by.wrong)
            need_wrong(question, judged(question, BugAnswer{wrong.at.step, right.front()}), wrong.reply, *runs_,
                       wrong.line);
    }

    // The solution and the other right forms are right, as every step in the model that they are for; a wrong form can
    // be read, and gets its own reply.
    void play(const Question& question, const ByFormula& by) {
        need_right(question, FormulaAnswer{by.solution});
        for (const std::string& also : by.also) need_accepted(question, judged(question, FormulaAnswer{also}));
        for (const WrongFormula& wrong : by.wrong)
            at(wrong.line, [&] {
                const Verdict verdict = judged(question, FormulaAnswer{wrong.formula});
                if (!verdict.counts)
                    throw Error("{id}: this wrong answer can't be read: {why}",
                                {{"id", question.id}, {"why", plain_text(verdict.replies.front())}});
                need_wrong(question, verdict, wrong.reply, *runs_, wrong.line);
            });
    }

    const Lesson& lesson_;
    std::span<const std::string_view> tabs_;
    std::vector<Sentence> problems_;
    std::shared_ptr<const Scenario> opened_;
    std::unique_ptr<Runs> runs_;
    bool is_broken_ = false;        // the last place's model can't be opened, which was said once
    const Place* place_ = nullptr;  // where the lesson has gone last
    std::string tab_;               // that the places so far have opened
};

// A part of a lesson that a translation must have, too: what it is, and what stays the same in it.
struct Fixed {
    std::string what, value;
    int line = 0;
};

// The numbers in a text, in any order: another language may have another one.
std::string formulas_in(const Prose& prose) {
    std::multiset<std::string> formulas;
    for (const Span& span : prose)
        if (span.formula) formulas.insert(span.formula->source);
    std::string all;
    for (const std::string& formula : formulas) all += "{=" + formula + "}";
    return all;
}

bool is_prose(const BlockLine& line) {
    static const std::set<std::string_view> keys = {"title",   "summary",   "ask",     "choice",  "reply", "hint",
                                                    "learned", "otherwise", "caption", "columns", "text"};
    const bool names_mutation =
        line.key == "choice" && (line.value == "nothing" || mutations::find_mutation(line.value) != nullptr);
    return keys.contains(line.key) && !names_mutation;
}

std::vector<Fixed> fixed_parts(const std::string& path) {
    FormulaTable formulas;
    const std::string text = formulas.taken_out(lesson_text(path), path);
    std::vector<Fixed> parts;
    for (const MarkdownBlock& block : read_markdown(text, formulas, path)) {
        for (const Paragraph& paragraph : block.paragraphs)
            parts.push_back({paragraph.kind == Paragraph::Kind::heading ? "heading" : "paragraph",
                             std::to_string(paragraph.level) + formulas_in(paragraph.prose), paragraph.line});
        if (block.info.empty()) continue;
        parts.push_back({"block", block.info, block.line});
        for (const BlockLine& line : read_block_lines(block.contents, block.line + 1, path))
            parts.push_back(
                {line.key, is_prose(line) ? formulas_in(read_prose(line.value, formulas)) : line.value, line.line});
    }
    return parts;
}

}  // namespace

KeyEntry key_entry(const Lesson& lesson, const Question& question, const std::shared_ptr<const Scenario>& opened) {
    Runs runs(*opened, nullptr, opened);
    const Asked asked{lesson, question, runs, opened.get()};
    const auto* action = std::get_if<ByRun>(&question.answer);
    Runs solved(action == nullptr ? *opened : changed(*opened, action->solution),
                action == nullptr ? runs.now().run : nullptr, opened);
    return {question.id, shown(question.ask, asked.scope()), std::visit(RightAnswer{asked}, question.answer),
            shown(question.learned, {solved, nullptr, &lesson.lets, &question.lets})};
}

std::vector<KeyEntry> answer_key(const Lesson& lesson) {
    std::vector<KeyEntry> key;
    for (const Question* question : questions_of(lesson))
        key.push_back(key_entry(lesson, *question, opened_for(lesson, *question)));
    return key;
}

std::vector<Sentence> check_lesson(const Lesson& lesson, std::span<const std::string_view> tabs) {
    std::vector<Sentence> problems;
    std::set<std::string> said;
    for (int version = 0; version < lesson.versions; ++version) {
        const Lesson one = lesson.versions == 1 ? lesson : in_version(lesson, version);
        for (Sentence& problem : Check(one, tabs).all())
            if (said.insert(problem.english()).second) problems.push_back(std::move(problem));
    }
    return problems;
}

std::vector<Sentence> compare_translation(const std::string& lesson, const std::string& translation) {
    const std::vector<Fixed> ours = fixed_parts(lesson), theirs = fixed_parts(translation);
    std::vector<Sentence> differences;
    const auto differ = [&](int line, const Sentence& why) {
        differences.push_back(message("{path}:{line}: {why}", {{"path", translation}, {"line", line}, {"why", why}}));
    };
    const std::size_t common = std::min(ours.size(), theirs.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (ours[i].what != theirs[i].what) {
            differ(theirs[i].line,
                   message("{found}, where line {line} of the lesson has {expected}",
                           {{"found", theirs[i].what}, {"line", ours[i].line}, {"expected", ours[i].what}}));
            return differences;  // nothing after it has a counterpart
        }
        if (ours[i].value != theirs[i].value)
            differ(theirs[i].line, message("{what}: \"{found}\", where line {line} of the lesson has \"{expected}\"",
                                           {{"what", ours[i].what},
                                            {"found", theirs[i].value},
                                            {"line", ours[i].line},
                                            {"expected", ours[i].value}}));
    }
    if (ours.size() != theirs.size())
        differ(theirs.empty() ? 1 : theirs.back().line, message("{count} parts; the lesson has {expected}",
                                                                {{"count", theirs.size()}, {"expected", ours.size()}}));
    return differences;
}

}  // namespace decoderscope::core::lessons
