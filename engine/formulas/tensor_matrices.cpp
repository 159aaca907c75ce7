#include "engine/formulas/tensor_reader.h"
#include "engine/formulas/vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

namespace decoderscope::formulas {

std::string TensorReader::in_letters(const std::string& rule) {
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

Part TensorReader::einsum(Arguments& a) {
    if (a.all[0].cell && !a.all.back().cell) std::rotate(a.all.begin(), a.all.end() - 1, a.all.end());  // einops
    std::string rule = a.all[0].quoted;
    if (a.all.size() == 2 && !a.all[1].cell) {
        const std::vector<Part> operands = a.all[1].items;
        a.all.pop_back();
        a.all.insert(a.all.end(), operands.begin(), operands.end());
    }
    const std::string first = rule.substr(0, rule.find_first_of(",-"));
    const bool is_words =
        a.all.size() > 1 && first.find(' ') != std::string::npos &&
        static_cast<std::size_t>(std::ranges::count_if(first, [](char c) { return c != ' '; })) != a.all[1].axes.size();
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
            throw FormulaError(message("“{letters}” of “{rule}” doesn't name the axes of {operand}",
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
        std::ranges::copy_if(sorted, std::back_inserter(out), [&](char c) { return std::ranges::count(rule, c) == 1; });
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

Part TensorReader::matmul(Arguments& a) {
    const Part &x = tensor(a_input(a)), &y = tensor(a.by_name.at("other"));
    const auto need_axes = [&](std::size_t count) {
        for (const Part* each : {&x, &y})
            if (each->axes.size() != count) fail_of_axes(a, *each, count);
    };
    if (a.function == "dot" && a.module != "np") need_axes(1);
    if (a.function == "dot" && y.axes.size() > 2) fail_of_axes(a, y, 2);  // NumPy's goes along its last axis but one
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

Part TensorReader::linear(Arguments& a) {
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

Part TensorReader::of_matrices(const Arguments& a, Op op, bool of_square) {
    Part x = settled(tensor(a_input(a)));
    const Dim &rows = x.axes[position(x, -2, a.at)].dim, &columns = x.axes[position(x, -1, a.at)].dim;
    if (of_square && rows.size != columns.size)
        throw FormulaError(
            message("{function} needs square matrices: {operand}", {{"function", a.function}, {"operand", shown(x)}}),
            a.at);
    x.cell = apply(op, {x.cell}, a.at);
    return sub_result(std::move(x));
}

Part TensorReader::pseudoinverse(Arguments& a) { return swapped(of_matrices(a, Op::pseudoinverse, false), -2, -1); }

Part TensorReader::determinant(Arguments& a) {
    const Parts names{{"d", said("x.diagonal(0, -2, -1)", {{"x", of_matrices(a, Op::eliminated)}}, a.at)}};
    return said(a.function == "det" ? "d.prod(-1)" : "[sign(d).prod(-1), log(abs(d)).sum(-1)]", names, a.at);
}

Part TensorReader::eigenvalues(Arguments& a) {
    const Part x = of_matrices(a, Op::eigen);
    const Part real = said("x.diagonal(0, -2, -1)", {{"x", x}}, a.at);
    const Part imaginary = said("x.sum(-1) - r", {{"x", x}, {"r", real}}, a.at);
    return {.begin = x.begin, .end = x.end, .items = {real, imaginary}, .quoted = std::string(kComplex)};
}

Part TensorReader::fourier(Arguments& a) {
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

Part TensorReader::singular_values(Arguments& a) {
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

Part TensorReader::max_flow(Arguments& a) {
    const Part& x = tensor(a_input(a));
    const Index layers = x.axes[position(x, -3, a.at)].dim.size, width = x.axes[position(x, -1, a.at)].dim.size;
    constexpr double kMostEdges = 2.2e10;  // looked at, each at least once a flow: half a minute
    if (std::pow(static_cast<double>(layers) * static_cast<double>(width) * static_cast<double>(width), 2) > kMostEdges)
        throw FormulaError(message("{function}: {layers} layers of {positions} positions are too many",
                                   {{"function", a.function}, {"layers", layers}, {"positions", width}}),
                           a.at);
    Arguments flat = a;
    flat.by_name[a.first] = said("x.flatten(-3, -2)", {{"x", x}}, a.at);
    return said("f.unflatten(-2, (l, q))",
                {{"f", of_matrices(flat, Op::flow, false)},
                 {"l", number_part(static_cast<double>(layers))},
                 {"q", {.cell = size_of(x.axes[position(x, -2, a.at)])}}},
                a.at);
}

Part TensorReader::matrix_power(Arguments& a) {
    const Index n = whole(a.by_name.at("n"));
    if (std::abs(n) > 16)
        throw FormulaError(message("{function}: at most 16 products", {{"function", a.function}}), a.at);
    const Part& x = tensor(a_input(a));
    if (n == 0) return said("where(eye(input.shape[-1]) == 1, 1 + 0 * input, 0)", {{"input", x}}, a.at);
    std::string words = n < 0 ? "x = inv(input)" : "x = input";
    for (Index i = 1; i < std::abs(n); ++i) words += i == 1 ? "; y = x @ x" : "; y = y @ x";
    return said(words + (std::abs(n) == 1 ? "; x" : "; y"), {{"input", x}}, a.at);
}

Part TensorReader::products(Arguments& a) {
    const std::vector<Part>& list = a.all.size() == 1 && !a.all[0].cell ? a.all[0].items : a.all;
    if (list.empty()) throw FormulaError(message("{function} needs a list", {{"function", a.function}}), a.at);
    Part y = tensor(list[0]);
    for (std::size_t i = 1; i < list.size(); ++i) y = product(y, tensor(list[i]), a.at);
    return y;
}

Part TensorReader::tensordot(Arguments& a) {
    const Part &x = tensor(a.by_name.at("a")), &y = tensor(a.by_name.at("b"));
    const Part& dims = a.by_name.at(a.by_name.contains("axes") ? "axes" : "dims");
    const auto rank = [](const Part& of) { return static_cast<Index>(of.axes.size()); };
    std::array<std::vector<Index>, 2> along;
    if (dims.cell)
        for (Index i = 0; i < whole(dims); ++i) along[0].push_back(rank(x) - whole(dims) + i), along[1].push_back(i);
    for (std::size_t side = 0; side < dims.items.size() && side < 2; ++side)
        for (const Part& dim : dims.items[side].cell ? std::vector{dims.items[side]} : dims.items[side].items)
            along[side].push_back(static_cast<Index>(position(side == 0 ? x : y, whole(dim), a.at)));
    std::string of_x, of_y, rest;
    for (Index i = 0; i < rank(x); ++i) of_x += static_cast<char>('a' + i);
    for (Index i = 0; i < rank(y); ++i) of_y += static_cast<char>('A' + i);
    if (along[0].size() != along[1].size() || (dims.cell && whole(dims) > std::min(rank(x), rank(y))))
        throw FormulaError(message("{function} needs as many axes of one as of the other", {{"function", a.function}}),
                           a.at);
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

Part TensorReader::norm(Arguments& a) {
    const Part& x = tensor(a_input(a));
    const auto dim = a.by_name.find("dim"), p = a.by_name.find("p");
    const bool has_dim = dim != a.by_name.end(), has_p = p != a.by_name.end();
    const bool is_text = has_p && !p->second.cell;
    const bool is_matrix = a.function == "matrix_norm";
    const std::size_t dims = is_matrix && !has_dim ? 2
                             : has_dim             ? (dim->second.cell ? 1 : dim->second.items.size())
                                                   : x.axes.size();
    const bool is_vector = a.function == "vector_norm";
    if (is_vector && a.nones.contains("p")) fail_without(a, "ord");
    if (has_dim && x.axes.empty()) static_cast<void>(position(x, 0, a.at));
    if (has_p && !has_dim && (dims > 2 || dims == 0) && !is_vector) fail_without(a, "dim");
    if (is_vector || !(has_p || is_matrix) || dims != 2) {
        if (is_matrix) static_cast<void>(position(x, 2, a.at));
        if (is_text) static_cast<void>(tensor(p->second));
        Arguments vector{.function = "norm", .at = a.at, .by_name = a.by_name, .first = a.first};
        return called("", std::move(vector));
    }
    const std::size_t rows = position(x, has_dim ? whole(dim->second.items[0]) : -2, a.at),
                      columns = position(x, has_dim ? whole(dim->second.items[1]) : -1, a.at);
    if (rows == columns) fail_of_twice(a, x);
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

Part TensorReader::are_equal(Arguments& a) {
    const Part &x = tensor(a_input(a)), &y = tensor(a.by_name.at("other"));
    const bool fits = std::ranges::equal(
        x.axes, y.axes, {}, [](const auto& axis) { return axis.dim.size; },
        [](const auto& axis) { return axis.dim.size; });
    return fits ? said("(input == other).all()", a.by_name, a.at) : number_part(0.0);
}

Part TensorReader::of_one_shape(Arguments& a) {
    const Part &x = tensor(a_input(a)), &target = tensor(a.by_name.at("target"));
    const auto size = [](const IndexedAxis& axis) { return axis.dim.size; };
    if (!std::ranges::equal(x.axes, target.axes, {}, size, size))
        throw FormulaError(
            message("{operand} are no targets of {other}", {{"operand", shown(target)}, {"other", shown(x)}}),
            target.begin);
    return x;
}

Part TensorReader::cross_entropy(Arguments& a) {
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
                message("{operand} are no targets of {other}, whose classes are on axis 1, as in PyTorch: "
                        "for those on the last axis write ce(logits, targets)",
                        {{"operand", shown(target)}, {"other", shown(x)}}),
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

Part TensorReader::attention(Arguments& a) {
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

}  // namespace decoderscope::formulas
