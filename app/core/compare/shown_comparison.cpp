#include "app/core/compare/shown_comparison.h"

#include "app/core/compare/comparison_text.h"
#include "app/core/run/labels.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

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

constexpr Index kNumbersAtOnce = 500'000;

// The progress of a comparison, from 0 to 1: written by the job, read by the window.
struct ComparisonProgress {
    std::shared_ptr<std::atomic<double>> part = std::make_shared<std::atomic<double>>(0.0);
};

std::shared_ptr<std::atomic<double>> progress_of(Derived& derived, const std::shared_ptr<const Run>& run,
                                                 const std::shared_ptr<const void>& b, double tolerance, Listed part) {
    return derived.get<ComparisonProgress>({run, b}, std::tie(tolerance, part), [] { return ComparisonProgress(); })
        ->part;
}

Resumable<ShownComparison> compared(std::shared_ptr<const Run> run, std::shared_ptr<const void> b,
                                    ReferenceRun reference, double tolerance, Listed part,
                                    std::shared_ptr<std::atomic<double>> progress) {
    const bool weights = part == Listed::weights && reference.run != nullptr;
    if (weights) reference.tensors = weights_of(*reference.run);
    Comparing comparing(weights ? weights_of(*run) : recorded_tensors(*run), reference.tensors, tolerance);
    while (!comparing.advance(kNumbersAtOnce)) {
        *progress = comparing.progress();
        co_yield kPause;
    }
    ShownComparison made;
    made.of = run;
    made.b = std::move(b);
    made.reference = std::move(reference);
    made.comparison = comparing.found();
    made.worst_first = weights ? furthest_first(made.comparison) : worst_first(made.comparison);
    made.other_weights = made.reference.run != nullptr && has_other_weights(*run, *made.reference.run);
    co_return made;
}

Resumable<Alternatives> alternatives_to(Scenario scenario) {
    std::vector<Setting> settings = co_await settings_that_fit(std::move(scenario));
    Overrides options = alternatives_among(settings);
    co_return Alternatives{std::move(settings), std::move(options)};
}

DifferencePictures titled(DifferencePictures pictures, const std::string& name, const std::string& label) {
    const auto over = std::count(pictures.over.begin(), pictures.over.end(), std::uint8_t{1});
    pictures.a.title = name.empty() ? tr("A   now") : tr("A   {label}", {{"label", name}});
    pictures.b.title = tr("B   {label}", {{"label", label}});
    pictures.difference.title = tr("A − B   {count} of {all} over", {{"count", over}, {"all", pictures.over.size()}});
    // If all of them are over, marks are useless.
    if (static_cast<std::size_t>(over) == pictures.over.size()) pictures.over.clear();
    return pictures;
}

}  // namespace

Value<DifferenceByPosition> shown_by_position(Derived& derived, const Scenario& scenario,
                                              const Value<ShownComparison>& of, const Step& step, Index batch) {
    const std::shared_ptr<const Run> run = of->of.lock();
    return derived.get<DifferenceByPosition>({run, of->b}, std::tie(step.id, batch), [&] {
        return by_position(scenario, step, run->value(step.id), *of->reference.find(step.name), batch);
    });
}

Value<ShownComparison> shown_comparison(Derived& derived, const std::shared_ptr<const Run>& run,
                                        const std::shared_ptr<const void>& b, double tolerance,
                                        const std::function<ReferenceRun()>& reference, Listed part) {
    return derived.later<ShownComparison>({run, b}, std::tie(tolerance, part), [&] {
        return compared(run, b, reference(), tolerance, part, progress_of(derived, run, b, tolerance, part));
    });
}

double comparison_progress(Derived& derived, const std::shared_ptr<const Run>& run,
                           const std::shared_ptr<const void>& b, double tolerance, Listed part) {
    return *progress_of(derived, run, b, tolerance, part);
}

Value<Table> shown_list(Derived& derived, const std::shared_ptr<const Run>& a, const Value<ShownComparison>& of,
                        bool in_order) {
    return derived.get<Table>({a, of->b}, std::make_tuple(of.number(), in_order), [&] {
        std::vector<std::size_t> order = of->worst_first;
        if (in_order) std::ranges::sort(order);
        return table_of(of->comparison, order, a->plan());
    });
}

Value<DifferencePictures> shown_difference(Derived& derived, const Side& a, const Value<ShownComparison>& of,
                                           const Step& step, Place place) {
    const double tolerance = of->comparison.tolerance;
    return derived.get<DifferencePictures>({a.run, of->b}, std::tie(step.id, place, tolerance), [&] {
        const ReferenceRun& b = of->reference;
        return titled(difference_pictures(a.scenario, *a.run, step, place, *b.find(step.name), b.run.get(), tolerance),
                      a.name.empty() ? std::string() : tr(a.name), b.label);
    });
}

Value<Alternatives> shown_alternatives(Derived& derived, const Scenario& scenario,
                                       const std::shared_ptr<const Run>& run) {
    return derived.later<Alternatives>({run}, std::tuple<>(), [&] { return alternatives_to(scenario); });
}

std::optional<Exhibit> difference_exhibit(const Side& a, const ReferenceRun& other, const Step& step, Place place,
                                          double tolerance) {
    const Tensor* there = other.find(step.name);
    const Tensor& here = a.run->value(step.id);
    if (there == nullptr || here.empty() || there->empty() || there->rank() != here.rank()) return std::nullopt;
    for (std::size_t i = 0; i < here.rank(); ++i)
        if (there->dim(i) != here.dim(i)) return std::nullopt;
    DifferencePictures pictures =
        difference_pictures(a.scenario, *a.run, step, place, *there, other.run.get(), tolerance);
    Exhibit exhibit{.title = step.name,
                    .subtitle = a.name.empty()
                                    ? tr("A: this run; B: {label}; A − B", {{"label", other.label}})
                                    : tr("A: {name}; B: {label}; A − B", {{"name", a.name}, {"label", other.label}})};
    exhibit.caption = tr("{caption} · compared with {label}",
                         {{"caption", caption_of(a.scenario, step.name, pictures.a.subtitle)}, {"label", other.label}});
    exhibit.columns = 3;
    const auto add = [&](const char* which, const char* text, Heatmap heatmap) {
        heatmap.subtitle += (heatmap.subtitle.empty() ? "" : ", ") + std::string(text);
        exhibit.panels.push_back(panel_of(step.name + which, std::move(heatmap)));
    };
    add(".a", "A", std::move(pictures.a));
    add(".b", "B", std::move(pictures.b));
    add(".difference", "A − B", std::move(pictures.difference));
    return exhibit;
}

}  // namespace decoderscope::core::diff
