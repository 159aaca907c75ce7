#include "engine/trace/layout.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace decoderscope::trace {

namespace {

using Sizes = std::vector<Index>;

Sizes without_ones(Sizes sizes) {
    std::erase(sizes, 1);
    return sizes;
}

// How theirs becomes ours: seen as `as`, its axes taken in the order `order`; then of the shape of ours but for
// `repeats` of its heads.
struct Way {
    Sizes as;
    std::vector<std::size_t> order;
    Index repeats = 1;
    bool broadcast = false;
    bool first_of_batch = false;
};

std::vector<std::size_t> as_they_are(std::size_t count) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    return order;
}

bool can_broadcast(const Sizes& from, const Sizes& to) {
    if (from.size() > to.size()) return false;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const Index own = from[from.size() - 1 - i], wanted = to[to.size() - 1 - i];
        if (own != wanted && own != 1) return false;
    }
    return true;
}

// The ways in which [batch, head, pos, width] is written elsewhere.
std::optional<Way> heads_way(const Sizes& o, const Sizes& t) {
    const Index b = o[0], h = o[1], p = o[2], d = o[3];
    if (t == Sizes{b, p, h * d}) return Way{{b, p, h, d}, {0, 2, 1, 3}};
    if (t == Sizes{p, b, h * d}) return Way{{p, b, h, d}, {1, 2, 0, 3}};
    if (t == Sizes{b, p, h, d}) return Way{t, {0, 2, 1, 3}};
    if (t.size() == 5 && t[0] == b && t[1] == p && t[2] * t[3] == h && t[4] == d)  // heads in groups
        return Way{{b, p, h, d}, {0, 2, 1, 3}};
    if (t == Sizes{b * h, p, d}) return Way{{b, h, p, d}, as_they_are(4)};
    if (t == Sizes{b * p, h * d}) return Way{{b, p, h, d}, {0, 2, 1, 3}};
    if (t == Sizes{b * p, h, d}) return Way{{b, p, h, d}, {0, 2, 1, 3}};
    if (t.size() == 4 && t[0] == b && t[2] == p && t[3] == d && t[1] > h && t[1] % h == 0)
        return Way{t, as_they_are(4), t[1] / h};
    return std::nullopt;
}

std::optional<Way> way_between(const Sizes& o, const Sizes& t, const Placed& placed) {
    if (o == t) return Way{t, as_they_are(t.size())};
    if (o.size() == 4)
        if (const auto way = heads_way(o, t)) return way;
    if (without_ones(o) == without_ones(t)) return Way{o, as_they_are(o.size())};
    if (o.size() == 3) {
        if (t == Sizes{o[1], o[0], o[2]}) return Way{t, {1, 0, 2}};
        if (t == Sizes{o[0] * o[1], o[2]}) return Way{o, as_they_are(3)};
    }
    if (placed.first_of_batch && t.size() == o.size() + 1 && std::equal(o.begin(), o.end(), t.begin() + 1))
        return Way{t, as_they_are(t.size()), 1, false, true};
    if (placed.broadcast && can_broadcast(t, o)) return Way{t, as_they_are(t.size()), 1, true};
    return std::nullopt;
}

// The sizes of theirs once its columns are chosen and its last axes turned.
Sizes prepared_sizes(Sizes sizes, const Placed& placed) {
    if (placed.columns > 0 && !sizes.empty()) sizes.back() = placed.columns;
    if (placed.turned && sizes.size() > 1) std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    return sizes;
}

// As many of the positions, the last, as were recorded: theirs [batch, few, width], or [batch, width] of one; ours
// [batch, pos, width].
std::optional<Index> last_rows_of(const Sizes& ours, const Sizes& theirs, const Placed& placed) {
    if (!placed.last_rows || ours.size() != 3) return std::nullopt;
    if (theirs == Sizes{ours[0], ours[2]} && ours[1] > 1) return 1;
    const bool fewer = theirs.size() == 3 && ours[0] == theirs[0] && ours[2] == theirs[2] && theirs[1] < ours[1];
    return fewer ? std::optional(theirs[1]) : std::nullopt;
}

bool columns_fit(const Sizes& sizes, const Placed& placed) {
    return placed.columns == 0 || (!sizes.empty() && placed.first_column + placed.columns <= sizes.back());
}

Sizes one_head(Sizes sizes, const Placed& placed) {
    if (placed.head >= 0 && sizes.size() == 4) sizes[1] = 1;
    return sizes;
}

// A tensor whose cell at each index is `at` of that index.
Tensor gathered(const Sizes& sizes, const std::function<float(const Cell&)>& at) {
    Tensor out(unnamed(sizes));
    const std::span<float> values = out.writable();
    Cell cell(sizes.size(), 0);
    for (float& value : values) {
        value = at(cell);
        for (std::size_t axis = sizes.size(); axis-- > 0;) {
            if (++cell[axis] < sizes[axis]) break;
            cell[axis] = 0;
        }
    }
    return out;
}

Tensor prepared(const Tensor& theirs, const Placed& placed) {
    const Sizes stored = decoderscope::sizes_of(theirs.axes()), sizes = prepared_sizes(stored, placed);
    const bool cut = placed.columns > 0 && placed.columns != stored.back();
    if (!cut && !placed.turned) return theirs;
    return gathered(sizes, [&](const Cell& cell) {
        Cell from = cell;
        if (placed.turned) std::swap(from[from.size() - 1], from[from.size() - 2]);
        if (placed.columns > 0) from.back() += placed.first_column;
        return theirs.at(from);
    });
}

Tensor of_head(const Tensor& ours, Index head) {
    Sizes sizes = decoderscope::sizes_of(ours.axes());
    sizes[1] = 1;
    return gathered(sizes, [&](Cell cell) {
        cell[1] = head;
        return ours.at(cell);
    });
}

// Whether repeated heads were tiled (0 1 0 1), not repeated in turn (0 0 1 1).
bool is_tiled(const Tensor& theirs, Index heads) {
    const auto head = [&](Index number) {
        const Index size = theirs.dim(2) * theirs.dim(3);
        return theirs.values().subspan(static_cast<std::size_t>(number * size), static_cast<std::size_t>(size));
    };
    return heads > 1 && std::ranges::equal(head(0), head(heads)) && !std::ranges::equal(head(0), head(1));
}

Tensor with_repeats(const Tensor& ours, Index repeats, bool tiled) {
    Sizes sizes = decoderscope::sizes_of(ours.axes());
    const Index heads = sizes[1];
    sizes[1] *= repeats;
    return gathered(sizes, [&](Cell cell) {
        cell[1] = tiled ? cell[1] % heads : cell[1] / repeats;
        return ours.at(cell);
    });
}

Tensor arranged(const Tensor& theirs, const Way& way, const Sizes& wanted) {
    const Tensor seen = theirs.with_axes(unnamed(way.as));
    const bool in_order = std::ranges::is_sorted(way.order);
    if (way.broadcast)
        return gathered(wanted, [&](const Cell& cell) {
            Cell from(way.as.size());
            for (std::size_t i = 0; i < from.size(); ++i)
                from[i] = way.as[i] == 1 ? 0 : cell[cell.size() - from.size() + i];
            return seen.at(from);
        });
    if (way.first_of_batch)
        return gathered(wanted, [&](const Cell& cell) {
            Cell from = {0};
            from.insert(from.end(), cell.begin(), cell.end());
            return seen.at(from);
        });
    if (in_order) return seen.with_axes(unnamed(wanted));
    return gathered(wanted, [&](const Cell& cell) {
        Cell from(cell.size());
        for (std::size_t i = 0; i < cell.size(); ++i) from[way.order[i]] = cell[i];
        return seen.at(from);
    });
}

// The columns of the first half before those of the second, which stand before them, or else both in turn.
Tensor halves_in_order(const Tensor& heads, bool swapped) {
    const Index half = heads.dim(heads.rank() - 1) / 2;
    return gathered(decoderscope::sizes_of(heads.axes()), [&](Cell cell) {
        Index& column = cell.back();
        const bool first = column < half;
        column = swapped ? (first ? column + half : column - half) : first ? 2 * column : 2 * (column - half) + 1;
        return heads.at(cell);
    });
}

}  // namespace

Tensor without_repeats(const Tensor& theirs, const Axes& axes) {
    if (theirs.rank() != 4 || theirs.dim(1) == axes[1].size) return theirs;
    const Index heads = axes[1].size, repeats = theirs.dim(1) / heads;
    const bool tiled = is_tiled(theirs, heads);
    return gathered(decoderscope::sizes_of(axes), [&](Cell cell) {
        if (!tiled) cell[1] *= repeats;
        return theirs.at(cell);
    });
}

bool can_be_laid_out(const Axes& ours, const Axes& theirs, const Placed& placed) {
    const Sizes stored = decoderscope::sizes_of(theirs);
    if (last_rows_of(decoderscope::sizes_of(ours), stored, placed)) return true;
    return columns_fit(stored, placed) &&
           way_between(one_head(decoderscope::sizes_of(ours), placed), prepared_sizes(stored, placed), placed)
               .has_value();
}

std::optional<LaidOut> laid_out(const Tensor& ours, const Tensor& theirs, const Placed& placed) {
    const Sizes stored = decoderscope::sizes_of(theirs.axes());
    Sizes wanted = one_head(decoderscope::sizes_of(ours.axes()), placed);
    if (theirs.empty() || !columns_fit(stored, placed)) return std::nullopt;
    if (const auto rows = last_rows_of(wanted, stored, placed)) {
        const Index before = wanted[1] - *rows;
        wanted[1] = *rows;
        return LaidOut{gathered(wanted,
                                [&](Cell cell) {
                                    cell[1] += before;
                                    return ours.at(cell);
                                }),
                       theirs.with_axes(unnamed(wanted))};
    }
    const auto way = way_between(wanted, prepared_sizes(stored, placed), placed);
    if (!way) return std::nullopt;
    LaidOut both;
    both.ours = placed.head >= 0 && ours.rank() == 4 ? of_head(ours, placed.head) : ours;
    const Index heads = way->repeats > 1 ? wanted[1] : 0;
    if (heads > 0) wanted[1] *= way->repeats;
    both.theirs = arranged(prepared(theirs, placed), *way, wanted);
    if (heads > 0) both.ours = with_repeats(both.ours, way->repeats, is_tiled(both.theirs, heads));
    if (placed.in_turn || placed.swapped) both.theirs = halves_in_order(both.theirs, placed.swapped);
    if (placed.inverted)
        for (float& kept : both.theirs.writable()) kept = kept == 0.0F ? 1.0F : 0.0F;
    return both;
}

}  // namespace decoderscope::trace
