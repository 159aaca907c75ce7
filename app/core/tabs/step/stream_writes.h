#pragma once

#include "app/core/tabs/step/vector_reading.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

// The writers of the residual stream: its beginning, heads, MLPs, experts, biases, norms; and what they write at a
// position.
namespace decoderscope::core::step {

enum class Contributor {
    embedding,
    positions,
    head,
    attention_bias,
    attention,
    mlp,
    expert,
    shared,
    norm,
    norm_shift,
    scale,
    edit,
    head_bias
};

struct Writer {
    Contributor kind = Contributor::embedding;
    std::string tensor;           // whose rows these are: "blocks.0.attn.result", "blocks.0.mlp_out"
    Index layer = -1;             // of a block
    std::optional<Index> head;    // of an attention
    std::optional<Index> expert;  // of a mixture
};
[[nodiscard]] Sentence name_of(const Writer& writer);

// A part of an update at a position: its row before the norms that the update passes by itself (Peri-Norm).
struct WrittenPart {
    Writer writer;
    StepId rows = 0;               // the step whose direct path the row has (DirectPaths::of)
    std::vector<double> row = {};  // [d_model]
};

// An update of the stream at a position, as what its parts write. `rest` is who wrote what they leave of it, if
// anything: a bias, the shift of a norm of its own, a shared MLP, an edit.
struct UpdateParts {
    std::vector<WrittenPart> parts;
    std::optional<Writer> rest;
};
[[nodiscard]] UpdateParts parts_of_update(const Run& run, const Step& update, Index batch, Index position);

// The step that an update comes from, before norms of its own.
[[nodiscard]] const Step& origin_of_update(const Plan& plan, const Step& update);

// One row of a tensor: [batch, pos, d_model], or [pos, d_model] and [d_model], which all batch rows and positions
// share.
[[nodiscard]] std::vector<double> row_at(const Tensor& tensor, Index batch, Index position);

// What a step's operation made at a position, before its edits.
[[nodiscard]] std::vector<double> row_before_edits(const Run& run, const Step& step, Index batch, Index position);

}  // namespace decoderscope::core::step
