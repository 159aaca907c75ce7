#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/slice.h"
#include "app/core/run/snapshot.h"
#include "engine/graph/run.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

// The stream's step before this one: what a norm on the stream normalises, or what a sum adds its updates to; nullptr
// at its beginning.
[[nodiscard]] Ref stream_before(const Plan& plan, const Step& step);
// What a sum multiplies an operand by.
[[nodiscard]] double factor_in_sum(const Run& run, const Step& sum, StepId operand);

// Whether a step holds what each head alone adds, and their sum, with a bias if any, is the attention's output `whole`.
[[nodiscard]] bool are_results_of(const Step& results, const Step& whole);

// What is left of a row when it reaches the head.   row [d_model] -> [d_model]
[[nodiscard]] std::vector<double> along_path(const Run& run, const DirectPath& path, Index batch, Index pos,
                                             std::span<const double> row);

// The dot product of such a row with a token's row of the head.
[[nodiscard]] double towards_token(const Run& run, const Step& head, std::span<const double> row, Index token);

// A token and what a vector adds to its logit.
struct TokenMove {
    Index token = 0;
    double logit = 0.0;
};

// One row of d_model or d_head numbers at a glance.
struct VectorReading {
    Index row = 0;                                       // along the rows' axis: a position
    double length = 0.0;                                 // L2
    std::vector<std::pair<Index, double>> largest = {};  // components by magnitude, largest first
    std::optional<double> along_stream = std::nullopt;   // cosine with the stream that it is added to
    // For the decoder's rows of d_model, if the model has a head:
    std::optional<Index> predicted = std::nullopt;     // the most probable next token at this position
    std::optional<double> along_logit = std::nullopt;  // cosine with its row of the head
    // What the row adds to logits directly, past all later sublayers: to the predicted token's, and the
    // tokens that it moves up and down most. For rows other than the chosen one the tokens are left out if finding them
    // takes long.
    std::optional<double> to_predicted = std::nullopt;
    std::vector<TokenMove> up = {}, down = {};
};

// The rows of a step at a place of batch and head.
struct VectorTable {
    static constexpr std::size_t kKept = 8;

    std::string stream;               // the step that the rows are added to; empty: none
    std::vector<VectorReading> rows;  // all of them
};

// Whether a step's rows are vectors of d_model or d_head.
[[nodiscard]] bool holds_vectors(const Step& step);
// The step whose rows these are added to: the first operand of the sum that adds them, also for the parts of an update
// (the results of its heads). nullptr if they are not added as they are.
[[nodiscard]] const Step* stream_of(const Plan& plan, const Step& step);
// q, k and v of the step's attention as far as they run over the same sequence as it does; empty for other steps.
[[nodiscard]] std::vector<Ref> vectors_beside(const Plan& plan, const Step& step);

// Reads all rows; `chosen` is the one whose tokens are always found. The run must have the step's values; `nhead` is
// the number of query heads.
[[nodiscard]] Resumable<VectorTable> read_vectors(std::shared_ptr<const Run> run, StepId step, Place place, Index nhead,
                                                  Index chosen);

// The readings for a window; empty until they are done.
[[nodiscard]] Value<VectorTable> shown_vectors(Derived& derived, const Snapshot& shown, const Step& step, Place place,
                                               Index chosen);

}  // namespace decoderscope::core::step
