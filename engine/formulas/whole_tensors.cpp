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
    std::string first{};  // the name of its first parameter: most often input
};

class TensorReader;
// A function of PyTorch or NumPy by its names; those after a dot are properties. It is a formula, in which k is the
// index along `dim` and n its size, and the result has that axis unless it may be kept (keepdim); or code.
struct Row {
    std::string names, parameters;  // with default values; an empty one may be left out
    std::string formula{};
    Part (TensorReader::*code)(Arguments&) = nullptr;
    bool nests = false;  // along one axis, then along the next, is along both: √(Σ_i √(Σ_j x²)²) = √(Σ_i Σ_j x²)
};

constexpr std::array kSameParameters{std::pair{"axis", "dim"}, std::pair{"keepdims", "keepdim"},
                                     std::pair{"unbiased", "correction"}, std::pair{"ddof", "correction"}};
constexpr std::array<std::string_view, 9> kModules{"torch", "F",    "nn",  "functional", "np",
                                                   "numpy", "math", "jnp", "special"};

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

// A row's operation, without what its default values do nothing in.
Expr without_defaults(Op op, const std::vector<Expr>& in, std::size_t at) {
    const auto second = in.size() > 1 ? literal(in[1]) : std::nullopt;
    const double infinite = std::numeric_limits<double>::infinity();
    if ((op == Op::add && second == 0.0) || (op == Op::multiply && second == 1.0) ||
        (op == Op::min && second == infinite) || (op == Op::max && second == -infinite))
        return in[0];
    if (op == Op::choose && as_condition(in[0])->is(Op::equal)) {
        const Expr condition = as_condition(in[0]);
        if (const auto a = literal((*condition)[0]), b = literal((*condition)[1]); a && b) return in[*a == *b ? 1 : 2];
    }
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
            Part x = i < a.all.size() ? tensor(a.all[i]) : a.all[0];
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

    Part matmul(Arguments& a) { return product(tensor(a_input(a)), tensor(a.by_name.at("other")), a.at); }
    Part linear(Arguments& a) {
        const Part& bias = tensor(a.by_name.at("bias"));
        const Part y = product(tensor(a_input(a)), swapped(tensor(a.by_name.at("weight")), -2, -1), a.at);
        return bias.axes.empty() ? y : applied_to(Op::add, {y, bias}, a.at);
    }
    Part transpose(Arguments& a) {
        const Part& x = tensor(a_input(a));
        const Index one = whole(a.by_name.at("dim0")), other = whole(a.by_name.at("dim1"));
        return is_axis_of_number(x, one) && is_axis_of_number(x, other) ? x : swapped(x, one, other);
    }
    Part matrix_transpose(Arguments& a) { return swapped(tensor(a_input(a)), -2, -1); }
    Part reversed(Arguments& a) {
        Part x = tensor(a_input(a));
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
        for (const IndexedAxis& axis : x.axes) count *= axis.dim.size;
        for (const Part& size : given)
            if (whole(size) > 0) known = limits::count_of({known, whole(size)}).value_or(0);
        std::vector<IndexedAxis> axes;
        Index made = 1;
        for (const Part& part : given) {
            const bool is_rest = whole(part) == -1 && known > 0;
            axes.push_back(is_rest ? axis_of_size(std::to_string(count / known), count / known) : axis_as_given(part));
            made = limits::count_of({made, axes.back().dim.size}).value_or(0);
        }
        if (made != count || count == 0)
            throw FormulaError(message("{operand} can't have these axes: it has {count} numbers",
                                       {{"operand", shown(x)}, {"count", count}}),
                               a.at);
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
            if (!is_new) x = at_index(x, n, number(0.0));
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
        const Part& where = tensor(a.by_name.at("index"));
        const std::size_t along = position(x, whole(a.by_name.at("dim")), a.at);
        if (where.axes.size() != x.axes.size())
            throw FormulaError(message("{function} needs tensors with as many axes as {operand}",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               where.begin);
        Part result{.axes = where.axes};
        for (std::size_t n = 0; n < result.axes.size(); ++n) {
            if (n != along && result.axes[n].dim.size > x.axes[0].dim.size)
                fail_to_fit(x.axes[0].dim, shown(a_input(a)), where.axes[n].dim, shown(where), where.begin);
            x = at_index(x, 0, n == along ? where.cell : index(where.axes[n].index));
        }
        result.cell = x.cell;
        return result;
    }
    Part arange(Arguments& a) {
        const IndexedAxis axis = axis_as_given(tensor(a.by_name.at("end")));
        return {.axes = {axis}, .cell = index(axis.index)};
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
        Part values = called("np", {.function = a.function, .at = a.at, .by_name = a.by_name});
        if (!a.by_name.contains("dim")) return values;
        return {.items = {values, called("", {.function = "arg" + a.function, .at = a.at, .by_name = a.by_name})}};
    }
    Part values(Arguments& a) { return item(a_input(a), number_part(0.0), a.at); }

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
        const Index count = std::max<Index>(whole(size), 0);
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
        for (const std::string& word : split(row.parameters, ", ")) {
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
        if (!any && a.all.size() > parameters.size())
            throw FormulaError(message_n("{function} takes {count} operand", "{function} takes {count} operands",
                                         parameters.size(), {{"function", a.function}}),
                               a.at);
        for (std::size_t i = 0; i < std::min(a.all.size(), parameters.size()); ++i)
            if (!is_none(a.all[i])) a.by_name[parameters[i]] = a.all[i];
        for (const auto& [name, part] : a.by_name)
            if (std::ranges::find(parameters, name) == parameters.end())
                throw FormulaError(with_nearest(message("{function} has no “{parameter}”",
                                                        {{"function", a.function}, {"parameter", name}}),
                                                name, parameters),
                                   part.begin);
        for (const std::string& name : parameters) {
            const auto default_value = defaults.find(name);
            if (a.by_name.contains(name)) continue;
            if (default_value == defaults.end())
                throw FormulaError(
                    message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", name}}), a.at);
            if (!default_value->second.empty())
                a.by_name[name] = {.cell = parse("d = " + default_value->second).main.body};
        }
        return parameters;
    }
    [[nodiscard]] static bool is_none(const Part& x) { return x.quoted == "None"; }

    [[nodiscard]] Part by_formula(const Row& row, const std::vector<std::string>& parameters, const Arguments& a) {
        const bool along = row.parameters.find("dim") != std::string::npos;
        if (along && a.by_name.contains("dim") && !a.by_name.contains("normalized_shape") && a_input(a).axes.empty()) {
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
        const Expr body = parse_function(head + ") = " + row.formula, functions_).main.body;
        const std::size_t own = parts[0].axes.size();
        broadcast(parts, a.at);
        Part result{.axes = parts[0].axes};
        const auto put_in = [&](const IndexedAxis* axis) {
            std::map<std::string, Expr, std::less<>> cells;
            for (std::size_t i = 0; i < parts.size(); ++i) cells[of_parts[i]] = parts[i].cell;
            if (axis != nullptr) cells["n"] = size_of(*axis);
            return put(body, cells, axis, a.at);
        };
        if (!along) {
            result.cell = put_in(nullptr);
            return result;
        }
        std::vector<std::size_t> dims;
        const auto given = a.by_name.find("dim");
        if (given == a.by_name.end())
            for (std::size_t i = 0; i < own; ++i) dims.push_back(i);
        else if (given->second.items.empty())
            dims.push_back(position(a_input(a), whole(given->second), a.at));
        else
            for (const Part& dim : given->second.items) dims.push_back(position(a_input(a), whole(dim), a.at));
        std::ranges::sort(dims);
        dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
        const bool reduces = row.parameters.find("keepdim") != std::string::npos;
        const bool repeatable = row.nests || (body->as<Reduce>() != nullptr && !body->is(Fold::argmax));
        if (dims.size() != 1 && !repeatable)
            throw FormulaError(message("{function} needs one axis", {{"function", a.function}}), a.at);
        const bool keeps = reduces && whole(a.by_name.at("keepdim")) != 0;
        for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
            const std::size_t n = *dim + result.axes.size() - own;
            const IndexedAxis axis = parts[0].axes[n];
            if (!written_axis(axis).empty() && any_node(body, [](const Expr& e) { return e->as<Call>() != nullptr; }))
                for (Part& x : parts)
                    if (&x == &parts[0] || x.cell->indices.contains(axis.index)) x = sub_result(x);
            parts[0].cell = put_in(&axis);
            if (!reduces) break;
            result.axes[n] = axis_of_size("1", 1);
        }
        result.cell = parts[0].cell;
        if (reduces && !keeps)
            for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim)
                result.axes.erase(result.axes.begin() + static_cast<std::ptrdiff_t>(*dim));
        return result;
    }
    void check_last_axis(const Part& shape, const Arguments& a) const {
        const Part& size = shape.items.size() == 1 ? shape.items[0] : shape;
        const Part& x = tensor(a_input(a));
        if (whole(size) != x.axes[position(x, -1, a.at)].dim.size)
            throw FormulaError(message("{function} needs the size of the last axis of {operand}",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               shape.begin);
    }
    static const Part& a_input(const Arguments& a) { return a.by_name.at(a.first); }

    // The row's formula with cells for its parameters, and for its k the axis' index.
    [[nodiscard]] Expr put(const Expr& body, const std::map<std::string, Expr, std::less<>>& cells,
                           const IndexedAxis* axis, std::size_t at) const {
        const std::string along = axis != nullptr ? axis->index : "";
        const auto rule = [&](const Expr& e) -> Expr {
            const auto* cell = e->as<CellOf>();
            const auto* c = e->as<Constant>();
            const auto found = cells.find(cell != nullptr ? cell->name : c != nullptr ? c->name : "");
            if (found != cells.end())
                return cell != nullptr ? substitute(found->second, {{along, (*e)[0]}}) : found->second;
            if (const auto* reduce = e->as<Reduce>())
                return node(Reduce{reduce->fold, along.substr(along.size() - 1), written_axis(*axis), std::nullopt},
                            e->children, at);
            if (const auto* operation = e->as<Apply>()) return without_defaults(operation->op, e->children, at);
            return node(e->what, e->children, at);
        };
        return rewrite(substitute(body, {{"k", index(along)}}), rule, {along});
    }

    [[nodiscard]] Part text_as_number(const Part& x) const {
        const bool minus = x.quoted.starts_with("-");
        const double infinite = std::numeric_limits<double>::infinity();
        if (x.quoted.ends_with("inf")) return number_part(minus ? -infinite : infinite, x.begin, x.end);
        if (x.quoted == "none" || x.quoted == "tanh")
            return number_part(x.quoted == "tanh" ? 1.0 : 0.0, x.begin, x.end);
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
            left = found->word == "@" ? product(tensor(left), tensor(right), at)
                                      : applied_to(found->op, {left, right}, at);
            left = spanning(std::move(left), begin);
            if (level == kComparison) return left;
        }
    }
    Part unary() {
        const Nesting nesting(*this);
        const std::size_t begin = here().begin;
        const bool minus = take("−");
        if (!minus && !take("~")) return power();
        Part x = applied_to(minus ? Op::negate : Op::negation, {unary()}, begin);
        return spanning(std::move(x), begin);
    }
    Part power() {
        Part base = continued(primary());
        const std::size_t at = here().begin;
        if (!take("^")) return base;
        Part x = applied_to(Op::power, {base, unary()}, at);
        return spanning(std::move(x), base.begin);
    }

    // The word as it is written: "sqrt" and "where" are signs of index notation, and functions here.
    [[nodiscard]] std::string written_word() const {
        const std::string_view word = text_.substr(here().begin, here().end - here().begin);
        const bool is_sign = here().kind == Kind::symbol && (word == "sqrt" || word == "where");
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
        if (word == "True" || word == "False") return number_part(word == "True" ? 1.0 : 0.0);
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
        while (!take(")")) {
            const bool named = here().kind == Kind::name && at_ + 1 < tokens_.size() && tokens_[at_ + 1].word == "=" &&
                               tokens_[at_ + 1].end - tokens_[at_ + 1].begin == 1;
            std::string name = named ? here().word : "";
            if (named) at_ += 2;
            for (const auto& [other, same] : kSameParameters)
                if (name == other) name = same;
            Part x = expression();
            if (!named)
                a.all.push_back(std::move(x));
            else if (!is_none(x))
                a.by_name[name] = std::move(x);
            if (!is(")")) need(",");
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
            std::optional<Part> from{}, to{};
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
                if (item.is_range && !is(",") && !is("]")) item.to = expression();
                return item;
            },
            "]");
        if (!x.items.empty() && items.size() == 1 && items[0].from) return item(x, *items[0].from, at);
        const auto consumed = std::ranges::count_if(
            items, [](const Item& i) { return i.is_range || !(i.is_rest || (i.from && is_none(*i.from))); });
        if (consumed > static_cast<std::ptrdiff_t>(tensor(x).axes.size()))
            throw FormulaError(message("{operand} has fewer axes than these indices", {{"operand", shown(x)}}), at);
        std::size_t rest = x.axes.size() - static_cast<std::size_t>(consumed), n = 0;
        const auto inserted = [&](const std::vector<IndexedAxis>& axes) {
            x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n), axes.begin(), axes.end());
            n += axes.size();
        };
        for (const Item& item : items) {
            if (item.is_rest) {
                n += std::exchange(rest, 0);
            } else if (item.is_range) {
                const Index size = x.axes[n].dim.size;
                const Index from = item.from ? std::clamp<Index>(from_front(whole(*item.from), size), 0, size) : 0;
                const Index to = item.to ? std::clamp<Index>(from_front(whole(*item.to), size), from, size) : size;
                if (to - from == size) {
                    ++n;
                    continue;
                }
                const IndexedAxis part = axis_of_size(std::to_string(to - from), to - from);
                x = at_index(
                    x, n, from == 0 ? index(part.index) : index(part.index) + number(static_cast<double>(from)), true);
                inserted({part});
            } else if (is_none(*item.from)) {
                inserted({axis_of_size("1", 1)});
            } else {
                Part where = tensor(*item.from);
                if (const auto place = literal(where.cell)) {
                    const Index from = from_front(whole(where), x.axes[n].dim.size);
                    if (from < 0 || from >= x.axes[n].dim.size)
                        throw FormulaError(
                            message("{axis} of {operand} has no place {place}",
                                    {{"axis", x.axes[n].dim.axis}, {"operand", shown(x)}, {"place", whole(where)}}),
                            where.begin);
                    where.cell = number(static_cast<double>(from));
                }
                x = at_index(x, n, where.cell);
                inserted(where.axes);
            }
        }
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
        {"add", "input, other", "input + other"},
        {"sub subtract", "input, other", "input − other"},
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
        {"clamp clip", "input, min=−∞, max=∞", "min(max(input, min), max)"},
        {"where", "condition, input, other", "condition ? input : other"},
        {"masked_fill", "input, mask, value", "mask ? value : input"},
        {"gelu", "input, approximate=0", "approximate = 0 ? gelu(input) : gelu_tanh(input)"},
        {"leaky_relu", "input, negative_slope=0.01", "input > 0 ? input : negative_slope · input"},
        {"eq equal", "input, other", "input = other"},
        {"ne not_equal", "input, other", "input ≠ other"},
        {"lt less", "input, other", "input < other"},
        {"le less_equal", "input, other", "input ≤ other"},
        {"gt greater", "input, other", "input > other"},
        {"ge greater_equal", "input, other", "input ≥ other"},
        {"detach", "input", "stop(input)"},
        {"float double contiguous clone", "input", "input"},
        {"softmax", "input, dim", "softmax_k(input[k])"},
        {"log_softmax", "input, dim", "input[k] − log_sum_exp_k(input[k])"},
        {"logsumexp", "input, dim, keepdim=0", "log_sum_exp_k(input[k])"},
        {"sum", "input, dim=, keepdim=0", "Σ_j input[j]"},
        {"mean", "input, dim=, keepdim=0", "mean_j input[j]"},
        {"max min", "input, dim=, keepdim=0", {}, &R::largest},
        {"amax np.max", "input, dim=, keepdim=0", "max_j input[j]"},
        {"amin np.min", "input, dim=, keepdim=0", "min_j input[j]"},
        {"argmax", "input, dim=, keepdim=0", "argmax_j input[j]"},
        {"argmin", "input, dim=, keepdim=0", "argmax_j (−input[j])"},
        {"var", "input, dim, correction=1, keepdim=0",
         "correction = 0 ? variance_k(input[k]) : variance_k(input[k]) · n / (n − correction)"},
        {"std", "input, dim, correction=1, keepdim=0",
         "correction = 0 ? √(variance_k(input[k])) : √(variance_k(input[k]) · n / (n − correction))"},
        {"np.var", "input, dim, keepdim=0", "variance_k(input[k])"},
        {"np.std", "input, dim, keepdim=0", "√(variance_k(input[k]))"},
        {"layer_norm", "input, normalized_shape, weight=1, bias=0, eps=0.00001, dim=−1",
         "(input[k] − mean_j input[j]) / √(variance_k(input[k]) + eps) · weight[k] + bias[k]"},
        {"rms_norm", "input, normalized_shape, weight=1, eps=0.00000011920928955078125, dim=−1",
         "input[k] / √((mean_j input[j]²) + eps) · weight[k]"},
        {"norm np.linalg.norm", "input, p=2, dim=, keepdim=0",
         "p = 2 ? √(Σ_j input[j]²) : (Σ_j abs(input[j])^p)^(1 / p)", nullptr, true},
        {"cosine_similarity", "x1, x2, dim=1, keepdim=0",
         "(Σ_k x1[k] · x2[k]) / max(√(Σ_k x1[k]²) · √(Σ_k x2[k]²), 0.00000001)"},
        {"einsum", "equation, …", {}, &R::einsum},
        {"matmul bmm mm dot", "input, other", {}, &R::matmul},
        {"linear", "input, weight, bias=0", {}, &R::linear},
        {"transpose swapaxes", "input, dim0, dim1", {}, &R::transpose},
        {".mT", "input", {}, &R::matrix_transpose},
        {".T np.transpose t", "input", {}, &R::reversed},
        {"permute", "input, …", {}, &R::permute},
        {"unsqueeze expand_dims", "input, dim", {}, &R::unsqueeze},
        {"squeeze", "input, dim", {}, &R::squeeze},
        {"repeat_interleave", "input, repeats, dim", {}, &R::repeat_interleave},
        {"cat concat concatenate", "tensors, dim=0", {}, &R::joined},
        {"view reshape", "input, …", {}, &R::reshaped},
        {"gather", "input, dim, index", {}, &R::gathered},
        {"take_along_dim take_along_axis", "input, index, dim", {}, &R::gathered},
        {"expand broadcast_to", "input, …", {}, &R::expanded},
        {"ones zeros", "size, …", {}, &R::filled},
        {"tril triu", "input, diagonal=0", {}, &R::triangle},
        {"arange", "end", {}, &R::arange},
        {"size .shape", "input, dim=", {}, &R::size},
        {".values", "input", {}, &R::values}};
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
