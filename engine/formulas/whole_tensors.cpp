#include "engine/formulas/whole_tensors.h"

#include "engine/formulas/indexed_tensors.h"
#include "engine/formulas/tokens.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

namespace decoderscope::formulas {
namespace {

using Parts = std::map<std::string, Part, std::less<>>;

// What a function was given. Rows without a formula read `all`, as they stand.
struct Arguments {
    std::string function;
    std::size_t at;
    std::vector<Part> all{};
    Parts by_name{};
    std::string module{};   // "np", or PyTorch's
    std::string first{};    // the name of its first parameter: most often input
    bool has_none = false;  // None was given, which stands for what is left out
};

class TensorReader;
// A function of PyTorch or NumPy by its names; those after a dot are properties. It is a formula, in which k is the
// index along `dim` and n its size, and the result has that axis unless it may be kept (keepdim); or code.
struct Row {
    std::string names, parameters;  // with default values; an empty one may be left out; those behind * only by name
    std::string formula{};
    Part (TensorReader::*code)(Arguments&) = nullptr;
};

constexpr std::array kSameParameters{std::pair{"axis", "dim"}, std::pair{"keepdims", "keepdim"},
                                     std::pair{"unbiased", "correction"}, std::pair{"ddof", "correction"}};
constexpr std::array<std::string_view, 9> kModules{"torch", "F",    "nn",  "functional", "np",
                                                   "numpy", "math", "jnp", "special"};

// PyTorch divides by 0 where n has no more than is taken from it.
constexpr const char* kVariance =
    "correction = 0 ? variance_k(input[k]) : correction < n ? variance_k(input[k]) · n / (n − correction) : "
    "variance_k(input[k]) · n / 0";
constexpr const char* kDeviation =
    "correction = 0 ? √(variance_k(input[k])) : correction < n ? √(variance_k(input[k]) · n / (n − correction)) : "
    "√(variance_k(input[k]) · n / 0)";
constexpr const char* kRounding =
    "decimals = 0 ? round(input) : decimals > 0 ? round(input · 10^decimals) / 10^decimals : "
    "round(input / 10^(−decimals)) · 10^(−decimals)";

struct PythonOperator {
    std::string_view word;
    int level;
    Op op;  // "@" has none
};
constexpr int kComparison = 3, kUnary = 8;
constexpr PythonOperator kOperators[] = {
    {"or", 0, Op::either},  {"and", 1, Op::both},     {"=", 3, Op::equal},      {"≠", 3, Op::not_equal},
    {"<", 3, Op::less},     {"≤", 3, Op::less_equal}, {">", 3, Op::greater},    {"≥", 3, Op::greater_equal},
    {"|", 4, Op::either},   {"&", 5, Op::both},       {"+", 6, Op::add},        {"−", 6, Op::subtract},
    {"·", 7, Op::multiply}, {"/", 7, Op::divide},     {"div", 7, Op::quotient}, {"mod", 7, Op::remainder},
    {"@", 7, Op::stop}};

// Parameters that are True or False.
bool is_choice(std::string_view parameter) { return parameter == "keepdim" || parameter == "descending"; }

// A row's operation, without what its default values do nothing in.
Expr without_defaults(Op op, const std::vector<Expr>& in, std::size_t at) {
    const auto second = in.size() > 1 ? literal(in[1]) : std::nullopt;
    const double infinite = std::numeric_limits<double>::infinity();
    if ((op == Op::add && second == 0.0) || (op == Op::multiply && second == 1.0) ||
        (op == Op::min && second == infinite) || (op == Op::max && second == -infinite))
        return in[0];
    return applied(op, in, at);
}

std::vector<std::string> split(std::string_view text, std::string_view between) {
    std::vector<std::string> words;
    for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + between.size())) {
        end = text.find(between);
        words.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
    }
    return words;
}

class TensorReader : TokenReader, IndexedTensors {
public:
    TensorReader(std::string_view text, std::vector<Token> tokens, const Known& known, const Functions& functions)
        : TokenReader(std::move(tokens)), IndexedTensors(text, known, functions) {}

    [[nodiscard]] Formula formula() {
        std::string name = "y";
        for (int i = 2; known_.operands.contains(name); ++i) name = "y" + std::to_string(i);
        if (here().kind == Kind::name && tokens_[1].word == "=" && text_[tokens_[1].end - 1] == '=' &&
            tokens_[1].end - tokens_[1].begin == 1) {
            name = here().word;
            if (known_.operands.contains(name))
                fail(message("“{name}” is an operand already: give the result another name", {{"name", name}}));
            at_ = 2;
        }
        const Part result = tensor(expression());
        need_end();
        Formula formula{.main = definition_of(name, result, false)};
        for (const auto& [part, where] : wheres_) formula.wheres.push_back(definition_of(part, where, true));
        return formula;
    }

    // ---- functions that are code

    Part einsum(Arguments& a) {
        const std::string rule = a.all[0].quoted;
        const std::size_t arrow = rule.find("->");
        std::string inputs = rule.substr(0, arrow), order;
        std::erase(inputs, ' ');
        std::map<char, IndexedAxis> axis_of;
        Expr product;
        for (std::size_t i = 1; i < a.all.size() || !inputs.empty(); ++i) {
            const std::string letters = inputs.substr(0, inputs.find(','));
            inputs.erase(0, std::min(letters.size() + 1, inputs.size()));
            Part x = i < a.all.size() ? settled(tensor(a.all[i])) : a.all[0];
            if (letters.size() != x.axes.size() || !x.cell)
                throw FormulaError(
                    message("“{letters}” of “{rule}” doesn't name the axes of {operand}",
                            {{"letters", clipped(letters)}, {"rule", clipped(rule)}, {"operand", shown(x)}}),
                    x.begin);
            for (const char letter : letters) {
                const auto [known, is_new] = axis_of.try_emplace(letter, x.axes[0]);
                if (!is_new && known->second.dim.size != x.axes[0].dim.size)
                    fail_to_fit(known->second.dim, clipped(rule), x.axes[0].dim, shown(x), x.begin);
                if (!is_new) known->second = met(known->second, x.axes[0]);
                x = at_index(x, 0, index(known->second.index));
                if (is_new) order += letter;
            }
            product = product ? applied(Op::multiply, {product, x.cell}, a.at) : x.cell;
        }
        Part result{.cell = product};
        std::string out = arrow == std::string::npos ? "" : rule.substr(arrow + 2);
        std::erase(out, ' ');
        if (arrow == std::string::npos) {
            std::string sorted = order;
            std::ranges::sort(sorted);
            std::ranges::copy_if(sorted, std::back_inserter(out),
                                 [&](char c) { return std::ranges::count(rule, c) == 1; });
        }
        for (const char letter : order)
            if (out.find(letter) == std::string::npos) result.axes.push_back(axis_of.at(letter));
        while (!result.axes.empty()) result = reduced(result, result.axes.size() - 1, Fold::sum);
        for (const char letter : out) {
            const auto found = axis_of.find(letter);
            if (found == axis_of.end() || std::ranges::count(out, letter) > 1)
                throw FormulaError(message("“{letters}” of “{rule}” doesn't name axes of the operands, each once",
                                           {{"letters", clipped(out)}, {"rule", clipped(rule)}}),
                                   a.at);
            result.axes.push_back(found->second);
        }
        return result;
    }

    Part matmul(Arguments& a) {
        const Part &x = tensor(a_input(a)), &y = tensor(a.by_name.at("other"));
        const auto need_axes = [&](std::size_t count) {
            for (const Part* each : {&x, &y})
                if (each->axes.size() != count)
                    throw FormulaError(message_n("{function} needs tensors with {count} axis: {operand}",
                                                 "{function} needs tensors with {count} axes: {operand}", count,
                                                 {{"function", a.function}, {"operand", shown(*each)}}),
                                       each->begin);
        };
        if (a.function == "dot") need_axes(1);
        if (a.function == "mm") need_axes(2);
        if (a.function == "bmm") {
            need_axes(3);
            if (x.axes[0].dim.size != y.axes[0].dim.size)
                fail_to_fit(x.axes[0].dim, shown(x), y.axes[0].dim, shown(y), y.begin);
        }
        return product(x, y, a.at);
    }
    Part linear(Arguments& a) {
        const Part& weight = tensor(a.by_name.at("weight"));
        const Part y = product(tensor(a_input(a)), weight.axes.size() == 1 ? weight : swapped(weight, -2, -1), a.at);
        if (weight.axes.size() > 2)
            throw FormulaError(message_n("{function} needs tensors with {count} axis: {operand}",
                                         "{function} needs tensors with {count} axes: {operand}", std::size_t{2},
                                         {{"function", a.function}, {"operand", shown(weight)}}),
                               weight.begin);
        const auto bias = a.by_name.find("bias");
        if (bias == a.by_name.end()) return y;
        const Part& added = tensor(bias->second);
        if (weight.axes.size() != 2 || added.axes.size() != 1 || added.axes[0].dim.size != weight.axes[0].dim.size)
            throw FormulaError(
                message("{operand} is no bias of {other}", {{"operand", shown(added)}, {"other", shown(weight)}}),
                added.begin);
        return applied_to(Op::add, {y, added}, a.at);
    }
    Part transpose(Arguments& a) {
        const Part& x = tensor(a_input(a));
        const Index one = whole(a.by_name.at("dim0")), other = whole(a.by_name.at("dim1"));
        return is_axis_of_number(x, one) && is_axis_of_number(x, other) ? x : swapped(x, one, other);
    }
    Part matrix_transpose(Arguments& a) { return swapped(tensor(a_input(a)), -2, -1); }
    Part reversed(Arguments& a) {
        Part x = tensor(a_input(a));
        if (a.function == "t" && x.axes.size() > 2)
            throw FormulaError(
                message("{operand} has more than two axes: write .mT or .transpose(…)", {{"operand", shown(x)}}), a.at);
        std::ranges::reverse(x.axes);
        return x;
    }
    Part permute(Arguments& a) {
        const Part x = tensor(a.all[0]);
        const std::vector<Part> order =
            a.all.size() == 2 ? a.all[1].items : std::vector(a.all.begin() + 1, a.all.end());
        Part y = x;
        y.axes.clear();
        std::set<std::size_t> seen;
        for (const Part& dim : order)
            if (const std::size_t n = position(x, whole(dim), a.at); seen.insert(n).second) y.axes.push_back(x.axes[n]);
        if (seen.size() != x.axes.size() || order.size() != x.axes.size())
            throw FormulaError(message("{function} names each axis of {operand} once",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
        return y;
    }
    Part unsqueeze(Arguments& a) {
        const Part& x = tensor(a_input(a));
        const Index dim = whole(a.by_name.at("dim"));
        Part wider = x;
        wider.axes.push_back(axis_of_size("1", 1));
        const std::size_t place = position(wider, dim, a.at);
        std::rotate(wider.axes.begin() + static_cast<std::ptrdiff_t>(place), wider.axes.end() - 1, wider.axes.end());
        return wider;
    }
    Part squeeze(Arguments& a) {
        const Part& x = tensor(a_input(a));
        if (is_axis_of_number(x, whole(a.by_name.at("dim")))) return x;
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        return x.axes[n].dim.size == 1 ? at_index(x, n, number(0.0)) : x;
    }
    Part repeat_interleave(Arguments& a) {
        Part x = tensor(a_input(a));
        const Part& times = tensor(a.by_name.at("repeats"));
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        const auto size = limits::count_of({x.axes[n].dim.size, whole(times)});
        if (!size || whole(times) < 1)
            throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
        IndexedAxis longer = axis_of_size(std::to_string(*size), *size);
        x = at_index(x, n, applied(Op::quotient, {index(longer.index), times.cell}, a.at));
        x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n), longer);
        return x;
    }
    // One after another along an axis; the others go together.
    Part joined(Arguments& a) {
        const std::vector<Part>& parts = a.by_name.at("tensors").items;
        if (parts.empty()) throw FormulaError(message("{function} needs a list", {{"function", a.function}}), a.at);
        const std::size_t along = position(tensor(parts[0]), whole(a.by_name.at("dim")), a.at);
        Part result{.axes = parts[0].axes};
        Index size = 0;
        for (const Part& x : parts) {
            if (tensor(x).axes.size() != result.axes.size())
                throw FormulaError(message("{function} needs tensors with as many axes as {operand}",
                                           {{"function", a.function}, {"operand", shown(parts[0])}}),
                                   x.begin);
            for (std::size_t n = 0; n < x.axes.size(); ++n)
                if (n != along && x.axes[n].dim.size != result.axes[n].dim.size)
                    fail_to_fit(result.axes[n].dim, shown(parts[0]), x.axes[n].dim, shown(x), x.begin);
            size += x.axes[along].dim.size;
        }
        result.axes[along] = axis_of_size(std::to_string(size), size);
        const Expr place = index(result.axes[along].index);
        for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
            const Index end = size;
            size -= part->axes[along].dim.size;
            Part x = *part;
            for (std::size_t n = 0; n < result.axes.size(); ++n) {
                if (n != along) result.axes[n] = met(result.axes[n], x.axes[0]);
                if (n == 0) x = settled(x);
                x = at_index(x, 0,
                             n != along  ? index(result.axes[n].index)
                             : size == 0 ? place
                                         : place - number(static_cast<double>(size)));
            }
            result.cell =
                !result.cell
                    ? x.cell
                    : applied(Op::choose,
                              {apply(Op::less, {place, number(static_cast<double>(end))}, a.at), x.cell, result.cell},
                              a.at);
        }
        return result;
    }
    // The same numbers in other axes, row by row: some axes become as many numbers in others.
    Part reshaped(Arguments& a) {
        Part x = tensor(a.all[0]);
        const std::vector<Part> given = sizes_in(a, 1);
        Index count = 1, known = 1;
        std::size_t rests = 0;
        for (const IndexedAxis& axis : x.axes) count *= axis.dim.size;
        for (const Part& size : given)
            if (whole(size) == -1)
                ++rests;
            else
                known = limits::count_of({known, whole(size)}).value_or(0) * (whole(size) > 0 ? 1 : 0);
        std::vector<IndexedAxis> axes;
        Index made = 1;
        for (const Part& part : given) {
            const bool is_rest = whole(part) == -1 && known > 0;
            axes.push_back(is_rest ? axis_of_size(std::to_string(count / known), count / known) : axis_as_given(part));
            made *= axes.back().dim.size == 0                        ? 0
                    : limits::count_of({made, axes.back().dim.size}) ? axes.back().dim.size
                                                                     : 0;
        }
        if (made != count || rests > 1)
            throw FormulaError(message("{operand} can't have these axes: it has {count} numbers",
                                       {{"operand", shown(x)}, {"count", count}}),
                               a.at);
        if (count == 0) return {.axes = axes, .cell = number(0.0)};
        if (!std::ranges::equal(
                x.axes, axes, {}, [](const IndexedAxis& one) { return one.dim.size; },
                [](const IndexedAxis& one) { return one.dim.size; }))
            x = settled(x);
        std::size_t at = 0, next = 0;  // the axis of x that comes next, and the new one
        while (at < x.axes.size() || next < axes.size()) {
            std::vector<Index> old;
            std::vector<IndexedAxis> now;
            Index of_old = 1, of_now = 1;
            const auto take_old = [&] { of_old *= old.emplace_back(x.axes[at + old.size()].dim.size); };
            const auto take_new = [&] { of_now *= now.emplace_back(axes[next++]).dim.size; };
            const auto more_old = [&] { return at + old.size() < x.axes.size(); };
            if (more_old()) take_old();
            if (next < axes.size()) take_new();
            while (of_old != of_now) of_old < of_now ? take_old() : take_new();
            if (old.size() == 1 && now.size() == 1) {
                ++at;
                continue;
            }
            Expr place = number(0.0);  // among the numbers of these axes
            for (const IndexedAxis& axis : now)
                place = literal(place) ? index(axis.index) : place * size_of(axis) + index(axis.index);
            Index rest = of_old;
            for (std::size_t n = 0; n < old.size(); ++n) {
                rest /= old[n];
                Expr one = rest == 1 ? place : applied(Op::quotient, {place, number(static_cast<double>(rest))}, a.at);
                if (n > 0) one = applied(Op::remainder, {one, number(static_cast<double>(old[n]))}, a.at);
                x = at_index(x, at, old[n] == 1 ? number(0.0) : one);
            }
            x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(at), now.begin(), now.end());
            at += now.size();
        }
        return x;
    }
    // Axes of length 1 repeated, and new ones in front.
    Part expanded(Arguments& a) {
        Part x = tensor(a.all[0]);
        const std::vector<Part> given = sizes_in(a, 1);
        if (given.size() < x.axes.size())
            throw FormulaError(message("{function} needs a size for each axis of {operand}",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
        const std::size_t in_front = given.size() - x.axes.size();
        for (std::size_t n = 0; n < given.size(); ++n) {
            const bool is_new = n < in_front;
            if (!is_new && (whole(given[n]) == -1 || whole(given[n]) == x.axes[n].dim.size)) continue;
            const IndexedAxis wider = axis_as_given(given[n]);
            if (!is_new && x.axes[n].dim.size != 1)
                fail_to_fit(x.axes[n].dim, shown(a.all[0]), wider.dim, a.function, given[n].begin);
            if (!is_new) x = at_index(settled(x), n, number(0.0));
            x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n), wider);
        }
        return x;
    }
    Part filled(Arguments& a) {
        Part x = number_part(a.function == "ones" ? 1.0 : 0.0);
        for (const Part& size : sizes_in(a, 0)) x.axes.push_back(axis_as_given(size));
        return x;
    }
    // What lies on a diagonal and on one side of it; 0 elsewhere.
    Part triangle(Arguments& a) {
        const Part x = tensor(a_input(a));
        const std::size_t rows = position(x, -2, a.at), columns = position(x, -1, a.at);
        const Expr diagonal = index(x.axes[rows].index) + number(static_cast<double>(whole(a.by_name.at("diagonal"))));
        const Expr kept = apply(a.function == "tril" ? Op::less_equal : Op::greater_equal,
                                {index(x.axes[columns].index), diagonal}, a.at);
        Part y = x;
        y.cell = applied(Op::choose, {kept, x.cell, number(0.0)}, a.at);
        return y;
    }
    // What stands at other places along one axis.
    Part gathered(Arguments& a) {
        Part x = tensor(a_input(a));
        Part where = tensor(a.by_name.at("index"));
        const std::size_t along = position(x, whole(a.by_name.at("dim")), a.at);
        if (where.axes.size() != x.axes.size())
            throw FormulaError(message("{function} needs tensors with as many axes as {operand}",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               where.begin);
        const Part counted = places_in(x.axes[along], where, x);
        if (a.function == "take_along_axis") where = counted;  // NumPy counts from the end, too
        x = settled(x);
        Part result{.axes = where.axes};
        for (std::size_t n = 0; n < result.axes.size(); ++n) {
            const Dim &here = x.axes[0].dim, &there = where.axes[n].dim;
            if (a.function == "gather" || n == along) {
                if (n != along && there.size > here.size)
                    fail_to_fit(here, shown(a_input(a)), there, shown(where), where.begin);
                x = at_index(x, 0, n == along ? where.cell : index(where.axes[n].index));
            } else {  // the other axes are broadcast
                if (here.size != there.size && here.size != 1 && there.size != 1)
                    fail_to_fit(here, shown(a_input(a)), there, shown(where), where.begin);
                if (there.size == 1 && here.size != 1) result.axes[n] = x.axes[0];
                x = at_index(x, 0, here.size == 1 && there.size != 1 ? number(0.0) : index(result.axes[n].index));
            }
        }
        result.cell = x.cell;
        return result;
    }
    // arange(end), arange(start, end), arange(start, end, step).
    Part arange(Arguments& a) {
        if (a.all.size() < 2) {
            const IndexedAxis axis = axis_as_given(tensor(a.all[0]));
            return {.axes = {axis}, .cell = index(axis.index)};
        }
        const Index start = whole(a.all[0]), end = whole(a.all[1]), step = a.all.size() > 2 ? whole(a.all[2]) : 1;
        const bool leads_there = step > 0 ? end >= start : step < 0 && end <= start;
        if (!leads_there || a.all.size() > 3)
            throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
        const Index count = (end - start + step + (step > 0 ? -1 : 1)) / step;
        const IndexedAxis axis = axis_of_size(std::to_string(count), count);
        const Expr each = applied(Op::multiply, {index(axis.index), number(static_cast<double>(step))}, a.at);
        return {.axes = {axis}, .cell = applied(Op::add, {each, number(static_cast<double>(start))}, a.at)};
    }
    Part kth(Arguments& a) {
        const auto row = row_to_order(a);
        const Part& x = row.first;
        const std::size_t n = row.second;
        const Index size = x.axes[n].dim.size, k = whole(a.by_name.at("k"));
        if (k < 1 || k > size)
            throw FormulaError(
                message("{function}: {axis} has {size} places, not {count}",
                        {{"function", a.function}, {"axis", x.axes[n].dim.axis}, {"size", size}, {"count", k}}),
                a.at);
        const Part places = places_in_order(x, n, false, a.at);
        const auto one = [&](bool values) {
            Part y = at_place(x, n, places, number(static_cast<double>(k - 1)), values, a.at);
            if (keeps_axis(a)) y.axes.insert(y.axes.begin() + static_cast<std::ptrdiff_t>(n), axis_of_size("1", 1));
            return y;
        };
        return {.begin = x.begin, .end = x.end, .items = {one(true), one(false)}};
    }
    // The mean over all of the squared, or absolute, difference.
    Part mean_loss(Arguments& a) {
        Part y = applied_to(Op::subtract, {tensor(a_input(a)), tensor(a.by_name.at("target"))}, a.at);
        y.cell =
            a.function == "mse_loss" ? applied(Op::multiply, {y.cell, y.cell}, a.at) : applied(Op::abs, {y.cell}, a.at);
        return called("", {.function = "mean", .at = a.at, .all = {std::move(y)}});
    }
    // A comparison as 1 or 0, to be added up.
    Part number_of_condition(Arguments& a) {
        const Part& given = a_input(a);
        const Part x = given.cell || given.quoted.empty() ? tensor(given) : text_as_number(given);
        if (kind(x) != NumberKind::condition) return x;
        return applied_to(Op::choose, {x, number_part(1.0), number_part(0.0)}, a.at);
    }
    Part whole_number(Arguments& a) {
        const Part x = number_of_condition(a);
        return kind(x) == NumberKind::real ? called("", {.function = "trunc", .at = a.at, .all = {x}}) : x;
    }
    // Between the bounds, of which one may be left out.
    Part clamped(Arguments& a) {
        if (!a.by_name.contains("min") && !a.by_name.contains("max"))
            throw FormulaError(
                message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", "min"}}), a.at);
        Part x = tensor(a_input(a));
        for (const auto& [bound, op] : {std::pair{"min", Op::max}, std::pair{"max", Op::min}})
            if (const auto found = a.by_name.find(bound); found != a.by_name.end())
                x = applied_to(op, {x, found->second}, a.at);
        return x;
    }
    // ---- the same numbers at other places

    // The numbers at other places along an axis, which becomes this one: `place` says where each is read.
    Part read_at(Part x, std::size_t n, const IndexedAxis& axis, const Expr& place) {
        x = at_index(settled(std::move(x)), n, place);
        x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n), axis);
        return x;
    }
    // An axis of so many of another's places.
    IndexedAxis axis_like(const IndexedAxis& axis, Index size) {
        if (size != axis.dim.size) return axis_of_size(std::to_string(size), size);
        IndexedAxis fresh = axis;
        fresh.index = new_index(axis.dim.axis);
        fresh.is_said = false;
        return fresh;
    }
    static Expr shifted(const IndexedAxis& axis, Index by) {
        return by == 0 ? index(axis.index) : index(axis.index) + number(static_cast<double>(by));
    }
    Part flip(Arguments& a) {
        Part x = tensor(a_input(a));
        const Part& dims = a.by_name.at("dims");
        std::set<std::size_t> seen;
        for (const Part& dim : dims.cell ? std::vector{dims} : dims.items) {
            const std::size_t n = position(x, whole(dim), a.at);
            if (!seen.insert(n).second)
                throw FormulaError(message("{function} names each axis of {operand} once",
                                           {{"function", a.function}, {"operand", shown(x)}}),
                                   a.at);
            const IndexedAxis axis = axis_like(x.axes[n], x.axes[n].dim.size);
            x = read_at(x, n, axis, number(static_cast<double>(axis.dim.size - 1)) - index(axis.index));
        }
        return x;
    }
    Part roll(Arguments& a) {
        const Part& x = tensor(a_input(a));
        const std::size_t n = position(x, whole(a.by_name.at("dims")), a.at);
        const Index size = x.axes[n].dim.size, by = whole(a.by_name.at("shifts"));
        if (size == 0) return x;
        const IndexedAxis axis = axis_like(x.axes[n], size);
        const Index back = ((size - by % size) % size + size) % size;
        return read_at(x, n, axis,
                       applied(Op::remainder, {shifted(axis, back), number(static_cast<double>(size))}, a.at));
    }
    Part difference(Arguments& a) {
        Part x = tensor(a_input(a));
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        const Index times = whole(a.by_name.at("n"));
        if (times < 0 || times > 8)
            throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
        for (Index i = 0; i < times; ++i) {
            const IndexedAxis axis = axis_like(x.axes[n], std::max<Index>(x.axes[n].dim.size - 1, 0));
            const Part next = read_at(x, n, axis, shifted(axis, 1)), here = read_at(x, n, axis, shifted(axis, 0));
            x = next;
            x.cell = applied(Op::subtract, {next.cell, here.cell}, a.at);
        }
        return x;
    }
    // The numbers of two axes whose places go together; for trace their sum.
    Part diagonal(Arguments& a) {
        Part x = settled(tensor(a_input(a)));
        const bool is_trace = a.function == "trace";
        if (is_trace && x.axes.size() != 2)
            throw FormulaError(message_n("{function} needs tensors with {count} axis: {operand}",
                                         "{function} needs tensors with {count} axes: {operand}", std::size_t{2},
                                         {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
        const std::size_t rows = position(x, is_trace ? 0 : whole(a.by_name.at("dim1")), a.at),
                          columns = position(x, is_trace ? 1 : whole(a.by_name.at("dim2")), a.at);
        if (rows == columns)
            throw FormulaError(message("{function} names each axis of {operand} once",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
        const Index by = is_trace ? 0 : whole(a.by_name.at("offset"));
        const Index down = std::max<Index>(-by, 0), across = std::max<Index>(by, 0);
        const Index size =
            std::max<Index>(std::min(x.axes[rows].dim.size - down, x.axes[columns].dim.size - across), 0);
        const IndexedAxis axis = axis_of_size(std::to_string(size), size);
        x = at_index(x, std::max(rows, columns), shifted(axis, rows > columns ? down : across));
        x = at_index(x, std::min(rows, columns), shifted(axis, rows > columns ? across : down));
        x.axes.push_back(axis);
        return is_trace ? reduced(x, 0, Fold::sum) : x;
    }
    Part identity(Arguments& a) {
        const IndexedAxis rows = axis_as_given(tensor(a.by_name.at("n")));
        const auto m = a.by_name.find("m");
        IndexedAxis columns = m == a.by_name.end() ? axis_like(rows, rows.dim.size) : axis_as_given(tensor(m->second));
        const Expr same = apply(Op::equal, {index(rows.index), index(columns.index)}, a.at);
        return {.axes = {rows, columns}, .cell = applied(Op::choose, {same, number(1.0), number(0.0)}, a.at)};
    }
    Part flattened(Arguments& a) {
        const Part x = tensor(a_input(a));
        if (x.axes.empty()) {
            Part one = x;
            one.axes = {axis_of_size("1", 1)};
            for (const char* dim : {"start_dim", "end_dim"})
                static_cast<void>(position(one, whole(a.by_name.at(dim)), a.at));
            return one;
        }
        const std::size_t first = position(x, whole(a.by_name.at("start_dim")), a.at),
                          last = position(x, whole(a.by_name.at("end_dim")), a.at);
        if (first > last) throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
        Arguments to{.function = "reshape", .at = a.at};
        to.all.push_back(x);
        Index size = 1;
        for (std::size_t n = 0; n < x.axes.size(); ++n) {
            if (n >= first && n <= last) size *= x.axes[n].dim.size;
            if (n == last)
                to.all.push_back(number_part(static_cast<double>(size)));
            else if (n < first || n > last)
                to.all.push_back({.cell = size_of(x.axes[n])});
        }
        return reshaped(to);
    }
    Part stacked(Arguments& a) {
        Arguments wider{.function = a.function, .at = a.at};
        Part& list = wider.by_name["tensors"];
        Part dim = a.by_name.at("dim");
        for (const Part& each : a.by_name.at("tensors").items) {
            Part x = tensor(each);
            if (!list.items.empty() && x.axes.size() + 1 != list.items[0].axes.size())
                throw FormulaError(message("{function} needs tensors with as many axes as {operand}",
                                           {{"function", a.function}, {"operand", shown(list.items[0])}}),
                                   x.begin);
            x.axes.push_back(axis_of_size("1", 1));
            const std::size_t place = position(x, whole(dim), a.at);
            std::rotate(x.axes.begin() + static_cast<std::ptrdiff_t>(place), x.axes.end() - 1, x.axes.end());
            list.items.push_back(std::move(x));
        }
        wider.by_name["dim"] = dim;
        return joined(wider);
    }
    // Parts of so many places along an axis, one after another.
    Part pieces(Arguments& a) {
        const Part& x = tensor(a_input(a));
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        const Index size = x.axes[n].dim.size;
        std::vector<Index> sizes;
        const Part& given = a.by_name.at(a.function == "chunk" ? "chunks" : "split_size_or_sections");
        if (given.items.empty()) {
            const Index count = whole(given);
            if (count < 1) throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
            const Index each = a.function == "chunk" ? std::max<Index>((size + count - 1) / count, 1) : count;
            for (Index from = 0; from == 0 || from < size; from += each) sizes.push_back(std::min(each, size - from));
        } else {
            Index sum = 0;
            for (const Part& one : given.items) sum += sizes.emplace_back(whole(one));
            if (sum != size || std::ranges::any_of(sizes, [](Index one) { return one < 0; }))
                throw FormulaError(message("{function}: these sizes don't add up to the {size} of {axis}",
                                           {{"function", a.function}, {"size", size}, {"axis", x.axes[n].dim.axis}}),
                                   a.at);
        }
        Part list{.begin = x.begin, .end = x.end};
        Index from = 0;
        for (const Index one : sizes) {
            const IndexedAxis axis = axis_like(x.axes[n], one);
            list.items.push_back(read_at(x, n, axis, shifted(axis, from)));
            from += one;
        }
        return list;
    }
    Part outer(Arguments& a) {
        const Part &x = tensor(a_input(a)), &y = tensor(a.by_name.at("vec2"));
        for (const Part* each : {&x, &y})
            if (each->axes.size() != 1)
                throw FormulaError(message_n("{function} needs tensors with {count} axis: {operand}",
                                             "{function} needs tensors with {count} axes: {operand}", std::size_t{1},
                                             {{"function", a.function}, {"operand", shown(*each)}}),
                                   each->begin);
        Part column = x;
        column.axes.push_back(axis_of_size("1", 1));
        return applied_to(Op::multiply, {column, y}, a.at);
    }
    Part one_hot(Arguments& a) {
        Part x = tensor(a_input(a));
        const IndexedAxis axis = axis_as_given(tensor(a.by_name.at("num_classes")));
        x.cell =
            applied(Op::choose, {apply(Op::equal, {x.cell, index(axis.index)}, a.at), number(1.0), number(0.0)}, a.at);
        x.axes.push_back(axis);
        return x;
    }
    Part full(Arguments& a) {
        Part x = tensor(a.by_name.at("fill_value"));
        if (!x.axes.empty())
            throw FormulaError(
                message("{function} needs a number: {operand}", {{"function", a.function}, {"operand", shown(x)}}),
                x.begin);
        const Part& size = a.by_name.at("size");
        for (const Part& one : size.cell ? std::vector{size} : size.items) x.axes.push_back(axis_as_given(one));
        return x;
    }
    Part full_like(Arguments& a) {
        Part x = tensor(a_input(a));
        const auto given = a.by_name.find("fill_value");
        if (given != a.by_name.end() && !tensor(given->second).axes.empty())
            throw FormulaError(message("{function} needs a number: {operand}",
                                       {{"function", a.function}, {"operand", shown(given->second)}}),
                               given->second.begin);
        x.cell = given != a.by_name.end() ? given->second.cell : number(a.function == "ones_like" ? 1.0 : 0.0);
        for (IndexedAxis& axis : x.axes) axis.is_said = false;
        return x;
    }
    Part count_of_numbers(Arguments& a) {
        Index count = 1;
        for (const IndexedAxis& axis : tensor(a_input(a)).axes) count *= axis.dim.size;
        return number_part(static_cast<double>(count));
    }

    Part cumulated(Arguments& a) {
        Part x = settled(tensor(a_input(a)));
        if (is_axis_of_number(x, whole(a.by_name.at("dim")))) return x;
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        const IndexedAxis place = axis_like(x.axes[n], x.axes[n].dim.size);
        const Expr is_before = apply(Op::less_equal, {index(x.axes[n].index), index(place.index)}, a.at);
        x.cell = applied(Op::choose, {is_before, x.cell, number(0.0)}, a.at);
        x = reduced(x, n, Fold::sum);
        x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n), place);
        return x;
    }

    // ---- rows in order

    // The place that each number along an axis has in its row, in order: of equal ones the first comes first, and NaN
    // counts as the largest.
    Part places_in_order(const Part& x, std::size_t n, bool descending, std::size_t at) {
        const IndexedAxis other = axis_like(x.axes[n], x.axes[n].dim.size);
        const Expr here = x.cell, there = at_index(x, n, index(other.index)).cell;
        const auto is = [&](Op op, const Expr& one, const Expr& two) { return apply(op, {one, two}, at); };
        const auto is_nan = [&](const Expr& one) { return is(Op::not_equal, one, one); };
        const Expr &low = descending ? here : there, &high = descending ? there : here;
        const Expr is_less =
            is(Op::either, is(Op::less, low, high), is(Op::both, is_nan(high), is(Op::equal, low, low)));
        const Expr is_same = is(Op::either, is(Op::equal, here, there), is(Op::both, is_nan(here), is_nan(there)));
        const Expr is_first = is(Op::less, index(other.index), index(x.axes[n].index));
        const Expr is_before = is(Op::either, is_less, is(Op::both, is_same, is_first));
        Part count = x;
        count.axes.push_back(other);
        count.cell = applied(Op::choose, {is_before, number(1.0), number(0.0)}, at);
        return sub_result(reduced(count, count.axes.size() - 1, Fold::sum));
    }
    // What the numbers of a row have that are at this place in its order: their values, or where they stand.
    Part at_place(const Part& x, std::size_t n, const Part& places, const Expr& place, bool values, std::size_t at) {
        Part chosen = x;
        const Expr is_there = apply(Op::equal, {places.cell, place}, at);
        chosen.cell =
            values ? applied(Op::choose, {is_there, x.cell, number(-std::numeric_limits<double>::infinity())}, at)
                   : applied(Op::choose, {is_there, index(x.axes[n].index), number(0.0)}, at);
        return reduced(chosen, n, values ? Fold::max : Fold::sum);
    }
    // The values in order and their places, of which one is taken by .values or [0]; of topk the first of them.
    Part sorted(Arguments& a) {
        const Part x = settled(tensor(a_input(a)));
        const bool is_top = a.function == "topk";
        const auto given = a.by_name.find("descending");  // NumPy has none
        const bool descending = is_top || (given != a.by_name.end() && given->second.quoted == "True");
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        const Index size = x.axes[n].dim.size, count = is_top ? whole(a.by_name.at("k")) : size;
        if (count < 0 || count > size)
            throw FormulaError(
                message("{function}: {axis} has {size} places, not {count}",
                        {{"function", a.function}, {"axis", x.axes[n].dim.axis}, {"size", size}, {"count", count}}),
                a.at);
        if (size == 0)
            return a.module == "np" || a.function == "argsort" ? x
                                                               : Part{.begin = x.begin, .end = x.end, .items = {x, x}};
        const IndexedAxis place = axis_like(x.axes[n], count);
        const Part places = places_in_order(x, n, descending, a.at);
        const auto row = [&](bool values) {
            Part y = at_place(x, n, places, index(place.index), values, a.at);
            y.axes.insert(y.axes.begin() + static_cast<std::ptrdiff_t>(n), place);
            return y;
        };
        if (a.function == "argsort") return row(false);
        if (a.module == "np") return row(true);
        return {.begin = x.begin, .end = x.end, .items = {row(true), row(false)}};
    }
    // A row's numbers at the places of its order around this one, for `of` to make one of them; NaN if the row has one.
    Part around(const Part& x, std::size_t n, double place, bool keeps, std::size_t at,
                const std::function<Expr(const Expr& low, const Expr& high)>& of) {
        if (x.axes[n].dim.size == 0)
            throw FormulaError(message("there is no largest or smallest number along {axis}: it has no places",
                                       {{"axis", x.axes[n].dim.axis}}),
                               at);
        const Part places = places_in_order(x, n, false, at);
        const auto value = [&](double where) { return at_place(x, n, places, number(where), true, at); };
        Part y = value(std::floor(place));
        y.cell = of(y.cell, value(std::ceil(place)).cell);
        Part nan = x;  // the largest of what isn't a number: NaN, or −∞ if there is none
        const Expr is_nan = apply(Op::not_equal, {x.cell, x.cell}, at);
        nan.cell = applied(Op::choose, {is_nan, x.cell, number(-std::numeric_limits<double>::infinity())}, at);
        y.cell = applied(Op::max, {y.cell, reduced(nan, n, Fold::max).cell}, at);
        if (keeps) y.axes.insert(y.axes.begin() + static_cast<std::ptrdiff_t>(n), axis_of_size("1", 1));
        return y;
    }
    // What is put in order: along one axis, or all numbers.
    std::pair<Part, std::size_t> row_to_order(const Arguments& a) {
        Part x = settled(tensor(a_input(a)));
        const auto dim = a.by_name.find("dim");
        if (dim != a.by_name.end() && !x.axes.empty()) return {x, position(x, whole(dim->second), a.at)};
        if (dim != a.by_name.end() && !is_axis_of_number(x, whole(dim->second)))
            static_cast<void>(position(x, whole(dim->second), a.at));
        std::vector<std::size_t> all;
        for (std::size_t i = 0; i < x.axes.size(); ++i) all.push_back(i);
        if (x.axes.empty())
            x.axes = {axis_of_size("1", 1)};
        else if (x.axes.size() > 1)
            x = joined_at_end(x, all);
        return {x, 0};
    }
    bool keeps_axis(const Arguments& a) const {
        const bool keeps = a.by_name.at("keepdim").quoted == "True";
        if (keeps && !a.by_name.contains("dim"))
            throw FormulaError(
                message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", "dim"}}), a.at);
        return keeps && !tensor(a.by_name.at(a.first)).axes.empty();
    }
    Part quantile(Arguments& a) {
        const std::optional<double> share = known(tensor(a.by_name.at("q")));
        if (!share || !(*share >= 0.0 && *share <= 1.0))
            throw FormulaError(message("{function} needs a number from 0 to 1", {{"function", a.function}}), a.at);
        const auto [x, n] = row_to_order(a);
        const double place = *share * static_cast<double>(x.axes[n].dim.size - 1), part = place - std::floor(place);
        const auto op = [&](Op which, const Expr& one, const Expr& two) { return applied(which, {one, two}, a.at); };
        // As torch.lerp has it: what is infinite becomes NaN, even where it stands alone.
        return around(x, n, place, keeps_axis(a), a.at, [&](const Expr& low, const Expr& high) {
            const Expr far = op(Op::subtract, high, low);
            return part < 0.5 ? op(Op::add, low, op(Op::multiply, number(part), far))
                              : op(Op::subtract, high, op(Op::multiply, number(1.0 - part), far));
        });
    }
    // PyTorch's is the lower one of two in the middle; NumPy's lies between them. With an axis, its place, too.
    Part median(Arguments& a) {
        const auto [x, n] = row_to_order(a);
        const Index size = std::max<Index>(x.axes[n].dim.size, 1);
        const double middle = static_cast<double>(size - 1) / 2;
        if (a.module == "np")
            return around(x, n, middle, keeps_axis(a), a.at, [&](const Expr& low, const Expr& high) {
                return applied(Op::divide, {applied(Op::add, {low, high}, a.at), number(2.0)}, a.at);
            });
        const Part value =
            around(x, n, std::floor(middle), keeps_axis(a), a.at, [](const Expr& low, const Expr&) { return low; });
        if (!a.by_name.contains("dim")) return value;
        const Part places = places_in_order(x, n, false, a.at);
        Part place = at_place(x, n, places, number(std::floor(middle)), false, a.at);
        if (keeps_axis(a)) place.axes.insert(place.axes.begin() + static_cast<std::ptrdiff_t>(n), axis_of_size("1", 1));
        return {.begin = x.begin, .end = x.end, .items = {value, place}};
    }

    Part size(Arguments& a) {
        const Part& x = tensor(a_input(a));
        Part sizes;
        for (const IndexedAxis& axis : x.axes) sizes.items.push_back({.cell = size_of(axis)});
        const auto dim = a.by_name.find("dim");
        return dim == a.by_name.end() ? sizes : sizes.items[position(x, whole(dim->second), a.at)];
    }
    // The values and their places, of which one is taken by .values or [0]; without an axis the value.
    Part largest(Arguments& a) {
        // PyTorch's, unlike the others, take no None for their axis.
        if (a.has_none && a.module != "np")
            throw FormulaError(
                message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", "dim"}}), a.at);
        Part values = called(a.module, {.function = "a" + a.function, .at = a.at, .by_name = a.by_name});
        if (!a.by_name.contains("dim")) {
            if (a.by_name.at("keepdim").quoted == "True")
                throw FormulaError(
                    message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", "dim"}}), a.at);
            return values;
        }
        if (a.module != "np") static_cast<void>(whole(a.by_name.at("dim")));  // one axis, unlike amax
        if (a.module == "np") return values;
        return {.items = {values, called("", {.function = "arg" + a.function, .at = a.at, .by_name = a.by_name})}};
    }
    Part values(Arguments& a) { return item(a_input(a), number_part(a.function == ".values" ? 0.0 : 1.0), a.at); }

private:
    // ---- functions

    static const std::vector<Row>& rows();

    // Sizes as they are given from an argument on: one after another, or as a list.
    [[nodiscard]] static std::vector<Part> sizes_in(const Arguments& a, std::size_t from) {
        const bool is_list = a.all.size() == from + 1 && !a.all[from].cell;
        return is_list ? a.all[from].items
                       : std::vector(a.all.begin() + static_cast<std::ptrdiff_t>(from), a.all.end());
    }
    // An axis of a size that is given, with its name if the size has one.
    [[nodiscard]] IndexedAxis axis_as_given(const Part& size) {
        const Index count = whole(size);
        if (count < 0) throw FormulaError(message("an axis has 0 places or more"), size.begin);
        const auto* named = size.cell->as<Constant>();
        return axis_of_size(named != nullptr ? named->name : std::to_string(count), count);
    }

    // The row of this name; a function of the book or of the language makes its own.
    [[nodiscard]] std::optional<Row> row_named(const std::string& name) const {
        for (const Row& row : rows())
            if (std::ranges::count(split(row.names, " "), name) > 0) return row;
        const auto function = functions_.find(name);
        std::string parameters;
        if (function != functions_.end() && function->second.along.empty())
            for (const std::string& p : function->second.parameters) parameters += (parameters.empty() ? "" : ", ") + p;
        else if (function_named(name) && name != "min" && name != "max")
            parameters = "input";
        return parameters.empty() ? std::nullopt : std::optional(Row{name, parameters, name + "(" + parameters + ")"});
    }
    [[noreturn]] void fail_without_row(const std::string& name, std::size_t at) const {
        std::vector<std::string> known;
        for (const Row& row : rows())
            for (const std::string& name_of_row : split(row.names, " ")) known.push_back(name_of_row);
        for (const auto& [book, function] : functions_)
            if (function.along.empty()) known.push_back(book);
        for (const Spelling& s : spellings())
            if (s.level == kFunction) known.emplace_back(s.ascii);
        throw FormulaError(with_nearest(message("there is no function “{name}”", {{"name", name}}), name, known), at);
    }

    [[nodiscard]] Part called(const std::string& module, Arguments a) {
        if ((a.function == "max" || a.function == "min") && a.all.size() > 1 && !literal(a.all[1].cell))
            a.function += "imum";  // of two tensors
        a.module = module;
        std::optional<Row> row = module.empty() ? std::nullopt : row_named(module + "." + a.function);
        if (!row) row = row_named(a.function);
        if (!row) fail_without_row(a.function, a.at);
        const std::vector<std::string> parameters = bind(*row, a);
        return row->code != nullptr ? (this->*row->code)(a) : by_formula(*row, parameters, a);
    }

    // Gives the arguments their parameters' names, and those that aren't there their default values.
    [[nodiscard]] std::vector<std::string> bind(const Row& row, Arguments& a) const {
        std::vector<std::string> parameters;
        std::map<std::string, std::string, std::less<>> defaults;
        std::size_t by_position = std::string::npos;
        for (const std::string& word : split(row.parameters, ", ")) {
            // Between them NumPy has others: dtype and out.
            if (word == "*" || (a.module == "np" && word.starts_with("keepdim")))
                by_position = std::min(by_position, parameters.size());
            if (word == "*") continue;
            parameters.push_back(word.substr(0, word.find('=')));
            if (word.find('=') != std::string::npos) defaults[parameters.back()] = word.substr(word.find('=') + 1);
        }
        a.first = parameters.front();
        const bool any = parameters.back() == "…";  // as many as there are
        if (any) parameters.pop_back();
        if (any && a.all.empty())
            throw FormulaError(
                message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", parameters[0]}}),
                a.at);
        by_position = std::min(by_position, parameters.size());
        if (!any && a.all.size() > by_position)
            throw FormulaError(message_n("{function} takes {count} operand", "{function} takes {count} operands",
                                         by_position, {{"function", a.function}}),
                               a.at);
        for (std::size_t i = 0; i < std::min(a.all.size(), by_position); ++i) {
            if (is_none(a.all[i])) {
                a.has_none = true;
                continue;
            }
            if (!a.by_name.emplace(parameters[i], a.all[i]).second)
                throw FormulaError(message("{function} is given “{parameter}” twice",
                                           {{"function", a.function}, {"parameter", parameters[i]}}),
                                   a.at);
            // PyTorch's own position for it is unbiased's.
            if ((is_choice(parameters[i]) || parameters[i] == "correction") != is_truth(a.all[i]) && i > 0)
                fail_of_truth(parameters[i] == "correction" ? "unbiased" : parameters[i], is_truth(a.all[i]), a.all[i]);
        }
        for (const auto& [name, part] : a.by_name) {
            if (std::ranges::find(parameters, name) == parameters.end())
                throw FormulaError(with_nearest(message("{function} has no “{parameter}”",
                                                        {{"function", a.function}, {"parameter", name}}),
                                                name, parameters),
                                   part.begin);
            if (is_choice(name) && !is_truth(part)) fail_of_truth(name, false, part);
        }
        for (const std::string& name : parameters) {
            const auto default_value = defaults.find(name);
            if (a.by_name.contains(name)) continue;
            if (default_value == defaults.end())
                throw FormulaError(
                    message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", name}}), a.at);
            if (!default_value->second.empty())
                a.by_name[name] = {.cell = parse("d = " + default_value->second).main.body,
                                   .quoted = is_choice(name) ? "False" : ""};
        }
        return parameters;
    }
    [[nodiscard]] static bool is_none(const Part& x) { return x.quoted == "None"; }
    [[noreturn]] static void fail_of_truth(const std::string& parameter, bool is_truth, const Part& x) {
        if (is_truth)
            throw FormulaError(message("“{parameter}” can't be True or False", {{"parameter", parameter}}), x.begin);
        throw FormulaError(message("“{parameter}” is True or False", {{"parameter", parameter}}), x.begin);
    }

    [[nodiscard]] Part by_formula(const Row& row, const std::vector<std::string>& parameters, const Arguments& a) {
        const Part& input = a_input(a);
        if (input.chosen) return of_chosen(row, parameters, a);
        const bool along = row.parameters.find("dim") != std::string::npos;
        const bool reduces = row.parameters.find("keepdim") != std::string::npos;
        const auto dim_given = a.by_name.find("dim");
        const bool all_axes = dim_given == a.by_name.end();
        const bool of_numbers =
            std::ranges::all_of(a.by_name, [](const auto& named) { return named.second.axes.empty(); });
        if (along && !a.by_name.contains("normalized_shape") && of_numbers && (all_axes || a.module != "np")) {
            Arguments wider = a;  // a number along an axis of length 1
            tensor(wider.by_name[a.first]);
            wider.by_name[a.first].axes = {axis_of_size("1", 1)};
            const Part y = by_formula(row, parameters, wider);
            return y.axes.empty() ? y : at_index(y, 0, number(0.0));
        }
        std::string head = along ? "f_k(" : "f(";
        std::vector<Part> parts;
        std::vector<std::string> of_parts;
        for (const std::string& p : parameters) {
            head += (head.back() == '(' ? "" : ", ") + p;
            const auto given = a.by_name.find(p);
            if (p == "normalized_shape") check_last_axis(given->second, a);
            if (given == a.by_name.end() || p == "dim" || p == "normalized_shape") continue;
            Part part = given->second;
            if (!part.cell && !part.quoted.empty()) part = text_as_number(part);
            parts.push_back(tensor(part));
            of_parts.push_back(p);
        }
        broadcast(parts, a.at);
        Part result{.axes = parts[0].axes};
        std::vector<std::size_t> dims;
        if (along) {
            const Part& dim = all_axes ? input : dim_given->second;
            const Part of{.begin = input.begin, .end = input.end, .axes = result.axes};
            const std::vector<Part> given = all_axes || dim.items.empty() ? std::vector{dim} : dim.items;
            if (all_axes)
                for (std::size_t i = 0; i < result.axes.size(); ++i) dims.push_back(i);
            else
                for (const Part& one : given) dims.push_back(position(of, whole(one), a.at));
            if (!dim.items.empty() && a.function.starts_with("arg"))
                throw FormulaError(message("{function} needs one axis", {{"function", a.function}}), a.at);
            std::ranges::sort(dims);
            if (std::ranges::adjacent_find(dims) != dims.end())
                throw FormulaError(message("{function} names each axis of {operand} once",
                                           {{"function", a.function}, {"operand", shown(input)}}),
                                   a.at);
        }
        std::vector<IndexedAxis> axes;
        for (const std::size_t dim : dims) axes.push_back(result.axes[dim]);
        std::map<std::string, Expr, std::less<>> cells;
        for (std::size_t i = 0; i < parts.size(); ++i) cells[of_parts[i]] = parts[i].cell;
        if (axes.size() == 1) cells["n"] = size_of(axes[0]);
        const Expr body = chosen_of(parse_function(head + ") = " + row.formula, functions_).main.body, cells);
        const bool has_calls =
            any_node(body, [](const Expr& e) { return e->as<Call>() != nullptr && e->as<Call>()->along; });
        const bool repeatable =
            reduces && !has_calls && !any_node(body, [](const Expr& e) { return e->is(Fold::argmax); });
        const bool keeps = reduces && a.by_name.at("keepdim").quoted == "True";
        if (along && dims.size() != 1 && !repeatable) {
            if (!reduces) throw FormulaError(message("{function} needs one axis", {{"function", a.function}}), a.at);
            Arguments flat = a;  // all of them as one axis
            flat.by_name[a.first] = joined_at_end(input, dims);
            flat.by_name["dim"] = number_part(-1.0);
            flat.by_name["keepdim"] = {.cell = number(0.0), .quoted = "False"};
            Part y = by_formula(row, parameters, flat);
            if (keeps)
                for (const std::size_t dim : dims)
                    y.axes.insert(y.axes.begin() + static_cast<std::ptrdiff_t>(dim), axis_of_size("1", 1));
            return y;
        }
        if (const auto p = a.by_name.find("p"); p != a.by_name.end() && known(p->second).value_or(0.0) < 0.0)
            for (const IndexedAxis& axis : axes)
                if (axis.dim.size == 0)
                    throw FormulaError(message("there is no largest or smallest number along {axis}: it has no places",
                                               {{"axis", axis.dim.axis}}),
                                       a.at);
        if (has_calls)
            for (std::size_t i = 0; i < parts.size(); ++i)
                if (!axes.empty() && !written_axis(axes[0]).empty() &&
                    (i == 0 || parts[i].cell->indices.contains(axes[0].index)))
                    cells[of_parts[i]] = sub_result(parts[i]).cell;
        result.cell = put(body, cells, axes, a.at);
        if (!reduces) return result;
        for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
            const auto at = result.axes.begin() + static_cast<std::ptrdiff_t>(*dim);
            if (keeps)
                *at = axis_of_size("1", 1);
            else
                result.axes.erase(at);
        }
        return result;
    }
    // What becomes of the numbers that a condition chooses: each one's, or the sum or mean of all.
    [[nodiscard]] Part of_chosen(const Row& row, const std::vector<std::string>& parameters, Arguments a) {
        Part& x = a.by_name.at(a.first);
        const Part given = x;
        x.chosen = nullptr;
        const bool along = row.parameters.find("dim") != std::string::npos;
        const bool alone = std::ranges::all_of(a.by_name, [&](const auto& named) {
            return named.first == a.first || (named.second.axes.empty() && !named.second.chosen);
        });
        if (!along && alone) {
            Part y = by_formula(row, parameters, a);
            y.chosen = given.chosen;
            return y;
        }
        const bool is_mean = a.function == "mean";
        if ((a.function != "sum" && !is_mean) || a.by_name.contains("dim") || a.by_name.at("keepdim").quoted == "True")
            tensor(given);
        Part condition{.axes = x.axes, .cell = given.chosen};
        const auto summed = [&](Part of) {
            return called("", {.function = "sum", .at = a.at, .all = {std::move(of)}});
        };
        const Part sum = summed(applied_to(Op::choose, {condition, x, number_part(0.0)}, a.at));
        if (!is_mean) return sum;
        Part each = number_part(1.0);  // along the axes that it leaves out
        std::erase_if(condition.axes, [&](const IndexedAxis& axis) {
            const bool is_free = !given.chosen->indices.contains(axis.index);
            if (is_free) each = applied_to(Op::multiply, {{.cell = size_of(axis)}, each}, a.at);
            return is_free;
        });
        return applied_to(Op::divide, {sum, applied_to(Op::multiply, {summed(condition), each}, a.at)}, a.at);
    }
    // These axes as one, behind the others.
    [[nodiscard]] Part joined_at_end(Part x, const std::vector<std::size_t>& dims) {
        std::vector<IndexedAxis> first, last;
        for (std::size_t i = 0; i < x.axes.size(); ++i)
            (std::ranges::find(dims, i) == dims.end() ? first : last).push_back(x.axes[i]);
        Arguments a{.function = "reshape", .at = x.begin};
        Index size = 1;
        for (const IndexedAxis& axis : last) size *= axis.dim.size;
        for (const IndexedAxis& axis : first) a.all.push_back({.cell = size_of(axis)});
        a.all.push_back(number_part(static_cast<double>(size)));
        x.axes = first;
        x.axes.insert(x.axes.end(), last.begin(), last.end());
        a.all.insert(a.all.begin(), x);
        return reshaped(a);
    }
    void check_last_axis(const Part& shape, const Arguments& a) const {
        const Part& x = tensor(a_input(a));
        const Index last = x.axes[position(x, -1, a.at)].dim.size;
        if (shape.items.size() != 1 || whole(shape.items[0]) != last)
            throw FormulaError(message("{function} needs the size of the last axis of {operand} in parentheses, as in "
                                       "({size},)",
                                       {{"function", a.function}, {"operand", shown(x)}, {"size", last}}),
                               shape.begin);
        for (const char* name : {"weight", "bias"})
            if (const auto found = a.by_name.find(name); found != a.by_name.end() && !literal(found->second.cell)) {
                const Part& own = tensor(found->second);
                if (own.axes.size() != 1 || own.axes[0].dim.size != last)
                    throw FormulaError(message("{operand} isn't of the size of the last axis of {other}",
                                               {{"operand", shown(own)}, {"other", shown(x)}}),
                                       own.begin);
            }
    }
    static const Part& a_input(const Arguments& a) { return a.by_name.at(a.first); }

    // The row's formula with only what is chosen in it by numbers that are known.
    [[nodiscard]] Expr chosen_of(const Expr& body, const std::map<std::string, Expr, std::less<>>& cells) const {
        if (!body->is(Op::choose)) return body;
        const Expr condition = rewrite((*body)[0], [&](const Expr& e) {
            const auto* c = e->as<Constant>();
            const auto found = c == nullptr ? cells.end() : cells.find(c->name);
            return found == cells.end() ? e : found->second;
        });
        const auto holds = known(condition);
        return holds ? chosen_of((*body)[*holds != 0.0 ? 1 : 2], cells) : body;
    }
    // The row's formula with cells for its parameters, and for its k the axis' index; its reductions are over all of
    // the axes.
    [[nodiscard]] Expr put(const Expr& body, const std::map<std::string, Expr, std::less<>>& cells,
                           const std::vector<IndexedAxis>& axes, std::size_t at) const {
        std::set<std::string> taken;
        for (const IndexedAxis& axis : axes) taken.insert(axis.index);
        const auto rule = [&](const Expr& e) -> Expr {
            const auto* cell = e->as<CellOf>();
            const auto* c = e->as<Constant>();
            const auto found = cells.find(cell != nullptr ? cell->name : c != nullptr ? c->name : "");
            if (found != cells.end()) return found->second;
            if (const auto* reduce = e->as<Reduce>()) {
                Expr over = body_at(e, number(0.0));  // which reads the axes' own indices
                for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
                    over = reduction(over, *axis, reduce->fold, at);
                return over;
            }
            if (const auto* operation = e->as<Apply>()) return without_defaults(operation->op, e->children, at);
            return node(e->what, e->children, at);
        };
        return rewrite(axes.size() == 1 ? substitute(body, {{"k", index(axes[0].index)}}) : body, rule, taken);
    }

    [[nodiscard]] Part text_as_number(const Part& x) const {
        const bool minus = x.quoted.starts_with("-");
        const double infinite = std::numeric_limits<double>::infinity();
        if (x.quoted.ends_with("inf")) return number_part(minus ? -infinite : infinite, x.begin, x.end);
        for (const auto& [word, value] : {std::pair{"none", 0.0}, std::pair{"tanh", 1.0}, std::pair{"fro", 2.0}})
            if (x.quoted == word) return number_part(value, x.begin, x.end);
        return tensor(x);
    }

    // ---- Python's expressions

    // What has been read from there to here.
    [[nodiscard]] Part spanning(Part x, std::size_t begin) const {
        if (x.axes.size() > limits::kAxes)
            throw FormulaError(message("a tensor has at most {count} axes", {{"count", limits::kAxes}}), begin);
        x.begin = begin;
        x.end = tokens_[at_ - 1].end;
        return x;
    }

    [[nodiscard]] Part expression() {
        const Nesting nesting(*this);
        return chain(0);
    }
    // Operations of this binding strength and of tighter ones.
    [[nodiscard]] Part chain(int level) {
        if (level == kUnary) return unary();
        if (level == kComparison - 1) {
            const Nesting nesting(*this);
            const std::size_t at = here().begin;
            return take("not") ? applied_to(Op::negation, {chain(level)}, at) : chain(kComparison);
        }
        Part left = chain(level + 1);
        for (;;) {
            const auto* found = std::ranges::find_if(
                kOperators, [&](const PythonOperator& o) { return o.level == level && is(o.word); });
            if (found == std::end(kOperators)) return left;
            const std::size_t begin = left.begin, at = tokens_[at_++].begin;
            Part right = chain(level + 1);
            if (found->word == "@") {
                left = product(tensor(left), tensor(right), at);
            } else {
                check_kinds(found->word, {&left, &right}, at);
                left = applied_to_chosen(found->op, {left, right}, at);
            }
            left = spanning(std::move(left), begin);
            if (level == kComparison) return left;
        }
    }
    Part unary() {
        const Nesting nesting(*this);
        const std::size_t begin = here().begin;
        const std::string word = here().word;
        const bool minus = take("−");
        if (!minus && !take("~")) return power();
        const Part of = unary();
        check_kinds(word, {&of}, begin);
        return spanning(applied_to_chosen(minus ? Op::negate : Op::negation, {of}, begin), begin);
    }
    // PyTorch's & and | of whole numbers are of their bits, and + of two comparisons is an or.
    void check_kinds(std::string_view word, const std::vector<const Part*>& of, std::size_t at) const {
        const auto is_condition = [&](const Part* x) { return x->cell && kind(*x) == NumberKind::condition; };
        const bool joins = word == "&" || word == "|" || word == "~";
        if (joins && !std::ranges::all_of(of, is_condition))
            throw FormulaError(message("“{word}” needs comparisons: write (x != 0) for numbers", {{"word", word}}), at);
        if ((word == "+" || word == "−") && std::ranges::all_of(of, is_condition))
            throw FormulaError(
                message("“{word}” needs numbers: write .float() after a comparison to count it as 1 or 0",
                        {{"word", word}}),
                at);
    }
    Part power() {
        Part base = continued(primary());
        const std::size_t at = here().begin;
        if (!take("^")) return base;
        Part x = applied_to_chosen(Op::power, {base, unary()}, at);
        return spanning(std::move(x), base.begin);
    }

    // The word as it is written: "sqrt" and "where" are signs of index notation, and functions here.
    [[nodiscard]] std::string written_word() const {
        const std::string_view word = text_.substr(here().begin, here().end - here().begin);
        const bool is_sign = here().kind == Kind::symbol && (word == "sqrt" || word == "where" || word == "div");
        return std::string(here().kind == Kind::name || is_sign ? word : "");
    }

    Part primary() {
        const Nesting nesting(*this);
        const Token token = here();
        if (token.kind == Kind::number || token.kind == Kind::quoted) {
            ++at_;
            Part x{.begin = token.begin, .end = token.end, .quoted = token.kind == Kind::quoted ? token.word : ""};
            if (token.kind == Kind::number) x.cell = node(Literal{token.value}, {}, token.begin);
            return x;
        }
        if (is("(") || is("[")) return list();
        std::string module, word = written_word();
        if (word.empty()) fail_without_operand();
        ++at_;
        while (std::ranges::find(kModules, word) != kModules.end() && !known_.operands.contains(word) && is(".")) {
            module = word == "numpy" || word == "jnp" ? "np" : word;
            ++at_;
            if (here().kind == Kind::number) return primary();  // math.inf
            if (word = written_word(); word.empty()) fail_without_operand();
            ++at_;
        }
        const std::size_t at = tokens_[at_ - 1].begin;
        if (!module.empty() && !is("(") && word != "pi" && word != "newaxis") fail_without_row(word, at);
        Part x = is("(") ? called(module, arguments({.function = word, .at = at})) : named(word, at);
        return spanning(std::move(x), token.begin);
    }

    Part named(const std::string& word, std::size_t at) {
        if (const auto operand = known_.operands.find(word); operand != known_.operands.end()) {
            Part x;
            std::vector<Expr> indices;
            for (const Dim& dim : operand->second) {
                x.axes.push_back({.dim = dim, .index = new_index(dim.axis)});
                indices.push_back(index(x.axes.back().index));
            }
            x.cell = indices.empty() ? node(Constant{word}, {}, at) : node(CellOf{word}, std::move(indices), at);
            return x;
        }
        if (numbers_.contains(word) || word == "pi") return {.cell = node(Constant{word}, {}, at)};
        if (word == "True" || word == "False") return {.cell = number(word == "True" ? 1.0 : 0.0), .quoted = word};
        if (word == "None" || word == "newaxis") return {.quoted = "None"};
        std::vector<std::string> known;
        for (const auto& [name, shape] : known_.operands) known.push_back(name);
        for (const auto& [name, value] : numbers_) known.push_back(name);
        throw FormulaError(with_nearest(message("there is no operand “{name}”", {{"name", word}}), word, known), at);
    }

    // In parentheses an expression; with a comma, or in brackets, a list.
    Part list() {
        const std::size_t begin = here().begin;
        const std::string close = is("(") ? ")" : "]";
        ++at_;
        Part x;
        bool commas = close == "]";
        while (!take(close)) {
            x.items.push_back(expression());
            if (is(close)) continue;
            need(here().kind == Kind::end ? close : ",");
            commas = true;
        }
        if (!commas && x.items.size() == 1) x = Part(x.items[0]);
        return spanning(std::move(x), begin);
    }

    Arguments arguments(Arguments a) {
        need("(");
        bool any_named = false;
        while (!take(")")) {
            const bool named = here().kind == Kind::name && at_ + 1 < tokens_.size() && tokens_[at_ + 1].word == "=" &&
                               tokens_[at_ + 1].end - tokens_[at_ + 1].begin == 1;
            std::string name = named ? here().word : "";
            if (named) at_ += 2;
            const std::string given = name;
            for (const auto& [other, same] : kSameParameters)
                if (name == other) name = same;
            Part x = expression();
            if (name == "correction" && (given == "unbiased") != is_truth(x)) fail_of_truth(given, is_truth(x), x);
            any_named = any_named || named;
            if (!named && any_named) throw FormulaError(message("what has no name comes before what has one"), x.begin);
            if (!named)
                a.all.push_back(std::move(x));
            else if (is_none(x))
                a.has_none = true;
            else if (!a.by_name.emplace(name, x).second)
                throw FormulaError(message("{function} is given “{parameter}” twice",
                                           {{"function", a.function}, {"parameter", given}}),
                                   x.begin);
            need_comma_or(")");
        }
        return a;
    }

    // Methods, properties and indices.
    Part continued(Part x) {
        for (;;) {
            const std::size_t begin = x.begin;
            if (is("[")) {
                x = indexed(x);
            } else if (take(".")) {
                const std::string word = written_word();
                if (word.empty()) fail_without_operand();
                Arguments a{.function = word, .at = tokens_[at_++].begin, .all = {x}};
                if (is("("))
                    a = arguments(std::move(a));
                else
                    a.function = "." + word;
                if (a.function == "where" && a.all.size() > 1) std::swap(a.all[0], a.all[1]);  // x.where(condition, y)
                x = called("", std::move(a));
            } else {
                return x;
            }
            x = spanning(std::move(x), begin);
        }
    }

    // x[:, None, ..., 0, 1:3, ids]
    Part indexed(Part x) {
        struct Item {
            std::optional<Part> from{}, to{}, step{};
            bool is_range = false, is_rest = false;
        };
        const std::size_t at = here().begin;
        need("[");
        const std::vector<Item> items = listed<Item>(
            [&] {
                Item item;
                if (take("…")) return item.is_rest = true, item;
                if (!is(":")) item.from = expression();
                item.is_range = take(":");
                if (item.is_range && !is(",") && !is("]") && !is(":")) item.to = expression();
                if (item.is_range && take(":") && !is(",") && !is("]")) item.step = expression();
                return item;
            },
            "]");
        if (!x.items.empty() && items.size() == 1 && items[0].from) return item(x, *items[0].from, at);
        const auto is_chosen = [&](const Item& i) {
            return !i.is_range && !i.is_rest && !is_none(*i.from) && i.from->cell &&
                   kind(*i.from) == NumberKind::condition;
        };
        std::size_t consumed = 0, rests = 0;
        for (const Item& i : items) {
            const bool one = i.is_range || !(i.is_rest || is_none(*i.from));
            consumed += is_chosen(i) ? i.from->axes.size() : one ? 1 : 0;
            rests += i.is_rest ? 1 : 0;
        }
        if (consumed > tensor(x).axes.size() || rests > 1)
            throw FormulaError(message("{operand} has fewer axes than these indices", {{"operand", shown(x)}}), at);
        const Part of = x;
        std::size_t rest = x.axes.size() - consumed, n = 0;
        std::vector<std::size_t> axes;  // that have places of a tensor, and the places
        std::vector<Part> places;
        Expr chosen;
        const auto inserted = [&](const IndexedAxis& axis) {
            x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n++), axis);
        };
        for (const Item& item : items) {
            if (item.is_rest) {
                n += std::exchange(rest, 0);
            } else if (item.is_range) {
                const Index size = x.axes[n].dim.size;
                const Index from = item.from ? std::clamp<Index>(from_front(whole(*item.from), size), 0, size) : 0;
                const Index to = item.to ? std::clamp<Index>(from_front(whole(*item.to), size), from, size) : size;
                const Index step = item.step && !is_none(*item.step) ? whole(*item.step) : 1;
                if (step < 1)
                    throw FormulaError(message("a step of a slice is above 0, as in PyTorch"), item.step->begin);
                if (to - from == size && (step == 1 || size == 0)) {
                    ++n;
                    continue;
                }
                const Index count = (to - from + step - 1) / step;
                const IndexedAxis part = axis_of_size(std::to_string(count), count);
                const Expr place =
                    step == 1 ? index(part.index)
                              : applied(Op::multiply, {index(part.index), number(static_cast<double>(step))}, at);
                x = at_index(x, n, from == 0 ? place : place + number(static_cast<double>(from)), true);
                inserted(part);
            } else if (is_none(*item.from)) {
                inserted(axis_of_size("1", 1));
            } else if (is_chosen(item)) {
                const Part& condition = *item.from;
                if (chosen || condition.axes.empty())
                    throw FormulaError(
                        message(
                            "a comparison that chooses stands alone here, or beside numbers and slices, and has axes"),
                        condition.begin);
                chosen = condition.cell;
                for (const IndexedAxis& axis : condition.axes) {
                    if (axis.dim.size != x.axes[n].dim.size)
                        fail_to_fit(x.axes[n].dim, shown(of), axis.dim, shown(condition), condition.begin);
                    chosen = substitute(chosen, {{axis.index, index(x.axes[n++].index)}});
                }
            } else {
                if (item.from->cell && item.from->cell->as<Literal>() != nullptr) static_cast<void>(whole(*item.from));
                Part where = places_in(x.axes[n], *item.from, of);
                if (where.axes.empty()) {
                    x = at_index(settled(std::move(x)), n, where.cell);
                } else {
                    axes.push_back(n++);
                    places.push_back(std::move(where));
                }
            }
        }
        if (chosen && !places.empty())
            throw FormulaError(
                message("a comparison that chooses stands alone here, or beside numbers and slices, and has axes"), at);
        if (!places.empty()) x = at_places(std::move(x), axes, std::move(places), at);
        x.chosen = chosen;
        return x;
    }
    [[nodiscard]] Part item(const Part& list, const Part& which, std::size_t at) const {
        const Index size = static_cast<Index>(list.items.size()), place = from_front(whole(which), size);
        if (place >= 0 && place < size) return list.items[static_cast<std::size_t>(place)];
        throw FormulaError(message("there is no part {place} here", {{"place", whole(which)}}), at);
    }
};

const std::vector<Row>& TensorReader::rows() {
    using R = TensorReader;
    static const std::vector<Row> all{
        {"add", "input, other, *, alpha=1", "input + other · alpha"},
        {"sub subtract", "input, other, *, alpha=1", "input − other · alpha"},
        {"mul multiply", "input, other", "input · other"},
        {"div divide true_divide", "input, other", "input / other"},
        {"neg negative", "input", "−input"},
        {"pow power", "input, exponent", "input^exponent"},
        {"square", "input", "input²"},
        {"sqrt", "input", "√(input)"},
        {"rsqrt", "input", "1 / √(input)"},
        {"reciprocal", "input", "1 / input"},
        {"maximum", "input, other", "max(input, other)"},
        {"minimum", "input, other", "min(input, other)"},
        {"clamp clip", "input, min=, max=", {}, &R::clamped},
        {"sign sgn", "input", "[input > 0] − [input < 0]"},
        {"np.sign", "input", "input ≠ input ? input : [input > 0] − [input < 0]"},
        {"exp2", "input", "2^input"},
        {"log2", "input", "log(input) / log(2)"},
        {"log10", "input", "log(input) / log(10)"},
        {"log1p", "input", "abs(input) < 0.0001 ? input − input² / 2 + input³ / 3 : log(1 + input)"},
        {"expm1", "input", "abs(input) < 0.0001 ? input + input² / 2 + input³ / 6 : exp(input) − 1"},
        {"tan", "input", "sin(input) / cos(input)"},
        {"hypot", "input, other", "abs(input) = ∞ or abs(other) = ∞ ? ∞ : √(input² + other²)"},
        {"lerp", "input, end, weight",
         "abs(weight) < 0.5 ? input + weight · (end − input) : end − (end − input) · (1 − weight)"},
        {"softplus", "input, beta=1, threshold=20",
         "input · beta > threshold ? input : exp(input · beta) < 0.0001 ? (exp(input · beta) − exp(input · beta)² / 2) "
         "/ "
         "beta : log(1 + exp(input · beta)) / beta"},
        {"elu", "input, alpha=1", "input > 0 ? input : alpha · (exp(input) − 1)"},
        {"logsigmoid", "input", "min(input, 0) − log(1 + exp(−abs(input)))"},
        {"bool", "input", "input ≠ 0"},
        {"isnan", "input", "input ≠ input"},
        {"isinf", "input", "abs(input) = ∞"},
        {"isfinite", "input", "abs(input) < ∞"},
        {"logical_not", "input", "input = 0"},
        {"logical_and", "input, other", "input ≠ 0 and other ≠ 0"},
        {"logical_or", "input, other", "input ≠ 0 or other ≠ 0"},
        {"zeros_like ones_like", "input", {}, &R::full_like},
        {"full_like", "input, fill_value", {}, &R::full_like},
        {"where", "condition, input, other", "condition ? input : other"},
        {"masked_fill", "input, mask, value", "mask ? value : input"},
        {"gelu", "input, approximate=0", "approximate = 0 ? gelu(input) : gelu_tanh(input)"},
        {"leaky_relu", "input, negative_slope=0.01", "input > 0 ? input : negative_slope · input"},
        {"eq np.equal", "input, other", "input = other"},  // torch.equal is one truth for all
        {"ne not_equal", "input, other", "input ≠ other"},
        {"lt less", "input, other", "input < other"},
        {"le less_equal", "input, other", "input ≤ other"},
        {"gt greater", "input, other", "input > other"},
        {"ge greater_equal", "input, other", "input ≥ other"},
        {"detach", "input", "stop(input)"},
        {"contiguous clone", "input", "input"},
        {"float double", "input", {}, &R::number_of_condition},
        {"long int", "input", {}, &R::whole_number},
        {"ceil", "input", "−floor(−input)"},
        {"trunc fix", "input", "input < 0 ? −floor(−input) : floor(input)"},
        {"round", "input, *, decimals=0", kRounding},
        {"np.round", "input, decimals=0", kRounding},
        {"softmax", "input, dim", "softmax_k(input[k])"},
        {"softmin", "input, dim", "softmax_k(−input[k])"},
        {"mse_loss l1_loss", "input, target", {}, &R::mean_loss},
        {"log_softmax", "input, dim", "input[k] − log_sum_exp_k(input[k])"},
        {"logsumexp", "input, dim, keepdim=0", "abs(max_j input[j]) = ∞ ? max_j input[j] : log_sum_exp_k(input[k])"},
        {"sum", "input, dim=, keepdim=0", "Σ_j input[j]"},
        {"mean", "input, dim=, keepdim=0", "mean_j input[j]"},
        {"max min", "input, dim=, keepdim=0", {}, &R::largest},
        {"amax", "input, dim=, keepdim=0", "max_j input[j]"},
        {"amin", "input, dim=, keepdim=0", "min_j input[j]"},
        {"argmax", "input, dim=, keepdim=0", "argmax_j input[j]"},
        {"argmin", "input, dim=, keepdim=0", "argmax_j (−input[j])"},
        {"any", "input, dim=, keepdim=0", "(Σ_j [input[j] ≠ 0]) > 0"},
        {"all", "input, dim=, keepdim=0", "(Σ_j [input[j] = 0]) = 0"},
        {"count_nonzero", "input, dim=, *, keepdim=0", "Σ_j [input[j] ≠ 0]"},
        {"nansum", "input, dim=, keepdim=0", "Σ_j (input[j] ≠ input[j] ? 0 : input[j])"},
        {"nanmean", "input, dim=, keepdim=0", "(Σ_j (input[j] ≠ input[j] ? 0 : input[j])) / Σ_j [input[j] = input[j]]"},
        {"cumsum", "input, dim", {}, &R::cumulated},
        {"sort argsort", "input, dim=−1, descending=0", {}, &R::sorted},
        {"topk", "input, k, dim=−1", {}, &R::sorted},
        {"np.sort np.argsort", "input, dim=−1", {}, &R::sorted},
        {"kthvalue", "input, k, dim=−1, keepdim=0", {}, &R::kth},
        {"quantile", "input, q, dim=, keepdim=0", {}, &R::quantile},
        {"median", "input, dim=, keepdim=0", {}, &R::median},
        {"var", "input, dim=, correction=1, keepdim=0", kVariance},
        {"std", "input, dim=, correction=1, keepdim=0", kDeviation},
        {"np.var", "input, dim=, *, correction=0, keepdim=0", kVariance},
        {"np.std", "input, dim=, *, correction=0, keepdim=0", kDeviation},
        {"normalize", "input, p=2, dim=1, eps=0.000000000001",
         "input[k] / max(p = 2 ? √(Σ_j input[j]²) : p = 1 ? Σ_j abs(input[j]) : p = ∞ ? max_j abs(input[j]) : "
         "(Σ_j abs(input[j])^p)^(1 / p), eps)"},
        {"layer_norm", "input, normalized_shape, weight=1, bias=0, eps=0.00001, dim=−1",
         "(input[k] − mean_j input[j]) / √(variance_k(input[k]) + eps) · weight[k] + bias[k]"},
        {"rms_norm", "input, normalized_shape, weight=1, eps=0.00000011920928955078125, dim=−1",
         "input[k] / √((mean_j input[j]²) + eps) · weight[k]"},
        {"norm", "input, p=2, dim=, keepdim=0",
         "p = 2 ? √(Σ_j input[j]²) : p = 1 ? Σ_j abs(input[j]) : p = 0 ? Σ_j [input[j] ≠ 0] : p = ∞ ? max_j "
         "abs(input[j]) : "
         "p = −∞ ? min_j abs(input[j]) : (Σ_j abs(input[j])^p)^(1 / p)"},
        {"cosine_similarity", "x1, x2, dim=1, eps=0.00000001, *, keepdim=0",
         "(Σ_k x1[k] · x2[k]) / (max(√(Σ_k x1[k]²), eps) · max(√(Σ_k x2[k]²), eps))"},
        {"einsum", "equation, …", {}, &R::einsum},
        {"matmul bmm mm dot", "input, other", {}, &R::matmul},
        {"linear", "input, weight, bias=", {}, &R::linear},
        {"transpose swapaxes", "input, dim0, dim1", {}, &R::transpose},
        {".mT", "input", {}, &R::matrix_transpose},
        {".T np.transpose t", "input", {}, &R::reversed},
        {"permute", "input, …", {}, &R::permute},
        {"unsqueeze expand_dims", "input, dim", {}, &R::unsqueeze},
        {"squeeze", "input, dim", {}, &R::squeeze},
        {"repeat_interleave", "input, repeats, dim", {}, &R::repeat_interleave},
        {"cat concat concatenate", "tensors, dim=0", {}, &R::joined},
        {"view reshape", "input, …", {}, &R::reshaped},
        {"flatten", "input, start_dim=0, end_dim=−1", {}, &R::flattened},
        {"stack", "tensors, dim=0", {}, &R::stacked},
        {"chunk", "input, chunks, dim=0", {}, &R::pieces},
        {"split", "input, split_size_or_sections, dim=0", {}, &R::pieces},
        {"flip", "input, dims", {}, &R::flip},
        {"roll", "input, shifts, dims", {}, &R::roll},
        {"diff", "input, n=1, dim=−1", {}, &R::difference},
        {"diagonal", "input, offset=0, dim1=0, dim2=1", {}, &R::diagonal},
        {"trace", "input", {}, &R::diagonal},
        {"outer ger", "input, vec2", {}, &R::outer},
        {"one_hot", "input, num_classes", {}, &R::one_hot},
        {"numel", "input", {}, &R::count_of_numbers},
        {"gather", "input, dim, index", {}, &R::gathered},
        {"take_along_dim take_along_axis", "input, index, dim", {}, &R::gathered},
        {"expand broadcast_to", "input, …", {}, &R::expanded},
        {"ones zeros", "size, …", {}, &R::filled},
        {"full", "size, fill_value", {}, &R::full},
        {"eye", "n, m=", {}, &R::identity},
        {"tril triu", "input, diagonal=0", {}, &R::triangle},
        {"arange", "end, …", {}, &R::arange},
        {"size .shape", "input, dim=", {}, &R::size},
        {".values .indices", "input", {}, &R::values}};
    return all;
}

// Python's own signs decide; without them, what only index notation has.
bool is_index_notation(const std::vector<Token>& tokens, std::string_view text, const Functions& functions) {
    const auto is_python = [](const Token& t) {
        return t.kind == Kind::quoted || (t.kind == Kind::symbol && (t.word == "." || t.word == "@"));
    };
    if (std::ranges::any_of(tokens, is_python)) return false;
    if (tokens.size() > 1 && tokens[0].kind == Kind::name && tokens[1].word == "[")
        if (const auto close = std::ranges::find(tokens, "]", &Token::word);
            close != tokens.end() && (close + 1)->word == "=")
            return true;
    return std::ranges::any_of(tokens, [&](const Token& t) {
        const auto [head, below] = parted(t.word);
        if (t.kind == Kind::name)
            return letters_in(below) == 1 && (fold_named(head) || head == "count" || functions.contains(head));
        return t.kind == Kind::symbol && (t.word == "{" || t.word == "?" || t.word == ";" || t.word == "from" ||
                                          static_cast<unsigned char>(text[t.begin]) >= 0x80);
    });
}

}  // namespace

Formula read(std::string_view text, const Known& known, const Functions& functions) {
    std::vector<Token> tokens = tokens_of(text, [&](std::string_view name) { return known.operands.contains(name); });
    if (is_index_notation(tokens, text, functions)) return parse(text, functions);
    return TensorReader(text, std::move(tokens), known, functions).formula();
}

}  // namespace decoderscope::formulas
