#include "app/views/shell/panel_layout.h"

#include <algorithm>

namespace decoderscope {

namespace {

// The room for both panels, once the stage, the bars between and the rails of folded panels have theirs.
float room_beside_stage(float window, bool map, bool inspector) {
    return window - kLeastStage - (map ? kSplitter : kRail) - (inspector ? kSplitter : kRail);
}

float least(bool map, bool inspector) { return (map ? kLeastMap : 0.0F) + (inspector ? kLeastInspector : 0.0F); }

}  // namespace

PanelWidths fit_panels(float window, const WantedPanels& wanted) {
    bool map = !wanted.map_folded, inspector = !wanted.inspector_folded;
    const auto fits = [&] { return room_beside_stage(window, map, inspector) >= least(map, inspector); };
    if (map && inspector && !fits()) (wanted.map_first ? inspector : map) = false;
    if ((map || inspector) && !fits()) map = inspector = false;
    PanelWidths widths;
    const float room = room_beside_stage(window, map, inspector);
    if (map) widths.map = std::max(wanted.map, kLeastMap);
    if (inspector) widths.inspector = std::max(wanted.inspector, kLeastInspector);
    // What is too much is taken from both in proportion to what each has to spare.
    const float spare_map = map ? widths.map - kLeastMap : 0.0F;
    const float spare_inspector = inspector ? widths.inspector - kLeastInspector : 0.0F;
    const float excess = widths.map + widths.inspector - room;
    if (excess > 0.0F && spare_map + spare_inspector > 0.0F) {
        const float part = std::min(excess / (spare_map + spare_inspector), 1.0F);
        widths.map -= spare_map * part;
        widths.inspector -= spare_inspector * part;
    }
    widths.most_map = std::max(room - widths.inspector, kLeastMap);
    widths.most_inspector = std::max(room - widths.map, kLeastInspector);
    return widths;
}

}  // namespace decoderscope
