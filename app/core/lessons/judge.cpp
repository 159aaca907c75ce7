#include "app/core/lessons/judge.h"

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

}  // namespace

Scenario scenario_of(const Place& place, const std::string& lesson_path) {
    Scenario scenario = decoderscope::core::scenario_of(load::load_model(path_of_model(place.model, lesson_path)));
    return changed(std::move(scenario), place.changes);
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

namespace {

Shown words(std::string text) { return {{Span::Style::plain, std::move(text), "", false}}; }

Scenario without_mutation(Scenario scenario) {
    scenario.mutation.clear();
    return scenario;
}

// Whether two runs of the same plan hold other numbers in this step. NaN counts as itself.
bool differs(const Run& a, const Run& b, const std::string& step) {
    const Tensor &x = a.value(step), &y = b.value(step);
    if (x.empty() || y.empty() || x.axes() != y.axes()) return true;
    return !std::ranges::equal(x.values(), y.values(),
                               [](float p, float q) { return p == q || (std::isnan(p) && std::isnan(q)); });
}

// ---- one kind of question each

struct Judge {
    const Asked& asked;

    [[nodiscard]] Scope scope() const { return asked.scope(); }
    [[nodiscard]] Verdict solved() const { return {true, {shown(asked.question.learned, scope())}}; }

    // Of the reply that was written for this answer, else of that for all others.
    [[nodiscard]] Verdict refused(const Prose& reply) const {
        if (!reply.empty()) return {false, {shown(reply, scope())}};
        if (!asked.question.otherwise.empty()) return {false, {shown(asked.question.otherwise, scope())}};
        return {false, {words(tr("Not this one. A hint may help."))}};
    }

    Verdict operator()(const ByChoice& by, const ChosenAnswer& answer) const {
        const std::vector<std::size_t> right = right_choices(asked);
        if (std::ranges::find(right, answer.choice) != right.end()) return solved();
        if (answer.choice >= by.choices.size()) throw Error("there is no such choice");
        return refused(by.choices[answer.choice].reply);
    }

    Verdict operator()(const ByNumber& by, const NumberAnswer& answer) const {
        const auto computed = [&](const ExpressionRef& e) { return number_of(evaluate(*e, scope())); };
        const double within = computed(by.within);
        const auto close = [&](double number) { return std::abs(answer.number - number) <= within; };
        if (close(computed(by.answer))) return solved();
        for (const WrongNumber& wrong : by.wrong)
            if (close(computed(wrong.number))) return refused(wrong.reply);
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
        try {
            return holds(evaluate(*condition, at));
        } catch (const Error&) {
            return false;
        }
    }

    [[nodiscard]] const Prose& reply_at(const std::vector<WrongCell>& wrong, const PointedAnswer& answer) const {
        static const Prose none;
        const Scope at = scope_at(answer.step, answer.cell);
        for (const WrongCell& one : wrong) {
            const Spot spot = spot_of(one.at, scope());
            const bool is_it = spot.step == answer.step && (!spot.cell || spot.cell == answer.cell);
            if (is_it || (one.where && holds_at(one.where, at))) return one.reply;
        }
        return none;
    }

    Verdict operator()(const ByPoint& by, const PointedAnswer& answer) const {
        if (!by.solution.cell.empty() && !answer.cell) return {false, {words(tr("Click a cell first."))}};
        static_cast<void>(spot_of(by.solution, scope()));  // throws where another model is open
        if (holds_at(by.right, scope_at(answer.step, answer.cell))) return solved();
        return refused(reply_at(by.wrong, answer));
    }

    Verdict operator()(const ByRun& by, const RunAnswer&) const {
        if (holds(evaluate(*by.right, scope()))) return solved();
        for (const WrongChange& wrong : by.wrong)
            if (wrong.where && holds(evaluate(*wrong.where, scope()))) return refused(wrong.reply);
        const Scenario& now = asked.runs.now().scenario;
        for (const WrongChange& wrong : by.wrong)
            if (asked.opened != nullptr && made_by(now, wrong.changes)) return refused(wrong.reply);
        return refused({});
    }

    // Whether the scenario is the opened one with just these changes.
    [[nodiscard]] bool made_by(const Scenario& now, const Changes& changes) const {
        try {
            const Scenario other = changed(*asked.opened, changes);
            return other.edits == now.edits && other.config() == now.config() &&
                   std::ranges::equal(other.inputs.tokens.values(), now.inputs.tokens.values()) &&
                   std::ranges::equal(other.inputs.encoder_tokens.values(), now.inputs.encoder_tokens.values());
        } catch (const Error&) {
            return false;
        }
    }

    Verdict operator()(const ByBug& by, const BugAnswer& answer) const {
        if (answer.choice >= by.choices.size()) throw Error("there is no such choice");
        const std::vector<std::size_t> right = right_choices(asked);
        const bool cause = std::ranges::find(right, answer.choice) != right.end();
        const Choice& choice = by.choices[answer.choice];
        if (by.solution.empty() || (choice.mutation == "nothing" && !cause))
            return cause ? solved() : refused(choice.reply);
        const std::string first = first_wrong_step(*asked.opened);
        const bool step = answer.step == (first.empty() ? by.solution : first) ||
                          std::ranges::find(by.also, answer.step) != by.also.end();
        if (!step) return wrong_step(by, answer);
        if (cause) return solved();
        Verdict verdict = refused(choice.reply);
        verdict.replies.insert(verdict.replies.begin(), words(tr("The step is right. The cause is another one.")));
        return verdict;
    }

    [[nodiscard]] Verdict wrong_step(const ByBug& by, const BugAnswer& answer) const {
        if (answer.step.empty()) return {false, {words(tr("Go to the first wrong step, then press This step."))}};
        if (const Prose& reply = reply_at(by.wrong, {answer.step, std::nullopt}); !reply.empty()) return refused(reply);
        const Scenario right = without_mutation(*asked.opened);
        const std::shared_ptr<const Run> meant = execute(plan_of(right));
        const Run& wrong = *asked.runs.before().run;
        return {false,
                {words(differs(*meant, wrong, answer.step)
                           ? tr("{step} is wrong, too, but it isn't the first. What is it computed from?",
                                {{"step", answer.step}})
                           : tr("{step} is computed as it should be. Look further on.", {{"step", answer.step}}))}};
    }

    template <class By, class Other>
    Verdict operator()(const By&, const Other&) const {
        throw Error("{id}: this is not an answer to a question of this kind", {{"id", asked.question.id}});
    }
};

}  // namespace

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
