#include "engine/sheet/readers.h"

#include "engine/base/error.h"
#include "engine/ops/written_formula.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

namespace decoderscope::sheet {

namespace {

using formulas::Box;

// A run's operands of a step, one of them with NaN at a cell.
Operands with_nan(const Run& run, const Step& step, std::size_t operand, const Cell& cell, Tensor& changed) {
    changed = run.value(step.operands[operand]);
    changed.writable()[static_cast<std::size_t>(changed.offset(cell))] = std::numeric_limits<float>::quiet_NaN();
    Operands in;
    for (std::size_t i = 0; i < step.operands.size(); ++i) in.add(i == operand ? changed : run.value(step.operands[i]));
    return in;
}

// The cells that become NaN if the operand's is.
Box by_computing(const Run& run, const Step& step, std::size_t operand, const Cell& cell) {
    Box box;
    Tensor changed;
    const Operands in = with_nan(run, step, operand, cell, changed);
    const Tensor now = step.operation.compute(in, step.axes);
    const Tensor before = step.operation.compute(run.operands_of(step.id), step.axes);
    for (Index i = 0; i < now.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (std::isnan(now.values()[at]) && !std::isnan(before.values()[at]))
            box = formulas::around(box, formulas::box_of(now.cell(i)));
    }
    return box;
}

// Where both have the same axis, the same index; all along others.
Box by_axes(const Axes& operand, const Cell& cell, const Axes& out) {
    Box box;
    for (const Axis& axis : out) {
        std::vector<Index>& along = box.emplace_back();
        const auto same = std::find(operand.begin(), operand.end(), axis);
        if (same != operand.end()) {
            along.push_back(cell[static_cast<std::size_t>(same - operand.begin())]);
        } else {
            for (Index i = 0; i < axis.size; ++i) along.push_back(i);
        }
    }
    return box;
}

Box cells_reading(const Run& run, const Step& reader, std::size_t operand, const Cell& cell) {
    const std::optional<ops::ByFormula> formula = ops::formula_of(reader.operation);
    if (formula && !formula->name_of(operand).empty()) {
        try {
            return formula->reached_from(operand, cell, run.operands_of(reader.id), reader.axes);
        } catch (const Error&) {  // a sum with a tensor that lacks an axis: its formula has none
        }
    }
    const Axes& axes = run.plan()[reader.operands[operand]].axes;
    if (reader.operation.traits().recorded_elsewhere) return by_axes(axes, cell, reader.axes);
    try {
        if (Box box = by_computing(run, reader, operand, cell); !formulas::is_empty(box)) return box;
    } catch (const Error&) {  // a token can't be NaN
    }
    return by_axes(axes, cell, reader.axes);
}

// The index that is nearest to `wanted`.
Index nearest_in(const std::vector<Index>& along, std::optional<Index> wanted) {
    if (!wanted) return along.front();
    return *std::ranges::min_element(along, {}, [&](Index index) { return std::abs(index - *wanted); });
}

Cell nearest_cell(const Box& box, const Axes& axes, const Axes& of, const Cell& cell) {
    Cell nearest;
    for (std::size_t i = 0; i < box.size(); ++i) {
        std::optional<Index> wanted;
        for (std::size_t j = 0; j < of.size(); ++j)
            if (of[j].name == axes[i].name) wanted = cell[j];
        nearest.push_back(nearest_in(box[i], wanted));
    }
    return nearest;
}

}  // namespace

std::vector<Reader> readers_of(const Run& run, const Step& step, const Cell& cell) {
    std::vector<Reader> readers;
    for (const Step& reader : run.plan().steps()) {
        Box box;
        for (std::size_t i = 0; i < reader.operands.size(); ++i)
            if (reader.operands[i] == step.id) box = formulas::around(box, cells_reading(run, reader, i, cell));
        if (formulas::is_empty(box)) continue;
        std::size_t count = 1;
        for (const std::vector<Index>& along : box) count *= along.size();
        Cell nearest = nearest_cell(box, reader.axes, step.axes, cell);
        readers.push_back({reader.id, std::move(box), count, std::move(nearest)});
    }
    return readers;
}

}  // namespace decoderscope::sheet
