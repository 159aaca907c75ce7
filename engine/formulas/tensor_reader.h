#pragma once

#include "engine/formulas/indexed_tensors.h"
#include "engine/formulas/tokens.h"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The reader of formulas as in PyTorch: whole_tensors.cpp reads expressions, tensor_calls.cpp calls functions by the
// table of names.txt, and the other files have those that are code: of axes, of rows in order, of matrices, of numbers.
namespace decoderscope::formulas {

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
    bool as_in_numpy = false;       // whether an axis is given as NumPy calls it
    std::set<std::string> nones{};  // the parameters that are
    std::string dtype{};            // "float", "int" or "bool", if it is given
};

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

// Types of numbers by their names, as far as formulas know any.
inline constexpr std::array kTypes{
    std::pair{"float32", "float"}, std::pair{"float64", "float"}, std::pair{"double", "float"},
    std::pair{"float", "float"},   std::pair{"float_", "float"},  std::pair{"int64", "int"},
    std::pair{"int32", "int"},     std::pair{"long", "int"},      std::pair{"int", "int"},
    std::pair{"bool", "bool"},     std::pair{"bool_", "bool"}};
// The type of a name, in quotation marks or as it is read without; empty for other names.
[[nodiscard]] std::string type_called(std::string_view quoted);
// A row's operation, without what its default values do nothing in.
[[nodiscard]] Expr without_defaults(Op op, const std::vector<Expr>& in, std::size_t at);
// The parts of a text around what stands between them.
[[nodiscard]] std::vector<std::string> split(std::string_view text, std::string_view between);

class TensorReader : TokenReader, IndexedTensors {
public:
    TensorReader(std::string_view text, std::vector<Token> tokens, const Known& known, const Functions& functions)
        : TokenReader(std::move(tokens)), IndexedTensors(text, known, functions) {}
    [[nodiscard]] Formula formula();
    // What index notation calls: functions of numbers, and of whole rows along indices; their sub-results are `wheres`.
    [[nodiscard]] OtherFunctions functions_of_indices();
    [[nodiscard]] std::vector<Definition> wheres() const;

private:
    [[nodiscard]] Expr of_numbers(const std::string& name, const std::vector<Expr>& in, std::size_t at);
    [[nodiscard]] Expr along(const std::string& name, const std::vector<LeftIndex>& over, const std::vector<Expr>& in,
                             std::size_t at);
    [[noreturn]] static void fail_of_whole(const std::string& name, std::size_t at);
    // The axis that an index runs over where operands are read.
    [[nodiscard]] std::optional<Dim> axis_read(const Expr& e, const std::string& index) const;

    // ---- tensor_axes.cpp: the same numbers at other places

    Part transpose(Arguments& a);
    Part matrix_transpose(Arguments& a) { return swapped(tensor(a_input(a)), -2, -1); }
    Part reversed(Arguments& a);
    Part permute(Arguments& a);
    Part unsqueeze(Arguments& a);
    Part squeeze(Arguments& a);
    Part repeat_interleave(Arguments& a);
    // One after another along an axis; the others go together.
    Part joined(Arguments& a);
    // The same numbers in other axes, row by row: some axes become as many numbers in others.
    Part reshaped(Arguments& a);
    // Axes of length 1 repeated, and new ones in front.
    Part expanded(Arguments& a);
    Part filled(Arguments& a);
    // What lies on a diagonal and on one side of it; 0 elsewhere.
    Part triangle(Arguments& a);
    // What stands at other places along one axis.
    Part gathered(Arguments& a);
    // arange(end), arange(start, end), arange(start, end, step).
    Part arange(Arguments& a);
    // The numbers at other places along an axis, which becomes this one: `place` says where each is read.
    Part read_at(Part x, std::size_t n, const IndexedAxis& axis, const Expr& place);
    // So many places of an axis, which is longer or shorter: its size is written wherever it is read.
    IndexedAxis part_of_axis(Index size);
    // An axis of so many of another's places.
    IndexedAxis axis_like(const IndexedAxis& axis, Index size);
    static Expr shifted(const IndexedAxis& axis, Index by);
    Part flip(Arguments& a);
    Part roll(Arguments& a);
    Part rolled(const Part& x, std::size_t n, Index by);
    // All numbers along one axis, row by row.
    Part flat(Part x);
    Part reshaped_to(Part x, const std::vector<IndexedAxis>& axes, std::size_t at);
    Part difference(Arguments& a);
    // The numbers of two axes whose places go together; for trace their sum.
    Part diagonal(Arguments& a);
    Part identity(Arguments& a);
    Part flattened(Arguments& a);
    Part stacked(Arguments& a);
    // Parts of so many places along an axis, one after another.
    Part pieces(Arguments& a);
    Part outer(Arguments& a);
    Part one_hot(Arguments& a);
    Part full(Arguments& a);
    Part full_like(Arguments& a);
    Part taken(Arguments& a);
    // What is put at the places that an index tensor says along an axis, or added there. Of several for one place the
    // last is put.
    Part scattered(Arguments& a);
    // The axis that `from` has among the others is at `to`.
    Part moved(Arguments& a);
    Part narrowed(Arguments& a);
    Part unbound(Arguments& a);
    // Whole copies, one behind the other, along each axis.
    Part repeated(Arguments& a);
    // Numbers of one value before and behind those of the last axes, two sizes for each.
    Part padded(Arguments& a);
    // Weights of one axis stand along the one that is averaged.
    Part lined_up(Arguments& a);
    // Both flat, unless an axis is given.
    Part appended(Arguments& a);
    // A second row below the first.
    Part joined_rows(Arguments& a);
    // What stands at these places along an axis, none of which is counted from its end.
    Part selected(Arguments& a);
    Part stacked_along(Arguments& a);
    Part diagonal_or_matrix(Arguments& a);
    // What einops' patterns say: "b h p d -> b p (h d)". Axes that aren't named on the right are reduced.
    Part rearranged(Arguments& a);
    Part unflattened(Arguments& a);

    // ---- tensor_order.cpp: rows in order

    Part kth(Arguments& a);
    Part cumulated(Arguments& a);
    // The place that each number along an axis has in its row, in order: of equal ones the first comes first, and NaN
    // counts as the largest.
    Part places_in_order(const Part& x, std::size_t n, bool descending, std::size_t at);
    // Each number of a row is read for each other: as a sub-result, if it is more than read.
    Part made_once(const Part& x) { return x.cell->as<CellOf>() == nullptr ? sub_result(x) : x; }
    // What the numbers of a row have that are at this place in its order: their values, or where they stand.
    Part at_place(const Part& x, std::size_t n, const Part& places, const Expr& place, bool values, std::size_t at);
    // The values in order and their places, of which one is taken by .values or [0]; of topk the first of them.
    Part sorted(Arguments& a);
    // A row's numbers at the places of its order around this one, for `of` to make one of them; NaN if the row has one.
    Part around(const Part& x, std::size_t n, double place, bool keeps, std::size_t at,
                const std::function<Expr(const Expr& low, const Expr& high)>& of);
    // What is put in order: along one axis, or all numbers.
    std::pair<Part, std::size_t> row_to_order(const Arguments& a);
    bool keeps_axis(const Arguments& a) const;
    Part partitioned(Arguments& a);
    // What is put in order, along the last axis.
    Part one_row(Arguments& a);
    Part quantile(Arguments& a);
    // PyTorch's is the lower one of two in the middle; NumPy's lies between them. With an axis, its place, too.
    Part median(Arguments& a);
    // The values and their places, of which one is taken by .values or [0]; without an axis the value.
    Part largest(Arguments& a);

    // ---- tensor_matrices.cpp: sums of products, whole matrices, losses

    // A rule whose axes have words, as einops' have, in letters.
    static std::string in_letters(const std::string& rule);
    Part einsum(Arguments& a);
    Part matmul(Arguments& a);
    Part linear(Arguments& a);
    // What an operation makes of the matrices that the last two axes make.
    Part of_matrices(const Arguments& a, Op op, bool of_square = true);
    Part inverse(Arguments& a) { return swapped(of_matrices(a, Op::inverse), -2, -1); }
    Part pseudoinverse(Arguments& a);
    // The diagonal that elimination leaves has the determinant for its product.
    Part determinant(Arguments& a);
    // Two numbers for each: abs() is of both, .real and .imag are one.
    Part eigenvalues(Arguments& a);
    // The discrete Fourier transform: of half of the frequencies, if the others say the same.
    Part fourier(Arguments& a);
    // The singular values of the matrices that the last two axes make, the largest first.
    Part singular_values(Arguments& a);
    // From each position of each layer to each below them all, for capacities [..., layer, query, key].
    Part max_flow(Arguments& a);
    Part matrix_power(Arguments& a);
    Part products(Arguments& a);
    // Along so many of the last axes of the one and the first of the other, or along those of two lists.
    Part tensordot(Arguments& a);
    // Of vectors, or of matrices: of two axes that are given, or of all of a matrix.
    Part norm(Arguments& a);
    // Whether all numbers are equal; tensors of other shapes never are.
    Part are_equal(Arguments& a);
    // Refuses a target of another shape.
    Part of_one_shape(Arguments& a);
    // Of logits, or of log-probabilities (nll_loss); the targets are classes or probabilities.
    Part cross_entropy(Arguments& a);
    Part attention(Arguments& a);

    // ---- tensor_numbers.cpp: lists, types and counts

    // A comparison as 1 or 0, to be added up.
    Part number_of_condition(Arguments& a);
    Part whole_number(Arguments& a);
    // Between the bounds, of which one may be left out.
    Part clamped(Arguments& a);
    Part count_of_numbers(Arguments& a);
    Part count_of_axes(Arguments& a);
    Part length(Arguments& a);
    Part one_number(Arguments& a);
    // The standard deviation or the variance, and the mean.
    Part spread_and_mean(Arguments& a);
    // Of a model that isn't trained: nothing is left out.
    Part no_dropout(Arguments& a);
    // What kind of numbers it has, as a type.
    Part type_of(Arguments& a);
    // Numbers and tensors in lists as one tensor.
    Part tensor_of(const Part& x, std::size_t at);
    Part made_of_list(Arguments& a) { return tensor_of(a_input(a), a.at); }
    Part distribution(Arguments& a);
    // zip and enumerate: lists of what stands at the same place of several.
    Part zipped(Arguments& a);
    Part as_it_is(Arguments& a) { return a_input(a); }
    Part typed(Arguments& a);
    Part as_type(const Part& x, const std::string& type, std::size_t at);
    // Whether its one axis has as many places as a condition chooses.
    static bool is_row_of_chosen(const Part& x);
    Part size(Arguments& a);
    Part values(Arguments& a);

    // ---- tensor_calls.cpp: functions by the table

    [[noreturn]] void fail_of_axes(const Arguments& a, const Part& x, std::size_t count) const;
    // Refuses a tensor that has not as many axes as `x`.
    [[noreturn]] void fail_of_rank(const Arguments& a, const Part& x, const Part& other) const;
    [[noreturn]] void fail_of_twice(const Arguments& a, const Part& x) const;
    [[noreturn]] static void fail_of_places(const Arguments& a, const IndexedAxis& axis, Index count);
    [[noreturn]] static void fail_of_one_axis(const Arguments& a);
    [[noreturn]] static void fail_without(const Arguments& a, std::string_view parameter);
    [[noreturn]] static void fail_without_tensor(const Arguments& a);
    static const std::vector<Row>& rows();
    Parts names_{};            // that words of the table's own give
    std::size_t repeats_ = 0;  // of all lists with “for”
    bool in_length_ = false;   // between the bars of ‖x‖, none of which lies in another
    // Sizes as they are given from an argument on: one after another, or as a list.
    [[nodiscard]] static std::vector<Part> sizes_in(const Arguments& a, std::size_t from);
    // An axis of a size that is given, with its name if the size has one.
    [[nodiscard]] IndexedAxis axis_as_given(const Part& size);
    // The row of this name; a function of the book or of the language makes its own.
    [[nodiscard]] std::optional<Row> row_named(const std::string& name) const;
    // The name that this has among them: papers write capitals.
    [[nodiscard]] std::string known_as(const std::string& name) const;
    [[noreturn]] void fail_without_row(const std::string& name, std::size_t at) const;
    // With what means the same, as the table of names knows it, or else with the nearest name.
    [[noreturn]] static void fail_with_meant(const Sentence& missing, const std::string& name,
                                             const std::vector<std::string>& known, std::size_t at);
    // What PyTorch's words say of these names; the statements before the last one give names, too.
    [[nodiscard]] Part said(const std::string& words, Parts names, std::size_t at);
    [[nodiscard]] Part called(const std::string& module, Arguments a);
    // Gives the arguments their parameters' names, and those that aren't there their default values.
    [[nodiscard]] std::vector<std::string> bind(const Row& row, Arguments& a) const;
    [[nodiscard]] static bool is_none(const Part& x) { return x.quoted == "None"; }
    [[noreturn]] static void fail_of_truth(const std::string& parameter, bool is_truth, const Part& x);
    [[nodiscard]] Part by_formula(const Row& row, const std::vector<std::string>& parameters, const Arguments& a);
    // What becomes of the numbers that a condition chooses: each one's, or the sum or mean of all.
    [[nodiscard]] Part of_chosen(const Row& row, const std::vector<std::string>& parameters, Arguments a);
    // The sum, mean, … along these axes, all if `dims` is None, of the numbers that are kept.
    [[nodiscard]] Part of_kept(const Arguments& a, const Part& x, const Part& kept, const Part& dims);
    // NumPy's where= and initial= of a reduction.
    [[nodiscard]] Part reduced_from(Arguments a, std::optional<Part> kept, const std::optional<Part>& initial);
    // These axes as one, behind the others.
    [[nodiscard]] Part joined_at_end(Part x, const std::vector<std::size_t>& dims);
    void check_last_axis(const Part& shape, const Arguments& a) const;
    static const Part& a_input(const Arguments& a) { return a.by_name.at(a.first); }
    // The row's formula with only what is chosen in it by numbers that are known.
    [[nodiscard]] Expr chosen_of(const Expr& body, const std::map<std::string, Expr, std::less<>>& cells) const;
    // The row's formula with cells for its parameters, and for its k the axis' index; its reductions are over all of
    // the axes.
    [[nodiscard]] Expr put(const Expr& body, const std::map<std::string, Expr, std::less<>>& cells,
                           const std::vector<IndexedAxis>& axes, std::size_t at) const;
    static Part no_number() { return {.cell = apply(Op::divide, {number(0.0), number(0.0)})}; }
    [[nodiscard]] Part text_as_number(const Part& x) const;

    // ---- whole_tensors.cpp: Python's expressions

    // What has been read from there to here.
    [[nodiscard]] Part spanning(Part x, std::size_t begin) const;
    [[nodiscard]] Part expression();
    // Operations of this binding strength and of tighter ones.
    [[nodiscard]] Part chain(int level);
    // A bracket or a name right of a number that nothing is divided by.
    [[nodiscard]] bool is_factor_behind_number() const;
    Part unary();
    [[nodiscard]] bool is_condition(const Part& x) const { return x.cell && kind(x) == NumberKind::condition; }
    // &, |, ^, ~, << and >>: of conditions, or of the bits of whole numbers.
    Part bits(std::string_view word, const Part& a, const Part& b, std::size_t at);
    // PyTorch has no − of comparisons.
    [[noreturn]] static void fail_of_minus(std::size_t at);
    [[noreturn]] static void fail_of_caret(std::size_t at);
    Part power();
    // The word as it is written: "sqrt" and "where" are signs of index notation, and functions here.
    [[nodiscard]] std::string written_word() const;
    Part primary();
    // nn.Softmax(dim=-1)(x): PyTorch's layer by its function, which takes the layer's own arguments behind the others.
    Part of_layer(Arguments layer);
    // What stands below ‖x‖: _1, _2, _F, _inf, _∞; 2 if nothing does.
    Part order_of_norm();
    Part named(const std::string& word, std::size_t at);
    // In parentheses an expression; with a comma, or in brackets, a list.
    Part list();
    // Where “for” stands in the list that begins here: [x[h] for h in range(4)].
    [[nodiscard]] std::optional<std::size_t> loop_in_list() const;
    Part repeated_for(std::size_t loop, const std::string& close);
    // Adds what begins at `first` and ends at the first “for” for each that stands behind the one that is here; where
    // the list ends.
    std::size_t repeat_for(std::size_t first, std::size_t loop, std::size_t here, Part& to);
    // The parts of a list, or of a tensor along its first axis.
    [[nodiscard]] Index count_in(const Part& x) const;
    [[nodiscard]] Part part_in(const Part& x, Index i);
    Arguments arguments(Arguments a);
    // Methods, properties and indices.
    Part continued(Part x);
    // Whether a method is read as that of NumPy's arrays.
    [[nodiscard]] bool is_arrays_method(const Arguments& a) const;
    [[nodiscard]] bool says(std::string_view word) const { return text_.find(word) != std::string_view::npos; }
    struct Item {
        std::optional<Part> from{}, to{}, step{};
        bool is_range = false, is_rest = false;
    };
    // The parts of a list that a slice says.
    [[nodiscard]] Part items_in(const Part& list, const Item& slice, std::size_t at) const;
    // x[:, None, ..., 0, 1:3, ids]
    Part indexed(Part x);
    [[nodiscard]] Part item(const Part& list, const Part& which, std::size_t at) const;
    // Where a comparison of places alone holds, if it has so many of them.
    [[nodiscard]] std::vector<Part> places_that_hold(const Part& condition, Index size) const;
};

}  // namespace decoderscope::formulas
