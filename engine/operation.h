#pragma once

#include "engine/explanation.h"
#include "engine/tensor.h"

#include <concepts>
#include <memory>
#include <string_view>
#include <vector>

namespace decoderscope {

// The tensors that an operation reads, in the order in which the step names them.
class Operands {
public:
    explicit Operands(std::vector<const Tensor*> tensors) : tensors_(std::move(tensors)) {}

    [[nodiscard]] std::size_t size() const { return tensors_.size(); }
    const Tensor& operator[](std::size_t i) const { return *tensors_[i]; }

private:
    std::vector<const Tensor*> tensors_;
};

using OperandAxes = std::vector<Axes>;

// What an operation says of itself in words.
struct About {
    std::string_view name;     // "softmax over key"
    std::string_view formula;  // one line, with the tensors' axes as indices
    std::string_view teaches;  // one paragraph: what it is for, what to look at, which seed writes it how
};

// What every operation knows: its output's axes, its output, and how one cell of it came to be. All three stand side by
// side in one file of engine/ops/. The fourth, the gradient, will stand there too.
template <class T>
concept IsOperation = std::equality_comparable<T> &&
    requires(const T& op, const OperandAxes& operand_axes, const Axes& axes, const Operands& in, const Tensor& out,
             const Cell& cell) {
    { op.about() } -> std::same_as<About>;
    { op.axes(operand_axes) } -> std::same_as<Axes>;
    { op.compute(in, axes) } -> std::same_as<Tensor>;
    { op.explain(in, out, cell) } -> std::same_as<Explanation>;
};

// Any operation, as a value.
class Operation {
public:
    template <IsOperation T>
    Operation(T operation)
        : self_(std::make_shared<Model<T>>(std::move(operation))) {}  // NOLINT: made from any operation

    [[nodiscard]] About about() const { return self_->about(); }
    [[nodiscard]] Axes axes(const OperandAxes& operands) const { return self_->axes(operands); }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const { return self_->compute(in, axes); }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const {
        return self_->explain(in, out, cell);
    }
    // The operation as a T, or nullptr where it is another.
    template <IsOperation T>
    [[nodiscard]] const T* as() const {
        const auto* model = dynamic_cast<const Model<T>*>(self_.get());
        return model ? &model->operation : nullptr;
    }
    bool operator==(const Operation& other) const { return self_->equals(*other.self_); }

private:
    struct Interface {
        virtual ~Interface() = default;
        [[nodiscard]] virtual About about() const = 0;
        [[nodiscard]] virtual Axes axes(const OperandAxes&) const = 0;
        [[nodiscard]] virtual Tensor compute(const Operands&, const Axes&) const = 0;
        [[nodiscard]] virtual Explanation explain(const Operands&, const Tensor&, const Cell&) const = 0;
        [[nodiscard]] virtual bool equals(const Interface&) const = 0;
    };

    template <class T>
    struct Model final : Interface {
        explicit Model(T op) : operation(std::move(op)) {}
        [[nodiscard]] About about() const override { return operation.about(); }
        [[nodiscard]] Axes axes(const OperandAxes& operands) const override { return operation.axes(operands); }
        [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const override {
            return operation.compute(in, axes);
        }
        [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const override {
            return operation.explain(in, out, cell);
        }
        [[nodiscard]] bool equals(const Interface& other) const override {
            const auto* same = dynamic_cast<const Model*>(&other);
            return same != nullptr && same->operation == operation;
        }
        T operation;
    };

    std::shared_ptr<const Interface> self_;
};

}  // namespace decoderscope
