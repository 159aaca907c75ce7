#include "engine/load/stored_parameters.h"

#include <algorithm>
#include <utility>

namespace decoderscope::load {

StoredParameters::StoredParameters(std::shared_ptr<const Checkpoint> checkpoint, const std::vector<StoredRows>& rows)
    : checkpoint_(std::move(checkpoint)) {
    for (const StoredRows& part : rows)
        if (checkpoint_->is_packed(part.from)) rows_.emplace(part.name, part);
}

std::optional<packed::StoredNumber> StoredParameters::at(const std::string& parameter, Index number,
                                                         Index columns) const {
    const auto [begin, end] = rows_.equal_range(parameter);
    for (auto entry = begin; entry != end; ++entry) {
        const StoredRows& part = entry->second;
        // All experts' matrices, stored as they are, are a row each.
        const Index width = std::max(columns, part.columns);
        const Index row = number / width - part.at, column = number % width - part.column;
        if (row < 0 || row >= part.rows || column < 0 || column >= part.columns) continue;
        const Index stored_row = part.first + row * part.step;
        const Index stored =
            part.offset + (part.turned ? column * part.stride + stored_row : stored_row * part.stride + column);
        return checkpoint_->stored_number(part.from, stored);
    }
    return std::nullopt;
}

}  // namespace decoderscope::load
