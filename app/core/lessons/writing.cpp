#include "app/core/lessons/writing.h"

#include "app/core/lessons/progress.h"
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"
#include "engine/formulas/elaborate.h"
#include "engine/formulas/tokens.h"
#include "engine/mutations/mutations.h"
#include "engine/sheet/sheet.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

using decoderscope::sheet::Beside;
using decoderscope::sheet::Written;

// A formula is evaluated in double precision, and the engine's steps in float32: what rounding leaves between them.
constexpr double kAbsolute = 2e-5, kRelative = 2e-4;
// A formula that takes more elementary steps than this would hold the window up.
constexpr double kMostSteps = 2e8;

bool same_number(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
    return a == b || std::abs(a - b) <= kAbsolute + kRelative * std::abs(b);
}

// The first cell of two tensors that is another number; nothing if there is none.
std::optional<Index> first_other(const Tensor& theirs, const Tensor& right) {
    const std::span<const float> a = theirs.values(), b = right.values();
    if (a.size() != b.size()) return 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!same_number(a[i], b[i])) return static_cast<Index>(i);
    return {};
}

// One question's formulas on one run.
class Writing {
public:
    Writing(const ByFormula& by, const Ran& of) : by_(by), of_(of), is_row_(of.run->plan().find(by.step) == nullptr) {}

    // The steps that are judged, in the order of computation.
    [[nodiscard]] std::vector<std::string> steps() const {
        if (is_row_) return {by_.step};
        std::set<StepId> ids;
        for (const std::string& pattern : patterns())
            for (const std::string& name : decoderscope::sheet::places_of(of_.run->plan(), RewriteStep{pattern, {}}))
                ids.insert(of_.run->plan().find(name)->id);
        std::vector<std::string> names;
        for (const StepId id : ids) names.push_back(of_.run->plan()[id].name);
        return names;
    }

    struct Reading {
        std::shared_ptr<const Plan> plan;  // that the formula reads
        Written written;
    };
    [[nodiscard]] Reading read(const std::string& formula) const {
        std::shared_ptr<const Plan> plan = plan_read_by(formula);
        const Beside beside{&of_.scenario.config(), of_.scenario.inputs};
        Written written =
            is_row_ ? tried(*plan, row(formula), beside) : tried(*plan, RewriteStep{by_.step, formula}, beside);
        return {std::move(plan), std::move(written)};
    }

    // The steps' numbers with this formula in place of theirs; as they should be; and as a wrong decoder has them.
    [[nodiscard]] std::vector<Tensor> with(const std::string& formula) const {
        check(formula);
        return computed(formula);
    }
    [[nodiscard]] std::vector<Tensor> right() const { return numbers_in(as_meant(of_.scenario)); }
    [[nodiscard]] std::vector<Tensor> by_mistake(const std::string& mutation) const {
        Scenario wrong = as_meant(of_.scenario);
        wrong.mutation = mutation;
        return numbers_in(wrong);
    }

private:
    // A run has its steps; a row has to be added.
    [[nodiscard]] Scenario as_meant(Scenario scenario) const {
        if (is_row_) scenario.edits.emplace_back(row(by_.right.empty() ? by_.solution : by_.right));
        return scenario;
    }
    [[nodiscard]] std::vector<Tensor> numbers_in(const Scenario& scenario) const {
        const std::shared_ptr<const Plan> plan = plan_of(scenario);
        const std::vector<std::string> names = steps();
        std::set<StepId> ids;
        for (const std::string& name : names) {
            const Ref step = plan->find(name);
            if (step == nullptr) throw Error("{name}: the run has no such tensor", {{"name", name}});
            ids.insert(step->id);
        }
        const NeededSteps needed = needed_steps(*plan, [&](const Step& step) { return ids.contains(step.id); });
        const std::shared_ptr<const Run> run = execute(plan, {.previous = of_.run.get(), .needed = &needed});
        std::vector<Tensor> all;
        for (const std::string& name : names) {
            all.push_back(run->value(name));
            if (all.back().empty()) throw Error("{name}: the run has no such tensor", {{"name", name}});
        }
        return all;
    }

    [[nodiscard]] std::vector<std::string> patterns() const {
        return by_.everywhere.empty() ? std::vector{by_.step} : by_.everywhere;
    }
    [[nodiscard]] AddRow row(const std::string& formula) const {
        return {std::string(decoderscope::sheet::name_in_part(by_.step)),
                std::string(decoderscope::sheet::part_of(by_.step)), formula};
    }
    [[nodiscard]] std::vector<Tensor> computed(const std::string& formula) const {
        Scenario scenario = of_.scenario;
        if (is_row_)
            scenario.edits.emplace_back(row(formula));
        else
            for (const std::string& pattern : patterns()) scenario.edits.emplace_back(RewriteStep{pattern, formula});
        return numbers_in(scenario);
    }

    // One that has targets and losses, if the formula reads them.
    [[nodiscard]] std::shared_ptr<const Plan> plan_read_by(const std::string& formula) const {
        const std::string_view missing = decoderscope::sheet::missing_target(of_.run->plan(), formula);
        if (missing.empty()) return of_.run->shared_plan();
        Scenario asked = of_.scenario;
        asked.edits.emplace_back(AddRow{"row_of_targets", "", std::string(missing)});
        return plan_of(asked);
    }

    void check(const std::string& formula) const {
        const Reading reading = read(formula);
        OperandAxes in;
        for (const decoderscope::sheet::Read& operand : reading.written.operands) {
            const Step& step = (*reading.plan)[operand.step];
            in.push_back(step.axes);
            if (std::ranges::find(by_.without, step.name) != by_.without.end())
                throw Error("{tensor} is what your formula is to compute: write it from what comes before",
                            {{"tensor", step.name}});
        }
        const ops::WrittenFormula& operation = reading.written.operation;
        if (formulas::steps_of(operation.formula().fitted(in, operation.shape)) > kMostSteps)
            throw Error("this formula would take too long: it adds up too much for every cell");
    }

    const ByFormula& by_;
    const Ran& of_;
    bool is_row_;
};

// The runs that a question is judged on: the text that is open, as the lesson opened it, and the other ones.
std::vector<const Ran*> judged_on(const Asked& asked, const ByFormula& by) {
    std::vector<const Ran*> all{&asked.runs.before()};
    for (const std::string& changes : by.on) all.push_back(&asked.runs.with(*all.front(), changes));
    return all;
}

// Of each text, each step. Numbers from elsewhere are those of the first step alone.
using NumbersOfTexts = std::vector<std::vector<Tensor>>;

NumbersOfTexts numbers_by(const Asked& asked, const ByFormula& by, const std::string& formula) {
    NumbersOfTexts numbers;
    for (const Ran* ran : judged_on(asked, by)) numbers.push_back(Writing(by, *ran).with(formula));
    return numbers;
}

bool all_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (first_other(a[i], b[i])) return false;
    return true;
}

// The first cell that has another number, in the order of the texts, the steps and the cells.
struct WrongNumberAt {
    std::size_t text = 0;  // 0: the one that is open; otherwise so far into the question's `on`
    Spot at;
    double theirs = 0.0, right = 0.0;
};

std::optional<WrongNumberAt> first_wrong(const Asked& asked, const ByFormula& by, const NumbersOfTexts& numbers) {
    std::size_t text = 0;
    for (const Ran* ran : judged_on(asked, by)) {
        const Writing writing(by, *ran);
        const std::vector<std::string> steps = writing.steps();
        const std::vector<Tensor> right = writing.right();
        const std::vector<Tensor>& theirs = numbers[text];
        for (std::size_t i = 0; i < theirs.size(); ++i)
            if (const auto cell = first_other(theirs[i], right[i])) {
                const auto at = static_cast<std::size_t>(*cell);
                return WrongNumberAt{
                    text, {steps[i], right[i].cell(*cell)}, theirs[i].values()[at], right[i].values()[at]};
            }
        ++text;
    }
    return {};
}

// The mistake of the gallery whose decoder has just these numbers: its name; empty if there is none.
std::string known_mistake(const Asked& asked, const ByFormula& by, const NumbersOfTexts& numbers) {
    const std::vector<const Ran*> on = judged_on(asked, by);
    const auto is_of = [&](const mutations::Mutation& mutation) {
        for (std::size_t text = 0; text < on.size(); ++text) {
            if (!all_same(numbers[text], Writing(by, *on[text]).by_mistake(mutation.name))) return false;
        }
        return true;
    };
    for (const mutations::Mutation& mutation : mutations::mutations())
        if (!mutation.harmless && made_or(false, [&] { return is_of(mutation); })) return mutation.name;
    return {};
}

std::string sentence_of(const ByFormula& by, const WrongNumberAt& wrong) {
    int digits = 3;  // as many as tell the two apart
    while (digits < 9 && number_text(wrong.theirs, digits) == number_text(wrong.right, digits)) ++digits;
    const std::string cell = cell_name(wrong.at.step, *wrong.at.cell), theirs = number_text(wrong.theirs, digits),
                      right = number_text(wrong.right, digits);
    if (wrong.text == 0)
        return tr("You get {theirs} for {cell}; {right} is right.",
                  {{"cell", cell}, {"theirs", theirs}, {"right", right}});
    return tr("It fits this text alone. With {changes}, you get {theirs} for {cell}; {right} is right.",
              {{"changes", by.on[wrong.text - 1]}, {"cell", cell}, {"theirs", theirs}, {"right", right}});
}

Shown in_words(std::string text) { return {{Span::Style::plain, std::move(text), "", false}}; }

Verdict verdict_on(const NumbersOfTexts& numbers, const Asked& asked, const ByFormula& by) {
    const std::optional<WrongNumberAt> wrong = first_wrong(asked, by, numbers);
    if (!wrong) return {true, {shown(asked.question.learned, asked.scope())}};
    Verdict verdict{.replies = {in_words(sentence_of(by, *wrong))}};
    if (wrong->text == 0) verdict.at = wrong->at;
    verdict.mistake = known_mistake(asked, by, numbers);
    if (const mutations::Mutation* mutation = mutations::find_mutation(verdict.mistake))
        verdict.replies.push_back(in_words(tr(mutation->cause)));
    const auto is_that = [&](const WrongFormula& known) {
        const NumbersOfTexts theirs = numbers_by(asked, by, known.formula);
        return std::ranges::equal(numbers, theirs, all_same);
    };
    for (std::size_t i = 0; i < by.wrong.size() && !verdict.wrong; ++i)
        if (made_or(false, [&] { return is_that(by.wrong[i]); })) verdict.wrong = i;
    const bool has_own_reply = verdict.wrong && !by.wrong[*verdict.wrong].reply.empty();
    const Prose& reply = has_own_reply ? by.wrong[*verdict.wrong].reply : asked.question.otherwise;
    if (!reply.empty()) verdict.replies.push_back(shown(reply, asked.scope()));
    return verdict;
}

// What can't be read is said with its place, and is no answer.
Verdict unread(const std::string& formula, const Error& error, std::size_t at) {
    std::string why = tr(error.sentence());
    if (at <= formula.size())
        why = tr("Character {at}: {why}",
                 {{"at", formulas::letters_in(std::string_view(formula).substr(0, at)) + 1}, {"why", why}});
    return {.replies = {in_words(std::move(why))}, .counts = false};
}

}  // namespace

Verdict judge_formula(const Asked& asked, const ByFormula& by, const std::string& formula) {
    static_cast<void>(judged_on(asked, by));  // throws if another model is open
    NumbersOfTexts numbers;
    try {
        numbers = numbers_by(asked, by, formula);
    } catch (const formulas::FormulaError& error) {
        return unread(formula, error, error.at());
    } catch (const Error& error) {
        return unread(formula, error, formulas::kNowhere);
    }
    return verdict_on(numbers, asked, by);
}

bool formula_fits(const Asked& asked, const ByFormula& by, const std::string& formula) {
    return made_or(false, [&] { return !first_wrong(asked, by, numbers_by(asked, by, formula)); });
}

Verdict judge_numbers(const Asked& asked, const ByFormula& by, const std::vector<Tensor>& numbers) {
    const std::vector<WritingTask> tasks = writing_tasks(asked, by);
    if (numbers.size() != tasks.size())
        throw Error("{count} results; expected {wanted}, one for each text",
                    {{"count", numbers.size()}, {"wanted", tasks.size()}});
    NumbersOfTexts written;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!std::ranges::equal(numbers[i].axes(), tasks[i].axes, {}, &Axis::size, &Axis::size))
            throw Error("the function makes {shape}; expected {wanted}, for {axes}",
                        {{"shape", shape_text(numbers[i].axes())},
                         {"wanted", shape_text(tasks[i].axes)},
                         {"axes", axes_text(tasks[i].axes)}});
        written.push_back({Tensor(tasks[i].axes, numbers[i].values())});
    }
    return verdict_on(written, asked, by);
}

std::vector<WritingTask> writing_tasks(const Asked& asked, const ByFormula& by) {
    std::vector<WritingTask> tasks;
    for (const Ran* ran : judged_on(asked, by)) {
        const Writing::Reading reading = Writing(by, *ran).read(by.solution);
        const Plan& plan = *reading.plan;
        std::set<StepId> ids;
        for (const decoderscope::sheet::Read& operand : reading.written.operands) ids.insert(operand.step);
        const NeededSteps needed = needed_steps(plan, [&](const Step& step) { return ids.contains(step.id); });
        const std::shared_ptr<const Run> run = execute(reading.plan, {.previous = ran->run.get(), .needed = &needed});
        WritingTask& task =
            tasks.emplace_back(WritingTask{{}, reading.written.operation.numbers, reading.written.operation.shape});
        for (std::size_t i = 0; i < reading.written.operands.size(); ++i)
            task.operands.emplace_back(reading.written.operation.operands[i].name,
                                       run->value(reading.written.operands[i].step));
    }
    return tasks;
}

std::vector<std::string> shapes_to_write(const Ran& open, const ByFormula& by) {
    const auto shape = [](const std::string& name, const Axes& axes) {
        return formulas::shape_text(name, decoderscope::sheet::shape_of(axes));
    };
    return made_or(std::vector{by.step}, [&] {
        const Writing::Reading reading = Writing(by, open).read(by.solution);
        std::vector<std::string> shapes{shape(by.step, reading.written.operation.shape)};
        for (std::size_t i = 0; i < reading.written.operands.size(); ++i)
            shapes.push_back(shape(reading.written.operation.operands[i].name,
                                   (*reading.plan)[reading.written.operands[i].step].axes));
        return shapes;
    });
}

std::vector<Edit> own_formulas(const Lesson& lesson, const LessonProgress* progress) {
    std::vector<Edit> edits;
    for (const Question* question : questions_of(lesson)) {
        const auto* by = std::get_if<ByFormula>(&question->answer);
        if (by == nullptr) continue;
        std::string formula = by->solution;
        if (progress != nullptr) {
            const auto found = progress->questions.find(question->id);
            if (found == progress->questions.end() || !found->second.right || found->second.given.empty()) continue;
            const auto* given = std::get_if<FormulaAnswer>(&found->second.given.back().answer);
            if (given == nullptr) continue;
            formula = given->formula;
        }
        for (const std::string& pattern : by->everywhere) edits.emplace_back(RewriteStep{pattern, formula});
    }
    return edits;
}

}  // namespace decoderscope::core::lessons
