#pragma once

#include "app/core/labs/heads/head_scores.h"
#include "app/core/session/session.h"
#include "app/views/frame/lab.h"
#include "app/views/frame/view_state.h"

#include <optional>
#include <string>

namespace decoderscope::views::heads {

[[nodiscard]] Lab heads_lab();

// A token of the bipartite view: a query on the left or a key on the right.
struct PatternToken {
    bool is_key = false;
    Index index = 0;
    bool operator==(const PatternToken&) const = default;
};

// What the Heads tab remembers from frame to frame.
struct HeadsTabState {
    core::heads::AttentionKind kind = core::heads::AttentionKind::self;  // which grid
    core::heads::PatternMeasure measure = core::heads::PatternMeasure::entropy;
    core::heads::HeadOrder order = core::heads::HeadOrder::by_layer;
    bool at_most = false;                // the filter shows heads up to the threshold, rather than from it on
    float choices = 0.0F;                // the height of the grid's choices, as of the last frame
    Index painted = 0;                   // weights painted in this frame
    float threshold = 0.0F;              // as a share of the highest possible value
    bool opened = false;                 // the cursor's head fills the stage
    std::string attention;               // the attention shown last, for steps that belong to none
    std::optional<PatternToken> pinned;  // its lines stay shown
    bool scaling = false;                // a head's slider is being dragged
    bool by_norm = false;                // the strip shows L2 norms, rather than largest changes
};

void draw_heads_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);
// The cursor's head in words and numbers, and which heads the run can do without.
void inspect_heads(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// The companion run in which the open head is off.
inline constexpr const char* kHeadPreview = "heads.without";

// The strip's height: the same with and without edits, so that nothing moves under the mouse; lower if there are many
// layers to show, or little room for a head's page.
[[nodiscard]] float effect_strip_height(const Ui& ui, const core::Session& session, const HeadsTabState& heads,
                                        float room);

// What the edits do to the output, one bar per position: how far the logits (or the last residual) moved from the
// unedited run. Without edits, hollow bars show what switching the open head off would do.
void draw_effect_strip(const Ui& ui, const core::Session& session, ViewState& state, Area area);

}  // namespace decoderscope::views::heads
