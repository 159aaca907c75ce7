#include "engine/load/names/modules.h"

#include "engine/base/tables.h"
#include "engine/ops/activation.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <sstream>

namespace decoderscope::load::names {

namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a new word begins between two characters: fooBar, foo1, 1foo.
bool parts(char before, char after) {
    return (is_lower(before) && is_upper(after)) || is_digit(before) != is_digit(after);
}

// Where a tensor belongs: its module's path, and whether it is the bias of it.
struct Place {
    Path path;
    bool is_bias = false, bare = false;
};

Place place_of(std::string_view name) {
    Path path = split(name);
    const bool shift = says({path.back()}, "bias");
    if (path.size() > 1 && (shift || says({path.back()}, "weight"))) return {parent(path), shift};
    // "in_proj_weight" is in_proj's, "W_Q" and "b_Q" are Q's.
    Words words = words_of(path.back());
    const bool first = words.size() > 1 && (words.front() == "w" || words.front() == "b");
    const bool last = words.size() > 1 && (words.back() == "weight" || words.back() == "bias");
    if (!first && !last) return {std::move(path), false, true};
    const auto ending = first ? words.begin() : words.end() - 1;
    const bool is_bias = ending->front() == 'b';
    words.erase(ending);
    path.back() = joined(words);
    return {std::move(path), is_bias, true};
}

// Numbers by their value, so that layer 10 comes after layer 2.
struct ByPath {
    bool operator()(const Path& a, const Path& b) const {
        return std::ranges::lexicographical_compare(a, b, [](const std::string& x, const std::string& y) {
            const Index m = number(x), n = number(y);
            return m >= 0 && n >= 0 ? m < n : x < y;
        });
    }
};

// Those that are written, or all activations.
std::vector<std::string> choices_of(const OrderedJson& entry) {
    const OrderedJson written = entry.value("choices", OrderedJson::array());
    if (written.is_array()) return written.get<std::vector<std::string>>();
    std::vector<std::string> choices;
    for (const ActivationKind kind : ops::activations()) choices.emplace_back(kind.name);
    return choices;
}

}  // namespace

bool any_name_holds(const Shapes& shapes, std::string_view part) {
    return std::ranges::any_of(shapes, [&](const auto& entry) { return entry.first.find(part) != std::string::npos; });
}

Path split(std::string_view name) {
    Path path;
    for (std::size_t start = 0; start <= name.size();) {
        const std::size_t point = std::min(name.find('.', start), name.size());
        path.emplace_back(name.substr(start, point - start));
        start = point + 1;
    }
    return path;
}

std::string join(const Path& path) {
    std::string name;
    for (const std::string& part : path) name += (name.empty() ? "" : ".") + part;
    return name;
}

std::string joined(const Words& words) {
    std::string name;
    for (const std::string& word : words) name += (name.empty() ? "" : "_") + word;
    return name;
}

bool begins_with(const Path& path, const Path& prefix) {
    return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

Path without_first(const Path& path, std::size_t count) {
    return {path.begin() + static_cast<std::ptrdiff_t>(count), path.end()};
}

Path parent(const Path& path) { return path.empty() ? path : Path(path.begin(), path.end() - 1); }

Words words_of(std::string_view component) {
    Words words;
    bool fresh = true;
    for (std::size_t i = 0; i < component.size(); ++i) {
        const char c = component[i];
        if (c == '_' || c == '-' || c == ' ' || c == '/') {
            fresh = true;
            continue;
        }
        if (fresh || parts(component[i - 1], c)) words.emplace_back();
        words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
        fresh = false;
    }
    return words;
}

Words words_of(const Path& path) {
    Words all;
    for (const std::string& component : path) std::ranges::move(words_of(component), std::back_inserter(all));
    return all;
}

bool says(const Words& words, std::string_view thing) {
    static const auto kPatterns = [] {
        std::map<std::string, std::vector<std::string>, std::less<>> all;
        for (const auto& [name, patterns] : asset_table("names")["words"].items()) {
            std::istringstream listed(patterns.get<std::string>());
            all[name] = {std::istream_iterator<std::string>(listed), {}};
        }
        return all;
    }();
    return std::ranges::any_of(kPatterns.find(thing)->second, [&](const std::string& pattern) {
        const std::string_view rest = std::string_view(pattern).substr(1);
        if (pattern.front() == '=') return joined(words) == rest;
        return std::ranges::any_of(words, [&](const std::string& word) {
            return pattern.front() == '~' ? word.find(rest) != std::string::npos : word == pattern;
        });
    });
}

Index number(std::string_view text) {
    constexpr std::size_t kMostDigits = 9;
    Index value = -1;
    if (text.empty() || text.size() > kMostDigits || !is_digit(text.front())) return -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

Index last_number(const Words& words) {
    for (auto word = words.rbegin(); word != words.rend(); ++word)
        if (const Index value = number(*word); value >= 0) return value;
    return -1;
}

bool is_buffer(std::string_view name, const std::vector<Index>& shape) {
    const Path path = split(name);
    const auto is_its_end = [&](const OrderedJson& end) {
        return ("." + std::string(name)).ends_with("." + end.get<std::string>());
    };
    if (std::ranges::any_of(asset_table("names")["buffers"], is_its_end)) return true;
    // GPT-2 and GPT-NeoX keep their causal mask as the attention's "bias".
    if (path.back() == "bias" && path.size() >= 2 && shape.size() >= 2) {
        const std::string& holder = path[path.size() - 2];
        const bool square = shape.size() == 4 && shape[2] == shape[3];
        if (holder == "attn" || (holder == "attention" && square)) return true;
    }
    return says(words_of(path.back()), "buffer");
}

Modules modules_of(const Shapes& stored) {
    std::map<Path, Modules, ByPath> found;
    for (const auto& [name, shape] : stored) {
        if (is_buffer(name, shape)) continue;
        const Place place = place_of(name);
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
    for (const Module& module : modules)
        for (const auto& tensor : {module.weight, module.bias})
            if (tensor)
                for (const Index size : std::set<Index>(tensor->shape.begin(), tensor->shape.end()))
                    if (size > 1) ++votes[size];
    const auto best = std::ranges::max_element(votes, {}, &std::pair<const Index, Index>::second);
    return best == votes.end() ? 0 : best->first;
}

Question question_named(const std::string& name, const Asking& asking) {
    const OrderedJson& entry = asset_table("questions")[name];
    const OrderedJson usual = entry.value("proposal", OrderedJson(""));
    Question question = {name.substr(0, name.find(':')),
                         !asking.proposal.empty() ? asking.proposal
                         : usual.is_string()      ? usual.get<std::string>()
                                                  : usual.dump(),
                         choices_of(entry), asking.required, asset_text(entry["why"].get<std::string>(), asking.named)};
    std::vector<std::string>& choices = question.choices;
    if (usual.is_boolean()) choices = {"true", "false"};
    if (!asking.other.empty()) choices.push_back(asking.other);
    if (!choices.empty() && std::ranges::find(choices, question.proposal) == choices.end())
        choices.insert(choices.begin(), question.proposal);
    return question;
}

std::string Context::ask(const std::string& name, const Asking& asking) {
    Question question = question_named(name, asking);
    const auto answer = std::ranges::find(answers, question.key, [](const auto& given) { return given.first; });
    const std::string taken = answer != answers.end() ? answer->second : question.proposal;
    if (std::ranges::find(questions, question.key, &Question::key) == questions.end())
        questions.push_back(std::move(question));
    return taken;
}

}  // namespace decoderscope::load::names
