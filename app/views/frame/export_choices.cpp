#include "app/views/frame/export_choices.h"

#include "app/core/run/labels.h"
#include "app/views/frame/tab.h"
#include "engine/base/translate.h"

#include <utility>

namespace decoderscope::views {

core::Exhibit ExportChoice::in_english() const {
    const InEnglish english;
    return exhibit();
}

void ExportScene::add(std::string label, std::string file_name, std::function<core::Exhibit()> exhibit) {
    choices.push_back({std::move(label), std::move(file_name), false, std::move(exhibit)});
}

void ExportScene::add_if_any(std::string label, std::string file_name,
                             const std::function<std::optional<core::Exhibit>()>& make) {
    const InEnglish english;
    if (std::optional<core::Exhibit> exhibit = make())
        add(std::move(label), std::move(file_name), [exhibit] { return *exhibit; });
}

namespace {

bool has_heads(const Step& step) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i)
        if (step.axes[i].name == axis::head && step.axes[i].size > 1) return true;
    return false;
}

bool has_twins(const Run& run, const Step& step) {
    return core::block_number(step) >= 0 && run.plan().twin_in(step, core::block_number(step) == 0 ? 1 : 0) != nullptr;
}

std::string in_all_layers(const Step& step) {
    return step.block.substr(0, step.block.rfind('.')) + step.name.substr(step.block.size());
}

void add_step(ExportScene& scene) {
    const Step& step = scene.step;
    if (scene.shown.run->value(step.id).empty()) return;
    scene.add(tr("This step"), step.name,
              [shown = scene.shown, &step, place = scene.place] { return core::step_exhibit(shown, step, place); });
    if (!step.operands.empty())
        scene.add(
            tr("This step with its operands"), step.name + ".operands",
            [shown = scene.shown, &step, place = scene.place] { return core::step_exhibit(shown, step, place, true); });
}

}  // namespace

void add_gathered(ExportScene& scene, const Step& step, GatheredFirst first) {
    const auto gathered = [shown = scene.shown, &step, place = scene.place](core::Gathering gathering) {
        return [shown, &step, place, gathering] { return core::gathered_exhibit(shown, step, place, gathering); };
    };
    const bool heads = has_heads(step), twins = has_twins(*scene.shown.run, step);
    std::optional<ExportChoice> all;
    if (heads && twins)
        all = {tr("All heads of all layers"), in_all_layers(step) + ".all", false,
               gathered({.all_heads = true, .all_layers = true})};
    if (all && first == GatheredFirst::all_layers) scene.choices.push_back(*std::exchange(all, std::nullopt));
    if (heads) scene.add(tr("All heads of this layer"), step.name + ".heads", gathered({.all_heads = true}));
    if (twins)
        scene.add(heads ? tr("This head in all layers") : tr("All layers"), in_all_layers(step) + ".layers",
                  gathered({.all_layers = true}));
    if (all) scene.choices.push_back(*all);
    if (heads)
        scene.choices.push_back({tr("Each head of all layers, one file per head"), in_all_layers(step) + ".files", true,
                                 gathered({.all_heads = true, .all_layers = twins})});
}

std::vector<ExportChoice> export_choices(const core::Session& session, const ViewState& state) {
    const core::Snapshot& shown = session.shown();
    ExportScene scene{session,
                      state,
                      {shown.scenario, shown.run, session.notes(), [unedited = shown.unedited] { return unedited; }},
                      session.step(),
                      session.cursor().place};
    if (const Tab* tab = find_tab(state.tab);
        tab != nullptr && tab->add_exports != nullptr && has_something(*tab, scene.session))
        tab->add_exports(scene);
    add_step(scene);
    if (scene.gathers_step && !scene.shown.run->value(scene.step.id).empty()) add_gathered(scene, scene.step);
    return std::move(scene.choices);
}

}  // namespace decoderscope::views
