#include "engine/graph/on_demand.h"

#include "engine/tensor/rows.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

namespace decoderscope {

namespace {

Index bytes_of(const Axes& axes) { return element_count(axes) * static_cast<Index>(sizeof(float)); }

// Whether some rows of one head need no other heads.
bool head_stands_alone(const Operation& operation, const Operands& in, const Head& head) {
    const ByRow by_row = *operation.by_row();
    for (std::size_t i = 0; i < in.size(); ++i)
        if (!by_row[i] && head_axis(in[i].axes()) && !in[i].is_ready()) return false;
    return operation.of_head(head).has_value();
}

// Some rows of a step, from the same rows of the operands that it reads by row.
Tensor compute_cut(const Operation& of_all, const Axes& all, const Operands& in, const SomeRows& rows) {
    if (rows.head && !head_stands_alone(of_all, in, *rows.head))
        return of_head(compute_cut(of_all, all, in, {rows.first, rows.count, rows.apart}), *rows.head);
    const Operation operation = rows.head ? *of_all.of_head(*rows.head) : of_all;
    const ByRow by_row = *operation.by_row();
    std::vector<Tensor> cut;
    cut.reserve(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
        cut.push_back(by_row[i] ? some_rows(in[i], rows) : rows.head ? of_head(in[i], *rows.head) : in[i]);
    const Axes axes = with_row_count(rows.head ? of_head(all) : all, rows.count);
    const auto compute = [&](Index first, Index count) {
        std::vector<Tensor> part = cut;
        Operands of_rows;
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (by_row[i]) part[i] = some_rows(cut[i], first, count);
            of_rows.add(part[i]);
        }
        return operation.rows(of_rows, with_row_count(axes, count), rows.first + first * rows.apart);
    };
    if (rows.apart == 1 || !operation.counts_rows()) return compute(0, rows.count);
    Tensor out(axes);
    for (Index i = 0; i < rows.count; ++i) put_rows(compute(i, 1), axes, i, out.writable());
    return out;
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

// Computes the rows from `first` up to `end`, `at_once` at a time: write(rows, first).
template <class Write>
void in_blocks(const Operation& operation, const Axes& axes, const Operands& in, Index first, Index end, Index at_once,
               const Write& write) {
    for (Index row = first; row < end; row += at_once)
        write(compute_cut(operation, axes, in, {row, std::min(at_once, end - row)}), row);
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

    [[nodiscard]] Tensor some_rows(const SomeRows& rows) const override {
        SomeRows computed = rows;
        computed.first += begin_ - first_;
        return computed.first >= 0 ? decoderscope::some_rows(rows_, computed) : Tensor();
    }

private:
    Operation operation_;
    Axes axes_;
    HeldOperands in_;
    Index begin_, first_;
    Tensor rows_;
};

// The patches that touch some rows, as patches of these alone.
std::vector<Patch> patches_of_rows(std::span<const Patch> patches, const Axes& axes, const SomeRows& rows) {
    std::vector<Patch> moved;
    const auto along = head_axis(axes);
    for (Patch patch : patches) {
        if (std::optional<Index>& row = patch.where[*row_axis(axes)]) {
            *row -= rows.first;
            if (*row < 0 || *row >= rows.count * rows.apart || *row % rows.apart != 0) continue;
            *row /= rows.apart;
        }
        if (rows.head && along && patch.where[*along]) {
            if (*patch.where[*along] != rows.head->among(axes[*along].size)) continue;
            patch.where[*along] = 0;
        }
        moved.push_back(std::move(patch));
    }
    return moved;
}

// Rows that are edited as they are written: the edited mask of a long text is never there whole.
class EditedRows : public LazyRows {
public:
    EditedRows(Tensor before, std::vector<Patch> patches)
        : before_(std::move(before)),
          rules_(before_.lazy<LazyRows>()),
          patches_(std::move(patches)),
          by_rows_{before_.axes(), Blocks{}.rows} {}

    void make(std::span<float> values) const override { rows(0, std::ssize(values) / width(), values); }
    void rows(Index begin, Index end, std::span<float> values) const override {
        rules_->rows(begin, end, values);
        for (Index row = begin; row < end; ++row) {
            const Cell cell = before_.cell(row * width());
            for (const Patch& patch : patches_)
                edit(patch, cell,
                     values.subspan(static_cast<std::size_t>((row - begin) * width()),
                                    static_cast<std::size_t>(width())));
        }
    }
    [[nodiscard]] Tensor some_rows(const SomeRows& rows) const override {
        Tensor before = decoderscope::some_rows(before_, rows);
        std::vector<Patch> patches = patches_of_rows(patches_, before_.axes(), rows);
        Axes axes = before.axes();
        return {std::move(axes), std::make_shared<const EditedRows>(std::move(before), std::move(patches))};
    }
    [[nodiscard]] Index finite_at_most(Index) const override { return width(); }
    [[nodiscard]] std::span<const float> in_place(Index) const override { return {}; }
    [[nodiscard]] const ByRows* by_rows() const override { return &by_rows_; }

private:
    [[nodiscard]] Index width() const { return before_.axes().back().size; }
    static void edit(const Patch& patch, Cell cell, std::span<float> row) {
        const std::optional<Index>& column = patch.where.back();
        cell.back() = column.value_or(0);
        if (!patch.touches(cell)) return;
        for (Index at = cell.back(), end = column ? at + 1 : std::ssize(row); at < end; ++at) {
            float& value = row[static_cast<std::size_t>(at)];
            value = rounded(patch.kind == Patch::Kind::set ? patch.value : value * patch.value, patch.stored_as);
        }
    }

    Tensor before_;
    const LazyRows* rules_;
    std::vector<Patch> patches_;
    ByRows by_rows_;
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
            in_blocks(operation_, axes_, in, 0, row_count(axes_),
                      read == 0 ? by_rows_->at_once : std::min(by_rows_->at_once, read), [&](Tensor rows, Index first) {
                          edit(rows, {first, row_count(rows.axes())});
                          put_rows(rows, axes_, first, values);
                      });
            return;
        }
        Tensor made = computed_rows(operation_, axes_, in);
        for (const Patch& patch : patches_) patch.apply(made);
        std::ranges::copy(made.values(), values.begin());
    }

    [[nodiscard]] Tensor some_rows(const SomeRows& rows) const override {
        if (!by_rows_) return {};
        Tensor made = compute_cut(operation_, axes_, in_.operands(), rows);
        edit(made, rows);
        return made;
    }

    [[nodiscard]] const ByRows* by_rows() const override { return by_rows_ ? &*by_rows_ : nullptr; }
    [[nodiscard]] bool may_stay() const override { return !by_rows_; }

private:
    // The edits of these rows.
    void edit(Tensor& made, const SomeRows& rows) const {
        for (const Patch& patch : patches_of_rows(patches_, axes_, rows)) patch.apply(made);
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

Tensor computed_rows(const Operation& operation, const Axes& axes, const Operands& in, Index first,
                     std::optional<Index> some) {
    const Index at_once = rows_at_once(operation, in), count = some.value_or(row_count(axes) - first);
    if (at_once == 0 || at_once >= count)
        return count == row_count(axes) || (first == 0 && !some) ? operation.compute(in, axes)
                                                                 : compute_cut(operation, axes, in, {first, count});
    Tensor out(with_row_count(axes, count));
    const std::span<float> values = out.writable();
    in_blocks(operation, axes, in, first, first + count, at_once,
              [&](const Tensor& rows, Index row) { put_rows(rows, out.axes(), row - first, values); });
    return out;
}

Tensor computed_row(const Operation& operation, const Axes& axes, const Operands& in, Index row) {
    return compute_cut(operation, axes, in, {row, 1});
}

bool would_come_by_rows(const Step& step, const Operands& in, const Blocks& blocks) {
    return bytes_of(step.axes) >= blocks.from_bytes && row_count(step.axes) > 1 && works_by_row(step, in);
}

Tensor edited(Tensor tensor, const Step& step, const Blocks& blocks) {
    const bool huge_mask = step.operation.traits().masks && bytes_of(step.axes) >= blocks.huge_bytes();
    if (huge_mask && !step.patches.empty() && tensor.lazy<LazyRows>() != nullptr)
        return {step.axes, std::make_shared<const EditedRows>(std::move(tensor), step.patches)};
    for (const Patch& patch : step.patches) patch.apply(tensor);
    return tensor;
}

Tensor made_again(const Step& step, const Operands& in, const Blocks& blocks) {
    return {step.axes, std::make_shared<const MadeAgain>(step, in, blocks)};
}

Tensor rest_when_read(const Step& step, const Operands& in, Index begin, Index first) {
    return {with_row_count(step.axes, row_count(step.axes) - begin),
            std::make_shared<const RestWhenRead>(step, in, begin, first)};
}

}  // namespace decoderscope
