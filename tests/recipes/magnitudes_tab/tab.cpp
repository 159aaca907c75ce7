#include "tests/recipes/magnitudes_tab/tab.h"

#include "engine/base/json_object.h"
#include "engine/base/translate.h"
#include "tests/recipes/magnitudes_tab/magnitudes.h"
#include "tests/recipes/magnitudes_tab/magnitudes_tab.h"

namespace decoderscope {

using namespace decoderscope::core::files;
using namespace decoderscope::core::generate;
using namespace decoderscope::core;
using namespace decoderscope::views;

namespace {

constexpr std::string_view kId = "magnitudes";

void add_exports(ExportScene& scene) {
    scene.add(tr("The largest magnitudes"), "magnitudes", [shown = scene.shown] { return magnitudes_exhibit(shown); });
}

std::vector<Action> actions_of_list() {
    return {{.label = message("Sort the magnitudes"), .run = [](const Session&, ViewState& state, Commands&) {
                 MagnitudesTabState& tab = state.part<MagnitudesTabState>();
                 state.tab = kId;
                 tab.largest_first = !tab.largest_first;
             }}};
}

Json save(const ViewState& state) { return {{"largest_first", state.part<MagnitudesTabState>().largest_first}}; }

void restore(ViewState& state, JsonObject* saved) {
    state.part<MagnitudesTabState>().largest_first = saved != nullptr && saved->boolean("largest_first", false);
}

}  // namespace

Tab magnitudes_tab() {
    return {.id = kId,
            .title = message("Magnitudes"),
            .question = message("How large do the numbers get?"),
            .key = Key::u,
            .draw = draw_magnitudes_tab,
            .add_exports = add_exports,
            .actions = actions_of_list,
            .save = save,
            .restore = restore};
}

}  // namespace decoderscope
