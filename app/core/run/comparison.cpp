#include "app/core/run/comparison.h"

#include "app/core/run/edit_groups.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"
#include "engine/sheet/sheet.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>

namespace decoderscope::core {

namespace {

constexpr double kWithoutEnd = std::numeric_limits<double>::infinity();

std::map<std::string_view, const Tensor*> by_name(const NamedTensors& tensors) {
    std::map<std::string_view, const Tensor*> found;
    for (const auto& [name, tensor] : tensors) found.emplace(name, &tensor);
    return found;
}

bool same_bits(const Tensor& a, const Tensor& b) {
    return a.shares_values_with(b) || std::memcmp(a.data(), b.data(), a.values().size_bytes()) == 0;
}

// What is accumulated over the numbers of two tensors.
struct Tally {
    double tolerance = 0.0;
    double sum = 0.0, largest = 0.0, scale = 0.0;
    Index over = 0;
    Index at = -1;  // of the largest

    void add(double distance, Index offset) {
        sum += distance;
        if (distance > tolerance) ++over;
        if (distance <= largest) return;
        largest = distance;
        at = offset;
    }
    void add_scale(float value) {
        if (std::isfinite(value)) scale = std::max(scale, std::fabs(static_cast<double>(value)));
    }
};

using Floats = Eigen::Map<const Eigen::ArrayXf>;

// Many numbers at once, if all of them are finite; returns whether they are.
bool add_finite(const Floats& a, const Floats& b, Index offset, Tally& tally) {
    const Eigen::ArrayXd distances = (a.cast<double>() - b.cast<double>()).abs();
    const double sum = distances.sum();
    if (!std::isfinite(sum)) return false;
    Eigen::Index at = 0;
    const double largest = distances.maxCoeff(&at);
    tally.sum += sum;
    tally.scale =
        std::max({tally.scale, static_cast<double>(a.abs().maxCoeff()), static_cast<double>(b.abs().maxCoeff())});
    if (largest > tally.tolerance) tally.over += (distances > tally.tolerance).count();
    if (largest <= tally.largest) return true;
    tally.largest = largest;
    tally.at = offset + at;
    return true;
}

// One by one, if some are not finite.
void add_any(const Floats& a, const Floats& b, Index offset, Tally& tally) {
    for (Index i = 0; i < a.size(); ++i) {
        tally.add(distance_between(a[i], b[i]), offset + i);
        tally.add_scale(a[i]);
        tally.add_scale(b[i]);
    }
}

Index nan_in_both(const Tensor& a, const Tensor& b) {
    return (Floats(a.data(), a.size()).isNaN() && Floats(b.data(), b.size()).isNaN()).count();
}

// The measures of two tensors of one shape.
void measure(const Tensor& one, const Tensor& other, double tolerance, TensorDifference& found) {
    constexpr Index kAtOnce = 1024;
    found.count = one.size();
    found.same_bits = one.shares_values_with(other);
    if (found.same_bits) {
        if (one.is_ready()) found.both_nan = nan_in_both(one, one);
        return;
    }
    const Tensor a = one.for_one_use(), b = other.for_one_use();
    found.same_bits = same_bits(a, b);
    found.both_nan = nan_in_both(a, b);
    if (found.same_bits) return;
    Tally tally{.tolerance = tolerance};
    for (Index start = 0; start < a.size(); start += kAtOnce) {
        const Index count = std::min(kAtOnce, a.size() - start);
        const Floats in_a(a.data() + start, count), in_b(b.data() + start, count);
        if (!add_finite(in_a, in_b, start, tally)) add_any(in_a, in_b, start, tally);
    }
    found.largest = tally.largest;
    found.mean = tally.sum / static_cast<double>(found.count);
    found.scale = tally.scale;
    found.over = tally.over;
    if (tally.at < 0) return;
    found.cell = a.cell(tally.at);
    found.a = a.data()[tally.at];
    found.b = b.data()[tally.at];
}

TensorDifference difference_of(const std::string& name, const Tensor* a, const Tensor* b, double tolerance) {
    TensorDifference found;
    found.name = name;
    if (a != nullptr) found.shape_a = sizes_of(a->axes());
    if (b != nullptr) found.shape_b = sizes_of(b->axes());
    if (b == nullptr)
        found.presence = Presence::only_in_a;
    else if (a == nullptr)
        found.presence = Presence::only_in_b;
    else if (found.shape_a != found.shape_b)
        found.presence = Presence::other_shape;
    else
        measure(*a, *b, tolerance, found);
    return found;
}

void add(Comparison& comparison, TensorDifference found) {
    const bool both = found.presence == Presence::in_both;
    const bool here = found.presence == Presence::other_shape || found.over > 0;
    if (here && !comparison.first) comparison.first = comparison.tensors.size();
    if (both)
        ++comparison.in_both;
    else
        ++comparison.unmatched;
    if (found.over > 0) ++comparison.over;
    comparison.numbers += found.count;
    comparison.largest = std::max(comparison.largest, found.largest);
    comparison.same_bits = comparison.same_bits && found.same_bits;
    comparison.both_nan += found.both_nan;
    comparison.tensors.push_back(std::move(found));
}

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

bool places_norms(const std::string& key) { return key == "norm_first" || key == "norm_placement"; }

Sentence listed(const Sentence& first, const Sentence& next) {
    return first.empty() ? next : message("{first}, {next}", {{"first", first}, {"next", next}});
}

}  // namespace

double distance_between(float a, float b) {
    if (a == b) return 0.0;
    const double distance = std::fabs(static_cast<double>(a) - static_cast<double>(b));
    if (!std::isnan(distance)) return distance;
    return std::isnan(a) && std::isnan(b) ? 0.0 : kWithoutEnd;
}

float signed_difference(float a, float b) { return a == b ? 0.0F : a - b; }

double TensorDifference::relative() const {
    if (largest == 0.0) return 0.0;
    return scale > 0.0 ? largest / scale : kWithoutEnd;
}

Comparing::Comparing(NamedTensors a, NamedTensors b, double tolerance) : b_(std::move(b)) {
    found_.tolerance = tolerance;
    const auto in_a = by_name(a), in_b = by_name(b_);
    for (const auto& [name, tensor] : a) {
        if (in_a.at(name) != &tensor) continue;
        const auto twin = in_b.find(name);
        a_.emplace_back(name, tensor);
        twins_.push_back(twin == in_b.end() ? nullptr : twin->second);
    }
    for (const auto& [name, tensor] : b_)
        if (in_b.at(name) == &tensor && !in_a.contains(name)) only_in_b_.emplace_back(name, tensor);
}

bool Comparing::advance(Index numbers) {
    for (Index read = 0; next_ < a_.size(); ++next_) {
        if (read >= numbers) return false;
        const auto& [name, tensor] = a_[next_];
        const Tensor* twin = twins_[next_];
        add(found_, difference_of(name, &tensor, twin, found_.tolerance));
        if (twin != nullptr && !twin->shares_values_with(tensor)) read += tensor.size();
    }
    for (const auto& [name, tensor] : std::exchange(only_in_b_, {}))
        add(found_, difference_of(name, nullptr, &tensor, found_.tolerance));
    return true;
}

double Comparing::progress() const {
    return a_.empty() ? 1.0 : static_cast<double>(next_) / static_cast<double>(a_.size());
}

Comparison compare(const NamedTensors& a, const NamedTensors& b, double tolerance) {
    Comparing comparing(a, b, tolerance);
    comparing.advance(std::numeric_limits<Index>::max());
    return comparing.found();
}

std::vector<std::size_t> worst_first(const Comparison& comparison) {
    const auto rank = [](const TensorDifference& d) {
        if (d.presence == Presence::other_shape) return 0;
        if (d.presence != Presence::in_both) return 2;
        return d.largest > 0.0 ? 1 : 3;
    };
    std::vector<std::size_t> order(comparison.tensors.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const TensorDifference &l = comparison.tensors[left], &r = comparison.tensors[right];
        return rank(l) != rank(r) ? rank(l) < rank(r) : l.largest > r.largest;
    });
    return order;
}

double ChartedDifferences::height(double difference, double most) const {
    if (!(difference > least())) return difference > 0.0 ? 0.02 : 0.0;
    return std::clamp(std::log10(difference / least()) / std::log10(most / least()), 0.02, 1.0);
}

double ChartedDifferences::most(const Comparison& comparison) const {
    double most = floor.value_or(1.0);
    for (const TensorDifference& difference : comparison.tensors)
        if (const double charted = of(difference); std::isfinite(charted)) most = std::max(most, charted);
    return std::pow(10.0, std::ceil(std::log10(most)));
}

ChartedDifferences charted_differences(const Run& a, const Run* b) {
    if (b == nullptr || a.plan().arithmetic() == b->plan().arithmetic()) return {};
    const auto rounding = [](Arithmetic type) { return 0.5 * ulp_at(1.0, type); };  // half the gap between numbers
    const Arithmetic coarser = std::max(a.plan().arithmetic(), b->plan().arithmetic(),
                                        [&](Arithmetic x, Arithmetic y) { return rounding(x) < rounding(y); });
    return {coarser, rounding(coarser)};
}

const Tensor* ReferenceRun::find(const std::string& name) const {
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const auto& named) { return named.first == name; });
    return found == tensors.end() ? nullptr : &found->second;
}

ReferenceRun reference_of(std::string label, std::shared_ptr<const Run> run) {
    NamedTensors tensors = recorded_tensors(*run);
    return {.label = std::move(label), .tensors = std::move(tensors), .run = std::move(run)};
}

std::shared_ptr<const ReferenceRun> pinnable(std::string label, const Scenario& scenario,
                                             std::shared_ptr<const Run> run) {
    ReferenceRun pinned = reference_of(std::move(label), std::move(run));
    Scenario own = scenario;
    own.other_run = nullptr;  // or each pinned run would keep the one before
    std::erase_if(own.edits, decoderscope::sheet::reads_other_run);
    pinned.scenario = std::make_shared<const Scenario>(std::move(own));
    return std::make_shared<const ReferenceRun>(std::move(pinned));
}

ReferenceRun read_trace(const std::string& path) {
    ReferenceRun reference;
    reference.trace = std::make_shared<const trace::Trace>(trace::open_trace(path));
    reference.label = std::filesystem::path(path).filename().string();
    reference.path = absolute_path(path);
    for (const trace::TraceTensor& tensor : reference.trace->tensors)
        if (!tensor.values.empty()) reference.tensors.emplace_back(tensor.name, tensor.values);
    return reference;
}

Sentence changed_settings(const Scenario& scenario) {
    Sentence all;
    for (const auto& [key, value] : scenario.overrides())
        all = listed(all, places_norms(key) ? Sentence(place_of_norms(scenario.config().placement()).title)
                                            : Sentence::verbatim(key + " = " + value));
    return scenario.dropout_seed ? listed(all, message("dropout on")) : all;
}

std::string description_of(const Scenario& scenario) {
    std::string text = std::filesystem::path(scenario.about().name).filename().string();
    if (!scenario.computes()) return text;
    text += std::string(", ") + place_of_norms(scenario.config().placement()).title.english();
    for (const auto& [key, value] : scenario.overrides())
        if (!places_norms(key)) text += ", " + key + " = " + value;
    const std::size_t edits = count_of_edits(scenario.edits);
    if (edits > 0) text += tr_n(", {count} edit", ", {count} edits", edits);
    if (scenario.dropout_seed) text += tr(", dropout on");
    if (shown_pass(scenario) != nullptr) text += ", " + tr(name_of_pass(scenario));
    if (!scenario.gradient_target.empty())
        text += tr(", gradients of {target}", {{"target", scenario.gradient_target}});
    return text;
}

DifferencePictures difference_pictures(const Scenario& scenario, const Run& run, const Step& step, Place place,
                                       const Tensor& other, const Run* other_run, double tolerance) {
    DifferencePictures p;
    p.a = heatmap_of(scenario, run, step, place);
    const Slice slice = slice_of(step, place, scenario.query_heads());
    const Ref twin = other_run != nullptr ? other_run->plan().find(step.name) : nullptr;
    p.b = p.a;
    p.b.values = values_at(other, slice);
    p.b.hidden = twin != nullptr ? hidden_cells(*other_run, *twin, slice) : hidden_as_in(p.a, p.b.values);
    // A's step says whether numbers can be negative; B's may say otherwise.
    if (twin != nullptr && scale_of(*other_run, *twin) == Scale::diverging) p.b.scale = p.a.scale = Scale::diverging;
    const Range range_b = twin != nullptr ? range_of_step(*other_run, *twin) : range_of_seen(p.b);
    p.a.range = p.b.range = spanning(p.a.range, range_b);
    p.a.title = "A";
    p.b.title = "B";
    p.difference = subtract(p.a, p.b);
    for (std::size_t i = 0; i < p.a.values.size(); ++i)
        p.over.push_back(distance_between(p.a.values[i], p.b.values[i]) > tolerance ? 1 : 0);
    return p;
}

}  // namespace decoderscope::core
