#include "app/core/tabs/heads/shown_heads.h"

#include "app/core/run/passes_of_text.h"
#include "app/core/run/step_picture.h"
#include "app/core/tabs/step/tiles.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace decoderscope::core::heads {

namespace {

Resumable<MeasuredHeads> measure(std::shared_ptr<const Run> run, AttentionKind kind, Index batch, Inputs inputs,
                                 Value<MeasuredHeads> known) {
    MeasuredHeads made;
    made.run = run;
    std::shared_ptr<const Run> earlier;
    std::vector<HeadScore> before;
    if (known) {
        earlier = known->run;
        before = known->scores;
    }
    made.scores = co_await head_scores(std::move(inputs), run, kind, batch, std::move(earlier), std::move(before));
    float highest = 0.0F;
    for (const HeadScore& score : made.scores) highest = std::max(highest, score.highest);
    if (highest > 0.0F) made.weights.high = highest;
    co_return made;
}

// All rows of one head's pattern, which `made` is given in order: some at a time, in the background if they are many.
template <class Made>
Resumable<decltype(std::declval<Made>().found())> from_rows(std::shared_ptr<const Run> run, StepId id, Slice slice,
                                                            Made made) {
    constexpr Index kAtOnce = 64;
    for (Index row = 0; row < slice.rows(); row += kAtOnce) {
        if (slice.rows() * slice.columns() > kMeasuredAtOnce) co_yield kPause;
        step::read_rows(*run, run->plan()[id], slice, row, std::min(kAtOnce, slice.rows() - row),
                        [&](std::span<const float> weights) { made.add(weights); });
    }
    co_return made.found();
}

struct ReadKey {
    Index key;
    WeightsOnKey on_key;

    void add(std::span<const float> weights) { on_key.weights.push_back(weights[static_cast<std::size_t>(key)]); }
    [[nodiscard]] WeightsOnKey found() const { return on_key; }
};

std::shared_ptr<const Run> run_of(const Snapshot& shown, const Step& step) {
    return &shown.run_of(step) == shown.early.get() ? shown.early : shown.run;
}

}  // namespace

Value<MeasuredHeads> measured_heads(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& run,
                                    AttentionKind kind, Index batch) {
    const auto key = std::tie(kind, batch);
    return derived.later<MeasuredHeads>({run}, key, [&] {
        return measure(run, kind, batch, inputs_of_shown(scenario), derived.latest<MeasuredHeads>(key));
    });
}

Value<PatternLines> shown_pattern_lines(Derived& derived, const Snapshot& shown, const Step& pattern, Place place) {
    return derived.later<PatternLines>({shown.run, shown.unedited, shown.early}, std::tie(pattern.id, place), [&] {
        const auto run = run_of(shown, pattern);
        const Slice slice = slice_of(pattern, place, shown.scenario.query_heads());
        return from_rows(run, pattern.id, slice, FoundLines(slice.rows(), picture_columns(*run, pattern, slice)));
    });
}

Value<WeightsOnKey> shown_weights_on(Derived& derived, const Snapshot& shown, const Step& pattern, Place place,
                                     Index key) {
    return derived.later<WeightsOnKey>({shown.run, shown.unedited, shown.early}, std::tie(pattern.id, place, key), [&] {
        return from_rows(run_of(shown, pattern), pattern.id, slice_of(pattern, place, shown.scenario.query_heads()),
                         ReadKey{key, {}});
    });
}

std::vector<bool> labels_with_room(const std::vector<float>& at, const std::vector<float>& weights, float distance) {
    std::vector<std::size_t> order(at.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    std::vector<bool> shown(at.size(), false);
    for (const std::size_t i : order) {
        const auto free = [&](std::ptrdiff_t step) {
            for (auto j = static_cast<std::ptrdiff_t>(i) + step; j >= 0 && j < static_cast<std::ptrdiff_t>(at.size());
                 j += step) {
                const auto k = static_cast<std::size_t>(j);
                if (std::abs(at[k] - at[i]) >= distance) return true;
                if (shown[k]) return false;
            }
            return true;
        };
        shown[i] = free(-1) && free(1);
    }
    return shown;
}

std::optional<StrongestWeight> strongest_weight(const Inputs& inputs, const Run& run, const std::string& attention,
                                                Index batch) {
    const Ref step = run.plan().step_of(attention, AttentionStep::pattern);
    if (step == nullptr) return std::nullopt;
    const Tensor& pattern = run.value(step->id);  // [batch, head, query, key]
    const Tensor& mask = run.value(attention, AttentionStep::mask);
    if (pattern.rank() != 4 || mask.rank() != 4 || batch >= pattern.dim(0)) return std::nullopt;
    if (pattern.by_rows() != nullptr) return std::nullopt;  // to look for it would be to compute all of it
    MaskRows masks(mask);
    const std::vector<std::uint8_t> padding =
        padded_queries(inputs, kind_of_attention(run.plan(), attention), batch);  // [query]
    std::optional<StrongestWeight> best;
    for (Index head = 0; head < pattern.dim(1); ++head) {
        for (Index query = 0; query < pattern.dim(2); ++query) {
            if (!padding.empty() && padding[static_cast<std::size_t>(query)] != 0) continue;
            const Cell first = {batch, head, query, 0};
            const std::span<const float> weights = pattern.row(first), kept = masks.row(batch, head, query);
            const bool has_choice = std::ranges::count_if(kept, [](float m) { return m != 0.0F; }) > 1;
            const bool is_number = std::ranges::none_of(weights, [](float w) { return std::isnan(w); });
            if (!has_choice || !is_number) continue;
            const auto largest = std::ranges::max_element(weights);
            if (best && *largest <= best->weight) continue;
            best = {step->name, {batch, head, query, static_cast<Index>(largest - weights.begin())}, *largest};
        }
    }
    return best;
}

Value<ShownStrongestWeight> shown_strongest_weight(Derived& derived, const Snapshot& shown,
                                                   const std::string& attention, Index batch) {
    return derived.get<ShownStrongestWeight>({shown.run}, std::tie(attention, batch), [&] {
        return ShownStrongestWeight{strongest_weight(inputs_of_shown(shown.scenario), *shown.run, attention, batch)};
    });
}

}  // namespace decoderscope::core::heads
