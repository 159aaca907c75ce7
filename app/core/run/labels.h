#pragma once

#include "app/core/run/scenario.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"
#include "engine/model/config.h"
#include "engine/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// One of the places that a block's norms may have, in words.
struct PlaceOfNorms {
    NormPlacement placement = NormPlacement::pre;
    const char* word = "";     // the value of norm_placement: "pre"
    Phrase title;              // "Pre-Norm"
    const char* formula = "";  // "x + f(norm(x))"
    Phrase meaning;            // what it means for the stream, in a sentence or two
};

// All four, in the order in which they are offered.
[[nodiscard]] std::span<const PlaceOfNorms> places_of_norms();
[[nodiscard]] const PlaceOfNorms& place_of_norms(NormPlacement placement);

// A value for each of two that are compared.
template <class T>
struct Both {
    T left, right;
    bool operator==(const Both&) const = default;
};
using Places = Both<NormPlacement>;

// One of two runs that are compared.
struct Side {
    Sentence name;  // "Pre-Norm", "without edits"
    Scenario scenario;
    std::shared_ptr<const Run> run;
};
inline constexpr Places kPreAndPost = {NormPlacement::pre, NormPlacement::post};

// What is compared first: Pre-Norm and Post-Norm, or the model's own place, if it is another, and Pre-Norm.
[[nodiscard]] Places first_places(const Config& config);

// The attention whose heads a step refers to: its own, otherwise the self-attention of its block; empty outside the
// blocks.
[[nodiscard]] std::string attention_beside(const Plan& plan, const Step& step);

// The number of the block that a step belongs to; -1 outside the blocks.
[[nodiscard]] Index block_number(const Step& step);

// The sequence that an axis of a step runs over: the target's tokens, the source's, or neither.
enum class TokenSequence { none, target, source };
[[nodiscard]] TokenSequence sequence_along(const Step& step, std::size_t axis);

// How many positions of the text come before the axis' first: in a pass behind a cache, axes of its own positions begin
// later than axes of keys.
[[nodiscard]] Index positions_before(const Scenario& scenario, const Step& step, std::size_t axis);

// The labels of an axis of a step's heatmap: the tokens of the sequence that the axis runs over, or of the vocabulary
// (as text if the model has one, otherwise as ids), or plain indices. `batch` chooses the row of the batch.
[[nodiscard]] std::vector<std::string> axis_labels(const Scenario& scenario, const Step& step, std::size_t axis,
                                                   Index batch);

// By index along an axis of tokens: 1 if its token is a special one, which stands for no text. Empty if none is.
[[nodiscard]] std::vector<std::uint8_t> special_along(const Scenario& scenario, const Step& step, std::size_t axis,
                                                      Index batch);

// Adds a name to others: "head 2, d_head 5".
void append_name(std::string& names, const std::string& name);

// Some axes of a step in words, with the tokens that they run over: "key 3 “a”", "head 2". A value: it holds the
// labels.
class PlaceNames {
public:
    PlaceNames() = default;
    // `axes` are the numbers of the axes to name; `batch` chooses the row of the batch that the tokens are from.
    PlaceNames(const Scenario& scenario, const Step& step, std::vector<std::size_t> axes, Index batch);

    // The numbers of the named axes, from the outermost.
    [[nodiscard]] const std::vector<std::size_t>& axes() const { return axes_; }
    // One index along the named axis of this rank, without the axis's name: "3 “a”", or "3" if it has no token.
    [[nodiscard]] std::string number(std::size_t rank, Index at) const;
    // As above, with its name: "key 3 “a”".
    [[nodiscard]] std::string index(std::size_t rank, Index at) const;
    // A range of indices: "key 8 “a” to 15 “h”".
    [[nodiscard]] std::string range(std::size_t rank, Index first, Index last) const;
    // A cell's place along the named axes from this rank on: "head 2, d_head 5".
    [[nodiscard]] std::string place(const Cell& cell, std::size_t from = 0) const;

private:
    std::vector<std::size_t> axes_;
    std::vector<std::string> names_;                // [axis]
    std::vector<std::vector<std::string>> tokens_;  // [axis, index]; empty for an axis without tokens
};

// The row of the batch that a cell is in; 0 if the step has no batch.
[[nodiscard]] Index batch_of(const Step& step, const Cell& cell);

// The whole place of a cell: "batch 0, head 1, query 2 “r”, key 3 “a”". Axes of length 1 are left out.
[[nodiscard]] std::string place_text(const Scenario& scenario, const Step& step, const Cell& cell);

}  // namespace decoderscope::core
