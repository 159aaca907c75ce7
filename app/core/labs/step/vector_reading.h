#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/slice.h"
#include "app/core/run/snapshot.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::core::step {

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
    // What the row adds to logits directly, past all later sublayers (direct_path.h): to the predicted token's, and the
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
