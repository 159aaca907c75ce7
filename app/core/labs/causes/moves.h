#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/labs/causes/causes_choice.h"
#include "app/core/run/scenario.h"

#include <atomic>
#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace decoderscope::core::causes {

// What moves a number: its gradient with respect to everything, which is a slope at this one point, and beside it what
// a change really does. The two often differ: over the heads of `reverse`, gradient times value has the sign of
// switching a head off right for less than a third of them. The mean of the gradient along the path from off to on
// (integrated gradients, Sundararajan et al. 2017) is right again.

// The gradients of one step's rows: of the residual stream, or of the input's embedding.
struct StreamGradients {
    std::string tensor;            // "blocks.0.resid_mid"
    std::vector<double> length;    // [position]: of the gradient's row
    std::vector<double> by_value;  // [position]: gradient · value
};

// A score that the number depends on.
struct ScoreSlope {
    std::string tensor;  // "blocks.0.attn.attn_scores"
    Cell cell;
    double slope = 0.0;
};

struct Slopes {
    std::vector<StreamGradients> stream;  // the sums of the stream, in the order of computation
    std::vector<StreamGradients> input;   // what enters the stacks: the embeddings of tokens
    std::vector<ScoreSlope> scores;       // the steepest of all attentions, the steepest first
    std::size_t all_scores = 0;           // that it depends on
};

// From a run with the gradients of the number's cell (Scenario::gradient_target), and, for a difference of two cells,
// another run with those of the second. Only one batch row counts.
[[nodiscard]] Slopes slopes_of(const Run& run, const Run* minus, Index batch, std::size_t most_scores = 32);

// An effect is the number as it is, less the number without what is measured: positive if that raises it.

// A head: the effect that its gradient predicts, and the measured one.
struct HeadMove {
    std::string attention;
    Index layer = 0, head = 0;
    double switched_off = 0.0;      // the number as it is, less the number with the head off
    double gradient_times_z = 0.0;  // gradient · z at the run itself: the predicted effect
    double along_the_way = 0.0;     // the mean of the same along kWaySteps steps from off to on
};
inline constexpr Index kWaySteps = 8;

// An input token: the effect that its gradient predicts, and the measured effect of others in its place.
struct InputMove {
    bool encoder = false;
    Index position = 0;
    double gradient_times_z = 0.0;  // gradient · embedding
    double swapped = 0.0;           // the mean of |change| over the tokens that were put there
    double most = 0.0;              // the number as it is, less that with another token, where it is largest
    Index by = 0;                   // the token that made it
};

struct Moves {
    double number = 0.0;
    std::vector<HeadMove> heads;
    std::vector<InputMove> tokens;
    bool complete = false;
};

// How many runs the measurement takes, for a progress bar.
[[nodiscard]] std::size_t runs_of_moves(const Run& run, Index swaps);

// Measures every head and every token of a batch row that isn't padding; `swaps` other tokens are put in each place,
// spread over the vocabulary. Counts the runs that are done.
[[nodiscard]] Resumable<Moves> measure_moves(Scenario scenario, std::shared_ptr<const Run> run, ChosenNumber number,
                                             Index batch, Index swaps, std::stop_token stop,
                                             std::atomic<std::size_t>* done = nullptr);

}  // namespace decoderscope::core::causes
