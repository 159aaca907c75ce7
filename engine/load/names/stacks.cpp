#include "engine/load/names/parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace decoderscope::load::names {

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

// What comes before and after the blocks, by its name.
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

enum class Thing { embedding, positions, embedding_norm, final_norm, head };
enum class Side { either, encoder, decoder };

bool is_vector(const Module& module, const Context& context) {
    const auto& tensor = module.weight ? module.weight : module.bias;
    if (!tensor) return false;
    Index size = 1;
    for (const Index axis : tensor->shape) size *= axis;
    return tensor->shape.size() <= 1 && (size == context.width || size == 1);
}

bool has_width(const Module& module, const Context& context) {
    return module.weight && module.rank() >= 2 &&
           std::ranges::find(module.weight->shape, context.width) != module.weight->shape.end();
}

bool names_embedding(const Words& words) {
    return any_has(words, {"emb"}) ||
           any_is(words, {"wte", "lut", "tok", "token", "tokens", "word", "words", "shared", "vocab", "e"});
}

bool names_positions(const Words& words) {
    return any_is(words, {"pos", "wpe", "pe"}) || any_has(words, {"position", "posenc", "posemb"});
}

bool names_head(const Words& words) {
    return any_has(words, {"head", "logit", "unemb", "prob", "generator", "predict", "classif"}) ||
           any_is(words, {"lm", "prj", "proj", "projection", "fc", "linear", "dense", "u"});
}

// "embed_out", but not "output_embedding", which is the target's.
bool names_out(const Words& words) {
    const auto out = std::ranges::find_if(words, [](const auto& word) { return word == "out" || word == "output"; });
    const auto embedding =
        std::ranges::find_if(words, [](const auto& word) { return word.find("emb") != std::string::npos; });
    return out != words.end() && (embedding == words.end() || embedding < out);
}

class Outside {
public:
    Outside(Modules& modules, bool has_encoder, Context& context)
        : modules_(modules), has_encoder_(has_encoder), context_(context) {}

    std::vector<Assigned> take() {
        const Modules all = modules_;
        has_embedding_ = std::ranges::any_of(all, [&](const Module& module) {
            const Words words = words_of(module.path);
            return !is_vector(module, context_) && !names_positions(words) && names_embedding(words) &&
                   !names_out(words) && !any_has(words, {"unemb"});
        });
        look_for_shared(all);
        for (const Module& module : all) place(module, all);
        place_unnamed_head();
        place_unnamed_norm();
        drop_shared();
        return std::move(assigned_);
    }

private:
    // "shared" beside an embedding of each side is the head if there is no other, otherwise the same again.
    void look_for_shared(const Modules& all) {
        const std::set<Side> sides = sides_of_embeddings(all);
        shared_is_repeated_ = has_encoder_ && sides.contains(Side::encoder) && sides.contains(Side::decoder);
    }

    void drop_shared() {
        if (!shared_is_repeated_) return;
        const auto embedding = std::ranges::find(assigned_, "embed", &Assigned::name);
        for (const Module& module : all_shared())
            if (embedding != assigned_.end() && embedding->module.weight && module.weight && !module.bias &&
                module.weight->shape == embedding->module.weight->shape) {
                context_.copies.push_back({module.weight->name, embedding->module.weight->name});
                std::erase_if(modules_, [&](const Module& other) { return other.name() == module.name(); });
            }
    }

    [[nodiscard]] Modules all_shared() const {
        Modules shared;
        for (const Module& module : modules_)
            if (any_is(words_of(module.path), {"shared"})) shared.push_back(module);
        return shared;
    }

    // The sides that have an embedding of their own.
    [[nodiscard]] std::set<Side> sides_of_embeddings(const Modules& all) const {
        std::set<Side> sides;
        for (const Module& module : all) {
            const Words words = words_of(module.path);
            if (names_embedding(words) && !names_positions(words) && !is_vector(module, context_))
                sides.insert(side_of(words));
        }
        return sides;
    }

    // What belongs to no side by its name is the other's where one side has its own.
    [[nodiscard]] Side settled_side(const Module& module, const Words& words, Thing thing, const Modules& all) const {
        const Side side = side_of(words);
        if (side != Side::either || (thing == Thing::embedding && any_is(words, {"shared"}))) return side;
        const bool vector = is_vector(module, context_), positions = names_positions(words);
        std::set<Side> sides;
        for (const Module& other : all) {
            const Words theirs = words_of(other.path);
            const bool alike = is_vector(other, context_) == vector && names_positions(theirs) == positions &&
                               names_embedding(theirs) == names_embedding(words) &&
                               names_norm(theirs) == names_norm(words);
            if (alike) sides.insert(side_of(theirs));
        }
        if (sides.contains(Side::encoder) != sides.contains(Side::decoder))
            return sides.contains(Side::encoder) ? Side::decoder : Side::encoder;
        return side;
    }

    void place(const Module& module, const Modules& all) {
        const Words words = words_of(module.path);
        const auto thing = thing_of(module, words);
        if (!thing) return;
        if (*thing == Thing::head && makes_the_stream(module, all)) return;
        if (*thing == Thing::embedding && shared_is_repeated_ && any_is(words, {"shared"})) return;
        const Index before = *thing == Thing::positions ? rows_before(module) : 0;
        const RowLayout how = before > 0 ? RowLayout::rows_from : how_of(module, *thing);
        for (const std::string& name : names_of(*thing, settled_side(module, words, *thing, all)))
            assigned_.push_back({module, name, how, before});
        std::erase_if(modules_, [&](const Module& other) { return other.name() == module.name(); });
    }

    // A Linear of features is called as heads are ("proj"), but only its rows have the stream's width; beside a head it
    // is none.
    [[nodiscard]] bool makes_the_stream(const Module& module, const Modules& all) const {
        const auto reads_it = [&](const Module& other) {
            return other.weight && other.rank() == 2 && other.columns() == context_.width;
        };
        return module.weight && module.rank() == 2 && module.rows() == context_.width && !reads_it(module) &&
               std::ranges::any_of(all, [&](const Module& other) {
                   return other.name() != module.name() && reads_it(other) && names_head(words_of(other.path));
               });
    }

    // Without a head, the only matrix left that has the target embedding's shape is one, whatever it is called.
    void place_unnamed_head() {
        const Assigned* embedding = nullptr;
        for (const Assigned& part : assigned_) {
            if (part.name == "lm_head" && part.module.weight) return;
            if (part.name == "embed") embedding = &part;
        }
        Modules left;
        for (const Module& module : modules_)
            if (embedding != nullptr && module.weight && module.rank() == 2) left.push_back(module);
        if (left.size() != 1 || left.front().weight->shape != embedding->module.weight->shape) return;
        assigned_.push_back({left.front(), "lm_head", RowLayout::as_stored, 0});
        std::erase_if(modules_, [&](const Module& other) { return other.name() == left.front().name(); });
    }

    // Without a final norm, the only module left that has a number for each column is one, whatever it is called.
    void place_unnamed_norm() {
        if (has_encoder_ || std::ranges::find(assigned_, "norm", &Assigned::name) != assigned_.end()) return;
        const auto could_be = [&](const Module& module) {
            return module.weight && !module.bare && module.path.size() == 1 && is_vector(module, context_);
        };
        if (std::ranges::count_if(modules_, could_be) != 1) return;
        assigned_.push_back({*std::ranges::find_if(modules_, could_be), "norm", RowLayout::as_stored, 0});
        std::erase_if(modules_, could_be);
    }

    [[nodiscard]] std::optional<Thing> thing_of(const Module& module, const Words& words) {
        const bool matrix = has_width(module, context_);
        if (is_vector(module, context_) && names_norm(words)) return norm_of(module, words);
        if (!module.weight) return names_head(words) || names_out(words) ? std::optional(Thing::head) : std::nullopt;
        if (matrix && names_positions(words)) return Thing::positions;
        if (module.weight && module.rank() > 2) return std::nullopt;
        if (any_has(words, {"unemb"}) || names_out(words)) return Thing::head;
        if (names_embedding(words) && !any_is(words, {"prj"})) return Thing::embedding;
        if (names_head(words)) return Thing::head;
        // PyTorch's language-model example calls its embedding "encoder" and its head "decoder".
        if (!has_encoder_ && matrix && module.last_words() == Words{"encoder"} && !has_embedding_)
            return Thing::embedding;
        if (!has_encoder_ && matrix && module.last_words() == Words{"decoder"}) return Thing::head;
        return std::nullopt;
    }

    // A norm after the embedding, or after the last block.
    [[nodiscard]] std::optional<Thing> norm_of(const Module& module, const Words& words) {
        if (any_has(words, {"emb"})) return Thing::embedding_norm;
        const Words last = module.last_words();
        const bool plain = last == Words{"layer", "norm"} || last == Words{"layernorm"};
        if (!plain) return Thing::final_norm;
        const bool first = context_.norm_at_embedding;
        const std::string before =
            context_.ask("embedding_norm:lone", {first ? "true" : "false", !first, {}, {{"tensor", module.name()}}});
        return before == "true" ? Thing::embedding_norm : Thing::final_norm;
    }

    // OPT's and BART's tables begin two rows before position 0.
    Index rows_before(const Module& module) {
        if (module.last_words() != Words{"embed", "positions"}) return 0;
        const Asking asking = {.required = true, .named = {{"tensor", module.name()}}};
        return number(context_.ask("positions_from", asking)) > 0 ? 2 : 0;
    }

    // The encoding of positions ("pos_enc", "positional_encoder") is neither side's encoder.
    [[nodiscard]] static Words without_encoding(const Words& words) {
        Words rest;
        for (const std::string& word : words) {
            const bool encoding = !rest.empty() && (word == "enc" || word == "encoder");
            if (!encoding || !names_positions({rest.back()})) rest.push_back(word);
        }
        return rest;
    }

    [[nodiscard]] Side side_of(const Words& all) const {
        if (!has_encoder_) return Side::decoder;
        const Words words = without_encoding(all);
        if (names_decoder(words)) return Side::decoder;
        if (names_encoder(words) || any_is(words, {"input", "inp"})) return Side::encoder;
        if (names_out(words) || any_is(words, {"output"})) return Side::decoder;
        return Side::either;
    }

    [[nodiscard]] static std::vector<std::string> names_of(Thing thing, Side side) {
        static constexpr std::array names = {"embed", "pos_embed", "embed_norm", "norm", "lm_head"};
        const std::string name = names[static_cast<std::size_t>(thing)];
        if (thing == Thing::head || side == Side::decoder) return {name};
        if (side == Side::encoder) return {"encoder." + name};
        return thing == Thing::final_norm ? std::vector{name} : std::vector{name, "encoder." + name};
    }

    [[nodiscard]] RowLayout how_of(const Module& module, Thing thing) const {
        const bool norm = thing == Thing::embedding_norm || thing == Thing::final_norm;
        if (norm) {
            const auto& gain = module.weight;
            const bool one =
                gain && context_.width > 1 && (gain->shape.empty() || gain->shape == std::vector<Index>{1});
            return one ? RowLayout::repeated : RowLayout::as_stored;
        }
        const bool turned = module.rank() == 2 && module.rows() == context_.width && module.columns() != context_.width;
        return turned ? RowLayout::transposed : RowLayout::as_stored;
    }

    Modules& modules_;
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
            static_cast<void>(take(structure.outside, [&, &prefix = prefix](const Module& module) {
                if (module.path.size() <= depth) return false;
                const auto at = numbered_at(module.path, depth);
                return at && at->prefix == prefix;
            }));
        }
    if (structure.stacks.empty()) add_single_blocks(structure);
    return structure;
}

std::vector<Assigned> take_outside(Modules& modules, bool has_encoder, Context& context) {
    return Outside(modules, has_encoder, context).take();
}

}  // namespace decoderscope::load::names
