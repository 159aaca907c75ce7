#pragma once

#include "app/core/generate/prediction.h"
#include "app/core/session/session.h"
#include "app/core/session/typed_inputs.h"
#include "app/views/shell/input_bar.h"
#include "app/views/widgets/widgets.h"

#include <vector>

namespace decoderscope {

// One of the two sequences that the input bar shows: what the session runs it on, and the box that it is typed into.
struct Sequence {
    const char* label;
    const char* name;  // in messages; empty if there is only one
    const Tokenizer& tokenizer;
    const Tensor& tokens;  // [batch, length]
    const Tensor& mask;
    InputBox& box;
    bool source;
    bool predicted;                  // what the model predicts is written below the tokens
    bool writable;                   // the model can write it
    Value<Predictions> predictions;  // empty while they are being read, or belong to other tokens
};

// The sequences of a model that reads tokens, the source before the target; else none.
[[nodiscard]] std::vector<Sequence> sequences(const Session& session, InputBarState& state);

// What is typed into a sequence's box.
[[nodiscard]] Typed typed_in(const Sequence& sequence);
// After a change other than typing (undo, another model, a generated token) the box shows what is run.
void keep_in_step(const Sequence& sequence);

// How many lines of tokens the bar shows, and how many lines of text it is high.
[[nodiscard]] Index lines_shown(const std::vector<Sequence>& all);
[[nodiscard]] Index lines_high(const std::vector<Sequence>& all);
[[nodiscard]] float line_height(const Ui& ui);

// Draws a sequence's tokens as chips, `lines` rows of the batch, with what the model predicts below them.
void draw_token_rows(const Ui& ui, const Session& session, const Sequence& sequence, Area area, Index lines,
                     Commands& commands);

}  // namespace decoderscope
