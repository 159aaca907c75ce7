#include "app/core/masks/exhibit_masks.h"
#include "app/core/masks/mask_parts.h"
#include "app/core/step/exhibit_step.h"

#include <utility>
#include <vector>

namespace decoderscope {
namespace {

std::string place_text(Place place) {
    return "batch " + std::to_string(place.batch) + ", head " + std::to_string(place.head);
}

}  // namespace

Exhibit masks_exhibit(const ShownRun& shown, const std::string& attention, Place place) {
    const std::string where = place_text(place);
    Exhibit exhibit{.title = attention + ".mask", .subtitle = where};
    exhibit.caption = caption_of(shown.scenario, exhibit.title, where);
    const MaskParts parts = mask_parts(shown.scenario, *shown.run, attention, place);
    std::vector<std::pair<const char*, const Heatmap*>> masks = {
        {"causal", &parts.causal}, {"padding", &parts.padding}, {"drawn", &parts.drawn}, {"combined", &parts.combined}};
    if (parts.has_window) masks.insert(masks.begin() + 1, {"window", &parts.window});
    exhibit.columns = masks.size();
    for (const auto& [name, mask] : masks) {
        Heatmap heatmap = *mask;
        // The window's quiet range is not used in exports: kept is 1 and hidden is 0.
        heatmap.scale = Scale::sequential;
        heatmap.range = {0.0F, 1.0F};
        heatmap.subtitle = where;
        exhibit.panels.push_back(panel_of(attention + ".mask." + name, std::move(heatmap)));
    }
    for (const char* name : {".attn_scores", ".masked_scores", ".pattern", ".z"}) {
        const Ref step = shown.run->plan().find(attention + name);
        if (step == nullptr || shown.run->value(step->id).empty()) continue;
        exhibit.panels.push_back(panel_of(step->name, heatmap_of(shown.scenario, *shown.run, *step, place)));
    }
    return exhibit;
}

}  // namespace decoderscope
