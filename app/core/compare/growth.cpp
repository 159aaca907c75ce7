#include "app/core/compare/growth.h"

#include "app/core/figure/colormap.h"
#include "app/core/jobs/job.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"
#include "engine/train/tasks.h"
#include "engine/train/trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace decoderscope::core::norms {

namespace {

// The schemes in the order of StackScheme: the placement that each has, and its title.
struct NamedScheme {
    NormPlacement placement;
    Phrase title;
};
constexpr std::array<NamedScheme, 5> kSchemes = {{
    {NormPlacement::pre, message("Pre-Norm")},
    {NormPlacement::post, message("Post-Norm")},
    {NormPlacement::peri, message("Peri-Norm")},
    {NormPlacement::reordered, message("Reordered")},
    {NormPlacement::post, message("DeepNorm")},
}};

NormPlacement placement_of(StackScheme scheme) { return kSchemes[static_cast<std::size_t>(scheme)].placement; }

// Wang et al. 2022, table 1, for stacks of N encoder and M = N decoder layers, or of M decoder layers alone.
double deepnorm_alpha(bool encoder, Index layers) {
    return std::pow((encoder ? 3.0 : 2.0) * static_cast<double>(layers), 0.25);
}
double deepnorm_beta(bool of_encoder, bool encoder, Index layers) {
    const auto n = static_cast<double>(layers);
    if (of_encoder) return 0.87 * std::pow(n, -5.0 / 16.0);
    return std::pow((encoder ? 12.0 : 8.0) * n, -0.25);
}

// One number per seed, by layer.
using SeedsByLayer = std::vector<std::vector<double>>;

void set_norms(SeedsByLayer& layers, std::size_t seed, const std::vector<double>& norms) {
    for (std::size_t layer = 0; layer < layers.size(); ++layer) layers[layer][seed] = norms[layer];
}

Spread spread_of(std::span<const double> values) {
    if (values.empty()) return {};
    const auto [least, most] = std::ranges::minmax(values);
    return {std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()), least, most};
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

// A scheme at a depth, and what its seeds have given so far.
struct Stack {
    StackScheme scheme;
    Index layers;
    SeedsByLayer decoder, encoder;
    Index begun = 0, ended = 0;  // seeds
};

// All stacks of a measurement, seed by seed, on several threads.
struct Measurement {
    GrowthSetting setting;
    std::atomic<std::size_t>* done;
    std::vector<Stack> stacks;
    std::mutex mutex;  // of the stacks

    // The next seed of the first stack that has one left.
    std::optional<Resumable<Done>> next_seed() {
        const std::lock_guard lock(mutex);
        const auto stack = std::ranges::find_if(stacks, [&](const Stack& one) { return one.begun < setting.seeds; });
        if (stack == stacks.end()) return std::nullopt;
        return measure(*stack, stack->begun++);
    }

    // The first step of a training: its gradients are those before any.
    Resumable<Done> measure(Stack& stack, Index number) {
        const auto seed = static_cast<std::uint64_t>(number);
        train::TrainingRun training(growth_recipe(setting, stack.scheme, stack.layers, seed));
        co_await training.advance();
        const train::TrainedStep& first = training.history().front();
        const std::lock_guard lock(mutex);
        set_norms(stack.decoder, static_cast<std::size_t>(number), first.decoder_gradients);
        set_norms(stack.encoder, static_cast<std::size_t>(number), first.encoder_gradients);
        ++stack.ended;
        if (done != nullptr) done->fetch_add(1, std::memory_order_relaxed);
        co_return Done{};
    }

    // The gradients of the stacks of which all seeds are there.
    [[nodiscard]] std::vector<GradientGrowth> complete() const {
        std::vector<GradientGrowth> all;
        for (const Stack& stack : stacks)
            if (stack.ended == setting.seeds)
                all.push_back({stack.scheme, stack.layers, summary_of(stack.decoder), summary_of(stack.encoder)});
        return all;
    }
};

constexpr Index kHeadWidth = 16, kMostHeads = 4;
constexpr std::array<Index, 7> kDepths = {1, 2, 4, 6, 8, 12, 18};

Resumable<MeasuredGrowth> at_depths(std::vector<Index> depths, GrowthChoice choice, SharedProgress progress) {
    const GrowthSetting setting = growth_setting(choice);
    std::vector<StackScheme> schemes(stack_schemes().begin(), stack_schemes().end());
    progress->done = 0;
    progress->all = schemes.size() * depths.size() * static_cast<std::size_t>(setting.seeds);
    MeasuredGrowth made;
    made.schemes =
        co_await gradient_growth(std::move(schemes), std::move(depths), setting, std::stop_token(), &progress->done);
    co_return made;
}

// A scheme's curves in a chart: the mean over the seeds on top.
class SchemeCurves {
public:
    explicit SchemeCurves(StackScheme scheme) : scheme_(scheme) {}
    void add(double depth, const Spread& spread) {
        for (const auto& [curve, of] : {std::pair{&mean_, spread.mean}, {&least_, spread.least}, {&most_, spread.most}})
            curve->points.push_back({depth, of, {}});
    }
    void into(Chart& chart, SpreadShown spread) const {
        const Rgba color = meaning_color(meaning_of(scheme_));
        const auto add = [&](DepthCurve curve, float strength, bool dashed) {
            curve.meaning = meaning_of(scheme_);
            curve.part = Part::mlp;
            chart.curves.push_back({tr(title_of(scheme_)), std::move(curve), color, dashed, strength});
        };
        if (spread == SpreadShown::yes)
            for (const DepthCurve* curve : {&least_, &most_}) add(*curve, 0.3F, false);
        add(mean_, 1.0F, scheme_ == StackScheme::post);
    }

private:
    StackScheme scheme_;
    DepthCurve mean_, least_, most_;
};

const GradientGrowth* of_scheme(std::span<const GradientGrowth> schemes, StackScheme scheme) {
    const auto found = std::ranges::find(schemes, scheme, &GradientGrowth::scheme);
    return found == schemes.end() ? nullptr : &*found;
}

Sentence ratio_text(const Spread& spread, Index seeds) {
    const Arguments numbers = {{"mean", short_number_text(spread.mean, 2)},
                               {"least", short_number_text(spread.least, 2)},
                               {"most", short_number_text(spread.most, 2)}};
    return seeds > 1 ? message("{mean} times (from {least} to {most})", numbers) : message("{mean} times", numbers);
}

}  // namespace

std::span<const StackScheme> stack_schemes() {
    static constexpr std::array schemes = {StackScheme::pre, StackScheme::post, StackScheme::peri,
                                           StackScheme::reordered, StackScheme::deepnorm};
    return schemes;
}

Phrase title_of(StackScheme scheme) { return kSchemes[static_cast<std::size_t>(scheme)].title; }

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
    config.vocab_size = config.encoder_vocab_size =
        static_cast<Index>(decoderscope::train::reverse_task(1).vocabulary.size());
    config.positional_encoding = PositionalEncoding::sinusoidal;
    config.lm_head = true;
    return config;
}

train::Recipe growth_recipe(const GrowthSetting& setting, StackScheme scheme, Index layers, std::uint64_t seed) {
    train::Recipe recipe{.title = title_of(scheme),
                         .config = growth_config(setting, scheme, layers),
                         .initialisation = setting.initialisation,
                         .seed = seed,
                         .task = setting.encoder ? decoderscope::train::reverse_task(setting.longest)
                                                 : decoderscope::train::reversal_task(setting.longest),
                         .rows = setting.rows,
                         .steps = 1};
    if (scheme != StackScheme::deepnorm) return recipe;
    recipe.decoder_gain = deepnorm_beta(false, setting.encoder, layers);
    recipe.encoder_gain = deepnorm_beta(true, setting.encoder, layers);
    return recipe;
}

Resumable<std::vector<GradientGrowth>> gradient_growth(std::vector<StackScheme> schemes, std::vector<Index> depths,
                                                       GrowthSetting setting, std::stop_token stop,
                                                       std::atomic<std::size_t>* done) {
    Measurement measurement{.setting = setting, .done = done, .stacks = {}, .mutex = {}};
    for (const StackScheme scheme : schemes)
        for (const Index layers : depths) {
            const std::vector<double> seeds(static_cast<std::size_t>(setting.seeds));
            const auto depth = static_cast<std::size_t>(layers);
            measurement.stacks.push_back({.scheme = scheme,
                                          .layers = layers,
                                          .decoder = SeedsByLayer(depth, seeds),
                                          .encoder = SeedsByLayer(setting.encoder ? depth : 0, seeds)});
        }
    SideBySide seeds([&] { return measurement.next_seed(); });
    while (!stop.stop_requested() && seeds.advance()) co_yield kPause;
    co_return measurement.complete();
}

GrowthSetting growth_setting(const GrowthChoice& choice) {
    const Index heads = std::clamp<Index>(choice.d_model / kHeadWidth, 1, kMostHeads);
    if (choice.d_model % heads != 0)
        throw Error("d_model {width}: expected a multiple of {heads}, the number of heads",
                    {{"width", choice.d_model}, {"heads", heads}});
    return {.d_model = choice.d_model,
            .nhead = heads,
            .dim_feedforward = 4 * choice.d_model,
            .encoder = choice.encoder,
            .initialisation = choice.xavier ? decoder::Initialisation::xavier : decoder::Initialisation::pytorch,
            .seeds = choice.seeds};
}

std::vector<Index> growth_depths(Index deepest) {
    std::vector<Index> depths;
    for (const Index depth : kDepths)
        if (depth < deepest) depths.push_back(depth);
    depths.push_back(deepest);
    return depths;
}

Value<MeasuredGrowth> measured_growth(Derived& derived, const std::shared_ptr<const load::Model>& of,
                                      const GrowthChoice& choice, Depths depths, const SharedProgress& progress) {
    return derived.later<MeasuredGrowth>(
        {of}, std::make_tuple(choice.layers, choice.d_model, choice.seeds, choice.encoder, choice.xavier, depths), [&] {
            return at_depths(depths == Depths::each ? growth_depths(choice.layers) : std::vector{choice.layers}, choice,
                             progress);
        });
}

Meaning meaning_of(StackScheme scheme) {
    static constexpr std::array kMeanings = {Meaning::query, Meaning::value, Meaning::mlp, Meaning::key, Meaning::norm};
    return kMeanings[static_cast<std::size_t>(scheme)];
}

std::vector<Chart> growth_by_layer(std::span<const GradientGrowth> schemes, const GrowthChoice& choice,
                                   SpreadShown spread) {
    const auto chart_of = [&](const char* name, const char* title, StackGradients GradientGrowth::*of) {
        Chart chart{name, title, tr("norm of the gradient w.r.t. W2"), choice.layers, true, {}};
        for (const GradientGrowth& growth : schemes) {
            SchemeCurves curves(growth.scheme);
            const std::vector<Spread>& layers = (growth.*of).by_layer;
            for (std::size_t i = 0; i < layers.size(); ++i) curves.add(static_cast<double>(i) + 0.5, layers[i]);
            if (!layers.empty()) curves.into(chart, spread);
        }
        return chart;
    };
    std::vector<Chart> charts = {chart_of("decoder", tr("Decoder"), &GradientGrowth::decoder),
                                 chart_of("encoder", tr("Encoder"), &GradientGrowth::encoder)};
    std::erase_if(charts, [](const Chart& chart) { return chart.curves.empty(); });
    return charts;
}

Chart growth_by_depth(std::span<const GradientGrowth> schemes, const GrowthChoice& choice) {
    Chart chart{"depth", tr("By depth"), tr("gradient w.r.t. the last decoder layer's W2"), choice.layers, true, {}};
    for (auto first = schemes.begin(); first != schemes.end();) {
        const auto next =
            std::find_if(first, schemes.end(), [&](const auto& one) { return one.scheme != first->scheme; });
        SchemeCurves curves(first->scheme);
        for (; first != next; ++first) curves.add(static_cast<double>(first->layers), first->decoder.by_layer.back());
        curves.into(chart, SpreadShown::yes);
    }
    return chart;
}

Sentence growth_sentence(std::span<const GradientGrowth> schemes, const GrowthChoice& choice) {
    const GradientGrowth* post = of_scheme(schemes, StackScheme::post);
    const GradientGrowth* pre = of_scheme(schemes, StackScheme::pre);
    if (post == nullptr || pre == nullptr) return {};
    return message(
        "Before any training, the gradient with respect to the last decoder layer's W2 is {post} the first layer's in "
        "Post-Norm, {pre} in Pre-Norm.",
        {{"post", ratio_text(post->decoder.last_over_first, choice.seeds)},
         {"pre", ratio_text(pre->decoder.last_over_first, choice.seeds)}});
}

Sentence growth_caveat(const GrowthChoice& choice) {
    if (!choice.xavier)
        return message(
            "PyTorch's default initialisation hides it: its Linear weights are smaller than Xavier's, so that "
            "sublayers add little to the residual stream. Xavier shows it.");
    if (!choice.encoder)
        return message(
            "Without an encoder it hardly shows: it is the cross-attention that lets gradients leave each "
            "layer of the decoder.");
    return message(
        "It shows with Xavier's initialisation, as in the paper, and in the decoder; the encoder hardly "
        "shows it. PyTorch's default initialisation hides it.");
}

std::vector<Sentence> growth_objections() {
    return {
        message("Liu et al. 2020 (Admin) say that unequal gradients at the beginning are not what makes Post-Norm "
                "hard to train: Adam divides each weight's step by the size of its gradients, and training fails "
                "where they don't vanish, too. What counts is how much of each layer's output comes from its "
                "sublayer: Post-Norm relies on it heavily, which amplifies every change of the weights, so Admin "
                "begins with less of it."),
        message("Takase et al. 2022 (B2T) say that the norms themselves make the gradients of deep Post-Norm stacks "
                "vanish in the backward pass: each one scales them down. Their remedy adds a connection from the "
                "bottom of each layer to its last norm, past all other norms, and keeps what Post-Norm is better at.")};
}

Exhibit growth_exhibit(std::span<const GradientGrowth> schemes, const GrowthChoice& choice) {
    const Arguments sizes = {{"layers", choice.layers}, {"width", choice.d_model}, {"seeds", choice.seeds}};
    Exhibit exhibit{.title = tr("Gradients by layer, before any training"),
                    .subtitle = choice.xavier
                                    ? tr(message("{layers} layers, d_model {width}, Xavier, {seeds} seeds", sizes))
                                    : tr(message("{layers} layers, d_model {width}, PyTorch, {seeds} seeds", sizes))};
    exhibit.caption = tr(growth_sentence(schemes, choice));
    exhibit.charts = growth_by_layer(schemes, choice, SpreadShown::no);
    return exhibit;
}

}  // namespace decoderscope::core::norms
