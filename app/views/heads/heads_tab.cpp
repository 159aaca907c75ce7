#include "app/views/heads/heads_tab.h"

#include "app/core/heads/head_pictures.h"
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

// Patterns of more weights than this are measured on a thread of their own: here it would take longer than a frame.
constexpr Index kMeasuredAtOnce = 2'000'000;

Index weights_of(const Run& run, AttentionKind kind) {
    Index weights = 0;
    for (const std::string& attention : attentions_of_kind(run.plan(), kind))
        weights += run.value(attention + ".pattern").size();
    return weights;
}

}  // namespace

const MeasuredHeads* HeadScoreCache::get(const Snapshot& shown, AttentionKind kind, Index batch) {
    if (auto measured = later_.take()) measured_ = std::move(*measured);
    const Wanted wanted = {shown.run, kind, batch};
    if (measured_ && measured_->of == wanted) return &measured_->heads;
    if (later_.busy()) return nullptr;
    const auto measure = [wanted, inputs = shown.scenario.inputs, known = measured_] {
        const auto& [run, of_kind, row] = wanted;
        const bool comparable = known && known->of.kind == of_kind && known->of.batch == row;
        return Measured{wanted,
                        {comparable ? head_scores(inputs, *run, of_kind, row, *known->of.run, known->heads.scores)
                                    : head_scores(inputs, *run, of_kind, row),
                         shared_range(*run, attentions_of_kind(run->plan(), of_kind), row)}};
    };
    if (weights_of(*shown.run, kind) > kMeasuredAtOnce) {
        later_.start(measure);
        return nullptr;
    }
    measured_ = measure();
    return &measured_->heads;
}

std::uint64_t PictureVersions::get(const Snapshot& shown, const Step& pattern) {
    const Tensor& weights = shown.run->value(pattern.id);
    const Tensor& mask = shown.run->value(pattern.attention + ".mask");
    Painted& painted = painted_[pattern.name];
    if (!painted.pattern.shares_values_with(weights) || !painted.mask.shares_values_with(mask))
        painted = {weights, mask, shown.version};
    return painted.version;
}

const std::vector<PositionEffect>& OutputEffectCache::get(const std::shared_ptr<const Run>& before,
                                                          const std::shared_ptr<const Run>& after,
                                                          const std::string& output, Index batch) {
    if (before_ != before || after_ != after || batch_ != batch)
        effects_ = position_effects(before->value(output), after->value(output), batch);
    before_ = before;
    after_ = after;
    batch_ = batch;
    return effects_;
}

namespace {

// The cursor leads: whatever attention it is in is the one that the page shows, and the grid it belongs to.
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

// While nothing is edited, the page shows what the output would be without its head: that run is asked for beside this
// one.
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
    HeadsTabState& heads = state.heads;
    // Escape lets go of a cell first; with none it leads back to the grid. Enter opens the head that is outlined there.
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
