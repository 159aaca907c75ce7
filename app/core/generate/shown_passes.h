#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/comparison.h"
#include "app/core/run/cursor.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/model/inputs.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

// The passes of a text beside one another, and each beside the whole text computed in one: a cache must change nothing.
namespace decoderscope::core::generate {

// How a text is cut: as it was last; at first what was given, then each token that was generated, or, if none was, all
// but the last token, then that one.
[[nodiscard]] std::vector<Index> sizes_of(const Scenario& scenario);
// So many positions first, then so many each time; the last pass may have fewer.
[[nodiscard]] std::vector<Index> even_sizes(Index first, Index each, Index length);

// The cells of the full pass that a pass over this part also computed, under the same names; k and v in full, so that
// the kept rows are compared as well.
[[nodiscard]] NamedTensors same_cells(const InputsPart& part, const Run& full, const Run& pass);
// The tensors of a pass, for comparison with them.
[[nodiscard]] NamedTensors tensors_of_pass(const Run& pass);

// A pass over a row's last token, and whatever stands after it in other rows, compared with the full pass.
struct ShownProof {
    static constexpr bool kGoesOn = true;

    Comparison comparison;
    std::vector<std::size_t> worst_first;
    Sentence error;  // why there is none; empty if there is one
};
// Empty while it is computed and compared.
[[nodiscard]] Value<ShownProof> shown_proof(Derived& derived, const Scenario& scenario,
                                            const std::shared_ptr<const Run>& full, Index row);

struct PassesQuestion {
    std::vector<Index> sizes;
    Index row = 0;  // of the batch, whose next token is told
    Cursor number;  // of the run that is shown: its number in every pass
    bool operator==(const PassesQuestion&) const = default;
};

struct PassRow {
    InputsPart part;
    TensorDifference worst;       // from the whole text at these positions
    std::optional<Index> next;    // the token that it makes the most probable after its last one
    double probability = 0.0;     // of it
    std::optional<float> number;  // of the cell that is asked for; nothing if the pass has none
};

struct ShownPasses {
    static constexpr std::size_t kKept = 2;
    static constexpr bool kGoesOn = true;

    std::shared_ptr<const Run> whole;  // the text computed in one pass
    std::vector<PassRow> rows;
    Sentence number;  // what the column of numbers holds; empty if no cell is chosen
    Sentence error;   // why there are none; empty if there are
};
// Empty while they are computed.
[[nodiscard]] Value<ShownPasses> shown_passes(Derived& derived, const Snapshot& shown, const PassesQuestion& question);

// What the whole text's run holds at the positions of the pass that is shown, to compare the pass with.
[[nodiscard]] std::shared_ptr<const ReferenceRun> whole_beside(const Scenario& pass, const Run& run, const Run& whole);

// What the table says, in sentences.
[[nodiscard]] std::vector<Sentence> sentences_of_passes(const ShownPasses& shown);

// The numbers of the chosen cell, pass by pass.
[[nodiscard]] Exhibit history_exhibit(const Scenario& scenario, const ShownPasses& shown);

}  // namespace decoderscope::core::generate
