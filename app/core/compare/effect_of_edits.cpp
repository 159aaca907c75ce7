#include "app/core/compare/effect_of_edits.h"

#include "app/core/run/comparison.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/run/slice.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <tuple>

namespace decoderscope::core::diff {

std::vector<ValueChange> largest_changes(const Tensor& before, const Tensor& after, Index batch, Index position,
                                         std::size_t most) {
    const auto was = before.row({batch, position, 0}), is = after.row({batch, position, 0});  // [vocab] or [d_model]
    const auto moved = [&](std::size_t i) { return distance_between(was[i], is[i]); };
    std::vector<std::size_t> places(was.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::erase_if(places, [&](std::size_t i) { return moved(i) == 0.0; });
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        return moved(a) > moved(b);  // ∞ where only one is NaN
    });
    std::vector<ValueChange> changes;
    for (std::size_t i = 0; i < std::min(most, places.size()); ++i)
        changes.push_back({static_cast<Index>(places[i]), was[places[i]], is[places[i]]});
    return changes;
}

namespace {

// How many numbers a slice compares, and how many of a tensor are computed for a comparison alone.
constexpr Index kSlice = 1'000'000;

bool is_large_and_not_there(const Tensor& tensor) { return !tensor.is_ready() && tensor.size() > kSlice; }

// Whether no check can tell two numbers apart: 0 is −0, and of NaN and NaN nothing can be said.
bool same_number(float a, float b) { return a == b || distance_between(a, b) == 0.0; }

// Whether a number of two tensors of the same shape differs. `read` counts the numbers of this slice.
Resumable<bool> differ(std::span<const float> a, std::span<const float> b, Index& read) {
    const auto count = static_cast<Index>(a.size());
    for (Index from = 0; from < count; from += kSlice) {
        const Index some = std::min(kSlice, count - from);
        const auto part = [&](std::span<const float> of) {
            return of.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(some));
        };
        const auto bytes = static_cast<std::size_t>(some) * sizeof(float);
        const bool same_bits = std::memcmp(part(a).data(), part(b).data(), bytes) == 0;
        if (!same_bits && !std::ranges::equal(part(a), part(b), same_number)) co_return true;
        if ((read += some) < kSlice) continue;
        read = 0;
        co_yield kPause;
    }
    co_return false;
}

bool reads_changed(const Step& step, const Reach& reach) {
    return std::any_of(step.operands.begin(), step.operands.end(), [&](StepId id) { return reach.has(id); });
}

}  // namespace

Resumable<Reach> reach_of(std::shared_ptr<const Run> unedited, std::shared_ptr<const Run> run, Tensor attention_mask) {
    const Plan& plan = run->plan();
    Reach reach;
    Index read = 0;
    Reader read_then, read_now;  // what is computed on demand is not kept
    reach.changed.resize(plan.steps().size());
    std::set<std::string> recorded;
    for (const auto& [name, tensor] : recorded_tensors(*run)) recorded.insert(name);
    for (const Step& step : plan.steps()) {
        const Ref before = unedited->plan().find(step.name);
        const Tensor then = before != nullptr ? unedited->value(before->id) : Tensor(), now = run->value(step.id);
        bool changed = reads_changed(step, reach), stays_nan = false;
        const bool comparable = !then.empty() && !now.empty() && then.axes() == now.axes();
        if (comparable && then.shares_values_with(now))
            changed = false;
        else if (comparable && !is_large_and_not_there(then) && !is_large_and_not_there(now)) {
            const std::span<const float> values = read_now(now);
            changed = co_await differ(read_then(then), values, read);
            stays_nan = !changed && std::ranges::any_of(values, [](float value) { return std::isnan(value); });
        } else if (!step.patches.empty())
            changed = true;
        reach.changed[step.id] = changed ? 1 : 0;
        const bool counts = recorded.contains(step.name);
        reach.tensors += counts ? 1 : 0;
        reach.changed_tensors += counts && changed ? 1 : 0;
        reach.nan_tensors += counts && stays_nan ? 1 : 0;
        if (changed && !step.is_source() && !reach.first) reach.first = step.id;
    }
    reach.moves = co_await output_moves(unedited, run, attention_mask);
    co_return reach;
}

Value<Reach> shown_reach(Derived& derived, const Snapshot& shown) {
    if (shown.run == shown.unedited || !is_edited(shown.scenario)) return {};
    return derived.later<Reach>({shown.run, shown.unedited}, std::tuple<>(),
                                [&] { return reach_of(shown.unedited, shown.run, padding_of(shown.scenario)); });
}

Sentence reach_sentence(const Scenario& scenario, const Reach& reach) {
    if (!reach.first && reach.moves.stays_nan == 0)
        return message_n("{count} edit changes no number of this run.", "{count} edits change no number of this run.",
                         count_of_edits(scenario.edits));
    return against_unedited(scenario, moves_sentence(scenario, reach.moves, Mood::happened));
}

Sentence changed_tensors_sentence(const Run& run, const Reach& reach) {
    if (!reach.first) return {};
    const Sentence changed =
        message_n("{count} of {all} tensors changed, first {step}", "{count} of {all} tensors changed, first {step}",
                  reach.changed_tensors, {{"all", reach.tensors}, {"step", run.plan()[*reach.first].name}});
    if (reach.nan_tensors == 0) return changed;
    return message_n("{changed}; {count} more holds NaN before and after",
                     "{changed}; {count} more hold NaN before and after", reach.nan_tensors, {{"changed", changed}});
}

Value<OutputMoves> shown_output_moves(Derived& derived, const Scenario& scenario,
                                      const std::shared_ptr<const Run>& before,
                                      const std::shared_ptr<const Run>& after) {
    return derived.later<OutputMoves>({before, after}, std::tuple<>(),
                                      [&] { return output_moves(before, after, padding_of(scenario)); });
}

}  // namespace decoderscope::core::diff
