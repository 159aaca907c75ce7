#include "engine/load/names/parts.h"

#include "engine/base/tables.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace decoderscope::load::names {

namespace {

enum class Way { up, gate_and_up, gate, unknown, down };

// GPT-NeoX's h_to_4h goes up.
Way way_by_words(const Words& words) {
    const bool up = says(words, "up"), gate = says(words, "gate"), down = says(words, "down");
    if (gate) return up ? Way::gate_and_up : Way::gate;
    const auto to = std::ranges::find(words, "to");
    if (to != words.end() && to != words.begin() && to + 1 != words.end())
        return number(*(to + 1)) >= 0 ? Way::up : Way::down;
    return up == down ? Way::unknown : up ? Way::up : Way::down;
}

struct Candidate {
    Module module;
    Words words;  // that tell it from the others
    Way way;
    Index order;  // by its number: "0", "2" of a Sequential, "1", "2" of w_1 and w_2; or -1
};

Candidate candidate_of(const Module& module, std::size_t shared) {
    const Words words = words_of(without_first(module.path, shared));
    const auto numbered = std::ranges::find_if(words, [](const std::string& word) { return number(word) >= 0; });
    return {module, words, way_by_words(words), numbered == words.end() ? -1 : number(*numbered)};
}

std::size_t shared_depth(const Modules& modules) {
    std::size_t depth = 0;
    while (std::ranges::all_of(modules, [&](const Module& module) {
        return module.path.size() > depth && module.path[depth] == modules.front().path[depth];
    }))
        ++depth;
    return depth;
}

// Whether it widens d_model, judging by its shape as Linear stores it, [out, in].
bool widens(const Module& module, const Context& context) {
    return !module.is_square() && module.columns() == context.width;
}

// Two matrices: words, otherwise numbers, otherwise shapes.
std::vector<Assigned> of_two(const Candidate& a, const Candidate& b, const Context& context) {
    // The third of three is missing, which is said later.
    if (b.way == Way::gate && a.way != Way::gate) return of_two(b, a, context);
    if (a.way == Way::gate) return {{a.module, "gate_proj"}, {b.module, b.way == Way::up ? "up_proj" : "down_proj"}};
    const auto rank = [](const Candidate& one) { return one.way == Way::gate_and_up ? Way::up : one.way; };
    const bool a_widens = widens(a.module, context), b_widens = widens(b.module, context);
    const bool numbered = a.order >= 0 && b.order >= 0 && a.order != b.order;
    if (rank(a) == rank(b) && !numbered && a_widens == b_widens) return {};
    const bool swapped = rank(a) != rank(b) ? rank(b) < rank(a) : numbered ? b.order < a.order : b_widens;
    return {{(swapped ? b : a).module, "up_proj"}, {(swapped ? a : b).module, "down_proj"}};
}

// Three: the one of another shape leads back; of the others one is the gate.
std::vector<Assigned> of_three(std::vector<Candidate> three, Context& context) {
    const auto down = std::ranges::find_if(three, [&](const Candidate& candidate) {
        return candidate.way == Way::down || std::ranges::count_if(three, [&](const Candidate& other) {
                                                 return other.module.weight->shape == candidate.module.weight->shape;
                                             }) == 1;
    });
    if (down == three.end()) return {};
    Assigned last = {down->module, "down_proj"};
    three.erase(down);
    std::ranges::stable_sort(three, {}, &Candidate::order);
    // T5's wi_0 and wi_1 both lead up: their words don't tell them apart.
    const bool told = three[0].way != three[1].way;
    if (told && (three[1].way == Way::gate || three[0].way == Way::up)) std::swap(three[0], three[1]);
    if (!told || (three[0].way != Way::gate && three[1].way != Way::up)) {
        if (three[0].order < 0 || three[0].order == three[1].order) return {};
        const auto last_of = [](const Path& path) { return path.empty() ? std::string() : path.back(); };
        const std::string first = last_of(three[0].module.path), second = last_of(three[1].module.path);
        const bool settled = says(three[0].words, "first_is_gate") && !says(three[0].words, "first_is_any");
        if (!settled && context.ask("gate_proj:two", {.proposal = first, .other = second}) == second)
            std::swap(three[0], three[1]);
    }
    return {{three[0].module, "gate_proj"}, {three[1].module, "up_proj"}, std::move(last)};
}

// Two, of which the first may be gate and up in one.
std::vector<Assigned> with_fused_gate(std::vector<Assigned> two, const std::vector<Candidate>& candidates,
                                      Context& context) {
    if (two.empty()) return two;
    const Module &up = two[0].module, &down = two[1].module;
    const Index high = up.columns() == context.width ? up.rows() : up.columns();
    const Index back = down.rows() == context.width ? down.columns() : down.rows();
    if (high != 2 * back || high == back) return two;
    const bool said = std::ranges::any_of(candidates, [&](const Candidate& candidate) {
        return candidate.way == Way::gate_and_up && candidate.module.name() == up.name();
    });
    const bool first =
        said || context.ask("gate_proj", {.required = true, .named = {{"tensor", up.name()}}}) == "first";
    two[0].name = first ? "{gate,up}_proj" : "{up,gate}_proj";
    return two;
}

// A number of a path is "#": "experts.#.w1".
std::string pattern_of(Path path, std::string& last_number) {
    for (std::string& component : path)
        if (number(component) >= 0) {
            last_number = component;
            component = "#";
        }
    return "." + join(path);
}

// A part of the expert that all tokens have.
bool is_of_shared(const Module& one) {
    return std::ranges::any_of(
        one.path, [&](const std::string& part) { return part.starts_with("shared") && &part != &one.path.back(); });
}

// Experts whose parts have names of their own ("experts.0.fc1"), or of three listed names two: each is a feed-forward,
// as what is called shared is. What has a row for each of them chooses among them.
void take_experts(Modules& modules, std::vector<Assigned>& taken, Context& context) {
    const auto is_part = [](const Assigned& one) { return one.name.starts_with("experts."); };
    const auto goes_up = [&](const Assigned& one) { return is_part(one) && one.name.find("up") != std::string::npos; };
    Modules shared = names::take(modules, is_of_shared);
    for (const Assigned& part : take_feed_forward(shared, context))
        taken.push_back({part.module, "shared." + part.name, part.how, part.number});
    std::ranges::move(shared, std::back_inserter(modules));
    if (std::ranges::any_of(taken, goes_up)) return;
    for (const Assigned& one : taken)
        if (is_part(one)) modules.push_back(one.module);
    std::erase_if(taken, is_part);
    std::map<Index, Modules> experts;
    std::erase_if(modules, [&](const Module& module) {
        const auto list = std::ranges::find(module.path, "experts");
        const Index expert = module.path.end() - list > 1 ? number(*(list + 1)) : -1;
        if (expert >= 0) experts[expert].push_back(module);
        return expert >= 0;
    });
    for (auto& [expert, parts] : experts) {
        for (const Assigned& part : take_feed_forward(parts, context))
            taken.push_back({part.module, "experts." + part.name, RowLayout::expert, expert, true});
        std::ranges::move(parts, std::back_inserter(modules));
    }
    const auto count = static_cast<Index>(experts.size());
    const auto chooses = [&](const Module& one) {
        return one.rank() == 2 && one.rows() == count && one.columns() == context.width;
    };
    const bool known = std::ranges::any_of(taken, [](const Assigned& one) { return one.name == "router"; });
    if (known || std::ranges::count_if(modules, chooses) != 1) return;
    const auto router = std::ranges::find_if(modules, chooses);
    taken.push_back({*router, "router", RowLayout::as_stored, 0, true});
    modules.erase(router);
}

}  // namespace

std::vector<Assigned> take_feed_forward(Modules& modules, Context& context) {
    Modules found;
    for (const Module& module : modules)
        if (module.rank() == 2 && (module.rows() == context.width || module.columns() == context.width) &&
            !module.says("norm"))
            found.push_back(module);
    // If some say so, the others are something else.
    const auto says_so = [](const Module& module) { return module.says("feed_forward"); };
    if (std::ranges::any_of(found, says_so))
        std::erase_if(found, [&](const Module& module) { return !says_so(module); });
    if (found.empty() || found.size() > 3) return {};
    const std::size_t shared = shared_depth(found);
    std::vector<Candidate> candidates;
    for (const Module& module : found) candidates.push_back(candidate_of(module, shared));
    std::vector<Assigned> assigned;
    if (candidates.size() == 3) assigned = of_three(candidates, context);
    if (candidates.size() == 2)
        assigned = with_fused_gate(of_two(candidates[0], candidates[1], context), candidates, context);
    if (candidates.size() == 1 && candidates[0].way != Way::unknown)
        assigned = {{candidates[0].module, candidates[0].way == Way::down ? "down_proj" : "up_proj"}};
    for (const Assigned& part : assigned) drop(modules, part.module);
    return assigned;
}

std::vector<Assigned> take_stacked_experts(Modules& modules, Context& context) {
    const auto is_stack = [&](const Module& one) {
        return one.rank() == 3 && (one.weight->shape[1] == context.width || one.weight->shape[2] == context.width);
    };
    Modules stacks;
    std::ranges::copy_if(modules, std::back_inserter(stacks), is_stack);
    const Index count = stacks.empty() ? 0 : stacks.front().weight->shape[0];
    const auto chooses = [&](const Module& one) { return one.rows() == count && one.columns() == context.width; };
    if (count < 2 || stacks.size() > 3 || std::ranges::count_if(modules, chooses) != 1 ||
        std::ranges::any_of(stacks, [&](const Module& one) { return one.weight->shape[0] != count; }))
        return {};
    Modules of_one = stacks;
    for (Module& one : of_one) one.weight->shape.erase(one.weight->shape.begin());
    std::vector<Assigned> taken;
    for (const Assigned& part : take_feed_forward(of_one, context))
        taken.push_back({*std::ranges::find(stacks, part.module.name(), &Module::name), "experts." + part.name,
                         RowLayout::of_experts, 0, true});
    if (taken.empty()) return {};
    taken.push_back({*std::ranges::find_if(modules, chooses), "router", RowLayout::as_stored, 0, true});
    for (const Assigned& part : taken) drop(modules, part.module);
    return taken;
}

std::vector<std::vector<Assigned>> take_known(Modules& modules, Context& context) {
    std::vector<std::vector<Assigned>> all;
    for (const OrderedJson& group : asset_table("names")["parts"]) {
        std::vector<Assigned>& taken = all.emplace_back();
        const auto beside = group.value("beside", std::vector<std::string>());
        std::size_t depth = 0;
        const auto first = std::ranges::find_if(modules, [&](const Module& module) {
            const auto at = std::ranges::find_first_of(module.path, beside);
            depth = static_cast<std::size_t>(at - module.path.begin());
            return at != module.path.end();
        });
        if (!beside.empty() && first == modules.end()) continue;
        const Path holder = beside.empty()
                                ? Path()
                                : Path(first->path.begin(), first->path.begin() + static_cast<std::ptrdiff_t>(depth));
        const auto target_in = [&](const char* list, const Module& module) -> std::optional<Target> {
            if (!group.contains(list) || !begins_with(module.path, holder)) return std::nullopt;
            std::string number;
            const std::string found = pattern_of(without_first(module.path, holder.size()), number);
            for (const auto& [theirs, ours] : group[list].items()) {
                if (!found.ends_with("." + theirs)) continue;
                std::string text = ours.get<std::string>();
                const bool within_expert = found.find(".experts.#.") != std::string::npos,
                           shared = is_of_shared(module);
                if ((within_expert && text.find("expert #") == std::string::npos) ||
                    (shared && !text.starts_with("shared")))
                    continue;  // an expert's own gate chooses none of them
                if (text.ends_with("#")) text.replace(text.size() - 1, 1, number);
                return target_of(module.name(), text);
            }
            return std::nullopt;
        };
        const bool biased = std::ranges::any_of(modules, [&](const Module& module) {
            return module.bias && join(module.path).ends_with(group.value("biased", "?"));
        });
        std::erase_if(modules, [&](const Module& module) {
            std::optional<Target> target = biased ? target_in("of_biased", module) : std::nullopt;
            if (!target) target = target_in("are", module);
            if (target) taken.push_back({module, target->name, target->how, target->number, true});
            return target.has_value();
        });
        if (group.contains("biased")) take_experts(modules, taken, context);
    }
    return all;
}

}  // namespace decoderscope::load::names
