#include "app/core/labs/heads/head_removal.h"

#include "app/core/run/output_moves.h"
#include "app/core/text/numbers.h"
#include "engine/graph/substitution.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace decoderscope::core::heads {

namespace {

// [batch, head, query, d_head] with zeros in one head.
Tensor without_head(Tensor z, Index head) {
    const Index size = z.dim(2) * z.dim(3);
    const std::span<float> values = z.writable();
    for (Index batch = 0; batch < z.dim(0); ++batch)
        std::ranges::fill(
            values.subspan(static_cast<std::size_t>((batch * z.dim(1) + head) * size), static_cast<std::size_t>(size)),
            0.0F);
    return z;
}

// Whether the head already adds nothing, because it is switched off.
bool is_off(const Tensor& z, Index head) {
    const Index size = z.dim(2) * z.dim(3);
    for (Index batch = 0; batch < z.dim(0); ++batch) {
        const auto first = static_cast<std::size_t>((batch * z.dim(1) + head) * size);
        const auto values = z.values().subspan(first, static_cast<std::size_t>(size));
        if (!std::ranges::all_of(values, [](float value) { return value == 0.0F; })) return false;
    }
    return true;
}

bool changes_less(const HeadRemoval& a, const HeadRemoval& b) {
    return std::tie(a.stays_nan, a.changed, a.lost, a.largest) < std::tie(b.stays_nan, b.changed, b.lost, b.largest);
}

}  // namespace

Resumable<HeadRemovals> measure_removals(std::shared_ptr<const Run> run, Tensor attention_mask) {
    HeadRemovals removals;
    const Plan& plan = run->plan();
    const Ref output = output_step(plan);
    if (output == nullptr || run->value(output->id).rank() != 3) co_return removals;
    removals.output = output->name;
    removals.predicts = predicts_tokens(*output);
    const Substitution substitution(*run, output->id);
    const Tensor before = run->value(output->id);
    for (const Step& step : plan.steps()) {
        if (plan.step_of(step.attention, AttentionStep::z) != &step || !substitution.depends_on(step.id)) continue;
        const Tensor z = run->value(step.id);
        for (Index head = 0; head < step.axes[1].size; ++head) {
            co_yield kPause;
            if (is_off(z, head)) {
                ++removals.off;
                continue;
            }
            const Tensor after = substitution.with(step.id, without_head(z, head));
            const OutputMoves moves = moves_of(before, after, attention_mask, removals.predicts);
            removals.positions = moves.positions;
            removals.heads.push_back({.attention = step.attention,
                                      .layer = step.layer,
                                      .head = head,
                                      .changed = static_cast<Index>(moves.changed.size()),
                                      .lost = moves.lost,
                                      .stays_nan = moves.stays_nan,
                                      .largest = moves.largest});
        }
    }
    std::ranges::stable_sort(removals.heads, changes_less);
    co_return removals;
}

Value<HeadRemovals> shown_removals(Derived& derived, const Snapshot& shown) {
    if (!shown.scenario.computes()) return {};
    return derived.later<HeadRemovals>(
        {shown.run}, std::tuple<>(), [&] { return measure_removals(shown.run, shown.scenario.inputs.attention_mask); });
}

namespace {

Sentence sentence_of_rest(const HeadRemovals& removals) {
    if (!removals.predicts)
        return message_n("{count} head, starting with the one that moves {output} least.",
                         "{count} heads, starting with the one that moves {output} least.", removals.heads.size(),
                         {{"output", removals.output}});
    const auto count = [&](const auto& counts) {
        return static_cast<std::size_t>(std::ranges::count_if(removals.heads, counts));
    };
    const std::size_t safe = count([](const HeadRemoval& head) { return head.changed == 0 && head.stays_nan == 0; });
    if (const std::size_t unknown = count([](const HeadRemoval& head) { return head.stays_nan > 0; }); unknown > 0)
        return message_n("Without any one of {count} head, {output} still has NaN, which can't be compared.",
                         "Without any one of {count} heads, {output} still has NaN, which can't be compared.", unknown,
                         {{"output", removals.output}});
    return message_n("{safe} of {count} head can be removed without changing a prediction.",
                     "{safe} of {count} heads can each be removed without changing a prediction.",
                     removals.heads.size(), {{"safe", safe}});
}

}  // namespace

Sentence removals_sentence(const HeadRemovals& removals) {
    if (removals.heads.empty()) return {};
    const Sentence rest = sentence_of_rest(removals);
    if (removals.off == 0) return rest;
    return message("{rest} {off}",
                   {{"rest", rest},
                    {"off", message_n("{count} more is off already.", "{count} more are off already.", removals.off)}});
}

Sentence removal_sentence(const HeadRemovals& removals, const HeadRemoval& removal) {
    const Arguments arguments = {{"changed", removal.changed},
                                 {"all", removals.positions},
                                 {"output", removals.output},
                                 {"largest", short_number_text(removal.largest, 3)}};
    if (removal.stays_nan > 0)
        return message_n("{output}: still NaN at {count} of {all} positions",
                         "{output}: still NaN at {count} of {all} positions", removal.stays_nan, arguments);
    if (!removals.predicts) return message("{output} would move by at most {largest}", arguments);
    return message_n(
        "the prediction would change at {changed} of {all} position; {output} would move by at most {largest}",
        "the prediction would change at {changed} of {all} positions; {output} would move by at most {largest}",
        removals.positions, arguments);
}

Sentence listed_sentence(const HeadRemovals& removals, std::size_t listed) {
    const std::size_t all = removals.heads.size();
    if (all < 2) return {};
    if (listed >= all) return message("The one that changes least comes first:");
    return message_n("The {count} of {all} that changes least:", "The {count} of {all} that change least, least first:",
                     listed, {{"all", all}});
}

}  // namespace decoderscope::core::heads
