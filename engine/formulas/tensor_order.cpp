#include "engine/formulas/tensor_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace decoderscope::formulas {

Part TensorReader::kth(Arguments& a) {
    const auto row = row_to_order(a);
    const Part& x = row.first;
    const std::size_t n = row.second;
    const Index size = x.axes[n].dim.size, k = whole(a.by_name.at("k"));
    if (k < 1 || k > size) fail_of_places(a, x.axes[n], k);
    const Part places = places_in_order(x, n, false, a.at);
    const auto one = [&](bool values) {
        Part y = at_place(x, n, places, number(static_cast<double>(k - 1)), values, a.at);
        if (keeps_axis(a)) y.axes.insert(y.axes.begin() + static_cast<std::ptrdiff_t>(n), axis_of_size("1", 1));
        return y;
    };
    return {.begin = x.begin, .end = x.end, .items = {one(true), one(false)}};
}

Part TensorReader::cumulated(Arguments& a) {
    const double infinite = std::numeric_limits<double>::infinity();
    const auto [fold, before] = a.function == "cumprod"  ? std::pair{Fold::product, 1.0}
                                : a.function == "cummax" ? std::pair{Fold::max, -infinite}
                                : a.function == "cummin" ? std::pair{Fold::min, infinite}
                                                         : std::pair{Fold::sum, 0.0};
    const bool is_pair = a.function.starts_with("cumm");  // with the places, of which the last is taken
    const auto dim = a.by_name.find("dim");
    if (dim == a.by_name.end() && a.module != "np") fail_without(a, "dim");
    Part x = tensor(a_input(a));
    if (dim == a.by_name.end()) x = flat(x);
    x = made_once(x);
    if (dim != a.by_name.end() && is_axis_of_number(x, whole(dim->second)))
        return is_pair ? Part{.begin = x.begin, .end = x.end, .items = {x, number_part(0.0)}} : x;
    const Part of = x;
    const std::size_t n = dim == a.by_name.end() ? 0 : position(x, whole(dim->second), a.at);
    const IndexedAxis place = axis_like(x.axes[n], x.axes[n].dim.size);
    const Expr is_before = apply(Op::less_equal, {index(x.axes[n].index), index(place.index)}, a.at);
    x.cell = applied(Op::choose, {is_before, x.cell, number(before)}, a.at);
    x = reduced(x, n, fold);
    x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n), place);
    if (!is_pair) return x;
    const Part last = said(
        "p = x.movedim(d, -1)[..., None, :]; m = y.movedim(d, -1)[..., None]; i = arange(p.shape[-1]); "
        "where((i <= i[:, None]) & ((p == m) | ((p != p) & (m != m))), i, -1).amax(-1).movedim(-1, d)",
        {{"x", of}, {"y", made_once(x)}, {"d", number_part(static_cast<double>(n))}}, a.at);
    return {.begin = x.begin, .end = x.end, .items = {x, last}};
}

Part TensorReader::places_in_order(const Part& x, std::size_t n, bool descending, std::size_t at) {
    const IndexedAxis other = axis_like(x.axes[n], x.axes[n].dim.size);
    const Expr here = x.cell, there = at_index(x, n, index(other.index)).cell;
    const auto is = [&](Op op, const Expr& one, const Expr& two) { return apply(op, {one, two}, at); };
    const auto is_nan = [&](const Expr& one) { return is(Op::not_equal, one, one); };
    const Expr &low = descending ? here : there, &high = descending ? there : here;
    const Expr is_less = is(Op::either, is(Op::less, low, high), is(Op::both, is_nan(high), is(Op::equal, low, low)));
    const Expr is_same = is(Op::either, is(Op::equal, here, there), is(Op::both, is_nan(here), is_nan(there)));
    const Expr is_first = is(Op::less, index(other.index), index(x.axes[n].index));
    const Expr is_before = is(Op::either, is_less, is(Op::both, is_same, is_first));
    Part count = x;
    count.axes.push_back(other);
    count.cell = applied(Op::choose, {is_before, number(1.0), number(0.0)}, at);
    return sub_result(reduced(count, count.axes.size() - 1, Fold::sum));
}

Part TensorReader::at_place(const Part& x, std::size_t n, const Part& places, const Expr& place, bool values,
                            std::size_t at) {
    Part chosen = x;
    const Expr is_there = apply(Op::equal, {places.cell, place}, at);
    chosen.cell = values ? applied(Op::choose, {is_there, x.cell, number(-std::numeric_limits<double>::infinity())}, at)
                         : applied(Op::choose, {is_there, index(x.axes[n].index), number(0.0)}, at);
    return reduced(chosen, n, values ? Fold::max : Fold::sum);
}

Part TensorReader::sorted(Arguments& a) {
    const Part x = made_once(tensor(a_input(a)));
    const bool is_top = a.function == "topk";
    const auto given = a.by_name.find("descending");  // NumPy has none
    const bool descending =
        is_top ? a.by_name.at("largest").quoted == "True" : given != a.by_name.end() && given->second.quoted == "True";
    const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
    const Index size = x.axes[n].dim.size, count = is_top ? whole(a.by_name.at("k")) : size;
    if (count < 0 || count > size) fail_of_places(a, x.axes[n], count);
    if (size == 0)
        return a.module == "np" || a.function == "argsort" ? x : Part{.begin = x.begin, .end = x.end, .items = {x, x}};
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

Part TensorReader::around(const Part& x, std::size_t n, double place, bool keeps, std::size_t at,
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

std::pair<Part, std::size_t> TensorReader::row_to_order(const Arguments& a) {
    Part x = made_once(tensor(a_input(a)));
    const auto dim = a.by_name.find("dim");
    if (dim != a.by_name.end() && !x.axes.empty()) return {x, position(x, whole(dim->second), a.at)};
    if (dim != a.by_name.end() && !is_axis_of_number(x, whole(dim->second)))
        static_cast<void>(position(x, whole(dim->second), a.at));
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < x.axes.size(); ++i) all.push_back(i);
    if (x.axes.empty())
        x.axes = {axis_of_size("1", 1)};
    else if (x.axes.size() > 1)
        x = sub_result(joined_at_end(x, all));
    return {x, 0};
}

Part TensorReader::partitioned(Arguments& a) {
    const Part& x = tensor(a_input(a));
    if (position(x, whole(a.by_name.at("dim")), a.at) + 1 != x.axes.size())
        throw FormulaError(message("{function} is read along the last axis only", {{"function", a.function}}), a.at);
    Part list =
        said(a.function == "partition" ? "[input.sort(-1)[0], kth]" : "[input.argsort(-1), kth]", a.by_name, a.at);
    list.quoted = kPartition;
    return list;
}

Part TensorReader::one_row(Arguments& a) {
    const auto [x, n] = row_to_order(a);
    a.by_name[a.first] = said("x.movedim(n, -1)", {{"x", x}, {"n", number_part(static_cast<double>(n))}}, a.at);
    return a.by_name[a.first];
}

bool TensorReader::keeps_axis(const Arguments& a) const {
    const bool keeps = a.by_name.at("keepdim").quoted == "True";
    if (keeps && !a.by_name.contains("dim")) fail_without(a, "dim");
    return keeps && !tensor(a.by_name.at(a.first)).axes.empty();
}

Part TensorReader::quantile(Arguments& a) {
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
    const auto way = a.by_name.find("interpolation");
    const double exact = *share * static_cast<double>(x.axes[n].dim.size - 1), before = std::floor(exact);
    const std::array places{exact, before, std::ceil(exact), exact > before ? before + 0.5 : before,
                            std::nearbyint(exact)};
    const double place = places[way == a.by_name.end() ? 0 : static_cast<std::size_t>(*known(way->second))];
    const double part = place - std::floor(place);
    const auto op = [&](Op which, const Expr& one, const Expr& two) { return applied(which, {one, two}, a.at); };
    // As torch.lerp has it: what is infinite becomes NaN, even where it stands alone.
    return around(x, n, place, keeps_axis(a), a.at, [&](const Expr& low, const Expr& high) {
        const Expr far = op(Op::subtract, high, low);
        return part < 0.5 ? op(Op::add, low, op(Op::multiply, number(part), far))
                          : op(Op::subtract, high, op(Op::multiply, number(1.0 - part), far));
    });
}

Part TensorReader::median(Arguments& a) {
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

Part TensorReader::largest(Arguments& a) {
    if (a.module.empty() && says("np.")) a.module = "np";  // an array's method
    // PyTorch's, unlike the others, take no None for their axis.
    if (a.has_none && a.module != "np") fail_without(a, "dim");
    Part values = called(a.module, {.function = "a" + a.function, .at = a.at, .by_name = a.by_name});
    if (!a.by_name.contains("dim")) {
        if (a.by_name.at("keepdim").quoted == "True") fail_without(a, "dim");
        return values;
    }
    if (a.module == "np" || (a.as_in_numpy && !a.by_name.at("dim").items.empty())) return values;
    static_cast<void>(whole(a.by_name.at("dim")));  // one axis, unlike amax
    Part both{.items = {values, called("", {.function = "arg" + a.function, .at = a.at, .by_name = a.by_name})}};
    if (a.as_in_numpy) both.axes = values.axes, both.cell = values.cell;
    return both;
}

}  // namespace decoderscope::formulas
