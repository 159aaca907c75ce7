#pragma once

#include "app/core/run/scenario.h"
#include "app/core/session/session.h"
#include "app/core/tabs/heads/head_scores.h"
#include "app/core/tabs/masks/shown_masks.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views::masks {

// Where a picture of the Masks tab is.
struct MaskSlot {
    Area area;
    bool labels_rows = true;  // otherwise the first picture of its line has the labels
};

// Where all of them are: the masks combined and apart, and the scores' way to the output.
struct MaskSlots {
    MaskSlot combined, leak;      // who may look at whom, and who notices if one of them is changed
    std::vector<MaskSlot> parts;  // each mask by itself that hides something
    std::array<MaskSlot, 4> chain;
    MaskSlot drawn;  // what is drawn manually: at the end, so that the first stroke moves nothing
    Area words;      // which masks hide nothing, and below that the padding's length handles
    float bottom;    // of the last line
};

// Lays out the pictures by their cells, which stay large enough to be painted: in as many lines as they need, from the
// top of the area, whose height they share where it is enough. Otherwise the bottom is below the area's.
// The leak test is beside the combined mask, or comes last.
[[nodiscard]] MaskSlots lay_out_masks(const Ui& ui, const core::masks::ShownMasks& shown, Area area, bool leak_first);

[[nodiscard]] Tab masks_tab();

// What the brush paints at once.
enum class MaskTool { cell, row, column };

// What the Masks tab remembers from frame to frame.
struct MasksTabState {
    MaskTool tool = MaskTool::cell;
    bool all_heads = false;
    Index band = 2;                   // keys that a local window spans, including the query's own
    std::optional<bool> brush_keeps;  // what the brush sets, from its first cell on
    Spot last_painted = {-1, -1};
    std::optional<core::CellRect> hovered;       // query and key under the mouse, as of the last frame
    std::optional<core::CellRect> hovered_next;  // the same, as this frame finds it
    // For the leak test; nothing: the last that a position before it was painted to see, or that is not padding.
    std::optional<Index> chosen_position;
    Index chosen_batch = 0;                 // where it was chosen
    Index leak_position = 0;                // the one that is changed now
    std::optional<Index> dragged;           // the batch row whose length handle is being dragged
    std::map<std::string, Viewport> views;  // by a picture's title
    std::size_t words_of = 0;               // the API in whose words the mask is said
};

// The parts of the Masks tab, one file each.

// The name of the companion run in which one position is changed.
inline constexpr const char* kLeakRun = "masks.leak";

// What every part draws from.
struct MasksScene {
    const Ui& ui;
    const core::Session& session;
    ViewState& state;
    Commands& commands;
    const std::string& attention;  // "blocks.0.attn"
    core::Place place;
    float pictures_left;        // the left edge of the pictures
    std::size_t control_lines;  // in how many lines the tools are
    core::Value<core::masks::ShownMasks> masks;
    core::Value<core::masks::NanTrail> nan;           // empty during the search
    core::Value<core::checks::Leak> leak;             // empty while unknown
    core::Value<core::checks::LeaksBack> leaks_back;  // the same
    core::Value<core::masks::LeakPicture> leak_picture;

    [[nodiscard]] MasksTabState& tab() const { return state.part<MasksTabState>(); }
    [[nodiscard]] const core::masks::ShownMasks& shown() const { return *masks; }
    [[nodiscard]] const Run& run() const { return *session.shown().run; }
    // Whether the keys are the source's: cross-attention and the encoder.
    [[nodiscard]] bool keys_of_source() const {
        return core::heads::kind_of_attention(run().plan(), attention) != core::heads::AttentionKind::self;
    }
};

// The attention that the tab shows: the session's, if it has a mask; otherwise the decoder's first.
[[nodiscard]] std::string shown_attention(const core::Session& session);

// Which attention; what the brush paints; band, all heads, reset.
[[nodiscard]] float mask_tools_height(const MasksScene& scene, float width);
void draw_mask_tools(const MasksScene& scene, Area area);
// All masks combined, those that hide something by themselves, the others by their words, and the length handles of the
// batch's rows.
void draw_mask_parts(const MasksScene& scene, const MaskSlots& slots);
// Raw scores → masked scores → pattern → output.
void draw_mask_chain(const MasksScene& scene, const MaskSlots& slots);
// How the cell under the mouse changes along that way.
void draw_way(const MasksScene& scene, Area area);
// Who notices, if a position is changed; a click on its row changes another one.
void draw_leak_picture(const MasksScene& scene, const MaskSlot& slot);
// The choice of the fill, and what it does.
void draw_fill(const MasksScene& scene, Area area);
// What the leak test says.
void draw_leak(const MasksScene& scene, Area area);

// A picture of the tab, with brush and tooltip.
void draw_mask_picture(const MasksScene& scene, const core::masks::MaskPicture& picture, ImU32 color, Legend legend,
                       const MaskSlot& slot);
// The sign between a picture and the one before it.
void draw_sign(const MasksScene& scene, const MaskSlot& slot, const char* sign, const std::vector<std::string>& tip);

}  // namespace decoderscope::views::masks
