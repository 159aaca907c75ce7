#pragma once

#include "app/core/heads/pattern_measures.h"
#include "app/core/session/scenario.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace decoderscope {

// The three kinds of attention that a decoder may have.
enum class AttentionKind { self, cross, encoder };
inline constexpr std::array kAttentionKinds = {AttentionKind::self, AttentionKind::cross, AttentionKind::encoder};

// The attentions of a kind, by layer: "blocks.0.attn", "blocks.1.attn", …; empty if the model has none of that kind.
[[nodiscard]] std::vector<std::string> attentions_of_kind(const Plan& plan, AttentionKind kind);
// The kind of an attention's steps.
[[nodiscard]] AttentionKind kind_of_attention(const Step& step);
// The same by the attention's name; self if the plan has no such attention.
[[nodiscard]] AttentionKind kind_of_attention(const Plan& plan, const std::string& attention);

// Which queries of an attention are padding, [query]: those whose position the input's attention mask leaves out. Empty
// if no mask was given.
[[nodiscard]] std::vector<std::uint8_t> padded_queries(const Inputs& inputs, AttentionKind kind, Index batch);

// One head of one layer, and the measures of its pattern in one batch row.
struct HeadScore {
    std::string attention;
    Index layer = 0, head = 0;
    Index keys = 0;
    PatternMeasures values{};

    [[nodiscard]] double value(PatternMeasure measure) const { return values[static_cast<std::size_t>(measure)]; }
};

// Every head of a kind, by layer and head.
[[nodiscard]] std::vector<HeadScore> head_scores(const Inputs& inputs, const Run& run, AttentionKind kind, Index batch);
// The same, given the scores of an earlier run in the same batch row: an attention whose pattern, mask and padding both
// runs share is not measured again.
[[nodiscard]] std::vector<HeadScore> head_scores(const Inputs& inputs, const Run& run, AttentionKind kind, Index batch,
                                                 const Run& earlier, std::span<const HeadScore> known);

enum class HeadOrder { by_layer, highest_first, lowest_first };

// The indices of the scores in this order. Heads without a number (NaN) come last; ties keep their order.
[[nodiscard]] std::vector<std::size_t> ordered(std::span<const HeadScore> scores, PatternMeasure measure,
                                               HeadOrder order);

// Which heads to show: from a threshold up, or down from it.
struct HeadFilter {
    double threshold = 0.0;  // in the measure's own unit
    bool at_most = false;    // up to the threshold instead of from it
};
// Whether a head passes. One without a number passes only a filter that lets all heads pass.
[[nodiscard]] bool passes(const HeadScore& score, PatternMeasure measure, const HeadFilter& filter);

}  // namespace decoderscope
