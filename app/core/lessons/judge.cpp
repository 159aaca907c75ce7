#include "app/core/lessons/judge.h"

#include "app/core/lessons/writing.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"
#include "engine/load/bundled_models.h"
#include "engine/mutations/mutations.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace decoderscope::core::lessons {

namespace {

std::string path_of_model(const std::string& model, const std::string& lesson_path) {
    const auto& bundled = load::bundled_models();
    if (std::ranges::any_of(bundled, [&](const load::BundledModel& known) { return known.name == model; }))
        return model;
    const std::filesystem::path path = model;
    return path.is_absolute() ? model : (std::filesystem::path(lesson_path).parent_path() / path).string();
}

Index index_of(const Expression& expression, const Scope& scope) {
    const double number = number_of(evaluate(expression, scope));
    if (!std::isfinite(number)) throw Error("{value}; expected an index", {{"value", shown_text(single(number))}});
    return static_cast<Index>(std::llround(number));
}

Shown words(std::string text) { return {{Span::Style::plain, std::move(text), "", false}}; }

Scenario without_mutation(Scenario scenario) {
    scenario.mutation.clear();
    return scenario;
}

// Whether two runs of the same plan hold different numbers in this step. NaN counts as itself.
bool differs(const Run& a, const Run& b, const std::string& step) {
    const Tensor &x = a.value(step), &y = b.value(step);
    if (x.empty() || y.empty() || x.axes() != y.axes()) return true;
    return !std::ranges::equal(x.values(), y.values(),
                               [](float p, float q) { return p == q || (std::isnan(p) && std::isnan(q)); });
}

// The check that a run fails, though it passed before what the learner did, and the question doesn't allow it.
std::optional<checks::Law> broken_law(const Asked& asked, const MayBreak& may_break) {
    const Ran& now = asked.runs.now();
    if (asked.opened == nullptr) return {};
    const Ran& before = asked.runs.before();
    const Scenario &did = now.scenario, &was = before.scenario;
    const bool changed_text_only = did.edits == was.edits && did.config() == was.config() &&
                                   did.mutation == was.mutation && did.dropout_seed == was.dropout_seed;
    if (changed_text_only) return {};  // both are the same run
    const auto measured = [](const Ran& of) { return checks::measure_invariants(*of.run, of.scenario.config()); };
    const std::optional<checks::Invariants> after = measured(now), held = measured(before);
    for (const checks::Invariant& one : after->all) {
        if (!one.law) continue;  // a row of the learner's own asks for nothing
        const bool broken = one.verdict == checks::Verdict::broken;
        const bool was_broken = held->of(*one.law).verdict == checks::Verdict::broken;
        if (broken && !was_broken && !may_break[static_cast<std::size_t>(*one.law)]) return one.law;
    }
    return {};
}

// ---- one kind of question each

struct Judge {
    const Asked& asked;

    [[nodiscard]] Scope scope() const { return asked.scope(); }
    [[nodiscard]] Verdict solved() const { return {true, {shown(asked.question.learned, scope())}}; }

    // A verdict with the reply that was written for this answer, otherwise the one for all others.
    [[nodiscard]] Verdict refused(const Prose& reply, std::optional<std::size_t> wrong = {}) const {
        if (!reply.empty()) return {false, {shown(reply, scope())}, wrong};
        if (!asked.question.otherwise.empty()) return {false, {shown(asked.question.otherwise, scope())}, wrong};
        return {false, {words(tr("Not this one. A hint may help."))}, wrong};
    }

    Verdict operator()(const ByChoice& by, const ChosenAnswer& answer) const {
        const std::vector<std::size_t> right = right_choices(asked);
        if (std::ranges::find(right, answer.choice) != right.end()) return solved();
        if (answer.choice >= by.choices.size()) throw Error("there is no such choice");
        return refused(by.choices[answer.choice].reply, answer.choice);
    }

    Verdict operator()(const ByNumber& by, const NumberAnswer& answer) const {
        const auto computed = [&](const ExpressionRef& e) { return number_of(evaluate(*e, scope())); };
        const double within = computed(by.within);
        const auto close = [&](double number) { return std::abs(answer.number - number) <= within; };
        if (close(computed(by.answer))) return solved();
        for (std::size_t i = 0; i < by.wrong.size(); ++i)
            if (close(computed(by.wrong[i].number))) return refused(by.wrong[i].reply, i);
        if (std::abs(computed(by.answer)) <= 1.0 && std::abs(answer.number / 100.0 - computed(by.answer)) <= within)
            return {false, {words(tr("Is that in percent? Write the sign, too: 25 % is 0.25."))}};
        return refused({});
    }

    // The names by which a condition calls the place that was pointed at.
    [[nodiscard]] Scope scope_at(const std::string& step, const std::optional<Cell>& cell) const {
        Scope at = scope();
        at.variables.emplace("step", step);
        const Ref found = asked.runs.now().run->plan().find(step);
        if (found == nullptr || !cell || cell->size() != found->axes.size()) return at;
        for (std::size_t i = 0; i < cell->size(); ++i)
            at.variables.insert_or_assign(std::string(found->axes[i].name), single(static_cast<double>((*cell)[i])));
        const Tensor values = asked.runs.tensor(asked.runs.now(), step);
        if (values.contains(*cell)) at.variables.insert_or_assign("value", single(values.at(*cell)));
        return at;
    }

    // Whether a condition holds at a place. One that asks for an axis that isn't there doesn't.
    [[nodiscard]] bool holds_at(const ExpressionRef& condition, const Scope& at) const {
        return made_or(false, [&] { return holds(evaluate(*condition, at)); });
    }

    // Which of these wrong cells it is.
    [[nodiscard]] std::optional<std::size_t> wrong_at(const std::vector<WrongCell>& wrong,
                                                      const PointedAnswer& answer) const {
        const Scope at = scope_at(answer.step, answer.cell);
        for (std::size_t i = 0; i < wrong.size(); ++i) {
            const Spot spot = spot_of(wrong[i].at, scope());
            const bool is_it = spot.step == answer.step && (!spot.cell || spot.cell == answer.cell);
            if (is_it || (wrong[i].where && holds_at(wrong[i].where, at))) return i;
        }
        return {};
    }

    Verdict operator()(const ByPoint& by, const PointedAnswer& answer) const {
        if (!by.solution.cell.empty() && !answer.cell) return {false, {words(tr("Click a cell first."))}};
        static_cast<void>(spot_of(by.solution, scope()));  // throws if another model is open
        if (holds_at(by.right, scope_at(answer.step, answer.cell))) return solved();
        const std::optional<std::size_t> wrong = wrong_at(by.wrong, answer);
        return wrong ? refused(by.wrong[*wrong].reply, wrong) : refused({});
    }

    Verdict operator()(const ByRun& by, const RunAnswer&) const {
        if (holds(evaluate(*by.right, scope()))) {
            const std::optional<checks::Law> broken = broken_law(asked, by.may_break);
            return broken ? breaking(*broken) : solved();
        }
        for (std::size_t i = 0; i < by.wrong.size(); ++i)
            if (by.wrong[i].where && holds(evaluate(*by.wrong[i].where, scope()))) return refused(by.wrong[i].reply, i);
        const Scenario& now = asked.runs.now().scenario;
        for (std::size_t i = 0; i < by.wrong.size(); ++i)
            if (asked.opened != nullptr && made_by(now, by.wrong[i].changes)) return refused(by.wrong[i].reply, i);
        return refused({});
    }

    [[nodiscard]] static Verdict breaking(checks::Law law) {
        return {
            false,
            {words(tr(
                "It is done, but it broke something that held before: “{check}”. Undo (Ctrl+Z), and find another way.",
                {{"check", checks::title_of(law)}}))}};
    }

    // Whether the scenario is the opened one with just these changes.
    [[nodiscard]] bool made_by(const Scenario& now, const Changes& changes) const {
        return made_or(false, [&] {
            const Scenario other = changed(*asked.opened, changes);
            return other.edits == now.edits && other.config() == now.config() &&
                   std::ranges::equal(other.inputs.tokens.values(), now.inputs.tokens.values()) &&
                   std::ranges::equal(other.inputs.encoder_tokens.values(), now.inputs.encoder_tokens.values());
        });
    }

    Verdict operator()(const ByBug& by, const BugAnswer& answer) const {
        if (answer.choice >= by.choices.size()) throw Error("there is no such choice");
        const std::vector<std::size_t> right = right_choices(asked);
        const bool cause = std::ranges::find(right, answer.choice) != right.end();
        const Choice& choice = by.choices[answer.choice];
        if (by.solution.empty() || (choice.mutation == "nothing" && !cause))
            return cause ? solved() : refused(choice.reply, answer.choice);
        const std::string first = first_wrong_step(*asked.opened);
        const bool step = answer.step == (first.empty() ? by.solution : first) ||
                          std::ranges::find(by.also, answer.step) != by.also.end();
        if (!step) return wrong_step(by, answer);
        if (cause) return solved();
        Verdict verdict = refused(choice.reply, answer.choice);
        verdict.replies.insert(verdict.replies.begin(), words(tr("The step is right. The cause is another one.")));
        return verdict;
    }

    [[nodiscard]] Verdict wrong_step(const ByBug& by, const BugAnswer& answer) const {
        if (answer.step.empty())
            return {false, {words(tr("If this were the cause, some step would be wrong. Which one comes first?"))}};
        if (const auto wrong = wrong_at(by.wrong, {answer.step, std::nullopt});
            wrong && !by.wrong[*wrong].reply.empty())
            return refused(by.wrong[*wrong].reply);
        const Scenario right = without_mutation(*asked.opened);
        const std::shared_ptr<const Run> meant = execute(plan_of(right));
        const Run& wrong = *asked.runs.before().run;
        return {false,
                {words(differs(*meant, wrong, answer.step)
                           ? tr("{step} is wrong, too, but it isn't the first. What is it computed from?",
                                {{"step", answer.step}})
                           : tr("{step} is computed as it should be. Look further on.", {{"step", answer.step}}))}};
    }

    Verdict operator()(const ByFormula& by, const FormulaAnswer& answer) const {
        return judge_formula(asked, by, answer.formula);
    }

    template <class By, class Other>
    Verdict operator()(const By&, const Other&) const {
        throw Error("{id}: this is not an answer to a question of this kind", {{"id", asked.question.id}});
    }
};

}  // namespace

Scenario scenario_of(const Place& place, const Lesson& lesson, const LessonProgress* progress) {
    const std::string& lesson_path = place.from.empty() ? lesson.path : place.from;
    Scenario scenario = decoderscope::core::scenario_of(load::load_model(path_of_model(place.model, lesson_path)));
    scenario = changed(std::move(scenario), place.changes);
    if (place.own_formulas)
        for (Edit& edit : own_formulas(lesson, progress)) scenario.edits.push_back(std::move(edit));
    return scenario;
}

const Place* place_before(const Lesson& lesson, const std::string& question) {
    const Place* last = nullptr;
    for (const Page& page : lesson.pages)
        for (const Block& block : page.blocks) {
            if (const auto* place = std::get_if<Place>(&block); place != nullptr && !place->model.empty()) last = place;
            if (const auto* here = std::get_if<Question>(&block); here != nullptr && here->id == question) return last;
        }
    return nullptr;
}

Spot spot_of(const CellAnswer& answer, const Scope& scope) {
    const Ref step = scope.runs.now().run->plan().find(answer.step);
    if (step == nullptr) throw Error("{name}: the run has no such tensor", {{"name", answer.step}});
    Spot spot{answer.step, std::nullopt};
    if (answer.cell.empty()) return spot;
    if (answer.cell.size() != step->axes.size())
        throw Error("{name}: {count} indices; expected {wanted}, one per axis of {axes}",
                    {{"name", answer.step},
                     {"count", answer.cell.size()},
                     {"wanted", step->axes.size()},
                     {"axes", axes_text(step->axes)}});
    Cell cell;
    for (std::size_t i = 0; i < answer.cell.size(); ++i) {
        const Index size = step->axes[i].size;
        Index index = index_of(*answer.cell[i], scope);
        if (index < 0) index += size;
        if (index < 0 || index >= size)
            throw Error("{name}: index {index} along {axis}; expected less than {size}",
                        {{"name", answer.step}, {"index", index}, {"axis", step->axes[i].name}, {"size", size}});
        cell.push_back(index);
    }
    spot.cell = std::move(cell);
    return spot;
}

std::vector<Command> going_commands(const Place& place, const Scope& scope) {
    std::vector<Command> commands;
    if (!place.step.empty()) {
        const Spot spot = spot_of({place.step, place.cell}, scope);
        if (spot.cell)
            commands.push_back(command::Follow{spot.step, *spot.cell});
        else
            commands.push_back(command::GoTo{spot.step});
    }
    if (place.batch) commands.push_back(command::ChooseBatch{index_of(*place.batch, scope)});
    if (place.head) commands.push_back(command::ChooseHead{index_of(*place.head, scope)});
    return commands;
}

std::vector<std::size_t> right_choices(const Asked& asked) {
    std::vector<std::size_t> right;
    const Scope scope = asked.scope();
    const auto add_where = [&](const std::vector<Choice>& choices, const auto& is_right) {
        for (std::size_t i = 0; i < choices.size(); ++i)
            if (is_right(choices[i])) right.push_back(i);
    };
    const auto by_condition = [&](const Choice& choice) {
        return choice.right && holds(evaluate(*choice.right, scope));
    };
    if (const auto* by = std::get_if<ByChoice>(&asked.question.answer)) add_where(by->choices, by_condition);
    const auto* bug = std::get_if<ByBug>(&asked.question.answer);
    if (bug == nullptr || asked.opened == nullptr) return right;
    const mutations::Mutation* mutation = mutation_of(*asked.opened);
    const bool by_sentence =
        std::ranges::any_of(bug->choices, [](const Choice& choice) { return choice.right != nullptr; });
    if (mutation != nullptr && !mutation->harmless)
        add_where(bug->choices, [&](const Choice& choice) { return choice.mutation == mutation->name; });
    else if (by_sentence)
        add_where(bug->choices, by_condition);
    else
        add_where(bug->choices, [](const Choice& choice) { return choice.mutation == "nothing"; });
    return right;
}

std::string first_wrong_step(const Scenario& mutant) {
    if (mutant.mutation.empty()) return {};
    const std::shared_ptr<const Plan> wrong = plan_of(mutant), right = plan_of(without_mutation(mutant));
    const Ref first = mutations::first_changed(*right, *wrong);
    return first == nullptr ? std::string() : first->name;
}

Shown shown_choice(const Choice& choice, const Scope& scope) {
    if (choice.mutation.empty()) return shown(choice.text, scope);
    if (const mutations::Mutation* mutation = mutations::find_mutation(choice.mutation))
        return words(tr(mutation->cause));
    return words(tr("Nothing is wrong: these are the intended numbers."));
}

Verdict judge(const Asked& asked, const Answer& answer) {
    return std::visit(Judge{asked}, asked.question.answer, answer);
}

}  // namespace decoderscope::core::lessons
