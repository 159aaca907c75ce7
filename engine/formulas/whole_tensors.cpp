#include "engine/formulas/whole_tensors.h"

#include "engine/formulas/tensor_reader.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <limits>
#include <numbers>

namespace decoderscope::formulas {

namespace {

constexpr std::array kSameParameters{std::pair{"axis", "dim"},
                                     std::pair{"keepdims", "keepdim"},
                                     std::pair{"unbiased", "correction"},
                                     std::pair{"ddof", "correction"},
                                     std::pair{"ord", "p"},
                                     std::pair{"a_min", "min"},
                                     std::pair{"a_max", "max"},
                                     std::pair{"axis1", "dim1"},
                                     std::pair{"axis2", "dim2"},
                                     std::pair{"shift", "shifts"},
                                     std::pair{"method", "interpolation"},
                                     std::pair{"shape", "size"},
                                     std::pair{"newshape", "size"},
                                     std::pair{"pad_width", "pad"},
                                     std::pair{"constant_values", "value"}};
constexpr std::array<std::string_view, 16> kModules{
    "jax",  "fft", "torch",   "F",      "nn",     "functional", "np",    "numpy",
    "math", "jnp", "special", "linalg", "einops", "scipy",      "stats", "distributions"};
struct PythonOperator {
    std::string_view word;
    int level;
    Op op;  // "@" has none
};
constexpr int kComparison = 3, kJoined = 4, kProduct = 8, kUnary = 9;
constexpr PythonOperator kOperators[] = {
    {"or", 0, Op::either},    {"and", 1, Op::both},      {"=", 3, Op::equal},    {"≠", 3, Op::not_equal},
    {"<", 3, Op::less},       {"≤", 3, Op::less_equal},  {">", 3, Op::greater},  {"≥", 3, Op::greater_equal},
    {"|", 4, Op::either},     {"&", 5, Op::both},        {"<<", 6, Op::stop},    {">>", 6, Op::stop},
    {"+", 7, Op::add},        {"−", 7, Op::subtract},    {"·", 8, Op::multiply}, {"/", 8, Op::divide},
    {"div", 8, Op::quotient}, {"mod", 8, Op::remainder}, {"@", 8, Op::stop}};
// What are operations of conditions, or of the bits of whole numbers.
constexpr std::array kBitFunctions{std::pair{"&", "bitwise_and"}, std::pair{"|", "bitwise_or"},
                                   std::pair{"^", "bitwise_xor"}, std::pair{"~", "bitwise_not"}};

}  // namespace

Formula TensorReader::formula() {
    std::string name = "y";
    for (int i = 2; known_.operands.contains(name); ++i) name = "y" + std::to_string(i);
    const std::string own = name;
    Part result;
    do {  // m = x.mean(-1); x - m[..., None]
        if (result.cell || !result.items.empty()) names_[name] = result;
        if (names_.contains(name) && std::ranges::find(tokens_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                       tokens_.end(), name, &Token::word) == tokens_.end())
            fail(
                message("what stands before “;” has a name, and is read behind it: m = x.mean(-1); x.max(-1).values - "
                        "m"));
        name = own;
        const Token& sign = tokens_[std::min(at_ + 1, tokens_.size() - 1)];
        if (here().kind == Kind::name && sign.word == "=" && sign.end - sign.begin == 1) {
            name = here().word;
            if (known_.operands.contains(name))
                fail(message("“{name}” is an operand already: give the result another name, or write == to compare",
                             {{"name", name}}));
            at_ += 2;
        }
        result = expression();
    } while (take(";") && here().kind != Kind::end);
    need_end();
    if (!result.cell && !result.items.empty() &&
        (text_of(result).starts_with('[') ||
         std::ranges::all_of(result.items, [&](const Part& x) { return known(x).has_value(); })))
        result = tensor_of(result, 0);  // x.shape
    result = tensor(result);
    Formula formula{.main = definition_of(name, result, false)};
    formula.wheres = wheres();
    return formula;
}

OtherFunctions TensorReader::functions_of_indices() {
    return {.has =
                [this](const std::string& name, bool along) {
                    const std::optional<Row> row = row_named(known_as(name));
                    return row && (row->parameters.find("dim") != std::string::npos) == along &&
                           (along || !row->formula.empty());
                },
            .call =
                [this](const std::string& written, const std::vector<LeftIndex>& over, const std::vector<Expr>& in,
                       std::size_t at) {
                    const std::string name = known_as(written);
                    for (const auto& [word, what] : kBitFunctions)
                        if (name == what) return bits(word, {.cell = in[0]}, {.cell = in.back()}, at).cell;
                    return over.empty() ? of_numbers(name, in, at) : along(name, over, in, at);
                }};
}

std::vector<Definition> TensorReader::wheres() const {
    std::vector<Definition> all;
    for (const auto& [part, where] : wheres_) all.push_back(definition_of(part, where, true));
    return all;
}

std::optional<Dim> TensorReader::axis_read(const Expr& e, const std::string& index) const {
    std::optional<Dim> found;
    for_each(e, [&](const Expr& x) {
        const auto* cell = x->as<CellOf>();
        if (cell == nullptr || found) return;
        const auto operand = known_.operands.find(cell->name);
        const auto where = wheres_.find(cell->name);
        for (std::size_t i = 0; i < x->children.size(); ++i) {
            const auto* at = (*x)[i]->as<FreeIndex>();
            if (at == nullptr || at->name != index) continue;
            if (operand != known_.operands.end() && i < operand->second.size()) found = operand->second[i];
            if (where != wheres_.end() && i < where->second.axes.size()) found = where->second.axes[i].dim;
        }
    });
    return found;
}

Expr TensorReader::along(const std::string& name, const std::vector<LeftIndex>& over, const std::vector<Expr>& in,
                         std::size_t at) {
    Part x{.cell = as_number(in.at(0))};
    std::vector<std::string> names;
    for (const std::string& free : x.cell->indices)
        if (std::ranges::find(over, free, &LeftIndex::name) == over.end())
            if (const auto dim = axis_read(x.cell, free)) {
                x.axes.push_back({.dim = *dim, .index = free});
                names.push_back(free);
            }
    Arguments a{.function = name, .at = at};
    for (const LeftIndex& i : over) {
        const auto written = numbers_.find(i.axis);
        const std::optional<Dim> dim = written == numbers_.end()
                                           ? axis_read(x.cell, i.name)
                                           : std::optional(Dim{i.axis, static_cast<Index>(written->second)});
        if (!dim)
            throw FormulaError(
                message("no operand says what {index} runs over: write its axis beside it, as in {example}",
                        {{"index", i.name}, {"example", name + "_{" + i.name + ": key}"}}),
                at);
        x.axes.push_back({.dim = *dim, .index = i.name});
        names.push_back(i.name);
    }
    const std::size_t outer = x.axes.size() - over.size();
    if (over.size() > 1) {  // as one axis
        std::vector<std::size_t> last;
        for (std::size_t n = outer; n < x.axes.size(); ++n) last.push_back(n);
        x = joined_at_end(std::move(x), last);
    }
    a.by_name["dim"] = number_part(-1.0);
    if (row_named(name)->parameters.find("normalized_shape") != std::string::npos)
        a.by_name["normalized_shape"] = {.items = {number_part(static_cast<double>(x.axes.back().dim.size))}};
    const Part given = x;
    a.all.push_back(std::move(x));
    for (std::size_t i = 1; i < in.size(); ++i) a.all.push_back({.cell = in[i]});
    Part y = called("", std::move(a));
    if (!y.cell && !y.items.empty()) y = Part(y.items[0]);  // values, not their places
    const bool is_row = over.size() == 1 && y.axes.size() == given.axes.size() &&
                        std::ranges::equal(y.axes, given.axes, {}, &IndexedAxis::size, &IndexedAxis::size);
    if (!tensor(y).cell || (!is_row && y.axes.size() != outer)) fail_of_whole(name, at);
    if (is_row && row_named(name)->formula.empty())
        y = sub_result(std::move(y));  // which says what the index runs over
    Replacements renamed;
    for (std::size_t i = 0; i < y.axes.size(); ++i) renamed.emplace_back(y.axes[i].index, index(names[i]));
    std::set<std::string> taken = y.cell->indices;
    taken.insert(names.begin(), names.end());
    for (const std::string& free : y.cell->indices)  // which a function reduces
        if (free[0] == '#' && std::ranges::find(y.axes, free, &IndexedAxis::index) == y.axes.end()) {
            renamed.emplace_back(free, index(fresh(free.substr(free.size() - 1), taken)));
            taken.insert(renamed.back().second->as<FreeIndex>()->name);
        }
    return as_condition(substitute(y.cell, renamed));
}

Expr TensorReader::of_numbers(const std::string& name, const std::vector<Expr>& in, std::size_t at) {
    const std::optional<Row> row = row_named(name);
    if (!row) fail_without_row(name, at);
    const bool is_of_tensors = row->formula.empty() && row->code != &TensorReader::clamped;
    if (is_of_tensors || row->parameters.find("dim") != std::string::npos) fail_of_whole(name, at);
    Arguments a{.function = name, .at = at};
    for (const Expr& e : in) a.all.push_back({.begin = at, .end = at, .cell = as_number(e)});
    return as_condition(called("", std::move(a)).cell);
}

void TensorReader::fail_of_whole(const std::string& name, std::size_t at) {
    throw FormulaError(message("{function} is a function of whole tensors: write it without indices, as in PyTorch",
                               {{"function", name}}),
                       at);
}

Part TensorReader::spanning(Part x, std::size_t begin) const {
    if (x.axes.size() > limits::kAxes)
        throw FormulaError(message("a tensor has at most {count} axes", {{"count", limits::kAxes}}), begin);
    x.begin = begin;
    x.end = tokens_[at_ - 1].end;
    return x;
}

Part TensorReader::expression() {
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
        throw FormulaError(message("“if” needs one condition, and the same axes on both sides: write where(…, …, …)"),
                           at);
    return spanning(applied_to(Op::choose, {condition, x, y}, at), begin);
}

Part TensorReader::chain(int level) {
    if (level == kUnary) return unary();
    if (level == kComparison - 1) {
        const Nesting nesting(*this);
        const std::size_t at = here().begin;
        return take("not") ? applied_to(Op::negation, {chain(level)}, at) : chain(kComparison);
    }
    Part left = chain(level + 1);
    for (;;) {
        if (level == kProduct && (is_factor_behind_number() || (is("‖") && !in_length_))) {  // 2(x + 1), ‖x‖ ‖y‖
            const std::size_t begin = left.begin, at = here().begin;
            left = spanning(applied_to_chosen(Op::multiply, {left, chain(level + 1)}, at), begin);
            continue;
        }
        const auto* found =
            std::ranges::find_if(kOperators, [&](const PythonOperator& o) { return o.level == level && is(o.word); });
        if (found == std::end(kOperators)) return left;
        const std::size_t begin = left.begin, at = tokens_[at_++].begin;
        Part right = chain(level + 1);
        if (level > kComparison && left.cell && right.cell && right.cell->is(Op::power) && !left.axes.empty() &&
            kind(left) != NumberKind::real && text_of(right)[0] != '(' && text_of(right).find('^') != std::string::npos)
            fail_of_caret(at);  // tokens % 2 ^ 1
        if (found->word == "@") {
            left = product(tensor(left), tensor(right), at);
        } else if (level >= kJoined && level <= kJoined + 2) {
            left = bits(found->word, left, right, at);
        } else {
            if ((found->op == Op::equal || found->op == Op::not_equal) && (is_none(left) || is_none(right))) {
                left = number_part((is_none(left) == is_none(right)) == (found->op == Op::equal) ? 1.0 : 0.0);
                continue;
            }
            if (found->op == Op::subtract && is_condition(left) && is_condition(right)) fail_of_minus(at);
            if (found->word == "·" && text_[at] != '*' && left.axes.size() > 1 && text_of(right).ends_with("ᵀ"))
                throw FormulaError(message("“·” multiplies number by number: write @ for a product of matrices"), at);
            const bool is_either = found->op == Op::add && is_condition(left) && is_condition(right);
            left = applied_to_chosen(is_either ? Op::either : found->op, {left, right}, at);
        }
        left = spanning(std::move(left), begin);
        if (level != kComparison) continue;
        if (std::ranges::any_of(kOperators, [&](const PythonOperator& o) { return o.level == level && is(o.word); }))
            fail(message("a comparison has two sides: write (a < x) & (x < b)"));
        return left;
    }
}

bool TensorReader::is_factor_behind_number() const {
    if (at_ == 0 || tokens_[at_ - 1].kind != Kind::number || text_[here().begin - 1] == '.') return false;
    const bool is_divisor = at_ > 1 && (tokens_[at_ - 2].word == "/" || tokens_[at_ - 2].word == "div" ||
                                        tokens_[at_ - 2].word == "mod" || tokens_[at_ - 2].word == "^");
    return !is_divisor &&
           (is("(") || is("√") || (here().kind == Kind::name && !is_word("if") && !is_word("else") && !is_word("for")));
}

Part TensorReader::unary() {
    const Nesting nesting(*this);
    const std::size_t begin = here().begin;
    if (take("+")) return unary();
    const bool minus = take("−");
    if (!minus && !take("~")) return power();
    const Part of = unary();
    if (!minus) return spanning(bits("~", of, of, begin), begin);
    if (is_condition(of)) fail_of_minus(begin);
    return spanning(applied_to_chosen(Op::negate, {of}, begin), begin);
}

Part TensorReader::bits(std::string_view word, const Part& a, const Part& b, std::size_t at) {
    if (is_condition(a) && is_condition(b) && word[0] != '<' && word[0] != '>') {
        if (word == "~") return applied_to_chosen(Op::negation, {a}, at);
        return applied_to_chosen(word == "&" ? Op::both : word == "|" ? Op::either : Op::not_equal, {a, b}, at);
    }
    const auto number = [&](const Part& x) {
        if (x.cell && !x.chosen && kind(x) == NumberKind::real)
            throw FormulaError(message("“{word}” needs comparisons, each in parentheses, or whole numbers: write "
                                       "(x != 0) for others",
                                       {{"word", word}}),
                               at);
        return called("", {.function = "float", .at = at, .all = {x}});
    };
    // Bit by bit, the last of them for the sign.
    const std::string common =
        "p = 2 ** arange(52); c = (asarray(a)[..., None] // p % 2 * (asarray(b)[..., None] // p % 2) * p).sum(-1) - "
        "2 ** 52 * where(a < 0, where(b < 0, 1, 0), 0); ";
    const std::string words = word == "&"    ? common + "c.long()"
                              : word == "|"  ? common + "(a + b - c).long()"
                              : word == "^"  ? common + "(a + b - 2 * c).long()"
                              : word == "~"  ? "-a - 1"
                              : word == "<<" ? "(a * 2 ** b).long()"
                                             : "(a // 2 ** b).long()";
    return said(words, {{"a", number(a)}, {"b", number(b)}}, at);
}

void TensorReader::fail_of_caret(std::size_t at) {
    throw FormulaError(message("“^” is of bits here: put what it joins into parentheses, or write x ** 2"), at);
}

void TensorReader::fail_of_minus(std::size_t at) {
    throw FormulaError(
        message("“{word}” needs numbers: write .float() after a comparison to count it as 1 or 0", {{"word", "−"}}),
        at);
}

Part TensorReader::power() {
    const std::size_t first = at_;
    Part base = continued(primary());
    const std::size_t at = here().begin;
    for (const auto& [sign, exponent] : {std::pair{"²", 2.0}, std::pair{"³", 3.0}, std::pair{"⁴", 4.0}})
        if (take(sign)) {
            Part raised = applied_to_chosen(Op::power, {base, number_part(exponent)}, at);
            base = spanning(std::move(raised), base.begin);
        }
    const bool is_caret = at < text_.size() && text_[at] == '^';
    if (!take("^")) return base;
    if (is_caret && is_word("T") && !known_.operands.contains("T") && !numbers_.contains("T")) {  // k^T
        ++at_;
        return spanning(swapped(tensor(base), -2, -1), base.begin);
    }
    Part exponent = unary();
    const bool is_whole = base.cell && !base.axes.empty() && kind(base) != NumberKind::real;
    if (is_caret && is_whole) {  // Python's, looser than all these
        const auto binds = [](const Token& t) {
            constexpr std::array<std::string_view, 10> kTighter{"+", "−", "·", "/", "div", "mod", "@", "&", "<<", ">>"};
            return t.kind == Kind::symbol && std::ranges::find(kTighter, t.word) != kTighter.end();
        };
        if ((first > 0 && binds(tokens_[first - 1])) || binds(here())) fail_of_caret(at);
        return spanning(bits("^", base, exponent, at), base.begin);
    }
    return spanning(applied_to_chosen(Op::power, {base, exponent}, at), base.begin);
}

std::string TensorReader::written_word() const {
    const std::string_view word = text_.substr(here().begin, here().end - here().begin);
    const bool is_sign =
        here().kind == Kind::symbol && (word == "sqrt" || word == "where" || word == "div" || word == "mod");
    return here().kind == Kind::name ? here().word : is_sign ? std::string(word) : "";
}

Part TensorReader::primary() {
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
        const bool has_order = here().kind == Kind::name && (here().word[0] == '_' || here().word == "₂");  // |x|_2
        return spanning(has_order ? called("", {.function = "norm", .at = token.begin, .all = {x, order_of_norm()}})
                                  : applied_to(Op::abs, {x}, token.begin),
                        token.begin);
    }
    if (is("‖") || text_.substr(token.begin).starts_with("||")) {
        ++at_;
        in_length_ = true;
        Part x = chain(kJoined + 1);
        in_length_ = false;
        need(token.word);
        return spanning(called("", {.function = "norm", .at = token.begin, .all = {x, order_of_norm()}}), token.begin);
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
    if (token.word == "jax" && module == "nn") module.clear();  // whose functions take the last axis, too
    const std::size_t at = tokens_[at_ - 1].begin;
    std::string way;  // np.add.reduce, np.subtract.outer
    if (module == "np" && is(".") && tokens_[at_ + 1].kind == Kind::name) {
        way = tokens_[at_ + 1].word;
        if (way != "outer") word += "." + way;
        at_ += 2;
    }
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
    const bool is_before = (here().kind == Kind::name && !is_word("if") && !is_word("else") && !is_word("for")) ||
                           (is("√") && text_[here().begin] == 's');  // log softmax(x)
    const bool is_known = names_.contains(word) || known_.operands.contains(word) || numbers_.contains(word);
    if (!is("(") && (!is_before || is_known || !module.empty() || !row_named(word)))
        return spanning(named(word, at), token.begin);
    Arguments given{.function = word, .at = at};
    const bool has_brackets = is("(");
    if (has_brackets)
        given = arguments(std::move(given));
    else
        given.all.push_back(power());
    if (is("(") && word[0] >= 'A' && word[0] <= 'Z') return spanning(of_layer(std::move(given)), token.begin);
    given.function = word = known_as(word);
    const bool is_of_numbers = module.empty() && given.all.size() > 1 && given.all[0].cell && given.all[0].axes.empty();
    if (is_of_numbers && (word == "max" || word == "min")) given.function += "imum";  // Python's own
    if (module.empty() && word == "sum" && given.all.size() == 1 && given.by_name.empty()) {
        if (given.all[0].axes.size() > 1 && has_brackets)
            throw FormulaError(message("Python's sum adds up along the first axis: write x.sum(0), or x.sum() for all "
                                       "numbers"),
                               at);
        if (!given.all[0].cell)
            given = {.function = word, .at = at, .all = {tensor_of(given.all[0], at), number_part(0.0)}};
    }
    if (module.empty() && word == "round") module = "np";
    constexpr std::array<std::string_view, 6> kOfLists{"any", "all", "max", "min", "prod", "sorted"};
    if ((module.empty() || module == "math") && given.all.size() == 1 && !given.all[0].cell &&
        given.all[0].quoted.empty() && std::ranges::find(kOfLists, word) != kOfLists.end())
        given.all[0] = tensor_of(given.all[0], at);
    if (way == "outer" && given.all.size() == 2) {
        for (Part& one : given.all) one = tensor_of(one, at);
        for (std::size_t i = 0; i < given.all[1].axes.size(); ++i) given.all[0].axes.push_back(axis_of_size("1", 1));
    }
    const auto is_new = [&] {
        return std::ranges::none_of(
            rows(), [&](const Row& row) { return std::ranges::count(split(row.names, " "), word) > 0; });
    };
    for (const char* other : {"plain", "np", "linalg", "stats", "special"})  // as it is imported
        if (module.empty() && row_named(std::string(other) + "." + word) && (other[0] == 'p' || is_new()))
            module = other;
    return spanning(called(module, std::move(given)), token.begin);
}

Part TensorReader::order_of_norm() {
    const std::string word = here().kind == Kind::name ? here().word : "";
    double order = 2.0;
    if (word == "_" && tokens_[at_ + 1].kind == Kind::number)
        order = tokens_[++at_].value;
    else if (word == "₁" || word == "₂")
        order = word == "₁" ? 1.0 : 2.0;
    else if (word == "_inf")
        order = std::numeric_limits<double>::infinity();
    else if (word.size() == 2 && word[0] == '_' && word[1] >= '0' && word[1] <= '9')
        order = word[1] - '0';
    else if (word != "_F")
        return number_part(order);
    ++at_;
    return number_part(order);
}

Part TensorReader::of_layer(Arguments layer) {
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
    if (std::ranges::any_of(rows(), [&](const Row& row) {
            return !row.meant.empty() && std::ranges::count(split(row.names, " "), layer.function) > 0;
        }))
        fail_without_row(layer.function, layer.at);
    const std::string own = "nn." + layer.function;
    if (row_named(own)) known.assign(1, layer.function);
    const auto found = std::ranges::find_if(known, [&](const std::string& name) {
        return plain(name, false) == plain(layer.function, false) || plain(name, true) == plain(layer.function, true);
    });
    if (found == known.end()) fail_without_row(layer.function, layer.at);
    if (!layer.all.empty() && plain(*found, false).ends_with("norm") && layer.all[0].cell)
        layer.all[0] = {.items = {layer.all[0]}};
    Arguments given = arguments({.function = *found, .at = layer.at});
    given.all.insert(given.all.end(), layer.all.begin(), layer.all.end());
    for (const auto& [name, part] : layer.by_name) given.by_name.emplace(name, part);
    return called(row_named(own) ? "nn" : "", std::move(given));
}

Part TensorReader::named(const std::string& word, std::size_t at) {
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
    if (row_named(word) && !is("."))
        throw FormulaError(
            message("“{name}” is a function: write what it takes in parentheses, as in {name}(x)", {{"name", word}}),
            at);
    if (here().kind == Kind::quoted)
        throw FormulaError(message("a text is no number: write only what stands between its braces"), at);
    std::vector<std::string> known;
    for (const auto& [name, shape] : known_.operands) known.push_back(name);
    for (const auto& [name, value] : numbers_) known.push_back(name);
    // With all that is written of it, and without what TransformerLens calls a place to read: blocks.0.attn.hook_z.
    const auto is_of_name = [](char c) {
        return c == '_' || c == '.' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    };
    const std::string_view rest = text_.substr(std::min(at + word.size(), text_.size()));
    const auto end = std::ranges::find_if_not(rest, is_of_name);
    std::string name = word + std::string(rest.begin(), end);
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && ((end != rest.end() && *end == '(') || row_named(name.substr(dot))))
        name.resize(dot);
    std::string plain = name;
    if (const std::size_t hook = plain.find("hook_"); hook != std::string::npos) plain.erase(hook, 5);
    fail_with_meant(message("there is no operand “{name}”", {{"name", name}}), plain, known, at);
}

Part TensorReader::list() {
    const std::size_t begin = here().begin;
    const std::string close = is("(") ? ")" : "]";
    ++at_;
    if (const auto loop = loop_in_list()) return spanning(repeated_for(*loop, close), begin);
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

std::optional<std::size_t> TensorReader::loop_in_list() const {
    for (std::size_t at = at_, open = 0; at + 2 < tokens_.size(); ++at) {
        const std::string& word = tokens_[at].word;
        const bool opens = word == "(" || word == "[", closes = word == ")" || word == "]";
        if (closes && open == 0) break;
        open = opens ? open + 1 : closes ? open - 1 : open;
        if (open == 0 && word == "for" && tokens_[at + 1].kind == Kind::name) return at;
    }
    return std::nullopt;
}

Index TensorReader::count_in(const Part& x) const {
    return x.cell ? tensor(x).axes.at(position(x, 0, x.begin)).dim.size : std::ssize(x.items);
}

Part TensorReader::part_in(const Part& x, Index i) {
    return x.cell ? at_index(x, 0, number(static_cast<double>(i))) : x.items[static_cast<std::size_t>(i)];
}

Part TensorReader::repeated_for(std::size_t loop, const std::string& close) {
    Part x;
    const Parts outer = names_;
    const std::size_t end = repeat_for(at_, loop, loop, x);
    names_ = outer;
    at_ = end;
    need(close);
    return x;
}

std::size_t TensorReader::repeat_for(std::size_t first, std::size_t loop, std::size_t here, Part& to) {
    at_ = here + 1;
    std::vector<std::string> names;
    do names.push_back(need_name().word);
    while (take(","));
    if (!take_word("in")) need("in");
    const Part over = chain(0);
    const std::size_t rest = at_;
    std::size_t end = rest;  // of this list
    for (std::size_t open = 0; end + 1 < tokens_.size(); ++end) {
        const std::string& word = tokens_[end].word;
        if ((word == ")" || word == "]") && open-- == 0) break;
        open += word == "(" || word == "[" ? 1 : 0;
    }
    for (Index i = 0; i < count_in(over); ++i) {
        if (++repeats_ > limits::kFormulaDepth * 4)
            throw FormulaError(message("a list has at most {count} parts", {{"count", limits::kFormulaDepth * 4}}),
                               tokens_[loop].begin);
        const Part one = part_in(over, i);
        if (names.size() > 1 && count_in(one) != std::ssize(names))
            throw FormulaError(message("{operand} has not {count} parts, one for each name",
                                       {{"operand", clipped(text_of(over))}, {"count", names.size()}}),
                               tokens_[here].begin);
        for (std::size_t n = 0; n < names.size(); ++n)
            names_[names[n]] = names.size() == 1 ? one : part_in(one, static_cast<Index>(n));
        at_ = rest;
        bool holds = true;
        while (take_word("if")) {
            const Part condition = tensor(chain(0));
            const auto value = known(condition);
            if (!value) throw FormulaError(message("“if” needs a condition of known numbers here"), condition.begin);
            holds = holds && *value != 0.0;
        }
        if (holds && is_word("for")) {
            repeat_for(first, loop, at_, to);
        } else if (holds) {
            at_ = first;
            to.items.push_back(expression());
            if (at_ != loop) need("for");
        }
    }
    return end;
}

Arguments TensorReader::arguments(Arguments a) {
    need("(");
    if (const auto loop = loop_in_list()) {  // sum(x[h] for h in range(4))
        a.all.push_back(repeated_for(*loop, ")"));
        return a;
    }
    const std::string_view last = std::string_view(a.function).substr(a.function.rfind('_') + 1);
    if (last == "KL" || last == "kl" || last == "JS" || last == "js") {  // D_KL(p ‖ q)
        std::vector<Token*> bars;
        for (std::size_t n = at_, open = 1; n < tokens_.size() && open > 0; ++n) {
            open += tokens_[n].word == "(" || tokens_[n].word == "[" ? 1 : 0;
            open -= tokens_[n].word == ")" || tokens_[n].word == "]" ? 1 : 0;
            if (open == 1 && (tokens_[n].word == "‖" || text_.substr(tokens_[n].begin).starts_with("||")))
                bars.push_back(&tokens_[n]);
        }
        if (bars.size() == 1) bars[0]->word = ",";
    }
    bool any_named = false;
    while (!take(")")) {
        const bool named = !written_word().empty() && at_ + 1 < tokens_.size() && tokens_[at_ + 1].word == "=" &&
                           tokens_[at_ + 1].end - tokens_[at_ + 1].begin == 1;
        std::string name = named ? written_word() : "";
        if (named) at_ += 2;
        const std::string given = name;
        if (!named && !any_named && is("·") && text_[here().begin] == '*' && take("·")) {  // f(*x.shape)
            for (Part& one : expression().items) a.all.push_back(std::move(one));
            need_comma_or(")");
            continue;
        }
        for (const auto& [other, same] : kSameParameters)
            if (name == other) name = same;
        a.as_in_numpy = a.as_in_numpy || given == "axis" || given == "keepdims";
        Part x = expression();
        if (name == "correction" && (given == "unbiased") != is_truth(x)) fail_of_truth(given, is_truth(x), x);
        any_named = any_named || named;
        if (name == "device" || name == "requires_grad" || name == "optimize" || name == "kind" ||
            name == "elementwise_affine") {
            need_comma_or(")");
            continue;
        }
        if (name == "dtype") {
            a.dtype = type_called(x.quoted);
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
            throw FormulaError(
                message("{function} is given “{parameter}” twice", {{"function", a.function}, {"parameter", given}}),
                x.begin);
        need_comma_or(")");
    }
    return a;
}

bool TensorReader::is_arrays_method(const Arguments& a) const {
    constexpr std::array<std::string_view, 7> kMore{"round", "dot", "ptp", "trace", "take", "cumsum", "cumprod"};
    if (std::ranges::find(kMore, a.function) != kMore.end())
        return true;  // NumPy's reads what PyTorch's does, and more
    if (a.function == "repeat") return a.as_in_numpy;
    const bool is_spread = (a.function == "std" || a.function == "var") && !a.by_name.contains("correction");
    const bool in_numpy = says("np."), in_torch = says("torch.") || says("F.");
    if (!is_spread || in_torch || (!in_numpy && !a.as_in_numpy)) return false;
    if (a.as_in_numpy != in_numpy && (a.as_in_numpy || (!a.by_name.contains("dim") && !a.by_name.contains("keepdim"))))
        throw FormulaError(message("NumPy's {function} divides by n, and PyTorch's by n − 1: write correction=0 or "
                                   "correction=1",
                                   {{"function", a.function}}),
                           a.at);
    return a.as_in_numpy;
}

Part TensorReader::continued(Part x) {
    for (;;) {
        const std::size_t begin = x.begin;
        if (is("[")) {
            x = indexed(x);
        } else if (take("ᵀ")) {
            x = swapped(tensor(x), -2, -1);
        } else if (take(".")) {
            const std::string word = written_word();
            if (word.empty()) fail_without_operand();
            Arguments a{.function = word, .at = tokens_[at_++].begin, .all = {x}};
            if (is("("))
                a = arguments(std::move(a));
            else
                a.function = "." + word;
            if (a.function == "where" && a.all.size() > 1) std::swap(a.all[0], a.all[1]);  // x.where(condition, y)
            // PyTorch's are pairs, which no operation takes, and an array's are numbers.
            a.as_in_numpy = a.as_in_numpy || ((word == "max" || word == "min") && !says("torch.") && !says("F."));
            const std::string module = is_arrays_method(a) ? "np" : "";
            x = called(module, std::move(a));
        } else {
            return x;
        }
        x = spanning(std::move(x), begin);
    }
}

Part TensorReader::items_in(const Part& list, const Item& slice, std::size_t at) const {
    const auto size = static_cast<Index>(list.items.size());
    if (slice.step) throw FormulaError(message("a slice of a list has no step here"), at);
    const Index from = slice.from ? std::clamp<Index>(from_front(whole(*slice.from), size), 0, size) : 0,
                to = slice.to ? std::clamp<Index>(from_front(whole(*slice.to), size), from, size) : size;
    Part some{.begin = list.begin, .end = list.end};
    some.items.assign(list.items.begin() + from, list.items.begin() + to);
    return some;
}

Part TensorReader::indexed(Part x) {
    const std::size_t at = here().begin;
    need("[");
    std::vector<Item> items = listed<Item>(
        [&] {
            Item item;
            if (take("…") || take_word("Ellipsis")) return item.is_rest = true, item;
            if (!is(":")) item.from = expression();
            item.is_range = take(":");
            if (item.is_range && !is(",") && !is("]") && !is(":")) item.to = expression();
            if (item.is_range && take(":") && !is(",") && !is("]")) item.step = expression();
            for (std::optional<Part>* bound : {&item.from, &item.to})
                if (item.is_range && *bound && is_none(**bound)) bound->reset();
            return item;
        },
        "]");
    if (items.empty()) throw FormulaError(message("a whole number is needed here"), at);
    bool is_unordered = false;
    if (x.quoted == kPartition) {
        const Item& last = items.back();
        const std::vector<IndexedAxis> axes = tensor(x.items[0]).axes;
        const Index size = axes.back().dim.size, kth = from_front(whole(x.items[1]), size);
        const auto is_kth = [&](const std::optional<Part>& place) {
            return place && place->cell && known(*place) && from_front(whole(*place), size) == kth;
        };
        is_unordered = last.is_range && !last.step && last.from.has_value() != last.to.has_value();
        if ((items.size() < axes.size() && !items[0].is_rest) || last.is_rest ||
            !(is_unordered ? is_kth(last.from) || is_kth(last.to) : !last.is_range && is_kth(last.from)))
            static_cast<void>(tensor(x));
        x = Part(x.items[0]);
    }
    if (!x.items.empty() && items.size() == 1 && items[0].is_range) return items_in(x, items[0], at);
    if (!x.items.empty() && items.size() == 1 && items[0].from) return item(x, *items[0].from, at);
    if (const std::optional<Part> all = items[0].from;
        items.size() == 1 && !items[0].is_range && all && !all->items.empty() && !text_of(*all).starts_with('[')) {
        items.clear();  // x[(0, 1)] is x[0, 1], as is x[np.ix_([0], [1])]
        for (const Part& one : all->items) items.push_back({.from = one});
    }
    for (Item& one : items)
        if (!one.is_range && one.from && !one.from->cell && !one.from->items.empty() && !is_none(*one.from)) {
            if (std::ranges::any_of(one.from->items, [&](const Part& part) {
                    return (is_truth(part) != is_truth(one.from->items[0])) ||
                           (!part.cell && (part.items.empty() || items.size() == 1));
                }))
                throw FormulaError(message("a whole number is needed here"), one.from->begin);
            const std::size_t begin = one.from->begin;
            one.from = tensor_of(*one.from, begin);
            one.from->begin = begin;
        }
    // A comparison of places alone, arange(4) % 2 == 0, says them.
    for (std::size_t i = 0; i < items.size(); ++i) {
        Item& one = items[i];
        const std::size_t axis = items[0].is_rest ? tensor(x).axes.size() - items.size() + i : i;
        const bool may =
            !one.is_range && one.from && one.from->cell && !one.from->chosen && axis < tensor(x).axes.size();
        if (!may || one.from->axes.size() != 1) continue;
        if (const std::vector<Part> where = places_that_hold(*one.from, x.axes[axis].dim.size); !where.empty()) {
            const std::size_t begin = one.from->begin;
            one.from = tensor_of({.items = where}, begin);
            one.from->begin = begin;
        }
    }
    const auto is_chosen = [&](const Item& i) {
        return !i.is_range && !i.is_rest && !is_none(*i.from) && i.from->cell && kind(*i.from) == NumberKind::condition;
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
            const Index step = item.step && !is_none(*item.step) ? whole(*item.step) : 1;
            if (step < 0) {  // NumPy's way of turning it round
                const auto end = [&](const std::optional<Part>& given, Index without) {
                    return given ? std::clamp<Index>(from_front(whole(*given), size), -1, size - 1) : without;
                };
                const Index first = end(item.from, size - 1), count = (first - end(item.to, -1) - step - 1) / -step;
                const IndexedAxis back = axis_like(x.axes[n], std::max<Index>(count, 0));
                const Expr way = applied(Op::multiply, {index(back.index), number(static_cast<double>(-step))}, at);
                x = read_at(std::move(x), n++, back,
                            number(static_cast<double>(first)) - (step == -1 ? index(back.index) : way));
                turned = item.step->begin;
                continue;
            }
            const Index from = item.from ? std::clamp<Index>(from_front(whole(*item.from), size), 0, size) : 0;
            const Index to = item.to ? std::clamp<Index>(from_front(whole(*item.to), size), from, size) : size;
            if (step < 1) throw FormulaError(message("a step of a slice is above 0, as in PyTorch"), item.step->begin);
            if (to - from == size && (step == 1 || size == 0)) {
                ++n;
                continue;
            }
            const Index count = (to - from + step - 1) / step;
            const IndexedAxis part = part_of_axis(count);
            const Expr place = step == 1
                                   ? index(part.index)
                                   : applied(Op::multiply, {index(part.index), number(static_cast<double>(step))}, at);
            x = at_index(x, n, from == 0 ? place : place + number(static_cast<double>(from)), true);
            inserted(part);
        } else if (is_none(*item.from)) {
            inserted(axis_of_size("1", 1));
        } else if (is_chosen(item)) {
            const Part& condition = *item.from;
            if (chosen || condition.axes.empty())
                throw FormulaError(
                    message("a comparison that chooses stands alone here, or beside numbers and slices, and has axes"),
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
    if (is_unordered) x.chosen = applied(Op::greater_equal, {index(x.axes.back().index), number(0.0)}, at);
    return x;
}

std::vector<Part> TensorReader::places_that_hold(const Part& condition, Index size) const {
    constexpr Index kMost = 64;  // places in a list
    const Index count = condition.axes[0].dim.size;
    std::vector<Part> where;
    if (kind(condition) != NumberKind::condition || count != size || count > kMost) return {};
    for (Index i = 0; i < count; ++i) {
        const auto holds =
            known(substitute(condition.cell, {{condition.axes[0].index, number(static_cast<double>(i))}}));
        if (!holds) return {};
        if (*holds != 0.0) where.push_back(number_part(static_cast<double>(i)));
    }
    return where;
}

Part TensorReader::item(const Part& list, const Part& which, std::size_t at) const {
    const Index size = static_cast<Index>(list.items.size()), place = from_front(whole(which), size);
    if (place >= 0 && place < size) return list.items[static_cast<std::size_t>(place)];
    throw FormulaError(message("there is no part {place} here", {{"place", whole(which)}}), at);
}

namespace {

// Python's own signs decide; without them, what only index notation has.
bool is_index_notation(const std::vector<Token>& tokens, std::string_view text, const Functions& functions,
                       const OtherFunctions& others) {
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
            return letters_in(below) == 1 && (fold_named(head) || head == "count" || is_measure(head) ||
                                              functions.contains(head) || others.has(std::string(head), true));
        return t.kind == Kind::symbol &&
               (t.word == "{" || t.word == "?" || t.word == "from" || (t.word == "where" && (&t + 1)->word != "(") ||
                (has_places && t.word != "‖" && static_cast<unsigned char>(text[t.begin]) >= 0x80));
    });
}

}  // namespace

Formula read_indexed(std::string_view text, const Known& known, const Functions& functions) {
    TensorReader reader(text, {}, known, functions);
    Formula formula = parse(text, functions, reader.functions_of_indices());
    for (Definition& where : reader.wheres()) {
        if (std::ranges::find(formula.wheres, where.name, &Definition::name) != formula.wheres.end())
            throw FormulaError(message("“{name}” is defined twice", {{"name", where.name}}), kNowhere);
        formula.wheres.push_back(std::move(where));
    }
    return formula;
}

Formula read(std::string_view text, const Known& known, const Functions& functions) {
    std::vector<Token> tokens = tokens_of(text, [&](std::string_view name) { return known.operands.contains(name); });
    TensorReader reader(text, {}, known, functions);
    if (is_index_notation(tokens, text, functions, reader.functions_of_indices()))
        return read_indexed(text, known, functions);
    return TensorReader(text, std::move(tokens), known, functions).formula();
}

}  // namespace decoderscope::formulas
