#include "app/core/leak.h"

#include "app/core/labels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace decoderscope {

namespace {

// The place of the decoder's positions among a step's axes; -1 where it has none: an encoder's, or a memory's.
std::ptrdiff_t position_axis(const Step& step) {
    if (step.name.starts_with("encoder")) return -1;
    for (std::size_t i = 0; i < step.axes.size(); ++i) {
        const std::string_view name = step.axes[i].name;
        const bool of_memory = name == axis::pos && step.name.find(".cross_attn.") != std::string::npos &&
                               (step.name.ends_with(".k") || step.name.ends_with(".v"));
        if ((name == axis::pos || name == axis::query) && !of_memory) return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
}

bool is_compared(const Step& step) {
    return step.role == Role::recorded || step.role == Role::internal || step.role == Role::on_demand;
}

// How far two numbers are apart; ∞ where only one of them is a number.
float apart(float a, float b) {
    if (std::memcmp(&a, &b, sizeof a) == 0 || a == b || (std::isnan(a) && std::isnan(b))) return 0.0F;
    const float distance = std::abs(a - b);
    return std::isnan(distance) ? std::numeric_limits<float>::infinity() : distance;
}

// The largest change of each position in one tensor [batch, …, pos or query, …]. `mask` leaves cells out; it may be empty.
std::vector<float> changes_of(const Tensor& a, const Tensor& b, const Tensor& mask, std::size_t along, Index batch) {
    const Index positions = a.dim(along);
    std::vector<float> largest(static_cast<std::size_t>(positions), 0.0F);
    Index inner = 1, outer = 1;
    for (std::size_t i = along + 1; i < a.rank(); ++i) inner *= a.dim(i);
    const bool batched = a.axes()[0].name == axis::batch;
    for (std::size_t i = batched ? 1 : 0; i < along; ++i) outer *= a.dim(i);
    Index at = batched ? batch * outer * positions * inner : 0;
    for (Index o = 0; o < outer; ++o)
        for (Index position = 0; position < positions; ++position)
            for (Index i = 0; i < inner; ++i, ++at)
                if (mask.empty() || mask.data()[at] != 0.0F)
                    largest[static_cast<std::size_t>(position)] =
                        std::max(largest[static_cast<std::size_t>(position)], apart(a.data()[at], b.data()[at]));
    return largest;
}

void note(Moved& moved, float change, const std::string& tensor) {
    if (change == 0.0F) return;
    if (moved.first_in.empty()) moved.first_in = tensor;
    if (change <= moved.largest) return;
    moved.largest = change;
    moved.largest_in = tensor;
}

}  // namespace

Variation leak_variation(const Scenario& scenario, const Run& run, Index batch, Index position) {
    Variation variation;
    const Config config = scenario.config();
    if (const Tensor& tokens = run.value("tokens"); !tokens.empty()) {
        const auto token = static_cast<Index>(tokens.at(Cell{batch, position}));
        variation.more_edits.push_back(
            SetCell{"tokens", {batch, position}, static_cast<float>((token + 1) % std::max<Index>(config.vocab_size, 1))});
        return variation;
    }
    const Tensor& x = run.value("x");
    for (Index i = 0; !x.empty() && i < config.d_model; ++i) {
        const Cell cell = {batch, position, i};
        const float value = x.at(cell);
        variation.more_edits.push_back(SetCell{"x", cell, value == 0.0F ? 1.0F : -value});
    }
    return variation;
}

Leak measure_leak(const Run& run, const Run& changed, Index batch, Index position) {
    Leak leak;
    leak.changed = position;
    for (const Step& step : run.plan().steps()) {
        const std::ptrdiff_t along = position_axis(step);
        const Tensor& before = run.value(step.id);
        const Tensor& after = changed.value(step.name);
        if (!is_compared(step) || along < 0 || before.empty() || before.axes() != after.axes()) continue;
        ++leak.tensors;
        const auto axis = static_cast<std::size_t>(along);
        leak.moved.resize(std::max(leak.moved.size(), static_cast<std::size_t>(before.dim(axis))));
        if (before.shares_values_with(after)) continue;
        const bool raw = step.name.ends_with(".attn_scores");
        const Tensor mask = raw ? run.value(attention_of(step) + ".mask") : Tensor();
        const std::vector<float> changes = changes_of(before, after, mask, axis, batch);
        for (std::size_t p = 0; p < changes.size(); ++p) note(leak.moved[p], changes[p], step.name);
    }
    for (std::size_t p = 0; p < leak.moved.size() && static_cast<Index>(p) < position; ++p) {
        const Moved& moved = leak.moved[p];
        if (moved.first_in.empty()) continue;
        ++leak.earlier_moved;
        if (moved.largest <= leak.earlier) continue;
        leak.earlier = moved.largest;
        leak.worst_in = moved.largest_in;
    }
    return leak;
}

}  // namespace decoderscope
