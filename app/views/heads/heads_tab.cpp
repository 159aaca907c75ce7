#include "app/views/heads/heads_tab.h"

#include "app/core/heads/head_scores.h"
#include "app/core/text/labels.h"
#include "app/views/heads/effect_strip.h"
#include "app/views/heads/head_page.h"
#include "app/views/heads/heads_grid.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/input.h"

#include <algorithm>

namespace decoderscope {

namespace {

// Follows the cursor: the page shows the attention that the cursor is in, and the grid its kind.
void follow_cursor(const Session& session, HeadsTabState& heads) {
    const Plan& plan = session.shown().run->plan();
    const Step& step = session.step();
    std::string attention = step.attention;
    const Ref seen = plan.find(heads.attention + ".pattern");
    if (attention.empty() && !step.block.empty() && (seen == nullptr || seen->block != step.block))
        attention = step.block + ".attn";
    if (plan.find(attention + ".pattern") != nullptr && attention != heads.attention) {
        heads.attention = attention;
        heads.kind = kind_of_attention(plan, attention);
    }
    if (plan.find(heads.attention + ".pattern") == nullptr) heads.attention = "blocks.0.attn";
    if (heads.opened) heads.kind = kind_of_attention(plan, heads.attention);
    if (attentions_of_kind(plan, heads.kind).empty()) heads.kind = AttentionKind::self;
}

// While nothing is edited, the page shows what the output would be without its head: requests that companion run.
void ask_for_preview(const Session& session, HeadsTabState& heads, Commands& commands) {
    std::optional<Variation> wanted;
    if (heads.opened && session.scenario().edits.empty())
        wanted = Variation{.more_edits = {ScaleHead{heads.attention, session.cursor().place.head, 0.0F}}};
    if (wanted == heads.preview) return;
    commands.push_back(command::Accompany{kHeadPreview, wanted});
    heads.preview = wanted;
}

}  // namespace

void draw_heads_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    HeadsTabState& heads = state.lab<HeadsTabState>();
    // Escape first deselects the cell, then leads back to the grid. Enter opens the head that is outlined there.
    const bool escape = state.dialog == Dialog::none && !typing() && pressed(Key::escape);
    if (escape && !session.cursor().cell) heads.opened = false;
    follow_cursor(session, heads);
    if (!heads.opened && state.dialog == Dialog::none && !typing() && pressed(Key::enter)) {
        heads.opened = true;
        commands.push_back(command::GoTo{heads.attention + ".pattern"});
    }
    ask_for_preview(session, heads, commands);
    const float pad = ui.px(16);
    const Area inner = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(8)}};
    const float strip = effect_strip_height(ui, session, heads);
    const Area upper = {inner.low, {inner.high.x, inner.high.y - strip - ui.px(8)}};
    if (heads.opened)
        draw_head_page(ui, session, state, upper, commands);
    else
        draw_heads_grid(ui, session, state, upper, commands);
    draw_effect_strip(ui, session, state, {{inner.low.x, inner.high.y - strip}, inner.high});
}

}  // namespace decoderscope
