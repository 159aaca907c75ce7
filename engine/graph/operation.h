#pragma once

#include "engine/graph/explanation.h"
#include "engine/graph/traits.h"
#include "engine/graph/work.h"
#include "engine/tensor/rows.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace decoderscope::ops {
struct ByFormula;
}

namespace decoderscope {

// The tensors that an operation reads, in the order in which the step names them; any number of them. The first few
// need no allocation, because small steps are computed by the hundred. What may not stay in memory is made for these
// operands and dropped with them.
class Operands {
public:
    void add(const Tensor& tensor) {
        const Tensor* read = tensor.may_stay() ? &tensor : lend(tensor);
        if (size_ < kFew)
            few_[size_] = read;
        else
            more_.push_back(read);
        ++size_;
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    const Tensor& operator[](std::size_t i) const { return i < kFew ? *few_[i] : *more_[i - kFew]; }
    // The tensor that was added, for what is kept longer than these operands.
    [[nodiscard]] const Tensor& given(std::size_t i) const {
        for (const auto& lent : lent_)
            if (lent->operand == i) return *lent->given;
        return (*this)[i];
    }

private:
    // A tensor for one use in place of the one that was given.
    struct Lent {
        std::size_t operand;
        const Tensor* given;
        Tensor tensor;
    };
    [[nodiscard]] const Tensor* lend(const Tensor& given) {
        lent_.push_back(std::make_shared<const Lent>(Lent{size_, &given, given.for_one_use()}));
        return &lent_.back()->tensor;
    }

    static constexpr std::size_t kFew = 4;
    std::array<const Tensor*, kFew> few_ = {};
    std::vector<const Tensor*> more_;
    std::vector<std::shared_ptr<const Lent>> lent_;
    std::size_t size_ = 0;
};

using OperandAxes = std::vector<Axes>;

// What a gradient is computed from: an operation's operands and output, and the target's gradient with respect to that
// output. In explanations the output and the gradient count as two more operands, after the operation's own.
struct Backward {
    const Operands& in;
    const Tensor& out;
    const Tensor& grad;

    [[nodiscard]] Factor in_at(std::size_t operand, const Cell& cell) const {
        return cell_factor(in[operand], operand, cell);
    }
    [[nodiscard]] Factor out_at(const Cell& cell) const { return cell_factor(out, in.size(), cell); }
    [[nodiscard]] Factor grad_at(const Cell& cell) const { return cell_factor(grad, in.size() + 1, cell); }
};

// An operation's description in words. `line` is the label of what the book of formulas says of it; empty if nothing.
struct OpDescription {
    std::string_view name;     // "softmax over key"
    std::string_view formula;  // one line, with the tensors' axes as indices
    std::string_view teaches;  // one paragraph: what it is for, what to look at, and how the tutorials write it
    std::string_view line = {};
};

// An operation that names its formula: its words, its numbers, what explains its cells, what its operands are, and all
// of its gradients, follow from that (engine/ops/formula.h). compute() and pull_back() of its own are faster ways to
// the same numbers.
template <class T>
concept HasFormula = requires(const T& op) {
    op.formula();
};

// What every operation knows: what each operand is to it, its output, and how one cell of it was computed. The next
// part is the gradient (PassesGradients). A formula may say the first and the last. It also has
//     Axes axes(operand_axes)            of the output; those of the first operand without it
template <class T>
concept IsOperation = std::equality_comparable<T> &&
    (HasFormula<T> ||
     requires(const T& op, std::size_t operand, const Operands& in, const Tensor& out, const Cell& cell) {
         { op.about() } -> std::same_as<OpDescription>;
         { op.role_of(operand) } -> std::same_as<OperandRole>;
         { op.compute(in, out.axes()) } -> std::same_as<Tensor>;
         { op.explain(in, out, cell) } -> std::same_as<Explanation>;
     });

// An operation that hands a gradient back has, for each operand it passes one to, a pullback: the gradient of a target
// with respect to that operand, through this operation, from the gradient with respect to its output (the chain rule).
// It may also have
//     bool passes_gradient(operand)      false for an operand that it hands nothing to: a mask, tokens; true without it
template <class T>
concept PassesGradients = HasFormula<T> ||
    requires(const T& op, std::size_t operand, const Backward& b, const Cell& cell) {
    { op.about_pull_back(operand) } -> std::same_as<OpDescription>;
    { op.pull_back(operand, b) } -> std::same_as<Tensor>;  // of the operand's shape
    { op.explain_pull_back(operand, b, cell) } -> std::same_as<Explanation>;
};

// Which operands an operation reads row by row: a row of its output needs only the same row of these, and all rows of
// the others.
struct ByRow {
    std::array<bool, 4> first = {};  // of the first operands
    bool others = false;             // of all that follow
    bool operator[](std::size_t operand) const { return operand < first.size() ? first[operand] : others; }
};

// The tensors that an operation reads, before and now, and what changed in them.
struct OperandsChange {
    const Operands& before;
    const Operands& now;
    std::span<const Changed> changed;
};

// An operation that works row by row also has by_row(). It may also have
//     bool rows_stand_alone(in)          whether some rows computed alone have the same bits; true without it
//     Changed changed(OperandsChange)    what of the output changed; without it, the rows from the first one on that
//                                        changed in an operand read by row, and all where another operand changed
//     T from_row(first)                  the operation on the rows from one on; the operation itself without it
//     T of_head(head)                    the operation on one head, of operands that are cut to it where they have
//                                        heads; without it all heads are computed
template <class T>
concept WorksByRow = requires(const T& op) {
    { op.by_row() } -> std::same_as<ByRow>;
};

// What changed in the output of an operation that reads these operands row by row, and the others whole.
[[nodiscard]] inline Changed changed_by_row(const ByRow& by_row, const OperandsChange& change) {
    Changed output = kUnchanged;
    for (std::size_t i = 0; i < change.changed.size(); ++i) {
        const Changed& operand = change.changed[i];
        if (operand == kUnchanged) continue;
        if (!by_row[i] || operand.columns != Changed::kNone) return {};
        output.rows = std::min(output.rows, operand.rows);
    }
    return output;
}

// What else an operation may declare (engine/graph/traits.h), where it applies:
//     Traits traits()                        which numbers these are, and what it does to its operands
//     Masks hidden_by(in, cell)              which masks hide a cell; for one whose traits name masks
//     Work work(in_axes, out_axes)           what computing it takes, if its formula doesn't say; without either it
//     only
//                                            copies numbers

// The work of an operation that only copies its operands, or reads them as indices.
[[nodiscard]] inline Work copying(const OperandAxes& in) {
    Work work;
    for (const Axes& axes : in) work.reads.push_back(static_cast<std::uint64_t>(element_count(axes)));
    return work;
}
// As above, with so many operations.
[[nodiscard]] inline Work reading_all(const OperandAxes& in, Index operations) {
    Work work = copying(in);
    work.operations = static_cast<std::uint64_t>(operations);
    return work;
}

// The work of a gradient that reads nothing but the gradient with respect to the output.
[[nodiscard]] inline Work reading_gradient(const OperandAxes& in, const Axes& out, Index operations) {
    Work work{static_cast<std::uint64_t>(operations), std::vector<std::uint64_t>(in.size() + 1)};
    work.reads.push_back(static_cast<std::uint64_t>(element_count(out)));
    return work;
}

// An operation whose result is rounded more than once has
//     T rounding_within(Arithmetic)      itself, rounding to that type on the way as well as at the end

// Any operation, as a value, and the type that its results are rounded to.
class Operation {
public:
    template <IsOperation T>
    Operation(T operation)  // NOLINT: made from any operation
        : self_(std::make_shared<Model<T>>(std::move(operation))) {}

    [[nodiscard]] OpDescription about() const { return self_->about(); }
    [[nodiscard]] Axes axes(const OperandAxes& operands) const { return self_->axes(operands); }
    // What operand number `operand` is to it.
    [[nodiscard]] OperandRole role_of(std::size_t operand) const { return self_->role_of(operand); }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        return rounded(self_->compute(in, axes), arithmetic_);
    }
    // With a line about the rounding, if there is any.
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const {
        Explanation explanation = self_->explain(in, out, cell);
        if (arithmetic_ != Arithmetic::float32) explain_rounding(arithmetic_, out.at(cell), explanation);
        return explanation;
    }
    // The same operation with results of that type; its operands are expected to be of it, too.
    [[nodiscard]] Operation rounding_to(Arithmetic type) const {
        Operation same = *this;
        same.arithmetic_ = type;
        if (std::shared_ptr<const Interface> within = self_->rounding_within(type)) same.self_ = std::move(within);
        return same;
    }
    [[nodiscard]] Arithmetic arithmetic() const { return arithmetic_; }
    // The operands of which each output row needs only one row, if any; then rows() can compute some of the rows.
    [[nodiscard]] std::optional<ByRow> by_row() const { return self_->by_row(); }
    [[nodiscard]] bool rows_stand_alone(const Operands& in) const { return self_->rows_stand_alone(in); }
    // What changed in the output.
    [[nodiscard]] Changed changed(const OperandsChange& change) const { return self_->changed(change); }
    // The output's rows from `first` on; `in` and `axes` are cut to these rows if read by row.
    [[nodiscard]] Tensor rows(const Operands& in, const Axes& axes, Index first) const {
        return rounded(self_->rows(in, axes, first), arithmetic_);
    }
    // Whether rows() asks for the first of them.
    [[nodiscard]] bool counts_rows() const { return self_->counts_rows(); }
    // The same operation on one head; nothing if it computes all of them together.
    [[nodiscard]] std::optional<Operation> of_head(const Head& head) const {
        Operation same = *this;
        same.self_ = self_->of_head(head);
        return same.self_ == nullptr ? std::nullopt : std::optional(std::move(same));
    }
    // Its declared traits; the defaults if it declares none.
    [[nodiscard]] Traits traits() const { return self_->traits(); }
    // Which mask hides a cell; all of them keep it if the operation is not a mask.
    [[nodiscard]] Masks hidden_by(const Operands& in, const Cell& cell) const { return self_->hidden_by(in, cell); }
    // What computing it takes, for operands and an output of these axes; and a gradient through it.
    [[nodiscard]] Work work(const OperandAxes& in, const Axes& out) const { return self_->work(in, out); }
    [[nodiscard]] Work pull_back_work(std::size_t operand, const OperandAxes& in, const Axes& out) const {
        return self_->pull_back_work(operand, in, out);
    }
    // Whether an operand gets a gradient from this operation; if not, the next three must not be called.
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return self_->passes_gradient(operand); }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const { return self_->about_pull_back(operand); }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const {
        return self_->pull_back(operand, b);
    }
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
        return self_->explain_pull_back(operand, b, cell);
    }
    // Writes the formula that it names to `to`; false if it names none (engine/ops/written_formula.h).
    [[nodiscard]] bool tell_formula(ops::ByFormula& to) const { return self_->tell_formula(to); }
    bool operator==(const Operation& other) const {
        return arithmetic_ == other.arithmetic_ && self_->equals(*other.self_);
    }

private:
    struct Interface {
        virtual ~Interface() = default;
        [[nodiscard]] virtual OpDescription about() const = 0;
        [[nodiscard]] virtual Axes axes(const OperandAxes&) const = 0;
        [[nodiscard]] virtual OperandRole role_of(std::size_t) const = 0;
        [[nodiscard]] virtual Tensor compute(const Operands&, const Axes&) const = 0;
        [[nodiscard]] virtual Explanation explain(const Operands&, const Tensor&, const Cell&) const = 0;
        [[nodiscard]] virtual std::optional<ByRow> by_row() const = 0;
        [[nodiscard]] virtual bool rows_stand_alone(const Operands&) const = 0;
        [[nodiscard]] virtual Changed changed(const OperandsChange&) const = 0;
        [[nodiscard]] virtual Tensor rows(const Operands&, const Axes&, Index first) const = 0;
        [[nodiscard]] virtual bool counts_rows() const = 0;
        [[nodiscard]] virtual std::shared_ptr<const Interface> of_head(const Head&) const = 0;
        [[nodiscard]] virtual Traits traits() const = 0;
        [[nodiscard]] virtual Masks hidden_by(const Operands&, const Cell&) const = 0;
        [[nodiscard]] virtual Work work(const OperandAxes&, const Axes&) const = 0;
        [[nodiscard]] virtual Work pull_back_work(std::size_t, const OperandAxes&, const Axes&) const = 0;
        [[nodiscard]] virtual bool passes_gradient(std::size_t) const = 0;
        [[nodiscard]] virtual OpDescription about_pull_back(std::size_t) const = 0;
        [[nodiscard]] virtual Tensor pull_back(std::size_t, const Backward&) const = 0;
        [[nodiscard]] virtual Explanation explain_pull_back(std::size_t, const Backward&, const Cell&) const = 0;
        [[nodiscard]] virtual bool tell_formula(ops::ByFormula&) const = 0;
        [[nodiscard]] virtual std::shared_ptr<const Interface> rounding_within(Arithmetic) const = 0;
        [[nodiscard]] virtual bool equals(const Interface&) const = 0;
    };

    template <class T>
    struct Model final : Interface {
        explicit Model(T op) : operation(std::move(op)) {}
        [[nodiscard]] OpDescription about() const override {
            if constexpr (requires { operation.about(); })
                return operation.about();
            else
                return operation.formula().about();
        }
        [[nodiscard]] Axes axes(const OperandAxes& operands) const override {
            if constexpr (requires { operation.axes(operands); }) return operation.axes(operands);
            return operands[0];
        }
        [[nodiscard]] OperandRole role_of(std::size_t operand) const override {
            if constexpr (requires { operation.role_of(operand); })
                return operation.role_of(operand);
            else
                return operation.formula().role_of(operand);
        }
        [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const override {
            if constexpr (requires { operation.compute(in, axes); })
                return operation.compute(in, axes);
            else
                return operation.formula().compute(in, axes);
        }
        [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const override {
            if constexpr (requires { operation.explain(in, out, cell); })
                return operation.explain(in, out, cell);
            else
                return operation.formula().explain(in, out, cell);
        }
        [[nodiscard]] std::optional<ByRow> by_row() const override {
            if constexpr (WorksByRow<T>) return operation.by_row();
            return std::nullopt;
        }
        [[nodiscard]] bool rows_stand_alone(const Operands& in) const override {
            if constexpr (requires { operation.rows_stand_alone(in); }) return operation.rows_stand_alone(in);
            return true;
        }
        [[nodiscard]] Changed changed(const OperandsChange& change) const override {
            if constexpr (requires { operation.changed(change); })
                return operation.changed(change);
            else if constexpr (WorksByRow<T>)
                return changed_by_row(operation.by_row(), change);
            else
                return {};
        }
        [[nodiscard]] Tensor rows(const Operands& in, const Axes& axes, Index first) const override {
            if constexpr (requires { operation.from_row(first); }) return operation.from_row(first).compute(in, axes);
            return compute(in, axes);
        }
        [[nodiscard]] bool counts_rows() const override {
            return requires { operation.from_row(0); };
        }
        [[nodiscard]] std::shared_ptr<const Interface> of_head(const Head& head) const override {
            if constexpr (requires { operation.of_head(head); })
                return std::make_shared<Model<T>>(operation.of_head(head));
            return nullptr;
        }
        [[nodiscard]] Traits traits() const override {
            if constexpr (requires { operation.traits(); }) return operation.traits();
            return {};
        }
        [[nodiscard]] Masks hidden_by(const Operands& in, const Cell& cell) const override {
            if constexpr (requires { operation.hidden_by(in, cell); }) return operation.hidden_by(in, cell);
            return {};
        }
        [[nodiscard]] Work work(const OperandAxes& in, const Axes& out) const override {
            if constexpr (requires { operation.work(in, out); })
                return operation.work(in, out);
            else if constexpr (HasFormula<T>)
                return operation.formula().work(in, out);
            else
                return copying(in);
        }
        [[nodiscard]] Work pull_back_work(std::size_t operand, const OperandAxes& in, const Axes& out) const override {
            static_cast<void>(operand);
            static_cast<void>(out);
            if constexpr (requires { operation.pull_back_work(operand, in, out); })
                return operation.pull_back_work(operand, in, out);
            else if constexpr (HasFormula<T>)
                return operation.formula().pull_back_work(operand, in, out);
            else
                return copying(in);
        }
        [[nodiscard]] bool passes_gradient(std::size_t operand) const override {
            static_cast<void>(operand);
            if constexpr (!PassesGradients<T>)
                return false;
            else if constexpr (requires { operation.passes_gradient(operand); })
                return operation.passes_gradient(operand);
            else if constexpr (requires { operation.about_pull_back(operand); })
                return true;
            else
                return operation.formula().passes_gradient(operand);
        }
        [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const override {
            if constexpr (requires { operation.about_pull_back(operand); })
                return operation.about_pull_back(operand);
            else if constexpr (HasFormula<T>)
                return operation.formula().about_pull_back(operand);
            throw std::logic_error("no gradient");
        }
        [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const override {
            if constexpr (requires { operation.pull_back(operand, b); })
                return operation.pull_back(operand, b);
            else if constexpr (HasFormula<T>)
                return operation.formula().pull_back(operand, b);
            throw std::logic_error("no gradient");
        }
        [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b,
                                                    const Cell& cell) const override {
            if constexpr (requires { operation.explain_pull_back(operand, b, cell); })
                return operation.explain_pull_back(operand, b, cell);
            else if constexpr (HasFormula<T>)
                return operation.formula().explain_pull_back(operand, b, cell);
            throw std::logic_error("no gradient");
        }
        [[nodiscard]] bool tell_formula(ops::ByFormula& to) const override {
            static_cast<void>(to);
            if constexpr (HasFormula<T>) to = operation.formula();
            return HasFormula<T>;
        }
        [[nodiscard]] std::shared_ptr<const Interface> rounding_within(Arithmetic type) const override {
            if constexpr (requires { operation.rounding_within(type); })
                return std::make_shared<Model<T>>(operation.rounding_within(type));
            return nullptr;
        }
        [[nodiscard]] bool equals(const Interface& other) const override {
            const auto* same = dynamic_cast<const Model*>(&other);
            return same != nullptr && same->operation == operation;
        }
        T operation;
    };

    std::shared_ptr<const Interface> self_;
    Arithmetic arithmetic_ = Arithmetic::float32;
};

}  // namespace decoderscope
