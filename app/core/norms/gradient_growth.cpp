#include "app/core/norms/gradient_growth.h"

#include "engine/parallel.h"
#include "engine/train/backpropagation.h"
#include "engine/train/tasks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace decoderscope {

namespace {

constexpr Index kStepsOfSlice = 4;         // that many steps of a pass
constexpr Index kCostOfSlice = 4'000'000;  // multiply-adds, at least

NormPlacement placement_of(StackScheme scheme) {
    switch (scheme) {
        case StackScheme::pre:
            return NormPlacement::pre;
        case StackScheme::peri:
            return NormPlacement::peri;
        case StackScheme::reordered:
            return NormPlacement::reordered;
        case StackScheme::post:
        case StackScheme::deepnorm:
            return NormPlacement::post;
    }
    return NormPlacement::pre;
}

// Wang et al. 2022, table 1, for stacks of N encoder and M = N decoder layers, or of M decoder layers alone.
double deepnorm_alpha(bool encoder, Index layers) {
    return std::pow((encoder ? 3.0 : 2.0) * static_cast<double>(layers), 0.25);
}
double deepnorm_beta(bool of_encoder, bool encoder, Index layers) {
    const auto n = static_cast<double>(layers);
    if (of_encoder) return 0.87 * std::pow(n, -5.0 / 16.0);
    return std::pow((encoder ? 12.0 : 8.0) * n, -0.25);
}

// The matrices of a layer that begin smaller: those that make a sublayer's update longer.
constexpr std::array kScaledByBeta = {"self_attn.v_proj",  "self_attn.o_proj", "cross_attn.v_proj",
                                      "cross_attn.o_proj", "up_proj",          "down_proj"};

void multiply(Weights& weights, const std::string& name, double factor) {
    const auto found = weights.find(name);
    if (found == weights.end()) return;
    for (float& value : found->second.writable()) value *= static_cast<float>(factor);
}

double norm_of(const Tensor& tensor) {
    double squares = 0.0;
    for (const float value : tensor.values()) squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares);
}

// One number a seed, by layer.
using SeedsByLayer = std::vector<std::vector<double>>;

void add_norms(SeedsByLayer& layers, const Gradients& gradients, const std::string& prefix) {
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
        layers[layer].push_back(
            norm_of(gradients.at(prefix + "layers." + std::to_string(layer) + ".down_proj.weight")));
}

StackGradients summary_of(const SeedsByLayer& layers) {
    StackGradients summary;
    for (const std::vector<double>& seeds : layers) summary.by_layer.push_back(spread_of(seeds));
    if (layers.empty()) return summary;
    std::vector<double> ratios;
    for (std::size_t seed = 0; seed < layers.front().size(); ++seed)
        ratios.push_back(layers.back()[seed] / layers.front()[seed]);
    summary.last_over_first = spread_of(ratios);
    return summary;
}

// One seed's stack on its way there and back.
struct Seed {
    Seed(Backpropagation& backpropagation, Weights drawn, const Inputs& batch)
        : weights(std::move(drawn)), run(backpropagation.begin(weights, batch)) {}

    Weights weights;
    BackwardRun run;
    bool ended = false;
};

// A few steps of each, side by side on the threads: a single step of such a stack is too small to be shared. Returns
// whether all have ended.
bool advance_together(std::span<Seed> seeds, std::atomic<std::size_t>* done) {
    each_in_parallel(static_cast<Index>(seeds.size()), kCostOfSlice, [&](Index number) {
        Seed& seed = seeds[static_cast<std::size_t>(number)];
        for (Index step = 0; step < kStepsOfSlice && !seed.ended; ++step) {
            seed.ended = seed.run.advance();
            if (seed.ended && done != nullptr) done->fetch_add(1, std::memory_order_relaxed);
        }
    });
    return std::ranges::all_of(seeds, &Seed::ended);
}

}  // namespace

std::span<const StackScheme> stack_schemes() {
    static constexpr std::array schemes = {StackScheme::pre, StackScheme::post, StackScheme::peri,
                                           StackScheme::reordered, StackScheme::deepnorm};
    return schemes;
}

Phrase title_of(StackScheme scheme) {
    switch (scheme) {
        case StackScheme::pre:
            return message("Pre-Norm");
        case StackScheme::post:
            return message("Post-Norm");
        case StackScheme::peri:
            return message("Peri-Norm");
        case StackScheme::reordered:
            return message("Reordered");
        case StackScheme::deepnorm:
            return message("DeepNorm");
    }
    return Phrase("");
}

Config growth_config(const GrowthSetting& setting, StackScheme scheme, Index layers) {
    Config config;
    config.d_model = setting.d_model;
    config.nhead = config.num_key_value_heads = setting.nhead;
    config.num_layers = layers;
    config.dim_feedforward = setting.dim_feedforward;
    config.norm_first = scheme == StackScheme::pre;
    if (scheme == StackScheme::peri || scheme == StackScheme::reordered) config.norm_placement = placement_of(scheme);
    config.final_norm = placement_of(scheme) != NormPlacement::post;
    if (scheme == StackScheme::deepnorm) config.residual_scale = deepnorm_alpha(setting.encoder, layers);
    config.cross_attention = setting.encoder;
    config.encoder_layers = setting.encoder ? layers : 0;
    config.vocab_size = config.encoder_vocab_size = static_cast<Index>(reverse_task(1).vocabulary.size());
    config.positional_encoding = PositionalEncoding::sinusoidal;
    config.lm_head = true;
    return config;
}

Weights growth_weights(const GrowthSetting& setting, StackScheme scheme, Index layers, std::uint64_t seed) {
    Weights weights = initial_weights(growth_config(setting, scheme, layers), seed, setting.initialisation);
    if (scheme != StackScheme::deepnorm) return weights;
    for (const bool of_encoder : {true, false})
        for (Index layer = 0; layer < layers; ++layer)
            for (const char* matrix : kScaledByBeta)
                multiply(
                    weights,
                    (of_encoder ? "encoder.layers." : "layers.") + std::to_string(layer) + "." + matrix + ".weight",
                    deepnorm_beta(of_encoder, setting.encoder, layers));
    return weights;
}

Spread spread_of(std::span<const double> values) {
    if (values.empty()) return {};
    const auto [least, most] = std::ranges::minmax(values);
    return {std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()), least, most};
}

std::size_t growth_passes(std::span<const StackScheme> schemes, std::span<const Index> depths,
                          const GrowthSetting& setting) {
    return schemes.size() * depths.size() * static_cast<std::size_t>(setting.seeds);
}

Resumable<std::vector<GradientGrowth>> gradient_growth(std::vector<StackScheme> schemes, std::vector<Index> depths,
                                                       GrowthSetting setting, std::stop_token stop,
                                                       std::atomic<std::size_t>* done) {
    const Task task = setting.encoder ? reverse_task(setting.longest) : reversal_task(setting.longest);
    std::vector<GradientGrowth> all;
    for (const StackScheme scheme : schemes) {
        for (const Index layers : depths) {
            Backpropagation backpropagation(growth_config(setting, scheme, layers));
            std::vector<Seed> seeds;
            seeds.reserve(static_cast<std::size_t>(setting.seeds));  // a run refers to its weights
            for (Index number = 0; number < setting.seeds; ++number)
                seeds.emplace_back(backpropagation,
                                   growth_weights(setting, scheme, layers, static_cast<std::uint64_t>(number)),
                                   task.batch(static_cast<std::uint64_t>(number), 1, setting.rows));
            while (!advance_together(seeds, done)) {
                if (stop.stop_requested()) co_return all;
                co_yield kPause;
            }
            const auto depth = static_cast<std::size_t>(layers);
            SeedsByLayer decoder(depth), encoder(setting.encoder ? depth : 0);
            for (Seed& seed : seeds) {
                const Gradients gradients = seed.run.result().gradients;
                add_norms(decoder, gradients, "");
                add_norms(encoder, gradients, "encoder.");
            }
            all.push_back({scheme, layers, summary_of(decoder), summary_of(encoder)});
        }
    }
    co_return all;
}

}  // namespace decoderscope
