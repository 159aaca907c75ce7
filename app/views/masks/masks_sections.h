#pragma once

#include "app/core/heads/head_scores.h"
#include "app/core/masks/shown_masks.h"
#include "app/core/session/session.h"
#include "app/views/masks/masks_tab.h"
#include "app/views/shell/view_state.h"
#include "app/views/widgets/prose.h"

// The parts of the Masks tab, a file each.
namespace decoderscope {

// The name of the run beside the main one, in which one position is changed.
inline constexpr const char* kLeakRun = "masks.leak";

// What every part draws from.
struct MasksScene {
    const Ui& ui;
    const Session& session;
    ViewState& state;
    Commands& commands;
    const std::string& attention;  // "blocks.0.attn"
    Place place;
    float tooltips_y;  // where the pictures' tooltips stand: below them all, so that none is covered
    Value<ShownMasks> masks;
    Value<NanTrail> nan;  // empty while it is being searched for
    Value<Leak> leak;     // empty while it isn't known

    [[nodiscard]] MasksTabState& tab() const { return state.lab<MasksTabState>(); }
    [[nodiscard]] const ShownMasks& shown() const { return *masks; }
    [[nodiscard]] const Run& run() const { return *session.shown().run; }
    // Whether the keys are the source's: cross-attention and the encoder.
    [[nodiscard]] bool keys_of_source() const {
        return kind_of_attention(run().plan(), attention) != AttentionKind::self;
    }
};

// The attention that the tab shows: that of the current step, else the self-attention of its block, else the first.
[[nodiscard]] std::string shown_attention(const Session& session);

// Which attention; what the brush takes; band, all heads, reset. One row.
void draw_mask_tools(const MasksScene& scene, Area area);
// Causal, padding and drawn, apart and combined, and the length handles of the batch's rows.
void draw_mask_parts(const MasksScene& scene, Area area);
// Raw scores → masked scores → pattern → output, and the cell under the mouse on its way through them.
void draw_mask_chain(const MasksScene& scene, Area area);
// The fill to choose and what it does.
void draw_fill(const MasksScene& scene, Area area);
// The leak test.
void draw_leak(const MasksScene& scene, Area area);

// A picture of the tab, with brush and tooltip.
void draw_mask_picture(const MasksScene& scene, const MaskPicture& picture, ImU32 color, Legend legend, Area area);

// A line of findings: a dot that says whether all is well, and a text that is cut where it does not fit.
void draw_finding(const MasksScene& scene, ImVec2 at, float width, ImU32 dot, const std::string& text, const char* tip);
// Shows a tooltip of these lines, the first one as a heading, while the mouse is in the area.
void area_tooltip(const Ui& ui, Area area, const std::vector<std::string>& lines);

}  // namespace decoderscope
