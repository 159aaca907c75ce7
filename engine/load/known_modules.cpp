#include "engine/load/known_modules.h"

#include "engine/base/json.h"
#include "engine/load/assets.h"

#include <algorithm>

namespace decoderscope::load {

// How a module is read from the table.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KnownModule, norm_first, activation, eps, norm, positions, mask,
                                                tied_head, scaled_embedding, interleaved, settled_scale,
                                                scaled_positions, scaled_logits, scores_by_width, may_be_gemma,
                                                partly_rotary, unscaled_scores, may_have_window, may_scale_rope,
                                                may_differ_by_layer, may_be_multiplied, capped, may_be_parallel, alibi,
                                                logit_cap, makes_positions)

namespace {

// Whether GPT-2's weights are Conv1D's, [in, out]: shown by c_attn, which is three times as long along one axis.
bool has_conv1d(const names::Shapes& stored) {
    return std::ranges::any_of(stored, [](const auto& entry) {
        const auto& [name, shape] = entry;
        return name.ends_with("c_attn.weight") && shape.size() == 2 && shape[1] / 3 == shape[0] && shape[1] % 3 == 0;
    });
}

}  // namespace

KnownModule known_module(const names::Shapes& stored, const StateDict& dict) {
    const auto has = [&](const OrderedJson& part) { return names::any_name_holds(stored, part.get<std::string>()); };
    const auto ours = [&](const OrderedJson& name) { return dict.shapes.contains(name.get<std::string>()); };
    const auto of = [](const OrderedJson& entry, const char* list) { return entry.value(list, OrderedJson()); };
    const OrderedJson& table = asset_table("known_modules");
    const auto found = std::ranges::find_if(table, [&](const OrderedJson& entry) {
        return std::ranges::all_of(of(entry, "has"), has) && std::ranges::none_of(of(entry, "lacks"), has) &&
               (!entry.contains("any") || std::ranges::any_of(entry["any"], has)) &&
               std::ranges::all_of(of(entry, "ours"), ours) && (!entry.contains("conv1d") || has_conv1d(stored)) &&
               (!entry.contains("heads") || dict.heads > 0) &&
               (!entry.contains("stored") || stored.contains(entry["stored"].get<std::string>()));
    });
    OrderedJson entry = *found;
    const OrderedJson with = of(*found, "if"), with_ours = of(*found, "if_ours");
    for (const auto& [part, change] : with.items())
        if (has(part)) entry.update(change);
    for (const auto& [name, change] : with_ours.items())
        if (ours(name)) entry.update(change);
    KnownModule module = Json(entry);
    module.name = entry.contains("called") ? Sentence::verbatim(entry["called"].get<std::string>())
                                           : asset_text(entry["name"].get<std::string>());
    return module;
}

}  // namespace decoderscope::load
