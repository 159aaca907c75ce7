#pragma once

#include "app/core/session/session.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views::strip {

// The pass as a line of pictures in the order of computation: the block of the current step in parts, every other one
// as one picture, the encoder above. What is computed is lit up to the current step; dragging along the line goes
// through the steps, a click goes to what it is on, the wheel moves by one. Folded, it is the line alone.
[[nodiscard]] float strip_height(const Ui& ui, const core::Session& session, const ViewState& state);
void draw_strip(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// Below everything: back, play and on, what the current step does or what the edits did, in a sentence, and which step
// of all it is. Its height is the same with and without edits: the first edit must not move what is being clicked.
[[nodiscard]] float foot_height(const Ui& ui);
void draw_foot(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// While playing, goes on to the next picture of the strip when its time has come: the pass takes twelve seconds,
// however deep the model is, most of them in the unfolded block. It goes on from where one is, and begins at the
// beginning where the model opened, and at the end, where it stops.
void play(const core::Session& session, ViewState& state, Commands& commands);

// Where the picture that stands for a step was drawn last, or its node on the stream; nothing if none does, as while
// the strip is folded.
[[nodiscard]] std::optional<Area> place_on_strip(const ViewState& state, StepId step);

// The tooltip of a step, wherever its name or its picture stands: name, formula, shape, what it is in a sentence, and
// what TransformerLens calls it.
void step_tooltip(const Ui& ui, const core::Session& session, const Step& step);

// The mark of what differs from the unedited run, beside a name.
inline constexpr const char* kChangedMark = "Δ";

// What stands at a place of the strip: one picture, or a node of the residual stream.
struct Item {
    enum class Kind {
        box,        // of a part
        sum,        // of the stream and an update
        joint,      // where the stream enters or leaves a block
        attention,  // all of one that is folded
        block,      // all of one that is folded
        pass,       // all of the other pass, forward or backward
    };
    Kind kind = Kind::box;
    std::string name;       // that it keeps in every layout
    std::size_t block = 0;  // in the outline
    std::string caption;    // in the window's language
    Meaning meaning = Meaning::residual;
    std::vector<StepId> steps;  // that it stands for, in the order of computation
    StepId shown = 0;           // whose picture it is
    bool on_stream = false;
    bool begins = false;           // it reads the stream: a branch begins
    bool is_sliver = false;        // there was no room for a picture
    float from = 0.0F, to = 0.0F;  // of its picture, on the screen

    [[nodiscard]] bool holds(StepId step) const;
    [[nodiscard]] float middle() const { return (from + to) * 0.5F; }
    // Where a step of it is, from `from` to `to`.
    [[nodiscard]] float x_of(std::size_t number) const;
};

// A stack's items in the order of computation; those of the backward pass from right to left.
struct Line {
    StackKind stack = StackKind::decoder;
    std::vector<Item> items;

    // Where a step is; nothing if it isn't in this line.
    [[nodiscard]] std::optional<float> x_of(StepId step) const;
};

// What is drawn in parts: the block and, of a block with two attentions, the attention that was looked at last.
struct Unfolded {
    std::string block, attention;
};
// As that is once this step is looked at: where it is in no block, the blocks stay as they are.
[[nodiscard]] Unfolded unfolded_at(const Plan& plan, const Step& step, Unfolded before);

// The lines from top to bottom, the encoder's first, each as wide as from `from` to `to` on the screen. `scale` is that
// of the text. Blocks far from the unfolded one become slivers where there is no room for their pictures.
[[nodiscard]] std::vector<Line> lay_out(const Plan& plan, const std::vector<core::step::OutlineBlock>& outline,
                                        const Unfolded& unfolded, bool back, float from, float to, float scale);

}  // namespace decoderscope::views::strip
