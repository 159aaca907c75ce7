#include "engine/model/names/modules.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace decoderscope::names {

namespace {

template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& words) {
    return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 10> kGains = {"weight", "kernel", "gamma", "scale", "g",
                                                     "alpha",  "w",      "a_2",   "gain",  "weights"};
constexpr std::array<std::string_view, 5> kShifts = {"bias", "beta", "shift", "b", "b_2"};

// Where a tensor belongs: its module's path, and whether it is the bias of it.
struct Place {
    Path path;
    bool is_bias = false, bare = false;
};

// "in_proj_weight" is in_proj's, "W_Q" and "b_Q" are Q's.
Place bare_place(Path path) {
    const Words words = words_of(path.back());
    if (words.size() < 2) return {std::move(path), false, true};
    const bool first = words.front() == "w" || words.front() == "b";
    const bool last = words.back() == "weight" || words.back() == "bias";
    if (!first && !last) return {std::move(path), false, true};
    const bool is_bias = first ? words.front() == "b" : words.back() == "bias";
    std::string rest;
    for (std::size_t i = first ? 1 : 0; i + (first ? 0 : 1) < words.size(); ++i)
        rest += (rest.empty() ? "" : "_") + words[i];
    path.back() = rest;
    return {std::move(path), is_bias, true};
}

Place place_of(std::string_view name) {
    Path path = split(name);
    const std::string ending = path.back();
    const bool gain = is_one_of(ending, kGains), shift = is_one_of(ending, kShifts);
    if ((!gain && !shift) || path.size() < 2) return bare_place(std::move(path));
    path.pop_back();
    return {std::move(path), shift, false};
}

// Numbers by their value, so that layer 10 comes after layer 2.
bool comes_before(const Path& a, const Path& b) {
    return std::ranges::lexicographical_compare(a, b, [](const std::string& x, const std::string& y) {
        const Index m = number(x), n = number(y);
        return m >= 0 && n >= 0 ? m < n : x < y;
    });
}

}  // namespace

bool is_buffer(std::string_view name, const std::vector<Index>& shape) {
    static constexpr std::array<std::string_view, 10> words = {"mask",  "masked", "tril",   "triu", "freq",
                                                               "freqs", "ids",    "ignore", "cos",  "sin"};
    const Path path = split(name);
    const Words last = words_of(path.back());
    if (path.back() == "version" || path.back() == "_float_tensor") return true;
    // GPT-2 and GPT-NeoX keep their causal mask as the attention's "bias".
    if (path.back() == "bias" && path.size() >= 2 && shape.size() >= 2) {
        const std::string& holder = path[path.size() - 2];
        const bool square = shape.size() == 4 && shape[2] == shape[3];
        if (holder == "attn" || (holder == "attention" && square)) return true;
    }
    return std::ranges::any_of(last, [](const std::string& word) { return is_one_of(word, words); });
}

Modules modules_of(const Shapes& stored) {
    struct ByPath {
        bool operator()(const Path& a, const Path& b) const { return comes_before(a, b); }
    };
    std::map<Path, Modules, ByPath> found;
    for (const auto& [name, shape] : stored) {
        if (is_buffer(name, shape)) continue;
        Place place = place_of(name);
        Modules& here = found[place.path];
        // Two weights under one path ("a.W_x" and "a.x.weight") stay two modules.
        const auto free =
            std::ranges::find_if(here, [&](const Module& m) { return !(place.is_bias ? m.bias : m.weight); });
        Module& module = free != here.end() ? *free : here.emplace_back();
        module.path = place.path;
        module.bare = module.bare || (place.bare && !place.is_bias);
        (place.is_bias ? module.bias : module.weight) = StoredTensor{name, shape};
    }
    Modules modules;
    for (auto& [path, here] : found) std::ranges::move(here, std::back_inserter(modules));
    return modules;
}

Index width_of(const Modules& modules) {
    std::map<Index, Index> votes;
    const auto vote = [&](const std::optional<StoredTensor>& tensor) {
        if (!tensor) return;
        const std::set<Index> sizes(tensor->shape.begin(), tensor->shape.end());
        for (const Index size : sizes)
            if (size > 1) ++votes[size];
    };
    for (const Module& module : modules) {
        vote(module.weight);
        vote(module.bias);
    }
    Index best = 0;
    for (const auto& [size, count] : votes)
        if (best == 0 || count > votes[best]) best = size;
    return best;
}

}  // namespace decoderscope::names
