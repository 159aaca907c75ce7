#pragma once

#include "app/core/ask/number.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/scenario.h"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace decoderscope::core::ask {

// What causes a difference between two runs: one row (a step at a position) of run B is put into run A, and how much of
// the difference in a chosen number comes back is measured, for all steps and positions. It is called activation
// patching, and, with B the clean run and A the corrupted one, causal tracing (Meng et al. 2022, ROME); TransformerLens
// has it as get_act_patch_block_every.
struct PatchingInputs {
    std::shared_ptr<const Run> a, b;  // of one architecture and of equally long inputs
    ChosenNumber number;
    Index batch = 0;  // whose rows are put in
};

// One step's rows.
struct PatchedStep {
    std::string name;          // "blocks.0.resid_mid"
    std::vector<double> back;  // [position]: 0 = the number stays A's, 1 = it becomes B's
};

struct Patching {
    double in_a = 0.0, in_b = 0.0;   // the chosen number
    std::vector<PatchedStep> steps;  // in the order of computation
    bool complete = false;           // false if it was stopped

    // Whether A and B differ in the number at all; without a difference a share of it isn't defined, and isn't
    // measured.
    [[nodiscard]] bool differs() const { return are_numbers() && in_a != in_b; }
    // If not, one of them is NaN or infinite, and no share of a difference can come back.
    [[nodiscard]] bool are_numbers() const { return std::isfinite(in_a) && std::isfinite(in_b); }
};

// The steps that can be put in: recorded in both runs under one name and of the same shape, with rows, and the number
// depends on them.
[[nodiscard]] std::vector<StepId> patchable_steps(const PatchingInputs& question);
// How many rows these steps have, for a progress bar.
[[nodiscard]] std::size_t patched_rows(const PatchingInputs& question, const std::vector<StepId>& steps);

// Measures the rows of these steps. Counts the rows that are done. Throws Error if a run lacks the number.
[[nodiscard]] Resumable<Patching> patch_rows(PatchingInputs question, std::vector<StepId> steps, std::stop_token stop,
                                             std::atomic<std::size_t>* done = nullptr);

// What moves a number: its gradient with respect to everything, which is a slope at this one point, and beside it what
// a change really does. The two often differ: over the heads of `reverse`, gradient times value has the sign of
// switching a head off right for less than a third of them. The mean of the gradient along the path from off to on
// (integrated gradients, Sundararajan et al. 2017) is right again.

// The gradients of one step's rows: of the residual stream, or of the input's embedding.
struct StreamGradients {
    std::string tensor;            // "blocks.0.resid_mid"
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

// As above, of a scenario's run, which is computed.
[[nodiscard]] Resumable<Slopes> slopes_of_number(Scenario scenario, ChosenNumber number, Index batch);

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

// Measures every head, and every token of a batch row that isn't padding, by sweeps (app/core/ask/measure.h): `swaps`
// other tokens are put in each place (app/core/ask/vary.h). Counts the runs that are done.
[[nodiscard]] Resumable<Moves> measure_moves(Scenario scenario, std::shared_ptr<const Run> run, ChosenNumber number,
                                             Index batch, Index swaps, std::stop_token stop,
                                             std::atomic<std::size_t>* done = nullptr);

}  // namespace decoderscope::core::ask
