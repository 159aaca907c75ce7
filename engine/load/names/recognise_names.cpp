#include "engine/load/names/recognise_names.h"

#include "engine/base/error.h"
#include "engine/base/tables.h"
#include "engine/load/names/parts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace decoderscope::load::names {

namespace {

// ---- our own names

// What has no ending: "layers.0.self_attn.sinks".
bool is_bare(std::string_view name) {
    return name.ends_with("self_attn.sinks") || name.ends_with("router.correction") ||
           name.find(".xielu.") != std::string_view::npos;
}

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
    const bool in_layer = path.size() > 3 && path[0] == "layers" && number(path[1]) >= 0;
    if (in_layer && path.size() == 4 && is_bare(name)) return true;
    if (path.size() < 2 || (path.back() != "weight" && path.back() != "bias")) return false;
    path.pop_back();
    const auto ours = [&](const char* place) {
        const OrderedJson& known = asset_table("names")["ours"][place];
        return std::ranges::find(known, OrderedJson(path.back())) != known.end();
    };
    if (path.size() == 1) return ours("outside");
    if (!in_layer || path.size() > 4) return false;
    if (path.size() == 3) return ours("block");
    if (path[2] == "experts" || path[2] == "shared") return ours("mlp");
    return (path[2] == "self_attn" || path[2] == "cross_attn") && ours("attention");
}

// ---- which way round matrices are stored

bool is_projection(const Assigned& part) {
    return part.module.rank() == 2 && part.name.ends_with("_proj") && part.how != RowLayout::head && !part.settled;
}

// Whether a matrix is stored as [in, out]: 1, or as Linear has it: -1; 0 if its shape doesn't tell.
int direction(const Assigned& part, Index width) {
    const Module& module = part.module;
    if (!is_projection(part) || module.is_square() || part.how == RowLayout::for_every_head) return 0;
    const bool back = part.name.ends_with("o_proj") || part.name.ends_with("down_proj");
    const bool in_columns = module.columns() == width, in_rows = module.rows() == width;
    return in_columns == in_rows ? 0 : in_columns == back ? 1 : -1;
}

void orient(std::vector<Assigned>& parts, Context& context) {
    bool turned = false, straight = false, bare = false, proven = false;
    for (const Assigned& part : parts) {
        const int way = direction(part, context.width);
        const bool is_one = part.name.find('{') == std::string::npos;
        turned = turned || way > 0;
        straight = straight || way < 0;
        // Only a fused matrix may also hold grouped queries; GPT-2's c_attn doesn't.
        proven = proven || (way > 0 && (is_one || part.module.last_words() == Words{"c", "attn"}));
        bare = bare || (part.module.bare && part.module.rank() == 2 && part.name.ends_with("_proj") && is_one);
    }
    const bool unclear = (turned && (straight || !proven)) || (!turned && !straight && bare);
    if (unclear) turned = context.ask("stored_as", {turned || bare ? "in_out" : "out_in", true}) == "in_out";
    for (Assigned& part : parts)
        if (part.how == RowLayout::as_stored &&
            (direction(part, context.width) > 0 || (turned && is_projection(part) && part.module.is_square())))
            part.how = RowLayout::transposed;
}

// ---- a block

struct Block {
    std::vector<Assigned> parts;
    Modules distances;  // tables of biases by distance, which all blocks share
    Modules open;
    bool has_cross = false;
};

Block block_of(Modules modules, Context& context) {
    Block block;
    std::vector<Sublayer> sublayers;
    const auto add = [&](Sublayer sublayer) {
        if (sublayer.parts.empty()) return;
        sublayer.norm = "norm" + std::to_string(sublayers.size() + 1);
        std::ranges::copy(sublayer.parts, std::back_inserter(block.parts));
        sublayers.push_back(std::move(sublayer));
    };
    // T5's relative_attention_bias, [bucket, head].
    block.distances = take(modules, [](const Module& module) {
        const Words words = module.last_words();
        return module.rank() == 2 && says(words, "relative") && says(words, "bias");
    });
    std::vector<std::vector<Assigned>> known = take_known(modules, context);
    block.parts = std::move(known[0]);
    add({Sublayer::Kind::self_attention, std::move(known[2]), {}});
    if (known[1].empty()) known[1] = take_stacked_experts(modules, context);
    for (Sublayer& attention : take_attentions(modules, context)) {
        block.has_cross = block.has_cross || attention.kind == Sublayer::Kind::cross_attention;
        add(std::move(attention));
    }
    add({Sublayer::Kind::feed_forward,
         known[1].empty() ? take_feed_forward(modules, context) : std::move(known[1]),
         {}});
    std::ranges::move(take_norms(modules, sublayers, context), std::back_inserter(block.parts));
    block.open = std::move(modules);
    return block;
}

// ---- the whole

// How the bias of a module is stored whose weight is stored so: it is never turned.
RowLayout layout_of_bias(RowLayout how, const std::vector<Index>& shape) {
    if (how == RowLayout::of_experts_in_turn_turned) return RowLayout::of_experts_in_turn;
    const bool straight = how == RowLayout::transposed || how == RowLayout::of_experts_turned ||
                          (how == RowLayout::repeated && shape != std::vector<Index>{1}) ||
                          (how == RowLayout::matrix_per_head && shape.size() != 2);
    return straight ? RowLayout::as_stored : how;
}

class Recogniser {
public:
    Recogniser(const Shapes& stored, const Overrides& answers) : stored_(stored) { context_.answers = answers; }

    RecognisedNames take() {
        const auto has = [&](std::string_view part) { return any_name_holds(stored_, part); };
        context_.norm_at_embedding = has("slf_attn.") && has("pos_ffn.");
        context_.one_by_one = stored_.contains("tok_embeddings.weight") && has("attention.wqkv.");
        context_.turns_back = has(".attn.c_q.") && has(".mlp.c_fc.") && !has("norm") && !has("ln_");
        const Modules modules = modules_of(stored_);
        context_.width = width_of(modules);
        Structure structure = structure_of(modules);
        check_size(structure.outside);
        std::vector<std::vector<Block>> stacks;
        for (Stack& stack : structure.stacks) {
            std::vector<Block>& blocks = stacks.emplace_back();
            for (Modules& block : stack.blocks) {
                check_size(block);
                blocks.push_back(block_of(std::move(block), context_));
            }
        }
        place_blocks(structure, stacks);
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
    // What each of them is follows from all the others beside it.
    static void check_size(const Modules& beside_each_other) {
        constexpr std::size_t kMost = 4096;  // a block of DeepSeek-V3 has 800
        if (beside_each_other.size() > kMost)
            throw Error(
                "{count} modules beside {first}, expected at most {most}",
                {{"count", beside_each_other.size()}, {"first", beside_each_other.front().name()}, {"most", kMost}});
    }

    // If there are two stacks, the decoder is the one that attends to the other, or is called so.
    static std::size_t decoder_of(const Structure& structure, const std::vector<std::vector<Block>>& stacks) {
        for (std::size_t i = 0; i < stacks.size(); ++i)
            if (std::ranges::any_of(stacks[i], &Block::has_cross)) return i;
        const auto called = std::ranges::find_if(
            structure.stacks, [](const Stack& stack) { return says(words_of(stack.prefix), "decoder"); });
        return called == structure.stacks.end() ? 0 : static_cast<std::size_t>(called - structure.stacks.begin());
    }

    void place_blocks(const Structure& structure, std::vector<std::vector<Block>>& stacks) {
        const std::size_t decoder = decoder_of(structure, stacks);
        std::vector<Assigned> all;  // which way round matrices are stored is the same in all blocks
        for (std::size_t s = 0; s < stacks.size(); ++s) {
            const std::string prefix = s == decoder ? "" : "encoder.";
            const bool one_too_many = stacks.size() > 2 && s != decoder;
            const bool numbered = !structure.stacks[s].prefix.empty() || stacks[s].size() > 1;
            const bool by_layer =
                std::ranges::count_if(stacks[s], [](const Block& block) { return !block.distances.empty(); }) > 1;
            for (std::size_t l = 0; l < stacks[s].size(); ++l) {
                Block& block = stacks[s][l];
                for (Assigned& part : block.parts) {
                    part.name = prefix + "layers." + std::to_string(l) + "." + part.name;
                    if (one_too_many)
                        leave_open(part.module);
                    else
                        all.push_back(part);
                }
                for (const Module& table : block.distances)
                    if (one_too_many || table.says("encoder"))
                        leave_open(table);
                    else
                        place(
                            {table, prefix + (by_layer ? "layers." + std::to_string(l) + "." : "") + "relative_bias"});
                // What is outside a single block stands beside it.
                for (const Module& module : block.open) numbered ? leave_open(module) : beside_.push_back(module);
            }
        }
        orient(all, context_);
        for (const Assigned& part : all) place(part);
    }

    void place(const Assigned& part) {
        const auto add = [&](const StoredTensor& tensor, const char* ending, RowLayout how) {
            result_.mapping[tensor.name].push_back(
                {is_bare(part.name) ? part.name : part.name + ending, how, part.number});
        };
        const std::optional<StoredTensor>& weight = part.module.weight;
        const std::optional<StoredTensor>& bias = part.module.bias;
        if (weight) add(*weight, ".weight", part.how);
        if (bias) add(*bias, ".bias", layout_of_bias(part.how, bias->shape));
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
    RecognisedNames as_they_are;
    for (const auto& [name, shape] : stored)
        if (is_our_name(name, stored))
            as_they_are.mapping[name].push_back({name});
        else if (!is_buffer(name, shape))
            return Recogniser(stored, answers).take();
    return as_they_are;
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
