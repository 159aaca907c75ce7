#include "app/core/run/cursor.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::core {

Cursor opening_cursor(const Scenario& scenario, const Plan& plan) {
    const load::LookAt look_at = scenario.look_at();
    if (plan.find(look_at.step) != nullptr) return {look_at.step, {.head = look_at.head}, {}};
    const std::vector<std::string> blocks = plan.blocks(StackKind::decoder);
    const std::string first = blocks.empty() ? std::string() : plan.attention_in(blocks.front());
    for (const AttentionStep which : {AttentionStep::pattern, AttentionStep::z})
        if (const Ref step = plan.step_of(first, which)) return {step->name, {}, {}};
    // A recording has names of its own: take its first pattern.
    const auto pattern = std::ranges::find_if(plan.steps(), &Step::is_pattern);
    if (pattern != plan.steps().end()) return {pattern->name, {}, {}};
    const auto computed =
        std::find_if(plan.steps().begin(), plan.steps().end(), [](const Step& step) { return !step.is_source(); });
    return {computed->name, {}, {}};
}

std::string attention_beside(const Plan& plan, const Step& step, const std::string& before) {
    const auto has_heads = [&](const std::string& name) {
        return plan.step_of(name, AttentionStep::pattern) != nullptr ||
               plan.step_of(name, AttentionStep::mask) != nullptr;
    };
    if (has_heads(step.attention)) return step.attention;
    const std::string beside = plan.attention_in(step.block);
    const auto is_in_block = [&](const Step& one) { return one.attention == before && one.block == step.block; };
    const bool stays = !has_heads(beside) || std::ranges::any_of(plan.steps(), is_in_block);
    if (stays && has_heads(before)) return before;
    if (has_heads(beside)) return beside;
    const std::vector<std::string> blocks = plan.blocks(StackKind::decoder);
    return blocks.empty() ? std::string() : plan.attention_in(blocks.front());
}

void keep_attention(const Plan& plan, Cursor& cursor) {
    const Step& step = *plan.find(cursor.step);
    cursor.attention = attention_beside(plan, step, cursor.attention);
    if (cursor.attention == attention_beside(plan, step, {})) cursor.attention.clear();
}

namespace {

// The batch axis, unless all rows of the batch share the step.
std::optional<std::size_t> batch_axis(const Step& step) {
    for (std::size_t i = 0; i < step.axes.size(); ++i)
        if (step.axes[i].name == axis::batch && step.axes[i].size > 1) return i;
    return std::nullopt;
}

// Moves a cell along an axis to the largest finite number.
void go_to_largest(const Tensor& values, Cell& cell, std::size_t along) {
    Index best = 0;
    float largest = 0.0F;
    bool found = false;
    for (cell[along] = 0; cell[along] < values.dim(along); ++cell[along]) {
        const float value = values.at(cell);
        if (!std::isfinite(value) || (found && value <= largest)) continue;
        found = true;
        largest = value;
        best = cell[along];
    }
    cell[along] = best;
}

}  // namespace

std::optional<std::size_t> axis_over(const Step& step, TokenSequence sequence) {
    const std::size_t rank = step.axes.size();
    for (std::size_t i = rank > 2 ? rank - 2 : 0; i < rank; ++i)
        if (sequence_along(step, i) == sequence) return i;
    return std::nullopt;
}

std::optional<Cell> cell_at_position(const Run& run, const Step& step, const TokenPosition& at, Place place,
                                     const std::optional<Cell>& selected, Index query_heads) {
    const std::optional<std::size_t> along = axis_over(step, at.sequence);
    const Tensor& values = run.value(step.id);
    if (!along || values.empty() || at.position < 0 || at.position >= values.dim(*along)) return std::nullopt;
    const bool keeps = selected && values.contains(*selected);
    Cell cell = keeps ? *selected : slice_of(step, place, query_heads).cell(0, 0);
    if (const std::optional<std::size_t> batch = batch_axis(step)) cell[*batch] = at.batch;
    cell[*along] = at.position;
    if (!values.contains(cell)) return std::nullopt;
    const std::size_t rank = step.axes.size();
    if (!keeps && rank > 1) go_to_largest(values, cell, *along == rank - 1 ? rank - 2 : rank - 1);
    return cell;
}

std::optional<Index> position_of(const Step& step, const Cell& cell, TokenSequence sequence, Index batch) {
    const std::optional<std::size_t> along = axis_over(step, sequence);
    if (!along || cell.size() != step.axes.size()) return std::nullopt;
    const std::optional<std::size_t> in_batch = batch_axis(step);
    if (in_batch && cell[*in_batch] != batch) return std::nullopt;
    return cell[*along];
}

}  // namespace decoderscope::core
