#pragma once

#include "app/core/generate/prediction.h"
#include "app/core/run/typed_inputs.h"
#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"
#include "engine/tensor/tensor.h"
#include "engine/tokenizer/tokenizer.h"

#include <span>
#include <string>
#include <vector>

namespace decoderscope::views::input {

// A token's colour: always the same for an id, and distinct from those of neighbouring ids.
[[nodiscard]] ImU32 chip_color(Index id, bool dark);

// The box of one sequence.
struct InputBox {
    std::string text;                // as ImGui edits it
    Tensor tokens, mask, documents;  // the session's, as of the last time the text was compared with them
    bool ids = false;                // the text is ids
    bool pending = false;            // the session does not run this text: it was refused, or is not taken over yet
    bool active = false;             // it is being typed into
    bool continues = false;          // something was typed since it became active
    int renewed = 0;  // how often the text was replaced; part of the id, as ImGui keeps its own copy for as long as the
                      // id is the same
    Index first_row = 0;  // the line in sight
};

// What the input bar remembers from frame to frame.
struct InputBarState {
    InputBox target, source;
    bool typed_source = false;  // the source box was typed into last
    bool focus = false;         // requests the keyboard focus
};

[[nodiscard]] bool reads_tokens(const core::Session& session);
// The fields that tokens are typed into, each with the colours of its tokens, and what the model says next. Nothing for
// a model that reads no tokens.
void draw_input(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// "+ sequence": the batch gets another row, a copy of the one that the stage is about; it is about the new one then.
void add_sequence(const core::Session& session, ViewState& state, Commands& commands);

// One of the two sequences of a run: what the session runs it on, and the box that it is typed into.
struct Sequence {
    const char* label;
    const char* name;  // in messages; empty if there is only one
    const tokenizer::Tokenizer& tokenizer;
    const Tensor& tokens;  // [batch, length]
    const Tensor& mask;
    InputBox& box;
    bool source;
    bool predicted;                                        // what the model predicts is shown
    bool writable;                                         // the model can write it
    core::Value<core::generate::Predictions> predictions;  // empty while they are being read, or belong to other tokens
    Tensor documents = {};                 // [batch, length], which of its row each token is in; empty: each row is one
    Tensor positions = {}, segments = {};  // [batch, length], of the run; empty if it has none, or is of other tokens
};

// The sequences of a model that reads tokens, the source before the target; otherwise none.
[[nodiscard]] std::vector<Sequence> sequences(const core::Session& session, ViewState& state);

// What is typed into a sequence's box.
[[nodiscard]] core::Typed typed_in(const Sequence& sequence);
// After a change other than typing (undo, another model, a generated token) the box shows what is run.
void keep_in_step(const Sequence& sequence);

// The tooltip of what the model predicts after a position: the most probable tokens, whether the first is right, and
// what it was without edits.
void prediction_tooltip(const Ui& ui, const core::Session& session, const Sequence& sequence, Index row,
                        Index position);
// Its lines, in a tooltip that is open.
void prediction_lines(const Ui& ui, const core::Session& session, std::span<const core::generate::Prediction> row,
                      Index batch, Index position);

}  // namespace decoderscope::views::input
