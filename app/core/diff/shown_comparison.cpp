#include "app/core/diff/shown_comparison.h"

#include <algorithm>

namespace decoderscope {

namespace {

constexpr Index kComparedInAFrame = 500'000;  // numbers

DifferencePictures titled(DifferencePictures pictures, const std::string& label) {
    const auto over = std::count(pictures.over.begin(), pictures.over.end(), std::uint8_t{1});
    pictures.a.title = "A   now";
    pictures.b.title = "B   " + label;
    pictures.difference.title += "   " + std::to_string(over) + " of " + std::to_string(pictures.over.size()) + " over";
    // Where all of them are over, marks tell nothing.
    if (static_cast<std::size_t>(over) == pictures.over.size()) pictures.over.clear();
    return pictures;
}

}  // namespace

Value<ShownComparison> shown_comparison(Derived& derived, const std::shared_ptr<const Run>& run,
                                        const std::shared_ptr<const void>& b, double tolerance,
                                        const std::function<ReferenceRun()>& reference) {
    return derived.later<ShownComparison>({run, b}, std::tie(tolerance), [&] {
        ReferenceRun with = reference();
        auto comparing = std::make_unique<Comparing>(recorded_tensors(*run), with.tensors, tolerance);
        return made_in_slices<ShownComparison>(
            std::move(comparing), kComparedInAFrame,
            [of = std::weak_ptr(run), b, with = std::move(with)](const Comparing& done) {
                return ShownComparison{of, b, with, done.found(), worst_first(done.found())};
            });
    });
}

double comparison_progress(Derived& derived, const std::shared_ptr<const Run>& run,
                           const std::shared_ptr<const void>& b, double tolerance) {
    return derived.progress<ShownComparison>({run, b}, std::tie(tolerance));
}

Value<DifferencePictures> shown_difference(Derived& derived, const Scenario& scenario, const Value<ShownComparison>& of,
                                           const Step& step, Place place) {
    const std::shared_ptr<const Run> run = of->of.lock();
    const double tolerance = of->comparison.tolerance;
    return derived.get<DifferencePictures>({run, of->b}, std::tie(step.id, place, tolerance), [&] {
        const ReferenceRun& b = of->reference;
        return titled(difference_pictures(scenario, *run, step, place, *b.find(step.name), b.run.get(), tolerance),
                      b.label);
    });
}

Value<Alternatives> shown_alternatives(Derived& derived, const Scenario& scenario,
                                       const std::shared_ptr<const Run>& run) {
    return derived.get<Alternatives>({run}, std::tuple<>(), [&] { return Alternatives{alternatives_to(scenario)}; });
}

}  // namespace decoderscope
