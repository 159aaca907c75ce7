#pragma once

#include "app/core/figure/heatmap.h"
#include "app/core/session/session.h"
#include "app/core/tabs/heads/head_scores.h"
#include "app/core/tabs/heads/shown_heads.h"
#include "app/views/frame/step_colors.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::views::heads {

// The grid of the Heads tab: every head of a kind as a small pattern. A few of them say in words what they do, and what
// the answer would be without them; more have their measure below. Above the grid is a title, with the choices of kind
// and batch row, and of order, measure and threshold behind one button.
void draw_heads_grid(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// One head filling the stage: its pattern, the lines from queries to keys, its q, k and v, and its switches.
void draw_head_page(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

[[nodiscard]] Tab heads_tab();

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
    bool at_most = false;  // the filter shows heads up to the threshold, rather than from it on
    float choices = 0.0F;  // the height of the grid's choices, as of the last frame
    StepTextures pictures{"head_grid"};
    float threshold = 0.0F;              // as a share of the highest possible value
    bool opened = false;                 // the cursor's head fills the stage
    std::string attention;               // the attention shown last, for steps that belong to none
    std::optional<PatternToken> pinned;  // its lines stay shown
    bool scaling = false;                // a head's slider is being dragged
    bool by_norm = false;                // the strip shows L2 norms, rather than largest changes
};

// The probability of the next token with all heads, and without each: what the cells of a few heads say.
struct AnswerWithout {
    std::string token;  // empty: none is predicted, or it isn't known yet
    double with_all = 0.0;
    std::map<std::pair<std::string, Index>, double> without;  // by attention and head
};

// How the grid's cells are drawn.
struct CellStyle {
    bool few = false;  // what each head does is said in words: beside its picture, or below it
    bool beside = false;
    bool named = false;   // "layer 3 head 5" over the picture: the heads are sorted
    core::Range weights;  // the range that the colours of all pictures span
    bool dense = false;   // little room: the bar lies behind the number, not under it
    bool alone = false;   // many heads in little room: pictures alone, named while they are pointed at
};

// The height of a cell's text, above and below its picture.
[[nodiscard]] float cell_text_height(const Ui& ui, CellStyle style);

// The side of a few heads' picture in a cell of this size.
[[nodiscard]] float side_of_picture(const Ui& ui, CellStyle style, ImVec2 cell);

// One head of the grid: its pattern, the measure as number and bar, and the dot that switches it. A click opens it.
void draw_head_cell(const Ui& ui, const core::Session& session, ViewState& state, const core::heads::HeadScore& score,
                    const AnswerWithout& answer, CellStyle style, Area box, Commands& commands);

// A token's weights on those of the other column; empty while they are read.
using TokenWeights = std::function<std::vector<float>(PatternToken)>;

// A pattern as lines from query tokens (left) to key tokens (right), as thick as their weights: those that `lines`
// says. While a token is lit, all of its lines are drawn and no others, with their numbers. Returns the token under the
// mouse; a click pins or unpins it.
std::optional<PatternToken> draw_bipartite(const Ui& ui, const core::Heatmap& pattern, const core::PatternLines& lines,
                                           const TokenWeights& weights_of, std::optional<PatternToken> lit,
                                           std::optional<PatternToken>& pinned, Area area);

}  // namespace decoderscope::views::heads
