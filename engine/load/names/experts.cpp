#include "engine/load/assets.h"
#include "engine/load/names/parts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace decoderscope::load::names {

namespace {

// The place of the component "experts"; the path's length if there is none.
std::size_t depth_of_experts(const Path& path) {
    return static_cast<std::size_t>(std::ranges::find(path, "experts") - path.begin());
}

// gate, up or down, as Llama's MLP or Mixtral's has them.
std::optional<std::string> projection_of(const std::string& name) {
    const OrderedJson& known = asset_table("names")["experts"];
    const auto found = known.find(name);
    return found != known.end() ? std::optional(found->get<std::string>()) : std::nullopt;
}

// "experts.3.gate_proj"
std::optional<Assigned> one_expert(const Module& module) {
    const std::size_t depth = depth_of_experts(module.path);
    if (depth + 3 != module.path.size()) return std::nullopt;
    const Index expert = number(module.path[depth + 1]);
    const auto projection = projection_of(module.path.back());
    if (expert < 0 || !projection) return std::nullopt;
    return Assigned{module, "experts." + *projection, RowLayout::expert, expert, true};
}

// MXFP4's numbers are stored with each output's row in one piece.
constexpr std::string_view kBlocks = "_blocks";  // not a message: the end of a name

// "experts.gate_up_proj" and "experts.down_proj", each with its bias. If there is a bias (gpt-oss), gate and up stand
// in turn, and matrices that aren't packed are [in, out].
std::optional<Assigned> all_experts(const Module& module, bool biased) {
    const std::size_t depth = depth_of_experts(module.path);
    if (depth + 2 != module.path.size()) return std::nullopt;
    std::string name = module.path.back();
    const bool packed = name.ends_with(kBlocks);
    if (packed) name.resize(name.size() - kBlocks.size());
    const bool turned = biased && !packed;
    if (name == "gate_up_proj") {
        const RowLayout straight = biased ? RowLayout::of_experts_in_turn : RowLayout::of_experts;
        return Assigned{module, "experts.{gate,up}_proj", turned ? RowLayout::of_experts_in_turn_turned : straight, 0,
                        true};
    }
    if (!projection_of(name)) return std::nullopt;
    return Assigned{module, "experts." + name, turned ? RowLayout::of_experts_turned : RowLayout::as_stored, 0, true};
}

std::optional<Assigned> beside_experts(const Module& module) {
    const std::string& last = module.path.back();
    const std::string holder = module.path.size() > 1 ? module.path[module.path.size() - 2] : std::string();
    if (last == "e_score_correction" && module.bias)
        return Assigned{module, "router.correction", RowLayout::as_stored, 0, true, true};
    if (last == "gate" || last == "router") return Assigned{module, "router", RowLayout::as_stored, 0, true};
    if (last == "shared_expert_gate") return Assigned{module, "shared_gate", RowLayout::as_stored, 0, true};
    const auto projection = projection_of(last);
    if (projection && (holder == "shared_expert" || holder == "shared_experts"))
        return Assigned{module, "shared." + *projection, RowLayout::as_stored, 0, true};
    return std::nullopt;
}

}  // namespace

std::vector<Assigned> take_experts(Modules& modules) {
    const auto first = std::ranges::find_if(
        modules, [](const Module& module) { return depth_of_experts(module.path) < module.path.size(); });
    if (first == modules.end()) return {};
    const Path holder(first->path.begin(),
                      first->path.begin() + static_cast<std::ptrdiff_t>(depth_of_experts(first->path)));
    const bool biased = std::ranges::any_of(
        modules, [](const Module& module) { return module.path.back() == "gate_up_proj" && module.bias.has_value(); });
    std::vector<Assigned> parts;
    std::erase_if(modules, [&](const Module& module) {
        if (module.path.empty() || !begins_with(module.path, holder)) return false;
        std::optional<Assigned> found = one_expert(module);
        if (!found) found = all_experts(module, biased);
        if (!found) found = beside_experts(module);
        if (found) parts.push_back(std::move(*found));
        return found.has_value();
    });
    return parts;
}

}  // namespace decoderscope::load::names
