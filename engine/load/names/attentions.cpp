#include "engine/load/names/parts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace decoderscope::load::names {

namespace {

struct Projection {
    std::string role;  // as the contract calls it: "q_proj", "{k,v}_proj", "q_norm"
    Path group;        // the path of the attention
    Words rest;        // words of its own name that tell attentions apart: "self", "attn" of self_attn_q
    Index head = -1;
};

struct Member {
    Module module;
    Projection projection;
};

// The members of an attention by its path and by what else tells it apart.
using Key = std::pair<Path, Words>;
using Members = std::vector<Member>;

// Empty if the words name none.
std::string role_of(const Words& words) {
    const bool q = says(words, "q"), k = says(words, "k"), v = says(words, "v");
    if (says(words, "norm")) return q == k ? "" : q ? "q_norm" : "k_norm";
    if (says(words, "qkv") || (q && k && v)) return "{q,k,v}_proj";
    if (says(words, "kv") || (k && v)) return "{k,v}_proj";
    return q ? "q_proj" : k ? "k_proj" : v ? "v_proj" : "";
}

Words rest_of(const Words& words) {
    Words rest = words;
    std::erase_if(rest, [](const std::string& word) { return says({word}, "no_role") || !role_of({word}).empty(); });
    return rest == Words{"attn"} && words.front() == "c" ? Words() : rest;
}

// "linears.0" to "linears.3" of an attention are q, k, v and o, as in the Annotated Transformer; "qkv_nets.0" to
// "qkv_nets.2" are q, k and v.
std::string role_by_number(const Path& path, const Modules& modules) {
    if (path.size() < 2) return {};
    const Path list = parent(path);
    const Words listed = words_of(list.back());
    const Index at = number(path.back());
    if (at < 0 || at > 3 || !says(listed, "list") || !says(words_of(parent(list)), "attention")) return {};
    const auto members = std::ranges::count_if(modules, [&](const Module& module) {
        return module.path.size() == path.size() && begins_with(module.path, list);
    });
    if (members != (says(listed, "qkv") ? 3 : 4)) return {};
    return std::array{"q_proj", "k_proj", "v_proj", "o_proj"}[static_cast<std::size_t>(at)];
}

// The nearest component, from the end, that names a role; deeper ones may be called anything: "query.linear".
std::optional<Projection> projection_of(const Path& path, const Modules& modules) {
    if (const std::string role = role_by_number(path, modules); !role.empty())
        return Projection{role, parent(parent(path)), {}};
    for (std::size_t i = path.size(); i-- > 0 && i + 2 >= path.size();) {
        const Words words = words_of(path[i]);
        Projection found = {role_of(words), {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i)}, {}};
        if (found.role.empty()) continue;
        found.rest = rest_of(words);
        // "heads.0.key": one head's own.
        const std::size_t depth = found.group.size();
        if (depth >= 2 && number(found.group.back()) >= 0 &&
            joined(words_of(found.group[depth - 2])).find("head") != std::string::npos) {
            found.head = number(found.group.back());
            found.group.resize(depth - 2);
        }
        return found;
    }
    return std::nullopt;
}

bool has(const Members& members, std::string_view role) {
    return std::ranges::any_of(members, [&](const Member& member) { return member.projection.role == role; });
}

bool is_complete(const Members& members) {
    const bool keys = (has(members, "k_proj") && has(members, "v_proj")) || has(members, "{k,v}_proj");
    return has(members, "{q,k,v}_proj") || (has(members, "q_proj") && keys);
}

// The projections by the attention that they belong to; what only resembles one is left in `modules`.
std::map<Key, Members> take_projections(Modules& modules) {
    std::map<Key, Members> groups;
    for (const Module& module : modules)
        if (const auto projection = projection_of(module.path, modules))
            groups[{projection->group, projection->rest}].push_back({module, *projection});
    std::erase_if(groups, [](const auto& group) {
        return !is_complete(group.second) && !says(words_of(group.first.first), "attention");
    });
    for (const auto& [key, members] : groups)
        for (const Member& member : members) drop(modules, member.module);
    return groups;
}

// ---- the output

// Leads from the heads back to d_model.
bool can_be_output(const Module& module, const Members& members, const Context& context) {
    if ((module.rank() != 2 && module.rank() != 3) || module.says("norm")) return false;
    if (module.rank() == 3) return true;
    Index queries = 0;    // rows of q, of all heads
    bool shared = false;  // [d_head, d_head] for every head
    for (const auto& [q, projection] : members) {
        if (projection.role != "q_proj" || q.rank() != 2) continue;
        queries += q.columns() == context.width ? q.rows() : q.columns();
        shared = shared || (q.rows() != context.width && q.columns() != context.width);
    }
    const Index in = module.rows() == context.width ? module.columns() : module.rows();
    return (module.rows() == context.width || module.columns() == context.width) &&
           (queries == 0 || shared || in == queries);
}

// The output of an attention: within its module the only candidate, or the one that says so; otherwise the one outside
// that says so and is nearest ("attention.output.dense" of "attention.self").
std::optional<Module> take_output(const Key& key, const Members& members, Modules& modules, const Context& context) {
    const auto choose = [&](const Path& above, auto fits) -> std::optional<Module> {
        Modules from, naming;
        for (const Module& module : modules)
            if (begins_with(module.path, above) && can_be_output(module, members, context) && fits(module))
                from.push_back(module);
        std::ranges::copy_if(from, std::back_inserter(naming), [&](const Module& module) {
            return says(module.last_words(), "output") ||
                   (module.path.size() > key.first.size() + 1 && module.says("output"));
        });
        if (naming.size() == 1) return naming.front();
        return from.size() == 1 && !key.first.empty() ? std::optional(from.front()) : std::nullopt;
    };
    // self_attn_out belongs to self_attn_q.
    std::optional<Module> output = choose(key.first, [&](const Module& module) {
        const Words rest = rest_of(module.last_words());
        return !says(words_of(without_first(parent(module.path), key.first.size())), "feed_forward") &&
               std::ranges::all_of(key.second,
                                   [&](const auto& word) { return std::ranges::find(rest, word) != rest.end(); });
    });
    for (Path above = parent(key.first); !output && !above.empty(); above = parent(above))
        output = choose(above, [](const Module&) { return true; });
    if (output) drop(modules, *output);
    return output;
}

// ---- how each is stored

// The order of q's, k's and v's rows: settled by two names, usual under others, unknown under the rest.
RowLayout fused_order(const Module& module, Context& context) {
    const std::string name = module.path.empty() ? std::string() : module.path.back();
    const std::string words = joined(module.last_words());
    if (words == "in_proj" || words == "c_attn") return RowLayout::as_stored;
    const bool capital = name == "Wqkv";  // not a message: a name
    const bool usual =
        capital || (context.one_by_one && name == "wqkv") || name == "qkv" || name == "to_qkv" || name == "to_kv";
    const bool by_head = name == "query_key_value" || name == "qkv_layer";
    const std::string order =
        context.ask("qkv_order", {by_head ? "by_head" : "one_by_one", !usual, {}, {{"tensor", module.name()}}});
    if (order == "by_head") return RowLayout::by_head;
    return order == "by_group" ? RowLayout::by_group : RowLayout::as_stored;
}

RowLayout layout_of(const Member& member, Context& context) {
    const auto& [module, projection] = member;
    if (projection.role.ends_with("norm")) return RowLayout::as_stored;
    if (projection.role.starts_with("{")) return fused_order(module, context);
    // The halves of each head of q and k are swapped so that RoPE as it usually turns gives the same scores.
    if ((projection.role == "q_proj" || projection.role == "k_proj") && context.turns_back &&
        context.ask("rope_halves") == "swapped")
        return RowLayout::halves_swapped;
    if (projection.head >= 0) return RowLayout::head;
    if (module.rank() == 3) return RowLayout::matrix_per_head;
    return module.rank() == 2 && module.is_square() && module.rows() < context.width ? RowLayout::for_every_head
                                                                                     : RowLayout::as_stored;
}

Words all_words_of(const Key& key) {
    Words words = words_of(key.first);
    words.insert(words.end(), key.second.begin(), key.second.end());
    return words;
}

bool is_cross_alone(const Words& words) {
    const bool encoder =
        std::ranges::find(words, "enc") != words.end() || std::ranges::find(words, "encoder") != words.end();
    return says(words, "cross_alone") || (encoder && says(words, "attention"));
}

}  // namespace

bool has_attention(const Modules& modules) {
    Modules rest = modules;
    return std::ranges::any_of(
               modules, [](const Module& m) { return !m.path.empty() && m.path.back() == "kv_a_proj_with_mqa"; }) ||
           std::ranges::any_of(take_projections(rest), [](const auto& group) { return is_complete(group.second); });
}

std::vector<Sublayer> take_attentions(Modules& modules, Context& context) {
    auto found = take_projections(modules);
    std::vector<std::pair<Key, Members>> groups(found.begin(), found.end());
    // Self-attention before cross-attention: by words, then by depth (a block within the block is the later), then by
    // number.
    std::ranges::stable_sort(groups, {}, [](const auto& group) {
        const Words words = all_words_of(group.first);
        return std::tuple(says(words, "self")    ? 0
                          : says(words, "other") ? 2
                                                 : 1,
                          group.first.first.size(), last_number(words), group.first.first);
    });
    std::vector<Sublayer> attentions;
    for (auto& [key, members] : groups) {
        const bool cross = groups.size() == 1 ? is_cross_alone(all_words_of(key)) : !attentions.empty();
        if (!has(members, "o_proj"))
            if (const auto output = take_output(key, members, modules, context))
                members.push_back({*output, {"o_proj", key.first, key.second}});
        Sublayer& attention = attentions.emplace_back();
        attention.kind = cross ? Sublayer::Kind::cross_attention : Sublayer::Kind::self_attention;
        for (const Member& member : members)
            attention.parts.push_back({member.module, (cross ? "cross_attn." : "self_attn.") + member.projection.role,
                                       layout_of(member, context), std::max<Index>(member.projection.head, 0)});
    }
    return attentions;
}

}  // namespace decoderscope::load::names
