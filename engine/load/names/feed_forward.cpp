#include "engine/load/names/parts.h"

#include "engine/base/tables.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace decoderscope::load::names {

namespace {

bool is_candidate(const Module& module, const Context& context) {
    return module.rank() == 2 && (module.rows() == context.width || module.columns() == context.width) &&
           !names_norm(words_of(module.path));
}

bool names_gate(const Words& words) { return any_has(words, {"gate"}); }
bool names_up(const Words& words) { return any_is(words, {"up", "in", "wi", "expand", "intermediate", "inner"}); }
bool names_down(const Words& words) { return any_is(words, {"down", "out", "wo", "output", "contract", "compress"}); }

// The words that tell one matrix from another: of the components that they don't share.
Words telling(const Module& module, std::size_t shared) {
    return words_of(Path(module.path.begin() + static_cast<std::ptrdiff_t>(shared), module.path.end()));
}

std::size_t shared_depth(const Modules& modules) {
    std::size_t depth = 0;
    while (std::ranges::all_of(modules, [&](const Module& module) {
        return module.path.size() > depth && module.path[depth] == modules.front().path[depth];
    }))
        ++depth;
    return depth;
}

// "0", "2" of a Sequential, "1", "2" of w_1 and w_2; GPT-NeoX's h_to_4h goes up.
std::optional<Index> first_number(const Words& words) {
    for (const std::string& word : words)
        if (const Index value = number(word); value >= 0) return value;
    return std::nullopt;
}

enum class Way { up, gate, gate_and_up, down, unknown };

Way way_by_words(const Words& words) {
    const bool up = names_up(words), gate = names_gate(words), down = names_down(words);
    if (gate && up) return Way::gate_and_up;
    if (gate) return Way::gate;
    const auto to = std::ranges::find(words, "to");
    if (to != words.end() && to != words.begin() && to + 1 != words.end())  // h_to_4h, 4h_to_h
        return number(*(to + 1)) >= 0 ? Way::up : Way::down;
    if (words == Words{"c", "fc"} || words == Words{"fc"}) return Way::up;  // GPT-2's c_fc and c_proj
    if (words == Words{"c", "proj"} || words == Words{"proj"}) return Way::down;
    if (up == down) return Way::unknown;
    return up ? Way::up : Way::down;
}

struct Candidate {
    Module module;
    Words words;
    Way way;
    Index order;  // by its number, or -1
};

bool is_square(const Module& module) { return module.rows() == module.columns(); }

// Whether it widens d_model, judging by its shape as Linear stores it, [out, in].
bool widens(const Module& module, const Context& context) {
    return is_square(module) ? false : module.columns() == context.width;
}

Assigned as(const Candidate& candidate, const char* name) { return {candidate.module, name}; }

// Two matrices: words, otherwise numbers, otherwise shapes.
std::vector<Assigned> of_two(std::vector<Candidate> two, const Context& context) {
    const auto goes = [](const Candidate& candidate, Way way) { return candidate.way == way; };
    // The third is missing, which is said later.
    if (goes(two[0], Way::gate) || goes(two[1], Way::gate)) {
        if (goes(two[1], Way::gate)) std::swap(two[0], two[1]);
        return {as(two[0], "gate_proj"), as(two[1], goes(two[1], Way::up) ? "up_proj" : "down_proj")};
    }
    if (goes(two[0], Way::down) || goes(two[1], Way::up)) std::swap(two[0], two[1]);
    const bool by_words = two[0].way != two[1].way && !goes(two[0], Way::down) && !goes(two[1], Way::up) &&
                          (goes(two[0], Way::up) || goes(two[0], Way::gate_and_up) || goes(two[1], Way::down));
    if (!by_words) {
        const bool numbered = two[0].order >= 0 && two[1].order >= 0 && two[0].order != two[1].order;
        if (numbered ? two[0].order > two[1].order : widens(two[1].module, context)) std::swap(two[0], two[1]);
        const bool shaped = widens(two[0].module, context) != widens(two[1].module, context);
        if (!numbered && !shaped) return {};
    }
    return {as(two[0], "up_proj"), as(two[1], "down_proj")};
}

// Names under which the first of the two that widen is the one that passes the activation.
bool gate_is_settled(const Candidate& first) {
    return any_is(first.words, {"w", "wi"}) && !any_is(first.words, {"linear", "fc"});
}

// Three: the one of another shape leads back; of the others one is the gate.
std::vector<Assigned> of_three(std::vector<Candidate> three, Context& context) {
    const auto down = std::ranges::find_if(three, [&](const Candidate& candidate) {
        const auto alike = std::ranges::count_if(three, [&](const Candidate& other) {
            return other.module.weight->shape == candidate.module.weight->shape;
        });
        return candidate.way == Way::down || alike == 1;
    });
    if (down == three.end()) return {};
    Assigned last = as(*down, "down_proj");
    three.erase(down);
    std::ranges::stable_sort(three, {}, &Candidate::order);
    // T5's wi_0 and wi_1 both lead up: their words don't tell them apart.
    const bool told = three[0].way != three[1].way;
    if (told && (three[1].way == Way::gate || three[0].way == Way::up)) std::swap(three[0], three[1]);
    if (!told || (three[0].way != Way::gate && three[1].way != Way::up)) {
        if (three[0].order < 0 || three[0].order == three[1].order) return {};
        const std::string first = three[0].module.path.back(), second = three[1].module.path.back();
        if (!gate_is_settled(three[0]) && context.ask("gate_proj:two", {.proposal = first, .other = second}) == second)
            std::swap(three[0], three[1]);
    }
    return {as(three[0], "gate_proj"), as(three[1], "up_proj"), std::move(last)};
}

// Two, of which the first is gate and up in one. None stay none.
std::vector<Assigned> with_fused_gate(const std::vector<Assigned>& two, const std::vector<Candidate>& candidates,
                                      Context& context) {
    if (two.empty()) return two;
    const Module& up = two[0].module;
    const Module& down = two[1].module;
    const Index high = up.columns() == context.width ? up.rows() : up.columns();
    const Index back = down.rows() == context.width ? down.columns() : down.rows();
    if (high != 2 * back || high == back) return two;
    const bool said = std::ranges::any_of(candidates, [&](const Candidate& candidate) {
        return candidate.way == Way::gate_and_up && candidate.module.name() == up.name();
    });
    const bool first =
        said || context.ask("gate_proj", {.required = true, .named = {{"tensor", up.name()}}}) == "first";
    return {{up, first ? "{gate,up}_proj" : "{up,gate}_proj"}, two[1]};
}

// ---- experts

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

std::vector<Assigned> take_feed_forward(Modules& modules, Context& context) {
    Modules found;
    for (const Module& module : modules)
        if (is_candidate(module, context)) found.push_back(module);
    // If some say so, the others are something else.
    const auto says_so = [](const Module& module) { return names_feed_forward(words_of(module.path)); };
    if (std::ranges::any_of(found, says_so))
        std::erase_if(found, [&](const Module& module) { return !says_so(module); });
    if (found.empty() || found.size() > 3) return {};
    const std::size_t shared = shared_depth(found);
    std::vector<Candidate> candidates;
    for (const Module& module : found) {
        const Words words = telling(module, shared);
        candidates.push_back({module, words, way_by_words(words), first_number(words).value_or(-1)});
    }
    std::vector<Assigned> assigned;
    if (candidates.size() == 3) assigned = of_three(candidates, context);
    if (candidates.size() == 2) assigned = with_fused_gate(of_two(candidates, context), candidates, context);
    if (candidates.size() == 1 && candidates[0].way != Way::unknown)
        assigned = {as(candidates[0], candidates[0].way == Way::down ? "down_proj" : "up_proj")};
    for (const Assigned& part : assigned)
        std::erase_if(modules, [&](const Module& module) { return module.name() == part.module.name(); });
    return assigned;
}

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
