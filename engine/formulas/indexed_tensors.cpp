#include "engine/formulas/indexed_tensors.h"

#include "engine/formulas/evaluate.h"
#include "engine/formulas/print.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::formulas {
namespace {

bool is_along(const Expr& cell, const std::string& index) {
    return any_node(cell, [&](const Expr& e) {
        const auto* call = e->as<Call>();
        return call != nullptr && call->along && (*e)[0]->as<FreeIndex>() != nullptr &&
               (*e)[0]->as<FreeIndex>()->name == index;
    });
}

}  // namespace

std::optional<double> literal(const Expr& e) {
    return e && e->as<Literal>() != nullptr ? std::optional(e->as<Literal>()->value) : std::nullopt;
}

Expr as_condition(const Expr& e) { return e->is(Op::bracket) ? (*e)[0] : e; }

Expr as_number(const Expr& e) { return compares(e) ? apply(Op::bracket, {e}) : e; }

Expr applied(Op op, std::vector<Expr> in, std::size_t at) {
    const bool joins = op == Op::either || op == Op::both || op == Op::negation;
    if (op == Op::multiply || op == Op::divide)  // as 1 or 0: index notation's [c] leaves out what it is 0 times
        for (Expr& factor : in)
            if (factor->is(Op::bracket)) factor = apply(Op::choose, {(*factor)[0], number(1.0), number(0.0)}, at);
    if (op == Op::bracket) return in[0]->is(Op::bracket) ? in[0] : apply(op, std::move(in), at);
    if (op == Op::negate) return -in[0];
    if (op == Op::choose) in[0] = as_condition(in[0]);
    if (joins) std::ranges::transform(in, in.begin(), as_condition);
    Expr e = apply(op, std::move(in), at);
    return joins || spelling_of(op).level == level::comparison ? apply(Op::bracket, {e}, at) : e;
}

std::string clipped(std::string_view text) {
    std::size_t end = std::min<std::size_t>(text.size(), 80);
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return std::string(text.substr(0, end)) + (end < text.size() ? "…" : "");
}

Part number_part(double value, std::size_t begin, std::size_t end) {
    return {.begin = begin, .end = end, .cell = number(value)};
}

std::string_view IndexedTensors::text_of(const Part& x) const {
    return text_.substr(std::min(x.begin, text_.size()), x.end - x.begin);
}

std::string IndexedTensors::shown(const Part& x) const {
    Shape shape;
    for (const IndexedAxis& axis : x.axes) shape.push_back(axis.dim);
    return shape_text(clipped(text_of(x)), shape);
}

void IndexedTensors::fail_to_fit(const Dim& a, const std::string& of_a, const Dim& b, const std::string& of_b,
                                 std::size_t at) {
    throw FormulaError(message("{axis} ({size}) of {operand} doesn't fit {other_axis} ({other_size}) of {other}",
                               {{"axis", a.axis},
                                {"size", a.size},
                                {"operand", of_a},
                                {"other_axis", b.axis},
                                {"other_size", b.size},
                                {"other", of_b}}),
                       at);
}

const Part& IndexedTensors::tensor(const Part& x) const {
    if (x.quoted == kComplex)
        throw FormulaError(message("{operand} are complex numbers: take .real, .imag or .abs() of them",
                                   {{"operand", clipped(text_of(x))}}),
                           x.begin);
    if (x.quoted == kPartition)
        throw FormulaError(
            message("{operand} has only the number at that place in order: read it there, or add up what "
                    "is from it on, or before it; or write np.sort(x)",
                    {{"operand", clipped(text_of(x))}}),
            x.begin);
    if (!x.cell && x.items.size() == 2 && !text_of(x).starts_with("(") && text_of(x).ends_with(')'))
        throw FormulaError(message("{operand} are values and their places, as in PyTorch: write .values or .indices",
                                   {{"operand", clipped(text_of(x))}}),
                           x.begin);
    if (!x.cell && !x.items.empty() && text_of(x).ends_with(')') && !text_of(x).starts_with("("))
        throw FormulaError(message("{operand} are several tensors, as in PyTorch: write which, as .values, .S or [0]",
                                   {{"operand", clipped(text_of(x))}}),
                           x.begin);
    if (!x.cell) throw FormulaError(message("a tensor or a number is needed here"), x.begin);
    if (x.chosen)
        throw FormulaError(message("{operand} has as many numbers as the comparison chooses, which is no axis: only "
                                   "their .sum() or .mean() can be read, or write where(…, x, 0) instead",
                                   {{"operand", clipped(text_of(x))}}),
                           x.begin);
    return x;
}

Index IndexedTensors::whole(const Part& x) const {
    const auto value = known(x);
    // As 1.0 is none in Python; x.shape[-1] has a dot, too, and is one.
    const std::string_view text = text_of(x);
    const bool is_decimal =
        text.find('.') != std::string_view::npos && text.find_first_not_of("-0123456789.") == std::string_view::npos;
    if (!value || is_truth(x) || is_decimal || *value != std::floor(*value) ||
        std::abs(*value) > static_cast<double>(limits::kNumbers))
        throw FormulaError(message("a whole number is needed here"), x.begin);
    return static_cast<Index>(*value);
}

Index IndexedTensors::from_front(Index n, Index size) { return n < 0 ? n + size : n; }

bool IndexedTensors::is_axis_of_number(const Part& x, Index dim) { return x.axes.empty() && (dim == 0 || dim == -1); }

std::size_t IndexedTensors::position(const Part& x, Index dim, std::size_t at) const {
    const Index place = from_front(dim, static_cast<Index>(x.axes.size()));
    if (place < 0 || place >= static_cast<Index>(x.axes.size()))
        throw FormulaError(message("there is no axis {axis} of {operand}", {{"axis", dim}, {"operand", shown(x)}}), at);
    return static_cast<std::size_t>(place);
}

NumberKind IndexedTensors::kind(const Part& x) const {
    if (is_truth(x)) return NumberKind::condition;
    const std::function<NumberKind(const std::string&)> of_cell = [&](const std::string& name) {
        if (const auto kind = known_.kinds.find(name); kind != known_.kinds.end()) return kind->second;
        if (const auto part = wheres_.find(name); part != wheres_.end()) return kind_of(part->second.cell, of_cell);
        const auto number = numbers_.find(name);
        return number == numbers_.end() || known_.operands.contains(name)
                   ? NumberKind::real
                   : kind_of(formulas::number(number->second), of_cell);
    };
    return kind_of(x.cell, of_cell);
}

std::string IndexedTensors::new_index(const std::string& axis) {
    const bool letter = !axis.empty() && ((axis[0] >= 'a' && axis[0] <= 'z') || (axis[0] >= 'A' && axis[0] <= 'Z'));
    return "#" + std::to_string(indices_++) + (letter ? axis.substr(0, 1) : "i");
}

IndexedAxis IndexedTensors::axis_of_size(const std::string& name, Index size) {
    return {.dim = {name, size}, .index = new_index(name), .is_said = false};
}

std::string IndexedTensors::written_axis(const IndexedAxis& axis) const {
    if (axis.is_said && !axis.is_mixed) return "";
    const auto known = numbers_.find(axis.dim.axis);
    const bool agrees = known != numbers_.end() && known->second == static_cast<double>(axis.dim.size);
    return agrees ? axis.dim.axis : std::to_string(axis.dim.size);
}

Expr IndexedTensors::size_of(const IndexedAxis& axis) const {
    const std::string& name = axis.dim.axis;
    const auto known = numbers_.find(name);
    return !goes_with_any(name) && known != numbers_.end() && known->second == static_cast<double>(axis.dim.size)
               ? constant(name)
               : number(static_cast<double>(axis.dim.size));
}

IndexedAxis IndexedTensors::met(const IndexedAxis& a, const IndexedAxis& b) {
    const bool a_any = goes_with_any(a.dim.axis), b_any = goes_with_any(b.dim.axis);
    IndexedAxis one = a;
    if (a_any) one.dim = b.dim;
    one.is_said = a.is_said || b.is_said;
    one.is_mixed = a.is_mixed || b.is_mixed || (a.dim.axis != b.dim.axis && !a_any && !b_any);
    return one;
}

Part IndexedTensors::at_index(Part x, std::size_t axis, const Expr& at, bool is_part) {
    if ((is_part || at->as<FreeIndex>() == nullptr) && is_along(x.cell, x.axes[axis].index)) x = sub_result(x);
    x.cell = substitute(x.cell, {{x.axes[axis].index, at}});
    if (literal(at))  // which of two is read is known then, and the other may be none
        x.cell = rewrite(x.cell, [&](const Expr& e) {
            const auto holds = e->is(Op::choose) ? known((*e)[0]) : std::nullopt;
            return holds ? (*e)[*holds != 0.0 ? 1 : 2] : e;
        });
    x.axes.erase(x.axes.begin() + static_cast<std::ptrdiff_t>(axis));
    return x;
}

Part IndexedTensors::sub_result(Part x) {
    std::string name = "part";
    for (int i = 2; known_.operands.contains(name) || numbers_.contains(name) || wheres_.contains(name); ++i)
        name = "part" + std::to_string(i);
    wheres_.emplace(name, x);
    std::vector<Expr> at;
    for (const IndexedAxis& axis : x.axes) at.push_back(index(axis.index));
    x.cell = cell_of(name, std::move(at));
    return x;
}

Part IndexedTensors::settled(Part x) {
    const bool runs = std::ranges::any_of(x.axes, [&](const IndexedAxis& a) { return is_along(x.cell, a.index); });
    return runs ? sub_result(std::move(x)) : x;
}

void IndexedTensors::broadcast(std::vector<Part>& parts, std::size_t at) {
    const std::vector<Part> before = parts;
    std::size_t rank = 0;
    for (const Part& x : parts) rank = std::max(rank, x.axes.size());
    std::vector<IndexedAxis> axes;
    for (std::size_t right = 1; right <= rank; ++right) {
        std::optional<IndexedAxis> here;
        std::size_t whose = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (before[i].axes.size() < right) continue;
            const IndexedAxis& own = *(before[i].axes.end() - static_cast<std::ptrdiff_t>(right));
            if (here && own.dim.size != here->dim.size && own.dim.size != 1 && here->dim.size != 1)
                fail_to_fit(here->dim, shown(before[whose]), own.dim, shown(before[i]), at);
            if (!here || (here->dim.size == 1 && own.dim.size != 1))
                here = own, whose = i;
            else if (here->dim.size == own.dim.size)
                here = met(*here, own);
        }
        axes.insert(axes.begin(), *here);
    }
    for (Part& x : parts) {
        const auto first = axes.end() - static_cast<std::ptrdiff_t>(x.axes.size());
        const bool stretched = !std::equal(x.axes.begin(), x.axes.end(), first,
                                           [](const auto& a, const auto& b) { return a.dim.size == b.dim.size; });
        if (stretched) x = settled(x);
        for (auto axis = axes.end(); !x.axes.empty();) {
            --axis;
            const bool one = x.axes.back().dim.size != axis->dim.size;
            if (x.axes.back().index == axis->index)
                x.axes.pop_back();
            else
                x = at_index(x, x.axes.size() - 1, one ? number(0.0) : index(axis->index));
        }
        x.axes = axes;
    }
}

Part IndexedTensors::applied_to(Op op, std::vector<Part> parts, std::size_t at) {
    for (const Part& x : parts) tensor(x);
    broadcast(parts, at);
    std::vector<Expr> cells;
    for (const Part& x : parts) cells.push_back(x.cell);
    return {.axes = parts[0].axes, .cell = applied(op, std::move(cells), at)};
}

Part IndexedTensors::applied_to_chosen(Op op, std::vector<Part> parts, std::size_t at) {
    const auto found = std::ranges::find_if(parts, [](const Part& x) { return x.chosen != nullptr; });
    if (found == parts.end()) return applied_to(op, std::move(parts), at);
    const Part first = *found;
    const auto chosen_at = [&](const Part& x, const std::vector<IndexedAxis>& axes) {
        Expr chosen = x.chosen;
        for (std::size_t i = 0; i < axes.size(); ++i)
            chosen = substitute(chosen, {{x.axes[i].index, index(axes[i].index)}});
        return chosen;
    };
    for (Part& x : parts) {
        const bool is_number = !x.chosen && x.axes.empty();
        if (!is_number &&
            (!x.chosen || x.axes.size() != first.axes.size() || !same(chosen_at(x, first.axes), first.chosen)))
            tensor(first);
        x.chosen = nullptr;
    }
    Part y = applied_to(op, std::move(parts), at);
    y.chosen = chosen_at(first, y.axes);
    return y;
}

Part IndexedTensors::places_in(const IndexedAxis& axis, Part places, const Part& of) const {
    const NumberKind kind_of_places = kind(tensor(places));
    if (kind_of_places == NumberKind::real) throw FormulaError(message("a whole number is needed here"), places.begin);
    if (kind_of_places == NumberKind::condition)
        throw FormulaError(message("a comparison is no place of {operand}: if the places 0 and 1 are meant, write "
                                   "(… ? 1 : 0)",
                                   {{"operand", shown(of)}}),
                           places.begin);
    std::vector<double> all;  // if no tensor says what they are
    if (const auto one = known(places)) {
        all.push_back(*one);
        places.cell = number(*one < 0.0 ? *one + static_cast<double>(axis.dim.size) : *one);
    } else if (!any_node(places.cell, [](const Expr& e) { return e->as<CellOf>() != nullptr; })) {
        const Operands none;
        all = Evaluator(elaborate({.main = definition_of("n", places, false)}, known_, functions_), none, known_).all();
    }
    const auto size = static_cast<double>(axis.dim.size);
    const bool any = std::ranges::all_of(places.axes, [](const IndexedAxis& own) { return own.dim.size > 0; });
    if (axis.dim.size == 0 && any) all.push_back(0.0);
    for (const double place : all)
        if (place < -size || place >= size)
            throw FormulaError(message("{axis} of {operand} has no place {place}",
                                       {{"axis", axis.dim.axis}, {"operand", shown(of)}, {"place", written(place)}}),
                               places.begin);
    if (kind(places) == NumberKind::whole && (all.empty() || std::ranges::min(all) < 0.0))
        places.cell =
            applied(Op::choose, {apply(Op::less, {places.cell, number(0.0)}), places.cell + size_of(axis), places.cell},
                    places.begin);
    return places;
}

Part IndexedTensors::at_places(Part x, const std::vector<std::size_t>& axes, std::vector<Part> places, std::size_t at) {
    x = settled(std::move(x));
    broadcast(places, at);
    const auto is_index = [](const Part& place) { return place.cell->as<FreeIndex>() != nullptr; };
    if (std::ranges::any_of(places, is_index))  // which is none of the axis that it reads
        for (IndexedAxis& axis : places[0].axes) axis.is_mixed = true;
    for (std::size_t i = axes.size(); i-- > 0;) x = at_index(x, axes[i], places[i].cell);
    // Other axes between them leave no one place for what they have in common.
    const std::size_t first = axes.back() - axes.front() + 1 == axes.size() ? axes.front() : 0;
    x.axes.insert(x.axes.begin() + static_cast<std::ptrdiff_t>(first), places[0].axes.begin(), places[0].axes.end());
    return x;
}

Part IndexedTensors::reduced(Part x, std::size_t axis, Fold fold) {
    x.cell = reduction(x.cell, x.axes[axis], fold, kNowhere);
    x.axes.erase(x.axes.begin() + static_cast<std::ptrdiff_t>(axis));
    return x;
}

Expr IndexedTensors::reduction(const Expr& cell, IndexedAxis over, Fold fold, std::size_t at) const {
    over.is_said =
        over.is_said && any_node(cell, [&](const Expr& e) {  // at a place of its own
            return e->as<CellOf>() != nullptr && std::ranges::any_of(e->children, [&](const Expr& place) {
                       return place->as<FreeIndex>() != nullptr && place->as<FreeIndex>()->name == over.index;
                   });
        });
    const Reduce reduce{fold, over.index.substr(over.index.size() - 1), written_axis(over), std::nullopt};
    return reduction_of(reduce, over.index, cell, at);
}

Part IndexedTensors::swapped(Part x, Index a, Index b) const {
    std::swap(x.axes[position(x, a, x.begin)], x.axes[position(x, b, x.begin)]);
    return x;
}

Part IndexedTensors::product(Part a, Part b, std::size_t at) {
    const std::size_t rows = a.axes.size(), columns = b.axes.size();
    if (rows == 0 || columns == 0) throw FormulaError(message("a matrix product needs two tensors"), at);
    const std::string of_a = shown(a), of_b = shown(b);
    if (columns > 1) b = swapped(b, -2, -1);
    if (a.axes.back().dim.size != b.axes.back().dim.size)
        fail_to_fit(a.axes.back().dim, of_a, b.axes.back().dim, of_b, at);
    if (rows > 1 && columns > 1) {
        a.axes.insert(a.axes.end() - 1, axis_of_size("1", 1));
        b.axes.insert(b.axes.end() - 2, axis_of_size("1", 1));
    }
    Part y = applied_to(Op::multiply, {a, b}, at);
    return reduced(y, y.axes.size() - 1, Fold::sum);
}

Definition IndexedTensors::definition_of(const std::string& name, const Part& x, bool is_sub_result) const {
    Definition d{.name = name, .body = x.cell};
    std::set<std::string> taken;
    const auto take_constants = [&](const Expr& body) {
        for_each(body, [&](const Expr& e) {
            if (const auto* c = e->as<Constant>()) taken.insert(c->name);
        });
    };
    take_constants(d.body);
    for (const auto& [part, where] : wheres_)
        take_constants(where.cell);  // which read the letters of the formula's own
    const auto letter = [&](const std::string& index) {
        std::string free = fresh(index.substr(index.size() - 1), taken);
        taken.insert(free);
        return free;
    };
    Replacements renamed;
    for (const IndexedAxis& axis : x.axes) {
        IndexedAxis written = axis;
        written.is_said = axis.is_said && !is_sub_result;  // else a part of it that is read might be meant
        d.indices.push_back({.name = letter(axis.index), .axis = written_axis(written)});
        renamed.emplace_back(axis.index, index(d.indices.back().name));
    }
    for (const std::string& along : d.body->indices)  // which a function reduces
        if (std::ranges::find(x.axes, along, &IndexedAxis::index) == x.axes.end())
            renamed.emplace_back(along, index(letter(along)));
    d.body = substitute(d.body, renamed);
    return d;
}

}  // namespace decoderscope::formulas
