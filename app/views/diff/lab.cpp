#include "app/views/diff/lab.h"

#include "app/core/diff/exhibit_diff.h"
#include "app/views/diff/diff_parts.h"
#include "app/views/diff/diff_tab.h"
#include "engine/trace/recorded_model.h"
#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

constexpr std::string_view kId = kDiffLab;

void add_exports(ExportScene& scene) {
    const Value<ShownComparison>& diff = scene.state.lab<DiffTabState>().shown;
    if (!diff || diff->of.lock() != scene.session.shown().run) return;
    scene.add_if_any(tr("A, B and the difference"), scene.step.name + ".difference", [&] {
        return difference_exhibit(scene.shown, diff->reference, scene.step, scene.place, diff->comparison.tolerance);
    });
}

void leave(ViewState& state) {
    DiffTabState& diff = state.lab<DiffTabState>();
    diff.asked.reset();
    diff.shown = {};
}

void pin(const Session&, ViewState& state, Commands& commands) {
    state.tab = kId;
    state.lab<DiffTabState>().against = Against::pinned;
    commands.push_back(command::Pin{});
}

std::vector<Action> actions_of_runs() {
    return {{.label = message("Pin this run to compare later ones with"), .run = pin}};
}

// The file to compare with is not saved here: the session knows and saves it.
void save(const ViewState& state, SavedView& saved) {
    const DiffTabState& diff = state.lab<DiffTabState>();
    saved.compare = {diff.against, diff.option, {}, diff.tolerance, diff.bisect.question};
    // Sorted, as a session file has them.
    std::ranges::sort(saved.compare.bisect.chosen, {}, &ChosenMatch::theirs);
}

void restore(ViewState& state, const SavedView& saved) {
    DiffTabState& diff = state.lab<DiffTabState>();
    diff.against = saved.compare.against;
    diff.option = saved.compare.option;
    diff.tolerance = saved.compare.tolerance;
    diff.typed.fill('\0');
    const std::string& file = saved.compare.file;
    diff.bisect = {.path = file, .question = saved.compare.bisect};
    std::copy_n(file.begin(), std::min(file.size(), diff.typed.size() - 1), diff.typed.begin());
}

// A trace from another program, to compare with.
std::optional<Command> take_file(const Session& session, ViewState& state, const std::string& path) {
    const bool recording = is_recording(path);
    if (!recording && !path.ends_with(".safetensors")) return std::nullopt;
    DiffTabState& diff = state.lab<DiffTabState>();
    // What our names don't tell is aligned by bisecting; two recordings are compared by their names.
    const bool bisects = session.scenario().computes() && (recording || diff.against == Against::bisect);
    return bisects ? bisect_with_file(diff, path) : compare_with_file(diff, path);
}

}  // namespace

Lab diff_lab() {
    return {.id = kId,
            .title = message("Diff"),
            .question = message("What changed?"),
            .key = Key::c,
            .term = "difference",
            .draw = draw_diff_tab,
            .least_height = [](float) { return 480.0F; },
            .inspect = inspect_difference,
            .leave = leave,
            .add_exports = add_exports,
            .actions = actions_of_runs,
            .save = save,
            .restore = restore,
            .take_file = take_file};
}

}  // namespace decoderscope
