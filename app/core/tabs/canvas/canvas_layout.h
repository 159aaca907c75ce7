#pragma once

#include "app/core/tabs/step/shown_step.h"
#include "engine/graph/plan.h"

#include <memory>
#include <vector>

namespace decoderscope::core::canvas {

// Lengths are in units: a picture of several rows is one unit high, however many there are, and what is over
// [query, key], which is looked at most, a bit more. y grows downwards.
struct Point {
    double x = 0.0, y = 0.0;
};
struct Box {
    double x = 0.0, y = 0.0, width = 0.0, height = 0.0;

    [[nodiscard]] double right() const { return x + width; }
    [[nodiscard]] double bottom() const { return y + height; }
};

// Where a step is on the canvas. What is over [query, key] has a picture for each head, in a grid; any other step has
// one picture, with its heads side by side.
struct Placed {
    StepId step = 0;
    Box at;
    Index heads = 1, across = 1;  // how many pictures, and how many of them in a row of the grid
    bool is_weight = false;       // a parameter beside the step that reads it first
    Phrase caption = Phrase("");  // in a word, of the picture that the strip has, too: "norm", "scores"

    [[nodiscard]] Index down() const { return (heads + across - 1) / across; }
    // Where the picture of one head is.
    [[nodiscard]] Box picture(Index head) const;
};

// The place that a picture of a step shows: of a grid, the head of that number of the step; otherwise all heads side by
// side. Batch row and outer index are the selected ones.
[[nodiscard]] Place place_in(const Step& step, const Placed& placed, Index head, Place selected, Index query_heads);

// A part of a block: the pictures of its steps, and the box around them.
struct PlacedPart {
    std::size_t block = 0, part = 0;  // in the outline
    Box at;
    bool has_heading = false;  // there is room for its title above the pictures
};

// A block, and the steps before, between and after the blocks, which have no frame.
struct PlacedBlock {
    std::size_t block = 0;
    Box at;
};

// The blocks of a stack.
struct PlacedStack {
    StackKind stack = StackKind::decoder;
    Box at;
    bool is_back = false;  // its gradients
};

// A line from picture to picture: the residual stream, or what the cross-attentions read of the encoder.
struct Wire {
    std::vector<Point> points;
    bool is_stream = true;
};

// All steps that are computed in a pass, in the order of computation: line by line in a block, and block below block
// in columns. The encoder's columns are left of the decoder's.
struct Layout {
    double width = 0.0, height = 0.0;
    double densest = 1.0;  // the most cells along a unit
    std::vector<Placed> pictures;
    std::vector<PlacedPart> parts;
    std::vector<PlacedBlock> blocks;
    std::vector<PlacedStack> stacks;
    std::vector<Wire> wires;

    // Where a step is; nullptr if it isn't there.
    [[nodiscard]] const Placed* find(StepId step) const;
};

// The room that a block's heading, a part's heading and a step's name have above what they name.
inline constexpr double kStackHeading = 1.0, kBlockHeading = 0.78, kPartHeading = 0.58, kStepName = 0.48;
// At the left of a block, the room of the residual stream.
inline constexpr double kStreamWidth = 0.7;

// The layout that is the largest in a window of this width divided by its height. `outline` is the plan's. With
// `weights`, each parameter is beside the step that reads it first.
[[nodiscard]] Layout lay_out(const Plan& plan, const std::vector<step::OutlineBlock>& outline, bool weights,
                             double aspect);
// As above, of a run.
[[nodiscard]] Value<Layout> shown_layout(Derived& derived, const std::shared_ptr<const Run>& run, bool weights,
                                         double aspect);

// By step: whether it is this step, or computed from it.
[[nodiscard]] std::vector<bool> downstream_of(const Plan& plan, StepId step);

}  // namespace decoderscope::core::canvas
