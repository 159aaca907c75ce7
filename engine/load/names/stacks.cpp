#include "engine/load/names/parts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace decoderscope::load::names {

namespace {

using Listed = std::map<Index, Modules>;  // the members of a list by number, with paths within

// The modules that are numbered at this depth of their paths, by what comes before the number: "3", or "block3" if a
// stack's modules have names of their own.
std::map<Path, Listed> lists_at(const Modules& modules, std::size_t depth) {
    std::map<Path, Listed> lists;
    for (const Module& module : modules) {
        if (module.path.size() <= depth) continue;
        Path prefix(module.path.begin(), module.path.begin() + static_cast<std::ptrdiff_t>(depth));
        Index at = number(module.path[depth]);
        if (const Words words = words_of(module.path[depth]); at < 0 && words.size() == 2 && says(words, "block")) {
            at = number(words[1]);
            prefix.push_back(words[0]);
        }
        if (at < 0) continue;
        Module inner = module;
        inner.path = without_first(module.path, depth + 1);
        lists[prefix][at].push_back(std::move(inner));
    }
    return lists;
}

bool is_stack(const Path& prefix, const Listed& members) {
    if (!prefix.empty() && joined(words_of(prefix.back())).find("head") != std::string::npos) return false;
    const Index first = members.begin()->first, last = members.rbegin()->first;
    return first <= 1 && last - first + 1 == static_cast<Index>(members.size()) &&
           std::ranges::any_of(members, [](const auto& member) { return has_attention(member.second); });
}

// One layer after another, as blocks: an attention begins one unless it can be the cross-attention of the last.
std::vector<Modules> blocks_of(const Listed& members) {
    const bool uniform = std::ranges::all_of(members, [](const auto& member) { return has_attention(member.second); });
    std::vector<Modules> blocks;
    std::size_t attentions = 0;
    bool fed = true;
    for (const auto& [index, modules] : members) {
        const bool attention = has_attention(modules);
        if (uniform || blocks.empty() || (attention && (fed || attentions == 2))) {
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

// One block without a number; or two, under "encoder" and "decoder".
void add_single_blocks(Structure& structure) {
    // What comes before and after the blocks, by its name.
    Modules block = take(structure.outside, [](const Module& module) {
        return !module.says("outside") && !says(module.last_words(), "last_outside");
    });
    std::map<std::string, Modules> sides;
    for (Module inner : block) {
        const std::string side = inner.path.size() > 1 ? joined(words_of(inner.path.front())) : std::string();
        const bool is_side = side == "encoder" || side == "decoder";
        if (is_side) inner.path.erase(inner.path.begin());
        sides[is_side ? side : std::string()].push_back(std::move(inner));
    }
    if (!has_attention(sides["encoder"]) || !has_attention(sides["decoder"])) {
        structure.stacks.push_back({{}, {std::move(block)}});
        return;
    }
    for (const char* side : {"encoder", "decoder"}) structure.stacks.push_back({{side}, {sides[side]}});
    std::ranges::move(sides[""], std::back_inserter(structure.outside));
}

// ---- outside

enum class Thing { embedding, positions, embedding_norm, final_norm, head, distances };
enum class Side { either, encoder, decoder };

bool is_vector(const Module& module, const Context& context) {
    const auto& tensor = module.weight ? module.weight : module.bias;
    if (!tensor || tensor->shape.size() > 1) return false;
    return tensor->shape.empty() || tensor->shape[0] == context.width || tensor->shape[0] == 1;
}

// "embed_out", but not "output_embedding", which is the target's.
bool says_out(const Words& words) {
    const auto is_out = [](const std::string& word) { return word == "out" || word == "output"; };
    const auto is_table = [](const std::string& word) { return word.find("emb") != std::string::npos; };
    const auto out = std::ranges::find_if(words, is_out), table = std::ranges::find_if(words, is_table);
    return out != words.end() && (table == words.end() || table < out);
}

// The encoding of positions ("pos_enc", "positional_encoder") is neither side's encoder.
Words without_encoding(const Words& words) {
    Words rest;
    for (const std::string& word : words) {
        const bool encoding = !rest.empty() && (word == "enc" || word == "encoder");
        if (!encoding || !says({rest.back()}, "positions")) rest.push_back(word);
    }
    return rest;
}

class Outside {
public:
    Outside(Modules& modules, bool has_encoder, Context& context)
        : modules_(modules), all_(modules), has_encoder_(has_encoder), context_(context) {}

    std::vector<Assigned> take() {
        std::set<Side> sides;  // that have an embedding of their own
        for (const Module& module : all_) {
            const Words words = words_of(module.path);
            if (!says(words, "embedding") || says(words, "positions") || says(words, "relative") ||
                is_vector(module, context_))
                continue;
            has_embedding_ = has_embedding_ || (!says_out(words) && !module.says("unembedding"));
            sides.insert(side_of(words));
        }
        // "shared" beside an embedding of each side is the head if there is no other, otherwise the same again.
        shared_is_repeated_ = has_encoder_ && sides.contains(Side::encoder) && sides.contains(Side::decoder);
        for (const Module& module : all_) place(module);
        place_unnamed_head();
        place_unnamed_norm();
        if (shared_is_repeated_) drop_shared();
        return std::move(assigned_);
    }

private:
    void assign(const Module& module, const std::string& name, RowLayout how = RowLayout::as_stored, Index from = 0) {
        assigned_.push_back({module, name, how, from});
        drop(modules_, module);
    }
    [[nodiscard]] const Assigned* assigned(std::string_view name) const {
        const auto found = std::ranges::find(assigned_, name, &Assigned::name);
        return found == assigned_.end() ? nullptr : &*found;
    }

    void drop_shared() {
        const Assigned* embedding = assigned("embed");
        const Modules left = modules_;
        for (const Module& module : left)
            if (module.says("shared") && embedding != nullptr && embedding->module.weight && module.weight &&
                !module.bias && module.weight->shape == embedding->module.weight->shape) {
                context_.copies.emplace_back(module.weight->name, embedding->module.weight->name);
                drop(modules_, module);
            }
    }

    // What belongs to no side by its name is the other's where one side has its own.
    [[nodiscard]] Side settled_side(const Module& module, const Words& words, Thing thing) const {
        const Side side = side_of(words);
        if (side != Side::either || (thing == Thing::embedding && module.says("shared"))) return side;
        const auto kind = [&](const Module& one) {
            return std::array{is_vector(one, context_), one.says("positions"), one.says("embedding"), one.says("norm")};
        };
        std::set<Side> sides;
        for (const Module& other : all_)
            if (kind(other) == kind(module)) sides.insert(side_of(words_of(other.path)));
        if (sides.contains(Side::encoder) != sides.contains(Side::decoder))
            return sides.contains(Side::encoder) ? Side::decoder : Side::encoder;
        return side;
    }

    void place(const Module& module) {
        const Words words = words_of(module.path);
        const auto thing = thing_of(module, words);
        if (!thing || (*thing == Thing::head && makes_the_stream(module)) ||
            (*thing == Thing::embedding && shared_is_repeated_ && module.says("shared")))
            return;
        // OPT's and BART's tables begin two rows before position 0.
        const bool may_begin_before = *thing == Thing::positions && module.last_words() == Words{"embed", "positions"};
        const bool before =
            may_begin_before &&
            number(context_.ask("positions_from", {.required = true, .named = {{"tensor", module.name()}}})) > 0;
        const bool norm = *thing == Thing::embedding_norm || *thing == Thing::final_norm;
        const bool turned = module.rank() == 2 && module.rows() == context_.width && !module.is_square();
        const bool repeated = module.is_one_number() && context_.width > 1;
        const RowLayout how = before             ? RowLayout::rows_from
                              : norm && repeated ? RowLayout::repeated
                              : !norm && turned  ? RowLayout::transposed
                                                 : RowLayout::as_stored;
        const Side side = settled_side(module, words, *thing);
        const std::string name = std::array{
            "embed", "pos_embed", "embed_norm", "norm", "lm_head", "relative_bias"}[static_cast<std::size_t>(*thing)];
        if (side != Side::encoder || *thing == Thing::head) assign(module, name, how, before ? 2 : 0);
        const bool of_one = *thing == Thing::final_norm || *thing == Thing::distances;
        if (*thing != Thing::head && (side == Side::encoder || (side == Side::either && !of_one)))
            assign(module, "encoder." + name, how, before ? 2 : 0);
    }

    // A Linear of features is called as heads are ("proj"), but only its rows have the stream's width; beside a head it
    // is none.
    [[nodiscard]] bool makes_the_stream(const Module& module) const {
        const auto reads_it = [&](const Module& other) {
            return other.rank() == 2 && other.columns() == context_.width;
        };
        return module.rank() == 2 && module.rows() == context_.width && !reads_it(module) &&
               std::ranges::any_of(all_, [&](const Module& other) {
                   return other.name() != module.name() && reads_it(other) && other.says("head");
               });
    }

    // Without a head, the only matrix left that has the target embedding's shape is one, whatever it is called.
    void place_unnamed_head() {
        const Assigned* embedding = assigned("embed");
        const bool has_head = std::ranges::any_of(
            assigned_, [](const Assigned& part) { return part.name == "lm_head" && part.module.weight; });
        if (has_head || embedding == nullptr) return;
        Modules left;
        std::ranges::copy_if(modules_, std::back_inserter(left), [](const Module& m) { return m.rank() == 2; });
        if (left.size() == 1 && left[0].weight->shape == embedding->module.weight->shape) assign(left[0], "lm_head");
    }

    // Without a final norm, the only module left that has a number for each column is one, whatever it is called; of
    // two beside an encoder, each is the side's whose letter its name has: "ne" and "nd".
    void place_unnamed_norm() {
        if (assigned("norm") != nullptr) return;
        Modules left;
        std::ranges::copy_if(modules_, std::back_inserter(left), [&](const Module& module) {
            return module.weight && !module.bare && module.path.size() == 1 && is_vector(module, context_);
        });
        const auto has = [&](std::size_t which, char letter) {
            return left[which].path.back().front() == letter || left[which].path.back().back() == letter;
        };
        if (left.size() == 1 && !has_encoder_) assign(left[0], "norm");
        if (left.size() != 2 || !has_encoder_) return;
        for (const std::size_t ours : {0U, 1U})
            if (has(ours, 'd') && !has(ours, 'e') && has(1 - ours, 'e') && !has(1 - ours, 'd')) {
                assign(left[ours], "norm");
                assign(left[1 - ours], "encoder.norm");
            }
    }

    [[nodiscard]] std::optional<Thing> thing_of(const Module& module, const Words& words) {
        const bool matrix =
            module.rank() >= 2 && std::ranges::find(module.weight->shape, context_.width) != module.weight->shape.end();
        if (is_vector(module, context_) && says(words, "norm")) return norm_of(module);
        if (!module.weight) return says(words, "head") || says_out(words) ? std::optional(Thing::head) : std::nullopt;
        if (matrix && says(words, "positions")) return Thing::positions;
        if (module.rank() > 2) return std::nullopt;
        if (!matrix && module.rank() == 2 && says(words, "relative")) return Thing::distances;
        if (says(words, "unembedding") || says_out(words)) return Thing::head;
        if (says(words, "embedding") && std::ranges::find(words, "prj") == words.end()) return Thing::embedding;
        if (says(words, "head")) return Thing::head;
        // PyTorch's language-model example calls its embedding "encoder" and its head "decoder".
        if (has_encoder_ || !matrix) return std::nullopt;
        const std::string last = joined(module.last_words());
        if (last == "encoder" && !has_embedding_) return Thing::embedding;
        return last == "decoder" ? std::optional(Thing::head) : std::nullopt;
    }

    // A norm after the embedding, or after the last block.
    [[nodiscard]] Thing norm_of(const Module& module) {
        if (module.says("table")) return Thing::embedding_norm;
        const std::string last = joined(module.last_words());
        if (last != "layer_norm" && last != "layernorm") return Thing::final_norm;
        const bool first = context_.norm_at_embedding;
        const std::string before =
            context_.ask("embedding_norm:lone", {first ? "true" : "false", !first, {}, {{"tensor", module.name()}}});
        return before == "true" ? Thing::embedding_norm : Thing::final_norm;
    }

    [[nodiscard]] Side side_of(const Words& all) const {
        if (!has_encoder_) return Side::decoder;
        const Words words = without_encoding(all);
        if (says(words, "decoder")) return Side::decoder;
        if (says(words, "encoder") || says(words, "source")) return Side::encoder;
        return says(words, "target") || says_out(words) ? Side::decoder : Side::either;
    }

    Modules& modules_;
    const Modules all_;
    bool has_encoder_;
    Context& context_;
    bool has_embedding_ = false, shared_is_repeated_ = false;
    std::vector<Assigned> assigned_;
};

}  // namespace

Structure structure_of(const Modules& modules) {
    Structure structure = {{}, modules};
    std::size_t deepest = 0;
    for (const Module& module : modules) deepest = std::max(deepest, module.path.size());
    for (std::size_t depth = 0; depth < deepest; ++depth)
        for (const auto& [prefix, members] : lists_at(structure.outside, depth)) {
            if (!is_stack(prefix, members)) continue;
            structure.stacks.push_back({prefix, blocks_of(members)});
            std::set<std::string> taken;
            for (const auto& [index, inner] : members)
                for (const Module& module : inner) taken.insert(module.name());
            std::erase_if(structure.outside, [&](const Module& module) { return taken.contains(module.name()); });
        }
    if (structure.stacks.empty()) add_single_blocks(structure);
    return structure;
}

std::vector<Assigned> take_outside(Modules& modules, bool has_encoder, Context& context) {
    return Outside(modules, has_encoder, context).take();
}

}  // namespace decoderscope::load::names
