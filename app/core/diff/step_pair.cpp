#include "app/core/diff/step_pair.h"

#include "app/core/text/labels.h"
#include "app/core/text/numbers.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

// The mask whose zeros leave cells of this step out; an empty tensor if none applies.
const Tensor& mask_of(const Run& run, const Step& step) {
    static const Tensor none;
    const bool masked = step.masked_by && step.masked_by != step.id;
    return masked ? run.value(*step.masked_by) : none;
}

// a − b; 0 if both are the same, including infinities and NaN.
float less(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)) ? 0.0F : a - b; }

Range both(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// Differences over the whole tensor; 0 where a mask hides the cell.
std::vector<float> differences(const Tensor& a, const Tensor& b, const Tensor& mask_a, const Tensor& mask_b) {
    std::vector<float> values(static_cast<std::size_t>(a.size()));
    for (Index i = 0; i < a.size(); ++i) {
        const bool hidden =
            (!mask_a.empty() && mask_a.data()[i] == 0.0F) || (!mask_b.empty() && mask_b.data()[i] == 0.0F);
        values[static_cast<std::size_t>(i)] = hidden ? 0.0F : less(a.data()[i], b.data()[i]);
    }
    return values;
}

void measure(StepPair& pair, const Tensor& differences, Index shown_cells) {
    double sum = 0.0;
    Index at = 0;
    for (Index i = 0; i < differences.size(); ++i) {
        const double size = std::abs(static_cast<double>(differences.data()[i]));
        sum += size;
        if (size > pair.largest || (std::isnan(size) && !std::isnan(pair.largest))) {
            pair.largest = size;
            at = i;
        }
    }
    pair.mean = shown_cells > 0 ? sum / static_cast<double>(shown_cells) : 0.0;
    pair.where = differences.cell(at);
}

Index cells_seen(Index all, const Tensor& mask_a, const Tensor& mask_b) {
    if (mask_a.empty() || mask_b.empty()) return all;
    Index seen = 0;
    for (Index i = 0; i < all; ++i) seen += mask_a.data()[i] != 0.0F && mask_b.data()[i] != 0.0F ? 1 : 0;
    return seen;
}

}  // namespace

std::optional<StepPair> step_pair(const Scenario& a, const Run& run_a, const Scenario& b, const Run& run_b,
                                  const std::string& step, Place place) {
    const Ref in_a = run_a.plan().find(step), in_b = run_b.plan().find(step);
    if (in_a == nullptr || in_b == nullptr || in_a->axes != in_b->axes) return std::nullopt;
    const Tensor& values_a = run_a.value(in_a->id);
    const Tensor& values_b = run_b.value(in_b->id);
    if (values_a.empty() || values_b.empty()) return std::nullopt;
    StepPair pair{heatmap_of(a, run_a, *in_a, place), heatmap_of(b, run_b, *in_b, place), {}};
    pair.a.range = pair.b.range = both(pair.a.range, pair.b.range);

    const Slice slice = slice_of(*in_a, place, a.config().nhead);
    const Tensor& mask_a = mask_of(run_a, *in_a);
    const Tensor& mask_b = mask_of(run_b, *in_b);
    const Tensor all(in_a->axes, differences(values_a, values_b, mask_a, mask_b));
    measure(pair, all, cells_seen(all.size(), mask_a, mask_b));
    pair.difference = pair.a;
    pair.difference.scale = Scale::diverging;
    pair.difference.range = range_of(all.values(), Scale::diverging);
    std::copy_n(all.data() + all.offset(slice.cell(0, 0)), pair.difference.values.size(),
                pair.difference.values.begin());
    for (std::size_t i = 0; i < pair.difference.hidden.size(); ++i) pair.difference.hidden[i] |= pair.b.hidden[i];
    return pair;
}

std::string pair_sentence(const StepPair& pair, const std::string& step) {
    if (pair.largest == 0.0) return tr("The same numbers in both: up to here the norm's place has changed nothing.");
    return tr("They differ by {largest} at most, at {cell}, and by {mean} on average.",
              {{"largest", number_text(pair.largest, 3)},
               {"cell", cell_name(step, pair.where)},
               {"mean", number_text(pair.mean, 3)}});
}

}  // namespace decoderscope
