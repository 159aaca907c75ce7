#include "engine/mutations/changes.h"

#include "engine/formulas/book.h"
#include "engine/formulas/edits.h"
#include "engine/formulas/evaluate.h"
#include "engine/formulas/print.h"
#include "engine/mutations/sites.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/written_formula.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace decoderscope::mutations {

namespace {

using formulas::Expr;
using formulas::Formula;
using ops::WrittenFormula;

// A number that stands for a word: different for different words.
double number_of(const std::string& word) {
    return 1e6 + static_cast<double>(std::hash<std::string>()(word) % 1'000'000'007);
}

// A key's value as a number: a truth, a number, the length of a list, or a word.
double number_in(const std::string& text) {
    if (text == "true" || text == "false") return text == "true" ? 1.0 : 0.0;
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    if (text.starts_with('[')) return text == "[]" ? 0.0 : 1.0 + static_cast<double>(std::ranges::count(text, ','));
    double number = 0.0;
    const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : number_of(text);
}

void for_each_constant(const Formula& formula, const std::function<void(const std::string&)>& visit) {
    for (const formulas::Definition* d : definitions(formula))
        for_each(d->body, [&](const Expr& e) {
            if (const auto* constant = e->as<formulas::Constant>()) visit(constant->name);
        });
}

bool reads_operand(const Formula& formula, const std::string& name) {
    return std::ranges::any_of(definitions(formula),
                               [&](const formulas::Definition* d) { return reads(d->body, name); });
}

// A step as it is to be computed: the formula with its operands.
struct Draft {
    WrittenFormula operation;
    Formula formula;
    std::vector<StepId> operands;
};

std::optional<Draft> draft_of(const Plan& plan, const Step& step) {
    const auto by = ops::formula_of(step.operation);
    if (!by) return std::nullopt;
    Draft draft{ops::as_written(step.operation, step.operands.size(), step.axes).value(), by->written(), step.operands};
    draft.operation.declared.deferred = false;
    // A custom mask may lack the batch's or the heads' axis.
    draft.formula = with_bodies(std::move(draft.formula), [&](const Expr& body) {
        return rewrite(body, [&](const Expr& e) {
            const auto* cell = e->as<formulas::CellOf>();
            if (cell == nullptr || cell->name != "custom") return e;
            const Axes& axes = plan[*step.operand(OperandRole::custom_mask)].axes;
            std::vector<Expr> indices = e->children;
            for (std::size_t i = 0; i < indices.size(); ++i)
                if (axes[i].size == 1) indices[i] = formulas::number(0.0);
            return with_children(e, std::move(indices));
        });
    });
    return draft;
}

// Leaves out the operands and results that the formula no longer reads, and names the numbers that it does.
void settle(Draft& draft, const std::map<std::string, double, std::less<>>& numbers, const Plan& plan) {
    // One at a time: which others are read is asked of all that are still there.
    for (auto& wheres = draft.formula.wheres;;) {
        const auto unread = std::ranges::find_if(
            wheres, [&](const formulas::Definition& where) { return !reads_operand(draft.formula, where.name); });
        if (unread == wheres.end()) break;
        wheres.erase(unread);
    }
    for (std::size_t i = draft.operands.size(); i-- > 0;)
        if (!reads_operand(draft.formula, draft.operation.operands[i].name)) {
            draft.operands.erase(draft.operands.begin() + static_cast<std::ptrdiff_t>(i));
            draft.operation.operands.erase(draft.operation.operands.begin() + static_cast<std::ptrdiff_t>(i));
        }
    const auto is_axis = [&](const std::string& name) {
        const auto named = [&](const Axis& axis) { return axis.name == name; };
        return std::ranges::any_of(draft.operation.shape, named) || std::ranges::any_of(draft.operands, [&](StepId id) {
                   return std::ranges::any_of(plan[id].axes, named);
               });
    };
    auto& known = draft.operation.numbers;
    for_each_constant(draft.formula, [&](const std::string& name) {
        const auto number = numbers.find(name);
        if (number == numbers.end() || is_axis(name)) return;
        if (std::ranges::find(known, name, &std::pair<std::string, double>::first) == known.end())
            known.emplace_back(name, number->second);
    });
}

// The draft as the step is to compute it; nothing if it doesn't fit.
std::optional<Rewritten> finished(const Plan& plan, const Step& step, Draft draft,
                                  const std::map<std::string, double, std::less<>>& numbers) {
    std::map<std::string, double, std::less<>> all = numbers;
    if (step.axes.size() > 1) all["rows"] = static_cast<double>(step.axes[step.axes.size() - 2].size);
    if (std::ranges::any_of(draft.formula.main.indices, [](const auto& i) { return i.axis == "rows"; }))
        draft.operation.numbers.emplace_back("rows", all["rows"]);
    settle(draft, all, plan);
    draft.operation.text = text_of(draft.formula);
    OperandAxes in;
    for (const StepId operand : draft.operands) {
        if (operand >= step.id) return std::nullopt;
        in.push_back(plan[operand].axes);
    }
    try {
        const double steps = steps_of(draft.operation.formula().fitted(in, step.axes));
        return Rewritten{std::move(draft.operation), std::move(draft.operands), steps};
    } catch (const formulas::FormulaError&) {
        return std::nullopt;
    }
}

// Puts the draft in the step's place, if it fits.
void place(Plan& plan, const Step& step, Draft draft, const std::map<std::string, double, std::less<>>& numbers) {
    if (auto made = finished(plan, step, std::move(draft), numbers))
        plan.replace(step.id, std::move(made->operation), std::move(made->operands));
}

// ---- one entry of a "change"

class Change {
public:
    Change(Plan& plan, const Keys& keys, const OrderedJson& entry) : plan_(plan), keys_(keys), entry_(entry) {}

    void at(StepId id) {
        const Step& step = plan_[id];
        if (entry_.contains("when") && keys_.value(text("when"), numbers_of(step)) == 0.0) return;
        if (entry_.contains("carry")) return carry(step, text("carry"));
        if (entry_.contains("drop")) return drop(step, sites::role_named(text("drop")).value());
        if (entry_.contains("read")) return read(step);
        write(step);
    }

private:
    [[nodiscard]] std::string text(const char* key) const { return entry_.value(key, std::string()); }

    [[nodiscard]] static std::map<std::string, double> numbers_of(const Step& step) {
        std::map<std::string, double> numbers;
        for (const Axis& axis : step.axes) numbers[std::string(axis.name)] = static_cast<double>(axis.size);
        if (step.axes.size() > 1) numbers["rows"] = static_cast<double>(step.axes[step.axes.size() - 2].size);
        return numbers;
    }

    // The step passes on one of its operands, or another step.
    void carry(const Step& step, const std::string& what) {
        constexpr std::string_view kStep = "step ";
        std::optional<StepId> carried;
        if (!what.starts_with(kStep))
            carried = step.operand(sites::role_named(what).value());
        else if (const Ref other = plan_.find(what.substr(kStep.size())))
            carried = other->id;
        if (carried && shape_text(plan_[*carried].axes) == shape_text(step.axes))
            plan_.replace(step.id, ops::Identity{}, {*carried});
    }

    // The operation without an operand; its formula, where the operation would take the others for something else.
    void drop(const Step& step, OperandRole role) {
        const std::optional<StepId> dropped = step.operand(role);
        if (!dropped) return;
        const auto number =
            static_cast<std::size_t>(std::ranges::find(step.operands, *dropped) - step.operands.begin());
        std::vector<StepId> read = step.operands;
        read.erase(read.begin() + static_cast<std::ptrdiff_t>(number));
        if (number == read.size() && role != OperandRole::gain) return plan_.replace(step.id, step.operation, read);
        std::optional<Draft> draft = draft_of(plan_, step);
        if (!draft) return;
        draft->operands = std::move(read);
        draft->operation.operands.erase(draft->operation.operands.begin() + static_cast<std::ptrdiff_t>(number));
        draft->operation.declared = {};
        place(plan_, step, std::move(*draft), keys_.numbers());
    }

    // The same operation of other operands.
    void read(const Step& step) {
        std::vector<StepId> read = step.operands;
        for (std::size_t i = 0; i < read.size(); ++i)
            for (const auto& [from, to] : entry_["read"].items())
                if (const auto other = instead_of(step, i, from, to.get<std::string>())) {
                    read[i] = *other;
                    break;
                }
        if (read != step.operands) plan_.replace(step.id, step.operation, std::move(read));
    }

    // What a step reads in an operand's place; nothing if `from` doesn't name it.
    [[nodiscard]] std::optional<StepId> instead_of(const Step& step, std::size_t number, const std::string& from,
                                                   const std::string& to) const {
        const Step& operand = plan_[step.operands[number]];
        if (from.starts_with('.')) {
            const std::size_t begin = operand.name.find(from);
            if (operand.role != Role::parameter || begin == std::string::npos) return std::nullopt;
            std::string name = operand.name;
            // A parameter is declared when it is asked for: what comes later can't be read.
            const Ref other = plan_.find(name.replace(begin, from.size(), to));
            return other != nullptr && other->id < step.id && other->axes == operand.axes ? std::optional(other->id)
                                                                                          : std::nullopt;
        }
        const std::optional<OperandRole> role = sites::role_named(from);
        if (role ? step.operation.role_of(number) != *role : operand.name != from) return std::nullopt;
        constexpr std::string_view kNorm = "its norm", kQuery = "the query's";  // not a message: words of the table
        if (to == kNorm) return sites::norm_before(plan_, step);
        const Ref query = to == kQuery ? sites::attention_step(plan_, step.attention, "query") : nullptr;
        if (query != nullptr)
            return query->axes[2].size == step.axes[2].size ? std::optional(query->operands[0]) : std::nullopt;
        if (const auto other_role = sites::role_named(to)) return step.operand(*other_role);
        const Ref other = plan_.find(to);
        return other != nullptr && shape_text(other->axes) == shape_text(operand.axes) ? std::optional(other->id)
                                                                                       : std::nullopt;
    }

    // ---- formulas

    void write(const Step& step) {
        const Step& from = entry_.contains("of") ? made_from(step) : step;
        std::optional<Draft> draft = draft_of(plan_, from);
        if (!draft || !add_operands(*draft, step)) return;
        if (&from != &step)
            if (const auto bias = step.operand(OperandRole::bias)) add(*draft, "bias", *bias);
        Made made{from.operation, axes_of(draft->operands), step.axes, draft->operation.operands, {}};
        // Another step's formula may differ from block to block.
        for (const Made& known : made_)
            if (known == made && !entry_.contains("then")) return put(step, known, draft->operands);
        const std::vector<StepId> read = draft->operands;
        write(step, std::move(*draft), made);
        put(step, made, read);
        made_.push_back(std::move(made));
    }

    // What a step of that operation and of these axes became: the same in every block.
    struct Made {
        Operation before;
        OperandAxes in;
        Axes shape;
        std::vector<WrittenFormula::Named> operands;
        std::optional<WrittenFormula> now;
        bool operator==(const Made& other) const {
            return before == other.before && in == other.in && shape == other.shape && operands == other.operands;
        }
    };

    [[nodiscard]] OperandAxes axes_of(const std::vector<StepId>& operands) const {
        OperandAxes axes;
        for (const StepId operand : operands) axes.push_back(plan_[operand].axes);
        return axes;
    }

    void put(const Step& step, const Made& made, const std::vector<StepId>& read) {
        if (!made.now) return;
        std::vector<StepId> operands;
        for (std::size_t i = 0; i < read.size(); ++i)
            if (std::ranges::find(made.now->operands, made.operands[i].name, &WrittenFormula::Named::name) !=
                made.now->operands.end())
                operands.push_back(read[i]);
        if (std::ranges::all_of(operands, [&](StepId operand) { return operand < step.id; }))
            plan_.replace(step.id, *made.now, std::move(operands));
    }

    void write(const Step& step, Draft draft, Made& made) const {
        const Formula before = draft.formula;
        if (!change_formula(draft, step) || draft.formula == before) return;
        draft.operation.shape = step.axes;
        declare(draft.operation.declared);
        if (auto finished_now = finished(plan_, step, std::move(draft), keys_.numbers()))
            made.now = std::move(finished_now->operation);
    }

    // If an edit of the heads' results makes an attention's output their sum, it is made from what they are made from.
    [[nodiscard]] const Step& made_from(const Step& step) const {
        const Ref results = plan_.operand(step, OperandRole::results);
        return results == nullptr ? step : *results;
    }

    static void add(Draft& draft, const std::string& name, StepId operand) {
        draft.operation.operands.push_back({name, OperandRole::input});
        draft.operands.push_back(operand);
    }

    // The operands that the formula reads besides the step's own, by name.
    bool add_operands(Draft& draft, const Step& step) const {
        if (entry_.contains("operands"))
            for (std::size_t i = 0; i < draft.operands.size(); ++i)
                draft.operation.operands[i].name = entry_["operands"][i].get<std::string>();
        if (!entry_.contains("with")) return true;
        for (const auto& [name, source] : entry_["with"].items()) {
            const std::optional<StepId> found = source_named(source.get<std::string>(), step);
            if (!found) return false;
            add(draft, name, *found);
            if (name == "mask") draft.operation.operands.back().role = OperandRole::mask;
        }
        return true;
    }

    // "masked_scores mask": of another step of the attention; ".router.correction": the nearest such parameter before;
    // otherwise an input of the stack.
    [[nodiscard]] std::optional<StepId> source_named(const std::string& source, const Step& step) const {
        if (const std::size_t space = source.find(' '); space != std::string::npos) {
            const Ref other = sites::attention_step(plan_, step.attention, source.substr(0, space));
            return other == nullptr || other->operands.size() < 2 ? std::nullopt : other->operand(OperandRole::mask);
        }
        if (source.starts_with('.')) {
            for (StepId id = step.id; id-- > 0;)
                if (plan_[id].role == Role::parameter && plan_[id].name.ends_with(source)) return id;
            return std::nullopt;
        }
        const Ref input = plan_.find(step.in_encoder() ? "encoder_" + source : source);
        return input == nullptr ? std::nullopt : std::optional(input->id);
    }

    // False if there is nothing to change.
    bool change_formula(Draft& draft, const Step& step) const {
        const formulas::Functions& functions = formulas::the_book().functions;
        if (entry_.contains("edit"))
            for (const auto& [old, now] : entry_["edit"].items())
                draft.formula = edited(draft.formula, old, now.get<std::string>(), functions);
        if (entry_.contains("formula")) draft.formula = formulas::parse(text("formula"), functions);
        if (!entry_.contains("then")) return true;
        const std::string then = text("then");
        constexpr std::string_view kAs = "as ";
        if (then.starts_with(kAs)) {
            const Ref like = sites::attention_step(plan_, step.attention, then.substr(kAs.size()));
            const auto by = like == nullptr ? std::nullopt : ops::formula_of(like->operation);
            if (!by || by->operands.size() != 1) return false;
            for (const ops::NamedNumber& number : by->numbers)
                draft.operation.numbers.emplace_back(number.name, number.value);
            draft.formula = composed(draft.formula, by->written(), by->name_of(0));
        } else {
            draft.formula = composed(draft.formula, formulas::parse(with_words(then), functions), "x");
        }
        return true;
    }

    // "{activation}" is the key's word.
    [[nodiscard]] std::string with_words(std::string text) const {
        const std::size_t begin = text.find('{'), end = text.find('}');
        if (begin == std::string::npos || end == std::string::npos) return text;
        return text.replace(begin, end - begin + 1, keys_.text(text.substr(begin + 1, end - begin - 1)));
    }

    // What is known of the numbers: as of the step's own if it is an edit, unless the entry says so.
    void declare(Traits& traits) const {
        if (!entry_.contains("edit") || entry_.contains("values")) traits = {};
        const std::string values = text("values");
        if (values == "mask") traits.values = Values::mask;
        constexpr std::string_view kWeights = "weights that sum to 1";  // not a message: words of the table
        if (values == kWeights) traits = {.values = Values::weights, .sums_to_one = true};
        if (!entry_.contains("facts")) return;
        const OrderedJson& facts = entry_["facts"];
        if (traits.scale) {
            traits.scale->centred = facts.value("centred", traits.scale->centred);
            traits.scale->unbiased = facts.value("unbiased", traits.scale->unbiased);
            traits.scale->eps_outside = facts.value("eps_outside", traits.scale->eps_outside);
        }
        if (traits.norm) traits.norm->centred = facts.value("centred", traits.norm->centred);
    }

    Plan& plan_;
    const Keys& keys_;
    const OrderedJson& entry_;
    std::vector<Made> made_;
};

}  // namespace

const std::map<std::string, std::string>& Keys::texts() const {
    if (texts_.empty())
        for (const auto& [key, text] : config_values(config_)) texts_[key] = text;
    return texts_;
}

const std::map<std::string, double, std::less<>>& Keys::numbers() const {
    if (numbers_.empty()) {
        for (const auto& [key, text] : texts()) numbers_[key] = number_in(text);
        numbers_["d_head"] = static_cast<double>(config_.d_head());
    }
    return numbers_;
}

double Keys::value(std::string_view expression, const std::map<std::string, double>& more) const {
    const Formula formula = formulas::parse("y = " + std::string(expression));
    formulas::Known known;
    known.constants = numbers();
    for (const auto& [name, number] : more) known.constants[name] = number;
    for_each_constant(formula, [&](const std::string& name) { known.constants.try_emplace(name, number_of(name)); });
    return formulas::Evaluator(elaborate(formula, known), {}, known).cell({});
}

void apply_change(Plan& plan, const Keys& keys, const OrderedJson& entry) {
    Change change(plan, keys, entry);
    std::vector<StepId> steps;
    const OrderedJson& places = entry.at("at");
    for (const OrderedJson& place : places.is_array() ? places : OrderedJson::array({places})) {
        const std::vector<StepId> more = sites::at(plan, place.get<std::string>());
        steps.insert(steps.end(), more.begin(), more.end());
    }
    // All at once: a step may be found by what another reads.
    for (const StepId id : steps) change.at(id);
}

std::optional<Rewritten> rewritten(const Plan& plan, const Step& step, const Formula& formula,
                                   const std::map<std::string, double, std::less<>>& numbers) {
    std::optional<Draft> draft = draft_of(plan, step);
    if (!draft) return std::nullopt;
    draft->formula = formula;
    draft->operation.declared = {.values = draft->operation.declared.values};
    return finished(plan, step, std::move(*draft), numbers);
}

}  // namespace decoderscope::mutations
