#include "engine/formulas/whole_tensors.h"

#include "engine/formulas/indexed_tensors.h"
#include "engine/formulas/tokens.h"
#include "engine/formulas/vectors.h"
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
    std::string module{};           // "np", or PyTorch's
    std::string first{};            // the name of its first parameter: most often input
    bool has_none = false;          // None was given, which stands for what is left out
    std::set<std::string> nones{};  // the parameters that are
    std::string dtype{};            // "float", "int" or "bool", if it is given
};

// What a name does that isn't read.
constexpr std::string_view kDraws = "it draws", kCounts = "it counts";

class TensorReader;
// A function of PyTorch or NumPy by its names; those after a dot are properties. It is a formula, in which k is the
// index along `dim` and n its size, and the result has that axis unless it may be kept (keepdim); or code; or what it
// is in PyTorch's words, after the code that checks what it is given.
struct Row {
    // With default values; an empty one may be left out, one of words is the place of the word that is given; those
    // behind * only by name; behind ** are any names.
    std::string names, parameters;
    std::string formula{};
    Part (TensorReader::*code)(Arguments&) = nullptr;
    std::string words{};
    std::string meant{};  // in place of a name that there isn't
};

constexpr std::array kSameParameters{std::pair{"axis", "dim"}, std::pair{"keepdims", "keepdim"},
                                     std::pair{"unbiased", "correction"}, std::pair{"ddof", "correction"},
                                     std::pair{"ord", "p"}};
constexpr std::array<std::string_view, 12> kModules{"fft",   "torch", "F",   "nn",      "functional", "np",
                                                    "numpy", "math",  "jnp", "special", "linalg",     "einops"};
// Types of numbers by their names, as far as formulas know any.
constexpr std::array kTypes{std::pair{"float32", "float"}, std::pair{"float64", "float"}, std::pair{"double", "float"},
                            std::pair{"float", "float"},   std::pair{"float_", "float"},  std::pair{"int64", "int"},
                            std::pair{"int32", "int"},     std::pair{"long", "int"},      std::pair{"int", "int"},
                            std::pair{"bool", "bool"},     std::pair{"bool_", "bool"}};
struct PythonOperator {
    std::string_view word;
    int level;
    Op op;  // "@" has none
};
constexpr int kComparison = 3, kJoined = 4, kProduct = 7, kUnary = 8;
constexpr PythonOperator kOperators[] = {
    {"or", 0, Op::either},  {"and", 1, Op::both},     {"=", 3, Op::equal},      {"≠", 3, Op::not_equal},
    {"<", 3, Op::less},     {"≤", 3, Op::less_equal}, {">", 3, Op::greater},    {"≥", 3, Op::greater_equal},
    {"|", 4, Op::either},   {"&", 5, Op::both},       {"+", 6, Op::add},        {"−", 6, Op::subtract},
    {"·", 7, Op::multiply}, {"/", 7, Op::divide},     {"div", 7, Op::quotient}, {"mod", 7, Op::remainder},
    {"@", 7, Op::stop}};

// Parameters that are True or False.
bool is_choice(std::string_view parameter) {
    constexpr std::array<std::string_view, 12> kChoices{"reverse",   "keepdim",  "descending",    "log_target",
                                                        "is_causal", "training", "compute_uv",    "right",
                                                        "largest",   "sorted",   "full_matrices", "some"};
    return std::ranges::find(kChoices, parameter) != kChoices.end();
}

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

    // A function of numbers in index notation; null if there is none.
    [[nodiscard]] Expr of_numbers(const std::string& name, const std::vector<Expr>& in, std::size_t at) const {
        const std::optional<Row> row = row_named(name);
        if (!row) fail_without_row(name, at);
        if (row->formula.empty() || row->parameters.find("dim") != std::string::npos)
            throw FormulaError(message("{function} is a function of whole tensors: write it without indices, as in "
                                       "PyTorch",
                                       {{"function", name}}),
                               at);
        std::map<std::string, Expr, std::less<>> cells;
        std::string head;
        std::size_t next = 0;
        for (const std::string& word : split(row->parameters, ", ")) {
            if (word == "*") continue;
            const std::string parameter = word.substr(0, word.find('=')),
                              value = word.find('=') == std::string::npos ? "" : word.substr(word.find('=') + 1);
            head += (head.empty() ? "" : ", ") + parameter;
            if (next < in.size())
                cells[parameter] = in[next++];
            else if (!value.empty())
                cells[parameter] = value.find('|') != std::string::npos ? number(0.0) : parse("d = " + value).main.body;
            else
                throw FormulaError(
                    message("{function} needs “{parameter}”", {{"function", name}, {"parameter", parameter}}), at);
        }
        if (next < in.size())
            throw FormulaError(message_n("{function} takes {count} operand", "{function} takes {count} operands", next,
                                         {{"function", name}}),
                               at);
        return put(chosen_of(parse_function("f(" + head + ") = " + row->formula, functions_).main.body, cells), cells,
                   {}, at);
    }

    // ---- functions that are code

    // A rule whose axes have words, as einops' have, in letters.
    static std::string in_letters(const std::string& rule) {
        std::string made, letters;
        std::vector<std::string> words;
        for (std::size_t at = 0; at < rule.size();) {
            const std::size_t end = std::min(rule.find_first_of(" ,->.", at), rule.size());
            if (end == at) {
                if (rule[at] != ' ') made += rule[at];
                ++at;
                continue;
            }
            const std::string word = rule.substr(at, end - at);
            auto known = std::ranges::find(words, word);
            if (known == words.end()) known = words.insert(words.end(), word);
            const auto place = known - words.begin();
            made += static_cast<char>(place < 26 ? 'a' + place : 'A' + place % 26);
            at = end;
        }
        return made;
    }
    Part einsum(Arguments& a) {
        if (a.all[0].cell && !a.all.back().cell) std::rotate(a.all.begin(), a.all.end() - 1, a.all.end());  // einops
        std::string rule = a.all[0].quoted;
        const std::string first = rule.substr(0, rule.find_first_of(",-"));
        const bool is_words = a.all.size() > 1 && first.find(' ') != std::string::npos &&
                              static_cast<std::size_t>(std::ranges::count_if(first, [](char c) { return c != ' '; })) !=
                                  a.all[1].axes.size();
        if (is_words) rule = in_letters(rule);
        const std::size_t arrow = rule.find("->");
        std::string inputs = rule.substr(0, arrow), order, rest;  // what “...” stands for
        std::erase(inputs, ' ');
        std::map<char, IndexedAxis> axis_of;
        Expr product;
        for (std::size_t i = 1; i < a.all.size() || !inputs.empty(); ++i) {
            std::string letters = inputs.substr(0, inputs.find(','));
            const std::string written = letters;
            inputs.erase(0, std::min(letters.size() + 1, inputs.size()));
            Part x = i < a.all.size() ? settled(tensor(a.all[i])) : a.all[0];
            if (const std::size_t dots = letters.find("..."); dots != std::string::npos) {
                std::string own;  // a letter of its own for each axis, counted from the right
                for (std::size_t n = letters.size() - 3; n < x.axes.size(); ++n)
                    own.insert(own.begin(), static_cast<char>(own.size() + 1));
                letters.replace(dots, 3, own);
                if (own.size() > rest.size()) rest = own;
            }
            if (letters.size() != x.axes.size() || !x.cell)
                throw FormulaError(
                    message("“{letters}” of “{rule}” doesn't name the axes of {operand}",
                            {{"letters", clipped(written)}, {"rule", clipped(rule)}, {"operand", shown(x)}}),
                    x.begin);
            for (const char letter : letters) {
                const auto [known, is_new] = axis_of.try_emplace(letter, x.axes[0]);
                IndexedAxis& met_before = known->second;
                if (!is_new && met_before.dim.size != x.axes[0].dim.size) {  // one place goes with any number of them
                    if (met_before.dim.size != 1 && x.axes[0].dim.size != 1)
                        fail_to_fit(met_before.dim, clipped(rule), x.axes[0].dim, shown(x), x.begin);
                    if (x.axes[0].dim.size == 1) {
                        x = at_index(x, 0, number(0.0));
                        continue;
                    }
                    if (product) product = substitute(product, {{met_before.index, number(0.0)}});
                    x.cell = substitute(x.cell, {{met_before.index, number(0.0)}});
                    met_before = x.axes[0];
                }
                if (!is_new) met_before = met(met_before, x.axes[0]);
                x = at_index(x, 0, index(known->second.index));
                if (is_new) order += letter;
            }
            product = product ? applied(Op::multiply, {product, x.cell}, a.at) : x.cell;
        }
        Part result{.cell = product};
        std::string out = arrow == std::string::npos ? "" : rule.substr(arrow + 2);
        std::erase(out, ' ');
        if (const std::size_t dots = out.find("..."); dots != std::string::npos) out.replace(dots, 3, rest);
        if (arrow == std::string::npos) {
            out = rest;
            std::string sorted = order;
            std::erase_if(sorted, [&](char c) { return rest.find(c) != std::string::npos; });
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
        if (a.function == "dot" && a.module != "np") need_axes(1);
        if (a.function == "mm") need_axes(2);
        if (a.function == "mv" && x.axes.size() != 2) fail_of_axes(a, x, 2);
        if (a.function == "mv" && y.axes.size() != 1) fail_of_axes(a, y, 1);
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
        if (const auto axes = a.by_name.find("axes"); axes != a.by_name.end()) {
            Arguments to{.function = a.function, .at = a.at, .all = {x, axes->second}};
            return permute(to);
        }
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
        Part x = tensor(a_input(a));
        const auto dim = a.by_name.find("dim");
        if (dim == a.by_name.end()) {
            for (std::size_t n = x.axes.size(); n-- > 0;)
                if (x.axes[n].dim.size == 1) x = at_index(x, n, number(0.0));
            return x;
        }
        if (is_axis_of_number(x, whole(dim->second))) return x;
        const std::size_t n = position(x, whole(dim->second), a.at);
        return x.axes[n].dim.size == 1 ? at_index(x, n, number(0.0)) : x;
    }
    Part repeat_interleave(Arguments& a) {
        Part x = tensor(a_input(a));
        const Part& times = tensor(a.by_name.at("repeats"));
        const auto dim = a.by_name.find("dim");
        if (dim == a.by_name.end()) x = flat(std::move(x));
        const std::size_t n = dim == a.by_name.end() ? 0 : position(x, whole(dim->second), a.at);
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
        y.cell = kind(x) == NumberKind::condition ? applied(Op::both, {kept, x.cell}, a.at)
                                                  : applied(Op::choose, {kept, x.cell, number(0.0)}, a.at);
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
                if (n != along && there.size < here.size) result.axes[n].is_mixed = true;
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
        const auto given = [&](std::size_t i) {
            const auto value = known(tensor(a.all[i]));
            if (!value || !std::isfinite(*value) || is_truth(a.all[i]))
                throw FormulaError(message("{function} needs a number: {operand}",
                                           {{"function", a.function}, {"operand", shown(a.all[i])}}),
                                   a.all[i].begin);
            return *value;
        };
        const double start = given(0), end = given(1), step = a.all.size() > 2 ? given(2) : 1.0;
        const bool leads_there = step > 0.0 ? end >= start : step < 0.0 && end <= start;
        const double places = leads_there ? std::ceil((end - start) / step) : -1.0;
        if (a.all.size() > 3 || places < 0.0 || places > static_cast<double>(limits::kNumbers))
            throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
        const auto count = static_cast<Index>(places);
        const IndexedAxis axis = axis_of_size(std::to_string(count), count);
        const Expr each = applied(Op::multiply, {index(axis.index), number(step)}, a.at);
        return {.axes = {axis}, .cell = applied(Op::add, {each, number(start)}, a.at)};
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
    // So many places of an axis, which is longer or shorter: its size is written wherever it is read.
    IndexedAxis part_of_axis(Index size) {
        IndexedAxis part = axis_of_size(std::to_string(size), size);
        part.is_mixed = true;
        return part;
    }
    // An axis of so many of another's places.
    IndexedAxis axis_like(const IndexedAxis& axis, Index size) {
        if (size != axis.dim.size) return part_of_axis(size);
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
        std::vector<Part> dims(a.all.begin() + std::min<std::ptrdiff_t>(std::ssize(a.all), 2), a.all.end());
        if (const auto given = a.by_name.find(a.module == "np" ? "dim" : "dims"); given == a.by_name.end())
            for (std::size_t n = 0; n < x.axes.size(); ++n) dims.push_back(number_part(static_cast<double>(n)));
        else
            for (const Part& dim : given->second.cell ? std::vector{given->second} : given->second.items)
                dims.push_back(dim);
        std::set<std::size_t> seen;
        for (const Part& dim : dims) {
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
        const auto dims = a.by_name.find(a.module == "np" ? "dim" : "dims");
        const Part& shifts = a.by_name.at("shifts");
        Part x = tensor(a_input(a));
        if (dims == a.by_name.end()) {
            const std::vector<IndexedAxis> axes = x.axes;
            x = axes.empty() ? x : rolled(flat(x), 0, whole(shifts));
            return axes.size() < 2 ? x : reshaped_to(std::move(x), axes, a.at);
        }
        if (shifts.cell) return rolled(x, position(x, whole(dims->second), a.at), whole(shifts));
        if (shifts.items.size() != dims->second.items.size())
            throw FormulaError(message("{function} needs a shift for each axis", {{"function", a.function}}), a.at);
        for (std::size_t i = 0; i < shifts.items.size(); ++i)
            x = rolled(x, position(x, whole(dims->second.items[i]), a.at), whole(shifts.items[i]));
        return x;
    }
    Part rolled(const Part& x, std::size_t n, Index by) {
        const Index size = x.axes[n].dim.size;
        if (size == 0) return x;
        const IndexedAxis axis = axis_like(x.axes[n], size);
        const Index back = ((size - by % size) % size + size) % size;
        return read_at(x, n, axis,
                       applied(Op::remainder, {shifted(axis, back), number(static_cast<double>(size))}, x.begin));
    }
    // All numbers along one axis, row by row.
    Part flat(Part x) {
        if (x.axes.size() == 1) return x;
        Arguments a{.function = "reshape", .at = x.begin, .all = {std::move(x), number_part(-1.0)}};
        return reshaped(a);
    }
    Part reshaped_to(Part x, const std::vector<IndexedAxis>& axes, std::size_t at) {
        Arguments a{.function = "reshape", .at = at, .all = {std::move(x)}};
        Part sizes;
        for (const IndexedAxis& axis : axes) sizes.items.push_back({.cell = size_of(axis)});
        a.all.push_back(std::move(sizes));
        return reshaped(a);
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
        const bool is_trace = a.function == "trace" || a.function == "tr";
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
        // NumPy's, and PyTorch's tensor_split: so many parts, the first of them longer, or the places where others
        // begin.
        if (a.module == "np" || a.function == "tensor_split") {
            const Index count = given.items.empty() ? whole(given) : 0;
            if (given.items.empty() && (count < 1 || (a.function == "split" && size % count != 0)))
                throw FormulaError(
                    message("{function}: {axis} has {size} places, not {count}",
                            {{"function", a.function}, {"axis", x.axes[n].dim.axis}, {"size", size}, {"count", count}}),
                    a.at);
            for (Index i = 0; i < count; ++i) sizes.push_back(size / count + (i < size % count ? 1 : 0));
            Index from = 0;
            for (const Part& one : given.items) {
                const Index to = std::clamp<Index>(from_front(whole(one), size), from, size);
                sizes.push_back(to - std::exchange(from, to));
            }
            if (!given.items.empty()) sizes.push_back(size - from);
        } else if (given.items.empty()) {
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
        const Part& x = a_input(a);
        if (x.chosen) {  // as many as are chosen
            const Arguments sum{
                .function = "sum", .at = a.at, .all = {{.axes = x.axes, .cell = number(1.0), .chosen = x.chosen}}};
            return called("", sum);
        }
        Index count = 1;
        for (const IndexedAxis& axis : tensor(x).axes) count *= axis.dim.size;
        return number_part(static_cast<double>(count));
    }
    Part count_of_axes(Arguments& a) { return number_part(static_cast<double>(tensor(a_input(a)).axes.size())); }
    Part length(Arguments& a) {
        if (is_row_of_chosen(a_input(a))) return count_of_numbers(a);
        const Part& x = tensor(a_input(a));
        return {.cell = size_of(x.axes[position(x, 0, a.at)])};
    }
    Part one_number(Arguments& a) {
        Part x = tensor(a_input(a));
        for (const IndexedAxis& axis : x.axes)
            if (axis.dim.size != 1)
                throw FormulaError(message("{function} needs a tensor of one number: {operand}",
                                           {{"function", a.function}, {"operand", shown(x)}}),
                                   a.at);
        while (!x.axes.empty()) x = at_index(x, 0, number(0.0));
        return x;
    }

    Part cumulated(Arguments& a) {
        const double infinite = std::numeric_limits<double>::infinity();
        const auto [fold, before] = a.function == "cumprod"  ? std::pair{Fold::product, 1.0}
                                    : a.function == "cummax" ? std::pair{Fold::max, -infinite}
                                    : a.function == "cummin" ? std::pair{Fold::min, infinite}
                                                             : std::pair{Fold::sum, 0.0};
        const bool is_pair = a.function.starts_with("cumm");  // with the places, which aren't read here
        const auto dim = a.by_name.find("dim");
        if (dim == a.by_name.end() && a.module != "np")
            throw FormulaError(
                message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", "dim"}}), a.at);
        Part x = tensor(a_input(a));
        if (dim == a.by_name.end()) x = flat(x);
        x = settled(x);
        if (dim != a.by_name.end() && is_axis_of_number(x, whole(dim->second)))
            return is_pair ? Part{.begin = x.begin, .end = x.end, .items = {x}} : x;
        const std::size_t n = dim == a.by_name.end() ? 0 : position(x, whole(dim->second), a.at);
        const IndexedAxis place = axis_like(x.axes[n], x.axes[n].dim.size);
        const Expr is_before = apply(Op::less_equal, {index(x.axes[n].index), index(place.index)}, a.at);
        x.cell = applied(Op::choose, {is_before, x.cell, number(before)}, a.at);
        x = reduced(x, n, fold);
        x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n), place);
        return is_pair ? Part{.begin = x.begin, .end = x.end, .items = {x}} : x;
    }

    // ---- whole matrices

    // What an operation makes of the matrices that the last two axes make.
    Part of_matrices(const Arguments& a, Op op, bool of_square = true) {
        Part x = settled(tensor(a_input(a)));
        const Dim &rows = x.axes[position(x, -2, a.at)].dim, &columns = x.axes[position(x, -1, a.at)].dim;
        if (of_square && rows.size != columns.size)
            throw FormulaError(message("{function} needs square matrices: {operand}",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
        x.cell = apply(op, {x.cell}, a.at);
        return sub_result(std::move(x));
    }
    Part inverse(Arguments& a) { return swapped(of_matrices(a, Op::inverse), -2, -1); }
    Part pseudoinverse(Arguments& a) { return swapped(of_matrices(a, Op::pseudoinverse, false), -2, -1); }
    // The diagonal that elimination leaves has the determinant for its product.
    Part determinant(Arguments& a) {
        const Parts names{{"d", said("x.diagonal(0, -2, -1)", {{"x", of_matrices(a, Op::eliminated)}}, a.at)}};
        return said(a.function == "det" ? "d.prod(-1)" : "[sign(d).prod(-1), log(abs(d)).sum(-1)]", names, a.at);
    }
    // Two numbers for each: abs() is of both, .real and .imag are one.
    Part eigenvalues(Arguments& a) {
        const Part x = of_matrices(a, Op::eigen);
        const Part real = said("x.diagonal(0, -2, -1)", {{"x", x}}, a.at);
        const Part imaginary = said("x.sum(-1) - r", {{"x", x}, {"r", real}}, a.at);
        return {.begin = x.begin, .end = x.end, .items = {real, imaginary}, .quoted = std::string(kComplex)};
    }
    // The discrete Fourier transform: of half of the frequencies, if the others say the same.
    Part fourier(Arguments& a) {
        Parts names = a.by_name;
        names["half"] = {.cell = number(a.function == "rfft" ? 1.0 : 0.0)};
        Part list = said(
            "m = input.movedim(dim, -1); n = m.shape[-1]; "
            "angle = outer(arange(n), arange(n // 2 + 1 if half else n)) % n * (2 * pi / n); "
            "[(m @ cos(angle)).movedim(-1, dim), -(m @ sin(angle)).movedim(-1, dim)]",
            std::move(names), a.at);
        list.quoted = kComplex;
        return list;
    }
    Part taken(Arguments& a) {
        const auto dim = a.by_name.find("dim");
        if (dim == a.by_name.end()) return said("input.flatten()[index]", a.by_name, a.at);
        const Part& x = tensor(a_input(a));
        const std::size_t n = position(x, whole(dim->second), a.at);
        return at_places(x, {n}, {places_in(x.axes[n], tensor_of(a.by_name.at("index"), a.at), x)}, a.at);
    }
    // The singular values of the matrices that the last two axes make, the largest first.
    Part singular_values(Arguments& a) {
        Part x = of_matrices(a, Op::singular, false);
        const std::size_t rows = position(x, -2, a.at), columns = position(x, -1, a.at);
        const Index count = std::min(x.axes[rows].dim.size, x.axes[columns].dim.size);
        const IndexedAxis axis = axis_of_size(std::to_string(count), count);
        x = at_index(at_index(std::move(x), columns, index(axis.index)), rows, index(axis.index));
        x.axes.push_back(axis);
        const auto vectors = a.by_name.find("compute_uv");
        const bool is_alone = a.function == "svdvals" ||
                              (a.module == "linalg" && vectors != a.by_name.end() && vectors->second.quoted == "False");
        return is_alone ? x : Part{.begin = x.begin, .end = x.end, .items = {{}, x, {}}};
    }
    Part matrix_power(Arguments& a) {
        const Index n = whole(a.by_name.at("n"));
        if (std::abs(n) > 16)
            throw FormulaError(message("{function}: at most 16 products", {{"function", a.function}}), a.at);
        const Part& x = tensor(a_input(a));
        if (n == 0) return said("where(eye(input.shape[-1]) == 1, 1 + 0 * input, 0)", {{"input", x}}, a.at);
        std::string words = n < 0 ? "x = inv(input)" : "x = input";
        for (Index i = 1; i < std::abs(n); ++i) words += i == 1 ? "; y = x @ x" : "; y = y @ x";
        return said(words + (std::abs(n) == 1 ? "; x" : "; y"), {{"input", x}}, a.at);
    }
    Part products(Arguments& a) {
        const std::vector<Part>& list = a.all.size() == 1 && !a.all[0].cell ? a.all[0].items : a.all;
        if (list.empty()) throw FormulaError(message("{function} needs a list", {{"function", a.function}}), a.at);
        Part y = tensor(list[0]);
        for (std::size_t i = 1; i < list.size(); ++i) y = product(y, tensor(list[i]), a.at);
        return y;
    }
    // The standard deviation or the variance, and the mean.
    Part spread_and_mean(Arguments& a) {
        const Part spread = called(a.module, {.function = a.function.substr(0, 3), .at = a.at, .by_name = a.by_name});
        a.by_name.erase("correction");
        return {.items = {spread, called(a.module, {.function = "mean", .at = a.at, .by_name = a.by_name})}};
    }
    // Along so many of the last axes of the one and the first of the other, or along those of two lists.
    Part tensordot(Arguments& a) {
        const Part &x = tensor(a.by_name.at("a")), &y = tensor(a.by_name.at("b"));
        const Part& dims = a.by_name.at(a.by_name.contains("axes") ? "axes" : "dims");
        const auto rank = [](const Part& of) { return static_cast<Index>(of.axes.size()); };
        std::array<std::vector<Index>, 2> along;
        if (dims.cell)
            for (Index i = 0; i < whole(dims); ++i)
                along[0].push_back(rank(x) - whole(dims) + i), along[1].push_back(i);
        for (std::size_t side = 0; side < dims.items.size() && side < 2; ++side)
            for (const Part& dim : dims.items[side].cell ? std::vector{dims.items[side]} : dims.items[side].items)
                along[side].push_back(static_cast<Index>(position(side == 0 ? x : y, whole(dim), a.at)));
        std::string of_x, of_y, rest;
        for (Index i = 0; i < rank(x); ++i) of_x += static_cast<char>('a' + i);
        for (Index i = 0; i < rank(y); ++i) of_y += static_cast<char>('A' + i);
        if (along[0].size() != along[1].size() || (dims.cell && whole(dims) > std::min(rank(x), rank(y))))
            throw FormulaError(
                message("{function} needs as many axes of one as of the other", {{"function", a.function}}), a.at);
        for (std::size_t i = 0; i < along[0].size(); ++i) {
            const Dim &one = x.axes[static_cast<std::size_t>(along[0][i])].dim,
                      &other = y.axes[static_cast<std::size_t>(along[1][i])].dim;
            if (one.size != other.size) fail_to_fit(one, shown(x), other, shown(y), y.begin);
            of_y[static_cast<std::size_t>(along[1][i])] = of_x[static_cast<std::size_t>(along[0][i])];
        }
        for (const char letter : of_x + of_y)
            if (std::ranges::count(of_x + of_y, letter) == 1) rest += letter;
        Arguments sum{.function = "einsum", .at = a.at, .all = {{.quoted = of_x + "," + of_y + "->" + rest}, x, y}};
        return einsum(sum);
    }
    // What is put at the places that an index tensor says along an axis, or added there. Of several for one place the
    // last is put.
    Part scattered(Arguments& a) {
        const Part x = settled(tensor(a_input(a)));
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        const bool by_rows = a.function.starts_with("index");  // one place for all numbers of a row
        const bool adds = a.function.find("add") != std::string::npos;
        Part where = settled(tensor(a.by_name.at("index")));
        const auto given = std::ranges::find_if(a.by_name, [](const auto& one) {
            return one.first == "value" || one.first == "src" || one.first == "source";
        });
        if (given == a.by_name.end())
            throw FormulaError(
                message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", "src"}}), a.at);
        const Part from = settled(tensor(given->second));
        static_cast<void>(places_in(x.axes[n], where, x));
        if (by_rows && where.axes.empty()) where.axes = {axis_of_size("1", 1)};
        const bool is_one = from.axes.empty();
        const auto fits = [&](const Part& of, bool may_be_less) {
            if (of.axes.size() != x.axes.size())
                throw FormulaError(message("{function} needs tensors with as many axes as {operand}",
                                           {{"function", a.function}, {"operand", shown(x)}}),
                                   of.begin);
            for (std::size_t i = 0; i < x.axes.size(); ++i) {
                const Index here = of.axes[i].dim.size,
                            there = (i == n ? where.axes[by_rows ? 0 : n] : x.axes[i]).dim.size;
                if (may_be_less ? here > there : here != there)
                    fail_to_fit(x.axes[i].dim, shown(x), of.axes[i].dim, shown(of), of.begin);
            }
        };
        if (by_rows && where.axes.size() != 1) fail_of_axes(a, where, 1);
        if (!by_rows) fits(where, true);
        if (!is_one && by_rows) fits(from, false);
        if (!is_one && !by_rows)
            for (std::size_t i = 0; i < x.axes.size(); ++i)
                if (from.axes.size() != x.axes.size() || from.axes[i].dim.size < where.axes[i].dim.size)
                    throw FormulaError(
                        message("{function}: {operand} has no number for each place of {other}",
                                {{"function", a.function}, {"operand", shown(from)}, {"other", shown(where)}}),
                        from.begin);
        const IndexedAxis source = axis_like(where.axes[by_rows ? 0 : n], where.axes[by_rows ? 0 : n].dim.size);
        const auto at_source = [&](Part of, bool is_row) {  // where all other indices are x's own
            if (is_row) return at_index(of, 0, index(source.index));
            for (std::size_t i = 0; i < x.axes.size(); ++i)
                of = at_index(of, 0, index(i == n ? source.index : x.axes[i].index));
            return of;
        };
        const Expr place = at_source(where, by_rows).cell;
        const Expr is_outside = apply(
            Op::either,
            {apply(Op::less, {place, number(0.0)}, a.at), apply(Op::greater_equal, {place, size_of(x.axes[n])}, a.at)},
            a.at);
        Expr is_there = apply(Op::equal, {place, index(x.axes[n].index)}, a.at);
        for (std::size_t i = 0; i < x.axes.size() && !by_rows; ++i)
            if (i != n && where.axes[i].dim.size < x.axes[i].dim.size)
                is_there =
                    apply(Op::both, {apply(Op::less, {index(x.axes[i].index), size_of(where.axes[i])}, a.at), is_there},
                          a.at);
        const auto folded = [&](Fold fold, const Expr& yes, double no) {
            Part each = x;
            each.axes.push_back(source);
            each.cell =
                applied(Op::choose,
                        {is_there, yes, applied(Op::choose, {is_outside, no_number().cell, number(no)}, a.at)}, a.at);
            return reduced(each, x.axes.size(), fold);
        };
        Part y = x;
        const Expr each = is_one ? from.cell : at_source(from, false).cell;
        if (adds) {
            const auto alpha = a.by_name.find("alpha");
            const Part sum = folded(
                Fold::sum,
                alpha == a.by_name.end() ? each : without_defaults(Op::multiply, {each, alpha->second.cell}, a.at),
                0.0);
            y.cell = applied(Op::add, {x.cell, sum.cell}, a.at);
            return y;
        }
        const Part last = sub_result(folded(Fold::max, index(source.index), -1.0));
        const Expr put = is_one ? from.cell : substitute(each, {{source.index, last.cell}});
        const Expr is_none = apply(Op::equal, {last.cell, number(-1.0)}, a.at);
        const Expr is_put = apply(Op::greater_equal, {last.cell, number(0.0)}, a.at);
        y.cell = applied(Op::choose, {is_put, put, applied(Op::choose, {is_none, x.cell, last.cell}, a.at)}, a.at);
        return y;
    }
    // Of a model that isn't trained: nothing is left out.
    Part no_dropout(Arguments& a) {
        if (a.by_name.at("training").quoted == "True" && known(tensor(a.by_name.at("p"))) != 0.0)
            throw FormulaError(message("{function}: no dropout is drawn here", {{"function", a.function}}), a.at);
        return tensor(a_input(a));
    }
    // What kind of numbers it has, as a type.
    Part type_of(Arguments& a) {
        if (a.function == ".device") return {.quoted = "a device"};
        const NumberKind of = kind(tensor(a_input(a)));
        return {.quoted = of == NumberKind::condition ? "dtype bool"
                          : of == NumberKind::real    ? "dtype float"
                                                      : "dtype int"};
    }
    // Of vectors, or of matrices: of two axes that are given, or of all of a matrix.
    Part norm(Arguments& a) {
        const Part& x = tensor(a_input(a));
        const auto dim = a.by_name.find("dim"), p = a.by_name.find("p");
        const bool has_dim = dim != a.by_name.end(), has_p = p != a.by_name.end();
        const bool is_text = has_p && !p->second.cell;
        const bool is_matrix = a.function == "matrix_norm";
        const std::size_t dims = is_matrix && !has_dim ? 2
                                 : has_dim             ? (dim->second.cell ? 1 : dim->second.items.size())
                                                       : x.axes.size();
        const bool is_vector = a.function == "vector_norm";
        if (has_dim && x.axes.empty()) static_cast<void>(position(x, 0, a.at));
        if (has_p && !has_dim && (dims > 2 || dims == 0) && !is_vector)
            throw FormulaError(
                message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", "dim"}}), a.at);
        if (is_vector || !(has_p || is_matrix) || dims != 2) {
            if (is_matrix) static_cast<void>(position(x, 2, a.at));
            if (is_text) static_cast<void>(tensor(p->second));
            Arguments vector{.function = "norm", .at = a.at, .by_name = a.by_name, .first = a.first};
            return called("", std::move(vector));
        }
        const std::size_t rows = position(x, has_dim ? whole(dim->second.items[0]) : -2, a.at),
                          columns = position(x, has_dim ? whole(dim->second.items[1]) : -1, a.at);
        if (rows == columns)
            throw FormulaError(message("{function} names each axis of {operand} once",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
        Part matrix = settled(x);
        matrix.axes.clear();
        for (std::size_t n = 0; n < x.axes.size(); ++n)
            if (n != rows && n != columns) matrix.axes.push_back(x.axes[n]);
        matrix.axes.push_back(x.axes[rows]);
        matrix.axes.push_back(x.axes[columns]);
        struct Of {
            std::string_view text;
            double number;
            const char* words;
        };
        const double infinite = std::numeric_limits<double>::infinity();
        const std::array kinds{
            Of{"fro", kNaN, "input.norm(2, (-2, -1))"},       Of{"nuc", kNaN, "svdvals(input).sum(-1)"},
            Of{"", 2.0, "svdvals(input).amax(-1)"},           Of{"", -2.0, "svdvals(input).amin(-1)"},
            Of{"", 1.0, "input.abs().sum(-2).amax(-1)"},      Of{"", -1.0, "input.abs().sum(-2).amin(-1)"},
            Of{"", infinite, "input.abs().sum(-1).amax(-1)"}, Of{"", -infinite, "input.abs().sum(-1).amin(-1)"}};
        const std::string text = has_p ? p->second.quoted : "fro";
        const auto number = is_text || !has_p ? std::nullopt : known(tensor(p->second));
        for (const Of& kind : kinds) {
            if (number ? kind.number != *number : kind.text != text || text.empty()) continue;
            Part y = said(kind.words, {{"input", matrix}}, a.at);
            if (a.by_name.at("keepdim").quoted != "True") return y;
            for (const std::size_t n : {std::min(rows, columns), std::max(rows, columns)})
                y.axes.insert(y.axes.begin() + static_cast<std::ptrdiff_t>(n), axis_of_size("1", 1));
            return y;
        }
        throw FormulaError(message("a matrix has no such norm: expected 'fro', 'nuc', 1, 2, inf or one below 0"), a.at);
    }

    // ---- lists and types

    // Numbers and tensors in lists as one tensor.
    Part tensor_of(const Part& x, std::size_t at) {
        if (x.cell || x.items.empty()) return tensor(x);
        Arguments a{.function = "stack", .at = at};
        Part& list = a.by_name["tensors"];
        for (const Part& item : x.items) list.items.push_back(tensor_of(item, at));
        for (const Part& item : list.items)
            for (std::size_t n = 0; n < std::max(item.axes.size(), list.items[0].axes.size()); ++n)
                if (item.axes.size() != list.items[0].axes.size() ||
                    item.axes[n].dim.size != list.items[0].axes[n].dim.size)
                    throw FormulaError(message("the parts of a list are of one shape"), at);
        a.by_name["dim"] = number_part(0.0);
        return stacked(a);
    }
    Part made_of_list(Arguments& a) { return tensor_of(a_input(a), a.at); }
    Part typed(Arguments& a) {
        const Part& type = a.by_name.at("dtype");
        if (type.quoted.empty()) throw FormulaError(message("a type is needed here, as torch.float32"), type.begin);
        for (const auto& [name, kind] : kTypes)
            if (type.quoted == std::string("dtype ") + name) return as_type(a_input(a), kind, a.at);
        return tensor(a_input(a));  // a device
    }
    Part as_type(const Part& x, const std::string& type, std::size_t at) {
        return called("", {.function = type, .at = at, .all = {x}});
    }
    // The axis that `from` has among the others is at `to`.
    Part moved(Arguments& a) {
        Part x = tensor(a_input(a));
        const std::size_t from = position(x, whole(a.by_name.at("source")), a.at),
                          to = position(x, whole(a.by_name.at("destination")), a.at);
        const IndexedAxis axis = x.axes[from];
        x.axes.erase(x.axes.begin() + static_cast<std::ptrdiff_t>(from));
        x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(to), axis);
        return x;
    }
    Part narrowed(Arguments& a) {
        const Part& x = tensor(a_input(a));
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        const Index size = x.axes[n].dim.size, from = from_front(whole(a.by_name.at("start")), size),
                    count = whole(a.by_name.at("length"));
        if (from < 0 || count < 0 || count > size - from)
            throw FormulaError(
                message("{function}: {axis} has {size} places, not {count}",
                        {{"function", a.function}, {"axis", x.axes[n].dim.axis}, {"size", size}, {"count", count}}),
                a.at);
        const IndexedAxis axis = axis_like(x.axes[n], count);
        return read_at(x, n, axis, shifted(axis, from));
    }
    Part unbound(Arguments& a) {
        const Part x = settled(tensor(a_input(a)));
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        Part list{.begin = x.begin, .end = x.end};
        for (Index i = 0; i < x.axes[n].dim.size; ++i)
            list.items.push_back(at_index(x, n, number(static_cast<double>(i))));
        return list;
    }
    // Whole copies, one behind the other, along each axis.
    Part repeated(Arguments& a) {
        Part x = tensor(a_input(a));
        std::vector<Part> times = sizes_in(a, 1);
        if (a.function == "tile")
            while (times.size() < x.axes.size()) times.insert(times.begin(), number_part(1.0));
        if (times.size() < x.axes.size())
            throw FormulaError(message("{function} needs a size for each axis of {operand}",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
        while (x.axes.size() < times.size()) x.axes.insert(x.axes.begin(), axis_of_size("1", 1));
        for (std::size_t n = 0; n < times.size(); ++n) {
            const Index size = x.axes[n].dim.size, count = whole(times[n]);
            const auto longer = limits::count_of({size, count});
            if (count < 0 || !longer)
                throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
            if (count == 1 || size == 0) continue;
            const IndexedAxis axis = axis_like(x.axes[n], *longer);
            const Expr place = index(axis.index);
            x = read_at(
                x, n, axis,
                size == 1 ? number(0.0) : applied(Op::remainder, {place, number(static_cast<double>(size))}, a.at));
        }
        return x;
    }
    // Numbers of one value before and behind those of the last axes, two sizes for each.
    Part padded(Arguments& a) {
        Part x = settled(tensor(a_input(a)));
        const std::vector<Part>& sizes = a.by_name.at("pad").items;
        if (a.by_name.at("pad").cell || sizes.size() % 2 != 0 || sizes.size() / 2 > x.axes.size())
            throw FormulaError(message("{function} needs two sizes for each of the last axes of {operand}",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
        const Expr beside = tensor(a.by_name.at("value")).cell;
        for (const IndexedAxis& axis : x.axes)
            if (axis.dim.size == 0)
                throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
        for (std::size_t i = 0; i < sizes.size(); i += 2) {
            const std::size_t n = x.axes.size() - 1 - i / 2;
            const Index size = x.axes[n].dim.size, before = whole(sizes[i]), after = whole(sizes[i + 1]);
            if (size + before + after < 0)
                throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
            if (before == 0 && after == 0) continue;
            const IndexedAxis axis = axis_like(x.axes[n], size + before + after);
            const Expr place = shifted(axis, -before);
            x = read_at(x, n, axis, place);
            const Expr is_inside = apply(Op::both,
                                         {apply(Op::greater_equal, {place, number(0.0)}, a.at),
                                          apply(Op::less, {place, number(static_cast<double>(size))}, a.at)},
                                         a.at);
            x.cell = applied(Op::choose, {is_inside, x.cell, beside}, a.at);
        }
        return x;
    }
    // What stands at these places along an axis, none of which is counted from its end.
    Part selected(Arguments& a) {
        const bool is_embedding = a.function == "embedding";
        const Part x = tensor(a.by_name.at(is_embedding ? "weight" : "input"));
        Part where = tensor(a.by_name.at(is_embedding ? "input" : "index"));
        if (!is_embedding && where.axes.size() > 1) fail_of_axes(a, where, 1);
        const std::size_t n = is_embedding ? 0 : position(x, whole(a.by_name.at("dim")), a.at);
        static_cast<void>(places_in(x.axes[n], where, x));
        if (is_embedding && x.axes.size() != 2) fail_of_axes(a, x, 2);
        if (where.axes.empty()) where.axes = {axis_of_size("1", 1)};
        return at_places(x, {n}, {where}, a.at);
    }
    Part stacked_along(Arguments& a) {
        a.by_name["dim"] = number_part(a.function == "vstack" ? 0.0 : 1.0);
        std::vector<Part>& parts = a.by_name.at("tensors").items;
        for (Part& x : parts)
            if (tensor(x).axes.empty()) x.axes = {axis_of_size("1", 1)};
        if (a.function == "column_stack") {
            for (Part& x : parts)
                if (x.axes.size() == 1) x.axes.push_back(axis_of_size("1", 1));
            return joined(a);
        }
        const bool is_row = !parts.empty() && parts[0].axes.size() < 2;
        if (is_row && a.function == "vstack") return stacked(a);
        if (is_row) a.by_name["dim"] = number_part(0.0);
        return joined(a);
    }
    Part diagonal_or_matrix(Arguments& a) {
        const std::size_t rank = tensor(a_input(a)).axes.size();
        if (rank > 2) fail_of_axes(a, a_input(a), 2);
        if (rank == 2) return said("input.diagonal(diagonal)", a.by_name, a.at);
        if (rank == 1 && whole(a.by_name.at("diagonal")) == 0) return said("diag_embed(input)", a.by_name, a.at);
        fail_of_axes(a, a_input(a), 2);
    }
    [[noreturn]] void fail_of_axes(const Arguments& a, const Part& x, std::size_t count) const {
        throw FormulaError(message_n("{function} needs tensors with {count} axis: {operand}",
                                     "{function} needs tensors with {count} axes: {operand}", count,
                                     {{"function", a.function}, {"operand", shown(x)}}),
                           x.begin);
    }
    // Whether all numbers are equal; tensors of other shapes never are.
    Part are_equal(Arguments& a) {
        const Part &x = tensor(a_input(a)), &y = tensor(a.by_name.at("other"));
        const bool fits = std::ranges::equal(
            x.axes, y.axes, {}, [](const auto& axis) { return axis.dim.size; },
            [](const auto& axis) { return axis.dim.size; });
        return fits ? said("(input == other).all()", a.by_name, a.at) : number_part(0.0);
    }
    // Refuses a target of another shape.
    Part of_one_shape(Arguments& a) {
        const Part &x = tensor(a_input(a)), &target = tensor(a.by_name.at("target"));
        const auto size = [](const IndexedAxis& axis) { return axis.dim.size; };
        if (!std::ranges::equal(x.axes, target.axes, {}, size, size))
            throw FormulaError(
                message("{operand} are no targets of {other}", {{"operand", shown(target)}, {"other", shown(x)}}),
                target.begin);
        return x;
    }
    // Of logits, or of log-probabilities (nll_loss); the targets are classes or probabilities.
    Part cross_entropy(Arguments& a) {
        const Part &x = tensor(a_input(a)), &target = tensor(a.by_name.at("target"));
        const std::size_t d = x.axes.size() > 1 ? 1 : 0;
        static_cast<void>(position(x, static_cast<Index>(d), a.at));
        const bool has_logits = a.function == "cross_entropy";
        const bool is_share = has_logits && target.axes.size() == x.axes.size();
        std::vector<IndexedAxis> axes = x.axes;
        if (!is_share) axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(d));
        for (std::size_t n = 0; n < std::max(axes.size(), target.axes.size()); ++n)
            if (axes.size() != target.axes.size() || axes[n].dim.size != target.axes[n].dim.size)
                throw FormulaError(
                    message("{operand} are no targets of {other}", {{"operand", shown(target)}, {"other", shown(x)}}),
                    target.begin);
        Parts names = a.by_name;
        names["d"] = number_part(static_cast<double>(d));
        if (!has_logits) names["label_smoothing"] = number_part(0.0);
        const std::string logs = has_logits ? "l = input.log_softmax(d); " : "l = input; ";
        if (is_share)
            return said(logs +
                            "t = target * (1 - label_smoothing) + label_smoothing / input.shape[d]; e = -(t * "
                            "l).sum(d); e.mean() if reduction == 0 else e.sum() if reduction == 1 else e",
                        names, a.at);
        return said(logs +
                        "kept = target != ignore_index; "
                        "e = -where(kept, l.gather(d, where(kept, target, 0).unsqueeze(d)).squeeze(d), 0); "
                        "e = e if label_smoothing == 0 else (1 - label_smoothing) * e - label_smoothing * "
                        "where(kept, l.mean(d), 0); "
                        "e.sum() / kept.sum() if reduction == 0 else e.sum() if reduction == 1 else e",
                    names, a.at);
    }
    Part attention(Arguments& a) {
        Parts names = a.by_name;
        const Part& query = tensor(a_input(a));
        if (known(tensor(names.at("dropout_p"))) != 0.0)
            throw FormulaError(message("{function}: no dropout is drawn here", {{"function", a.function}}), a.at);
        std::string words =
            names.contains("scale") ? "s = query @ key.mT * scale" : "s = query @ key.mT / sqrt(query.shape[-1])";
        static_cast<void>(position(query, -2, a.at));
        if (const auto mask = names.find("attn_mask"); mask != names.end())
            words += kind(tensor(mask->second)) == NumberKind::condition ? "; s = where(attn_mask, s, -inf)"
                                                                         : "; s = s + attn_mask";
        if (names.at("is_causal").quoted == "True")
            words += "; s = where(arange(query.shape[-2])[:, None] >= arange(key.shape[-2]), s, -inf)";
        return said(words + "; s.softmax(-1) @ value", names, a.at);
    }
    // What einops' patterns say: "b h p d -> b p (h d)". Axes that aren't named on the right are reduced.
    Part rearranged(Arguments& a) {
        using Names = std::vector<std::string>;
        const Part x = tensor(a_input(a));
        const std::string& pattern = a.by_name.at("pattern").quoted;
        const std::size_t arrow = pattern.find("->");
        const auto fail_of_pattern = [&]() {
            throw FormulaError(message("“{pattern}” doesn't say what becomes of the axes of {operand}",
                                       {{"pattern", clipped(pattern)}, {"operand", shown(x)}}),
                               a.at);
        };
        if (arrow == std::string::npos) fail_of_pattern();
        const auto rest = [&](std::size_t groups) {  // the names of what “...” stands for
            Names names;
            for (std::size_t n = groups; n < x.axes.size() + 1; ++n) names.push_back("." + std::to_string(n - groups));
            return names;
        };
        Names hidden;
        const auto groups_of = [&](std::string side, bool is_left) {
            for (const char bracket : {'(', ')'})
                for (std::size_t at = 0; (at = side.find(bracket, at)) != std::string::npos; at += 3)
                    side.replace(at, 1, std::string{' ', bracket, ' '});
            std::vector<Names> groups;
            bool is_open = false;
            for (const std::string& word : split(side, " ")) {
                if (word.empty()) continue;
                if (word == "(" || word == ")") {
                    if (is_open == (word == "(")) fail_of_pattern();
                    is_open = word == "(";
                    if (is_open) groups.emplace_back();
                    continue;
                }
                if (!is_open) groups.emplace_back();
                if (word != "1") groups.back().push_back(word);
            }
            if (is_open) fail_of_pattern();
            for (std::size_t g = 0; g < groups.size(); ++g) {
                const auto dots = std::ranges::find(groups[g], "...");
                if (dots == groups[g].end()) continue;
                if (is_left && groups[g].size() > 1) fail_of_pattern();
                if (is_left) hidden = rest(groups.size());
                const auto at = groups[g].erase(dots);
                if (groups[g].empty()) {
                    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
                    for (std::size_t n = 0; n < hidden.size(); ++n)
                        groups.insert(groups.begin() + static_cast<std::ptrdiff_t>(g + n), Names{hidden[n]});
                } else {
                    groups[g].insert(at, hidden.begin(), hidden.end());
                }
                break;
            }
            return groups;
        };
        const auto left = groups_of(pattern.substr(0, arrow), true),
                   right = groups_of(pattern.substr(arrow + 2), false);
        if (left.size() != x.axes.size()) fail_of_pattern();
        std::map<std::string, IndexedAxis> axis_of;
        std::vector<IndexedAxis> apart;
        Names order;
        for (std::size_t n = 0; n < left.size(); ++n) {
            Index rest_size = x.axes[n].dim.size;
            std::size_t unknown = 0;
            for (const std::string& name : left[n])
                if (const auto given = a.by_name.find(name); given == a.by_name.end())
                    ++unknown;
                else if (const Index size = whole(given->second); size < 1 || rest_size % size != 0)
                    fail_of_pattern();
                else
                    rest_size /= size;
            if (unknown > 1 || (unknown == 0 && rest_size != 1)) fail_of_pattern();
            for (const std::string& name : left[n]) {
                const auto given = a.by_name.find(name);
                const IndexedAxis axis = left[n].size() == 1        ? x.axes[n]
                                         : given == a.by_name.end() ? axis_of_size(std::to_string(rest_size), rest_size)
                                                                    : axis_as_given(given->second);
                if (!axis_of.emplace(name, axis).second) fail_of_pattern();
                apart.push_back(axis);
                order.push_back(name);
            }
        }
        Part y = reshaped_to(x, apart, a.at);
        for (std::size_t n = 0; n < order.size(); ++n) axis_of[order[n]] = y.axes[n];
        std::vector<IndexedAxis> axes, together;
        std::set<std::string> used;
        for (const Names& group : right) {
            Index size = 1;
            for (const std::string& name : group) {
                const auto times = a.by_name.find(name);
                if (a.function == "repeat" && !axis_of.contains(name) && times != a.by_name.end())
                    axis_of[name] = axis_as_given(times->second);
                if (!axis_of.contains(name) || !used.insert(name).second) fail_of_pattern();
                axes.push_back(axis_of[name]);
                size *= axes.back().dim.size;
            }
            together.push_back(group.size() == 1 ? axis_of[group[0]] : axis_of_size(std::to_string(size), size));
        }
        std::size_t reduces = 0;
        for (const std::string& name : order)
            if (!used.contains(name)) axes.push_back(axis_of[name]), ++reduces;
        y.axes = axes;
        if ((reduces > 0) != (a.function == "reduce")) fail_of_pattern();
        if (reduces > 0) {
            Part dims;
            for (std::size_t n = axes.size() - reduces; n < axes.size(); ++n)
                dims.items.push_back(number_part(static_cast<double>(n)));
            const std::string& how = a.by_name.at("reduction").quoted;
            y = called("np", {.function = how, .at = a.at, .all = {y}, .by_name = {{"dim", dims}}});
        }
        return reshaped_to(std::move(y), together, a.at);
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
        const bool descending = is_top ? a.by_name.at("largest").quoted == "True"
                                       : given != a.by_name.end() && given->second.quoted == "True";
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
        const Part q = tensor_of(a.by_name.at("q"), a.at);
        if (q.axes.size() == 1) {  // several
            Arguments list{.function = "stack", .at = a.at};
            for (Index i = 0; i < q.axes[0].dim.size; ++i) {
                Arguments one = a;
                one.by_name["q"] = at_index(q, 0, number(static_cast<double>(i)));
                list.by_name["tensors"].items.push_back(quantile(one));
            }
            list.by_name["dim"] = number_part(0.0);
            return stacked(list);
        }
        const std::optional<double> share = known(q);
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

    // Whether its one axis has as many places as a condition chooses.
    static bool is_row_of_chosen(const Part& x) {
        return x.chosen && std::ranges::all_of(
                               x.axes, [&](const IndexedAxis& axis) { return x.chosen->indices.contains(axis.index); });
    }
    Part size(Arguments& a) {
        Part sizes;
        if (is_row_of_chosen(a_input(a))) {
            sizes.items.push_back(count_of_numbers(a));
            return a.by_name.contains("dim") ? sizes.items[0] : sizes;
        }
        const Part& x = tensor(a_input(a));
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
    Part values(Arguments& a) {
        constexpr std::array<std::string_view, 6> kFirst{".values",   ".min",  ".eigenvalues",
                                                         ".solution", ".real", ".sign"};
        return item(a_input(a), number_part(std::ranges::find(kFirst, a.function) != kFirst.end() ? 0.0 : 1.0), a.at);
    }
    Part unflattened(Arguments& a) {
        const Part& x = tensor(a_input(a));
        const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
        const std::vector<Part>& sizes = a.by_name.at("sizes").items;
        Arguments apart{.function = a.function, .at = a.at, .all = {x}};
        const auto rests = std::ranges::count_if(sizes, [&](const Part& size) { return whole(size) == -1; });
        Index known = 1;
        for (const Part& size : sizes) known *= std::max<Index>(whole(size), 1);
        for (std::size_t i = 0; i < x.axes.size(); ++i)
            if (i != n) {
                apart.all.push_back({.cell = size_of(x.axes[i])});
            } else if (sizes.empty() || rests > 1 || x.axes[n].dim.size % std::max<Index>(known, 1) != 0) {
                throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
            } else {
                for (const Part& size : sizes)
                    apart.all.push_back(whole(size) == -1 ? number_part(static_cast<double>(x.axes[n].dim.size / known))
                                                          : size);
            }
        return reshaped(apart);
    }

private:
    // ---- functions

    static const std::vector<Row>& rows();
    Parts names_{};  // that words of the table's own give

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
            if (row.meant.empty() && std::ranges::count(split(row.names, " "), name) > 0) return row;
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
            if (row.meant.empty())
                for (const std::string& name_of_row : split(row.names, " ")) known.push_back(name_of_row);
        for (const auto& [book, function] : functions_)
            if (function.along.empty()) known.push_back(book);
        for (const Spelling& s : spellings())
            if (s.level == kFunction) known.emplace_back(s.ascii);
        fail_with_meant(message("there is no function “{name}”", {{"name", name}}), name, known, at);
    }
    // With what means the same, as the table of names knows it, or else with the nearest name.
    [[noreturn]] static void fail_with_meant(const Sentence& missing, const std::string& name,
                                             const std::vector<std::string>& known, std::size_t at) {
        for (const Row& row : rows())
            if (row.meant == kDraws && std::ranges::count(split(row.names, " "), name) > 0)
                throw FormulaError(message("“{name}” draws at random, which a formula doesn't", {{"name", name}}), at);
            else if (row.meant == kCounts && std::ranges::count(split(row.names, " "), name) > 0)
                throw FormulaError(message("“{name}” makes as many places as its numbers say, which is no axis: write "
                                           "where(condition, x, 0), or the condition's .sum() for how many",
                                           {{"name", name}}),
                                   at);
            else if (!row.meant.empty() && std::ranges::count(split(row.names, " "), name) > 0)
                throw FormulaError(
                    message("{sentence}; is “{nearest}” meant?", {{"sentence", missing}, {"nearest", row.meant}}), at);
        throw FormulaError(with_nearest(missing, name, known), at);
    }

    // What PyTorch's words say of these names; the statements before the last one give names, too.
    [[nodiscard]] Part said(const std::string& words, Parts names, std::size_t at) {
        const auto elsewhere = [](Part& x, const auto& self) -> void {  // than in these words
            x.begin = x.end = 0;
            for (Part& item : x.items) self(item, self);
        };
        for (auto& [name, x] : names) elsewhere(x, elsewhere);
        const std::string_view outer_text = text_;
        std::vector<Token> outer_tokens = std::move(tokens_);
        const std::size_t outer_at = at_;
        Parts outer_names = std::exchange(names_, std::move(names));
        Part result;
        try {
            for (const std::string& statement : split(words, "; ")) {
                text_ = statement;
                tokens_ = tokens_of(statement, [](std::string_view) { return false; });
                const bool gives_name = tokens_[1].word == "=" && tokens_[1].end - tokens_[1].begin == 1;
                at_ = gives_name ? 2 : 0;
                result = expression();
                elsewhere(result, elsewhere);
                if (gives_name) names_[tokens_[0].word] = result;
            }
        } catch (const FormulaError& error) {
            throw FormulaError(error.sentence(), at);
        }
        text_ = outer_text;
        tokens_ = std::move(outer_tokens);
        at_ = outer_at;
        names_ = std::move(outer_names);
        return result;
    }

    [[nodiscard]] Part called(const std::string& module, Arguments a) {
        if ((a.function == "max" || a.function == "min") && a.all.size() > 1 && !literal(a.all[1].cell))
            a.function += "imum";  // of two tensors
        a.module = module;
        if (!a.dtype.empty()) {
            const std::string type = std::exchange(a.dtype, "");
            constexpr std::array<std::string_view, 9> kMakers{"tensor", "array", "asarray", "as_tensor", "arange",
                                                              "zeros",  "ones",  "full",    "eye"};
            if (type != "float" && std::ranges::find(kMakers, a.function) == kMakers.end())
                throw FormulaError(
                    message("{function} with whole numbers: write .long() before it", {{"function", a.function}}),
                    a.at);
            const std::size_t at = a.at;
            return as_type(called(module, std::move(a)), type, at);
        }
        if (a.function == "repeat" && a.all.size() == 2 && !a.all[1].cell && !a.all[1].quoted.empty())
            a.module = "einops";
        if (!a.all.empty() && a.all[0].quoted == kComplex && (a.function == "abs" || a.function == "absolute"))
            return said("(x[0] ** 2 + x[1] ** 2) ** 0.5", {{"x", a.all[0]}}, a.at);
        std::optional<Row> row = a.module.empty() ? std::nullopt : row_named(a.module + "." + a.function);
        if (!row) row = row_named(a.function);
        if (!row) fail_without_row(a.function, a.at);
        const std::vector<std::string> parameters = bind(*row, a);
        if (row->code != nullptr && row->words.empty()) return (this->*row->code)(a);
        if (row->code != nullptr) static_cast<void>((this->*row->code)(a));
        if (row->words.empty()) return by_formula(*row, parameters, a);
        for (const std::string& name : parameters) a.by_name.try_emplace(name, Part{.quoted = "None"});
        return said(row->words, a.by_name, a.at);
    }

    // Gives the arguments their parameters' names, and those that aren't there their default values.
    [[nodiscard]] std::vector<std::string> bind(const Row& row, Arguments& a) const {
        std::vector<std::string> parameters;
        std::map<std::string, std::string, std::less<>> defaults;
        std::size_t by_position = std::string::npos;
        const bool any_name = row.parameters.ends_with(", **");
        for (const std::string& word : split(row.parameters, ", ")) {
            if (word == "**") continue;
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
            if (std::ranges::find(parameters, name) == parameters.end() && !any_name)
                throw FormulaError(with_nearest(message("{function} has no “{parameter}”",
                                                        {{"function", a.function}, {"parameter", name}}),
                                                name, parameters),
                                   part.begin);
            if (is_choice(name) && !is_truth(part)) fail_of_truth(name, false, part);
        }
        for (const std::string& name : parameters) {
            const auto default_value = defaults.find(name);
            const bool is_word =
                default_value != defaults.end() && default_value->second.find('|') != std::string::npos;
            if (is_word) {
                const std::vector<std::string> words = split(default_value->second, "|");
                const auto given = a.by_name.find(name);
                const auto word =
                    given == a.by_name.end() ? words.begin() : std::ranges::find(words, given->second.quoted);
                const bool is_none = a.nones.contains(name) && words.front() != "None";
                if (is_none || word == words.end() || (given != a.by_name.end() && given->second.cell))
                    throw FormulaError(message("“{parameter}” is one of {words}",
                                               {{"parameter", name}, {"words", default_value->second}}),
                                       is_none ? a.at : given->second.begin);
                a.by_name[name] = number_part(static_cast<double>(word - words.begin()));
                continue;
            }
            if (a.by_name.contains(name)) continue;
            if (default_value == defaults.end())
                throw FormulaError(
                    message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", name}}), a.at);
            if (!default_value->second.empty())
                a.by_name[name] = {.cell = parse("d = " + default_value->second).main.body,
                                   .quoted = !is_choice(name)               ? ""
                                             : default_value->second == "0" ? "False"
                                                                            : "True"};
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
            const bool is_product = a.function == "prod" && a.module != "np";
            if ((!dim.items.empty() && (a.function.starts_with("arg") || is_product)) || (is_product && a.has_none))
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
        const auto with_choice = [&](Part y) {
            y.chosen = given.chosen;
            return y;
        };
        if (!along && alone) return with_choice(by_formula(row, parameters, a));
        // The axes that the condition has are one, along which it is as long as it chooses.
        const auto is_of_choice = [&](const IndexedAxis& axis) { return given.chosen->indices.contains(axis.index); };
        const auto first = std::ranges::find_if(x.axes, is_of_choice) - x.axes.begin();
        const Index merged = std::ranges::count_if(x.axes, is_of_choice);
        const auto dim = a.by_name.find("dim");
        Part dims = dim == a.by_name.end() ? Part{.quoted = "None"} : Part{};
        if (along && dim != a.by_name.end() && !dim->second.cell) tensor(given);
        if (along && dim != a.by_name.end()) {
            const Index place = from_front(whole(dim->second), std::ssize(x.axes) - merged + 1);
            if (place < 0 || place > std::ssize(x.axes) - merged)
                static_cast<void>(position(x, std::ssize(x.axes), a.at));
            if (place != first) {
                dim->second = number_part(static_cast<double>(place < first ? place : place + merged - 1));
                return with_choice(by_formula(row, parameters, a));
            }
            for (Index i = 0; i < merged; ++i) dims.items.push_back(number_part(static_cast<double>(first + i)));
        }
        struct Of {
            std::string_view function, words;
        };
        constexpr std::array kOf{
            Of{"sum", "where(kept, x, 0).sum(d)"},
            Of{"mean", "where(kept, x, 0).sum(d) / kept.sum(d)"},
            Of{"amax", "where(kept.sum(d) > 0, where(kept, x, -inf).amax(d), 0 / 0)"},  // NaN if none is chosen
            Of{"amin", "where(kept.sum(d) > 0, where(kept, x, inf).amin(d), 0 / 0)"},
            Of{"any", "(kept & (x != 0)).sum(d) > 0"},
            Of{"all", "(kept & (x == 0)).sum(d) == 0"},
            Of{"count_nonzero", "(kept & (x != 0)).sum(d)"},
            Of{"norm", "where(kept, x ** 2, 0).sum(d) ** 0.5"},
            Of{"var",
               "m = where(kept, x, 0).sum(d, keepdim=True) / kept.sum(d, keepdim=True); "
               "where(kept, (x - m) ** 2, 0).sum(d) / (kept.sum(d) - c)"},
            Of{"std",
               "m = where(kept, x, 0).sum(d, keepdim=True) / kept.sum(d, keepdim=True); "
               "(where(kept, (x - m) ** 2, 0).sum(d) / (kept.sum(d) - c)) ** 0.5"}};
        const auto* found = std::ranges::find(kOf, a.function, &Of::function);
        const auto p = a.by_name.find("p"), correction = a.by_name.find("correction");
        if (found == kOf.end() || (p != a.by_name.end() && known(p->second) != 2.0) ||
            a.by_name.at("keepdim").quoted == "True")
            tensor(given);
        return said(std::string(found->words),
                    {{"kept", {.axes = x.axes, .cell = given.chosen}},
                     {"x", x},
                     {"d", dims},
                     {"c", {.cell = correction == a.by_name.end() ? nullptr : correction->second.cell}}},
                    a.at);
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

    static Part no_number() { return {.cell = apply(Op::divide, {number(0.0), number(0.0)})}; }
    [[nodiscard]] Part text_as_number(const Part& x) const {
        const bool minus = x.quoted.starts_with("-");
        const double infinite = std::numeric_limits<double>::infinity();
        std::string word = x.quoted.substr(minus ? 1 : 0);
        std::ranges::transform(word, word.begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        if (word == "inf" || word == "+inf" || word == "infinity")
            return number_part(minus ? -infinite : infinite, x.begin, x.end);
        if (x.quoted == "fro") return number_part(2.0, x.begin, x.end);
        if (word == "nan") return no_number();
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
        Part x = chain(0);
        const std::size_t begin = x.begin, at = here().begin;
        if (!take_word("if")) return x;
        const Part condition = tensor(chain(0));
        if (!take_word("else")) need("else");
        Part y = expression();
        if (const auto holds = known(condition)) return spanning(*holds != 0.0 ? std::move(x) : std::move(y), begin);
        const bool same_axes =
            std::ranges::equal(tensor(x).axes, tensor(y).axes, {}, &IndexedAxis::size, &IndexedAxis::size);
        if (!condition.axes.empty() || !same_axes)
            throw FormulaError(
                message("“if” needs one condition, and the same axes on both sides: write where(…, …, …)"), at);
        return spanning(applied_to(Op::choose, {condition, x, y}, at), begin);
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
            if (level == kProduct && is_factor_behind_number()) {  // 2(x + 1)
                const std::size_t begin = left.begin, at = here().begin;
                left = spanning(applied_to_chosen(Op::multiply, {left, chain(level + 1)}, at), begin);
                continue;
            }
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
    // A bracket or a name right of a number that nothing is divided by.
    [[nodiscard]] bool is_factor_behind_number() const {
        if (at_ == 0 || tokens_[at_ - 1].kind != Kind::number || text_[here().begin - 1] == '.') return false;
        const bool is_divisor = at_ > 1 && (tokens_[at_ - 2].word == "/" || tokens_[at_ - 2].word == "div" ||
                                            tokens_[at_ - 2].word == "mod" || tokens_[at_ - 2].word == "^");
        return !is_divisor && (is("(") || is("√") || (here().kind == Kind::name && !is_word("if") && !is_word("else")));
    }
    Part unary() {
        const Nesting nesting(*this);
        const std::size_t begin = here().begin;
        const std::string word = here().word;
        if (take("+")) return unary();
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
        for (const auto& [sign, exponent] : {std::pair{"²", 2.0}, std::pair{"³", 3.0}, std::pair{"⁴", 4.0}})
            if (take(sign)) {
                Part raised = applied_to_chosen(Op::power, {base, number_part(exponent)}, at);
                base = spanning(std::move(raised), base.begin);
            }
        const bool is_caret = at < text_.size() && text_[at] == '^';
        if (!take("^")) return base;
        Part exponent = unary();
        const bool is_either = is_caret && base.cell && kind(base) == NumberKind::condition;  // one of two comparisons
        if (is_either && (!exponent.cell || kind(exponent) != NumberKind::condition))
            throw FormulaError(message("“{word}” needs comparisons: write (x != 0) for numbers", {{"word", "^"}}), at);
        Part x = applied_to_chosen(is_either ? Op::not_equal : Op::power, {base, exponent}, at);
        return spanning(std::move(x), base.begin);
    }

    // The word as it is written: "sqrt" and "where" are signs of index notation, and functions here.
    [[nodiscard]] std::string written_word() const {
        const std::string_view word = text_.substr(here().begin, here().end - here().begin);
        const bool is_sign =
            here().kind == Kind::symbol && (word == "sqrt" || word == "where" || word == "div" || word == "mod");
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
        if (take("|")) {
            Part x = chain(kJoined + 1);
            need("|");
            return spanning(applied_to(Op::abs, {x}, token.begin), token.begin);
        }
        if (is("√") && text_[token.begin] != 's') {
            ++at_;
            return spanning(applied_to(Op::root, {primary()}, token.begin), token.begin);
        }
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
        if ((word == "Σ" || word == "∑") && module.empty()) {  // of all numbers
            Part all = chain(kProduct);
            return spanning(called("", {.function = "sum", .at = at, .all = {std::move(all)}}), token.begin);
        }
        const bool is_type = !is("(") && std::ranges::any_of(kTypes, [&](const auto& type) {
            return word == type.first && !known_.operands.contains(word) && !numbers_.contains(word);
        });
        if (is_type) return spanning({.quoted = "dtype " + word}, token.begin);
        const bool is_constant = word == "pi" || word == "newaxis" || word == "nan";
        if (!module.empty() && word == "e" && !is("(")) return spanning(number_part(std::numbers::e), token.begin);
        if (!module.empty() && !is("(") && !is_constant && !row_named(word)) fail_without_row(word, at);
        if (!module.empty() && !is("(") && !is_constant) need("(");
        if (!is("(")) return spanning(named(word, at), token.begin);
        Arguments given = arguments({.function = word, .at = at});
        if (is("(") && word[0] >= 'A' && word[0] <= 'Z') return spanning(of_layer(std::move(given)), token.begin);
        const bool is_of_numbers =
            module.empty() && given.all.size() > 1 && given.all[0].cell && given.all[0].axes.empty();
        if (is_of_numbers && (word == "max" || word == "min")) given.function += "imum";  // Python's own
        if (module.empty() && word == "round") module = "np";
        return spanning(called(module, std::move(given)), token.begin);
    }

    // nn.Softmax(dim=-1)(x): PyTorch's layer by its function, which takes the layer's own arguments behind the others.
    Part of_layer(Arguments layer) {
        const auto plain = [](std::string name, bool of_class) {
            std::erase(name, '_');
            std::ranges::transform(name, name.begin(),
                                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
            return of_class && name.ends_with("loss") ? name.substr(0, name.size() - 4) : name;
        };
        std::vector<std::string> known;
        for (const Row& row : rows())
            if (row.meant.empty())
                for (const std::string& name : split(row.names, " ")) known.push_back(name);
        for (const auto& [name, function] : functions_) known.push_back(name);
        for (const Spelling& s : spellings())
            if (s.level == kFunction) known.emplace_back(s.ascii);
        const auto found = std::ranges::find_if(known, [&](const std::string& name) {
            return plain(name, false) == plain(layer.function, false) ||
                   plain(name, true) == plain(layer.function, true);
        });
        if (found == known.end()) fail_without_row(layer.function, layer.at);
        if (!layer.all.empty() && plain(*found, false).ends_with("norm") && layer.all[0].cell)
            layer.all[0] = {.items = {layer.all[0]}};
        Arguments given = arguments({.function = *found, .at = layer.at});
        given.all.insert(given.all.end(), layer.all.begin(), layer.all.end());
        for (const auto& [name, part] : layer.by_name) given.by_name.emplace(name, part);
        return called("", std::move(given));
    }

    Part named(const std::string& word, std::size_t at) {
        if (const auto given = names_.find(word); given != names_.end()) {
            Part x = given->second;  // each reading has indices of its own
            for (IndexedAxis& axis : x.axes) {
                const std::string before = std::exchange(axis.index, new_index(axis.dim.axis));
                x.cell = substitute(x.cell, {{before, index(axis.index)}});
                if (x.chosen) x.chosen = substitute(x.chosen, {{before, index(axis.index)}});
            }
            return x;
        }
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
        if (word == "nan") return no_number();
        std::vector<std::string> known;
        for (const auto& [name, shape] : known_.operands) known.push_back(name);
        for (const auto& [name, value] : numbers_) known.push_back(name);
        fail_with_meant(message("there is no operand “{name}”", {{"name", word}}), word, known, at);
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
            if (!named && !any_named && text_[here().begin] == '*' && take("·")) {  // f(*x.shape)
                for (Part& one : expression().items) a.all.push_back(std::move(one));
                need_comma_or(")");
                continue;
            }
            for (const auto& [other, same] : kSameParameters)
                if (name == other) name = same;
            Part x = expression();
            if (name == "correction" && (given == "unbiased") != is_truth(x)) fail_of_truth(given, is_truth(x), x);
            any_named = any_named || named;
            if (name == "device" || name == "requires_grad") {
                need_comma_or(")");
                continue;
            }
            if (name == "dtype") {
                for (const auto& [written, type] : kTypes)
                    if (x.quoted == std::string("dtype ") + written) a.dtype = type;
                if (a.dtype.empty() && !is_none(x))
                    throw FormulaError(message("a type is needed here, as torch.float32"), x.begin);
                if (a.function != "to" && a.function != "type" && a.function != "astype") {
                    need_comma_or(")");
                    continue;
                }
                a.dtype.clear();
            }
            if (!named && any_named) throw FormulaError(message("what has no name comes before what has one"), x.begin);
            if (!named)
                a.all.push_back(std::move(x));
            else if (is_none(x))
                a.has_none = a.nones.insert(name).second;
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

    struct Item {
        std::optional<Part> from{}, to{}, step{};
        bool is_range = false, is_rest = false;
    };
    // The parts of a list that a slice says.
    [[nodiscard]] Part items_in(const Part& list, const Item& slice, std::size_t at) const {
        const auto size = static_cast<Index>(list.items.size());
        if (slice.step) throw FormulaError(message("a slice of a list has no step here"), at);
        const Index from = slice.from ? std::clamp<Index>(from_front(whole(*slice.from), size), 0, size) : 0,
                    to = slice.to ? std::clamp<Index>(from_front(whole(*slice.to), size), from, size) : size;
        Part some{.begin = list.begin, .end = list.end};
        some.items.assign(list.items.begin() + from, list.items.begin() + to);
        return some;
    }
    // x[:, None, ..., 0, 1:3, ids]
    Part indexed(Part x) {
        const std::size_t at = here().begin;
        need("[");
        std::vector<Item> items = listed<Item>(
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
        if (!x.items.empty() && items.size() == 1 && items[0].is_range) return items_in(x, items[0], at);
        if (!x.items.empty() && items.size() == 1 && items[0].from) return item(x, *items[0].from, at);
        for (Item& one : items)
            if (!one.is_range && one.from && !one.from->cell && !one.from->items.empty() && !is_none(*one.from)) {
                if (std::ranges::any_of(one.from->items, [](const Part& part) { return is_truth(part) || !part.cell; }))
                    throw FormulaError(message("a whole number is needed here"), one.from->begin);
                const std::size_t begin = one.from->begin;
                one.from = tensor_of(*one.from, begin);
                one.from->begin = begin;
            }
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
        std::optional<std::size_t> turned;  // where a slice goes backwards
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
                if (step == -1 && !item.from && !item.to) {  // NumPy's way of turning it round
                    const IndexedAxis back = axis_like(x.axes[n], size);
                    x = read_at(std::move(x), n++, back, number(static_cast<double>(size - 1)) - index(back.index));
                    turned = item.step->begin;
                    continue;
                }
                if (step < 1)
                    throw FormulaError(message("a step of a slice is above 0, as in PyTorch"), item.step->begin);
                if (to - from == size && (step == 1 || size == 0)) {
                    ++n;
                    continue;
                }
                const Index count = (to - from + step - 1) / step;
                const IndexedAxis part = part_of_axis(count);
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
        if (turned && !places.empty())  // NumPy puts the axes elsewhere then
            throw FormulaError(message("a step of a slice is above 0, as in PyTorch"), *turned);
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

// The table of names.txt.
const std::vector<Row>& TensorReader::rows() {
    using R = TensorReader;
    using Code = std::pair<std::string_view, Part (R::*)(Arguments&)>;
    static constexpr std::array kCodes{
        Code{"arange", &R::arange},
        Code{"are_equal", &R::are_equal},
        Code{"attention", &R::attention},
        Code{"clamped", &R::clamped},
        Code{"count_of_axes", &R::count_of_axes},
        Code{"count_of_numbers", &R::count_of_numbers},
        Code{"cross_entropy", &R::cross_entropy},
        Code{"cumulated", &R::cumulated},
        Code{"diagonal", &R::diagonal},
        Code{"diagonal_or_matrix", &R::diagonal_or_matrix},
        Code{"difference", &R::difference},
        Code{"eigenvalues", &R::eigenvalues},
        Code{"einsum", &R::einsum},
        Code{"determinant", &R::determinant},
        Code{"expanded", &R::expanded},
        Code{"filled", &R::filled},
        Code{"fourier", &R::fourier},
        Code{"flattened", &R::flattened},
        Code{"flip", &R::flip},
        Code{"full", &R::full},
        Code{"full_like", &R::full_like},
        Code{"gathered", &R::gathered},
        Code{"identity", &R::identity},
        Code{"inverse", &R::inverse},
        Code{"joined", &R::joined},
        Code{"kth", &R::kth},
        Code{"largest", &R::largest},
        Code{"length", &R::length},
        Code{"linear", &R::linear},
        Code{"made_of_list", &R::made_of_list},
        Code{"matmul", &R::matmul},
        Code{"matrix_power", &R::matrix_power},
        Code{"matrix_transpose", &R::matrix_transpose},
        Code{"median", &R::median},
        Code{"moved", &R::moved},
        Code{"narrowed", &R::narrowed},
        Code{"no_dropout", &R::no_dropout},
        Code{"norm", &R::norm},
        Code{"number_of_condition", &R::number_of_condition},
        Code{"of_one_shape", &R::of_one_shape},
        Code{"one_hot", &R::one_hot},
        Code{"one_number", &R::one_number},
        Code{"outer", &R::outer},
        Code{"padded", &R::padded},
        Code{"permute", &R::permute},
        Code{"pieces", &R::pieces},
        Code{"products", &R::products},
        Code{"pseudoinverse", &R::pseudoinverse},
        Code{"quantile", &R::quantile},
        Code{"rearranged", &R::rearranged},
        Code{"repeat_interleave", &R::repeat_interleave},
        Code{"repeated", &R::repeated},
        Code{"reshaped", &R::reshaped},
        Code{"reversed", &R::reversed},
        Code{"roll", &R::roll},
        Code{"scattered", &R::scattered},
        Code{"selected", &R::selected},
        Code{"singular_values", &R::singular_values},
        Code{"size", &R::size},
        Code{"sorted", &R::sorted},
        Code{"spread_and_mean", &R::spread_and_mean},
        Code{"squeeze", &R::squeeze},
        Code{"stacked", &R::stacked},
        Code{"stacked_along", &R::stacked_along},
        Code{"taken", &R::taken},
        Code{"tensordot", &R::tensordot},
        Code{"transpose", &R::transpose},
        Code{"triangle", &R::triangle},
        Code{"type_of", &R::type_of},
        Code{"typed", &R::typed},
        Code{"unbound", &R::unbound},
        Code{"unflattened", &R::unflattened},
        Code{"unsqueeze", &R::unsqueeze},
        Code{"values", &R::values},
        Code{"whole_number", &R::whole_number},
    };
    static const std::vector<Row> all = [] {
        constexpr std::string_view kText =
#include "engine/formulas/names.txt"
            ;
        std::vector<Row> read;
        for (const std::string& line : split(kText, "\n")) {
            if (line.empty() || line.starts_with('#')) continue;
            const std::size_t open = line.find('('), close = line.find("): ");
            Row row{.names = line.substr(0, open), .parameters = line.substr(open + 1, close - open - 1)};
            std::string what = line.substr(close + 3);
            if (what.starts_with("= ")) {
                const auto same = std::ranges::find_if(read, [&](const Row& one) {
                    return std::ranges::count(split(one.names, " "), what.substr(2)) > 0;
                });
                what = same->formula;
            }
            if (what.starts_with('@')) {
                const std::string name = what.substr(1, what.find(' ') - 1);
                row.code = std::ranges::find(kCodes, name, &Code::first)->second;
                what = what.find(' ') == std::string::npos ? "" : what.substr(name.size() + 2);
            }
            const bool is_words = what.starts_with("> "), is_meant = what.starts_with("? ");
            (is_words ? row.words : is_meant ? row.meant : row.formula) = is_words || is_meant ? what.substr(2) : what;
            read.push_back(std::move(row));
        }
        return read;
    }();
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
            close != tokens.end() && (close + 1)->word == "=" && (close + 1)->end - (close + 1)->begin == 1)
            return true;
    // Signs that only index notation needs mean nothing if no index stands there.
    const bool has_places = std::ranges::find(tokens, "[", &Token::word) != tokens.end();
    return std::ranges::any_of(tokens, [&](const Token& t) {
        const auto [head, below] = parted(t.word);
        if (t.kind == Kind::name)
            return letters_in(below) == 1 && (fold_named(head) || head == "count" || functions.contains(head));
        return t.kind == Kind::symbol && (t.word == "{" || t.word == "?" || t.word == ";" || t.word == "from" ||
                                          (has_places && static_cast<unsigned char>(text[t.begin]) >= 0x80));
    });
}

}  // namespace

Formula read_indexed(std::string_view text, const Known& known, const Functions& functions) {
    const TensorReader reader(text, {}, known, functions);
    return parse(text, functions, [&](const std::string& name, const std::vector<Expr>& in, std::size_t at) {
        return reader.of_numbers(name, in, at);
    });
}

Formula read(std::string_view text, const Known& known, const Functions& functions) {
    std::vector<Token> tokens = tokens_of(text, [&](std::string_view name) { return known.operands.contains(name); });
    if (is_index_notation(tokens, text, functions)) return read_indexed(text, known, functions);
    return TensorReader(text, std::move(tokens), known, functions).formula();
}

}  // namespace decoderscope::formulas
