#pragma once

#include "engine/base/error.h"
#include "engine/base/index.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// Tensor operations in index notation, as values:
//
//     scores[b, h, q, k] = Σ_d query[b, h, q, d] · key[b, h div group, k, d] / √d_head
//
// A formula is an immutable tree. It is parsed, printed, evaluated, explained and differentiated by the other files
// here; none of them knows an operation by its name. A reduction's index has no name inside the tree (it is a de Bruijn
// level with a letter beside it for printing), so that two formulas that differ only in the letters of their sums are
// equal, and no substitution can capture an index. While a reduction is looked into, its index gets a name: `open` and
// `close`.
namespace decoderscope::formulas {

// The mistake and where it is: `at` is an offset in bytes into the text that was read, kNowhere if there is no such
// place.
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
class FormulaError : public Error {
public:
    FormulaError(Sentence sentence, std::size_t at) : Error(std::move(sentence)), at_(at) {}
    [[nodiscard]] std::size_t at() const { return at_; }

private:
    std::size_t at_;
};

// An axis of a tensor: "d_head", 16.
struct Dim {
    std::string axis;
    Index size = 0;
    bool operator==(const Dim&) const = default;
};
using Shape = std::vector<Dim>;

enum class Op : std::uint8_t {
    add,
    subtract,
    negate,
    multiply,
    divide,
    power,
    root,  // numbers
    choose,
    bracket,  // c ? a : b; [c] is 1 or 0
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    both,
    either,
    negation,  // conditions
    quotient,
    remainder,  // div and mod, of indices
    exp,
    log,
    sin,
    cos,
    atan,
    tanh,
    erf,
    sigmoid,
    abs,
    floor,
    min,
    max,     // functions
    round,   // to the nearest whole number, of two the even one
    stop,    // x, which passes no gradient on
    stored,  // x, as the run's arithmetic stores it
    // Of a definition whose whole body it is, of each matrix that the last two indices make (matrices.h)
    singular,
    eigen,
    inverse,
    pseudoinverse,
    eliminated,
    flow,
};
[[nodiscard]] constexpr bool is_of_matrix(Op op) { return op >= Op::singular; }
// What is done over an index. A count is a sum of brackets.
enum class Fold : std::uint8_t { sum, product, mean, max, min, argmax };

// A hash of both.
[[nodiscard]] constexpr std::size_t mixed(std::size_t a, std::size_t b) {
    return a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2));
}

struct Node;
// A node of the tree, shared between the formulas that have it.
using Expr = std::shared_ptr<const Node>;

struct Literal {
    double value;
    bool operator==(const Literal&) const = default;
};
// A number by its key: of the configuration ("eps"), or the size of an axis ("d_head").
struct Constant {
    std::string name;
    bool operator==(const Constant&) const = default;
};
// An index that is in scope, as a number.
struct FreeIndex {
    std::string name;
    bool operator==(const FreeIndex&) const = default;
};
// The index of the reduction so many levels further out.
struct BoundIndex {
    std::size_t level;
    bool operator==(const BoundIndex&) const = default;
};
// "…": all leading axes.
struct Leading {
    bool operator==(const Leading&) const = default;
};
// A cell of an operand or of a named sub-result; the children are its indices. "x[d]?" may be missing.
struct CellOf {
    std::string name;
    bool optional = false;
    bool operator==(const CellOf&) const = default;
};
struct Apply {
    Op op;
    bool operator==(const Apply&) const = default;
};
// A reduction of its one child over an index. `axis` is written ("Σ_{n: groups}") or empty; `dim` is known once the
// operands are.
struct Reduce {
    Fold fold;
    std::string letter;
    std::string axis;
    std::optional<Dim> dim;
    // Letters are only for reading, and sizes follow from the operands.
    bool operator==(const Reduce& other) const { return fold == other.fold && axis == other.axis; }
};
// A function of the book. If it runs along an index, that is the first child.
struct Call {
    std::string function;
    bool along = false;
    bool operator==(const Call&) const = default;
};
using What = std::variant<Literal, Constant, FreeIndex, BoundIndex, Leading, CellOf, Apply, Reduce, Call>;

struct Node {
    What what;
    std::vector<Expr> children;
    std::size_t at;                 // in the text it was read from; no part of its value
    std::size_t hash;               // of its value
    std::uint64_t nodes;            // in the tree written out, which may be far more than are in memory
    std::size_t height;             // of the tree
    std::size_t open;               // so many reductions around it have an index that it reads
    std::set<std::string> indices;  // the free ones

    template <class T>
    [[nodiscard]] const T* as() const {
        return std::get_if<T>(&what);
    }
    [[nodiscard]] bool is(Op op) const { return as<Apply>() != nullptr && as<Apply>()->op == op; }
    [[nodiscard]] bool is_of_matrix() const {
        return as<Apply>() != nullptr && formulas::is_of_matrix(as<Apply>()->op);
    }
    [[nodiscard]] bool is(Fold fold) const { return as<Reduce>() != nullptr && as<Reduce>()->fold == fold; }
    [[nodiscard]] const Expr& operator[](std::size_t i) const { return children[i]; }
};

// Throws FormulaError if these are more nodes or levels than docs/limits.md says.
void check_size(std::uint64_t nodes, std::size_t height = 0, std::size_t at = kNowhere);
// Checks the size of the tree, written out.
[[nodiscard]] Expr node(What what, std::vector<Expr> children = {}, std::size_t at = kNowhere);
// Whether both are the same value.
[[nodiscard]] bool same(const Expr& a, const Expr& b);

[[nodiscard]] Expr number(double value);
[[nodiscard]] Expr constant(std::string name);
[[nodiscard]] Expr index(std::string name);
[[nodiscard]] Expr cell_of(std::string name, std::vector<Expr> indices);
[[nodiscard]] Expr apply(Op op, std::vector<Expr> operands, std::size_t at = kNowhere);
[[nodiscard]] Expr operator+(const Expr& a, const Expr& b);
[[nodiscard]] Expr operator-(const Expr& a, const Expr& b);
[[nodiscard]] Expr operator*(const Expr& a, const Expr& b);
[[nodiscard]] Expr operator/(const Expr& a, const Expr& b);
// Of a number, the number with the other sign.
[[nodiscard]] Expr operator-(const Expr& a);

// The same node over other children.
[[nodiscard]] Expr with_children(const Expr& e, std::vector<Expr> children);
// The reduction of `body` over the index of this name, which is free in it.
[[nodiscard]] Expr reduction_of(const Reduce& reduce, const std::string& name, const Expr& body,
                                std::size_t at = kNowhere);
// What a reduction reduces, with `index` for its index.
[[nodiscard]] Expr body_at(const Expr& reduction, const Expr& index);
// A name like `letter` that is none of those.
[[nodiscard]] std::string fresh(const std::string& letter, const std::set<std::string>& taken);
// A name for a reduction's index, free in neither its body nor `taken`.
[[nodiscard]] std::string inner_name(const Expr& reduction, const std::set<std::string>& taken = {});

// The tree with some free indices replaced.
using Replacements = std::vector<std::pair<std::string, Expr>>;
[[nodiscard]] Expr substitute(const Expr& e, const Replacements& replacements);
// The tree with `rule` applied to each node, children first. Inside reductions their indices have names, none of them
// `taken`: those that the rule may bring in.
[[nodiscard]] Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& rule,
                           const std::set<std::string>& taken = {});
// Calls `visit` with each node, parents first; the index of a reduction is bound inside it.
void for_each(const Expr& e, const std::function<void(const Expr&)>& visit);
// Whether some node is as `test` says.
[[nodiscard]] bool any_node(const Expr& e, const std::function<bool(const Expr&)>& test);
// Whether this is a cell of this operand or sub-result, and whether one is read.
[[nodiscard]] bool is_cell_of(const Expr& e, std::string_view name);
[[nodiscard]] bool reads(const Expr& e, std::string_view name);
// The names of all whose cells are read.
[[nodiscard]] std::set<std::string> names_read(const Expr& e);

// So many indices may be in scope at one place.
inline constexpr std::size_t kMostPlaces = 64;

// An index on the left-hand side. `axis` is written or empty; the name "…" stands for all leading axes.
struct LeftIndex {
    std::string name;
    std::string axis;
    std::optional<Dim> dim;
    bool operator==(const LeftIndex& other) const { return name == other.name && axis == other.axis; }
};

// name[indices] = body. `start` is what a recurrence finds before its first step; null if it isn't one.
struct Definition {
    std::string name;
    std::vector<LeftIndex> indices;
    Expr body;
    Expr start;
    bool operator==(const Definition& other) const;
};

// A definition, and the named sub-results that it reads. A function of the book has parameters, and an index if it runs
// along one.
struct Formula {
    Definition main;
    std::vector<Definition> wheres;
    std::string along;
    std::vector<std::string> parameters;
    bool operator==(const Formula&) const = default;
};

// All definitions, the formula's own last.
[[nodiscard]] std::vector<const Definition*> definitions(const Formula& formula);
// The formula with each body changed.
[[nodiscard]] Formula with_bodies(Formula formula, const std::function<Expr(const Expr&)>& change);
// The names of a definition's indices, and their values as expressions.
[[nodiscard]] std::vector<Expr> own_indices(const Definition& definition);
// The shape of the definition's value; its dims must be known.
[[nodiscard]] Shape shape_of(const Definition& definition);

}  // namespace decoderscope::formulas
