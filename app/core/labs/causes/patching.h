#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/labs/causes/causes_choice.h"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace decoderscope::core::causes {

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
    StepId step = 0;           // in A's plan
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

}  // namespace decoderscope::core::causes
