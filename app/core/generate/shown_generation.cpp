#include "app/core/generate/shown_generation.h"

#include "app/core/generate/generation.h"
#include "app/core/generate/passes.h"

#include <utility>

namespace decoderscope {

namespace {

// How many numbers a slice reads.
constexpr Index kComparedInASlice = 500'000, kReadInASlice = 2'000'000;

Resumable<ShownProof> compared(NamedTensors full, NamedTensors cached) {
    Comparing comparing(std::move(full), std::move(cached), 0.0);
    while (!comparing.advance(kComparedInASlice)) co_yield kPause;
    ShownProof made;
    made.comparison = comparing.found();
    made.worst_first = worst_first(made.comparison);
    co_return made;
}

Resumable<LensTable> read_lens(std::shared_ptr<const Run> run, Index row, Index length) {
    LensReading reading(std::move(run), row, length);
    while (!reading.advance(kReadInASlice)) co_yield kPause;
    co_return reading.table();
}

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
        return compared(same_cells(scenario, *full, *cached, row), tensors_of_cached(*cached));
    });
}

Value<LensTable> shown_lens(Derived& derived, const std::shared_ptr<const Run>& run, Index row, Index length) {
    return derived.later<LensTable>({run}, std::tie(row, length), [&] { return read_lens(run, row, length); });
}

}  // namespace decoderscope
