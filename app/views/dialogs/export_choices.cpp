#include "app/views/dialogs/export_choices.h"

#include "app/core/generate/generation.h"
#include "app/core/heads/head_scores.h"
#include "app/core/norms/depth_curves.h"
#include "app/core/norms/norm_row.h"
#include "app/core/text/labels.h"
#include "app/views/generate/generate_parts.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/shell/view_state.h"

#include <algorithm>

namespace decoderscope {

namespace {

// What all choices are made from.
struct Scene {
    const Session& session;
    const ViewState& state;
    ShownRun shown;
    const Step& step;
    Place place;
    std::vector<ExportChoice> choices;

    void add(std::string label, std::string name, std::function<Exhibit()> exhibit, bool each = false) {
        choices.push_back({std::move(label), std::move(name), each, std::move(exhibit)});
    }
    // One that is made already, if it could be.
    void add(std::string label, std::string name, const std::optional<Exhibit>& exhibit) {
        if (exhibit) add(std::move(label), std::move(name), [exhibit] { return *exhibit; });
    }
};

bool has_heads(const Step& step) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i)
        if (step.axes[i].name == axis::head && step.axes[i].size > 1) return true;
    return false;
}

bool has_twins(const Run& run, const Step& step) {
    return block_number(step) >= 0 && run.plan().find(name_in_block(step, block_number(step) == 0 ? 1 : 0)) != nullptr;
}

std::string in_all_layers(const Step& step) {
    return step.block.substr(0, step.block.rfind('.')) + step.name.substr(step.block.size());
}

// Its heads, and its twins in other layers.
void add_gathered(Scene& scene, const Step& step, Place place) {
    const auto gathered = [shown = scene.shown, &step, place](Gathering gathering) {
        return [shown, &step, place, gathering] { return gathered_exhibit(shown, step, place, gathering); };
    };
    const bool heads = has_heads(step), twins = has_twins(*scene.shown.run, step);
    if (heads) scene.add("All heads of this layer", step.name + ".heads", gathered({.all_heads = true}));
    if (twins)
        scene.add(heads ? "This head in all layers" : "All layers", in_all_layers(step) + ".layers",
                  gathered({.all_layers = true}));
    if (heads && twins)
        scene.add("All heads of all layers", in_all_layers(step) + ".all",
                  gathered({.all_heads = true, .all_layers = true}));
    if (heads)
        scene.add("Each head of all layers, a file each", in_all_layers(step) + ".files",
                  gathered({.all_heads = true, .all_layers = twins}), true);
}

void add_step(Scene& scene) {
    const Step& step = scene.step;
    if (scene.shown.run->value(step.id).empty()) return;
    scene.add("This step", step.name,
              [shown = scene.shown, &step, place = scene.place] { return step_exhibit(shown, step, place); });
    if (!step.operands.empty())
        scene.add("This step with its operands", step.name + ".operands",
                  [shown = scene.shown, &step, place = scene.place] { return step_exhibit(shown, step, place, true); });
}

// ---- what each tab shows

void add_heads_tab(Scene& scene) {
    const HeadsTabState& heads = scene.state.heads;
    const Plan& plan = scene.shown.run->plan();
    const std::vector<std::string> attentions = attentions_of_kind(plan, heads.kind);
    const Ref pattern =
        plan.find((heads.opened || attentions.empty() ? heads.attention : attentions.front()) + ".pattern");
    if (pattern == nullptr || scene.shown.run->value(pattern->id).empty()) return;
    if (heads.opened) {
        scene.add("This head: pattern, q, k and v", pattern->name + ".head" + std::to_string(scene.place.head),
                  [shown = scene.shown, attention = heads.attention, place = scene.place] {
                      return head_exhibit(shown, attention, place);
                  });
        return add_gathered(scene, *pattern, scene.place);
    }
    add_gathered(scene, *pattern, scene.place);
    // The grid shows all of them.
    const auto all = std::find_if(scene.choices.begin(), scene.choices.end(),
                                  [](const ExportChoice& choice) { return choice.label == "All heads of all layers"; });
    if (all != scene.choices.end()) std::rotate(scene.choices.begin(), all, all + 1);
}

void add_masks_tab(Scene& scene) {
    const std::string attention = shown_attention(scene.session);
    if (scene.shown.run->plan().find(attention + ".mask") == nullptr) return;
    scene.add("Masks, scores, pattern and output", attention + ".masks",
              [shown = scene.shown, attention, place = scene.place] { return masks_exhibit(shown, attention, place); });
}

void add_norms_tab(Scene& scene) {
    const NormsTabState& norms = scene.state.norms;
    if (!norms.shown) return;
    const ShownRun pre = {norms.shown->pre.scenario, norms.shown->pre.run},
                   post = {norms.shown->post.scenario, norms.shown->post.run};
    const std::string prefix = scene.step.in_encoder() ? "encoder." : "";
    scene.add("The curves by depth", "norm-curves", [own = scene.shown.scenario, pre, post, prefix] {
        return depth_exhibit(own, depth_curves(*pre.run, prefix), depth_curves(*post.run, prefix));
    });
    if (!scene.step.is_source())
        scene.add("The same step in both", scene.step.name + ".norms",
                  norms_step_exhibit(pre, post, scene.step.name, scene.place));
    const std::string block = scene.step.block.empty() ? prefix + "blocks.0" : scene.step.block;
    const std::vector<std::string> rows = norms_of_block(pre.run->plan(), block, prefix);
    std::string norm = rows.empty() ? "" : rows.front();
    for (const std::string& name : rows)
        if (is_of_norm(scene.step, name)) norm = name;
    scene.add("One row of " + norm, norm + ".row", norm_row_exhibit(pre, post, norm, scene.place.batch, norms.row));
    const auto shown = static_cast<std::ptrdiff_t>(norms.view);
    if (shown < static_cast<std::ptrdiff_t>(scene.choices.size()))
        std::rotate(scene.choices.begin(), scene.choices.begin() + shown, scene.choices.begin() + shown + 1);
}

void add_generate_tab(Scene& scene) {
    const GenerateTabState& generate = scene.state.generate;
    if (!generation_obstacle(scene.shown.scenario).empty()) return;
    const Index row = scene.place.batch;
    if (generate.page == GeneratePage::cache)
        scene.add("k and v of this layer and head", "kv-cache",
                  [shown = scene.shown, layer = generate.layer, place = scene.place] {
                      return cache_exhibit(shown, layer, place);
                  });
    const Companion* lens = scene.session.shown().companion(kLensRun);
    if (generate.page == GeneratePage::lens && lens != nullptr)
        scene.add("The logit lens", "logit-lens",
                  [shown = scene.shown, run = lens->run, row] { return lens_exhibit(shown, run, row); });
    scene.add("The next token's probabilities", "next-token",
              next_token_exhibit(scene.shown, row, scene.session.sampling()));
}

void add_diff_tab(Scene& scene) {
    const Value<ShownComparison>& diff = scene.state.diff.shown;
    if (!diff || diff->of.lock() != scene.session.shown().run) return;
    scene.add("A, B and the difference", scene.step.name + ".difference",
              difference_exhibit(scene.shown, diff->reference, scene.step, scene.place, diff->comparison.tolerance));
}

}  // namespace

std::vector<ExportChoice> export_choices(const Session& session, const ViewState& state) {
    const Snapshot& shown = session.shown();
    Scene scene{session, state, {shown.scenario, shown.run}, session.step(), session.cursor().place, {}};
    switch (state.tab) {
        case Tab::step:
            break;
        case Tab::heads:
            add_heads_tab(scene);
            break;
        case Tab::masks:
            add_masks_tab(scene);
            break;
        case Tab::norms:
            add_norms_tab(scene);
            break;
        case Tab::generate:
            add_generate_tab(scene);
            break;
        case Tab::diff:
            add_diff_tab(scene);
            break;
    }
    add_step(scene);
    if (state.tab != Tab::heads) add_gathered(scene, scene.step, scene.place);
    return std::move(scene.choices);
}

}  // namespace decoderscope
