#include "app/core/run/slice.h"

#include "app/core/run/labels.h"
#include "app/core/text/places.h"
#include "engine/base/translate.h"
#include "engine/graph/edit.h"
#include "engine/tensor/rows.h"
#include "engine/tensor/storage.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <variant>

namespace decoderscope::core {

namespace {

// Moves an index of the batch; whether the edit reaches the row.
bool moved(std::optional<Index>& batch, Index row) {
    if (batch && *batch != row) return false;
    if (batch) batch = 0;
    return true;
}

struct Moving {
    const Plan& plan;
    Index row;

    bool operator()(MaskEdit& edit) const { return moved(edit.batch, row); }
    bool operator()(RouteExpert& edit) const { return moved(edit.batch, row); }
    bool operator()(ScaleHead&) const { return true; }
    bool operator()(RewriteStep&) const { return true; }
    bool operator()(AddRow&) const { return true; }
    bool operator()(SetCell& edit) const {
        const Ref step = plan.find(edit.tensor);
        if (step == nullptr || step->axes.empty() || step->axes[0].name != axis::batch || step->axes[0].size == 1)
            return true;
        if (edit.index.front() != row) return false;
        edit.index.front() = 0;
        return true;
    }
};

std::uint8_t causes_of(Masks hiding, bool by_hand) {
    return by_hand ? static_cast<std::uint8_t>(hiding | hidden_by::hand) : hiding;
}

std::string subtitle_of(const Slice& slice) {
    if (slice.joins_heads)
        return tr_n("batch {batch}, {count} head", "batch {batch}, {count} heads side by side", slice.axes[1].size,
                    {{"batch", slice.fixed[0]}});
    std::string text;
    for (std::size_t i = 0; i + 2 < slice.axes.size(); ++i)
        append_name(text, spoken_place(slice.axes[i].name, slice.fixed[i], ""));
    return text;
}

bool has_heads(const Step& step) { return step.axes.size() == 4 && step.axes[1].name == axis::head; }

// Whether Place::outer goes along an axis before the last two. Nothing tells what a recorded tensor's unnamed first
// axis counts: in [batch · head, query, key], as torch.nn.MultiheadAttention computes its weights, rows of the batch
// and heads at once.
bool is_outer(const Axes& axes, std::size_t i) {
    const std::string_view name = axes[i].name;
    return name == axis::pos || name == axis::src || name == axis::expert || (i == 0 && name.empty());
}

// The labels of heads side by side: each head's name at its first column, then its columns' indices.
std::vector<std::string> labels_of_heads(const Axes& axes) {
    std::vector<std::string> labels;
    for (Index head = 0; head < axes[1].size; ++head)
        for (Index column = 0; column < axes[3].size; ++column)
            labels.push_back(column == 0 ? tr("head {head}", {{"head", head}}) : std::to_string(column));
    return labels;
}

// The range of recorded numbers, without what fills hidden cells.
Range range_of_recorded(std::span<const float> values, Scale scale) {
    const std::optional<float> fill = highest_fill(values);
    if (!fill) return range_of(values, scale);
    std::vector<float> seen;
    std::ranges::copy_if(values, std::back_inserter(seen), [&](float value) { return value > *fill; });
    return range_of(seen, scale);
}

// The cells of a recorded slice that another program filled; empty if there are none.
std::vector<std::uint8_t> filled_cells(std::span<const float> values) {
    const std::optional<float> fill = highest_fill(values);
    std::vector<std::uint8_t> causes;
    if (!fill) return causes;
    for (const float value : values) causes.push_back(value <= *fill ? hidden_by::fill : hidden_by::nothing);
    return causes;
}

// The heads of a slice over [query, key] that stand side by side: each one's first column, and a cell there.
struct HeadColumns {
    Index first = 0;
    Cell cell;
};
std::vector<HeadColumns> heads_in(const Slice& slice, Index keys) {
    std::vector<HeadColumns> heads;
    for (Index first = 0; first < slice.columns(); first += keys) heads.push_back({first, slice.cell(0, first)});
    return heads;
}

}  // namespace

std::optional<Scenario> only_row(const Scenario& scenario, const Plan& plan, Index row) {
    if (!scenario.computes() || scenario.batch() == 1 || scenario.dropout_seed || !scenario.mutation.empty()) return {};
    Scenario one = scenario;
    one.inputs = part_of(scenario.inputs, {0, scenario.inputs.pos(), row});
    one.gradient_target.clear();
    one.edits.clear();
    for (Edit edit : scenario.edits)
        if (std::visit(Moving{plan, row}, edit)) one.edits.push_back(std::move(edit));
    return one;
}

std::span<const float> Reader::operator()(const Tensor& tensor) {
    const auto* lazy = tensor.lazy<LazyValues>();
    if (lazy == nullptr) return tensor.values();
    const auto size = static_cast<std::size_t>(tensor.size());
    if (room_.size() < size) room_.resize(size);  // fresh pages take longer than most of what they hold
    const std::span<float> made = std::span(room_).first(size);
    lazy->make(made);
    return made;
}

Cell Slice::cell(Index row, Index column) const {
    Cell cell = fixed;
    if (joins_heads) {
        cell[1] = column / axes[3].size;
        column %= axes[3].size;
    }
    if (axes.size() >= 2) cell[axes.size() - 2] = row;
    if (!axes.empty()) cell.back() = column;
    return cell;
}

std::optional<std::pair<Index, Index>> Slice::find(const Cell& cell) const {
    if (cell.size() != axes.size()) return std::nullopt;
    if (joins_heads) {
        if (cell[0] != fixed[0]) return std::nullopt;
        return std::pair{cell[2], cell[1] * axes[3].size + cell[3]};
    }
    for (std::size_t i = 0; i + 2 < cell.size(); ++i)
        if (cell[i] != fixed[i]) return std::nullopt;
    return std::pair{cell.size() < 2 ? 0 : cell[cell.size() - 2], cell.empty() ? 0 : cell.back()};
}

std::vector<float> values_in(const Tensor& tensor, const Slice& slice) {
    std::vector<float> values(static_cast<std::size_t>(slice.rows() * slice.columns()));
    const auto room_from = [&](Index row, Index column) {
        return std::span(values).subspan(static_cast<std::size_t>(row * slice.columns() + column));
    };
    const Index width = slice.axes.empty() ? 1 : slice.axes.back().size;
    if (const auto* lazy = tensor.lazy<LazyRows>(); lazy != nullptr && !slice.joins_heads) {
        const Index row = tensor.offset(slice.cell(0, 0)) / width;
        lazy->rows(row, row + slice.rows(), values);
    } else if (tensor.by_rows() != nullptr) {
        for_each_piece(tensor, [&](Index first, std::span<const float> piece) {
            for (Index at = 0; at < std::ssize(piece); at += width)
                if (const auto place = slice.find(tensor.cell(first + at)))
                    std::ranges::copy(piece.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(width)),
                                      room_from(place->first, place->second).begin());
        });
    } else {  // without heads beside each other, the last two axes are contiguous in memory
        const Tensor whole = tensor.for_one_use();
        const Index rows = slice.joins_heads ? slice.rows() : 1, columns = slice.joins_heads ? slice.columns() : 1;
        const std::size_t together = slice.joins_heads ? static_cast<std::size_t>(width) : values.size();
        for (Index row = 0; row < rows; ++row)
            for (Index column = 0; column < columns; column += width)
                whole.copy(whole.offset(slice.cell(row, column)), room_from(row, column).first(together));
    }
    return values;
}

Slice slice_of(const Step& step, Place place, Index query_heads) {
    Slice slice{step.axes, Cell(step.axes.size())};
    slice.joins_heads = place.head == Place::kAllHeads && has_heads(step);
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i) {
        const Index size = step.axes[i].size;
        const std::string_view name = step.axes[i].name;
        const Index wanted = name == axis::head       ? place.head * size / query_heads
                             : is_outer(step.axes, i) ? place.outer
                                                      : place.batch;
        slice.fixed[i] = std::clamp<Index>(wanted, 0, size - 1);
    }
    return slice;
}

const Axis* outer_axis(const Step& step) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i)
        if (is_outer(step.axes, i) && step.axes[i].size > 1) return &step.axes[i];
    return nullptr;
}

Place place_beside(const Step& operand, const Step& result, Place place) {
    if (has_heads(operand) && !has_heads(result) && !operand.is_source()) place.head = Place::kAllHeads;
    return place;
}

Place place_of(const Step& step, const Cell& cell, Place now, Index query_heads) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i) {
        const Axis& axis = step.axes[i];
        if (axis.name == axis::batch && axis.size > 1) now.batch = cell[i];
        if (is_outer(step.axes, i)) now.outer = cell[i];
        // The first query head that reads this key/value head, unless the current one does.
        if (axis.name == axis::head && now.head * axis.size / query_heads != cell[i])
            now.head = cell[i] * (query_heads / axis.size);
    }
    return now;
}

Scale scale_of(const Run& run, const Step& step) {
    if (step.part == Part::own) {
        const Tensor values = run.value(step.id).for_one_use();
        return std::ranges::any_of(values.values(), [](float value) { return value < 0.0F; }) ? Scale::diverging
                                                                                              : Scale::sequential;
    }
    if (step.role == Role::input) {
        // Vectors: x, a memory, what a cache has kept. All others hold ids, numbers of positions, or what a mask keeps.
        const std::string_view along = step.axes.back().name;
        const bool of_vectors = along == axis::d_model || along == axis::d_head || along == axis::rank;
        return of_vectors ? Scale::diverging : Scale::sequential;
    }
    return values_of(run.plan(), step) == Values::any ? Scale::diverging : Scale::sequential;
}

std::vector<std::uint8_t> painted_cells(const Step& mask, const Slice& slice) {
    std::vector<std::uint8_t> painted(static_cast<std::size_t>(slice.rows() * slice.columns()), 0);
    const auto span = [](const std::optional<Index>& index, Index size) {
        return index ? std::pair{*index, *index + 1} : std::pair{Index{0}, size};
    };
    const std::vector<HeadColumns> heads = heads_in(slice, mask.axes[3].size);
    for (const Patch& patch : mask.patches)
        for (const auto& [first, cell] : heads) {
            const auto& [batch, head] = std::pair{patch.where[0], patch.where[1]};
            if ((batch && *batch != cell[0]) || (head && *head != cell[1])) continue;
            const auto [top, bottom] = span(patch.where[2], slice.rows());
            const auto [left, right] = span(patch.where[3], mask.axes[3].size);
            for (Index row = top; row < bottom; ++row)
                for (Index column = left; column < right; ++column)
                    painted[static_cast<std::size_t>(row * slice.columns() + first + column)] = 1;
        }
    return painted;
}

std::vector<std::uint8_t> hidden_cells(const Run& run, const Step& step, const Slice& slice) {
    if (step.operation.traits().recorded_elsewhere) return filled_cells(values_in(run.value(step.id), slice));
    if (!step.masked_by) return {};
    const Step& mask = run.plan()[*step.masked_by];
    const Operands operands = run.operands_of(mask.id);
    MaskRows mask_rows(run.value(mask.id));
    const Index keys = mask.axes[3].size;
    std::vector<HeadColumns> heads = heads_in(slice, keys);
    const std::vector<std::uint8_t> painted = painted_cells(mask, slice);
    std::vector<std::uint8_t> causes(painted.size(), hidden_by::nothing);
    for (Index row = 0; row < slice.rows(); ++row)
        for (auto& [first, cell] : heads) {
            cell[2] = row;
            const std::span<const float> kept = mask_rows.row(cell[0], cell[1], row);
            for (Index key = 0; key < keys; ++key) {
                cell[3] = key;
                const auto at = static_cast<std::size_t>(row * slice.columns() + first + key);
                if (kept[static_cast<std::size_t>(key)] == 0.0F)
                    causes[at] = causes_of(mask.operation.hidden_by(operands, cell), painted[at] != 0);
            }
        }
    return causes;
}

std::uint8_t hiding(const Step& mask, const Operands& operands, const Cell& cell) {
    const bool painted = std::ranges::any_of(mask.patches, [&](const Patch& patch) { return patch.touches(cell); });
    return causes_of(mask.operation.hidden_by(operands, cell), painted);
}

std::vector<std::uint8_t> hidden_keys(const Run& run, const Step& mask, Index batch, Index head, Index query) {
    const Operands operands = run.operands_of(mask.id);
    MaskRows mask_rows(run.value(mask.id));
    const std::span<const float> kept = mask_rows.row(batch, head, query);
    std::vector<std::uint8_t> causes(kept.size(), hidden_by::nothing);
    Cell cell = {batch, head, query, 0};
    for (std::size_t key = 0; key < kept.size(); ++key) {
        cell.back() = static_cast<Index>(key);
        if (kept[key] == 0.0F) causes[key] = hiding(mask, operands, cell);
    }
    return causes;
}

Range range_of_step(const Run& run, const Step& step) {
    const Tensor& values = run.value(step.id);
    const Scale scale = scale_of(run, step);
    if (step.operation.traits().recorded_elsewhere) return range_of_recorded(values.values(), scale);
    // The range of all numbers spans the range of their ends; hidden cells don't count.
    std::vector<float> ends;
    const auto note = [&](std::span<const float> numbers, std::span<const float> kept) {
        float low = std::numeric_limits<float>::infinity(), high = -low;
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if ((kept.empty() || kept[i] != 0.0F) && std::isfinite(numbers[i])) {
                low = std::min(low, numbers[i]);
                high = std::max(high, numbers[i]);
            }
        if (low <= high) ends.insert(ends.end(), {low, high});
    };
    std::optional<MaskRows> mask;
    if (step.masked_by && step.masked_by != step.id) mask.emplace(run.value(*step.masked_by));
    for_each_piece(values, [&](Index first, std::span<const float> piece) {
        if (!mask) return note(piece, {});
        const auto keys = static_cast<std::size_t>(step.axes[3].size);
        for (std::size_t at = 0; at < piece.size(); at += keys) {
            const Cell cell = values.cell(first + static_cast<Index>(at));
            note(piece.subspan(at, keys), mask->row(cell[0], cell[1], cell[2]));
        }
    });
    return range_of(ends, scale);
}

namespace {

// Which cells are 0 only because of the step's own rounding, [row, column]; empty if none is. The step is computed once
// more without it, but only if a cell is 0 and not masked.
std::vector<std::uint8_t> vanished_cells(const Run& run, const Step& step, const Slice& slice, const Heatmap& heatmap) {
    const Arithmetic type = step.operation.arithmetic();
    if (step.is_source() || type == Arithmetic::float32) return {};
    std::vector<std::size_t> zeros;
    for (std::size_t i = 0; i < heatmap.values.size(); ++i)
        if (heatmap.values[i] == 0.0F && (heatmap.hidden.empty() || !hidden_by::masked(heatmap.hidden[i])))
            zeros.push_back(i);
    const auto is_there = [&](StepId operand) { return !run.value(operand).empty(); };
    if (zeros.empty() || !std::ranges::all_of(step.operands, is_there)) return {};
    const Operation unrounded = step.operation.rounding_to(Arithmetic::float32);
    const std::vector<float> exact = values_in(unrounded.compute(run.operands_of(step.id), step.axes), slice);
    std::vector<std::uint8_t> vanished;
    for (const std::size_t i : zeros) {
        if (exact[i] == 0.0F || rounded(exact[i], type) != 0.0F) continue;  // an edit may have set it
        vanished.resize(exact.size());
        vanished[i] = 1;
    }
    return vanished;
}

}  // namespace

Heatmap empty_heatmap_of(const Scenario& scenario, const Run& run, const Step& step, Place place) {
    const Slice slice = slice_of(step, place, scenario.query_heads());
    const std::size_t rank = step.axes.size();
    Heatmap heatmap;
    heatmap.title = step.name;
    heatmap.subtitle = subtitle_of(slice);
    heatmap.rows = slice.rows();
    heatmap.columns = slice.columns();
    heatmap.scale = scale_of(run, step);
    if (rank >= 1) {
        heatmap.column_axis = step.axes[rank - 1].name;
        heatmap.column_labels =
            slice.joins_heads ? labels_of_heads(step.axes) : axis_labels(scenario, step, rank - 1, place.batch);
    } else {
        heatmap.column_labels = {""};
    }
    if (rank >= 2) {
        heatmap.row_axis = step.axes[rank - 2].name;
        heatmap.row_labels = axis_labels(scenario, step, rank - 2, place.batch);
    } else {
        heatmap.row_labels = {""};
    }
    return heatmap;
}

Heatmap heatmap_of(const Scenario& scenario, const Run& run, const Step& step, Place place,
                   const KnownOfHeatmap& known) {
    const Slice slice = slice_of(step, place, scenario.query_heads());
    const Tensor& tensor = run.value(step.id);
    Heatmap heatmap = empty_heatmap_of(scenario, run, step, place);
    heatmap.values = values_in(tensor, slice);
    const bool recorded = step.operation.traits().recorded_elsewhere;
    heatmap.hidden = known.hidden ? *known.hidden
                     : recorded   ? filled_cells(heatmap.values)
                                  : hidden_cells(run, step, slice);
    heatmap.vanished = vanished_cells(run, step, slice, heatmap);
    // A recording may be larger than the memory: of a large tensor only what is shown is read, and nothing is kept.
    constexpr Index kMost = 16'000'000;
    heatmap.range = known.range                         ? *known.range
                    : recorded && tensor.size() > kMost ? range_of_recorded(heatmap.values, heatmap.scale)
                                                        : range_of_step(run, step);
    return heatmap;
}

}  // namespace decoderscope::core
