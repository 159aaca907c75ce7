#include "engine/load/names/parts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace decoderscope::load::names {

namespace {

struct Part {
    const char* name;  // in the contract
    RowLayout how = RowLayout::as_stored;
};

const std::map<std::string, Part, std::less<>>& parts_by_name() {
    static const std::map<std::string, Part, std::less<>> kParts = {
        {"q_proj", {"q_proj"}},
        {"q_a_proj", {"q_down_proj"}},
        {"q_a_layernorm", {"q_down_norm"}},
        {"q_b_proj", {"q_up_proj"}},
        {"kv_a_proj_with_mqa", {"kv_down_proj"}},
        {"kv_a_layernorm", {"kv_down_norm"}},
        {"kv_b_proj", {"{k_up,v_up}_proj", RowLayout::by_head}},
        {"o_proj", {"o_proj"}},
    };
    return kParts;
}

// The projection to the latent row, which no other attention has.
bool is_down(const Module& module) { return !module.path.empty() && module.path.back() == "kv_a_proj_with_mqa"; }

}  // namespace

bool has_latent_attention(const Modules& modules) { return std::ranges::any_of(modules, is_down); }

std::vector<Assigned> take_latent_attention(Modules& modules) {
    const auto down = std::ranges::find_if(modules, is_down);
    if (down == modules.end()) return {};
    const Path holder(down->path.begin(), down->path.end() - 1);
    std::vector<Assigned> taken;
    std::erase_if(modules, [&](const Module& module) {
        if (module.path.empty()) return false;
        const auto part = parts_by_name().find(module.path.back());
        if (part == parts_by_name().end() || module.path.size() != holder.size() + 1 ||
            !begins_with(module.path, holder))
            return false;
        taken.push_back({module, std::string("self_attn.") + part->second.name, part->second.how, 0, true});
        return true;
    });
    return taken;
}

}  // namespace decoderscope::load::names
