#include "app/core/generate/generation.h"
#include "app/core/step/shown_step.h"
#include "app/core/text/counting.h"
#include "app/core/text/labels.h"
#include "app/views/generate/generate_parts.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

// The textures of the two pictures; no step's number is that high.
constexpr std::uint64_t kFirstKey = 0x470000000001ULL;

// What the pass over the newest token found in the cache, and what it computed.
struct CacheRows {
    Index kept = 0, computed = 0;  // rows of k; the same number of v
    Index numbers_a_row = 0;       // of k and v together, in all layers
    Index memory = 0;              // rows that cross-attention keeps of the source; 0 without cross-attention
};

Index layers_of(const Run& run) {
    Index layers = 0;
    while (run.plan().find("blocks." + std::to_string(layers) + ".attn.k") != nullptr) ++layers;
    return layers;
}

// The first pass is over the whole given text; after that, each token takes one pass.
CacheRows cache_rows(const GenerateScene& scene, Index layers) {
    CacheRows rows;
    rows.computed = generated_count(scene.scenario(), scene.row) == 0 ? scene.length : 1;
    rows.kept = scene.length - rows.computed;
    const Tensor& k = scene.run().value("blocks.0.attn.k");  // [batch, kv_head, pos, d_head]
    rows.numbers_a_row = 2 * k.dim(1) * k.dim(3) * layers;
    if (const Tensor& cross = scene.run().value("blocks.0.cross_attn.k"); !cross.empty()) rows.memory = cross.dim(2);
    return rows;
}

std::string summary_of(const GenerateScene& scene, const CacheRows& rows, Index layers) {
    const Tensor& k = scene.run().value("blocks.0.attn.k");
    const std::string kept =
        tr_n("Kept {count} row × 2 (k, v) × {heads} heads × {width} numbers × {layers} layers = {numbers} numbers",
             "Kept {count} rows × 2 (k, v) × {heads} heads × {width} numbers × {layers} layers = {numbers} numbers",
             rows.kept,
             {{"heads", k.dim(1)},
              {"width", k.dim(3)},
              {"layers", layers},
              {"numbers", grouped(rows.kept * rows.numbers_a_row)}});
    std::string text = tr_n("{kept}; computed {count} row: {numbers}.", "{kept}; computed {count} rows: {numbers}.",
                            rows.computed, {{"kept", kept}, {"numbers", grouped(rows.computed * rows.numbers_a_row)}});
    if (rows.kept == 0)
        text += std::string(" ") + tr("The first pass processes the whole text and fills the cache: generate a token.");
    if (rows.memory > 0)
        text += " " + tr_n("Cross-attention keeps the source's {count} row for good.",
                           "Cross-attention keeps the source's {count} rows for good.", rows.memory);
    return text;
}

// One line per layer, one cell per position: what was kept and what is new. A click chooses the layer.
void draw_layers(const GenerateScene& scene, const CacheRows& rows, Index layers, Area area) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = area.height() / static_cast<float>(layers), label = ui.px(58);
    const float cell = std::min((area.width() - label) / static_cast<float>(scene.length), ui.px(26));
    const float gap = cell > ui.px(5) ? ui.px(1) : 0.0F, inset = line > ui.px(8) ? ui.px(1) : 0.0F;
    const bool written = line >= compat::font_size(ui.fonts.caption);
    for (Index layer = 0; layer < layers; ++layer) {
        const Area row = {{area.low.x, area.low.y + line * static_cast<float>(layer)},
                          {area.high.x, area.low.y + line * static_cast<float>(layer + 1)}};
        const bool chosen = layer == scene.tab().layer;
        ImGui::SetCursorScreenPos(row.low);
        ImGui::PushID(static_cast<int>(layer));
        if (press_area("layer", {row.width(), row.height()})) scene.tab().layer = layer;
        ImGui::PopID();
        tooltip(tr("Layer {layer}: click to see its k and v", {{"layer", layer}}).c_str());
        if (chosen) list.AddRectFilled(row.low, row.high, ui.theme.raised, ui.px(3));
        if (written || chosen)
            draw_text(ui, ui.fonts.caption,
                      {row.low.x + ui.px(4), (row.low.y + row.high.y - compat::font_size(ui.fonts.caption)) * 0.5F},
                      chosen ? ui.theme.text : ui.theme.muted, tr("layer {layer}", {{"layer", layer}}));
        for (Index position = 0; position < scene.length; ++position) {
            const float x = area.low.x + label + cell * static_cast<float>(position);
            const ImU32 color = position < rows.kept ? with_alpha(ui.theme.muted, 0.45F) : ui.theme.accent;
            list.AddRectFilled({x, row.low.y + inset}, {std::max(x + cell - gap, x + 1), row.high.y - inset}, color);
        }
    }
}

void draw_key(const Ui& ui, ImVec2 at) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float size = ui.px(10);
    for (const auto& [color, text] : {std::pair(with_alpha(ui.theme.muted, 0.45F), tr("kept: not computed again")),
                                      std::pair(ui.theme.accent, tr("new in this pass"))}) {
        list.AddRectFilled({at.x, at.y + ui.px(3)}, {at.x + size, at.y + ui.px(3) + size}, color);
        at.x += size + ui.px(6);
        at.x += draw_text(ui, ui.fonts.caption, at, ui.theme.muted, text) + ui.px(18);
    }
}

// k or v of the chosen layer; the row labels tell which rows are new.
void draw_rows(const GenerateScene& scene, const CacheRows& rows, const std::string& name, std::uint64_t key,
               Area area) {
    const Ref step = scene.run().plan().find(name);
    if (step == nullptr || area.height() < scene.ui.px(60)) return;
    const Place place = {scene.row, scene.session.cursor().place.head};
    const Value<ShownHeatmap> shown = shown_heatmap(scene.session.derived(), scene.session.shown(), *step, place);
    const Slice slice = slice_of(*step, place, scene.scenario().config().nhead);
    HeatmapDrawing drawing{.heatmap = shown->heatmap,
                           .key = key,
                           .version = shown.number(),
                           .color = color_of(step->meaning),
                           .lit = CellRect{rows.kept, 0, rows.computed, shown->heatmap.columns},
                           .stale = scene.session.stale(),
                           .legend = Legend::bar,
                           .scrolls_with = ImGui::GetScrollMaxY() > 0.0F};
    const HeatmapGesture gesture = draw_heatmap(scene.ui, drawing, scene.state.viewports[key], area);
    if (!gesture.hovered) return;
    const auto [row, column] = *gesture.hovered;
    const bool padding = row >= scene.length;
    area_tooltip(scene.ui, area,
                 {cell_name(name, slice.cell(row, column)) + " = " +
                      short_number(static_cast<double>(shown->heatmap.at(row, column))),
                  padding           ? tr("padding")
                  : row < rows.kept ? tr("kept from an earlier pass")
                                    : tr("computed in this pass"),
                  tr("click to explain it")});
    if (gesture.clicked) {
        scene.commands.push_back(command::Follow{name, slice.cell(row, column)});
        scene.state.tab = kStepLab;
    }
}

}  // namespace

void draw_cache(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const Index layers = layers_of(scene.run());
    scene.tab().layer = std::clamp<Index>(scene.tab().layer, 0, layers - 1);
    const CacheRows rows = cache_rows(scene, layers);
    const float gap = ui.px(8);
    float y = draw_prose(ui, area.low, area.width(), ui.theme.text, summary_of(scene, rows, layers), 3) + ui.px(4);
    const float strip = std::min(ui.px(18) * static_cast<float>(layers), ui.px(126));
    draw_layers(scene, rows, layers, {{area.low.x, y}, {area.high.x, y + strip}});
    y += strip + gap;
    draw_key(ui, {area.low.x, y});
    ImGui::SetCursorScreenPos({area.high.x - ui.px(108), y - ui.px(6)});
    const Index heads = scene.scenario().config().nhead, head = scene.session.cursor().place.head;
    if (const int moved = counter(ui, tr("head"), head, heads); moved != 0)
        scene.commands.push_back(command::ChooseHead{head + moved});
    y += ui.px(24);
    const float room = area.high.y - y - gap;
    const float proof = scene.tab().proving ? std::clamp(room * 0.42F, ui.px(96), ui.px(360)) : ui.px(32);
    const float middle = std::floor((area.low.x + area.high.x) * 0.5F), bottom = y + room - proof;
    const std::string attention = "blocks." + std::to_string(scene.tab().layer) + ".attn";
    draw_rows(scene, rows, attention + ".k", kFirstKey, {{area.low.x, y}, {middle - gap, bottom}});
    draw_rows(scene, rows, attention + ".v", kFirstKey + 1, {{middle + gap, y}, {area.high.x, bottom}});
    draw_cache_proof(scene, {{area.low.x, bottom + gap}, area.high});
}

}  // namespace decoderscope
