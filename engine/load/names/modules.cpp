#include "engine/load/names/modules.h"

#include "engine/base/tables.h"
#include "engine/ops/activation.h"

#include <array>
#include <charconv>
#include <iterator>
#include <set>

namespace decoderscope::load::names {

namespace {

std::string bias_of(const std::string& weight) {
    return weight.substr(0, weight.size() - std::string_view("weight").size()) + "bias";
}

// Whether any of these parameters has a bias.
bool has_bias(const Shapes& shapes, bool (*is)(std::string_view)) {
    return std::ranges::any_of(
        shapes, [&](const auto& entry) { return is(entry.first) && shapes.contains(bias_of(entry.first)); });
}

bool is_head_norm(std::string_view name) { return name.ends_with("q_norm.weight") || name.ends_with("k_norm.weight"); }

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Whether a new word begins between two characters: fooBar, foo1, 1foo.
bool parts(char before, char after) {
    return (is_lower(before) && is_upper(after)) || is_digit(before) != is_digit(after);
}

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

Index rows_of(const Shapes& shapes, const std::string& name) {
    const auto found = shapes.find(name);
    return found != shapes.end() && !found->second.empty() ? found->second[0] : 0;
}

Index columns_of(const Shapes& shapes, const std::string& name) {
    const auto found = shapes.find(name);
    return found != shapes.end() && found->second.size() == 2 ? found->second[1] : 0;
}

Index count_layers(const Shapes& shapes, const std::string& prefix) {
    Index layers = 0;
    while (shapes.contains(prefix + "layers." + std::to_string(layers) + ".self_attn.q_proj.weight")) ++layers;
    return layers;
}

bool is_projection(std::string_view name) { return name.ends_with("_proj.weight") || name == "lm_head.weight"; }

bool is_norm(std::string_view name) {
    const std::size_t at = name.rfind("norm");
    return at != std::string_view::npos && name.ends_with(".weight") && name.find('.', at) + 7 == name.size();
}

bool any_norm_has_bias(const Shapes& shapes) { return has_bias(shapes, is_norm); }
bool any_projection_has_bias(const Shapes& shapes) { return has_bias(shapes, is_projection); }

void add_zero_biases(Shapes& shapes, bool norms) {
    Shapes zeros;
    for (const auto& [name, shape] : shapes)
        if ((is_projection(name) || (norms && is_norm(name) && !is_head_norm(name))) && !shape.empty() &&
            !shapes.contains(bias_of(name)))
            zeros.emplace(bias_of(name),
                          shape.size() > 2 ? std::vector<Index>{shape[0], shape[1]} : std::vector<Index>{shape[0]});
    shapes.merge(zeros);
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

bool begins_with(const Path& path, const Path& prefix) {
    return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

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
        words.back() += lower(c);
        fresh = false;
    }
    return words;
}

Words words_of(const Path& path) {
    Words all;
    for (const std::string& component : path) {
        const Words words = words_of(component);
        all.insert(all.end(), words.begin(), words.end());
    }
    return all;
}

bool any_is(const Words& words, std::initializer_list<std::string_view> these) {
    return std::ranges::any_of(words,
                               [&](const std::string& word) { return std::ranges::find(these, word) != these.end(); });
}

bool any_has(const Words& words, std::initializer_list<std::string_view> these) {
    return std::ranges::any_of(words, [&](const std::string& word) {
        return std::ranges::any_of(these, [&](std::string_view part) { return word.find(part) != std::string::npos; });
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

// Those that are written, or all activations.
std::vector<std::string> choices_of(const OrderedJson& entry) {
    std::vector<std::string> choices;
    const auto written = entry.find("choices");
    if (written == entry.end()) return choices;
    if (written->is_array()) return written->get<std::vector<std::string>>();
    for (const ActivationKind kind : ops::activations()) choices.emplace_back(kind.name);
    return choices;
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
    const std::string key = question.key;
    const auto answered = std::ranges::find_if(answers, [&](const auto& answer) { return answer.first == key; });
    const std::string answer = answered != answers.end() ? answered->second : question.proposal;
    if (!is_asked(key)) questions.push_back(std::move(question));
    return answer;
}

bool Context::is_asked(std::string_view key) const {
    return std::ranges::any_of(questions, [&](const Question& question) { return question.key == key; });
}

bool names_norm(const Words& words) { return any_has(words, {"norm"}) || any_is(words, {"ln", "rms", "lnorm"}); }

bool names_attention(const Words& words) {
    return any_has(words, {"attn", "attention", "atten"}) || any_is(words, {"att", "sa", "ca", "mha", "mhsa", "mmha"});
}

bool names_encoder(const Words& words) {
    return any_is(words,
                  {"encoder", "enc", "src", "source", "cross", "mem", "memory", "encdec", "inter", "ca", "context"});
}

bool names_decoder(const Words& words) { return any_is(words, {"decoder", "dec", "tgt", "trg", "target"}); }

bool names_feed_forward(const Words& words) {
    return any_is(words, {"ff", "ffn", "mlp", "ffw", "ffwd", "fc", "feed", "forward", "feedforward"}) ||
           any_has(words, {"feedforward"});
}

}  // namespace decoderscope::load::names
