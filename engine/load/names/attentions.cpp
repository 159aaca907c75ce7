#include "engine/load/names/parts.h"

#include "engine/base/tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace decoderscope::load::names {

namespace {

enum class Role { q, k, v, o, qkv, kv, q_norm, k_norm };

struct Projection {
    Role role;
    Path group;  // the path of the attention
    Words rest;  // words of its own name that tell attentions apart: "self", "attn" of self_attn_q
    Index head = -1;
};

constexpr std::array<std::string_view, 18> kFillers = {"w",  "proj", "projection", "linear", "lin",  "layer",
                                                       "fc", "to",   "weight",     "matrix", "net",  "dense",
                                                       "c",  "wq",   "wk",         "wv",     "norm", "mat"};

bool is_query(const Words& w) { return any_is(w, {"q", "qs", "wq"}) || any_has(w, {"quer"}); }
bool is_key(const Words& w) { return any_is(w, {"k", "ks", "wk"}) || any_has(w, {"key"}); }
bool is_value(const Words& w) { return any_is(w, {"v", "vs", "wv", "val", "vals"}) || any_has(w, {"value"}); }

std::optional<Role> role_of(const Words& words) {
    const bool q = is_query(words), k = is_key(words), v = is_value(words);
    if (names_norm(words)) {
        if (q && !k) return Role::q_norm;
        if (k && !q) return Role::k_norm;
        return std::nullopt;
    }
    const bool in_proj = words == Words{"in", "proj"}, c_attn = words == Words{"c", "attn"};
    if (any_has(words, {"qkv"}) || (q && k && v) || in_proj || c_attn) return Role::qkv;
    if (any_has(words, {"kv"}) || (k && v)) return Role::kv;
    if (q) return Role::q;
    if (k) return Role::k;
    if (v) return Role::v;
    return std::nullopt;
}

Words rest_of(const Words& words) {
    Words rest;
    for (const std::string& word : words) {
        const Words one = {word};
        const bool filler = std::ranges::find(kFillers, word) != kFillers.end();
        if (!filler && !role_of(one) && word != "qkv" && word != "kv" && word != "in") rest.push_back(word);
    }
    return rest == Words{"attn"} && words.front() == "c" ? Words() : rest;
}

// "linears.0" to "linears.3" of an attention are q, k, v and o, as in the Annotated Transformer; "qkv_nets.0" to
// "qkv_nets.2" are q, k and v.
std::optional<Role> role_by_number(const Path& path, const Modules& modules) {
    if (path.size() < 2) return std::nullopt;
    const Index at = number(path.back());
    const Path list(path.begin(), path.end() - 1);
    const Path above(list.begin(), list.end() - 1);
    const bool three = any_has(words_of(list.back()), {"qkv"});
    const bool listed = three || any_has(words_of(list.back()), {"linear", "proj"});
    if (at < 0 || at > 3 || !listed || !names_attention(words_of(above))) return std::nullopt;
    const auto members = std::ranges::count_if(modules, [&](const Module& module) {
        return module.path.size() == path.size() && begins_with(module.path, list);
    });
    if (members != (three ? 3 : 4)) return std::nullopt;
    constexpr std::array kRoles = {Role::q, Role::k, Role::v, Role::o};
    return kRoles[static_cast<std::size_t>(at)];
}

// The nearest component, from the end, that names a role; deeper ones may be called anything: "query.linear".
std::optional<Projection> projection_of(const Path& path, const Modules& modules) {
    if (const auto role = role_by_number(path, modules)) return Projection{*role, {path.begin(), path.end() - 2}, {}};
    for (std::size_t i = path.size(); i-- > 0;) {
        if (i + 2 < path.size()) break;
        const Words words = words_of(path[i]);
        const auto role = role_of(words);
        if (!role) continue;
        Projection found = {*role, {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i)}, rest_of(words)};
        // "heads.0.key": one head's own.
        const std::size_t depth = found.group.size();
        if (depth >= 2 && number(found.group.back()) >= 0 && any_has(words_of(found.group[depth - 2]), {"head"})) {
            found.head = number(found.group.back());
            found.group.resize(depth - 2);
        }
        return found;
    }
    return std::nullopt;
}

using Key = std::pair<Path, Words>;

struct Member {
    Module module;
    Projection projection;
};

bool is_complete(const std::vector<Member>& members) {
    const auto has = [&](Role role) {
        return std::ranges::any_of(members, [&](const Member& member) { return member.projection.role == role; });
    };
    const bool keys = (has(Role::k) && has(Role::v)) || has(Role::kv);
    return has(Role::qkv) || (has(Role::q) && keys);
}

// The projections by the attention that they belong to; what only resembles one is left in `modules`.
std::map<Key, std::vector<Member>> take_projections(Modules& modules) {
    std::map<Key, std::vector<Member>> groups;
    for (const Module& module : modules)
        if (const auto projection = projection_of(module.path, modules))
            groups[{projection->group, projection->rest}].push_back({module, *projection});
    std::erase_if(groups, [](const auto& group) {
        return !is_complete(group.second) && !names_attention(words_of(group.first.first));
    });
    for (const auto& [key, members] : groups)
        for (const Member& member : members)
            std::erase_if(modules, [&](const Module& module) { return module.name() == member.module.name(); });
    return groups;
}

// ---- the output

bool is_matrix(const Module& module) { return module.rank() == 2 || module.rank() == 3; }

// Leads from the heads back to d_model.
bool can_be_output(const Module& module, const std::vector<Member>& members, const Context& context) {
    if (!is_matrix(module) || names_norm(words_of(module.path))) return false;
    if (module.rank() == 3) return true;
    Index queries = 0;  // rows of q, of all heads
    for (const Member& member : members)
        if (member.projection.role == Role::q && member.module.rank() == 2)
            queries += member.module.columns() == context.width ? member.module.rows() : member.module.columns();
    const Index in = module.rows() == context.width ? module.columns() : module.rows();
    const bool shared = std::ranges::any_of(members, [&](const Member& member) {  // [d_head, d_head] for every head
        return member.projection.role == Role::q && member.module.rank() == 2 &&
               member.module.rows() != context.width && member.module.columns() != context.width;
    });
    return (module.rows() == context.width || module.columns() == context.width) &&
           (queries == 0 || shared || in == queries);
}

bool names_output(const Words& words) {
    return any_is(words, {"o", "wo", "out", "output", "concat"}) || any_has(words, {"unif", "combin", "merg"});
}

// The output of an attention: within its module the only candidate, or the one that says so; otherwise the one outside
// that says so and is nearest ("attention.output.dense" of "attention.self").
std::optional<Module> take_output(const Key& key, const std::vector<Member>& members, Modules& modules,
                                  const Context& context) {
    const auto choose = [&](const Modules& from) -> std::optional<Module> {
        Modules naming;
        for (const Module& module : from) {
            const Words words = module.last_words();
            Words above = words_of(module.path);
            if (names_output(words) || (module.path.size() > key.first.size() + 1 && names_output(above)))
                naming.push_back(module);
        }
        if (naming.size() == 1) return naming.front();
        if (from.size() == 1 && !key.first.empty()) return from.front();
        return std::nullopt;
    };
    Modules within;
    for (const Module& module : modules)
        if (begins_with(module.path, key.first) && can_be_output(module, members, context) &&
            !names_feed_forward(words_of(
                Path(module.path.begin() + static_cast<std::ptrdiff_t>(key.first.size()), module.path.end() - 1))))
            within.push_back(module);
    // self_attn_out belongs to self_attn_q.
    std::erase_if(within, [&](const Module& module) {
        const Words rest = rest_of(module.last_words());
        return std::ranges::any_of(key.second,
                                   [&](const auto& word) { return std::ranges::find(rest, word) == rest.end(); });
    });
    std::optional<Module> output = choose(within);
    for (Path above = key.first; !output && !above.empty();) {
        above.pop_back();
        if (above.empty()) break;
        Modules near;
        for (const Module& module : modules)
            if (begins_with(module.path, above) && can_be_output(module, members, context)) near.push_back(module);
        output = choose(near);
    }
    if (output) std::erase_if(modules, [&](const Module& module) { return module.name() == output->name(); });
    return output;
}

// ---- how each is stored

// The order of q's, k's and v's rows: settled by two names, usual under others, unknown under the rest.
RowLayout fused_order(const Module& module, Context& context) {
    const Words words = module.last_words();
    const std::string& name = module.path.back();
    if (words == Words{"in", "proj"} || words == Words{"c", "attn"}) return RowLayout::as_stored;
    const bool capital = name == "Wqkv";  // not a message: a name
    const bool usual =
        capital || (context.one_by_one && name == "wqkv") || name == "qkv" || name == "to_qkv" || name == "to_kv";
    const bool by_head = name == "query_key_value" || name == "qkv_layer";
    const std::string order =
        context.ask("qkv_order", {by_head ? "by_head" : "one_by_one", !usual, {}, {{"tensor", module.name()}}});
    if (order == "by_head") return RowLayout::by_head;
    return order == "by_group" ? RowLayout::by_group : RowLayout::as_stored;
}

RowLayout stored_how(const Member& member, Context& context) {
    const Module& module = member.module;
    if (member.projection.head >= 0) return RowLayout::head;
    if (module.rank() == 3) return RowLayout::matrix_per_head;
    const bool square = module.rank() == 2 && module.rows() == module.columns();
    const bool narrow = module.rank() == 2 && module.rows() < context.width && module.columns() < context.width;
    if (square && narrow) return RowLayout::for_every_head;
    return RowLayout::as_stored;
}

// Whether the halves of each head of q and k are to be swapped, so that RoPE as it usually turns gives the same scores.
bool is_swapped(Context& context) { return context.turns_back && context.ask("rope_halves") == "swapped"; }

Assigned assigned(const Member& member, const std::string& attention, Context& context) {
    static constexpr std::array<std::string_view, 8> names = {"q_proj",       "k_proj",     "v_proj", "o_proj",
                                                              "{q,k,v}_proj", "{k,v}_proj", "q_norm", "k_norm"};
    const Role role = member.projection.role;
    const std::string name = attention + "." + std::string(names[static_cast<std::size_t>(role)]);
    if (role == Role::q_norm || role == Role::k_norm) return {member.module, name};
    if (role == Role::qkv || role == Role::kv) return {member.module, name, fused_order(member.module, context)};
    if ((role == Role::q || role == Role::k) && is_swapped(context))
        return {member.module, name, RowLayout::halves_swapped};
    return {member.module, name, stored_how(member, context), std::max<Index>(member.projection.head, 0)};
}

// ---- which is which

bool names_self(const Words& words) { return any_is(words, {"self", "slf", "sa", "causal", "masked", "mmha"}); }

// Self-attention before cross-attention: by words, then by depth (a block within the block is the later), then by
// number.
void tell_apart(std::vector<std::pair<Key, std::vector<Member>>>& groups) {
    const auto order = [](const auto& group) {
        Words words = words_of(group.first.first);
        words.insert(words.end(), group.first.second.begin(), group.first.second.end());
        const bool self = names_self(words), cross = names_encoder(words) || any_is(words, {"multihead"});
        return std::tuple(self ? 0 : cross ? 2 : 1, group.first.first.size(), last_number(words), group.first.first);
    };
    std::ranges::stable_sort(groups, [&](const auto& a, const auto& b) { return order(a) < order(b); });
}

// ---- latent attention

// The projection to the latent row, which no other attention has.
bool is_down(const Module& module) { return !module.path.empty() && module.path.back() == "kv_a_proj_with_mqa"; }

bool has_latent_attention(const Modules& modules) { return std::ranges::any_of(modules, is_down); }

}  // namespace

bool has_attention(const Modules& modules) {
    if (has_latent_attention(modules)) return true;
    Modules rest = modules;
    return std::ranges::any_of(take_projections(rest), [](const auto& group) { return is_complete(group.second); });
}

std::vector<FoundAttention> take_attentions(Modules& modules, Context& context) {
    auto found = take_projections(modules);
    std::vector<std::pair<Key, std::vector<Member>>> groups(found.begin(), found.end());
    tell_apart(groups);
    std::vector<FoundAttention> attentions;
    for (auto& [key, members] : groups) {
        Words words = words_of(key.first);
        words.insert(words.end(), key.second.begin(), key.second.end());
        const bool alone = groups.size() == 1;
        const bool cross = alone ? any_is(words, {"cross", "src", "encdec", "ca"}) || any_has(words, {"cross"}) ||
                                       (any_is(words, {"enc", "encoder"}) && names_attention(words))
                                 : !attentions.empty();
        const std::string name = cross ? "cross_attn" : "self_attn";
        const bool output_known =
            std::ranges::any_of(members, [](const Member& m) { return m.projection.role == Role::o; });
        if (!output_known)
            if (const auto output = take_output(key, members, modules, context))
                members.push_back({*output, {Role::o, key.first, key.second}});
        FoundAttention attention = {key.first, words, cross, {}};
        for (const Member& member : members) attention.parts.push_back(assigned(member, name, context));
        attentions.push_back(std::move(attention));
    }
    return attentions;
}

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
