#pragma once

#include "engine/base/limits.h"
#include "engine/formulas/elaborate.h"

#include <map>

// Whole tensors as cells in index notation: what PyTorch does with axes is done to indices.
namespace decoderscope::formulas {

// An axis of a tensor, with the index that its cell has for it until the tensor is written down.
struct IndexedAxis {
    Dim dim;
    std::string index;      // "#7k": a number of its own, and the letter that it will have
    bool is_said = true;    // an operand says what the index runs over
    bool is_mixed = false;  // operands have several names for it
    [[nodiscard]] Index size() const { return dim.size; }
};

// What has been read: a tensor; or a list, a text between quotes or None, which have no cell.
struct Part {
    std::size_t begin = 0, end = 0;  // in the text
    std::vector<IndexedAxis> axes{};
    Expr cell{};
    std::vector<Part> items{};
    std::string quoted{};  // "True" and "False" are numbers, too
    Expr chosen{};         // of a tensor that a condition is the index of: which of its numbers are meant
};

// What the list of a tensor's real and imaginary parts has for its text.
inline constexpr std::string_view kComplex = "complex";

// That of a partition: the numbers in order, and the one place of them that NumPy says.
inline constexpr std::string_view kPartition = "partition";
// And that of a distribution's probabilities.
inline constexpr std::string_view kDistribution = "Categorical";  // not a message: a name of PyTorch's

[[nodiscard]] Part number_part(double value, std::size_t begin = 0, std::size_t end = 0);
[[nodiscard]] std::optional<double> literal(const Expr& e);
// What [c] is worth where a condition is asked for.
[[nodiscard]] Expr as_condition(const Expr& e);
// [c] where a number is asked for.
[[nodiscard]] Expr as_number(const Expr& e);
// The operation on numbers: a condition is 1 or 0.
[[nodiscard]] Expr applied(Op op, std::vector<Expr> in, std::size_t at);
// The beginning of a long text.
[[nodiscard]] std::string clipped(std::string_view text);

// What a text does to tensors, whose shapes are known.
class IndexedTensors {
protected:
    IndexedTensors(std::string_view text, const Known& known, const Functions& functions)
        : text_(text), known_(known), functions_(functions), numbers_(numbers_of(known)) {}

    // ---- errors

    // As it is written.
    [[nodiscard]] std::string_view text_of(const Part& x) const;
    // "q.mT[batch 2, head 4, d_head 8, pos 6]".
    [[nodiscard]] std::string shown(const Part& x) const;
    [[noreturn]] static void fail_to_fit(const Dim& a, const std::string& of_a, const Dim& b, const std::string& of_b,
                                         std::size_t at);
    // Refuses what has no cell, and as many numbers as a condition chooses.
    const Part& tensor(const Part& x) const;
    // A number that is known while the text is read.
    [[nodiscard]] std::optional<double> known(const Part& x) const { return known(x.cell); }
    [[nodiscard]] std::optional<double> known(const Expr& e) const {
        return e ? known_number(e, numbers_) : std::nullopt;
    }
    [[nodiscard]] Index whole(const Part& x) const;
    // Whether it is written as True or False.
    [[nodiscard]] static bool is_truth(const Part& x) {
        return x.quoted == "True" || x.quoted == "False";  // not a message: Python's words
    }
    [[nodiscard]] NumberKind kind(const Part& x) const;
    [[nodiscard]] static Index from_front(Index n, Index size);
    // Which axis −1 is.
    [[nodiscard]] std::size_t position(const Part& x, Index dim, std::size_t at) const;
    // As in PyTorch, a number has axes 0 and −1, which are nowhere.
    [[nodiscard]] static bool is_axis_of_number(const Part& x, Index dim);

    // ---- axes

    [[nodiscard]] std::string new_index(const std::string& axis);
    // One that no operand has.
    [[nodiscard]] IndexedAxis axis_of_size(const std::string& name, Index size);
    // The axis as it must be written beside its index; "" if operands say it.
    [[nodiscard]] std::string written_axis(const IndexedAxis& axis) const;
    // By its name, if it has one.
    [[nodiscard]] Expr size_of(const IndexedAxis& axis) const;
    // Two axes of one size as one.
    [[nodiscard]] static IndexedAxis met(const IndexedAxis& a, const IndexedAxis& b);
    // The tensor where one of its axes has this index, without that axis. `is_part` if the index stays on a part of it:
    // a function along the axis is then computed along all of it first.
    [[nodiscard]] Part at_index(Part x, std::size_t axis, const Expr& at, bool is_part = false);
    // The tensor as a sub-result with a name.
    [[nodiscard]] Part sub_result(Part x);
    // As a sub-result if a function runs along one of its axes, so that any of them can be read elsewhere.
    [[nodiscard]] Part settled(Part x);
    // Axes from the right go together, and one of length 1 with any: the same axes for all.
    void broadcast(std::vector<Part>& parts, std::size_t at);
    // The operation on their cells, broadcast.
    [[nodiscard]] Part applied_to(Op op, std::vector<Part> parts, std::size_t at);
    // As above, number by number of what a condition chooses, too.
    [[nodiscard]] Part applied_to_chosen(Op op, std::vector<Part> parts, std::size_t at);
    // What is read at these places along the axis, counted from its end if they are below 0.
    [[nodiscard]] Part places_in(const IndexedAxis& axis, Part places, const Part& of) const;
    // The tensor where these axes have these places, which go together as PyTorch's index tensors do.
    [[nodiscard]] Part at_places(Part x, const std::vector<std::size_t>& axes, std::vector<Part> places,
                                 std::size_t at);
    [[nodiscard]] Part reduced(Part x, std::size_t axis, Fold fold);
    // A cell reduced over an axis' index, which is written with the axis if no operand reads it.
    [[nodiscard]] Expr reduction(const Expr& cell, IndexedAxis over, Fold fold, std::size_t at) const;
    [[nodiscard]] Part swapped(Part x, Index a, Index b) const;
    // [… m, i] @ [… i, n] as the sum over i of [… m, 1, i] · [… 1, n, i].
    [[nodiscard]] Part product(Part a, Part b, std::size_t at);

    // ---- the result

    // With letters for indices, none of them a number's name.
    [[nodiscard]] Definition definition_of(const std::string& name, const Part& x, bool is_sub_result) const;

    std::string_view text_;
    const Known& known_;
    const Functions& functions_;
    std::map<std::string, double, std::less<>> numbers_;
    std::map<std::string, Part> wheres_{};  // sub-results

private:
    std::size_t indices_ = 0;
};

}  // namespace decoderscope::formulas
