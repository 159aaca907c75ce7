#include "app/core/heads/measured_heads.h"

#include "app/core/heads/head_pictures.h"

namespace decoderscope {

namespace {

// Patterns with more weights than this are measured in the background: here it would take longer than a frame.
constexpr Index kMeasuredAtOnce = 2'000'000;

Index weights_of(const Run& run, AttentionKind kind) {
    Index weights = 0;
    for (const std::string& attention : attentions_of_kind(run.plan(), kind))
        weights += run.value(attention + ".pattern").size();
    return weights;
}

// A placeholder for one layer's pattern and mask: only its number counts.
struct LayerPictures {
    static constexpr std::size_t kKept = 256;
};

Resumable<MeasuredHeads> measure(std::shared_ptr<const Run> run, AttentionKind kind, Index batch, Inputs inputs,
                                 Value<MeasuredHeads> known) {
    if (weights_of(*run, kind) > kMeasuredAtOnce) co_yield kPause;
    MeasuredHeads made;
    made.run = run;
    made.scores = known ? head_scores(inputs, *run, kind, batch, *known->run, known->scores)
                        : head_scores(inputs, *run, kind, batch);
    made.weights = shared_range(*run, attentions_of_kind(run->plan(), kind), batch);
    co_return made;
}

}  // namespace

Value<MeasuredHeads> measured_heads(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& run,
                                    AttentionKind kind, Index batch) {
    const auto key = std::tie(kind, batch);
    return derived.later<MeasuredHeads>(
        {run}, key, [&] { return measure(run, kind, batch, scenario.inputs, derived.latest<MeasuredHeads>(key)); });
}

std::uint64_t version_of_pictures(Derived& derived, const Run& run, const Step& pattern) {
    const Tensor& weights = run.value(pattern.id);
    const Tensor& mask = run.value(pattern.attention + ".mask");
    return derived
        .get<LayerPictures>({weights.identity(), mask.identity()}, std::tie(pattern.id), [] { return LayerPictures{}; })
        .number();
}

Value<OutputEffects> output_effects(Derived& derived, const std::shared_ptr<const Run>& before,
                                    const std::shared_ptr<const Run>& after, const Step& output, Index batch) {
    return derived.get<OutputEffects>({before, after}, std::tie(output.id, batch), [&] {
        return OutputEffects{position_effects(before->value(output.name), after->value(output.name), batch)};
    });
}

}  // namespace decoderscope
