#include "engine/model/names/structure.h"

#include "engine/model/names/attentions.h"
#include "engine/model/names/parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace decoderscope::names {

namespace {

// A component that numbers its module: "3", or "block3" if a stack's modules have names of their own.
struct Numbered {
    Path prefix;
    Index number;
    std::size_t depth;
};

std::optional<Numbered> numbered_at(const Path& path, std::size_t depth) {
    Path prefix(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth));
    if (const Index value = number(path[depth]); value >= 0) return Numbered{std::move(prefix), value, depth};
    const Words words = words_of(path[depth]);
    if (words.size() != 2 || !any_is(words, {"block", "layer", "h"})) return std::nullopt;
    const Index value = number(words[1]);
    if (value < 0) return std::nullopt;
    prefix.push_back(words[0]);
    return Numbered{std::move(prefix), value, depth};
}

Path within(const Path& path, std::size_t depth) {
    return {path.begin() + static_cast<std::ptrdiff_t>(depth) + 1, path.end()};
}

using Members = std::map<Index, Modules>;

// The candidates at this depth of the paths, by prefix.
std::map<Path, Members> lists_at(const Modules& modules, std::size_t depth) {
    std::map<Path, Members> lists;
    for (const Module& module : modules) {
        if (module.path.size() <= depth) continue;
        const auto at = numbered_at(module.path, depth);
        if (!at) continue;
        Module inner = module;
        inner.path = within(module.path, depth);
        lists[at->prefix][at->number].push_back(std::move(inner));
    }
    return lists;
}

bool is_stack(const Path& prefix, const Members& members) {
    if (!prefix.empty() && any_has(words_of(prefix.back()), {"head"})) return false;
    Index expected = members.begin()->first;
    if (expected > 1) return false;
    for (const auto& [index, modules] : members)
        if (index != expected++) return false;
    return std::ranges::any_of(members, [](const auto& member) { return has_attention(member.second); });
}

// One layer after another, as blocks: an attention begins one unless it can be the cross-attention of the last.
std::vector<Modules> blocks_of(const Members& members) {
    const auto attends = [](const Modules& modules) { return has_attention(modules); };
    const bool uniform = std::ranges::all_of(members, [&](const auto& member) { return attends(member.second); });
    std::vector<Modules> blocks;
    std::size_t attentions = 0;
    bool fed = true;
    for (const auto& [index, modules] : members) {
        const bool attention = attends(modules);
        const bool begins = uniform || blocks.empty() || (attention && (fed || attentions == 2));
        if (begins) {
            blocks.emplace_back();
            attentions = 0;
            fed = false;
        }
        attentions += attention ? 1 : 0;
        fed = fed || !attention;
        for (Module module : modules) {
            if (!uniform) module.path.insert(module.path.begin(), std::to_string(index));
            blocks.back().push_back(std::move(module));
        }
    }
    return blocks;
}

// What stands before and behind the blocks, by its name.
bool is_outside(const Module& module) {
    const Words words = words_of(module.path), last = module.last_words();
    return any_has(words, {"emb", "generator", "logits", "vocab"}) || any_is(words, {"wte", "wpe", "pe", "lm"}) ||
           last == Words{"ln", "f"} || last == Words{"final", "norm"} || any_is(last, {"head"});
}

// One block without a number; or two, under "encoder" and "decoder".
void add_single_blocks(Structure& structure) {
    Modules block = take(structure.outside, [](const Module& module) { return !is_outside(module); });
    std::map<std::string, Modules> sides;
    for (const Module& module : block) {
        const Words words = module.path.size() > 1 ? words_of(module.path.front()) : Words();
        const bool side = words == Words{"encoder"} || words == Words{"decoder"};
        Module inner = module;
        if (side) inner.path.erase(inner.path.begin());
        sides[side ? words.front() : std::string()].push_back(std::move(inner));
    }
    const bool two = sides.contains("encoder") && sides.contains("decoder") && has_attention(sides["encoder"]) &&
                     has_attention(sides["decoder"]);
    if (two) {
        for (const char* side : {"encoder", "decoder"}) structure.stacks.push_back({{side}, {sides[side]}});
        for (Module& module : sides[""]) structure.outside.push_back(std::move(module));
    } else {
        structure.stacks.push_back({{}, {std::move(block)}});
    }
}

}  // namespace

Structure structure_of(const Modules& modules) {
    Structure structure = {{}, modules};
    std::size_t deepest = 0;
    for (const Module& module : modules) deepest = std::max(deepest, module.path.size());
    for (std::size_t depth = 0; depth < deepest; ++depth)
        for (const auto& [prefix, members] : lists_at(structure.outside, depth)) {
            if (!is_stack(prefix, members)) continue;
            structure.stacks.push_back({prefix, blocks_of(members)});
            static_cast<void>(take(structure.outside, [&, &prefix = prefix](const Module& module) {
                if (module.path.size() <= depth) return false;
                const auto at = numbered_at(module.path, depth);
                return at && at->prefix == prefix;
            }));
        }
    if (structure.stacks.empty()) add_single_blocks(structure);
    return structure;
}

}  // namespace decoderscope::names
