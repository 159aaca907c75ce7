#pragma once

#include "app/core/figure/heatmap.h"
#include "app/core/run/scenario.h"
#include "app/core/run/slice.h"
#include "engine/tensor/tensor.h"
#include "engine/trace/trace.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::core {

// The tensors of a run or of a file, in order, by the contract's names.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// How far apart two numbers are: 0 if no check can tell them apart, as equal numbers, the same infinity, and NaN and
// NaN; NaN and anything else are ∞ apart. What is shown says of NaN and NaN that they can't be compared.
[[nodiscard]] double distance_between(float a, float b);
// As above, with its sign, a − b, as a picture shows it: NaN if either is NaN, or both are; 0 for the same infinity.
[[nodiscard]] float signed_difference(float a, float b);

// Whether a tensor is in both, and can be compared number by number.
enum class Presence { in_both, other_shape, only_in_a, only_in_b };

// How one tensor differs between A and B. The measures apply to tensors that are in_both; for others they are 0.
struct TensorDifference {
    std::string name;
    Presence presence = Presence::in_both;
    std::vector<Index> shape_a, shape_b;  // empty if it is absent
    Index count = 0;                      // how many numbers were compared
    double largest = 0.0;                 // max |a − b|; ∞ where only one side is NaN or infinite
    double mean = 0.0;                    // Σ |a − b| / count
    double scale = 0.0;                   // the largest finite magnitude in A and B; 0 where same_bits
    Index over = 0;                       // cells with |a − b| > tolerance
    Cell cell;                            // where the largest is (the first such); empty if nothing differs
    float a = 0.0F, b = 0.0F;             // the two numbers there
    bool same_bits = true;                // not even the sign of a zero differs
    Index both_nan = 0;                   // cells that are NaN in both: neither equal nor apart

    // The largest difference relative to the tensor's scale; 0 if nothing differs, ∞ if the scale is 0.
    [[nodiscard]] double relative() const;
    // Whether a number is over the tolerance, the shapes differ, or one of the two is missing.
    [[nodiscard]] bool differs() const { return presence != Presence::in_both || over > 0; }
};

struct Comparison {
    double tolerance = 0.0;
    std::vector<TensorDifference> tensors;  // in A's order, then what only B has, in B's order
    std::optional<std::size_t> first;  // the first that is in both and differs in shape or by more than the tolerance
    std::size_t in_both = 0;           // of the same shape in A and B
    std::size_t over = 0;              // how many of these differ by more than the tolerance
    std::size_t unmatched = 0;         // of another shape, only in A, or only in B
    Index numbers = 0;                 // how many numbers were compared
    double largest = 0.0;              // of all
    bool same_bits = true;             // everything that is in both is equal bit for bit
    Index both_nan = 0;                // numbers that are NaN in both

    [[nodiscard]] bool differs() const { return over + unmatched > 0; }
};

// A comparison in parts, so that a window need not wait for it.
class Comparing {
public:
    Comparing(NamedTensors a, NamedTensors b, double tolerance);
    Comparing(const Comparing&) = delete;
    Comparing& operator=(const Comparing&) = delete;

    // Continues, tensor by tensor, until at least this many numbers were read. Returns whether all are compared.
    bool advance(Index numbers);
    // How much is done, from 0 to 1.
    [[nodiscard]] double progress() const;
    // What was found so far; complete once advance() has returned true.
    [[nodiscard]] const Comparison& found() const { return found_; }

private:
    NamedTensors a_, b_;
    std::vector<const Tensor*> twins_;  // for each of a_ its counterpart in b_; nullptr if it has none
    NamedTensors only_in_b_;
    std::size_t next_ = 0;
    Comparison found_;
};

// Compares tensors of the same name, number by number. `tolerance` is absolute and not negative. Sums are taken in
// double precision. If a name occurs twice, its first tensor counts.
[[nodiscard]] Comparison compare(const NamedTensors& a, const NamedTensors& b, double tolerance);

// The tensors' indices, worst first: other shapes, then by the largest difference, then what only one side has, then
// what is equal. Within each group, in order.
[[nodiscard]] std::vector<std::size_t> worst_first(const Comparison& comparison);

// What a chart of a comparison shows of each tensor, on a logarithmic scale.
struct ChartedDifferences {
    // If the runs round to different types: the coarser one, and the most that one rounding to it moves a number,
    // relative to that number. The chart then shows differences relative to their tensor's scale, otherwise as they
    // are.
    Arithmetic type = Arithmetic::float32;
    std::optional<double> floor;

    [[nodiscard]] double of(const TensorDifference& d) const { return floor ? d.relative() : d.largest; }
    // The smallest difference that is drawn above the ground, and the top of the chart: a power of ten that no finite
    // difference is above.
    [[nodiscard]] double least() const { return floor ? *floor / 64.0 : 1e-9; }
    [[nodiscard]] double most(const Comparison& comparison) const;
    // From 0 (equal) to 1 (`most`, or ∞).
    [[nodiscard]] double height(double difference, double most) const;
};
// `b` is nullptr for a file.
[[nodiscard]] ChartedDifferences charted_differences(const Run& a, const Run* b);

// What the shown run is compared with: B. A run, or the tensors of a file.
struct ReferenceRun {
    std::string label;  // "without edits", "trace.safetensors"
    NamedTensors tensors;
    std::shared_ptr<const Run> run;             // nullptr for a file
    std::shared_ptr<const Scenario> scenario;   // the run's; nullptr for a file
    std::string path;                           // the file's, absolute; empty for a run
    std::shared_ptr<const trace::Trace> trace;  // the file's, with its calls; nullptr for a run

    // nullptr if it has no tensor of that name.
    [[nodiscard]] const Tensor* find(const std::string& name) const;
};

[[nodiscard]] ReferenceRun reference_of(std::string label, std::shared_ptr<const Run> run);
// As above, with its scenario, as a session keeps it.
[[nodiscard]] std::shared_ptr<const ReferenceRun> pinnable(std::string label, const Scenario& scenario,
                                                           std::shared_ptr<const Run> run);

// Every tensor of a trace (engine/trace/trace.h), in the order of recording; integers are read as floats. Throws Error
// naming the file and what was expected.
[[nodiscard]] ReferenceRun read_trace(const std::string& path);

// A run in a few words, to tell it from others: "causal-lm, Pre-Norm, 2 edits".
[[nodiscard]] std::string description_of(const Scenario& scenario);
// What was set on top of the model's own configuration: "Post-Norm, sliding_window = 4, dropout on"; empty if nothing.
[[nodiscard]] Sentence changed_settings(const Scenario& scenario);

// One slice of a step in A and in B, and the difference.
struct DifferencePictures {
    Heatmap a, b, difference;        // a and b over the same range; difference is a − b
    std::vector<std::uint8_t> over;  // [row, column]: |a − b| > tolerance
};

// The pictures of a step of A at a place. `other` is B's tensor of that name and of the same shape; `other_run` is its
// run, if any.
[[nodiscard]] DifferencePictures difference_pictures(const Scenario& scenario, const Run& run, const Step& step,
                                                     Place place, const Tensor& other, const Run* other_run,
                                                     double tolerance);

}  // namespace decoderscope::core
