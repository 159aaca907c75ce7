#include "app/core/labs/diff/by_position.h"

#include "app/core/run/labels.h"
#include "app/core/run/slice.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace decoderscope::core::diff {

namespace {

// The first axis that runs over a sequence; as many as there are axes if none does.
std::size_t sequence_axis(const Step& step) {
    std::size_t axis = 0;
    while (axis < step.axes.size() && sequence_along(step, axis) == TokenSequence::none) ++axis;
    return axis;
}

DifferenceByPosition by_position(const Scenario& scenario, const Step& step, const Tensor& a, const Tensor& b,
                                 Index batch) {
    DifferenceByPosition made;
    const std::size_t axis = sequence_axis(step);
    if (axis == step.axes.size()) return made;
    for (const std::string& token : axis_labels(scenario, step, axis, batch))
        made.positions.push_back({token, 0.0, {}, false});
    const auto count = static_cast<std::size_t>(step.axes[axis].size);
    made.positions.resize(count);
    Reader read_a, read_b;
    const std::span<const float> here = read_a(a), there = read_b(b);
    std::size_t inner = 1;
    for (std::size_t i = axis + 1; i < step.axes.size(); ++i) inner *= static_cast<std::size_t>(step.axes[i].size);
    const bool batched = step.axes.front().name == axis::batch && step.axes.front().size > 1;
    const std::size_t row = batched ? here.size() / static_cast<std::size_t>(step.axes.front().size) : here.size();
    const std::size_t first = batched ? row * static_cast<std::size_t>(batch) : 0;
    for (std::size_t i = first; i < first + row; ++i) {
        DifferenceByPosition::At& at = made.positions[i / inner % count];
        const double apart = distance_between(here[i], there[i]);
        at.both_nan = at.both_nan || (std::isnan(here[i]) && std::isnan(there[i]));
        if (apart <= at.largest) continue;
        at.largest = apart;
        at.cell = a.cell(static_cast<Index>(i));
    }
    return made;
}

}  // namespace

Value<DifferenceByPosition> shown_by_position(Derived& derived, const Scenario& scenario,
                                              const Value<ShownComparison>& of, const Step& step, Index batch) {
    const std::shared_ptr<const Run> run = of->of.lock();
    return derived.get<DifferenceByPosition>({run, of->b}, std::tie(step.id, batch), [&] {
        return by_position(scenario, step, run->value(step.id), *of->reference.find(step.name), batch);
    });
}

}  // namespace decoderscope::core::diff
