#include "app/core/heads/head_scores.h"

#include "app/core/masks/mask_rows.h"
#include "engine/parallel.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace decoderscope {

namespace {

// Whether a step holds the weights that a softmax gives to keys, before dropout.
bool is_pattern(const Step& step) {
    return !step.attention.empty() && step.masked_by && step.operation.traits().values == Values::weights;
}

// One head of a tensor [batch, head, query, key].
std::span<const float> head_of(const Tensor& tensor, Index batch, Index head) {
    if (tensor.empty()) return {};
    const Index size = tensor.dim(2) * tensor.dim(3);
    return tensor.values().subspan(static_cast<std::size_t>((batch * tensor.dim(1) + head) * size),
                                   static_cast<std::size_t>(size));
}

// How many keys each query of a head sees.
std::vector<Index> seen_keys(const Tensor& mask, Index batch, Index head) {
    MaskRows rows(mask);
    std::vector<Index> seen;
    for (Index query = 0; query < mask.dim(2); ++query)
        seen.push_back(std::ranges::count_if(rows.row(batch, head, query), [](float kept) { return kept != 0.0F; }));
    return seen;
}

constexpr Index kCost = 20;  // of one weight, in multiply-adds

}  // namespace

std::vector<std::string> attentions_of_kind(const Plan& plan, AttentionKind kind) {
    std::vector<std::string> names;
    for (const Step& step : plan.steps())
        if (is_pattern(step) && kind_of_attention(step) == kind) names.push_back(step.attention);
    return names;
}

AttentionKind kind_of_attention(const Step& step) {
    if (step.in_encoder()) return AttentionKind::encoder;
    return step.part == Part::cross_attention ? AttentionKind::cross : AttentionKind::self;
}

AttentionKind kind_of_attention(const Plan& plan, const std::string& attention) {
    const Ref pattern = plan.find(attention + ".pattern");
    return pattern == nullptr ? AttentionKind::self : kind_of_attention(*pattern);
}

std::vector<std::uint8_t> padded_queries(const Inputs& inputs, AttentionKind kind, Index batch) {
    const Tensor& mask = kind == AttentionKind::encoder ? inputs.encoder_attention_mask : inputs.attention_mask;
    if (mask.empty()) return {};
    std::vector<std::uint8_t> padding;
    for (Index query = 0; query < mask.dim(1); ++query) {
        const std::array cell = {batch, query};
        padding.push_back(mask.at(cell) == 0.0F ? 1 : 0);
    }
    return padding;
}

std::vector<HeadScore> head_scores(const Inputs& inputs, const Run& run, AttentionKind kind, Index batch) {
    return head_scores(inputs, run, kind, batch, Run(run.shared_plan()), {});
}

std::vector<HeadScore> head_scores(const Inputs& inputs, const Run& run, AttentionKind kind, Index batch,
                                   const Run& earlier, std::span<const HeadScore> known) {
    const std::vector<std::uint8_t> padding = padded_queries(inputs, kind, batch);
    const auto shared = [&](const std::string& name) {
        return run.value(name).shares_values_with(earlier.value(name));
    };
    const bool same_padding = shared("attention_mask") && shared("encoder_attention_mask");
    std::vector<HeadScore> scores;
    for (const std::string& attention : attentions_of_kind(run.plan(), kind)) {
        if (same_padding && shared(attention + ".pattern") && shared(attention + ".mask")) {
            std::copy_if(known.begin(), known.end(), std::back_inserter(scores),
                         [&](const HeadScore& score) { return score.attention == attention; });
            continue;
        }
        const Tensor& pattern = run.value(attention + ".pattern");
        const Tensor& mask = run.value(attention + ".mask");
        const Index layer = run.plan().find(attention + ".pattern")->layer;
        const auto first = scores.size();
        scores.resize(first + static_cast<std::size_t>(pattern.dim(1)));
        each_in_parallel(pattern.dim(1), pattern.dim(2) * pattern.dim(3) * kCost, [&](Index head) {
            const std::vector<Index> seen =
                mask.axes() == pattern.axes() ? seen_keys(mask, batch, head) : std::vector<Index>();
            scores[first + static_cast<std::size_t>(head)] = {
                attention, layer, head, pattern.dim(3),
                measured({pattern.dim(2), pattern.dim(3), head_of(pattern, batch, head), seen, padding})};
        });
    }
    return scores;
}

std::vector<std::size_t> ordered(std::span<const HeadScore> scores, PatternMeasure measure, HeadOrder order) {
    std::vector<std::size_t> places(scores.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (order == HeadOrder::by_layer) return places;
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        const double first = scores[a].value(measure), second = scores[b].value(measure);
        if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
        return order == HeadOrder::highest_first ? first > second : first < second;
    });
    return places;
}

bool passes(const HeadScore& score, PatternMeasure measure, const HeadFilter& filter) {
    const double value = score.value(measure);
    if (filter.at_most)
        return !(value > filter.threshold) &&
               (!std::isnan(value) || filter.threshold >= highest_possible(measure, score.keys));
    return value >= filter.threshold || (std::isnan(value) && filter.threshold <= 0.0);
}

}  // namespace decoderscope
