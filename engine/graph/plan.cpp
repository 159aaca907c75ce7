#include "engine/graph/plan.h"

#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace decoderscope {

namespace {

bool same_shape(const Axes& a, const Axes& b) { return std::ranges::equal(a, b, {}, &Axis::size, &Axis::size); }

void check_shape(const std::string& name, const Axes& found, const Axes& expected) {
    if (!same_shape(found, expected))
        throw Error("{name}: shape {shape}, expected {expected}",
                    {{"name", name}, {"shape", shape_text(found)}, {"expected", shape_text(expected)}});
}

}  // namespace

// What another step reads can't wait until it is asked for.
void compute_for(Role reader, Step& operand) {
    if (reader != Role::on_demand && operand.role == Role::on_demand) operand.role = Role::recorded;
}

bool is_over_keys(const Axes& axes) {
    return axes.size() == 4 && axes[2].name == axis::query && axes[3].name == axis::key;
}

Phrase title_of(Part part) {
    static constexpr auto titles = std::to_array<Phrase>(
        {message("Input"), message("Embedding"), message("Residual stream"), message("Norm"), message("Self-attention"),
         message("Cross-attention"), message("MLP"), message("Add"), message("Encoder output"), message("LM head"),
         message("Loss"), message("Logit lens"), message("Fitted lens"), message("Mine")});
    static_assert(titles.size() == kParts);
    return titles[static_cast<std::size_t>(part)];
}

bool Patch::touches(std::span<const Index> cell) const {
    for (std::size_t i = 0; i < where.size(); ++i)
        if (where[i] && *where[i] != cell[i]) return false;
    return true;
}

void Patch::apply(Tensor& tensor) const {
    // Axis by axis from the last: the offsets of the matching cells, so that a "*" costs no more than the cells it
    // matches.
    std::vector<Index> offsets = {0};
    for (std::size_t axis = 0; axis < where.size(); ++axis) {
        const Index size = tensor.dim(axis);
        std::vector<Index> deeper;
        for (const Index offset : offsets)
            for (Index i = where[axis].value_or(0); i < (where[axis] ? *where[axis] + 1 : size); ++i)
                deeper.push_back(offset * size + i);
        offsets = std::move(deeper);
    }
    const std::span<float> values = tensor.writable();
    for (const Index offset : offsets) {
        float& cell = values[static_cast<std::size_t>(offset)];
        cell = rounded(kind == Kind::set ? value : cell * value, stored_as);
    }
}

std::optional<StepId> Step::operand(OperandRole as) const {
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operation.role_of(i) == as) return operands[i];
    return std::nullopt;
}

std::vector<StepId> Step::operands_as(OperandRole as) const {
    std::vector<StepId> found;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operation.role_of(i) == as) found.push_back(operands[i]);
    return found;
}

std::optional<StepId> Step::main_operand() const {
    for (const OperandRole as : {OperandRole::stream, OperandRole::input, OperandRole::scores})
        if (const std::optional<StepId> found = operand(as)) return found;
    return std::nullopt;
}

Ref Plan::add(Step step) {
    step.id = steps_.size();
    step.stack = here_.stack;
    step.block = here_.block;
    step.layer = here_.layer;
    step.part = here_.part;
    step.title = here_.title;
    step.norm = here_.norm;
    step.lens = here_.lens;
    step.backward = here_.backward;
    if (step.role != Role::parameter) step.attention = here_.attention;
    step.is_pattern = makes_pattern(step.operation, step.part);
    if (!by_name_.emplace(step.name, step.id).second) throw std::logic_error("two steps are named " + step.name);
    steps_.push_back(std::move(step));
    return &steps_.back();
}

Ref Plan::parameter(const std::string& name, Axes axes, Init init) {
    if (const Ref known = find(name)) return known;
    declared_.push_back({name, axes, init, true});
    Step step{.name = name, .role = Role::parameter, .operation = Source{}, .axes = axes, .meaning = meaning_};
    if (weights_ != nullptr) {
        const auto found = weights_->find(name);
        if (found == weights_->end())
            throw Error("{name}: missing; expected a tensor of shape {shape}",
                        {{"name", name}, {"shape", shape_text(axes)}});
        check_shape(name, found->second.axes(), axes);
        step.operation = step.operation.rounding_to(arithmetic_);
        step.source = found->second.with_axes(std::move(axes)).stored_as(arithmetic_);
    }
    return add(std::move(step));
}

Ref Plan::optional_parameter(const std::string& name, Axes axes, Init init, bool initial) {
    if (weights_ != nullptr ? weights_->find(name) == weights_->end() : !initial) {
        declared_.push_back({name, std::move(axes), init, false, initial});
        return nullptr;
    }
    const Ref step = parameter(name, std::move(axes), init);
    declared_.back().required = false;
    return step;
}

void Plan::unread_parameter(const std::string& name, Axes axes, Init init) {
    if (weights_ != nullptr) {
        const auto found = weights_->find(name);
        if (found != weights_->end()) check_shape(name, found->second.axes(), axes);
    }
    declared_.push_back({name, std::move(axes), init, false});
}

Ref Plan::input(const std::string& name, const Tensor& values) {
    if (values.empty()) return nullptr;
    if (const Ref known = find(name)) return known;
    return add({.name = name,
                .role = Role::input,
                .operation = Source{},
                .axes = values.axes(),
                .meaning = meaning_,
                .source = values});
}

Ref Plan::step(std::string name, Operation operation, std::span<const OperandRef> operands,
               std::optional<Meaning> meaning, Role role) {
    Step step{.name = std::move(name),
              .role = role,
              .operation = std::move(operation),
              .meaning = meaning.value_or(meaning_)};
    OperandAxes operand_axes;
    for (const OperandRef& operand : operands) {
        if (operand.is_missing()) throw std::logic_error(step.name + " lacks an operand");
        if (operand.step() == nullptr) continue;
        step.operands.push_back(operand.step()->id);
        operand_axes.push_back(operand.step()->axes);
        compute_for(role, steps_[operand.step()->id]);
    }
    step.axes = step.operation.axes(operand_axes);
    if (!here_.backward && here_.part != Part::own) step.operation = step.operation.rounding_to(arithmetic_);
    if (is_over_keys(step.axes)) follow_scores(step);
    return add(std::move(step));
}

void Plan::replace(StepId id, Operation operation, std::vector<StepId> operands) {
    Step& step = steps_[id];
    OperandAxes operand_axes;
    for (const StepId operand : operands) {
        if (operand >= id) throw std::logic_error(step.name + " would read a step behind it");
        operand_axes.push_back(steps_[operand].axes);
        compute_for(step.role, steps_[operand]);
    }
    if (!same_shape(operation.axes(operand_axes), step.axes))
        throw std::logic_error(step.name + " would change its shape");
    step.operation = operation.rounding_to(step.operation.arithmetic());
    step.operands = std::move(operands);
    step.is_pattern = makes_pattern(step.operation, step.part);
}

bool Plan::makes_pattern(const Operation& operation, Part part) {
    return (part == Part::self_attention || part == Part::cross_attention) &&
           operation.traits().values == Values::weights;
}

// Records where masks act: from the step that fills one in, back to the scores it reads and forward to what is computed
// from it.
void Plan::follow_scores(Step& step) {
    const Traits traits = step.operation.traits();
    if (traits.values == Values::mask) {
        step.masked_by = steps_.size();
    } else if (traits.fill) {
        step.masked_by = step.operand(OperandRole::mask);
        mark_scores_before(*step.operand(OperandRole::scores), step.masked_by);
    } else {
        for (const StepId operand : step.operands)
            if (!step.masked_by && is_over_keys(steps_[operand].axes)) step.masked_by = steps_[operand].masked_by;
    }
    if (makes_pattern(step.operation, here_.part))
        for (const StepId operand : step.operands) mark_scores_before(operand, std::nullopt);
}

// Marks a step and what it is computed from as scores and, if a mask is given, as scores that it will act on.
void Plan::mark_scores_before(StepId id, std::optional<StepId> mask) {
    Step& step = steps_[id];
    const bool is_mask = step.masked_by == id;
    if (step.is_source() || is_mask || !is_over_keys(step.axes)) return;
    if (mask)
        step.mask_to_come = mask;
    else
        step.is_scores = true;
    for (const StepId operand : step.operands) mark_scores_before(operand, mask);
}

void Plan::begin_block(std::string block, Index layer) {
    here_.block = std::move(block);
    here_.layer = layer;
}

void Plan::begin_part(Part part, Meaning meaning, std::optional<Phrase> title) {
    here_.part = part;
    here_.title = title.value_or(title_of(part));
    here_.attention.clear();
    here_.norm.clear();
    meaning_ = meaning;
}

void Plan::begin_attention(std::string name, Part part) {
    begin_part(part, Meaning::attention);
    here_.attention = std::move(name);
}

void Plan::begin_norm(std::string name, std::optional<Phrase> title) {
    begin_part(Part::norm, Meaning::norm, title);
    here_.norm = std::move(name);
}

void Plan::name_steps(std::initializer_list<std::pair<AttentionStep, Ref>> steps) {
    for (const auto& [which, step] : steps) by_attention_[here_.attention][static_cast<std::size_t>(which)] = step;
}

void Plan::name_steps(std::initializer_list<std::pair<NormStep, Ref>> steps) {
    for (const auto& [which, step] : steps) by_norm_[here_.norm][static_cast<std::size_t>(which)] = step;
}

void Plan::name_gradient(StepId gradient, StepId of, bool whole) {
    steps_[gradient].gradient_wrt = of;
    if (whole) gradients_[of] = gradient;
}

Ref Plan::step_of(std::string_view attention, AttentionStep which) const {
    const auto found = by_attention_.find(attention);
    return found == by_attention_.end() ? nullptr : found->second[static_cast<std::size_t>(which)];
}

Ref Plan::step_of(std::string_view norm, NormStep which) const {
    const auto found = by_norm_.find(norm);
    return found == by_norm_.end() ? nullptr : found->second[static_cast<std::size_t>(which)];
}

Ref Plan::gradient_wrt(const Step& step) const {
    const auto found = gradients_.find(step.id);
    return found == gradients_.end() ? nullptr : &steps_[found->second];
}

Ref Plan::twin_in(const Step& step, Index layer) const {
    if (step.is_source() || step.block.empty() || layer < 0) return nullptr;
    const std::string stack = step.block.substr(0, step.block.rfind('.') + 1);  // "encoder.blocks."
    return find(stack + std::to_string(layer) + step.name.substr(step.block.size()));
}

std::vector<std::string> Plan::attentions() const {
    std::vector<std::string> found;
    for (const Step& step : steps_)
        if (!step.attention.empty() && std::ranges::find(found, step.attention) == found.end())
            found.push_back(step.attention);
    return found;
}

std::vector<std::string> Plan::blocks(StackKind stack) const {
    std::vector<std::string> found;
    for (const Step& step : steps_)
        if (step.stack == stack && !step.backward && !step.block.empty() &&
            (found.empty() || found.back() != step.block) && std::ranges::find(found, step.block) == found.end())
            found.push_back(step.block);
    return found;
}

std::string Plan::attention_in(std::string_view block) const {
    const auto found =
        std::ranges::find_if(steps_, [&](const Step& step) { return step.block == block && !step.attention.empty(); });
    return block.empty() || found == steps_.end() ? std::string() : found->attention;
}

Ref Plan::find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    return found == by_name_.end() ? nullptr : &steps_[found->second];
}

bool computed_alike(const Plan& a, const Step& of_a, const Plan& b, const Step& of_b) {
    return of_a.name == of_b.name && of_a.axes == of_b.axes && of_a.operation == of_b.operation &&
           std::ranges::equal(of_a.operands, of_b.operands, [&](StepId left, StepId right) {
               return a[left].name == b[right].name && a[left].axes == b[right].axes;
           });
}

Values values_of(const Plan& plan, const Step& step) {
    const Values values = step.operation.traits().values;
    const Ref first = values == Values::as_first ? plan.main_operand(step) : nullptr;
    return first == nullptr ? values : values_of(plan, *first);
}

std::vector<std::size_t> readers_of(const Plan& plan) {
    std::vector<std::size_t> readers(plan.steps().size());
    for (const Step& step : plan.steps())
        for (const StepId operand : step.operands) ++readers[operand];
    return readers;
}

OpDescription Source::about() const {
    return {tr("given"), tr("a weight or an input: read, not computed"),
            tr("Here the trail ends: this number was learned in training, drawn at random, or typed in by you.")};
}

Axes Source::axes(const OperandAxes&) const { return {}; }

Tensor Source::compute(const Operands&, const Axes&) const { throw std::logic_error("a source is never computed"); }

Explanation Source::explain(const Operands&, const Tensor& out, const Cell& cell) const {
    return {{line(tr("given"), {term({constant_factor(static_cast<double>(out.at(cell)), "")})})}};
}

NeededSteps needed_steps(const Plan& plan, const std::function<bool(const Step&)>& wanted) {
    // From the end: a step is needed if it is wanted or a needed one reads it; the first reader found is the last.
    std::vector<bool> needed(plan.steps().size());
    NeededSteps steps;
    for (StepId id = needed.size(); id-- > 0;) {
        needed[id] = needed[id] || wanted(plan[id]);
        if (!needed[id]) continue;
        steps.order.push_back(id);
        std::vector<StepId>& freed = steps.freed_after.emplace_back();
        for (const StepId operand : plan[id].operands) {
            if (!needed[operand] && !wanted(plan[operand])) freed.push_back(operand);
            needed[operand] = true;
        }
    }
    std::ranges::reverse(steps.order);
    std::ranges::reverse(steps.freed_after);
    return steps;
}

}  // namespace decoderscope
