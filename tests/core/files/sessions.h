#pragma once

#include "app/core/files/saved_session.h"
#include "engine/load/bundled_models.h"

#include <optional>
#include <string>
#include <utility>

namespace decoderscope::testing {

using namespace decoderscope::core::files;
using namespace decoderscope::core;
using namespace decoderscope::load;

inline SavedSession work_of(Scenario scenario) {
    SavedSession work;
    work.scenario = std::move(scenario);
    return work;
}

// Work on a bundled model in which nothing is as it opens; it uses no file.
inline SavedSession changed_work(Overrides overrides = {{"norm_first", "true"}}) {
    SavedSession work = work_of(scenario_of(make_bundled_model("causal-lm-as-meant")));
    Scenario& scenario = work.scenario;
    scenario.inputs.tokens = Tensor({{axis::batch, 2}, {axis::pos, 4}}, {1, 2, 3, 4, 5, 6, 0, 0});
    scenario.inputs.attention_mask = Tensor({{axis::batch, 2}, {axis::pos, 4}}, {1, 0, 1, 1, 1, 1, 0, 0});
    scenario.inputs.custom_mask =
        Tensor({{axis::query, 4}, {axis::key, 4}}, {1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1});
    scenario.set_overrides(overrides);
    scenario.edits = {MaskEdit{"blocks.0.attn", 0, std::nullopt, 3, 1, false}, ScaleHead{"blocks.1.attn", 3, 0.1F},
                      SetCell{"blocks.2.attn.z", {1, 2, 0, 5}, 1.0F / 3.0F}};
    scenario.dropout_seed = 18446744073709551615U;
    scenario.gradient_target = "blocks.0.attn.z[0, 1, 2, 3]";
    scenario.generated = {{1, {5, 6}}};
    work.sampling = {.temperature = 0.7, .top_k = 3, .top_p = 0.9, .seed = 12345678901234567890U};
    work.cursor = {"blocks.3.attn.pattern", {1, 7}, Cell{1, 7, 3, 0}};
    work.view.tab = "compare";
    work.view.tabs["compare"] = R"({"norms":{"gain":0.1,"layers":12,"row":3,"shift":1.5,"view":"row"},"with":"norms"})";
    Scenario pinned = scenario_of(scenario.model());
    pinned.edits = {ScaleHead{"blocks.0.attn", 0, 0.0F}};
    work.pins = {{"without head 0", pinned}};
    return work;
}

// The text of a session of a bundled model with these further members.
inline std::string session(const std::string& members) {
    return R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"})" +
           (members.empty() ? "" : ", " + members) + "}";
}

}  // namespace decoderscope::testing
