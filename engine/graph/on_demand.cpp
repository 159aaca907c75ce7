#include "engine/graph/on_demand.h"

#include "engine/tensor/rows.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace decoderscope {

namespace {

Index bytes_of(const Axes& axes) { return element_count(axes) * static_cast<Index>(sizeof(float)); }

// Some rows of a step, from the same rows of the operands that it reads by row.
Tensor compute_cut(const Operation& operation, const Axes& axes, const Operands& in, Index first, Index count) {
    const ByRow by_row = *operation.by_row();
    std::vector<Tensor> rows;
    rows.reserve(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) rows.push_back(by_row[i] ? some_rows(in[i], first, count) : in[i]);
    Operands of_rows;
    for (const Tensor& tensor : rows) of_rows.add(tensor);
    return operation.rows(of_rows, with_row_count(axes, count), first);
}

// How many rows are computed at once; 0: all, as nothing that they read comes by rows, or nothing is read yet.
Index rows_at_once(const Operation& operation, const Operands& in) {
    const std::optional<ByRow> by_row = operation.by_row();
    Index fewest = 0;
    for (std::size_t i = 0; by_row && i < in.size(); ++i)
        if (const ByRows* rows = (*by_row)[i] ? in[i].by_rows() : nullptr)
            fewest = fewest == 0 ? rows->at_once : std::min(fewest, rows->at_once);
    return fewest > 0 && operation.rows_stand_alone(in) && !operation.traits().deferred ? fewest : 0;
}

// Computes the rows from `first` on, `at_once` at a time: write(rows, first).
template <class Write>
void in_blocks(const Operation& operation, const Axes& axes, const Operands& in, Index first, Index at_once,
               const Write& write) {
    for (Index row = first; row < row_count(axes); row += at_once)
        write(compute_cut(operation, axes, in, row, std::min(at_once, row_count(axes) - row)), row);
}

// Operands that live as long as this does.
class HeldOperands {
public:
    explicit HeldOperands(const Operands& in) {
        for (std::size_t i = 0; i < in.size(); ++i) tensors_.push_back(in.given(i));
    }
    [[nodiscard]] Operands operands() const {
        Operands in;
        for (const Tensor& tensor : tensors_) in.add(tensor);
        return in;
    }

private:
    std::vector<Tensor> tensors_;
};

class RestWhenRead : public LazyValues {
public:
    RestWhenRead(const Step& step, const Operands& in, Index begin, Index first)
        : operation_(step.operation),
          axes_(step.axes),
          in_(in),
          begin_(begin),
          first_(first),
          rows_(computed_rows(operation_, axes_, in, first)) {}

    void make(std::span<float> values) const override {
        std::ranges::copy(computed_rows(operation_, axes_, in_.operands(), begin_).values(), values.begin());
    }

    [[nodiscard]] Tensor some_rows(Index first, Index count) const override {
        return begin_ + first >= first_ ? decoderscope::some_rows(rows_, begin_ + first - first_, count) : Tensor();
    }

private:
    Operation operation_;
    Axes axes_;
    HeldOperands in_;
    Index begin_, first_;
    Tensor rows_;
};

class MadeAgain : public LazyValues {
public:
    MadeAgain(const Step& step, const Operands& in, const Blocks& blocks)
        : operation_(step.operation), axes_(step.axes), patches_(step.patches), in_(in) {
        if (!would_come_by_rows(step, in, blocks)) return;
        const Index row = bytes_of(axes_) / row_count(axes_);
        by_rows_ = {axes_, std::max(blocks.rows, blocks.bytes / row / blocks.rows * blocks.rows)};
    }

    void make(std::span<float> values) const override {
        const Operands in = in_.operands();
        if (by_rows_) {
            const Index read = rows_at_once(operation_, in);
            in_blocks(operation_, axes_, in, 0, read == 0 ? by_rows_->at_once : std::min(by_rows_->at_once, read),
                      [&](Tensor rows, Index first) {
                          edit(rows, first);
                          put_rows(rows, axes_, first, values);
                      });
            return;
        }
        Tensor made = computed_rows(operation_, axes_, in);
        for (const Patch& patch : patches_) patch.apply(made);
        std::ranges::copy(made.values(), values.begin());
    }

    [[nodiscard]] Tensor some_rows(Index first, Index count) const override {
        if (!by_rows_) return {};
        Tensor rows = compute_cut(operation_, axes_, in_.operands(), first, count);
        edit(rows, first);
        return rows;
    }

    [[nodiscard]] const ByRows* by_rows() const override { return by_rows_ ? &*by_rows_ : nullptr; }
    [[nodiscard]] bool may_stay() const override { return !by_rows_; }

private:
    // The edits of these rows.
    void edit(Tensor& rows, Index first) const {
        const std::size_t along = *row_axis(axes_);
        for (Patch patch : patches_) {
            std::optional<Index>& row = patch.where[along];
            if (row && (*row < first || *row >= first + rows.dim(along))) continue;
            if (row) *row -= first;
            patch.apply(rows);
        }
    }

    Operation operation_;
    Axes axes_;
    std::vector<Patch> patches_;
    HeldOperands in_;
    std::optional<ByRows> by_rows_;
};

}  // namespace

bool works_by_row(const Step& step, const Operands& in) {
    return row_axis(step.axes) && step.operation.by_row() && step.operation.rows_stand_alone(in);
}

Tensor computed_rows(const Operation& operation, const Axes& axes, const Operands& in, Index first) {
    const Index at_once = rows_at_once(operation, in), count = row_count(axes) - first;
    if (at_once == 0 || at_once >= count)
        return first == 0 ? operation.compute(in, axes) : compute_cut(operation, axes, in, first, count);
    Tensor out(with_row_count(axes, count));
    const std::span<float> values = out.writable();
    in_blocks(operation, axes, in, first, at_once,
              [&](const Tensor& rows, Index row) { put_rows(rows, out.axes(), row - first, values); });
    return out;
}

Tensor computed_row(const Operation& operation, const Axes& axes, const Operands& in, Index row) {
    return compute_cut(operation, axes, in, row, 1);
}

bool would_come_by_rows(const Step& step, const Operands& in, const Blocks& blocks) {
    return bytes_of(step.axes) >= blocks.from_bytes && row_count(step.axes) > 1 && works_by_row(step, in);
}

Tensor made_again(const Step& step, const Operands& in, const Blocks& blocks) {
    return {step.axes, std::make_shared<const MadeAgain>(step, in, blocks)};
}

Tensor rest_when_read(const Step& step, const Operands& in, Index begin, Index first) {
    return {with_row_count(step.axes, row_count(step.axes) - begin),
            std::make_shared<const RestWhenRead>(step, in, begin, first)};
}

}  // namespace decoderscope
