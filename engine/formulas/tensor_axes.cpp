#include "engine/formulas/tensor_reader.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace decoderscope::formulas {

Part TensorReader::transpose(Arguments& a) {
    const Part& x = tensor(a_input(a));
    const Index one = whole(a.by_name.at("dim0")), other = whole(a.by_name.at("dim1"));
    return is_axis_of_number(x, one) && is_axis_of_number(x, other) ? x : swapped(x, one, other);
}

Part TensorReader::reversed(Arguments& a) {
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

Part TensorReader::permute(Arguments& a) {
    const Part x = tensor(a.all[0]);
    const std::vector<Part> order = a.all.size() == 2 ? a.all[1].items : std::vector(a.all.begin() + 1, a.all.end());
    Part y = x;
    y.axes.clear();
    std::set<std::size_t> seen;
    for (const Part& dim : order)
        if (const std::size_t n = position(x, whole(dim), a.at); seen.insert(n).second) y.axes.push_back(x.axes[n]);
    if (seen.size() != x.axes.size() || order.size() != x.axes.size()) fail_of_twice(a, x);
    return y;
}

Part TensorReader::unsqueeze(Arguments& a) {
    const Part& x = tensor(a_input(a));
    const Index dim = whole(a.by_name.at("dim"));
    Part wider = x;
    wider.axes.push_back(axis_of_size("1", 1));
    const std::size_t place = position(wider, dim, a.at);
    std::rotate(wider.axes.begin() + static_cast<std::ptrdiff_t>(place), wider.axes.end() - 1, wider.axes.end());
    return wider;
}

Part TensorReader::squeeze(Arguments& a) {
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

Part TensorReader::repeat_interleave(Arguments& a) {
    Part x = tensor(a_input(a));
    const Part& times = tensor(a.by_name.at("repeats"));
    const auto dim = a.by_name.find("dim");
    if (dim == a.by_name.end()) x = flat(std::move(x));
    const std::size_t n = dim == a.by_name.end() ? 0 : position(x, whole(dim->second), a.at);
    const auto size = limits::count_of({x.axes[n].dim.size, whole(times)});
    if (!size || whole(times) < 1) fail_without_tensor(a);
    IndexedAxis longer = axis_of_size(std::to_string(*size), *size);
    x = at_index(x, n, applied(Op::quotient, {index(longer.index), times.cell}, a.at));
    x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n), longer);
    return x;
}

Part TensorReader::joined(Arguments& a) {
    const std::vector<Part>& parts = a.by_name.at("tensors").items;
    if (parts.empty()) throw FormulaError(message("{function} needs a list", {{"function", a.function}}), a.at);
    const std::size_t along = position(tensor(parts[0]), whole(a.by_name.at("dim")), a.at);
    Part result{.axes = parts[0].axes};
    Index size = 0;
    for (const Part& x : parts) {
        if (tensor(x).axes.size() != result.axes.size()) fail_of_rank(a, parts[0], x);
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

Part TensorReader::reshaped(Arguments& a) {
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

Part TensorReader::expanded(Arguments& a) {
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

Part TensorReader::filled(Arguments& a) {
    Part x = number_part(a.function == "ones" ? 1.0 : 0.0);
    for (const Part& size : sizes_in(a, 0)) x.axes.push_back(axis_as_given(size));
    return x;
}

Part TensorReader::triangle(Arguments& a) {
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

Part TensorReader::gathered(Arguments& a) {
    Part x = tensor(a_input(a));
    Part where = tensor(a.by_name.at("index"));
    const std::size_t along = position(x, whole(a.by_name.at("dim")), a.at);
    if (where.axes.size() != x.axes.size()) fail_of_rank(a, x, where);
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

Part TensorReader::arange(Arguments& a) {
    if (a.all.size() < 2) {
        const auto end = literal(tensor(a.all[0]).cell);  // 8.0, too
        const IndexedAxis axis = axis_as_given(end ? number_part(std::ceil(*end)) : a.all[0]);
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
    if (a.all.size() > 3 || places < 0.0 || places > static_cast<double>(limits::kNumbers)) fail_without_tensor(a);
    const auto count = static_cast<Index>(places);
    const IndexedAxis axis = axis_of_size(std::to_string(count), count);
    const Expr each = applied(Op::multiply, {index(axis.index), number(step)}, a.at);
    return {.axes = {axis}, .cell = applied(Op::add, {each, number(start)}, a.at)};
}

Part TensorReader::read_at(Part x, std::size_t n, const IndexedAxis& axis, const Expr& place) {
    x = at_index(settled(std::move(x)), n, place);
    x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(n), axis);
    return x;
}

IndexedAxis TensorReader::part_of_axis(Index size) {
    IndexedAxis part = axis_of_size(std::to_string(size), size);
    part.is_mixed = true;
    return part;
}

IndexedAxis TensorReader::axis_like(const IndexedAxis& axis, Index size) {
    if (size != axis.dim.size) return part_of_axis(size);
    IndexedAxis fresh = axis;
    fresh.index = new_index(axis.dim.axis);
    fresh.is_said = false;
    return fresh;
}

Expr TensorReader::shifted(const IndexedAxis& axis, Index by) {
    return by == 0 ? index(axis.index) : index(axis.index) + number(static_cast<double>(by));
}

Part TensorReader::flip(Arguments& a) {
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
        if (!seen.insert(n).second) fail_of_twice(a, x);
        const IndexedAxis axis = axis_like(x.axes[n], x.axes[n].dim.size);
        x = read_at(x, n, axis, number(static_cast<double>(axis.dim.size - 1)) - index(axis.index));
    }
    return x;
}

Part TensorReader::roll(Arguments& a) {
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

Part TensorReader::rolled(const Part& x, std::size_t n, Index by) {
    const Index size = x.axes[n].dim.size;
    if (size == 0) return x;
    const IndexedAxis axis = axis_like(x.axes[n], size);
    const Index back = ((size - by % size) % size + size) % size;
    return read_at(x, n, axis,
                   applied(Op::remainder, {shifted(axis, back), number(static_cast<double>(size))}, x.begin));
}

Part TensorReader::flat(Part x) {
    if (x.axes.size() == 1) return x;
    Arguments a{.function = "reshape", .at = x.begin, .all = {std::move(x), number_part(-1.0)}};
    return reshaped(a);
}

Part TensorReader::reshaped_to(Part x, const std::vector<IndexedAxis>& axes, std::size_t at) {
    Arguments a{.function = "reshape", .at = at, .all = {std::move(x)}};
    Part sizes;
    for (const IndexedAxis& axis : axes) sizes.items.push_back({.cell = size_of(axis)});
    a.all.push_back(std::move(sizes));
    return reshaped(a);
}

Part TensorReader::difference(Arguments& a) {
    Part x = tensor(a_input(a));
    const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
    const Index times = whole(a.by_name.at("n"));
    if (times < 0 || times > 8) fail_without_tensor(a);
    for (Index i = 0; i < times; ++i) {
        const IndexedAxis axis = axis_like(x.axes[n], std::max<Index>(x.axes[n].dim.size - 1, 0));
        const Part next = read_at(x, n, axis, shifted(axis, 1)), here = read_at(x, n, axis, shifted(axis, 0));
        x = next;
        x.cell = applied(Op::subtract, {next.cell, here.cell}, a.at);
    }
    return x;
}

Part TensorReader::diagonal(Arguments& a) {
    Part x = settled(tensor(a_input(a)));
    const bool is_trace = a.function == "trace" || a.function == "tr";
    if (is_trace && x.axes.size() != 2)
        throw FormulaError(message_n("{function} needs tensors with {count} axis: {operand}",
                                     "{function} needs tensors with {count} axes: {operand}", std::size_t{2},
                                     {{"function", a.function}, {"operand", shown(x)}}),
                           a.at);
    const std::size_t rows = position(x, is_trace ? 0 : whole(a.by_name.at("dim1")), a.at),
                      columns = position(x, is_trace ? 1 : whole(a.by_name.at("dim2")), a.at);
    if (rows == columns) fail_of_twice(a, x);
    const Index by = is_trace ? 0 : whole(a.by_name.at("offset"));
    const Index down = std::max<Index>(-by, 0), across = std::max<Index>(by, 0);
    const Index size = std::max<Index>(std::min(x.axes[rows].dim.size - down, x.axes[columns].dim.size - across), 0);
    const IndexedAxis axis = axis_of_size(std::to_string(size), size);
    x = at_index(x, std::max(rows, columns), shifted(axis, rows > columns ? down : across));
    x = at_index(x, std::min(rows, columns), shifted(axis, rows > columns ? across : down));
    x.axes.push_back(axis);
    return is_trace ? reduced(x, 0, Fold::sum) : x;
}

Part TensorReader::identity(Arguments& a) {
    const IndexedAxis rows = axis_as_given(tensor(a.by_name.at("n")));
    const auto m = a.by_name.find("m");
    IndexedAxis columns = m == a.by_name.end() ? axis_like(rows, rows.dim.size) : axis_as_given(tensor(m->second));
    const Expr same = apply(Op::equal, {index(rows.index), index(columns.index)}, a.at);
    return {.axes = {rows, columns}, .cell = applied(Op::choose, {same, number(1.0), number(0.0)}, a.at)};
}

Part TensorReader::flattened(Arguments& a) {
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
    if (first > last) fail_without_tensor(a);
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

Part TensorReader::stacked(Arguments& a) {
    Arguments wider{.function = a.function, .at = a.at};
    Part& list = wider.by_name["tensors"];
    Part dim = a.by_name.at("dim");
    for (const Part& each : a.by_name.at("tensors").items) {
        Part x = tensor(each);
        if (!list.items.empty() && x.axes.size() + 1 != list.items[0].axes.size()) fail_of_rank(a, list.items[0], x);
        x.axes.push_back(axis_of_size("1", 1));
        const std::size_t place = position(x, whole(dim), a.at);
        std::rotate(x.axes.begin() + static_cast<std::ptrdiff_t>(place), x.axes.end() - 1, x.axes.end());
        list.items.push_back(std::move(x));
    }
    wider.by_name["dim"] = dim;
    return joined(wider);
}

Part TensorReader::pieces(Arguments& a) {
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
            fail_of_places(a, x.axes[n], count);
        for (Index i = 0; i < count; ++i) sizes.push_back(size / count + (i < size % count ? 1 : 0));
        Index from = 0;
        for (const Part& one : given.items) {
            const Index to = std::clamp<Index>(from_front(whole(one), size), from, size);
            sizes.push_back(to - std::exchange(from, to));
        }
        if (!given.items.empty()) sizes.push_back(size - from);
    } else if (given.items.empty()) {
        const Index count = whole(given);
        if (count < 1) fail_without_tensor(a);
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

Part TensorReader::outer(Arguments& a) {
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

Part TensorReader::one_hot(Arguments& a) {
    Part x = tensor(a_input(a));
    const IndexedAxis axis = axis_as_given(tensor(a.by_name.at("num_classes")));
    x.cell = applied(Op::choose, {apply(Op::equal, {x.cell, index(axis.index)}, a.at), number(1.0), number(0.0)}, a.at);
    x.axes.push_back(axis);
    return x;
}

Part TensorReader::full(Arguments& a) {
    Part x = tensor(a.by_name.at("fill_value"));
    if (!x.axes.empty())
        throw FormulaError(
            message("{function} needs a number: {operand}", {{"function", a.function}, {"operand", shown(x)}}),
            x.begin);
    const Part& size = a.by_name.at("size");
    for (const Part& one : size.cell ? std::vector{size} : size.items) x.axes.push_back(axis_as_given(one));
    return x;
}

Part TensorReader::full_like(Arguments& a) {
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

Part TensorReader::taken(Arguments& a) {
    const auto dim = a.by_name.find("dim");
    if (dim == a.by_name.end()) return said("input.flatten()[index]", a.by_name, a.at);
    const Part& x = tensor(a_input(a));
    const std::size_t n = position(x, whole(dim->second), a.at);
    return at_places(x, {n}, {places_in(x.axes[n], tensor_of(a.by_name.at("index"), a.at), x)}, a.at);
}

Part TensorReader::scattered(Arguments& a) {
    const Part x = settled(tensor(a_input(a)));
    const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
    const bool by_rows = a.function.starts_with("index");  // one place for all numbers of a row
    const bool adds = a.function.find("add") != std::string::npos;
    Part where = settled(tensor(a.by_name.at("index")));
    const auto given = std::ranges::find_if(
        a.by_name, [](const auto& one) { return one.first == "value" || one.first == "src" || one.first == "source"; });
    if (given == a.by_name.end()) fail_without(a, "src");
    const Part from = settled(tensor(given->second));
    static_cast<void>(places_in(x.axes[n], where, x));
    if (by_rows && where.axes.empty()) where.axes = {axis_of_size("1", 1)};
    const bool is_one = from.axes.empty();
    const auto fits = [&](const Part& of, bool may_be_less) {
        if (of.axes.size() != x.axes.size()) fail_of_rank(a, x, of);
        for (std::size_t i = 0; i < x.axes.size(); ++i) {
            const Index here = of.axes[i].dim.size, there = (i == n ? where.axes[by_rows ? 0 : n] : x.axes[i]).dim.size;
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
            is_there = apply(Op::both,
                             {apply(Op::less, {index(x.axes[i].index), size_of(where.axes[i])}, a.at), is_there}, a.at);
    const auto folded = [&](Fold fold, const Expr& yes, double no) {
        Part each = x;
        each.axes.push_back(source);
        each.cell = applied(
            Op::choose, {is_there, yes, applied(Op::choose, {is_outside, no_number().cell, number(no)}, a.at)}, a.at);
        return reduced(each, x.axes.size(), fold);
    };
    Part y = x;
    const Expr each = is_one ? from.cell : at_source(from, false).cell;
    if (adds) {
        const auto alpha = a.by_name.find("alpha");
        const Part sum = folded(
            Fold::sum,
            alpha == a.by_name.end() ? each : without_defaults(Op::multiply, {each, alpha->second.cell}, a.at), 0.0);
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

Part TensorReader::moved(Arguments& a) {
    Part x = tensor(a_input(a));
    const std::size_t from = position(x, whole(a.by_name.at("source")), a.at),
                      to = position(x, whole(a.by_name.at("destination")), a.at);
    const IndexedAxis axis = x.axes[from];
    x.axes.erase(x.axes.begin() + static_cast<std::ptrdiff_t>(from));
    x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(to), axis);
    return x;
}

Part TensorReader::narrowed(Arguments& a) {
    const Part& x = tensor(a_input(a));
    const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
    const Index size = x.axes[n].dim.size, from = from_front(whole(a.by_name.at("start")), size),
                count = whole(a.by_name.at("length"));
    if (from < 0 || count < 0 || count > size - from) fail_of_places(a, x.axes[n], count);
    const IndexedAxis axis = axis_like(x.axes[n], count);
    return read_at(x, n, axis, shifted(axis, from));
}

Part TensorReader::unbound(Arguments& a) {
    const Part x = settled(tensor(a_input(a)));
    const std::size_t n = position(x, whole(a.by_name.at("dim")), a.at);
    Part list{.begin = x.begin, .end = x.end};
    for (Index i = 0; i < x.axes[n].dim.size; ++i) list.items.push_back(at_index(x, n, number(static_cast<double>(i))));
    return list;
}

Part TensorReader::repeated(Arguments& a) {
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
        if (count < 0 || !longer) fail_without_tensor(a);
        if (count == 1 || size == 0) continue;
        const IndexedAxis axis = axis_like(x.axes[n], *longer);
        const Expr place = index(axis.index);
        x = read_at(x, n, axis,
                    size == 1 ? number(0.0) : applied(Op::remainder, {place, number(static_cast<double>(size))}, a.at));
    }
    return x;
}

Part TensorReader::lined_up(Arguments& a) {
    const auto dim = a.by_name.find("dim");
    Part& weights = a.by_name.at("weights");
    weights = tensor_of(weights, a.at);
    if (dim == a.by_name.end() || tensor(weights).axes.size() != 1) return weights;
    const Part& x = tensor(a_input(a));
    for (std::size_t n = position(x, whole(dim->second), a.at) + 1; n < x.axes.size(); ++n)
        weights.axes.push_back(axis_of_size("1", 1));
    return weights;
}

Part TensorReader::appended(Arguments& a) {
    Part both{.items = {tensor(a_input(a)), tensor_of(a.by_name.at("other"), a.at)}};
    a.by_name["tensors"] = both;
    if (a.by_name.contains("dim")) return joined(a);
    for (Part& x : a.by_name["tensors"].items) x = flat(std::move(x));
    a.by_name["dim"] = number_part(0.0);
    return joined(a);
}

Part TensorReader::joined_rows(Arguments& a) {
    Part& x = a.by_name.at(a.first);
    if (const auto other = a.by_name.find("other"); other != a.by_name.end()) {
        for (const Part* one : {&x, &other->second})
            if (tensor(*one).axes.size() != 1) fail_of_axes(a, *one, 1);
        x = tensor_of({.items = {x, other->second}}, a.at);
    }
    return x;
}

Part TensorReader::padded(Arguments& a) {
    Part x = settled(tensor(a_input(a)));
    if (a.module == "np") {  // a pair for each axis from the first on, or one for all
        const Part given = std::exchange(a.by_name.at("pad"), Part{});
        std::vector<Part>& flat = a.by_name.at("pad").items;
        const bool is_one = given.cell != nullptr, is_pair = !is_one && given.items.size() == 2 && given.items[0].cell;
        if (!is_one && !is_pair && given.items.size() != x.axes.size())
            throw FormulaError(message("{function} needs two sizes for each of the last axes of {operand}",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
        for (std::size_t n = x.axes.size(); n-- > 0;)
            for (std::size_t side = 0; side < 2; ++side)
                flat.push_back(is_one    ? given
                               : is_pair ? given.items[side]
                                         : item(given.items[n], number_part(static_cast<double>(side)), a.at));
    }
    const std::vector<Part>& sizes = a.by_name.at("pad").items;
    if (a.by_name.at("pad").cell || sizes.size() % 2 != 0 || sizes.size() / 2 > x.axes.size())
        throw FormulaError(message("{function} needs two sizes for each of the last axes of {operand}",
                                   {{"function", a.function}, {"operand", shown(x)}}),
                           a.at);
    const Expr beside = tensor(a.by_name.at("value")).cell;
    for (const IndexedAxis& axis : x.axes)
        if (axis.dim.size == 0) fail_without_tensor(a);
    for (std::size_t i = 0; i < sizes.size(); i += 2) {
        const std::size_t n = x.axes.size() - 1 - i / 2;
        const Index size = x.axes[n].dim.size, before = whole(sizes[i]), after = whole(sizes[i + 1]);
        if (size + before + after < 0) fail_without_tensor(a);
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

Part TensorReader::selected(Arguments& a) {
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

Part TensorReader::stacked_along(Arguments& a) {
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

Part TensorReader::diagonal_or_matrix(Arguments& a) {
    const std::size_t rank = tensor(a_input(a)).axes.size();
    if (rank > 2) fail_of_axes(a, a_input(a), 2);
    if (rank == 2) return said("input.diagonal(diagonal)", a.by_name, a.at);
    if (rank == 1 && whole(a.by_name.at("diagonal")) == 0) return said("diag_embed(input)", a.by_name, a.at);
    fail_of_axes(a, a_input(a), 2);
}

Part TensorReader::rearranged(Arguments& a) {
    using Names = std::vector<std::string>;
    const Part x = tensor_of(a_input(a), a.at);
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
    const auto left = groups_of(pattern.substr(0, arrow), true), right = groups_of(pattern.substr(arrow + 2), false);
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

Part TensorReader::unflattened(Arguments& a) {
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
            fail_without_tensor(a);
        } else {
            for (const Part& size : sizes)
                apart.all.push_back(whole(size) == -1 ? number_part(static_cast<double>(x.axes[n].dim.size / known))
                                                      : size);
        }
    return reshaped(apart);
}

}  // namespace decoderscope::formulas
