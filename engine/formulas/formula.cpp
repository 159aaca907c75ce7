#include "engine/formulas/formula.h"

#include "engine/base/limits.h"

#include <algorithm>

namespace decoderscope::formulas {
namespace {

std::size_t hash_of(const What& what) {
    const std::hash<std::string> text;
    struct Visitor {
        const std::hash<std::string>& text;
        std::size_t operator()(const Literal& n) const { return std::hash<double>()(n.value); }
        std::size_t operator()(const Constant& c) const { return text(c.name); }
        std::size_t operator()(const FreeIndex& i) const { return text(i.name); }
        std::size_t operator()(const BoundIndex& i) const { return i.level; }
        std::size_t operator()(const Leading&) const { return 0; }
        std::size_t operator()(const CellOf& c) const { return text(c.name); }
        std::size_t operator()(const Apply& a) const { return static_cast<std::size_t>(a.op); }
        std::size_t operator()(const Reduce& r) const { return mixed(static_cast<std::size_t>(r.fold), text(r.axis)); }
        std::size_t operator()(const Call& c) const { return text(c.function); }
    };
    return mixed(what.index(), std::visit(Visitor{text}, what));
}

// The same node over its children as `change` makes them; itself if it leaves them as they are.
template <class Change>
Expr over_changed(const Expr& e, const Change& change) {
    std::vector<Expr> children;
    children.reserve(e->children.size());
    bool changed = false;
    for (const Expr& child : e->children) {
        children.push_back(change(child));
        changed = changed || children.back() != child;
    }
    return changed ? with_children(e, std::move(children)) : e;
}

// The tree with `leaf(leaf, depth)` for each leaf, where depth counts the reductions around it; what has no such leaf,
// as `has(tree, depth)` says, stays as it is.
template <class Has, class Leaf>
Expr with_leaves(const Expr& e, std::size_t depth, const Has& has, const Leaf& leaf) {
    if (!has(e, depth)) return e;
    if (e->children.empty()) return leaf(e, depth);
    const std::size_t inside = depth + (e->as<Reduce>() != nullptr ? 1 : 0);
    return over_changed(e, [&](const Expr& child) { return with_leaves(child, inside, has, leaf); });
}

}  // namespace

void check_size(std::uint64_t nodes, std::size_t height, std::size_t at) {
    if (nodes > limits::kFormulaNodes || height > limits::kFormulaHeight)
        throw FormulaError(message("the formula is too large: written out it has more than {count} parts",
                                   {{"count", limits::kFormulaNodes}}),
                           at);
}

Expr node(What what, std::vector<Expr> children, std::size_t at) {
    std::size_t hash = hash_of(what);
    std::uint64_t nodes = 1;
    std::size_t height = 1, open = 0;
    std::set<std::string> indices;
    if (const auto* free = std::get_if<FreeIndex>(&what)) indices.insert(free->name);
    if (const auto* bound = std::get_if<BoundIndex>(&what)) open = bound->level + 1;
    for (const Expr& child : children) {
        hash = mixed(hash, child->hash);
        nodes += child->nodes;
        height = std::max(height, child->height + 1);
        open = std::max(open, child->open);
        indices.insert(child->indices.begin(), child->indices.end());
    }
    if (std::holds_alternative<Reduce>(what) && open > 0) --open;
    check_size(nodes, height, at);
    return std::make_shared<const Node>(
        Node{std::move(what), std::move(children), at, hash, nodes, height, open, std::move(indices)});
}

bool same(const Expr& a, const Expr& b) {
    if (a == b) return true;
    if (!a || !b || a->hash != b->hash || a->nodes != b->nodes || !(a->what == b->what)) return false;
    return std::ranges::equal(a->children, b->children, same);
}

Expr number(double value) { return node(Literal{value}); }
Expr constant(std::string name) { return node(Constant{std::move(name)}); }
Expr index(std::string name) { return node(FreeIndex{std::move(name)}); }
Expr cell_of(std::string name, std::vector<Expr> indices) { return node(CellOf{std::move(name)}, std::move(indices)); }
Expr apply(Op op, std::vector<Expr> operands, std::size_t at) { return node(Apply{op}, std::move(operands), at); }
Expr operator+(const Expr& a, const Expr& b) { return apply(Op::add, {a, b}); }
Expr operator-(const Expr& a, const Expr& b) { return apply(Op::subtract, {a, b}); }
Expr operator*(const Expr& a, const Expr& b) { return apply(Op::multiply, {a, b}); }
Expr operator/(const Expr& a, const Expr& b) { return apply(Op::divide, {a, b}); }
Expr operator-(const Expr& a) {
    if (const auto* n = a->as<Literal>()) return number(-n->value);
    return apply(Op::negate, {a});
}

Expr with_children(const Expr& e, std::vector<Expr> children) { return node(e->what, std::move(children), e->at); }

Expr reduction_of(const Reduce& reduce, const std::string& name, const Expr& body, std::size_t at) {
    const auto reads_it = [&](const Expr& e, std::size_t) { return e->indices.contains(name); };
    const auto bound = [](const Expr& leaf, std::size_t depth) { return node(BoundIndex{depth}, {}, leaf->at); };
    return node(reduce, {with_leaves(body, 0, reads_it, bound)}, at);
}

Expr body_at(const Expr& reduction, const Expr& index) {
    const auto reads_it = [](const Expr& e, std::size_t depth) { return e->open > depth; };
    return with_leaves((*reduction)[0], 0, reads_it, [&](const Expr& leaf, std::size_t depth) {
        return leaf->as<BoundIndex>()->level == depth ? index : leaf;
    });
}

std::string fresh(const std::string& letter, const std::set<std::string>& taken) {
    if (!taken.contains(letter)) return letter;
    for (const char other : std::string_view("jimnrstuvwacdefglopqxyz"))
        if (!taken.contains(std::string(1, other))) return {other};
    for (int i = 2;; ++i)
        if (std::string name = letter + std::to_string(i); !taken.contains(name)) return name;
}

std::string inner_name(const Expr& reduction, const std::set<std::string>& taken) {
    std::set<std::string> all = taken;
    all.insert(reduction->indices.begin(), reduction->indices.end());
    return fresh(reduction->as<Reduce>()->letter, all);
}

Expr substitute(const Expr& e, const Replacements& replacements) {
    const auto changes = [](const Expr& x, const auto& replacement) {
        const auto& [name, by] = replacement;
        const auto* same_one = by->template as<FreeIndex>();
        return x->indices.contains(name) && (same_one == nullptr || same_one->name != name);
    };
    const auto found = [&](const Expr& x) {
        return std::ranges::find_if(replacements, [&](const auto& r) { return changes(x, r); });
    };
    return with_leaves(
        e, 0, [&](const Expr& x, std::size_t) { return found(x) != replacements.end(); },
        [&](const Expr& leaf, std::size_t) { return found(leaf)->second; });
}

Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& rule, const std::set<std::string>& taken) {
    const auto* reduce = e->as<Reduce>();
    if (reduce == nullptr) return rule(over_changed(e, [&](const Expr& child) { return rewrite(child, rule, taken); }));
    const std::string name = inner_name(e, taken);
    const Expr body = body_at(e, index(name)), changed = rewrite(body, rule, taken);
    return rule(changed == body ? e : reduction_of(*reduce, name, changed, e->at));
}

void for_each(const Expr& e, const std::function<void(const Expr&)>& visit) {
    visit(e);
    for (const Expr& child : e->children) for_each(child, visit);
}

bool any_node(const Expr& e, const std::function<bool(const Expr&)>& test) {
    return test(e) || std::ranges::any_of(e->children, [&](const Expr& child) { return any_node(child, test); });
}

bool is_cell_of(const Expr& e, std::string_view name) {
    const auto* cell = e->as<CellOf>();
    return cell != nullptr && cell->name == name;
}

bool reads(const Expr& e, std::string_view name) {
    return any_node(e, [&](const Expr& x) { return is_cell_of(x, name); });
}

std::set<std::string> names_read(const Expr& e) {
    std::set<std::string> names;
    for_each(e, [&](const Expr& x) {
        if (const auto* cell = x->as<CellOf>()) names.insert(cell->name);
    });
    return names;
}

bool Definition::operator==(const Definition& other) const {
    return name == other.name && indices == other.indices && same(body, other.body) && same(start, other.start);
}

std::vector<const Definition*> definitions(const Formula& formula) {
    std::vector<const Definition*> all;
    for (const Definition& where : formula.wheres) all.push_back(&where);
    all.push_back(&formula.main);
    return all;
}

Formula with_bodies(Formula formula, const std::function<Expr(const Expr&)>& change) {
    for (Definition& where : formula.wheres) where.body = change(where.body);
    formula.main.body = change(formula.main.body);
    return formula;
}

std::vector<Expr> own_indices(const Definition& definition) {
    std::vector<Expr> indices;
    for (const LeftIndex& i : definition.indices) indices.push_back(index(i.name));
    return indices;
}

Shape shape_of(const Definition& definition) {
    Shape shape;
    for (const LeftIndex& i : definition.indices) shape.push_back(i.dim.value());
    return shape;
}

}  // namespace decoderscope::formulas
