#pragma once

#include "engine/tensor.h"

#include <vector>

namespace decoderscope {

// Reads a mask [batch, head, query, key] a row at a time. If the mask was not read yet, its rules give the row: one
// number per head, query and key would need as much memory as the run's largest tensors.
class MaskRows {
public:
    explicit MaskRows(Tensor mask) : mask_(std::move(mask)), rules_(mask_.lazy<LazyRows>()) {
        if (rules_ != nullptr) room_.resize(static_cast<std::size_t>(mask_.dim(3)));
    }

    // 1 = kept, 0 = masked, [key]; valid until the next row is read.
    [[nodiscard]] std::span<const float> row(Index batch, Index head, Index query) {
        const auto keys = static_cast<std::size_t>(mask_.dim(3));
        const Index row = (batch * mask_.dim(1) + head) * mask_.dim(2) + query;
        if (rules_ == nullptr) return mask_.values().subspan(static_cast<std::size_t>(row) * keys, keys);
        rules_->rows(row, row + 1, room_);
        return room_;
    }

private:
    Tensor mask_;
    const LazyRows* rules_;
    std::vector<float> room_;
};

}  // namespace decoderscope
