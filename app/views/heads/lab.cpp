#include "app/views/heads/lab.h"

#include "app/core/heads/head_scores.h"
#include "app/core/heads/head_switches.h"
#include "app/core/heads/strongest_weight.h"
#include "app/core/step/exhibit_step.h"
#include "app/views/heads/heads_tab.h"
#include "engine/translate.h"

namespace decoderscope {

namespace {

// The stage shows patterns, so their heads and layers are collected, not those of the cursor's step.
void add_exports(ExportScene& scene) {
    const HeadsTabState& heads = scene.state.lab<HeadsTabState>();
    const Plan& plan = scene.shown.run->plan();
    scene.gathers_step = false;
    const std::vector<std::string> attentions = attentions_of_kind(plan, heads.kind);
    const Ref pattern =
        plan.find((heads.opened || attentions.empty() ? heads.attention : attentions.front()) + ".pattern");
    if (pattern == nullptr || scene.shown.run->value(pattern->id).empty()) return;
    if (heads.opened)
        scene.add(tr("This head: pattern, q, k and v"), pattern->name + ".head" + std::to_string(scene.place.head),
                  [shown = scene.shown, attention = heads.attention, place = scene.place] {
                      return head_exhibit(shown, attention, place);
                  });
    // The grid shows all of them.
    add_gathered(scene, *pattern, heads.opened ? GatheredFirst::this_layer : GatheredFirst::all_layers);
}

// The head with the strongest weight, switched off; on again if it is off.
std::optional<Suggestion> suggest(const Session& session) {
    const Snapshot& shown = session.shown();
    const Plan& plan = shown.run->plan();
    const Ref opening = plan.find(opening_cursor(*shown.scenario.model(), plan).step);
    if (opening == nullptr || opening->attention.empty()) return std::nullopt;
    const Value<ShownStrongestWeight> strongest =
        shown_strongest_weight(session.derived(), shown, opening->attention, session.cursor().place.batch);
    if (!strongest->found) return std::nullopt;
    const Index head = strongest->found->cell[1];
    const bool off = head_factor(shown.scenario.edits, opening->attention, head) == 0.0F;
    return Suggestion{.title = off ? tr("Switch head {head} on again", {{"head", head}})
                                   : tr("Switch off head {head}", {{"head", head}}),
                      .commands = {command::GoTo{opening->attention + ".pattern"}, command::ChooseHead{head},
                                   command::ScaleHeadTo{opening->attention, head, off ? 1.0F : 0.0F}}};
}

void leave(ViewState& state) { state.lab<HeadsTabState>().preview.reset(); }

}  // namespace

Lab heads_lab() {
    return {.id = "heads",
            .title = message("Heads"),
            .question = message("What does each head look at?"),
            .key = Key::h,
            .term = "head",
            .draw = draw_heads_tab,
            .suggest = suggest,
            .leave = leave,
            .add_exports = add_exports,
            .computes = true};
}

}  // namespace decoderscope
