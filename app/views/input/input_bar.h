#pragma once

#include "app/core/generate/prediction.h"
#include "app/core/run/typed_inputs.h"
#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"
#include "engine/tensor/tensor.h"
#include "engine/tokenizer/tokenizer.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::views::input {

// A token's colour: always the same for an id, and distinct from those of neighbouring ids.
[[nodiscard]] ImU32 chip_color(Index id, bool dark);

// One row of a batch as chips.
struct ChipRow {
    std::span<const float> ids;
    std::span<const float> mask;  // 0 = padding; empty: no padding
    Index first = 0;              // the first token to show
    bool from_end = false;        // show the end rather than the beginning
    // What the model predicts at each position, written below its chip; empty: nothing.
    std::span<const core::generate::Prediction> predictions = {};
    std::optional<Index> lit = {};  // the position that is selected
    bool clickable = false;         // a click selects a position
    bool numbered = false;          // each chip has its position's number before its token
    // What the run numbers the positions by, and the document of each; empty: each place counts, and all are one
    // document.
    std::span<const float> numbers = {}, segments = {};
    bool counts_on = false;  // a document's positions follow those of the one before it
};
// Whether there is room for the numbers: they push no token out of sight that would be seen without them.
[[nodiscard]] bool numbers_fit(const Ui& ui, const tokenizer::Tokenizer& tokenizer, ChipRow row, float width);

// What the mouse does to a row of chips.
struct ChipsTouched {
    std::optional<Index> clicked;  // a position
    std::optional<Index> asked;    // the position whose prediction is under the mouse
    Index page = 0;                // by how many tokens the notes before and after the chips ask to scroll
};

// Draws as many chips as fit into the area's width, and how many are left out. With predictions the lower half of the
// area is theirs, with an arrow left of it. A chip's tooltip tells its token, id and position.
ChipsTouched draw_chips(const Ui& ui, const tokenizer::Tokenizer& tokenizer, const ChipRow& row, Area area);

// The tooltip of what the model predicts after a position: the most probable tokens, whether the first is right, and
// what it was without edits. `row` holds the predictions of that batch row.
void prediction_tooltip(const Ui& ui, const core::Session& session, std::span<const core::generate::Prediction> row,
                        Index batch, Index position);

// The box of one sequence, and where its chips are scrolled to.
struct InputBox {
    std::string text;                // as ImGui edits it
    Tensor tokens, mask, documents;  // the session's, as of the last time the text was compared with them
    bool ids = false;                // the text is ids
    bool pending = false;            // the session does not run this text: it was refused, or is not taken over yet
    bool active = false;             // it is being typed into
    bool continues = false;          // something was typed since it became active
    int renewed = 0;  // how often the text was replaced; part of the id, as ImGui keeps its own copy for as long as the
                      // id is the same
    Index first_row = 0, first_chip = 0;
};

// What the input bar remembers from frame to frame.
struct InputBarState {
    InputBox target, source;
    bool typed_source = false;  // the source box was typed into last
    bool focus = false;         // requests the keyboard focus
};

// The boxes that tokens are typed into, and the tokens as chips. The height is 0 for a model that reads no tokens.
[[nodiscard]] float input_bar_height(const Ui& ui, const core::Session& session, ViewState& state);
void draw_input_bar(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// One of the two sequences that the input bar shows: what the session runs it on, and the box that it is typed into.
struct Sequence {
    const char* label;
    const char* name;  // in messages; empty if there is only one
    const tokenizer::Tokenizer& tokenizer;
    const Tensor& tokens;  // [batch, length]
    const Tensor& mask;
    InputBox& box;
    bool source;
    bool predicted;                                        // what the model predicts is written below the tokens
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

// How many lines of tokens the bar shows, and how many lines of text it is high.
[[nodiscard]] Index lines_shown(const std::vector<Sequence>& all, bool calm);
[[nodiscard]] Index lines_high(const std::vector<Sequence>& all, bool calm);
[[nodiscard]] float line_height(const Ui& ui);

// Draws a sequence's tokens as chips, `lines` rows of the batch, with what the model predicts below them.
void draw_token_rows(const Ui& ui, const core::Session& session, const Sequence& sequence, Area area, Index lines,
                     Commands& commands);

}  // namespace decoderscope::views::input
