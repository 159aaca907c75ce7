#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/labels.h"
#include "app/core/run/slice.h"
#include "app/core/session/session.h"
#include "app/core/tabs/step/explanation_text.h"
#include "engine/graph/plan.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::step {

// A picture of the strip, and the steps that it stands for.
struct OutlineBox {
    Phrase caption;  // "q", "scores", "softmax"
    Meaning meaning = Meaning::residual;
    std::vector<StepId> steps;
    StepId shown = 0;  // the one whose picture it is
};

// A part of a block: steps that belong together.
struct OutlinePart {
    Part part = Part::input;
    Phrase title;  // "Self-attention", "LayerNorm"
    Meaning meaning = Meaning::residual;
    std::vector<StepId> steps;
    bool on_stream = false;               // it carries the residual stream, rather than adding to it from the side
    std::vector<std::size_t> reads = {};  // the parts of its block that its steps read, by number, in order
    std::vector<OutlineBox> boxes = {};   // of its steps, in the order of their first ones
};

// A block, or the steps before, between and after the blocks (then `name` is empty).
struct OutlineBlock {
    std::string name;  // "blocks.0", "encoder.blocks.1"
    StackKind stack = StackKind::decoder;
    std::vector<OutlinePart> parts;
    bool is_back = false;  // of the backward pass: gradients
};

// "Encoder" or "Decoder".
[[nodiscard]] const char* stack_name(StackKind stack);

// The computed steps as the diagram draws them, in order. The arrows decide which parts lie on the stream: a norm does
// if a residual sum or the next block reads it.
[[nodiscard]] std::vector<OutlineBlock> outline_of(const Plan& plan);

// What is derived from single steps.
// A step's picture at a place.
struct ShownHeatmap {
    static constexpr std::size_t kKept = 64;  // the cards of a step and of the steps around it

    Heatmap heatmap;
    std::vector<std::uint8_t> changed;  // [row, column]: differs from the unedited run; empty if nothing does
};

// The step must have values. The first makes one that isn't kept, on any thread.
[[nodiscard]] ShownHeatmap new_heatmap(const Snapshot& shown, const Step& step, Place place);
[[nodiscard]] Value<ShownHeatmap> shown_heatmap(Derived& derived, const Snapshot& shown, const Step& step, Place place);

// The outline of a run's plan.
struct ShownOutline {
    std::vector<OutlineBlock> blocks;
};
[[nodiscard]] Value<ShownOutline> shown_outline(Derived& derived, const std::shared_ptr<const Run>& run);

// How a cell of a step was computed.
[[nodiscard]] Value<Explanation> shown_explanation(Derived& derived, const Snapshot& shown, const Step& step,
                                                   const Cell& cell);
// The explanation as lists of terms with names.
[[nodiscard]] Value<ReadExplanation> shown_terms(Derived& derived, const Snapshot& shown, const Step& step,
                                                 const Cell& cell);

// The names of a step's rows, for a row of the batch.
[[nodiscard]] Value<PlaceNames> shown_row_names(Derived& derived, const Snapshot& shown, const Step& step, Index batch);

// Where a step's largest and smallest numbers are, the first of equal ones; nothing if it has only one number, only
// NaN, or numbers of places.
struct Extremes {
    std::optional<Cell> largest, smallest;
};
[[nodiscard]] Value<Extremes> shown_extremes(Derived& derived, const Snapshot& shown, const Step& step);

// What a step is called before anything else is said of it: "Attention score", "Residual stream".
[[nodiscard]] std::string title_of(const Step& step);
// What its picture shows, as a title: "Where each token looks".
[[nodiscard]] std::string headline_of(const Plan& plan, const Step& step);
// What it does, in one sentence without its full stop.
[[nodiscard]] std::string sentence_of(const Step& step);

// Where a cell of a step is, in words (app/core/run/labels.h).
struct ShownPlace {
    std::string answer;  // what the number says, before its digits: "“a” looks at “s”", "Residual stream of “a”"
    std::string text;
    std::string value;  // the place that its number is, "vocab 17 “d”", if its numbers are places
};
[[nodiscard]] Value<ShownPlace> shown_place(Derived& derived, const Snapshot& shown, const Step& step,
                                            const Cell& cell);

}  // namespace decoderscope::core::step
