#include "engine/load/names/recognise_names.h"

#include "engine/base/error.h"
#include "engine/base/tables.h"
#include "engine/load/names/modules.h"
#include "engine/load/names/parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace decoderscope::load::names {

namespace {

// ---- our own names

bool is_our_name(std::string_view name, const Shapes& stored) {
    // Beside a weight, or as a single number, alpha is a dynamic tanh's; elsewhere it is what others call a norm's
    // weight.
    if (name.ends_with(".alpha")) {
        const std::string weight = std::string(name.substr(0, name.size() - 5)) + "weight";
        const auto alpha = stored.find(name);
        const bool is_number = alpha != stored.end() && alpha->second == std::vector<Index>{1};
        return (stored.contains(weight) || is_number) && weight.find("norm") != std::string::npos &&
               is_our_name(weight, stored);
    }
    Path path = split(name);
    if (path.size() > 1 && path.front() == "encoder") path.erase(path.begin());
    const std::string ending = path.back();
    path.pop_back();
    const auto ours = [](const char* place, const std::string& word) {
        const OrderedJson& known = asset_table("names")["ours"][place];
        return std::ranges::find(known, OrderedJson(word)) != known.end();
    };
    const bool in_layer = path.size() >= 3 && path[0] == "layers" && number(path[1]) >= 0;
    if (ending == "sinks") return in_layer && path.size() == 3 && path[2] == "self_attn";
    if (ending == "correction") return in_layer && path.size() == 3 && path[2] == "router";
    if (ending != "weight" && ending != "bias") return false;
    if (path.size() == 1) return ours("outside", path[0]);
    if (!in_layer) return false;
    if (path.size() == 3) return ours("block", path[2]);
    if (path.size() != 4) return false;
    if (path[2] == "experts" || path[2] == "shared") return ours("mlp", path[3]);
    return (path[2] == "self_attn" || path[2] == "cross_attn") && ours("attention", path[3]);
}

bool are_our_names(const Shapes& stored) {
    return std::ranges::all_of(stored, [&](const auto& entry) {
        return is_our_name(entry.first, stored) || is_buffer(entry.first, entry.second);
    });
}

// ---- which way round matrices are stored

bool leads_back(std::string_view name) { return name.ends_with("o_proj") || name.ends_with("down_proj"); }

// Whether a matrix is stored as [in, out]: 1, or as Linear has it: -1; 0 if its shape doesn't tell.
int direction(const Assigned& part, const Context& context) {
    const Module& module = part.module;
    if (part.settled || module.rank() != 2 || module.rows() == module.columns() || !part.name.ends_with("_proj"))
        return 0;
    if (part.how == RowLayout::head || part.how == RowLayout::for_every_head) return 0;
    const bool back = leads_back(part.name);
    const Index inner = back ? module.rows() : module.columns();
    const Index other = back ? module.columns() : module.rows();
    if (inner == context.width && other != context.width) return -1;
    return other == context.width && inner != context.width ? 1 : 0;
}

void orient(std::vector<Assigned>& parts, Context& context) {
    bool turned = false, straight = false, bare = false, proven = false;
    for (const Assigned& part : parts) {
        const int way = direction(part, context);
        turned = turned || way > 0;
        // Only a fused matrix may also hold grouped queries; GPT-2's c_attn doesn't.
        const bool fused = part.name.find('{') != std::string::npos && part.module.last_words() != Words{"c", "attn"};
        proven = proven || (way > 0 && !fused);
        straight = straight || way < 0;
        bare = bare || (part.module.bare && part.module.rank() == 2 && part.name.ends_with("_proj") &&
                        part.name.find('{') == std::string::npos);
    }
    const bool unclear = (turned && (straight || !proven)) || (!turned && !straight && bare);
    if (unclear) turned = context.ask("stored_as", {turned || bare ? "in_out" : "out_in", true}) == "in_out";
    for (Assigned& part : parts) {
        const bool square = part.module.rank() == 2 && part.module.rows() == part.module.columns() &&
                            part.name.ends_with("_proj") && part.how != RowLayout::head && !part.settled;
        if (part.how == RowLayout::as_stored && (direction(part, context) > 0 || (square && turned)))
            part.how = RowLayout::transposed;
    }
}

// ---- a block

struct Block {
    std::vector<Assigned> parts;
    Modules distances;  // tables of biases by distance, which all blocks share
    Modules open;
    bool has_cross = false;
};

// T5's relative_attention_bias, [bucket, head].
bool is_bias_by_distance(const Module& module) {
    const Words words = module.last_words();
    return module.weight && module.rank() == 2 && any_is(words, {"relative", "rel"}) && any_is(words, {"bias"});
}

// gpt-oss' scores that belong to no key, beside the projections.
bool is_sinks(const Module& module) {
    return !module.path.empty() && module.path.back() == "sinks" && module.bare && module.weight && module.rank() == 1;
}

Block block_of(Modules modules, Context& context) {
    Block block;
    std::vector<Sublayer> sublayers;
    const auto add = [&](Sublayer::Kind kind, std::vector<Assigned> parts) {
        Sublayer sublayer = {kind, {}, "norm" + std::to_string(sublayers.size() + 1)};
        for (const Assigned& part : parts) sublayer.paths.push_back(part.module.path);
        sublayers.push_back(std::move(sublayer));
        std::ranges::move(parts, std::back_inserter(block.parts));
    };
    block.distances = take(modules, is_bias_by_distance);
    for (const Module& sinks : take(modules, is_sinks))
        block.parts.push_back({sinks, "self_attn.sinks", RowLayout::as_stored, 0, true, true});
    std::vector<Assigned> experts = take_experts(modules);
    if (auto parts = take_latent_attention(modules); !parts.empty())
        add(Sublayer::Kind::self_attention, std::move(parts));
    for (FoundAttention& attention : take_attentions(modules, context)) {
        block.has_cross = block.has_cross || attention.cross;
        add(attention.cross ? Sublayer::Kind::cross_attention : Sublayer::Kind::self_attention,
            std::move(attention.parts));
    }
    if (!experts.empty())
        add(Sublayer::Kind::feed_forward, std::move(experts));
    else if (auto parts = take_feed_forward(modules, context); !parts.empty())
        add(Sublayer::Kind::feed_forward, std::move(parts));
    std::ranges::move(take_norms(modules, sublayers, context), std::back_inserter(block.parts));
    block.open = std::move(modules);
    return block;
}

// ---- the whole

class Recogniser {
public:
    Recogniser(const Shapes& stored, const Overrides& answers) : stored_(stored) { context_.answers = answers; }

    RecognisedNames take() {
        if (are_our_names(stored_)) return as_they_are();
        context_.norm_at_embedding = any_name_has("slf_attn.") && any_name_has("pos_ffn.");
        context_.one_by_one = stored_.contains("tok_embeddings.weight") && any_name_has("attention.wqkv.");
        context_.turns_back =
            any_name_has(".attn.c_q.") && any_name_has(".mlp.c_fc.") && !any_name_has("norm") && !any_name_has("ln_");
        const Modules modules = modules_of(stored_);
        context_.width = width_of(modules);
        Structure structure = structure_of(modules);
        std::vector<std::vector<Block>> stacks;
        for (Stack& stack : structure.stacks) {
            std::vector<Block>& blocks = stacks.emplace_back();
            for (Modules& block : stack.blocks) blocks.push_back(block_of(std::move(block), context_));
        }
        const std::size_t decoder = decoder_of(structure, stacks);
        place_blocks(structure, stacks, decoder);
        std::ranges::move(beside_, std::back_inserter(structure.outside));
        for (const Assigned& part : take_outside(structure.outside, stacks.size() == 2, context_)) place(part);
        for (const Module& module : structure.outside) leave_open(module);
        result_.questions = std::move(context_.questions);
        for (const auto& [tensor, of] : context_.copies) {
            result_.mapping.try_emplace(tensor);
            result_.copies.push_back({tensor, of});
        }
        return std::move(result_);
    }

private:
    [[nodiscard]] bool any_name_has(std::string_view part) const { return any_name_holds(stored_, part); }

    RecognisedNames as_they_are() {
        for (const auto& [name, shape] : stored_)
            if (is_our_name(name, stored_)) result_.mapping[name].push_back({name});
        return std::move(result_);
    }

    // If there are two stacks, the decoder is the one that attends to the other, or is called so.
    static std::size_t decoder_of(const Structure& structure, const std::vector<std::vector<Block>>& stacks) {
        for (std::size_t i = 0; i < stacks.size(); ++i)
            if (std::ranges::any_of(stacks[i], &Block::has_cross)) return i;
        for (std::size_t i = 0; i < stacks.size(); ++i)
            if (names_decoder(words_of(structure.stacks[i].prefix))) return i;
        return 0;
    }

    void place_blocks(const Structure& structure, std::vector<std::vector<Block>>& stacks, std::size_t decoder) {
        std::vector<Assigned> all;  // which way round matrices are stored is the same in all blocks
        for (std::size_t s = 0; s < stacks.size(); ++s) {
            const std::string prefix = s == decoder ? "" : "encoder.";
            const bool one_too_many = stacks.size() > 2 && s != decoder;
            for (std::size_t l = 0; l < stacks[s].size(); ++l) {
                const bool numbered = !structure.stacks[s].prefix.empty() || stacks[s].size() > 1;
                for (Assigned& part : stacks[s][l].parts) {
                    if (one_too_many) {
                        leave_open(part.module);
                        continue;
                    }
                    part.name = prefix + "layers." + std::to_string(l) + "." + part.name;
                    all.push_back(part);
                }
                for (const Module& table : stacks[s][l].distances)
                    if (one_too_many || names_encoder(words_of(table.path)))
                        leave_open(table);
                    else
                        place({table, prefix + "relative_bias"});
                // What is outside a single block stands beside it.
                for (const Module& module : stacks[s][l].open)
                    numbered ? leave_open(module) : beside_.push_back(module);
            }
        }
        orient(all, context_);
        for (const Assigned& part : all) place(part);
    }

    void place(const Assigned& part) {
        const auto add = [&](const StoredTensor& tensor, const char* ending, RowLayout how) {
            result_.mapping[tensor.name].push_back({part.bare ? part.name : part.name + ending, how, part.number});
        };
        const bool for_weight_alone = part.how == RowLayout::transposed || part.how == RowLayout::repeated;
        const auto bias_how = [&](const StoredTensor& bias) {
            const bool one = bias.shape.size() == 1 && bias.shape[0] == 1 && part.how == RowLayout::repeated;
            if (part.how == RowLayout::matrix_per_head && bias.shape.size() != 2) return RowLayout::as_stored;
            // Biases are never turned.
            if (part.how == RowLayout::of_experts_turned) return RowLayout::as_stored;
            if (part.how == RowLayout::of_experts_in_turn_turned) return RowLayout::of_experts_in_turn;
            return for_weight_alone && !one ? RowLayout::as_stored : part.how;
        };
        if (part.module.weight) add(*part.module.weight, ".weight", part.how);
        if (part.module.bias) add(*part.module.bias, ".bias", bias_how(*part.module.bias));
    }

    void leave_open(const Module& module) {
        for (const auto& tensor : {module.weight, module.bias}) {
            if (!tensor) continue;
            result_.mapping[tensor->name].push_back({tensor->name});
            result_.open.push_back(tensor->name);
        }
    }

    const Shapes& stored_;
    Context context_;
    Modules beside_;  // left of a single block: what comes before or after it
    RecognisedNames result_;
};

}  // namespace

RecognisedNames recognise_names(const Shapes& stored, const Overrides& answers) {
    return Recogniser(stored, answers).take();
}

bool is_naming_key(std::string_view key) { return std::ranges::find(kNamingKeys, key) != kNamingKeys.end(); }

RecognisedNames with_mapping(RecognisedNames recognised, const Mapping& given, const Shapes& stored) {
    for (const auto& [theirs, ours] : given)
        if (!stored.contains(theirs))
            throw Error("{tensor}: in the mapping, but not in the file", {{"tensor", theirs}});
    const bool names_all = std::ranges::all_of(
        stored, [&](const auto& entry) { return given.contains(entry.first) || is_buffer(entry.first, entry.second); });
    RecognisedNames names = names_all ? RecognisedNames() : std::move(recognised);
    const auto is_given = [&](const std::string& name) { return given.contains(name); };
    std::erase_if(names.open, is_given);
    std::erase_if(names.copies, [&](const Copy& copy) { return is_given(copy.tensor); });
    for (const auto& [theirs, ours] : given) names.mapping[theirs] = ours;
    return names;
}

}  // namespace decoderscope::load::names
