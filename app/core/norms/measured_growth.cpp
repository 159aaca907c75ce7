#include "app/core/norms/measured_growth.h"

#include "app/core/export/figure_canvas.h"
#include "app/core/picture/meaning.h"
#include "app/core/text/numbers.h"
#include "engine/error.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace decoderscope {

namespace {

constexpr Index kHeadWidth = 16, kMostHeads = 4;
constexpr std::array<Index, 7> kDepths = {1, 2, 4, 6, 8, 12, 18};
using Growths = std::vector<GradientGrowth>;

auto key_of(const GrowthChoice& choice) {
    return std::make_tuple(choice.layers, choice.d_model, choice.seeds, choice.encoder, choice.xavier);
}

std::vector<StackScheme> all_schemes() { return {stack_schemes().begin(), stack_schemes().end()}; }

Resumable<Growths> measured(std::vector<Index> depths, GrowthSetting setting,
                            std::shared_ptr<GrowthProgress> progress) {
    progress->done = 0;
    progress->all = growth_passes(stack_schemes(), depths, setting);
    Growths growths = co_await gradient_growth(all_schemes(), depths, setting, std::stop_token(), &progress->done);
    co_return growths;
}

Resumable<MeasuredGrowth> at_one_depth(GrowthChoice choice, std::shared_ptr<GrowthProgress> progress) {
    std::vector<Index> depths(1, choice.layers);
    MeasuredGrowth made;
    made.schemes = co_await measured(std::move(depths), growth_setting(choice), std::move(progress));
    co_return made;
}

Resumable<GrowthByDepth> at_all_depths(GrowthChoice choice, std::shared_ptr<GrowthProgress> progress) {
    std::vector<Index> depths = growth_depths(choice.layers);
    GrowthByDepth made;
    made.schemes = co_await measured(std::move(depths), growth_setting(choice), std::move(progress));
    co_return made;
}

void add_point(GrowthCurves& curves, double depth, const Spread& spread) {
    curves.mean.points.push_back({depth, spread.mean, {}});
    curves.least.points.push_back({depth, spread.least, {}});
    curves.most.points.push_back({depth, spread.most, {}});
}

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

GrowthSetting growth_setting(const GrowthChoice& choice) {
    const Index heads = std::clamp<Index>(choice.d_model / kHeadWidth, 1, kMostHeads);
    if (choice.d_model % heads != 0)
        throw Error("d_model {width}: expected a multiple of {heads}, the number of heads",
                    {{"width", choice.d_model}, {"heads", heads}});
    return {.d_model = choice.d_model,
            .nhead = heads,
            .dim_feedforward = 4 * choice.d_model,
            .encoder = choice.encoder,
            .initialisation = choice.xavier ? Initialisation::xavier : Initialisation::pytorch,
            .seeds = choice.seeds};
}

std::vector<Index> growth_depths(Index deepest) {
    std::vector<Index> depths;
    for (const Index depth : kDepths)
        if (depth < deepest) depths.push_back(depth);
    depths.push_back(deepest);
    return depths;
}

Value<MeasuredGrowth> measured_growth(Derived& derived, const std::shared_ptr<const Model>& of,
                                      const GrowthChoice& choice, const std::shared_ptr<GrowthProgress>& progress) {
    return derived.later<MeasuredGrowth>({of}, key_of(choice), [&] { return at_one_depth(choice, progress); });
}

Value<GrowthByDepth> measured_growth_by_depth(Derived& derived, const std::shared_ptr<const Model>& of,
                                              const GrowthChoice& choice,
                                              const std::shared_ptr<GrowthProgress>& progress) {
    return derived.later<GrowthByDepth>({of}, key_of(choice), [&] { return at_all_depths(choice, progress); });
}

std::vector<GrowthCurves> curves_by_layer(std::span<const GradientGrowth> schemes, bool of_encoder) {
    std::vector<GrowthCurves> all;
    for (const GradientGrowth& growth : schemes) {
        const StackGradients& stack = of_encoder ? growth.encoder : growth.decoder;
        if (stack.by_layer.empty()) continue;
        GrowthCurves& curves = all.emplace_back();
        curves.scheme = growth.scheme;
        for (std::size_t layer = 0; layer < stack.by_layer.size(); ++layer)
            add_point(curves, static_cast<double>(layer) + 0.5, stack.by_layer[layer]);
    }
    return all;
}

std::vector<GrowthCurves> curves_by_depth(std::span<const GradientGrowth> schemes) {
    std::vector<GrowthCurves> all;
    for (const GradientGrowth& growth : schemes) {
        if (growth.decoder.by_layer.empty()) continue;
        if (all.empty() || all.back().scheme != growth.scheme) all.emplace_back().scheme = growth.scheme;
        add_point(all.back(), static_cast<double>(growth.layers), growth.decoder.by_layer.back());
    }
    return all;
}

Sentence growth_sentence(std::span<const GradientGrowth> schemes, const GrowthChoice& choice) {
    const GradientGrowth* post = of_scheme(schemes, StackScheme::post);
    const GradientGrowth* pre = of_scheme(schemes, StackScheme::pre);
    if (post == nullptr || pre == nullptr) return {};
    return message(
        "Before any training, the gradient by the last decoder layer's W2 is {post} the first layer's in "
        "Post-Norm, {pre} in Pre-Norm.",
        {{"post", ratio_text(post->decoder.last_over_first, choice.seeds)},
         {"pre", ratio_text(pre->decoder.last_over_first, choice.seeds)}});
}

Sentence growth_caveat(const GrowthChoice& choice) {
    if (!choice.xavier)
        return message(
            "PyTorch's default initialisation hides it: its Linear weights begin smaller than Xavier's, so "
            "that sublayers add little to the stream. Xavier shows it.");
    if (!choice.encoder)
        return message(
            "Without an encoder it hardly shows: it is the cross-attention that lets gradients leave each "
            "layer of the decoder.");
    return message(
        "It shows with Xavier's initialisation, as in the paper, and in the decoder; the encoder hardly "
        "shows it. PyTorch's default initialisation hides it.");
}

std::vector<Sentence> growth_objections() {
    return {message("Liu et al. 2020 (Admin) say that unequal gradients at the beginning are not what makes Post-Norm "
                    "hard to train: Adam divides each weight's step by the size of its gradients, and training fails "
                    "where they don't vanish, too. What counts is how much of each layer's output comes from its "
                    "sublayer: Post-Norm relies on it heavily, which amplifies every change of the weights, so Admin "
                    "begins with less of it."),
            message("Takase et al. 2022 (B2T) say that the norms themselves make the gradients of deep Post-Norm "
                    "stacks vanish on the way back: each one scales them down. Their remedy adds a connection from the "
                    "bottom of each layer to its last norm, past all other norms, and keeps what Post-Norm is better "
                    "at.")};
}

Exhibit growth_exhibit(std::span<const GradientGrowth> schemes, const GrowthChoice& choice) {
    const Arguments sizes = {{"layers", choice.layers}, {"width", choice.d_model}, {"seeds", choice.seeds}};
    Exhibit exhibit{.title = tr("Gradients by layer, before any training"),
                    .subtitle = choice.xavier
                                    ? tr(message("{layers} layers, d_model {width}, Xavier, {seeds} seeds", sizes))
                                    : tr(message("{layers} layers, d_model {width}, PyTorch, {seeds} seeds", sizes))};
    exhibit.caption = tr(growth_sentence(schemes, choice));
    for (const bool of_encoder : {false, true}) {
        const std::vector<GrowthCurves> curves = curves_by_layer(schemes, of_encoder);
        if (curves.empty()) continue;
        Chart& chart = exhibit.charts.emplace_back(Chart{of_encoder ? "encoder" : "decoder",
                                                         of_encoder ? tr("Encoder") : tr("Decoder"),
                                                         tr("norm of the gradient by W2"),
                                                         choice.layers,
                                                         true,
                                                         {}});
        static constexpr std::array kColors = {Meaning::query, Meaning::value, Meaning::mlp, Meaning::key,
                                               Meaning::norm};
        for (const GrowthCurves& of : curves)
            chart.curves.push_back({tr(title_of(of.scheme)), of.mean,
                                    meaning_color(kColors[static_cast<std::size_t>(of.scheme) % kColors.size()]),
                                    of.scheme == StackScheme::post});
    }
    return exhibit;
}

}  // namespace decoderscope
