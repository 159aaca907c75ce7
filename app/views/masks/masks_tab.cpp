#include "app/views/masks/masks_tab.h"

#include "app/core/masks/mask_edits.h"
#include "app/core/text/labels.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/shell/panels.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace decoderscope {

namespace {

// ---- the leak test's companion

// The position that is changed: the chosen one, else the last one that is not padding.
void keep_leak_position(const Session& session, MasksTabState& tab) {
    const Inputs& inputs = session.shown().scenario.inputs;
    const Index batch = session.cursor().place.batch;
    if (tab.chosen_batch != batch || tab.chosen_position >= inputs.pos()) tab.chosen_position.reset();
    const Index last = kept_length(inputs.attention_mask, batch, inputs.pos()) - 1;
    tab.leak_position = tab.chosen_position.value_or(std::min(std::max<Index>(last, 1), inputs.pos() - 1));
}

void ask_for_leak_run(const Session& session, MasksTabState& tab, Commands& commands) {
    const Snapshot& shown = session.shown();
    const Value<Variation> wanted = shown_leak_variation(session.derived(), shown.scenario, shown.run,
                                                         session.cursor().place.batch, tab.leak_position);
    if (std::exchange(tab.asked_for, wanted.number()) == wanted.number()) return;
    if (tab.asked && *tab.asked == *wanted && shown.companions.contains(kLeakRun)) return;
    tab.asked = *wanted;
    commands.push_back(command::Accompany{kLeakRun, *wanted});
}

// The result of the leak test; empty while the companion still belongs to the previous run, or is being compared.
Value<Leak> leak_found(const Session& session, const MasksTabState& tab) {
    const Snapshot& shown = session.shown();
    const Companion* companion = shown.companion(kLeakRun);
    const bool current =
        companion != nullptr && tab.asked && companion->variation == *tab.asked && companion->beside == shown.run;
    if (!current) return {};
    return shown_leak(session.derived(), shown.run, companion->run, session.cursor().place.batch, tab.leak_position);
}

}  // namespace

std::string shown_attention(const Session& session) {
    const Plan& plan = session.shown().run->plan();
    const Step& step = session.step();
    for (const std::string& name : {step.attention, step.block + ".attn"})
        if (!name.empty() && plan.find(name + ".mask") != nullptr) return name;
    return "blocks.0.attn";
}

void draw_masks_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    const std::string attention = shown_attention(session);
    const Place place = session.cursor().place;
    state.hovered.reset();
    state.lab<MasksTabState>().hovered = std::exchange(state.lab<MasksTabState>().hovered_next, std::nullopt);
    keep_leak_position(session, state.lab<MasksTabState>());
    ask_for_leak_run(session, state.lab<MasksTabState>(), commands);

    const float pad = ui.px(16), gap = ui.px(8);
    const float left = area.low.x + pad, right = area.high.x - pad;
    const float tools = ui.px(28), findings = ui.px(168), choices = ui.px(72);
    const float pictures = area.height() - tools - findings - choices - gap * 4;
    const float parts = std::floor(pictures * 0.38F);
    float y = area.low.y + gap;
    const auto part = [&](float height) {
        const Area box = {{left, y}, {right, y + height}};
        y += height + gap;
        return box;
    };
    const MasksScene scene = {ui,
                              session,
                              state,
                              commands,
                              attention,
                              place,
                              area.high.y - choices - findings - gap,
                              shown_masks(session.derived(), session.shown(), attention, place),
                              shown_nan_trail(session.derived(), session.shown().run),
                              leak_found(session, state.lab<MasksTabState>())};
    draw_mask_tools(scene, part(tools));
    draw_mask_parts(scene, part(parts));
    draw_mask_chain(scene, part(pictures - parts - gap));
    const Area below = part(findings);
    const float middle = std::floor((left + right) * 0.5F);
    draw_fill(scene, {below.low, {middle - gap * 1.5F, below.high.y}});
    draw_leak(scene, {{middle + gap * 1.5F, below.low.y}, below.high});
    draw_choices(ui, session, state, {{left, area.high.y - choices}, {right, area.high.y}}, commands, Brush::always);
}

}  // namespace decoderscope
