#include "app/views/masks/lab.h"

#include "app/core/masks/exhibit_masks.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/masks/masks_tab.h"
#include "engine/translate.h"

namespace decoderscope {

namespace {

void add_exports(ExportScene& scene) {
    const std::string attention = shown_attention(scene.session);
    if (scene.shown.run->plan().find(attention + ".mask") == nullptr) return;
    scene.add(tr("Masks, scores, pattern and output"), attention + ".masks",
              [shown = scene.shown, attention, place = scene.place] { return masks_exhibit(shown, attention, place); });
}

void leave(ViewState& state) {
    MasksTabState& masks = state.lab<MasksTabState>();
    masks.asked.reset();
    masks.asked_for = 0;
}

}  // namespace

Lab masks_lab() {
    return {.id = "masks",
            .title = message("Masks"),
            .question = message("Who hides what, and what does the fill do?"),
            .key = Key::m,
            .term = "mask",
            .draw = draw_masks_tab,
            .leave = leave,
            .add_exports = add_exports,
            .computes = true};
}

}  // namespace decoderscope
