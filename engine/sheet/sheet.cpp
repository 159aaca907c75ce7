#include "engine/sheet/sheet.h"

#include "engine/backward/gradient.h"
#include "engine/base/error.h"
#include "engine/formulas/elaborate.h"
#include "engine/formulas/tokens.h"
#include "engine/ops/elementwise.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>

namespace decoderscope::sheet {

namespace {

using Numbers = std::map<std::string, double, std::less<>>;

// What a step computed before a formula replaced it.
struct Original {
    Operation operation;
    std::vector<StepId> operands;
};
using Originals = std::map<StepId, Original>;

bool reads_gradients(const AddRow& row) { return row.formula.find("grad.") != std::string::npos; }

// The error as one sentence: which tensor, where in the formula, and why.
Error placed(const std::string& tensor, std::string_view formula, const formulas::FormulaError& error) {
    if (error.at() == formulas::kNowhere)
        return Error("{tensor}: {why}", {{"tensor", tensor}, {"why", error.sentence()}});
    return Error("{tensor}, character {at} of its formula: {why}",
                 {{"tensor", tensor},
                  {"at", formulas::letters_in(formula.substr(0, error.at())) + 1},
                  {"why", error.sentence()}});
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
    return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

// ---- a step that computes another formula

std::vector<std::pair<std::string, StepId>> own_names(const Original& step) {
    std::vector<std::pair<std::string, StepId>> own;
    if (const auto by = ops::formula_of(step.operation))
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (!by->name_of(i).empty()) own.emplace_back(by->name_of(i), step.operands[i]);
    return own;
}

Written rewritten(const Plan& plan, const Step& step, const Original& original, const std::string& formula,
                  Numbers numbers) {
    if (step.is_source())
        throw Error("{tensor}: a weight or an input has no formula, expected a step that is computed",
                    {{"tensor", step.name}});
    if (const auto by = ops::formula_of(original.operation)) {
        OperandAxes in;
        for (const StepId operand : original.operands) in.push_back(plan[operand].axes);
        for (const auto& [name, value] : by->numbers_for(in, step.axes)) numbers[name] = value;
    }
    const Scope scope(plan, std::string(part_of(step.name)), step.id, own_names(original));
    Written written = read_formula(formula, std::string(name_in_part(step.name)), scope, numbers);
    Axes wanted = step.axes;
    const Axes& made = written.operation.shape;
    const bool fits =
        made.size() <= wanted.size() &&
        std::ranges::equal(made, std::span(wanted.begin(), made.size()), {}, &Axis::size, &Axis::size) &&
        std::all_of(wanted.begin() + made.size(), wanted.end(), [](const Axis& a) { return a.size == 1; });
    if (!fits)
        throw formulas::FormulaError(message("the formula makes {shape}, and the step is {wanted}",
                                             {{"shape", formulas::shape_text("", shape_of(made))},
                                              {"wanted", formulas::shape_text("", shape_of(wanted))}}),
                                     formulas::kNowhere);
    written.operation.shape = std::move(wanted);
    // What the step promised stays promised, and the checks say which promises the formula breaks. What others would
    // compute with is taken back.
    Traits& declared = written.operation.declared;
    declared = original.operation.traits();
    declared.deferred = declared.passes_through = declared.is_linear = declared.adds_heads = false;
    return written;
}

// ---- the run without the edits, as far as rows read it

class Unedited {
public:
    Unedited(Plan& plan, const Originals& originals) : plan_(plan), originals_(originals) {}

    StepId of(StepId id) {
        for (StepId next = differs_.size(); next <= id; ++next) differs_.push_back(is_other(next));
        return differs_[id] ? made(id) : id;
    }

private:
    [[nodiscard]] Original original(StepId id) const {
        const auto found = originals_.find(id);
        return found != originals_.end() ? found->second : Original{plan_[id].operation, plan_[id].operands};
    }
    [[nodiscard]] bool is_other(StepId id) const {
        return !plan_[id].patches.empty() || originals_.contains(id) ||
               std::ranges::any_of(plan_[id].operands, [&](StepId operand) { return differs_[operand]; });
    }

    StepId made(StepId id) {
        const std::string name = "base." + plan_[id].name;
        if (const Ref known = plan_.find(name)) return known->id;
        if (plan_[id].is_source())
            return plan_.step(name, ops::Given{plan_[id].source}, {}, plan_[id].meaning, Role::internal)->id;
        const Original as_it_was = original(id);
        std::vector<OperandRef> operands;
        for (const StepId operand : as_it_was.operands)
            operands.emplace_back(&plan_[differs_[operand] ? made(operand) : operand]);
        return plan_.step(name, as_it_was.operation, operands, plan_[id].meaning, Role::internal)->id;
    }

    Plan& plan_;
    const Originals& originals_;
    std::vector<bool> differs_;
};

// ---- rows

void check_name(const AddRow& row) {
    const auto tokens = formulas::tokens_of(row.name, [](std::string_view) { return false; });
    if (tokens.size() != 2 || tokens[0].kind != formulas::Kind::name)
        throw Error("“{name}” can't be a row's name, expected letters, digits and “_”", {{"name", row.name}});
}

Written row_at(const Plan& plan, const AddRow& row, const std::string& part, const Numbers& numbers) {
    return read_formula(row.formula, row.name, Scope(plan, part, plan.steps().size()), numbers);
}

void begin_own(Plan& plan, const std::string& part) {
    plan.end_block();
    plan.end_reading();
    plan.begin_stack(StackKind::decoder);
    for (const Step& step : plan.steps())
        if (!part.empty() && step.name.starts_with(part + ".") && !step.is_source()) {
            plan.begin_stack(step.stack);
            plan.begin_block(step.block, step.layer);
            break;
        }
    plan.begin_part(Part::own, Meaning::output);
}

void add_row(Plan& plan, const AddRow& row, const Originals& originals, const Numbers& numbers) {
    check_name(row);
    for (const std::string& part : places_of(plan, row)) {
        const std::string name = part.empty() ? row.name : part + "." + row.name;
        if (plan.find(name) != nullptr)
            throw Error("{name}: there is a tensor of this name already, expected another for the row",
                        {{"name", name}});
        try {
            Written written = row_at(plan, row, part, numbers);
            written.operation.declared.must_hold = row.must_hold;
            begin_own(plan, part);
            Unedited unedited(plan, originals);
            std::vector<OperandRef> operands;
            for (const Read& read : written.operands)
                operands.emplace_back(&plan[read.unedited ? unedited.of(read.step) : read.step]);
            const std::optional<Meaning> meaning =
                operands.empty() ? std::nullopt : std::optional(operands[0].step()->meaning);
            plan.step(name, std::move(written.operation), operands, meaning);
        } catch (const formulas::FormulaError& error) {
            throw placed(name, row.formula, error);
        }
    }
    plan.end_block();
}

// Whether a formula has this word.
bool names(std::string_view formula, std::string_view word) {
    const auto is_letter = [&](std::size_t at) {
        const unsigned char c = at < formula.size() ? static_cast<unsigned char>(formula[at]) : ' ';
        return c == '_' || c >= 0x80 || std::isalnum(c) != 0;
    };
    for (std::size_t at = formula.find(word); at != std::string_view::npos; at = formula.find(word, at + 1))
        if (!is_letter(at - 1) && !is_letter(at + word.size())) return true;
    return false;
}

// Targets and losses are no tensors of the plan unless they are asked for.
void add_targets(Plan& plan, const AddRow& row, const Beside& beside) {
    const std::string_view missing = beside.config == nullptr ? "" : missing_target(plan, row.formula);
    if (missing.empty() || missing == row.name) return;
    if (missing != "targets") {
        backward::add_loss(plan, beside.inputs);
        return;
    }
    plan.begin_part(Part::input, Meaning::output);
    plan.input("targets", backward::targets_of(beside.inputs));
}

// ---- all edits, each naming its number

template <class Change>
void for_each_edit(const std::vector<Edit>& edits, const Change& change) {
    for (std::size_t number = 0; number < edits.size(); ++number) {
        try {
            change(edits[number]);
        } catch (const Error& error) {
            throw Error("edit {number}: {why}", {{"number", number}, {"why", error.sentence()}});
        }
    }
}

Numbers numbers_beside(const Beside& beside) {
    return beside.config != nullptr ? config_numbers(*beside.config) : Numbers();
}

Numbers numbers_of(const std::vector<Edit>& edits, const Beside& beside) {
    const bool any = std::ranges::any_of(edits, [](const Edit& edit) {
        return std::holds_alternative<RewriteStep>(edit) || std::holds_alternative<AddRow>(edit);
    });
    return any ? numbers_beside(beside) : Numbers();
}

void rewrite(Plan& plan, const RewriteStep& edit, Originals& originals, const Numbers& numbers) {
    for (const std::string& name : places_of(plan, edit)) {
        const Step& step = *plan.find(name);
        const Original original = originals.try_emplace(step.id, Original{step.operation, step.operands}).first->second;
        try {
            Written written = rewritten(plan, step, original, edit.formula, numbers);
            std::vector<StepId> operands;
            for (const Read& read : written.operands) {
                if (read.unedited)
                    throw Error("{tensor}: a step can't read the run without the edits, expected that in a row only",
                                {{"tensor", name}});
                operands.push_back(read.step);
            }
            plan.replace(step.id, std::move(written.operation), std::move(operands));
        } catch (const formulas::FormulaError& error) {
            throw placed(name, edit.formula, error);
        }
    }
}

// A cell of a row can only be set once the row is there.
bool waits_for_row(const Plan& plan, const Edit& edit) {
    const auto* cell = std::get_if<SetCell>(&edit);
    return std::holds_alternative<AddRow>(edit) || (cell != nullptr && plan.find(cell->tensor) == nullptr);
}

}  // namespace

std::string_view missing_target(const Plan& plan, std::string_view formula) {
    for (const std::string_view name : {"loss_per_token", "loss", "targets"})
        if (names(formula, name) && plan.find(name) == nullptr) return name;
    return {};
}

std::vector<std::string> places_of(const Plan& plan, const RewriteStep& edit) {
    std::vector<std::string> names = matching(plan, edit.step, false);
    if (names.empty())
        throw Error(
            "{step}: this run has no such step, expected one such as blocks.0.attn.pattern or "
            "blocks.*.attn.pattern",
            {{"step", edit.step}});
    return names;
}

std::vector<std::string> places_of(const Plan& plan, const AddRow& edit) {
    if (edit.of.empty()) return {""};
    std::vector<std::string> names = matching(plan, edit.of, true);
    if (names.empty())
        throw Error("{part}: this model has no such part, expected one such as blocks.0.attn or blocks.*.attn",
                    {{"part", edit.of}});
    return names;
}

void apply_edits(Plan& plan, const std::vector<Edit>& edits, const Beside& beside) {
    const Numbers numbers = numbers_of(edits, beside);
    Originals originals;
    const bool has_rows =
        std::ranges::any_of(edits, [](const Edit& edit) { return std::holds_alternative<AddRow>(edit); });
    std::vector<bool> waits;
    for_each_edit(edits, [&](const Edit& edit) {
        waits.push_back(has_rows && waits_for_row(plan, edit));
        if (waits.back()) return;
        if (const auto* formula = std::get_if<RewriteStep>(&edit))
            rewrite(plan, *formula, originals, numbers);
        else
            patch_cells(plan, edit);
    });
    if (!has_rows) return;
    for_each_edit(edits, [&](const Edit& edit) {
        const auto* row = std::get_if<AddRow>(&edit);
        if (row == nullptr || reads_gradients(*row)) return;
        add_targets(plan, *row, beside);
        add_row(plan, *row, originals, numbers);
    });
    std::size_t number = 0;
    for_each_edit(edits, [&](const Edit& edit) {
        if (waits[number++] && std::holds_alternative<SetCell>(edit)) patch_cells(plan, edit);
    });
}

void add_rows_of_gradients(Plan& plan, const std::vector<Edit>& edits, const Beside& beside) {
    for_each_edit(edits, [&](const Edit& edit) {
        const auto* row = std::get_if<AddRow>(&edit);
        if (row == nullptr || !reads_gradients(*row)) return;
        if (!backward::backward_begins(plan))
            throw Error("{name} reads gradients, and this run has none: expected a target, the loss or a cell",
                        {{"name", row_name(*row)}});
        add_row(plan, *row, {}, numbers_of(edits, beside));
    });
}

Written tried(const Plan& plan, const RewriteStep& edit, const Beside& beside) {
    const Step& step = *plan.find(places_of(plan, edit).front());
    return rewritten(plan, step, {step.operation, step.operands}, edit.formula, numbers_beside(beside));
}

Written tried(const Plan& plan, const AddRow& edit, const Beside& beside) {
    check_name(edit);
    return row_at(plan, edit, places_of(plan, edit).front(), numbers_beside(beside));
}

AddRow row_of(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) throw Error("“{text}” is no row, expected NAME = FORMULA", {{"text", text}});
    const std::size_t indices = std::min(text.find('['), equals);
    const std::string name(trimmed(text.substr(0, indices)));
    AddRow row{.name = std::string(name_in_part(name)), .of = std::string(part_of(name))};
    row.formula = indices < equals ? row.name + std::string(text.substr(indices)) : trimmed(text.substr(equals + 1));
    return row;
}

}  // namespace decoderscope::sheet
