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
std::optional<std::size_t> first_other(const Tensor& theirs, const Tensor& right) {
    const std::span<const float> a = theirs.values(), b = right.values();
    if (a.size() != b.size()) return 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!same_number(a[i], b[i])) return i;
    return {};
}

Cell cell_at(const Axes& axes, std::size_t number) {
    Cell cell(axes.size(), 0);
    for (std::size_t i = axes.size(); i-- > 0;) {
        const auto size = static_cast<std::size_t>(axes[i].size);
        cell[i] = static_cast<Index>(number % size);
        number /= size;
    }
    return cell;
}

Shown in_words(std::string text) { return {{Span::Style::plain, std::move(text), "", false}}; }

// One question's formula on one run.
class Writing {
public:
    Writing(const ByFormula& by, const Ran& of) : by_(by), of_(of), is_row_(of.run->plan().find(by.step) == nullptr) {}

    [[nodiscard]] bool is_row() const { return is_row_; }

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

    // Their numbers with this formula in place of theirs.
    [[nodiscard]] std::vector<Tensor> with(const std::string& formula) const {
        check(formula);
        return computed(formula);
    }
    [[nodiscard]] std::vector<Tensor> right() const {
        return is_row_ ? computed(by_.right.empty() ? by_.solution : by_.right) : numbers_in(of_.scenario);
    }
    // Their numbers in this run.
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
        for (const std::string& name : names) all.push_back(run->value(name));
        return all;
    }

private:
    [[nodiscard]] std::vector<Tensor> computed(const std::string& formula) const {
        Scenario scenario = of_.scenario;
        for (const Edit& edit : edits(formula)) scenario.edits.push_back(edit);
        return numbers_in(scenario);
    }
    [[nodiscard]] std::vector<std::string> patterns() const {
        return by_.everywhere.empty() ? std::vector{by_.step} : by_.everywhere;
    }
    [[nodiscard]] AddRow row(const std::string& formula) const {
        return {std::string(decoderscope::sheet::name_in_part(by_.step)),
                std::string(decoderscope::sheet::part_of(by_.step)), formula};
    }
    [[nodiscard]] std::vector<Edit> edits(const std::string& formula) const {
        if (is_row_) return {row(formula)};
        std::vector<Edit> all;
        for (const std::string& pattern : patterns()) all.emplace_back(RewriteStep{pattern, formula});
        return all;
    }

    // A plan that has targets and losses, if the formula reads them.
    [[nodiscard]] std::shared_ptr<const Plan> plan_read_by(const std::string& formula) const {
        const std::string_view missing = decoderscope::sheet::missing_target(of_.run->plan(), formula);
        if (missing.empty()) return of_.run->shared_plan();
        Scenario asked = of_.scenario;
        asked.edits.emplace_back(AddRow{"row_of_targets", "", std::string(missing)});
        return plan_of(asked);
    }

    void check(const std::string& formula) const {
        const std::shared_ptr<const Plan> plan = plan_read_by(formula);
        const Beside beside{&of_.scenario.config(), of_.scenario.inputs};
        const Written written =
            is_row_ ? tried(*plan, row(formula), beside) : tried(*plan, RewriteStep{by_.step, formula}, beside);
        OperandAxes in;
        for (const decoderscope::sheet::Read& read : written.operands) {
            const Step& step = (*plan)[read.step];
            in.push_back(step.axes);
            if (std::ranges::find(by_.without, step.name) != by_.without.end())
                throw Error("{tensor} is what your formula is to compute: write it from what comes before",
                            {{"tensor", step.name}});
        }
        if (formulas::steps_of(written.operation.formula().fitted(in, written.operation.shape)) > kMostSteps)
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

bool all_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) { return !first_other(x, y); });
}

// "blocks.0.attn.z[0, 1, 2, 3] is 0.5 by your formula; it should be 0.25."
std::string sentence_of(const ByFormula& by, const WrittenNumbers::WrongCell& wrong) {
    // As many digits as tell the two apart.
    int digits = 3;
    while (digits < 9 && number_text(wrong.theirs, digits) == number_text(wrong.right, digits)) ++digits;
    const std::string cell = cell_name(wrong.at.step, *wrong.at.cell), theirs = number_text(wrong.theirs, digits),
                      right = number_text(wrong.right, digits);
    if (wrong.text == 0)
        return tr("{cell} is {theirs} by your formula; {right} is right.",
                  {{"cell", cell}, {"theirs", theirs}, {"right", right}});
    return tr("It fits this text alone. With {changes}, {cell} is {theirs} by your formula; {right} is right.",
              {{"changes", by.on[wrong.text - 1]}, {"cell", cell}, {"theirs", theirs}, {"right", right}});
}

// What can't be read is said with its place, and is no answer.
Verdict unread(const std::string& formula, const Error& error, std::size_t at) {
    const std::string why = tr(error.sentence());
    if (at == formulas::kNowhere || at > formula.size()) return {.replies = {in_words(why)}, .counts = false};
    return {.replies = {in_words(
                tr("Character {at}: {why}",
                   {{"at", formulas::letters_in(std::string_view(formula).substr(0, at)) + 1}, {"why", why}}))},
            .counts = false};
}

}  // namespace

WrittenNumbers written_numbers(const Asked& asked, const ByFormula& by, const std::string& formula) {
    WrittenNumbers written;
    std::size_t text = 0;
    for (const Ran* ran : judged_on(asked, by)) {
        const Writing writing(by, *ran);
        const std::vector<std::string> steps = writing.steps();
        const std::vector<Tensor> theirs = writing.with(formula), right = writing.right();
        for (std::size_t i = 0; i < steps.size() && !written.wrong; ++i)
            if (const auto cell = first_other(theirs[i], right[i]))
                written.wrong = {text,
                                 {steps[i], cell_at(right[i].axes(), *cell)},
                                 theirs[i].values()[*cell],
                                 right[i].values()[*cell]};
        written.numbers.insert(written.numbers.end(), theirs.begin(), theirs.end());
        ++text;
    }
    return written;
}

std::string known_mistake(const Asked& asked, const ByFormula& by, const WrittenNumbers& written) {
    const std::vector<const Ran*> on = judged_on(asked, by);
    if (Writing(by, *on.front()).is_row()) return {};  // no decoder of the gallery has it
    for (const mutations::Mutation& mutation : mutations::mutations()) {
        if (mutation.harmless) continue;
        const bool is_it = made_or(false, [&] {
            std::size_t first = 0;
            for (const Ran* ran : on) {
                const Writing writing(by, *ran);
                Scenario wrong = ran->scenario;
                wrong.mutation = mutation.name;
                const std::vector<Tensor> numbers = writing.numbers_in(wrong);
                const auto theirs = written.numbers.begin() + static_cast<std::ptrdiff_t>(first);
                if (!all_same({theirs, theirs + static_cast<std::ptrdiff_t>(numbers.size())}, numbers)) return false;
                first += numbers.size();
            }
            return true;
        });
        if (is_it) return mutation.name;
    }
    return {};
}

Verdict judge_formula(const Asked& asked, const ByFormula& by, const std::string& formula) {
    WrittenNumbers written;
    try {
        written = written_numbers(asked, by, formula);
    } catch (const formulas::FormulaError& error) {
        return unread(formula, error, error.at());
    } catch (const Error& error) {
        return unread(formula, error, formulas::kNowhere);
    }
    if (!written.wrong) return {true, {shown(asked.question.learned, asked.scope())}};
    Verdict verdict{.replies = {in_words(sentence_of(by, *written.wrong))}};
    if (written.wrong->text == 0) verdict.at = written.wrong->at;
    verdict.mistake = known_mistake(asked, by, written);
    if (const mutations::Mutation* mutation = mutations::find_mutation(verdict.mistake))
        verdict.replies.push_back(in_words(tr(mutation->cause)));
    for (std::size_t i = 0; i < by.wrong.size() && !verdict.wrong; ++i)
        if (made_or(false,
                    [&] { return all_same(written_numbers(asked, by, by.wrong[i].formula).numbers, written.numbers); }))
            verdict.wrong = i;
    const Prose& reply = verdict.wrong && !by.wrong[*verdict.wrong].reply.empty() ? by.wrong[*verdict.wrong].reply
                                                                                  : asked.question.otherwise;
    if (!reply.empty()) verdict.replies.push_back(shown(reply, asked.scope()));
    return verdict;
}

std::string named_axes(const std::string& name, const Step& step) {
    return formulas::shape_text(name, decoderscope::sheet::shape_of(step.axes));
}

std::vector<std::string> operands_to_read(const Run& run, const std::string& step) {
    std::vector<std::string> all;
    const Ref found = run.plan().find(step);
    const auto by = found == nullptr ? std::nullopt : ops::formula_of(found->operation);
    if (!by) return all;
    for (std::size_t i = 0; i < found->operands.size(); ++i)
        if (const std::string name(by->name_of(i)); !name.empty())
            all.push_back(named_axes(name, run.plan()[found->operands[i]]));
    return all;
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
