#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/scenario.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/tensor/tensor.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core::heads {

// One head's attention pattern in one batch row. Plain spans; the tensors that they refer to are kept alive elsewhere.
struct Pattern {
    Index queries = 0, keys = 0;
    std::span<const float> weights;         // [query, key], each row a softmax
    std::span<const Index> seen;            // [query], how many keys the mask lets through; empty if it lets all
    std::span<const std::uint8_t> padding;  // [query], 1 = the query is padding; empty if none is
    Index kept = 0;                         // keys of positions before the first query's, which a KV cache has kept
};

// The measures of a pattern. Each is a mean over the query rows that count: padding rows don't, nor do rows with a NaN
// (nothing left to attend to).
enum class PatternMeasure {
    entropy,   // −Σ w·log2 w, in bits: 0 = all weight on one key, log2 n = even over n keys
    spread,    // entropy / log2(keys that the mask lets through), 1 = even; rows that see fewer than two keys are left
               // out
    largest,   // the largest weight of the row
    previous,  // the weight on the previous token, key = query − 1; the first row has none and is left out
    first,     // the weight on the first token, key = 0
    diagonal,  // the weight on the token itself, key = query; rows beyond the last key are left out
};
inline constexpr std::array kPatternMeasures = {PatternMeasure::entropy, PatternMeasure::spread,
                                                PatternMeasure::largest, PatternMeasure::previous,
                                                PatternMeasure::first,   PatternMeasure::diagonal};

// A value for each measure, in the order of kPatternMeasures; NaN if no row counts.
using PatternMeasures = std::array<double, kPatternMeasures.size()>;

// The mean of one measure over the rows that count; NaN if none does.
[[nodiscard]] double measured(const Pattern& pattern, PatternMeasure measure);
// All measures.
[[nodiscard]] PatternMeasures measured(const Pattern& pattern);

// The largest possible value of a measure over this many keys: log2(keys) bits for the entropy, otherwise 1.
[[nodiscard]] double highest_possible(PatternMeasure measure, Index keys);

// "Entropy", "Previous", …: the label of a button.
[[nodiscard]] std::string_view measure_name(PatternMeasure measure);
// "bits"; empty for shares between 0 and 1.
[[nodiscard]] std::string_view measure_unit(PatternMeasure measure);
// One sentence for display: what the measure says about a head.
[[nodiscard]] std::string_view measure_sentence(PatternMeasure measure);

// The three kinds of attention that a decoder may have.
enum class AttentionKind { self, cross, encoder };
inline constexpr std::array kAttentionKinds = {AttentionKind::self, AttentionKind::cross, AttentionKind::encoder};

// The attentions of a kind, by layer: "blocks.0.attn", "blocks.1.attn", …; empty if the model has none of that kind.
[[nodiscard]] std::vector<std::string> attentions_of_kind(const Plan& plan, AttentionKind kind);
// The kind of an attention's steps.
[[nodiscard]] AttentionKind kind_of_attention(const Step& step);
// As above, by the attention's name; self if the plan has no such attention.
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
    float highest = 0.0F;  // the largest finite weight of all rows, the sink's too

    [[nodiscard]] double value(PatternMeasure measure) const { return values[static_cast<std::size_t>(measure)]; }
};

// What a head does most of the time: the largest of its weights on the token before, on the first one and on the token
// itself, if it is over 0.3. Nothing if it does none of these, or spreads its weight over all keys nearly evenly.
struct Habit {
    std::optional<PatternMeasure> measure;
    std::string_view words;  // "the token before", "the first token", "the token itself", "all alike", "mixed"
};
[[nodiscard]] Habit habit_of(const HeadScore& score);

// Patterns with more weights than this are measured in the background: within a frame it would take too long.
inline constexpr Index kMeasuredAtOnce = 2'000'000;

// Every head of a kind, by layer and head. Given the scores of an earlier run in the same batch row, an attention whose
// pattern, mask and padding both runs share is not measured again. Pauses between rows of patterns with many weights;
// those that aren't kept are never whole in memory.
[[nodiscard]] Resumable<std::vector<HeadScore>> head_scores(Inputs inputs, std::shared_ptr<const Run> run,
                                                            AttentionKind kind, Index batch,
                                                            std::shared_ptr<const Run> earlier = {},
                                                            std::vector<HeadScore> known = {});

enum class HeadOrder { by_layer, highest_first, lowest_first };

// The indices of the scores in this order. Heads without a number (NaN) come last; ties keep their order.
[[nodiscard]] std::vector<std::size_t> ordered(std::span<const HeadScore> scores, PatternMeasure measure,
                                               HeadOrder order);

// Which heads to show: from a threshold up, or down from it.
struct HeadFilter {
    double threshold = 0.0;  // in the measure's own unit
    bool at_most = false;    // up to the threshold instead of from it
};
// Whether a head passes. A head without a number passes only a filter that lets all heads pass.
[[nodiscard]] bool passes(const HeadScore& score, PatternMeasure measure, const HeadFilter& filter);

}  // namespace decoderscope::core::heads
