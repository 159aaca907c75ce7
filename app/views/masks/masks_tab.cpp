#include "app/views/masks/masks_tab.h"

#include "app/core/masks/mask_edits.h"
#include "app/core/text/labels.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/shell/panels.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace decoderscope {

namespace {

// The attention that we look at: that of the current step, else the self-attention of its block, else the first.
std::string attention_looked_at(const Session& session) {
    const Plan& plan = session.shown().run->plan();
    const Step& step = session.step();
    for (const std::string& name : {attention_of(step), step.block + ".attn"})
        if (!name.empty() && plan.find(name + ".mask") != nullptr) return name;
    return "blocks.0.attn";
}

MaskPicture picture_of(const Session& session, ViewState& state, const std::string& name, const char* title,
                       Place place) {
    const Snapshot& shown = session.shown();
    const Step& step = *shown.run->plan().find(name);
    const ShownHeatmap& made = state.heatmaps.get(shown, step, place);
    MaskPicture picture{&step, made.heatmap, made.changed, step.axes.back().name == axis::key};
    picture.heatmap.title = title;
    return picture;
}

// Makes what is shown anew where the snapshot, the attention or the place is another.
void keep_shown(const Session& session, ViewState& state, const std::string& attention, Place place) {
    MasksShown& shown = state.masks.shown;
    const Snapshot& snapshot = session.shown();
    if (shown.version == snapshot.version && shown.attention == attention && shown.place == place) return;
    const Config& config = snapshot.scenario.config();
    shown.steps = session.timeline().size();
    shown.version = snapshot.version;
    shown.attention = attention;
    shown.place = place;
    shown.parts = mask_parts(snapshot.scenario, *snapshot.run, attention, place);
    shown.raw = picture_of(session, state, attention + ".attn_scores", "raw scores", place);
    shown.masked = picture_of(session, state, attention + ".masked_scores", "masked scores", place);
    shown.pattern = picture_of(session, state, attention + ".pattern", "pattern", place);
    shown.output = picture_of(session, state, attention + ".z", "output z", place);
    const Step& target = *snapshot.run->plan().find("blocks.0.attn.mask");
    shown.tokens = axis_labels(snapshot.scenario, target, 2, place.batch);
    shown.fill = fill_consequences(*snapshot.run, attention, place, config.nhead, config.mask_value);
}

// Looks for NaN in the run that is shown: at once where it is small, else beside the window.
void keep_nan_trail(const Session& session, ViewState& state) {
    constexpr std::size_t kBytesAtOnce = 20'000'000;
    MasksShown& shown = state.masks.shown;
    if (auto found = shown.searched.take()) std::tie(shown.run, shown.nan) = std::move(*found);
    const std::shared_ptr<const Run> run = session.shown().run;
    if (shown.run == run) return;
    if (shown.searched.busy()) {
        state.busy = true;  // until it is found
        return;
    }
    const auto search = [run, before = shown.run, known = shown.nan] {
        return std::pair{run, before ? nan_trail(*run, *before, known) : nan_trail(*run)};
    };
    if (run->recorded_bytes() <= kBytesAtOnce) {
        std::tie(shown.run, shown.nan) = search();
        return;
    }
    shown.searched.start(search);
    state.busy = true;
}

// ---- the leak test's companion

// The position that is changed: the chosen one, else the last that is no padding.
void keep_leak_position(const Session& session, MasksTabState& tab) {
    const Inputs& inputs = session.shown().scenario.inputs;
    const Index batch = session.cursor().place.batch;
    if (tab.chosen_batch != batch || tab.chosen_position >= inputs.pos()) tab.chosen_position.reset();
    const Index last = kept_length(inputs.attention_mask, batch, inputs.pos()) - 1;
    tab.leak_position = tab.chosen_position.value_or(std::min(std::max<Index>(last, 1), inputs.pos() - 1));
}

void ask_for_leak_run(const Session& session, MasksTabState& tab, Commands& commands) {
    const Snapshot& shown = session.shown();
    const Index batch = session.cursor().place.batch;
    if (tab.asked_for == shown.version && tab.asked_batch == batch && tab.asked_position == tab.leak_position) return;
    tab.asked_for = shown.version;
    tab.asked_batch = batch;
    tab.asked_position = tab.leak_position;
    const Variation wanted = leak_variation(shown.scenario, *shown.run, batch, tab.leak_position);
    if (tab.asked && *tab.asked == wanted && shown.companions.contains(kLeakRun)) return;
    tab.asked = wanted;
    commands.push_back(command::Accompany{kLeakRun, wanted});
}

// Measures once for a pair of runs, a frame's worth at a time. While the companion is still that of the run before, or
// is being compared, nothing is claimed.
void keep_leak(const Session& session, ViewState& state) {
    constexpr std::size_t kNumbersAFrame = 1'000'000;
    MasksTabState& tab = state.masks;
    const Snapshot& shown = session.shown();
    const Companion* companion = shown.companion(kLeakRun);
    LeakShown& leak = tab.leak;
    leak.current = false;
    if (companion == nullptr || !tab.asked || companion->variation != *tab.asked) return;
    if (leak.changed != companion->run) {
        leak = {.run = shown.run,
                .changed = companion->run,
                .test = LeakTest(shown.run, companion->run, tab.asked_batch, tab.asked_position),
                .batch = tab.asked_batch};
    }
    if (leak.run != shown.run) return;
    if (leak.test && leak.test->advance(kNumbersAFrame)) {
        leak.leak = leak.test->leak();
        leak.test.reset();
    }
    leak.current = !leak.test;
    state.busy = state.busy || leak.test.has_value();
}

}  // namespace

void draw_masks_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    const std::string attention = attention_looked_at(session);
    const Place place = session.cursor().place;
    state.hovered.reset();
    state.masks.hovered = std::exchange(state.masks.hovered_next, std::nullopt);
    keep_shown(session, state, attention, place);
    keep_nan_trail(session, state);
    keep_leak_position(session, state.masks);
    ask_for_leak_run(session, state.masks, commands);
    keep_leak(session, state);

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
    const MasksScene scene = {ui, session, state, commands, attention, place, area.high.y - choices - findings - gap};
    draw_mask_tools(scene, part(tools));
    draw_mask_parts(scene, part(parts));
    draw_mask_chain(scene, part(pictures - parts - gap));
    const Area below = part(findings);
    const float middle = std::floor((left + right) * 0.5F);
    draw_fill(scene, {below.low, {middle - gap * 1.5F, below.high.y}});
    draw_leak(scene, {{middle + gap * 1.5F, below.low.y}, below.high});
    draw_choices(ui, session, state, {{left, area.high.y - choices}, {right, area.high.y}}, commands);
}

}  // namespace decoderscope
