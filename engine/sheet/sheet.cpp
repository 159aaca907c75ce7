#include "engine/sheet/sheet.h"

#include "engine/backward/gradient.h"
#include "engine/base/error.h"
#include "engine/formulas/elaborate.h"
#include "engine/formulas/tokens.h"
#include "engine/ops/elementwise.h"

#include <algorithm>
#include <cctype>
#include <limits>
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

// ---- the run without the edits, or without rounding, as far as rows read it

// What a step is in another version of the run.
struct Version {
    Operation operation;
    std::vector<StepId> operands;
    Tensor source;
    std::vector<Patch> patches;
};
// Nothing: it is what it is here.
using VersionOf = std::function<std::optional<Version>(const Step& step)>;

class Rerun {
public:
    Rerun(Plan& plan, std::string_view prefix, VersionOf version)
        : plan_(plan), prefix_(prefix), version_(std::move(version)) {}

    StepId step(StepId id) {
        for (StepId next = differs_.size(); next <= id; ++next) differs_.push_back(is_other(next));
        return differs_[id] ? made(id) : id;
    }

private:
    [[nodiscard]] bool is_other(StepId id) const {
        return std::ranges::any_of(plan_[id].operands, [&](StepId operand) { return differs_[operand]; }) ||
               version_(plan_[id]);
    }

    StepId made(StepId id) {
        const std::string name = std::string(prefix_) + plan_[id].name;
        if (const Ref known = plan_.find(name)) return known->id;
        const Step& here = plan_[id];
        const std::optional<Version> other = version_(here);
        const Version version = other ? *other : Version{here.operation, here.operands, here.source, here.patches};
        std::vector<OperandRef> operands;
        for (const StepId operand : version.operands)
            operands.emplace_back(&plan_[differs_[operand] ? made(operand) : operand]);
        const Operation operation = here.is_source() ? Operation(ops::Given{version.source}) : version.operation;
        const StepId step = plan_.step(name, operation, operands, here.meaning, Role::internal)->id;
        for (const Patch& patch : version.patches) plan_.patch(step, patch);
        return step;
    }

    Plan& plan_;
    std::string_view prefix_;
    VersionOf version_;
    std::vector<bool> differs_;
};

VersionOf unedited(const Originals& originals) {
    return [&originals](const Step& step) -> std::optional<Version> {
        const auto found = originals.find(step.id);
        if (found != originals.end()) return Version{found->second.operation, found->second.operands, step.source, {}};
        if (step.patches.empty()) return std::nullopt;
        return Version{step.operation, step.operands, step.source, {}};
    };
}

// As it was given, before it was rounded.
Tensor exact_source(const Step& step, const Beside& beside) {
    if (step.name == "x") return beside.inputs.x;
    if (step.name == "memory") return beside.inputs.memory;
    if (step.role != Role::parameter || beside.weights == nullptr) return {};
    const auto found = beside.weights->find(step.name);
    return found == beside.weights->end() ? Tensor() : found->second;
}

VersionOf exact(Arithmetic arithmetic, const Beside& beside) {
    return [arithmetic, &beside](const Step& step) -> std::optional<Version> {
        if (arithmetic == Arithmetic::float32) return std::nullopt;
        const Tensor source = step.is_source() ? exact_source(step, beside) : Tensor();
        if (source.empty() && step.operation.arithmetic() == Arithmetic::float32) return std::nullopt;
        return Version{step.operation.rounding_to(Arithmetic::float32), step.operands,
                       source.empty() ? step.source : source.with_axes(step.axes), step.patches};
    };
}

// ---- the run that this one is compared with, as far as rows read it

constexpr std::string_view kOfOtherRun = "other.", kOfExactRun = "exact.";

// The step's tensor there; nullptr if it has none like it.
const Tensor* in_other(const Step& step, const OtherRun& other) {
    const Tensor* values = other ? other(step.name) : nullptr;
    const bool fits = values != nullptr && !values->empty() &&
                      std::ranges::equal(values->axes(), step.axes, {}, &Axis::size, &Axis::size);
    return fits ? values : nullptr;
}

void check_other(const Plan& plan, const Written& written, const OtherRun& other) {
    for (const Read& read : written.operands) {
        if (read.run != RunOf::other) continue;
        const Step& step = plan[read.step];
        if (!other)
            throw Error("other.{tensor}: there is no other run, expected one that is pinned, or a file, in Compare",
                        {{"tensor", step.name}});
        if (in_other(step, other) == nullptr)
            throw Error("other.{tensor}: the other run has no such tensor of shape {shape}",
                        {{"tensor", step.name}, {"shape", formulas::shape_text("", shape_of(step.axes))}});
    }
}

StepId other_step(Plan& plan, StepId id, const OtherRun& other) {
    const std::string name = std::string(kOfOtherRun) + plan[id].name;
    if (const Ref known = plan.find(name)) return known->id;
    const Tensor* there = in_other(plan[id], other);
    Tensor values = there != nullptr ? there->with_axes(plan[id].axes) : Tensor(plan[id].axes);
    if (there == nullptr) std::ranges::fill(values.writable(), std::numeric_limits<float>::quiet_NaN());
    return plan.step(name, ops::Given{std::move(values)}, {}, plan[id].meaning, Role::internal)->id;
}

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
        if (!part.empty() && name_in_formula(step.name).starts_with(part + ".") && !step.is_source()) {
            plan.begin_stack(step.stack);
            plan.begin_block(step.block, step.layer);
            break;
        }
    plan.begin_part(Part::own, Meaning::output);
}

// The step that has what is read, in whichever run.
StepId step_read(Plan& plan, const Read& read, Rerun& unedited, Rerun& exact, const OtherRun& other) {
    switch (read.run) {
        case RunOf::unedited:
            return unedited.step(read.step);
        case RunOf::exact:
            return exact.step(read.step);
        case RunOf::other:
            return other_step(plan, read.step, other);
        case RunOf::this_one:
            break;
    }
    return read.step;
}

void add_row(Plan& plan, const AddRow& row, const Originals& originals, const Numbers& numbers, const Beside& beside) {
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
            Rerun as_it_was(plan, "base.", unedited(originals)),
                unrounded(plan, kOfExactRun, exact(plan.arithmetic(), beside));
            std::vector<OperandRef> operands;
            for (const Read& read : written.operands)
                operands.emplace_back(&plan[step_read(plan, read, as_it_was, unrounded, beside.other)]);
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
                if (read.run != RunOf::this_one)
                    throw Error("{tensor}: a step can't read another run, expected that in a row only",
                                {{"tensor", name}});
                operands.push_back(read.step);
            }
            plan.replace(step.id, std::move(written.operation), std::move(operands));
        } catch (const formulas::FormulaError& error) {
            throw placed(name, edit.formula, error);
        }
    }
}

bool is_row_with(const Edit& edit, std::string_view words) {
    const auto* row = std::get_if<AddRow>(&edit);
    return row != nullptr && row->formula.find(words) != std::string::npos;
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

std::vector<std::string> missing_in_other(const Plan& plan, const OtherRun& other) {
    std::vector<std::string> missing;
    for (const Step& step : plan.steps()) {
        if (!step.name.starts_with(kOfOtherRun)) continue;
        const Ref here = plan.find(step.name.substr(kOfOtherRun.size()));
        if (here != nullptr && in_other(*here, other) == nullptr) missing.push_back(step.name);
    }
    return missing;
}

bool reads_gradients(const Edit& edit) { return is_row_with(edit, "grad."); }

bool reads_other_run(const Edit& edit) { return is_row_with(edit, kOfOtherRun); }

bool read_lens(const std::vector<Edit>& edits) {
    return std::ranges::any_of(edits, [](const Edit& edit) {
        const auto* row = std::get_if<AddRow>(&edit);
        return row != nullptr && (row->formula + " " + row->of).find("_lens.") != std::string::npos;
    });
}

bool reads_exact_run(const Edit& edit) { return is_row_with(edit, kOfExactRun); }

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
        if (row == nullptr || reads_gradients(edit)) return;
        add_targets(plan, *row, beside);
        add_row(plan, *row, originals, numbers, beside);
    });
    std::size_t number = 0;
    for_each_edit(edits, [&](const Edit& edit) {
        if (waits[number++] && std::holds_alternative<SetCell>(edit)) patch_cells(plan, edit);
    });
}

void add_rows_of_gradients(Plan& plan, const std::vector<Edit>& edits, const Beside& beside) {
    for_each_edit(edits, [&](const Edit& edit) {
        const auto* row = std::get_if<AddRow>(&edit);
        if (row == nullptr || !reads_gradients(edit)) return;
        if (!backward::backward_begins(plan))
            throw Error("{name} reads gradients, and this run has none: expected a target, the loss or a cell",
                        {{"name", row_name(*row)}});
        add_row(plan, *row, {}, numbers_of(edits, beside), beside);
    });
}

std::optional<PlacesAlong> places_in_values(const Plan& plan, const Step& step) {
    const auto by = ops::formula_of(step.operation);
    // Another formula may be one that its operands' axes don't fit, as a sum that repeats an update.
    if (!by || !by->written().main.body->is(formulas::Fold::argmax)) return std::nullopt;
    OperandAxes in;
    for (const StepId operand : step.operands) in.push_back(plan[operand].axes);
    const formulas::Formula formula = by->fitted(in, step.axes);
    const auto* largest = formula.main.body->as<formulas::Reduce>();
    if (largest == nullptr || largest->fold != formulas::Fold::argmax || !largest->dim) return std::nullopt;
    for (std::size_t i = 0; i < in.size(); ++i)
        for (std::size_t axis = 0; axis < in[i].size(); ++axis)
            if (largest->dim->axis == in[i][axis].name ||
                largest->dim->axis == std::string(by->name_of(i)) + "_" + std::string(in[i][axis].name))
                return PlacesAlong{step.operands[i], axis};
    return std::nullopt;
}

Written tried(const Plan& plan, const RewriteStep& edit, const Beside& beside) {
    const Step& step = *plan.find(places_of(plan, edit).front());
    return rewritten(plan, step, {step.operation, step.operands}, edit.formula, numbers_beside(beside));
}

Written tried(const Plan& plan, const AddRow& edit, const Beside& beside) {
    check_name(edit);
    Written written = row_at(plan, edit, places_of(plan, edit).front(), numbers_beside(beside));
    check_other(plan, written, beside.other);
    return written;
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
