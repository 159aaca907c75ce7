#include "app/views/step/lab.h"

#include "app/core/heads/strongest_weight.h"
#include "app/views/shell/panels.h"
#include "engine/explanation.h"
#include "engine/translate.h"

namespace decoderscope {

namespace {

// The strongest weight of the first pattern that is worth seeing.
std::optional<Suggestion> suggest(const Session& session) {
    const Snapshot& shown = session.shown();
    const Ref opening = shown.run->plan().find(opening_cursor(*shown.scenario.model(), shown.run->plan()).step);
    if (opening == nullptr || opening->attention.empty()) return std::nullopt;
    const Value<ShownStrongestWeight> strongest =
        shown_strongest_weight(session.derived(), shown, opening->attention, session.cursor().place.batch);
    if (!strongest->found) return std::nullopt;
    const StrongestWeight& weight = *strongest->found;
    return Suggestion{
        .title = tr("See where position {query} looks", {{"query", weight.cell[2]}}),
        .commands = {command::Follow{weight.pattern, weight.cell},
                     command::Tell{message("The lit cell is the strongest weight of this attention: {weight} of query "
                                           "{query} on key {key}. On the right stands how the softmax made it.",
                                           {{"weight", short_number(static_cast<double>(weight.weight))},
                                            {"query", weight.cell[2]},
                                            {"key", weight.cell[3]}}),
                                   false}}};
}

}  // namespace

// Adds no exports: every tab exports the step.
Lab step_lab() {
    return {.id = kStepLab,
            .title = message("Step"),
            .question = message("How is this tensor computed?"),
            .key = Key::s,
            .term = "step",
            .draw = draw_step_tab,
            .suggest = suggest};
}

}  // namespace decoderscope
