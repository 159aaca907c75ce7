#include "engine/load/recorded_hints.h"

#include "engine/backward/gradient.h"
#include "engine/base/json.h"
#include "engine/load/families/family.h"
#include "engine/load/recorded_run.h"
#include "engine/ops/scaled_dot_product.h"
#include "engine/trace/einsum.h"
#include "engine/trace/recorded_numbers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <compare>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace decoderscope::load {

namespace {

using trace::Numbers;

// ---- by calls

bool is_softmax(const trace::TraceCall& call) {
    return call.function == "softmax" || call.function == "scaled_dot_product_attention";
}

bool is_norm(const trace::TraceCall& call) {
    constexpr std::string_view of_module = "Norm";  // not a message: PyTorch's name
    return call.kind.find(of_module) != std::string::npos || call.function.find("_norm") != std::string::npos;
}

// The one value of all; nothing if there is none or they differ.
std::optional<std::string> only(const std::set<std::string>& values) {
    return values.size() == 1 ? std::optional(*values.begin()) : std::nullopt;
}

// The heads that attention was computed for; otherwise the number that its modules carry.
std::optional<std::string> heads_of(const trace::Trace& trace) {
    std::set<std::string> counted, carried;
    for (const trace::TraceCall& call : trace.calls)
        if (is_softmax(call))
            for (const auto& [port, name] : call.in)
                if (const trace::TraceTensor* tensor = trace.find(name);
                    tensor != nullptr && tensor->shape.size() == 4 && (port == "input" || port == "query"))
                    counted.insert(std::to_string(tensor->shape[1]));
    if (!counted.empty()) return only(counted);
    static constexpr std::array<std::string_view, 8> names = {
        ".n_head", ".n_heads", ".num_heads", ".nhead", ".num_attention_heads", ".heads", ".h", ".n_attention_heads"};
    for (const auto& [key, value] : trace.hyperparameters)
        if (std::ranges::any_of(names, [&ends = key](std::string_view name) { return ends.ends_with(name); }) &&
            std::ranges::all_of(value, [](unsigned char c) { return std::isdigit(c) != 0; }))
            carried.insert(value);
    return only(carried);
}

// What its modules' norms carry, by their width (0: without parameters) and in the order of their calls.
using EpsByWidth = std::map<Index, std::vector<std::string>>;
EpsByWidth eps_of(const trace::Trace& trace) {
    EpsByWidth values;
    for (const trace::TraceCall& call : trace.calls)
        for (const char* key : {".eps", ".variance_epsilon"}) {
            const auto said = trace.hyperparameters.find(call.module + key);
            if (!call.function.empty() || said == trace.hyperparameters.end()) continue;
            const auto own = std::ranges::find_if(trace.parameters, [&](const trace::TraceTensor& one) {
                return one.name.starts_with(call.module + ".");
            });
            values[own == trace.parameters.end() || own->shape.size() != 1 ? 0 : own->shape[0]].push_back(said->second);
        }
    return values;
}

// "layers.0" of "layers.0.attention": up to the first number.
std::string_view block_of(std::string_view module) {
    for (std::size_t from = 0; from < module.size();) {
        const std::size_t dot = std::min(module.find('.', from), module.size());
        if (from > 0 && std::isdigit(static_cast<unsigned char>(module[from])) != 0) return module.substr(0, dot);
        from = dot + 1;
    }
    return {};
}

// Whether each block that computes an attention calls a norm before it.
std::optional<std::string> norm_first_of(const trace::Trace& trace) {
    std::set<std::string> found;
    std::set<std::string_view> judged;
    for (std::size_t i = 0; i < trace.calls.size(); ++i) {
        const std::string_view block = block_of(trace.calls[i].module);
        if (!is_softmax(trace.calls[i]) || block.empty() || !judged.insert(block).second) continue;
        const auto in_block = [&](const trace::TraceCall& call) {
            return is_norm(call) && block_of(call.module) == block;
        };
        const auto softmax = trace.calls.begin() + static_cast<std::ptrdiff_t>(i);
        const bool before = std::any_of(trace.calls.begin(), softmax, in_block);
        if (before || std::any_of(softmax, trace.calls.end(), in_block)) found.insert(before ? "true" : "false");
    }
    return only(found);
}

std::optional<std::string> activation_of(const trace::Trace& trace) {
    std::set<std::string> found;
    const auto take = [&](std::string_view key, const std::string& name, const auto& said, const std::string& where) {
        const auto approximate = said.find(where);
        const auto kind = ops::activation_named(
            key, name, approximate == said.end() ? "none" : std::string_view(approximate->second));
        if (kind) found.insert(std::string(kind->name));
    };
    for (const trace::TraceCall& call : trace.calls) {
        take("function", call.function, call.with, "approximate");
        take("class", call.kind, trace.hyperparameters, call.module + ".approximate");
    }
    return only(found);
}

const trace::TraceTensor* parameter(const trace::Trace& trace, const std::string& name) {
    const auto found = std::ranges::find(trace.parameters, name, &trace::TraceTensor::name);
    return found == trace.parameters.end() ? nullptr : &*found;
}

// Whether the last projection has the numbers of an embedding, and no gradient of its own: PyTorch's state_dict stores
// what is tied under both names, and its gradient is the sum of both uses.
std::optional<std::string> tied_of(const trace::Trace& trace) {
    static constexpr std::string_view projection = "Linear", table = "Embedding";  // not a message: PyTorch's names
    const auto last = std::find_if(trace.calls.rbegin(), trace.calls.rend(),
                                   [](const trace::TraceCall& call) { return call.kind == projection; });
    if (last == trace.calls.rend()) return std::nullopt;
    const trace::TraceTensor* head = parameter(trace, last->module + ".weight");
    if (head == nullptr || trace.find(backward::gradient_name(head->name)) != nullptr) return std::nullopt;
    for (const trace::TraceCall& call : trace.calls) {
        if (call.kind != table) continue;
        const trace::TraceTensor* embedding = parameter(trace, call.module + ".weight");
        if (embedding != nullptr && embedding->shape == head->shape &&
            std::ranges::equal(embedding->values.values(), head->values.values()))
            return "true";
    }
    return std::nullopt;
}

// ---- by numbers

Numbers numbers_of(const Tensor& tensor, Index first, Index count) {
    const std::span<const float> values = tensor.values();
    return {values.begin() + first, values.begin() + first + count};
}

// A recording's tensors by their names, as a long recording is searched for each of its calls; and how far its type's
// numbers may be apart.
struct Tensors {
    std::map<std::string_view, const trace::TraceTensor*> by_name;
    double apart = 0.0;

    [[nodiscard]] bool are_same(std::span<const double> a, std::span<const double> b) const {
        return trace::are_same(a, b, apart);
    }
    [[nodiscard]] bool rounds_much() const { return apart > 1e-3; }
};

Tensors tensors_of(const trace::Trace& trace) {
    Tensors all{.by_name = {}, .apart = trace::usually_apart(trace.precision())};
    for (const trace::TraceTensor& tensor : trace.tensors) all.by_name.emplace(tensor.name, &tensor);
    return all;
}

const trace::TraceTensor* find(const Tensors& tensors, const std::string& name) {
    const auto found = tensors.by_name.find(name);
    return found == tensors.by_name.end() ? nullptr : found->second;
}

// Numbers of other types are converted all at once: a large tensor's stay where they are.
bool can_be_read(const trace::TraceTensor* tensor) {
    constexpr Index kMost = Index{1} << 24;
    return tensor != nullptr && tensor->has_floats() && tensor->values.size() > 0 && tensor->values.size() <= kMost;
}

const trace::TraceTensor* only_tensor(const Tensors& tensors,
                                      const std::vector<std::pair<std::string, std::string>>& ports) {
    const trace::TraceTensor* found = ports.size() == 1 ? find(tensors, ports.front().second) : nullptr;
    return can_be_read(found) && found->shape.size() >= 2 ? found : nullptr;
}

// What modules with a gain alone, [width], were given and gave.
struct Gained {
    const trace::TraceTensor *in, *out;
    Numbers gain;
};
std::map<Index, std::vector<Gained>> gained_by(const trace::Trace& trace, const Tensors& tensors) {  // by width
    std::map<Index, std::vector<Gained>> found;
    for (const trace::TraceCall& call : trace.calls) {
        const trace::TraceTensor *in = only_tensor(tensors, call.in), *out = only_tensor(tensors, call.out);
        if (!call.function.empty() || in == nullptr || out == nullptr || in->shape != out->shape) continue;
        std::vector<const trace::TraceTensor*> own;
        const std::string prefix = call.module + ".";
        for (const trace::TraceTensor& parameter : trace.parameters)
            if (parameter.name.starts_with(prefix)) own.push_back(&parameter);
        const Index width = in->shape.back();
        if (own.size() == 1 && can_be_read(own[0]) && own[0]->shape == std::vector<Index>{width} && width >= 4)
            found[width].push_back({in, out, numbers_of(own[0]->values, 0, width)});
    }
    return found;
}

// A row, perhaps without its mean, times its gain, or 1 more, and the number that brings it nearest to another.
struct Scaled {
    Numbers row;
    double factor = 0.0, variance = 0.0;
    double rest = 0.0;  // of the other's squares, that it isn't
};
Scaled scaled_to(const Gained& of, Index row, bool centred, double more) {
    const auto width = static_cast<Index>(of.gain.size());
    const Numbers x = numbers_of(of.in->values, row * width, width), y = numbers_of(of.out->values, row * width, width);
    double mean = 0.0, product = 0.0, square = 0.0, given = 0.0;
    for (const double at : x) mean += centred ? at / static_cast<double>(width) : 0.0;
    Scaled found;
    for (std::size_t i = 0; i < x.size(); ++i) {
        found.variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(width);
        found.row.push_back((x[i] - mean) * (of.gain[i] + more));
        product += found.row[i] * y[i];
        square += found.row[i] * found.row[i];
        given += y[i] * y[i];
    }
    found.factor = product / square;
    found.rest = (given - found.factor * product) / given;
    for (double& at : found.row) at *= found.factor;
    return found;
}

// What a module with a gain did to its last row: "rmsnorm" divides it by its root mean square, "layernorm" by its
// standard deviation after its mean was subtracted. Either leaves one factor for the whole row.
std::optional<std::string> norm_of(const std::vector<Gained>& gained, const Tensors& tensors) {
    std::set<std::string> found;
    for (const Gained& of : gained) {
        const auto width = static_cast<Index>(of.gain.size()), last = of.in->values.size() / width - 1;
        const Numbers y = numbers_of(of.out->values, last * width, width);
        for (const auto& [kind, centred, more] :
             {std::tuple{"rmsnorm", false, 0.0}, {"layernorm", true, 0.0}, {"rmsnorm_plus_one", false, 1.0}})
            if (tensors.are_same(scaled_to(of, last, centred, more).row, y)) found.insert(kind);
    }
    return only(found);
}

// Whether a module multiplies by a matrix: PyTorch's Linear, or one of a person's own, whatever its class is called.
bool is_projection(const trace::Trace& trace, const trace::TraceCall& call, const trace::TraceTensor* out) {
    static constexpr std::string_view projection = "Linear";  // not a message: PyTorch's name
    if (call.kind == projection) return true;
    const trace::TraceTensor* matrix =
        call.function.empty() && out != nullptr ? parameter(trace, call.module + ".weight") : nullptr;
    return matrix != nullptr && matrix->shape.size() == 2 && !out->shape.empty() &&
           std::ranges::find(matrix->shape, out->shape.back()) != matrix->shape.end();
}

// What a block's calls, or its projections alone, gave before a call, the nearest first, of as many numbers as a
// tensor.
std::vector<const trace::TraceTensor*> made_before(const trace::Trace& trace, const Tensors& tensors, std::size_t call,
                                                   Index size, bool by_projections) {
    std::vector<const trace::TraceTensor*> found;
    const std::string_view block = block_of(trace.calls[call].module);
    for (std::size_t i = call; i-- > 0 && block_of(trace.calls[i].module) == block;) {
        const trace::TraceTensor* out = only_tensor(tensors, trace.calls[i].out);
        if (out != nullptr && out->values.size() == size &&
            (!by_projections || is_projection(trace, trace.calls[i], out)))
            found.push_back(out);
    }
    return found;
}

// The function with which what a projection is given comes from the one or two before it: act(a), or act(a) · b.
std::optional<std::string> activation_between(const trace::Trace& trace, const Tensors& tensors) {
    constexpr Index kSample = 256;
    const std::string_view precision = trace.precision();
    std::set<std::string> found;
    for (std::size_t i = 0; i < trace.calls.size(); ++i) {
        double least = tensors.apart;
        std::string nearest;  // two kinds may be alike
        const trace::TraceTensor *in = only_tensor(tensors, trace.calls[i].in),
                                 *out = only_tensor(tensors, trace.calls[i].out);
        if (in == nullptr || out == nullptr || in->shape.back() <= out->shape.back() ||
            block_of(trace.calls[i].module).empty())
            continue;
        const auto before = made_before(trace, tensors, i, in->values.size(), true);
        const Index count = std::min(in->values.size(), kSample);
        const Numbers given = numbers_of(in->values, 0, count);
        const auto judge = [&](const Numbers& act, std::string_view kind) {
            const double apart = trace::are_those(act, given, precision) ? 0.0 : trace::apart(act, given);
            if (apart <= least) nearest = kind;
            least = std::min(least, apart);
        };
        for (std::size_t a = 0; a < std::min<std::size_t>(before.size(), 2); ++a)
            for (const ActivationKind& kind : ops::activations()) {
                Numbers act = activated(kind, numbers_of(before[a]->values, 0, count));
                judge(act, kind.name);
                if (before.size() < 2) continue;
                const std::span<const float> other = before[1 - a]->values.values();
                for (std::size_t k = 0; k < act.size(); ++k) act[k] *= static_cast<double>(other[k]);
                judge(act, kind.name);
            }
        if (!nearest.empty()) found.insert(nearest);
    }
    return only(found);
}

// "10000" of 9999.98: as few digits as say the same base, given how exactly an angle tells it.
std::string base_text(double theta) {
    char text[32];
    for (int digits = 1; digits <= 6; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, theta);
        if (std::abs(std::strtod(text, nullptr) / theta - 1.0) < 1e-3) break;
    }
    std::snprintf(text, sizeof text, "%.15g", std::strtod(text, nullptr));  // 5000, not 5e+03
    return text;
}

// How queries or keys were turned by their positions; nothing if they weren't.
struct Turned {
    std::string base;  // of the angles
    bool interleaved = false;
    std::string factor;       // that positions are divided by; empty: they aren't
    std::size_t columns = 0;  // the first ones of a head; 0: all

    auto operator<=>(const Turned&) const = default;
};

// The base of RoPE's angles that turns a projection's row at position 1 of its first head into what the scores are
// computed from, and which columns are pairs; the row at position 0 isn't turned. Su et al., arXiv:2104.09864.
struct Turning {
    Turned how;
    double apart = 0.0;  // from what was recorded, at most
};
std::optional<Turning> turned_between(const Numbers& before, const Numbers& after, const Tensors& tensors) {
    const std::size_t half = before.size() / 2;
    std::optional<Turning> found;
    if (half < 2) return found;
    for (const bool interleaved : {false, true}) {
        const auto pair = [&](const Numbers& row, std::size_t i) {
            return interleaved ? std::pair(row[2 * i], row[2 * i + 1]) : std::pair(row[i], row[i + half]);
        };
        const auto angle = [&](std::size_t i) {
            const auto [a, b] = pair(before, i);
            const auto [c, d] = pair(after, i);
            return std::remainder(std::atan2(d, c) - std::atan2(b, a), 2.0 * std::numbers::pi);
        };
        // Both may turn the other way, which leaves each score what it is.
        const double way = angle(0) < 0.0 ? -1.0 : 1.0;
        if (way * angle(1) <= 0.0) continue;
        double first = way * angle(0);  // 1, or a part that positions are interpolated by
        if (std::abs(first - 1.0) <= std::max(1e-3, 2.0 * tensors.apart)) first = 1.0;
        if (first != 1.0 && (tensors.rounds_much() || first < 1.0 / 64.0 || first > 0.9)) continue;
        // Rounded numbers tell which of the usual bases it is.
        Numbers bases = {std::pow(way * angle(1) / first, -static_cast<double>(half))};
        if (tensors.rounds_much()) bases = {1e4, 5e5, 1e6, 1e5, 1e3, 1e7, 5e6};
        for (const double theta : bases) {
            Numbers turned(before.size());
            for (std::size_t i = 0; i < half; ++i) {
                const auto [a, b] = pair(before, i);
                const double at = way * first * std::pow(theta, -static_cast<double>(i) / static_cast<double>(half));
                turned[interleaved ? 2 * i : i] = a * std::cos(at) - b * std::sin(at);
                turned[interleaved ? 2 * i + 1 : i + half] = a * std::sin(at) + b * std::cos(at);
            }
            const double apart = trace::apart(turned, after);
            if (apart <= tensors.apart && (!found || apart < found->apart))
                found = Turning{{base_text(theta), interleaved, first == 1.0 ? std::string() : base_text(1.0 / first)},
                                apart};
        }
    }
    return found;
}

// As above for the whole row, or for its first columns if the others stay as they are (GPT-NeoX's rotary_pct): small
// angles of a whole row look like none, but not as exactly.
std::optional<Turned> turned_in_part(const Numbers& before, const Numbers& after, const Tensors& tensors) {
    constexpr double kFarNearer = 10.0;
    const auto whole = turned_between(before, after, tensors);
    std::size_t same = 0;
    while (same < before.size() && before[before.size() - 1 - same] == after[after.size() - 1 - same]) ++same;
    const auto first = [](const Numbers& row, std::size_t count) {
        return Numbers(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(count));
    };
    for (std::size_t columns = (before.size() - same + 1) / 2 * 2; columns < before.size(); columns += 2)
        if (auto part = turned_between(first(before, columns), first(after, columns), tensors);
            part && (!whole || kFarNearer * part->apart < whole->apart)) {
            part->how.columns = columns;
            return part->how;
        }
    return whole ? std::optional(whole->how) : std::nullopt;
}

// What a norm of a person's own adds to the variance, or to the mean square, as what it gave for what it was given
// tells: the usual number that is near it.
std::optional<std::string> eps_between(const std::vector<Gained>& gained) {
    std::vector<std::pair<double, double>> rows_found;  // variances, the least of which tell eps best
    for (const Gained& of : gained) {
        const Index rows = std::min<Index>(of.in->values.size() / static_cast<Index>(of.gain.size()), 16);
        for (const double more : {0.0, 1.0})  // Gemma's
            for (Index row = 0; row < rows; ++row)
                for (const bool centred : {false, true})
                    if (const Scaled one = scaled_to(of, row, centred, more); one.rest <= 1e-10)
                        rows_found.emplace_back(one.variance, 1.0 / (one.factor * one.factor) - one.variance);
    }
    if (rows_found.empty()) return std::nullopt;
    std::ranges::sort(rows_found);
    Numbers found;
    for (std::size_t i = 0; i <= rows_found.size() / 2; ++i)
        if (rows_found[i].first <= 4.0 * rows_found[0].first) found.push_back(rows_found[i].second);
    std::ranges::nth_element(found, found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2));
    const double eps = found[found.size() / 2];
    if (std::abs(eps) < 1e-7 * rows_found[0].first) return "1e-12";  // F.normalize
    for (const char* usual : {"1e-06", "1e-05", "1e-04", "1e-03"})
        if (std::abs(eps / std::strtod(usual, nullptr) - 1.0) < 0.3) return usual;
    return std::nullopt;
}

// What an attention multiplied and what its softmax was given and gave, [batch, head, query, key] each, as many queries
// as keys.
struct Scores {
    const trace::TraceTensor *product = nullptr, *given = nullptr, *pattern = nullptr;
    Index columns = 0;  // of a head
};
std::vector<Scores> scores_of(const trace::Trace& trace, const Tensors& tensors) {
    std::vector<Scores> found;
    Scores one;
    for (const trace::TraceCall& call : trace.calls) {
        const trace::TraceTensor* out = call.out.size() == 1 ? find(tensors, call.out.front().second) : nullptr;
        const trace::TraceTensor* in = call.in.empty() ? nullptr : find(tensors, call.in.front().second);
        if (!can_be_read(in) || !can_be_read(out) || out->shape.size() != 4) continue;
        if (call.function == "matmul" || call.function == "bmm" || call.function == "einsum") {
            one = {out, nullptr, nullptr, in->shape.back()};
        } else if (call.function == "softmax" && one.product != nullptr && in->shape == one.product->shape &&
                   in->shape[2] == in->shape[3]) {
            found.push_back({one.product, in, out, one.columns});
        }
    }
    return found;
}

// Whether a bias is added to scores that falls by as much from each key to the one before it, by head (Press et al.,
// arXiv:2108.12409), and whether it is ALiBi's divided by √d_head, as in Falcon; in the last row, which sees all.
enum class Line { none, added, scaled };
Line line_added(const Scores& of) {
    const Index keys = of.given->shape[3], plane = keys * keys, heads = of.given->shape[1];
    if (keys < 5) return Line::none;
    bool is_scaled = true;
    for (Index head = 0; head < heads; ++head) {
        const Numbers s = numbers_of(of.product->values, (head + 1) * plane - keys, keys),
                      g = numbers_of(of.given->values, (head + 1) * plane - keys, keys);
        // g = scale · s + slope · key + a constant: by differences, from key to key.
        double ss = 0.0, s1 = 0.0, gs = 0.0, g1 = 0.0, gg = 0.0;
        const auto count = static_cast<double>(keys - 1);
        for (std::size_t k = 1; k < s.size(); ++k) {
            const double ds = s[k] - s[k - 1], dg = g[k] - g[k - 1];
            ss += ds * ds, s1 += ds, gs += dg * ds, g1 += dg, gg += dg * dg;
        }
        const double scale = (gs - g1 * s1 / count) / (ss - s1 * s1 / count), slope = (g1 - scale * s1) / count;
        const double rest = gg - scale * gs - slope * g1;
        if (!(rest <= 1e-8 * gg) || !(slope > 1e-3 * std::sqrt(gg / count) / static_cast<double>(keys)))
            return Line::none;
        const double own = ops::alibi_slope(head, heads) / std::sqrt(static_cast<double>(of.columns));
        is_scaled = is_scaled && std::abs(slope - own) <= 1e-2 * own;
    }
    return is_scaled ? Line::scaled : Line::added;
}

// Whether what a call adds to scores, [batch · head, query, key] or [batch, head, query, key], goes up along the keys
// by ALiBi's slopes, but for what is hidden and padding, along which it may stay; of some, one for all queries.
bool is_alibi(const trace::TraceTensor* added, Index batch) {
    constexpr float kHidden = 1e4F;
    if (!can_be_read(added) || added->shape.size() < 3 || added->shape.size() > 4) return false;
    const std::vector<Index>& shape = added->shape;
    const Index heads = shape.size() == 4 ? shape[1] : shape[0] / std::max<Index>(batch, 1);
    const Index rows = shape[shape.size() - 2], keys = shape.back();
    if (heads < 1 || (shape.size() == 3 && heads * batch != shape[0])) return false;
    for (Index head = 0; head < heads; ++head) {
        const float* last = added->values.data() + ((head + 1) * rows - 1) * keys;
        const double slope = ops::alibi_slope(head, heads);
        Index rises = 0;
        for (Index key = 1; key < keys; ++key) {
            if (!(std::abs(last[key]) < kHidden) || !(std::abs(last[key - 1]) < kHidden)) continue;
            const double rise = static_cast<double>(last[key]) - static_cast<double>(last[key - 1]);
            if (std::abs(rise - slope) <= 1e-2 * slope)
                ++rises;
            else if (rise != 0.0)
                return false;
        }
        if (rises < 2) return false;
    }
    return true;
}

// Whether each attention is given such numbers: by its kernel's mask, or by what its product is added to.
bool adds_alibi(const trace::Trace& trace, const Tensors& tensors) {
    Index batch = 1;
    for (const auto& [port, name] : trace.calls.empty() ? decltype(trace.calls[0].in)() : trace.calls.front().in)
        if (const trace::TraceTensor* given = find(tensors, name); given != nullptr && given->shape.size() > 1) {
            batch = given->shape[0];
            break;
        }
    std::set<bool> found;
    for (const trace::TraceCall& call : trace.calls) {
        const bool kernel = call.function == "scaled_dot_product_attention";
        if (!kernel && call.function != "baddbmm") continue;
        const auto added = std::ranges::find(call.in, std::string(kernel ? "attn_mask" : "input"),
                                             [](const auto& in) { return in.first; });
        found.insert(added != call.in.end() && is_alibi(find(tensors, added->second), batch));
    }
    return found == std::set{true};
}

// Scores of the first query group's first head that aren't hidden, scaled so, and what the softmax was given of them.
std::pair<Numbers, Numbers> seen_scores(const Scores& of, double scale) {
    const Index keys = of.given->shape[3];
    std::pair<Numbers, Numbers> seen;
    for (Index query = 0; query < keys; ++query)
        for (Index key = 0; key <= query; ++key) {
            const auto given = static_cast<double>(of.given->values.data()[query * keys + key]);
            if (!(std::abs(given) < 1e3)) continue;  // hidden
            seen.first.push_back(scale * static_cast<double>(of.product->values.data()[query * keys + key]));
            seen.second.push_back(given);
        }
    return seen;
}
double apart_under(double cap, const Numbers& scores, const Numbers& given) {
    double squares = 0.0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const double capped = cap > 0.0 ? cap * std::tanh(scores[i] / cap) : scores[i];
        squares += (capped - given[i]) * (capped - given[i]);
    }
    return squares;
}

// The cap under which scores, scaled as usual or scaled already, are what the softmax was given in all layers:
// cap · tanh(score / cap). Where numbers are rounded much, one of the usual.
std::optional<std::string> cap_of(const std::vector<Scores>& all, const Tensors& tensors) {
    for (const bool scaled : {false, true}) {
        std::vector<std::pair<Numbers, Numbers>> seen;
        for (const Scores& of : all)
            seen.push_back(seen_scores(of, scaled ? 1.0 : 1.0 / std::sqrt(static_cast<double>(of.columns))));
        const auto by_size = [](double a, double b) { return std::abs(a) < std::abs(b); };
        Numbers caps = {50.0, 30.0, 20.0, 15.0};
        if (const auto& [scores, given] = seen.front(); !tensors.rounds_much() && scores.size() > 2) {
            const auto at = static_cast<std::size_t>(std::ranges::max_element(scores, by_size) - scores.begin());
            const double x = std::abs(scores[at]), y = std::abs(given[at]);
            double low = y, high = 1e4 * x;
            for (int i = 0; i < 80 && y < 0.9999 * x; ++i) {
                const double middle = std::sqrt(low * high);
                (middle * std::tanh(x / middle) < y ? low : high) = middle;
            }
            caps = y < 0.9999 * x ? Numbers{low} : Numbers{};
        }
        const auto sum_under = [&](double cap) {
            double sum = 0.0;
            for (const auto& [scores, given] : seen) sum += apart_under(cap, scores, given);
            return sum;
        };
        double nearest = 0.0, least = 0.25 * sum_under(0.0);  // without a cap
        for (const double cap : caps)
            if (const double sum = sum_under(cap); sum < least) least = sum, nearest = cap;
        const bool fits = nearest > 0.0 && std::ranges::all_of(seen, [&](const auto& one) {
                              Numbers capped = one.first;
                              for (double& score : capped) score = nearest * std::tanh(score / nearest);
                              return one.first.size() < 3 || tensors.are_same(capped, one.second);
                          });
        if (fits) return base_text(nearest);
    }
    return std::nullopt;
}

// How many positions each query sees, itself the last; nothing if some see all before them, or others.
std::optional<Index> window_of(Index keys, const auto& seen) {
    Index window = 0;
    while (window < keys && seen(keys - 1, keys - 1 - window)) ++window;
    for (Index query = 0; query < keys; ++query)
        for (Index key = 0; key < keys; ++key)
            if (seen(query, key) != (key <= query && key > query - window)) return std::nullopt;
    return window < keys ? std::optional(window) : std::nullopt;
}

// Between which numbers queries, keys and values lie: the largest number of what attentions multiply, if several have
// it, of either sign. What is turned by its position afterwards tells nothing.
std::optional<std::string> clip_of(const trace::Trace& trace, const Tensors& tensors) {
    std::set<float> limits;
    for (const trace::TraceCall& call : trace.calls) {
        const bool kernel = call.function == "scaled_dot_product_attention";
        for (const auto& [port, name] : kernel || trace::is_product(call) ? call.in : decltype(call.in)()) {
            const trace::TraceTensor* tensor = find(tensors, name);
            if (!can_be_read(tensor) || tensor->shape.size() < 2) continue;
            const auto [low, high] = std::ranges::minmax(tensor->values.values());
            const auto limited = [&, high = high](float x) { return std::abs(x) == high; };
            if (low == -high && std::ranges::count_if(tensor->values.values(), limited) > 3) limits.insert(high);
        }
    }
    if (limits.size() != 1) return std::nullopt;
    char text[32];
    std::snprintf(text, sizeof text, "%.7g", static_cast<double>(*limits.begin()));
    return text;
}

// What attentions do to their scores that no parameter tells.
Overrides hints_of_scores(const trace::Trace& trace, const Tensors& tensors) {
    Overrides hints;
    const std::vector<Scores> all = scores_of(trace, tensors);
    if (adds_alibi(trace, tensors)) hints.emplace_back("alibi", "true");
    if (all.empty()) return hints;
    std::set<Line> lines;
    for (const Scores& of : all) lines.insert(line_added(of));
    if (!lines.contains(Line::none)) hints.emplace_back("alibi", "true");
    if (lines == std::set{Line::scaled}) hints.emplace_back("alibi_scaled", "true");
    if (const auto cap = cap_of(all, tensors)) hints.emplace_back("attention_soft_cap", *cap);
    return hints;
}

// How far attentions look back, as their patterns tell or, where a kernel keeps none, the masks that it was given.
Overrides hints_of_windows(const trace::Trace& trace, const Tensors& tensors) {
    constexpr float kHidden = -1e3F;
    std::vector<std::optional<Index>> found;  // by layer
    for (const Scores& of : scores_of(trace, tensors)) {
        const Index keys = of.given->shape[3];
        found.push_back(window_of(
            keys, [&](Index query, Index key) { return of.pattern->values.data()[query * keys + key] != 0.0F; }));
    }
    for (const trace::TraceCall& call : trace.calls) {
        if (call.function != "scaled_dot_product_attention" || call.in.size() < 2) continue;
        const auto length = [&](std::size_t which) {
            const trace::TraceTensor* of = find(tensors, call.in[which].second);
            return of == nullptr || of->shape.size() < 2 ? Index{0} : of->shape[of->shape.size() - 2];
        };
        if (length(0) < 2 || length(0) != length(1)) continue;  // behind kept keys
        const auto port = std::ranges::find(call.in, std::string("attn_mask"), [](const auto& in) { return in.first; });
        const trace::TraceTensor* mask = port == call.in.end() ? nullptr : find(tensors, port->second);
        found.emplace_back();
        if (mask == nullptr || mask->shape.size() < 2 || mask->shape.back() != mask->shape[mask->shape.size() - 2])
            continue;
        const Index keys = mask->shape.back();
        found.back() = window_of(keys, [&](Index query, Index key) {
            const float value = mask->values.data()[query * keys + key];
            return mask->dtype == "BOOL" ? value != 0.0F : value > kHidden;
        });
    }
    std::set<Index> windows;
    OrderedJson layers = OrderedJson::array();
    for (std::size_t layer = 0; layer < found.size(); ++layer)
        if (found[layer]) {
            windows.insert(*found[layer]);
            layers.push_back(layer);
        }
    Overrides hints;
    if (windows.size() == 1) hints.emplace_back("sliding_window", std::to_string(*windows.begin()));
    if (windows.size() == 1 && layers.size() < found.size()) hints.emplace_back("sliding_window_layers", layers.dump());
    return hints;
}

// What an attention's first product is given as queries, and which of its axes is that of positions.
struct GivenQueries {
    const trace::TraceTensor* tensor = nullptr;
    std::size_t positions = 2;  // [batch, head, pos, column], or [batch, pos, head, column]; heads may be in groups
};
std::optional<GivenQueries> queries_given_to(const trace::TraceCall& call, const Tensors& tensors) {
    const bool multiplies = call.function == "matmul" || call.function == "bmm";
    for (const auto& [port, name] : call.in)
        if ((multiplies && port == "input") || (call.function == "scaled_dot_product_attention" && port == "query"))
            return GivenQueries{find(tensors, name)};
    const std::optional<trace::Einsum> said = trace::einsum_of(call);
    if (!said || said->out.size() < 2) return std::nullopt;
    for (std::size_t i = 0; i < said->operands.size(); ++i) {
        const trace::TraceTensor* tensor = find(tensors, call.in[i].second);
        const int from_last = trace::from_last(said->operands[i], said->out[said->out.size() - 2]);
        if (tensor == nullptr || tensor->shape.size() < 4 || from_last < 1) continue;
        const std::size_t at = tensor->shape.size() - 1 - static_cast<std::size_t>(from_last);  // "..." has no letters
        if (at == 1 || from_last == 1) return GivenQueries{tensor, at};
    }
    return std::nullopt;
}

// How queries are turned from their projections [batch, pos, head · column] to what an attention's first product is
// given; nothing for queries that stay as they are.
std::set<std::optional<Turned>> rotations_of(const trace::Trace& trace, const Tensors& tensors) {
    std::set<std::optional<Turned>> found;
    for (std::size_t i = 0; i < trace.calls.size(); ++i) {
        const std::optional<GivenQueries> given = queries_given_to(trace.calls[i], tensors);
        const trace::TraceTensor* q = given ? given->tensor : nullptr;
        if (!can_be_read(q) || q->shape.size() < 4 || q->shape.size() <= given->positions ||
            q->shape[given->positions] < 2)
            continue;
        const Index columns = q->shape.back(),
                    heads = q->values.size() / (q->shape[0] * q->shape[given->positions] * columns);
        std::set<std::optional<Turned>> here;
        for (const trace::TraceTensor* made : made_before(trace, tensors, i, q->values.size(), false)) {
            const std::vector<Index>& shape = made->shape;
            const auto positions = std::ranges::find(shape.begin() + 1, shape.end(), q->shape[given->positions]);
            if (positions - shape.begin() > 2 || positions == shape.end() || shape[0] != q->shape[0] || made == q)
                continue;
            // What isn't turned at position 0 may be scaled there, or normalised, which leaves RoPE what it is.
            const Numbers first = numbers_of(made->values, 0, columns), given_first = numbers_of(q->values, 0, columns);
            const bool as_made = tensors.are_same(first, given_first);
            if (!as_made && (tensors.rounds_much() || !trace::are_parallel(first, given_first))) continue;
            const Index of_made = positions == shape.begin() + 1 ? heads * columns : columns;
            const Index of_given = given->positions == 1 ? heads * columns : columns;
            Numbers before = numbers_of(made->values, of_made, columns);
            const Numbers after = numbers_of(q->values, of_given, columns);
            const auto square = [](double sum, double x) { return sum + x * x; };
            const double factor = std::sqrt(std::accumulate(after.begin(), after.end(), 0.0, square) /
                                            std::accumulate(before.begin(), before.end(), 0.0, square));
            if (!as_made)
                for (double& x : before) x *= factor;
            if (const auto turned = turned_in_part(before, after, tensors); as_made || turned) here.insert(turned);
        }
        if (here.size() > 1) here.erase(std::nullopt);  // what was turned already stays
        found.merge(here);
    }
    if (tensors.rounds_much() && found.size() > 1) found.erase(std::nullopt);
    return found;
}

// Whether a block is given what a table of tokens gave, so that no positions were added to it.
bool embedding_is_all(const trace::Trace& trace) {
    static constexpr std::string_view table = "Embedding";  // not a message: PyTorch's name
    const auto embedding = std::ranges::find(trace.calls, table, &trace::TraceCall::kind);
    if (embedding == trace.calls.end() || embedding->out.empty()) return false;
    return std::ranges::any_of(trace.calls, [&](const trace::TraceCall& call) {
        return call.function.empty() && !block_of(call.module).empty() &&
               std::ranges::any_of(call.in,
                                   [&](const auto& port) { return port.second == embedding->out.front().second; });
    });
}

// ---- by its configuration

// The frequency of each pair of columns, as each call of a module for RoPE multiplied it by the positions; by the call.
std::map<std::string, Numbers> recorded_frequencies(const trace::Trace& trace) {
    constexpr std::string_view of_module = "Rotary";  // not a message: part of a class's name
    std::map<std::string, std::string> rotary;        // its call, by module
    std::map<std::string, Numbers> found;
    for (const trace::TraceCall& call : trace.calls) {
        if (call.kind.find(of_module) != std::string::npos) rotary[call.module] = call.name;
        const auto within = rotary.find(call.module);
        if (call.function != "matmul" || within == rotary.end() || call.in.empty()) continue;
        const trace::TraceTensor* tensor = trace.find(call.in.front().second);
        if (tensor != nullptr && tensor->dtype == "F32" && tensor->shape.size() == 3 && tensor->shape[2] == 1)
            found.emplace(within->second, numbers_of(tensor->values, 0, tensor->shape[1]));
    }
    return found;
}

// RoPE's parameters with these frequencies: a base or, if they aren't a base's, each frequency for itself.
OrderedJson rope_parameters(const Numbers& frequencies, double magnitude) {
    const auto pairs = static_cast<double>(frequencies.size());
    const double base = frequencies.size() < 2 ? 10000.0 : std::pow(frequencies[1] / frequencies[0], -pairs);
    const double theta = std::strtod(base_text(base).c_str(), nullptr);
    OrderedJson divisors = OrderedJson::array();
    double apart = std::abs(magnitude - 1.0);
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const double plain = std::pow(theta, -static_cast<double>(i) / pairs);
        divisors.push_back(plain / frequencies[i]);
        apart = std::max(apart, std::abs(plain / frequencies[i] - 1.0));
    }
    if (apart < 1e-5) return {{"rope_type", "default"}, {"rope_theta", theta}};
    constexpr Index kAnyLength = 1'000'000;
    return {{"rope_type", "longrope"},
            {"rope_theta", theta},
            {"short_factor", divisors},
            {"long_factor", divisors},
            {"factor", 1.0},
            {"attention_factor", magnitude},
            {"original_max_position_embeddings", kAnyLength}};
}

// As above, of all layers, or of each type of layers if these are turned by frequencies of their own.
OrderedJson rope_parameters(const trace::Trace& trace, const OrderedJson& config) {
    std::map<std::string, Numbers> frequencies = recorded_frequencies(trace);
    OrderedJson found = OrderedJson::object();
    for (const trace::TraceCall& call : trace.calls) {
        const auto own = frequencies.find(call.name);
        if (own == frequencies.end()) continue;
        const auto hyperparameter = [&](const std::string& key) {
            const auto said = trace.hyperparameters.find(call.module + "." + key);
            return said == trace.hyperparameters.end() ? std::string() : said->second;
        };
        const auto magnitude = [](const std::string& text) {
            return text.empty() ? 1.0 : std::strtod(text.c_str(), nullptr);
        };
        if (hyperparameter("layer_types").empty())
            return rope_parameters(own->second, magnitude(hyperparameter("attention_scaling")));
        // Which layers are given what it gave?
        for (const trace::TraceCall& layer : trace.calls) {
            const std::string number(block_of(layer.module).substr(block_of(layer.module).rfind('.') + 1));
            const auto given = std::ranges::find(layer.in, std::string("position_embeddings.0"),
                                                 [](const auto& port) { return port.first; });
            if (given == layer.in.end() || number.empty() || call.out.empty() ||
                given->second != call.out.front().second)
                continue;
            const auto types = config.find("layer_types");
            const auto at = static_cast<std::size_t>(std::atoll(number.c_str()));
            if (types == config.end() || !types->is_array() || at >= types->size() || !(*types)[at].is_string())
                continue;
            const auto type = (*types)[at].get<std::string>();
            found[type] = rope_parameters(own->second, magnitude(hyperparameter(type + "_attention_scaling")));
        }
    }
    return found;
}

// The family's name in a configuration of Transformers or, if it doesn't say it (one that was made in code), in the
// name of the model's class: "Ernie4_5ForCausalLM" is of ernie4_5. Empty for a family that isn't read.
std::string model_type_of(const trace::Trace& trace, const OrderedJson& config) {
    static constexpr std::array<std::string_view, 4> endings = {"ForCausalLM", "LMHeadModel",
                                                                "ForConditionalGeneration", "MTModel"};
    const auto plain = [](std::string_view name) {
        std::string letters;
        for (const char c : name)
            if (std::isalnum(static_cast<unsigned char>(c)) != 0)
                letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return letters;
    };
    const auto said = config.find("model_type");
    const bool is_said = said != config.end() && said->is_string();
    std::string_view name = is_said || trace.calls.empty() ? std::string_view() : trace.calls.front().kind;
    const auto ending = std::ranges::find_if(endings, [&](std::string_view one) { return name.ends_with(one); });
    if (!is_said && (ending == endings.end() || !config.contains("architectures"))) return {};
    if (ending != endings.end()) name.remove_suffix(ending->size());
    // A family with pictures has a text model of its own, whose configuration is this one.
    const std::string wanted = is_said ? said->get<std::string>() : plain(name), of_text = wanted + "text";
    std::string found;
    for (const std::string_view family : families::family_names()) {
        const std::string own = is_said ? std::string(family) : plain(family);
        if (!is_said && own == of_text && !config.contains("text_config")) return std::string(family);
        if (own == wanted) found = family;
    }
    return found;
}

}  // namespace

std::string recorded_config(const std::string& path) {
    if (!path.ends_with(".safetensors") || !is_recording(path)) return {};
    const trace::Trace trace = trace::open_trace(path);
    constexpr std::string_view kConfig = "(config).";
    OrderedJson config = OrderedJson::object();
    for (const auto& [key, value] : trace.hyperparameters)
        if (key.starts_with(kConfig)) config[key.substr(kConfig.size())] = json_or_text(value);
    const std::string type = model_type_of(trace, config);
    if (type.empty()) return {};
    config["model_type"] = type;
    if (!config.contains("rope_parameters"))
        if (OrderedJson rope = rope_parameters(trace, config); !rope.empty())
            config["rope_parameters"] = std::move(rope);
    return config.dump(2);
}

Numbers activated(const ActivationKind& kind, std::span<const double> numbers) {
    Tensor pre({{"", static_cast<Index>(numbers.size())}});
    std::ranges::transform(numbers, pre.writable().begin(), [](double x) { return static_cast<float>(x); });
    Operands in_order;
    in_order.add(pre);
    return numbers_of(ops::Activate{kind}.compute(in_order, pre.axes()), 0, pre.size());
}

Overrides hints_of_trace(const trace::Trace& trace) {
    Overrides hints;
    const auto add = [&](const char* key, const std::optional<std::string>& value) {
        if (value) hints.emplace_back(key, *value);
    };
    add("nhead", heads_of(trace));
    add("norm_first", norm_first_of(trace));
    const Tensors tensors = tensors_of(trace);
    // The stream's norms are the widest; narrower ones are those of queries' and keys' heads.
    const std::map<Index, std::vector<Gained>> gained = gained_by(trace, tensors);
    const EpsByWidth said = eps_of(trace);
    const Index width = std::max(said.empty() ? 0 : said.rbegin()->first, gained.empty() ? 0 : gained.rbegin()->first);
    const auto gained_over = [&](Index columns) {
        const auto found = gained.find(columns);
        return found == gained.end() ? std::vector<Gained>() : found->second;
    };
    // If those of one width have two, the last one's, behind all blocks, is the stream's.
    const auto eps_over = [&](Index columns) {
        const auto found = said.find(columns);
        return found == said.end() ? eps_between(gained_over(columns)) : std::optional(found->second.back());
    };
    const std::optional<std::string> eps = eps_over(width);
    add("layer_norm_eps", eps);
    if (const auto found = said.find(width); found != said.end())
        if (std::set<std::string> others(found->second.begin(), found->second.end()); others.size() == 2) {
            others.erase(found->second.back());
            add("qk_norm_eps", *others.begin());
        }
    add("norm", norm_of(gained_over(width), tensors));
    std::set<Index> narrower;
    for (const auto& [columns, any] : said) narrower.insert(columns);
    for (const auto& [columns, any] : gained) narrower.insert(columns);
    narrower.erase(width);
    narrower.erase(0);
    if (narrower.size() == 1) {
        const Index columns = *narrower.begin();
        if (const auto own = eps_over(columns); own && own != eps) add("qk_norm_eps", own);
        if (norm_of(gained_over(columns), tensors) == "layernorm") add("qk_norm_centred", "true");
    }
    for (auto& hint : hints_of_scores(trace, tensors)) hints.push_back(std::move(hint));
    for (auto& hint : hints_of_windows(trace, tensors)) hints.push_back(std::move(hint));
    add("clip_qkv", clip_of(trace, tensors));
    const std::optional<std::string> computed = activation_between(trace, tensors);  // relu² calls relu, too
    const std::optional<std::string> called = activation_of(trace);
    const auto is_gelu = [](const auto& kind) { return kind && kind->starts_with("gelu"); };
    add("activation", computed && !(is_gelu(computed) && is_gelu(called)) ? computed : called);
    const std::set<std::optional<Turned>> rotations = rotations_of(trace, tensors);
    const bool stays = rotations.empty() || (rotations.size() == 1 && !*rotations.begin());
    if (stays && embedding_is_all(trace)) add("positional_encoding", "none");
    if (!stays && rotations.size() == 1) {
        const Turned& turned = **rotations.begin();
        add("positional_encoding", "rope");
        add("rope_theta", turned.base);
        add("rope_interleaved", turned.interleaved ? "true" : "false");
        if (!turned.factor.empty()) {
            hints.emplace_back("rope_scaling", "linear");
            hints.emplace_back("rope_factor", turned.factor);
        }
        if (turned.columns > 0) add("rotary_dim", std::to_string(turned.columns));
    }
    add("tie_word_embeddings", tied_of(trace));
    return hints;
}

Overrides hints_of_file(const std::string& path) {
    if (!path.ends_with(".safetensors") || !is_recording(path)) return {};
    return hints_of_trace(trace::open_trace(path));
}

}  // namespace decoderscope::load
