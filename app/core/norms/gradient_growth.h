#pragma once

#include "app/core/jobs/resumable.h"
#include "engine/message.h"
#include "engine/model/config.h"
#include "engine/model/initial_weights.h"

#include <atomic>
#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

namespace decoderscope {

// What happens to gradients on their way back through a stack before any training, by where its norms stand: figure 3
// of Xiong et al. 2020 (On Layer Normalization in the Transformer Architecture). Measured is the norm of the expected
// gradient of the MLP's second matrix W2 (down_proj): the mean over a mini-batch first, then the Frobenius norm.

// Where a stack's norms stand, or how its sums are scaled instead.
enum class StackScheme {
    pre,
    post,
    peri,
    reordered,
    deepnorm,  // Post-Norm with α·x + f(x), and v_proj, o_proj and the MLP begun smaller by β (Wang et al. 2022)
};
[[nodiscard]] std::span<const StackScheme> stack_schemes();
[[nodiscard]] Phrase title_of(StackScheme scheme);

// The stacks to be measured. Each reverses words of 1 to `longest` random letters: with an encoder as `reverse` does,
// without one as <bos>word<eos>answer.
struct GrowthSetting {
    Index d_model = 64, nhead = 4, dim_feedforward = 256;
    bool encoder = true;
    Initialisation initialisation = Initialisation::xavier;
    Index seeds = 5;  // of weights and words: 0, 1, …
    Index rows = 32;  // words in a batch
    Index longest = 16;
    bool operator==(const GrowthSetting&) const = default;
};

// The configuration of one of them; `layers` of the decoder, and of the encoder where there is one. Pre-Norm, Peri-Norm
// and reordered have a final norm. DeepNorm's α is the decoder's, for the encoder as well.
[[nodiscard]] Config growth_config(const GrowthSetting& setting, StackScheme scheme, Index layers);
// Its weights before any training.
[[nodiscard]] Weights growth_weights(const GrowthSetting& setting, StackScheme scheme, Index layers,
                                     std::uint64_t seed);

// Over the seeds.
struct Spread {
    double mean = 0.0, least = 0.0, most = 0.0;
    bool operator==(const Spread&) const = default;
};
[[nodiscard]] Spread spread_of(std::span<const double> values);

// The gradients of one stack.
struct StackGradients {
    std::vector<Spread> by_layer;  // ‖∂loss/∂W2‖, from the first layer to the last; empty where there is no such stack
    Spread last_over_first;
};

struct GradientGrowth {
    StackScheme scheme = StackScheme::pre;
    Index layers = 0;
    StackGradients decoder, encoder;
};

// How many stacks of how many seeds are measured, for a progress bar.
[[nodiscard]] std::size_t growth_passes(std::span<const StackScheme> schemes, std::span<const Index> depths,
                                        const GrowthSetting& setting);

// Measures each scheme at each depth (in this order: all depths of the first scheme, then the next). Counts the passes
// that are done. If it is stopped, what is complete is returned.
[[nodiscard]] Resumable<std::vector<GradientGrowth>> gradient_growth(std::vector<StackScheme> schemes,
                                                                     std::vector<Index> depths, GrowthSetting setting,
                                                                     std::stop_token stop,
                                                                     std::atomic<std::size_t>* done = nullptr);

}  // namespace decoderscope
