#include "app/core/labs/norms/stream_lengths.h"

#include <cmath>
#include <optional>
#include <span>

namespace decoderscope::core::norms {

namespace {

// The length of a row of [batch, pos, d_model]; nothing if the tensor has no such row.
std::optional<double> length_at(const Tensor& rows, Index batch, Index position) {
    if (rows.rank() != 3 || batch >= rows.dim(0) || position >= rows.dim(1)) return std::nullopt;
    double squares = 0.0;
    for (const float x : rows.row({batch, position, 0})) squares += static_cast<double>(x) * static_cast<double>(x);
    return std::sqrt(squares);
}

bool is_stream(const Step& step, StackKind stack) {
    return step.stack == stack && !step.block.empty() && !step.backward &&
           (step.part == Part::residual_stream || step.part == Part::add);
}

}  // namespace

std::vector<StreamLength> stream_lengths(const Run& run, StackKind stack, Index batch, Index position) {
    std::vector<StreamLength> lengths;
    for (const Step& step : run.plan().steps()) {
        if (!is_stream(step, stack) || run.value(step.id).empty()) continue;
        const std::optional<double> length = length_at(run.value(step.id), batch, position);
        if (!length) continue;
        if (lengths.empty()) lengths.push_back({step.name, "", *length});
        if (step.part != Part::add) continue;
        // The last sum of a block is what it leaves.
        if (lengths.back().block == step.block)
            lengths.back() = {step.name, step.block, *length};
        else
            lengths.push_back({step.name, step.block, *length});
    }
    return lengths;
}

}  // namespace decoderscope::core::norms
