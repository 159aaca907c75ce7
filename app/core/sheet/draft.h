#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/snapshot.h"
#include "engine/graph/edit.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Formulas as they are typed: a step's own, rewritten, or a row that is added.
namespace decoderscope::core::sheet {

// What a person is writing.
struct Draft {
    bool is_row = false;
    std::string step;  // that is rewritten
    std::string name;  // the row's, with the part that it is of: "blocks.*.attn.entropy"
    bool every_layer = false;
    bool must_hold = false;                          // a row that is a check
    std::optional<Edit> in_place_of = std::nullopt;  // the person's own formula or row that is changed
    std::string formula;

    // A step outside the blocks has no other layers.
    [[nodiscard]] bool has_layers() const;
    [[nodiscard]] Edit edit() const;
};

// A draft that rewrites a step, beginning with the formula that it has now; its row, if it is one.
[[nodiscard]] Draft draft_of(const Snapshot& shown, const Step& step);
// A row beside a step, nothing written yet; or a check, which is a row that must hold.
[[nodiscard]] Draft new_row(const Snapshot& shown, const Step& step, bool must_hold = false);

// What becomes of a draft, with the run as far as the draft's first step needs it.
struct Outcome {
    Sentence error;                  // empty if it can be computed
    std::optional<std::size_t> at;   // the byte of the formula that it is about
    std::string reads;               // the formula in index notation
    std::size_t places = 0;          // how many steps it makes or changes
    std::string step;                // the one in the layer that it was written in
    std::shared_ptr<const Run> run;  // with its values; nullptr if computing takes longer than typing allows
    Scenario scenario;               // that the run is of
};
[[nodiscard]] Value<Outcome> outcome_of(Derived& derived, const Snapshot& shown, const Draft& draft);

// Names that the word at the end of a text may become, the nearest part's first.
[[nodiscard]] std::vector<std::string> completions(const Snapshot& shown, const Draft& draft, std::string_view text,
                                                   std::size_t most);

// The text with a name in place of the word at its end.
[[nodiscard]] std::string completed(std::string_view text, std::string_view name);

// ---- rows that are ready

// A question that a row answers.
struct ReadyRow {
    AddRow row;
    Phrase question = Phrase("");
    std::string words;      // that people use for it
    std::string then;       // what the formula goes on with for each block but the first; mostly empty
    bool anywhere = false;  // it says as much of any other attention, or of the encoder's layers

    // Whether its formula is another one for another number of blocks.
    [[nodiscard]] bool is_of_blocks() const { return row.formula.find("{last}") != std::string::npos || !then.empty(); }
};
// All of them; those that this run can have, with formulas for its number of blocks.
[[nodiscard]] const std::vector<ReadyRow>& ready_rows();
// `beside`: what is on the stage, whose attention and stack the rows are then of that are of any:
// "blocks.*.cross_attn", "encoder.blocks.*.attn".
[[nodiscard]] std::vector<ReadyRow> ready_rows(const Snapshot& shown, const Step* beside = nullptr);
// The question that a step answers, if it is one of these rows.
[[nodiscard]] std::optional<Phrase> question_of(const Snapshot& shown, const Step& step);

// The name of a row's step to go to, beside a step: in its layer if the row is of every one.
[[nodiscard]] std::string row_beside(const Snapshot& shown, const Step& step, const AddRow& row);

}  // namespace decoderscope::core::sheet
