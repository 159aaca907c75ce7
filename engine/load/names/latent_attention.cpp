#include "engine/load/assets.h"
#include "engine/load/names/parts.h"

#include <algorithm>

namespace decoderscope::load::names {

namespace {

// The projection to the latent row, which no other attention has.
bool is_down(const Module& module) { return !module.path.empty() && module.path.back() == "kv_a_proj_with_mqa"; }

}  // namespace

bool has_latent_attention(const Modules& modules) { return std::ranges::any_of(modules, is_down); }

std::vector<Assigned> take_latent_attention(Modules& modules) {
    const auto down = std::ranges::find_if(modules, is_down);
    if (down == modules.end()) return {};
    const Path holder(down->path.begin(), down->path.end() - 1);
    const OrderedJson& known = asset_table("names")["latent_attention"];
    std::vector<Assigned> taken;
    std::erase_if(modules, [&](const Module& module) {
        if (module.path.empty()) return false;
        const auto part = known.find(module.path.back());
        if (part == known.end() || module.path.size() != holder.size() + 1 || !begins_with(module.path, holder))
            return false;
        const RowLayout how = part.key() == "kv_b_proj" ? RowLayout::by_head : RowLayout::as_stored;
        taken.push_back({module, "self_attn." + part->get<std::string>(), how, 0, true});
        return true;
    });
    return taken;
}

}  // namespace decoderscope::load::names
