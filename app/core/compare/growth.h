#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/exhibit.h"
#include "app/core/jobs/progress.h"
#include "app/core/jobs/resumable.h"
#include "app/core/train/training_board.h"
#include "engine/base/message.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/model.h"
#include "engine/model/config.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace decoderscope::core::norms {

// What happens to gradients in the backward pass through a stack before any training, by norm placement: figure 3
// of Xiong et al. 2020 (On Layer Normalization in the Transformer Architecture). What is measured is the norm of the
// expected gradient of the MLP's second matrix W2 (down_proj): the mean over a mini-batch first, then the Frobenius
// norm.

// Which stacks are measured.
struct GrowthChoice {
    Index layers = 6, d_model = 64, seeds = 5;
    bool encoder = true, xavier = true;
    bool operator==(const GrowthChoice&) const = default;
};

// A stack's norm placement, or how its sums are scaled instead.
enum class StackScheme {
    pre,
    post,
    peri,
    reordered,
    deepnorm,  // Post-Norm with α·x + f(x), and v_proj, o_proj and the MLP initialised smaller by β (Wang et al. 2022)
};
[[nodiscard]] std::span<const StackScheme> stack_schemes();
[[nodiscard]] Phrase title_of(StackScheme scheme);

// The stacks to be measured. Each reverses words of 1 to `longest` random letters: with an encoder as `reverse` does,
// without one as <bos>word<eos>answer.
struct GrowthSetting {
    Index d_model = 64, nhead = 4, dim_feedforward = 256;
    bool encoder = true;
    decoder::Initialisation initialisation = decoder::Initialisation::xavier;
    Index seeds = 5;  // of weights and words: 0, 1, …
    Index rows = 32;  // words in a batch
    Index longest = 16;
    bool operator==(const GrowthSetting&) const = default;
};

// The configuration of one of them; `layers` of the decoder, and of the encoder if there is one. Pre-Norm, Peri-Norm
// and reordered have a final norm. DeepNorm's α is the decoder's, for the encoder as well.
[[nodiscard]] Config growth_config(const GrowthSetting& setting, StackScheme scheme, Index layers);
// A training of one of them, of whose first step the gradients are measured.
[[nodiscard]] train::Recipe growth_recipe(const GrowthSetting& setting, StackScheme scheme, Index layers,
                                          std::uint64_t seed);

// A number over the seeds.
struct Spread {
    double mean = 0.0, least = 0.0, most = 0.0;
    bool operator==(const Spread&) const = default;
};

// The gradients of one stack.
struct StackGradients {
    std::vector<Spread> by_layer;  // ‖∂loss/∂W2‖, from the first layer to the last; empty if there is no such stack
    Spread last_over_first;
};

struct GradientGrowth {
    StackScheme scheme = StackScheme::pre;
    Index layers = 0;
    StackGradients decoder, encoder;
};

// Measures each scheme at each depth (in this order: all depths of the first scheme, then the next). Counts the passes
// that are done. If it is stopped, what is complete is returned.
[[nodiscard]] Resumable<std::vector<GradientGrowth>> gradient_growth(std::vector<StackScheme> schemes,
                                                                     std::vector<Index> depths, GrowthSetting setting,
                                                                     std::stop_token stop,
                                                                     std::atomic<std::size_t>* done = nullptr);

// What a person's choice measures. Throws Error if no stack has these sizes.
[[nodiscard]] GrowthSetting growth_setting(const GrowthChoice& choice);
// The depths that are measured for the curve by depth, up to the chosen one: 1, 2, 4, 6, 8, 12, 18, ….
[[nodiscard]] std::vector<Index> growth_depths(Index deepest);

// Every scheme at the chosen depth; or at each of growth_depths(), all depths of the first scheme, then the next.
enum class Depths { chosen, each };
struct MeasuredGrowth {
    static constexpr std::size_t kKept = 12;
    std::vector<GradientGrowth> schemes;
};
// Empty until they are measured; dropped when a frame no longer asks. They depend on nothing but the choice; `of` only
// says how long they are kept.
[[nodiscard]] Value<MeasuredGrowth> measured_growth(Derived& derived, const std::shared_ptr<const load::Model>& of,
                                                    const GrowthChoice& choice, Depths depths,
                                                    const SharedProgress& progress);

// A scheme's colour in all charts.
[[nodiscard]] Meaning meaning_of(StackScheme scheme);
// What the charts have beside the mean over the seeds: the least and the most of them, faintly.
enum class SpreadShown { no, yes };
// ‖∂loss/∂W2‖ from the first layer to the last, in charts "decoder" and, if there is one, "encoder".
[[nodiscard]] std::vector<Chart> growth_by_layer(std::span<const GradientGrowth> schemes, const GrowthChoice& choice,
                                                 SpreadShown spread);
// The last decoder layer's gradient, by the number of layers.
[[nodiscard]] Chart growth_by_depth(std::span<const GradientGrowth> schemes, const GrowthChoice& choice);

// What the numbers show, in a sentence; and what has to be known to read them.
[[nodiscard]] Sentence growth_sentence(std::span<const GradientGrowth> schemes, const GrowthChoice& choice);
[[nodiscard]] Sentence growth_caveat(const GrowthChoice& choice);
// The objections to reading too much into these gradients: Admin and B2T.
[[nodiscard]] std::vector<Sentence> growth_objections();

[[nodiscard]] Exhibit growth_exhibit(std::span<const GradientGrowth> schemes, const GrowthChoice& choice);

}  // namespace decoderscope::core::norms
