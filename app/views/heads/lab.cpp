#include "app/views/heads/lab.h"

#include "app/core/export/exhibits.h"
#include "app/core/heads/head_scores.h"
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

void leave(ViewState& state) { state.lab<HeadsTabState>().preview.reset(); }

}  // namespace

Lab heads_lab() {
    return {.id = "heads",
            .title = message("Heads"),
            .question = message("What does each head look at?"),
            .key = Key::h,
            .draw = draw_heads_tab,
            .leave = leave,
            .add_exports = add_exports};
}

}  // namespace decoderscope
