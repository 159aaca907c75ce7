#pragma once

#include "app/core/answer/table.h"
#include "app/core/derived/derived.h"
#include "app/core/run/comparison.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/settings_that_fit.h"
#include "app/core/run/slice.h"
#include "engine/tensor/tensor.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::diff {

// Values derived from a run and what it is compared with.
// What of A is compared with B: all that it computed, or the weights that it read.
enum class Listed { steps, weights };

// A run, A, compared with a run or a file, B.
struct ShownComparison {
    static constexpr std::size_t kKept = 1;  // it keeps B

    std::weak_ptr<const Run> of;    // A
    std::shared_ptr<const void> b;  // B's run or file
    ReferenceRun reference;         // the same, ready to compare with
    Comparison comparison;
    std::vector<std::size_t> worst_first;  // weights by how far they moved relative to their scale
    bool other_weights = false;            // B is a run that reads other weights
};
// Empty while the comparison is under way. `b` is B's run or file; `reference()` turns it into a ReferenceRun.
[[nodiscard]] Value<ShownComparison> shown_comparison(Derived& derived, const std::shared_ptr<const Run>& run,
                                                      const std::shared_ptr<const void>& b, double tolerance,
                                                      const std::function<ReferenceRun()>& reference,
                                                      Listed part = Listed::steps);
// How much of that comparison is done, from 0 to 1.
[[nodiscard]] double comparison_progress(Derived& derived, const std::shared_ptr<const Run>& run,
                                         const std::shared_ptr<const void>& b, double tolerance,
                                         Listed part = Listed::steps);

// Its tensors as an answer in rows, worst first or in the order of computation. `a` is A's run.
[[nodiscard]] Value<Table> shown_list(Derived& derived, const std::shared_ptr<const Run>& a,
                                      const Value<ShownComparison>& of, bool in_order);

// The pictures of a step of A in both, which must have it in the same shape. A must be alive.
[[nodiscard]] Value<DifferencePictures> shown_difference(Derived& derived, const Side& a,
                                                         const Value<ShownComparison>& of, const Step& step,
                                                         Place place);

// What the configuration of a run could be instead.
struct Alternatives {
    std::vector<Setting> settings;
    Overrides options;  // the same, as far as each number can be compared
};
// Empty while it is being tried out.
[[nodiscard]] Value<Alternatives> shown_alternatives(Derived& derived, const Scenario& scenario,
                                                     const std::shared_ptr<const Run>& run);

// A step in a run and in another, and the difference. Nothing if the other has no such tensor of that shape.
[[nodiscard]] std::optional<Exhibit> difference_exhibit(const Side& a, const ReferenceRun& other, const Step& step,
                                                        Place place, double tolerance);

// How a step of A differs from B's at each position of its sequence, over all heads and features of one batch row.
struct DifferenceByPosition {
    static constexpr std::size_t kKept = 4;

    struct At {
        std::string token;
        double largest = 0.0;   // max |a − b|; ∞ where only one side is NaN or infinite
        Cell cell;              // where that is, the first such
        bool both_nan = false;  // a number is NaN in both, which can't be compared
    };
    std::vector<At> positions;  // empty if the step doesn't run over a sequence
};

// A must be alive, and of this scenario; B must have the step in the same shape.
[[nodiscard]] Value<DifferenceByPosition> shown_by_position(Derived& derived, const Scenario& scenario,
                                                            const Value<ShownComparison>& of, const Step& step,
                                                            Index batch);

}  // namespace decoderscope::core::diff
