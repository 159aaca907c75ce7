#pragma once

#include "engine/graph/run.h"

#include <map>
#include <span>
#include <vector>

namespace decoderscope::core::step {

// How a row reaches the logits along the residual stream alone, past all later sublayers: it is scaled where the sums
// scale the stream, and passes the norms that stand on the stream. A norm is taken as a linear map: its scale is the
// one that the run recorded, kept as it was ("frozen").
struct DirectPath {
    double factor = 1.0;
    std::vector<StepId> norms;  // their outputs, in the order in which the row passes them
};

// The direct paths of a run: of everything that the decoder adds to its stream, and of the stream itself. Summed over
// `added`, the norms' shifts, what edits of the stream changed and the head's bias, the direct contributions are the
// logits (before a soft cap): each step between is linear once the scales are frozen. Elhage et al. 2021 ("A
// Mathematical Framework for Transformer Circuits") and nostalgebraist 2020 (the logit lens); TransformerLens computes
// the same in `ActivationCache.apply_ln_to_stack` and `logit_attrs`.
struct DirectPaths {
    const Step* head = nullptr;         // the product with the vocabulary; nullptr: this run has no logits
    std::map<StepId, DirectPath> of;    // by the step whose rows they are
    std::vector<StepId> added;          // what the stream is the sum of: its beginning, and each update
    std::map<StepId, DirectPath> from;  // of each norm on the stream: the path of its shift
    std::vector<StepId> edited;         // sums and norms on the stream with cells that were set or scaled
};
[[nodiscard]] DirectPaths direct_paths(const Run& run);

// Whether a step holds what each head alone adds, and their sum, with a bias if any, is the attention's output `whole`.
[[nodiscard]] bool are_results_of(const Step& results, const Step& whole);

// What is left of a row when it reaches the head.   row [d_model] -> [d_model]
[[nodiscard]] std::vector<double> along_path(const Run& run, const DirectPath& path, Index batch, Index pos,
                                             std::span<const double> row);

// The dot product of such a row with a token's row of the head.
[[nodiscard]] double towards_token(const Run& run, const Step& head, std::span<const double> row, Index token);

}  // namespace decoderscope::core::step
