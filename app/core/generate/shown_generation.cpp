#include "app/core/generate/shown_generation.h"

#include "app/core/generate/generation.h"
#include "app/core/generate/passes.h"

namespace decoderscope {

namespace {

// How many numbers are read in a frame.
constexpr Index kComparedInAFrame = 500'000, kReadInAFrame = 2'000'000;

}  // namespace

Value<ShownNextToken> shown_next_token(Derived& derived, const Scenario& scenario,
                                       const std::shared_ptr<const Run>& run, Index row, const Sampling& sampling) {
    return derived.get<ShownNextToken>({run}, std::tie(row, sampling), [&] {
        ShownNextToken made = {.sampling = sampling};
        made.next = next_token(scenario, *run, row, sampling);
        made.number = sampling_number(sampling.seed, row, row_length(scenario.inputs, row));
        if (made.next) made.draw = draw(*made.next, made.number);
        return made;
    });
}

Value<ShownProof> shown_proof(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& full,
                              const std::shared_ptr<const Run>& cached, Index row) {
    return derived.later<ShownProof>({full, cached}, std::tie(row), [&] {
        return made_in_slices<ShownProof>(
            std::make_unique<Comparing>(same_cells(scenario, *full, *cached, row), tensors_of_cached(*cached), 0.0),
            kComparedInAFrame, [](const Comparing& done) {
                return ShownProof{done.found(), worst_first(done.found())};
            });
    });
}

Value<LensTable> shown_lens(Derived& derived, const std::shared_ptr<const Run>& run, Index row, Index length) {
    return derived.later<LensTable>({run}, std::tie(row, length), [&] {
        return made_in_slices<LensTable>(std::make_unique<LensReading>(run, row, length), kReadInAFrame,
                                         [](const LensReading& done) { return done.table(); });
    });
}

}  // namespace decoderscope
