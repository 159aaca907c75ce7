#include "app/views/masks/masks_layout.h"

#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/shares.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace decoderscope {

namespace {

// How many pictures a line holds, and how wide their cells are.
struct PictureLine {
    std::size_t slots = 1;
    float labels = 0.0F, cells = 0.0F, gap = 0.0F;
    bool shared = false;  // one column of labels for the line

    [[nodiscard]] float x(std::size_t slot) const {
        const float before = static_cast<float>(slot) * (cells + gap);
        return shared ? (slot == 0 ? 0.0F : labels + before) : before + labels * static_cast<float>(slot);
    }
    [[nodiscard]] float width(std::size_t slot) const { return cells + (shared && slot > 0 ? 0.0F : labels); }
};

// Lines of up to `most_slots` pictures. A column of labels for the whole line makes room for another picture.
// `legend` is the width of what is below each.
PictureLine line_of(const Ui& ui, const HeatmapNeeds& needs, float width, std::size_t most_slots, float legend = 0.0F) {
    const float gap = ui.px(20), labels = needs.around.x,
                least = std::max(sizes_of(ui, needs).least.x - labels, legend);
    const auto fitting = [&](float first, float each) {
        const auto more = static_cast<int>(std::floor((width - first - least) / (each + gap)));
        return static_cast<std::size_t>(std::clamp(more + 1, 1, static_cast<int>(most_slots)));
    };
    const std::size_t apart = fitting(labels, labels + least), shared = fitting(labels, least);
    PictureLine line{.slots = std::max(apart, shared), .labels = labels, .gap = gap, .shared = shared > apart};
    const auto count = static_cast<float>(line.slots);
    const float all_labels = line.shared ? labels : labels * count;
    const float most = ui.px(96) * static_cast<float>(needs.columns);
    line.cells = std::clamp(std::floor((width - all_labels - gap * (count - 1)) / count), 1.0F, most);
    return line;
}

Want height_of(const Ui& ui, const HeatmapNeeds& needs, float width) {
    const HeatmapSizes sizes = sizes_of(ui, needs);
    const float most = fitted_height(ui, needs, width, 1e6F);
    // A cell is painted, so it is as high as it is wide at least.
    const float least =
        needs.rows <= kFew ? needs.around.y + ui.px(kHittable) * static_cast<float>(needs.rows) : sizes.least.y;
    return {std::min(least, most), std::min(sizes.good.y, most), most};
}

// The heights of the lines: they share the area's if it is enough for all; else each is as high as is good, but no
// higher than the area.
std::vector<float> heights_of(const std::vector<Want>& wants, float room, float highest) {
    float least = 0.0F;
    for (const Want& want : wants) least += want.least;
    if (least <= room) return shares(room, wants);
    std::vector<float> heights;
    for (const Want& want : wants) heights.push_back(std::max(want.least, std::min(want.good, highest)));
    return heights;
}

}  // namespace

MaskSlots lay_out_masks(const Ui& ui, const ShownMasks& shown, Area area) {
    const HeatmapNeeds parts = needs_of(ui, shown.parts.combined, area.width() * 0.4F, Legend::none),
                       chain = needs_of(ui, shown.pattern.heatmap, area.width() * 0.4F, Legend::bar);
    const float gap = ui.px(10), lengths = std::max(area.width() * 0.21F, ui.px(150));
    // Causal, window if any, padding, drawn; and all combined.
    const std::size_t masks = shown.parts.has_window ? 5 : 4;
    // The length handles are beside the masks if these leave room in one line, else in the next free slot.
    const PictureLine beside = line_of(ui, parts, area.width() - lengths - ui.px(20), masks);
    const bool in_line = beside.slots == masks;
    const PictureLine part_line = in_line ? beside : line_of(ui, parts, area.width(), masks),
                      chain_line = line_of(ui, chain, area.width(), 4, ui.px(124));
    const std::size_t part_count = in_line ? masks : masks + 1;
    const auto lines = [](std::size_t count, const PictureLine& line) { return (count + line.slots - 1) / line.slots; };
    const std::size_t part_lines = in_line ? 1 : lines(part_count, part_line), chain_lines = lines(4, chain_line);

    std::vector<Want> wants(part_lines, height_of(ui, parts, part_line.width(0)));
    wants.insert(wants.end(), chain_lines, height_of(ui, chain, chain_line.width(0)));
    // A last line with the length handles alone is lower.
    if (!in_line && masks % part_line.slots == 0) {
        const float low = std::min(wants[part_lines - 1].least, ui.px(96));
        wants[part_lines - 1] = {low, low, low};
    }
    const std::vector<float> heights =
        heights_of(wants, area.height() - gap * static_cast<float>(wants.size() - 1), area.height());
    std::vector<float> tops;
    float y = area.low.y;
    for (const float height : heights) {
        tops.push_back(y);
        y += height + gap;
    }
    MaskSlots slots{};
    slots.bottom = y - gap;
    const auto slot = [&](const PictureLine& line, std::size_t first_line, std::size_t i) {
        const std::size_t at = first_line + i / line.slots, column = i % line.slots;
        const float x = area.low.x + line.x(column);
        return MaskSlot{{{x, tops[at]}, {x + line.width(column), tops[at] + heights[at]}}, !line.shared || column == 0};
    };
    for (std::size_t i = 0; i < masks; ++i) slots.parts.push_back(slot(part_line, 0, i));
    for (std::size_t i = 0; i < 4; ++i) slots.chain[i] = slot(chain_line, part_lines, i);
    slots.lengths = in_line ? Area{{area.high.x - lengths, area.low.y}, {area.high.x, area.low.y + heights[0]}}
                            : slot(part_line, 0, masks).area;
    if (!in_line)
        slots.lengths.high.x = std::max(slots.lengths.high.x, std::min(slots.lengths.low.x + lengths, area.high.x));
    return slots;
}

}  // namespace decoderscope
