#include "app/core/session/scenario_edits.h"

#include "app/core/generate/generation.h"
#include "app/core/heads/head_switches.h"
#include "app/core/session/edit_list.h"

#include <algorithm>
#include <utility>

namespace decoderscope {

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetOption& c) {
    return without_lost_gradients(with_override(std::move(scenario), c.key, c.value));
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetRecording& c) {
    scenario.recording = c.recording;
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetDropout& c) {
    scenario.dropout_seed = c.seed;
    return without_lost_gradients(std::move(scenario));
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetGradients& c) {
    if (scenario.gradients_of == c.of) return std::nullopt;
    scenario.gradients_of = c.of;
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::PaintMask& c) {
    const Edit edit = MaskEdit{c.attention, c.batch, c.head, c.query, c.key, c.keep};
    remove_target(scenario.edits, edit);
    // A cell painted back to its unedited value needs no edit, unless an edit of more cells lies under it.
    const bool plain = std::none_of(scenario.edits.begin(), scenario.edits.end(), [&](const Edit& other) {
        const auto* mask = std::get_if<MaskEdit>(&other);
        return mask != nullptr && mask->attention == c.attention;
    });
    const Tensor& before = shown.unedited->value(c.attention + ".mask");
    const Cell cell = {c.batch, c.head.value_or(0), c.query, c.key};
    const bool as_before = c.head && !before.empty() && before.contains(cell) && (before.at(cell) != 0.0F) == c.keep;
    if (!plain || !as_before) scenario.edits.push_back(edit);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::PaintMasks& c) {
    if (c.stroke.cells.empty()) return std::nullopt;
    const Tensor& unedited = shown.unedited->value(c.stroke.attention + ".mask");
    if (c.instead)
        scenario.edits = reset_masks(scenario.edits, c.stroke.attention, c.stroke.batch, c.stroke.head, unedited);
    scenario.edits = paint_masks(std::move(scenario.edits), c.stroke, unedited);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::ResetMask& c) {
    std::vector<Edit> edits =
        reset_masks(scenario.edits, c.attention, c.batch, c.head, shown.unedited->value(c.attention + ".mask"));
    if (edits == scenario.edits) return std::nullopt;
    scenario.edits = std::move(edits);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SetKeptLength& c) {
    Inputs& inputs = scenario.inputs;
    const Tensor& source = inputs.encoder_tokens.empty() ? inputs.memory : inputs.encoder_tokens;
    if (c.source && source.empty()) return std::nullopt;
    const Axes axes = c.source ? Axes{{axis::batch, source.dim(0)}, {axis::src, source.dim(1)}}
                               : Axes{{axis::batch, inputs.batch()}, {axis::pos, inputs.pos()}};
    Tensor& mask = c.source ? inputs.encoder_attention_mask : inputs.attention_mask;
    mask = with_kept_length(mask, axes, c.batch, c.length);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::AppendToken& c) {
    return with_token(std::move(scenario), c.batch, c.token);
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::RemoveLastToken& c) {
    return without_lost_gradients(without_last_token(std::move(scenario), c.batch));
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::ScaleHeadTo& c) {
    const Edit edit = ScaleHead{c.attention, c.head, c.factor};
    if (c.factor == 1.0F)
        remove_target(scenario.edits, edit);
    else
        replace_edit(scenario.edits, edit);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::SoloHead& c) {
    const Index heads = scenario.config().nhead;
    scenario.edits = c.solo ? with_solo(std::move(scenario.edits), c.attention, c.head, heads)
                            : without_factors(std::move(scenario.edits), c.attention);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::TypeOver& c) {
    replace_edit(scenario.edits, SetCell{c.tensor, c.cell, c.value});
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::KeepVariation& c) {
    scenario = without_lost_gradients(with_overrides(std::move(scenario), c.variation.overrides));
    for (const Edit& edit : c.variation.more_edits) replace_edit(scenario.edits, edit);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::RemoveEdits& c) {
    std::vector<Edit> left;
    for (std::size_t i = 0; i < scenario.edits.size(); ++i)
        if (std::ranges::find(c.numbers, i) == c.numbers.end()) left.push_back(scenario.edits[i]);
    if (left.size() == scenario.edits.size()) return std::nullopt;
    scenario.edits = std::move(left);
    return scenario;
}

std::optional<Scenario> edited(Scenario scenario, const Snapshot&, const command::ClearEdits&) {
    if (scenario.edits.empty()) return std::nullopt;
    scenario.edits.clear();
    return scenario;
}

}  // namespace decoderscope
