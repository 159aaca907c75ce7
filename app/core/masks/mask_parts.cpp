#include "app/core/masks/mask_parts.h"

#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

std::size_t offset_of(const Heatmap& heatmap, Index row, Index column) {
    return static_cast<std::size_t>(row * heatmap.columns + column);
}

void hide(Heatmap& heatmap, std::size_t offset, std::uint8_t cause) {
    heatmap.values[offset] = 0.0F;
    heatmap.hidden[offset] |= cause;
}

// The same axes and labels, with every cell kept.
Heatmap all_kept(const Heatmap& like, std::string title) {
    Heatmap heatmap = like;
    heatmap.title = std::move(title);
    std::fill(heatmap.values.begin(), heatmap.values.end(), 1.0F);
    std::fill(heatmap.hidden.begin(), heatmap.hidden.end(), hidden_by::nothing);
    return heatmap;
}

}  // namespace

MaskParts mask_parts(const Scenario& scenario, const Run& run, const std::string& attention, Place place) {
    const Step& mask = *run.plan().find(attention + ".mask");
    const MaskFacts masks = mask.operation.traits().masks.value_or(MaskFacts());
    const Operands operands = run.operands_of(mask.id);
    const Slice slice = slice_of(mask, place, scenario.config().nhead);
    MaskParts parts;
    parts.combined = heatmap_of(scenario, run, mask, place);
    // Kept cells are drawn quietly, so that what the mask hides stands out.
    parts.combined.scale = Scale::diverging;
    parts.combined.range = {-1e3F, 1e3F};
    parts.is_causal = masks.causal;
    parts.has_window = masks.window;
    parts.has_padding = masks.padding;
    parts.has_drawn = masks.custom || !mask.patches.empty();
    parts.causal = all_kept(parts.combined, parts.is_causal ? tr("causal") : tr("not causal"));
    parts.window = all_kept(parts.combined, parts.has_window ? tr("sliding window") : tr("no sliding window"));
    parts.padding = all_kept(parts.combined, parts.has_padding ? tr("padding") : tr("no padding"));
    parts.drawn = all_kept(parts.combined, parts.has_drawn ? tr("drawn") : tr("none drawn"));
    parts.combined.title = tr("combined");
    const std::vector<std::uint8_t> painted = painted_cells(mask, slice);
    parts.opened.assign(parts.combined.values.size(), 0);
    for (Index query = 0; query < slice.rows(); ++query) {
        for (Index key = 0; key < slice.columns(); ++key) {
            const Cell cell = slice.cell(query, key);
            const std::size_t at = offset_of(parts.combined, query, key);
            const MaskVerdict verdict = mask.operation.verdict(operands, cell);
            const bool kept = parts.combined.values[at] != 0.0F, by_hand = painted[at] != 0;
            if (!verdict.causal) hide(parts.causal, at, hidden_by::causal);
            if (!verdict.window) hide(parts.window, at, hidden_by::window);
            if (!verdict.padding) hide(parts.padding, at, hidden_by::padding);
            if (!verdict.custom && !(by_hand && kept)) hide(parts.drawn, at, hidden_by::custom);
            if (by_hand && !kept) hide(parts.drawn, at, hidden_by::hand);
            parts.opened[at] = kept && !verdict.kept() ? 1 : 0;
            parts.hidden += kept ? 0 : 1;
        }
    }
    return parts;
}

}  // namespace decoderscope
