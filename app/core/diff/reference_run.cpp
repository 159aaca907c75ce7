#include "app/core/diff/reference_run.h"

#include "app/core/norms/placements.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace decoderscope {

namespace {

// Keys of the contract that don't change the weights' shapes, with their interesting values.
const Overrides& worth_a_look() {
    static const Overrides values = {
        {"norm_first", "true"},
        {"norm_first", "false"},
        {"norm_placement", "peri"},
        {"norm_placement", "reordered"},
        {"norm", "layernorm"},
        {"norm", "rmsnorm"},
        {"layer_norm_eps", "1e-5"},
        {"layer_norm_eps", "1e-6"},
        {"layer_norm_eps", "1e-12"},
        {"activation", "relu"},
        {"activation", "gelu"},
        {"activation", "gelu_tanh"},
        {"activation", "silu"},
        {"causal", "true"},
        {"causal", "false"},
        {"mask_value", "-inf"},
        {"mask_value", "-1e4"},
        {"mask_value", "-1e9"},
        {"mask_value", "-1e20"},
        {"positional_encoding", "none"},
        {"positional_encoding", "rope"},
        {"positional_encoding", "sinusoidal"},
        {"scale_embedding", "true"},
        {"scale_embedding", "false"},
        {"shared_qkv", "true"},
        {"shared_qkv", "false"},
        {"final_norm", "true"},
        {"final_norm", "false"},
    };
    return values;
}

Range hull(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

std::vector<float> values_at(const Tensor& tensor, const Slice& slice) {
    const std::size_t count = static_cast<std::size_t>(slice.rows() * slice.columns());
    const auto start = static_cast<std::size_t>(tensor.offset(slice.cell(0, 0)));
    const auto values = tensor.values().subspan(start, count);
    return {values.begin(), values.end()};
}

// A file doesn't say which mask hides a cell. A cell with the same value as a masked cell of A is taken as hidden by
// the same mask.
std::vector<std::uint8_t> hidden_as_in(const Heatmap& a, const std::vector<float>& values) {
    std::vector<std::uint8_t> hidden = a.hidden;
    for (std::size_t i = 0; i < hidden.size(); ++i)
        if (distance_between(a.values[i], values[i]) != 0.0) hidden[i] = hidden_by::nothing;
    return hidden;
}

bool hidden_at(const Heatmap& h, std::size_t at) { return !h.hidden.empty() && h.hidden[at] != hidden_by::nothing; }

// Cells that both mask don't count for the range: a difference of the fills would hide all others. Cells that both mask
// with the same fill are hatched as in A.
Heatmap subtract(const Heatmap& a, const Heatmap& b) {
    Heatmap d = a;
    d.title = "A − B";
    d.scale = Scale::diverging;
    std::vector<float> seen;
    for (std::size_t i = 0; i < d.values.size(); ++i) {
        d.values[i] = signed_difference(a.values[i], b.values[i]);
        const bool hidden = hidden_at(a, i) && hidden_at(b, i);
        if (!hidden) seen.push_back(d.values[i]);
        if (!d.hidden.empty() && (!hidden || d.values[i] != 0.0F)) d.hidden[i] = hidden_by::nothing;
    }
    d.range = range_of(seen, Scale::diverging);
    return d;
}

// The range of a file's values that are not hidden.
Range range_of_seen(const Heatmap& h) {
    std::vector<float> seen;
    for (std::size_t i = 0; i < h.values.size(); ++i)
        if (!hidden_at(h, i)) seen.push_back(h.values[i]);
    return range_of(seen, h.scale);
}

}  // namespace

const Tensor* ReferenceRun::find(const std::string& name) const {
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const auto& named) { return named.first == name; });
    return found == tensors.end() ? nullptr : &found->second;
}

ReferenceRun reference_of(std::string label, std::shared_ptr<const Run> run) {
    NamedTensors tensors = recorded_tensors(*run);
    return {.label = std::move(label), .tensors = std::move(tensors), .run = std::move(run)};
}

ReferenceRun read_trace(const std::string& path) {
    ReferenceRun reference;
    reference.trace = std::make_shared<const Trace>(open_trace(path));
    reference.label = std::filesystem::path(path).filename().string();
    reference.path = absolute_path(path);
    for (const TraceTensor& tensor : reference.trace->tensors)
        if (!tensor.values.empty()) reference.tensors.emplace_back(tensor.name, tensor.values);
    return reference;
}

std::string description_of(const Scenario& scenario) {
    std::string text = std::filesystem::path(scenario.model()->name).filename().string();
    if (!scenario.computes()) return text;
    text += std::string(", ") + place_of_norms(scenario.config().placement()).title.english();
    for (const auto& [key, value] : scenario.overrides())
        if (key != "norm_first" && key != "norm_placement") text += ", " + key + " = " + value;
    const std::size_t edits = scenario.edits.size();
    if (edits > 0) text += tr_n(", {count} edit", ", {count} edits", edits);
    if (scenario.dropout_seed) text += tr(", dropout on");
    if (!scenario.gradients_of.empty()) text += tr(", gradients of {target}", {{"target", scenario.gradients_of}});
    return text;
}

Overrides alternatives_to(const Scenario& scenario) {
    const Config& now = scenario.config();
    Overrides found;
    for (const auto& [key, value] : worth_a_look()) {
        try {
            const Scenario other = with_override(scenario, key, value);
            if (other.config() == now) continue;
            static_cast<void>(plan_of(other));
            found.emplace_back(key, value);
        } catch (const Error&) {
            continue;  // the weights or the input don't fit
        }
    }
    return found;
}

DifferencePictures difference_pictures(const Scenario& scenario, const Run& run, const Step& step, Place place,
                                       const Tensor& other, const Run* other_run, double tolerance) {
    DifferencePictures p;
    p.a = heatmap_of(scenario, run, step, place);
    const Slice slice = slice_of(step, place, scenario.config().nhead);
    const Ref twin = other_run != nullptr ? other_run->plan().find(step.name) : nullptr;
    p.b = p.a;
    p.b.values = values_at(other, slice);
    p.b.hidden = twin != nullptr ? hidden_cells(*other_run, *twin, slice) : hidden_as_in(p.a, p.b.values);
    // A's operation says whether numbers can be negative; B's may be a different one.
    if (twin != nullptr && scale_of(other_run->plan(), *twin) == Scale::diverging)
        p.b.scale = p.a.scale = Scale::diverging;
    const Range range_b = twin != nullptr ? range_of_step(*other_run, *twin) : range_of_seen(p.b);
    p.a.range = p.b.range = hull(p.a.range, range_b);
    p.a.title = "A";
    p.b.title = "B";
    p.difference = subtract(p.a, p.b);
    for (std::size_t i = 0; i < p.a.values.size(); ++i)
        p.over.push_back(distance_between(p.a.values[i], p.b.values[i]) > tolerance ? 1 : 0);
    return p;
}

}  // namespace decoderscope
