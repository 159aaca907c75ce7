#pragma once

#include "engine/tensor.h"

#include <string>

namespace decoderscope {

// The box of one sequence, and where its chips are scrolled to.
struct InputBox {
    std::string text;        // as ImGui edits it
    Tensor tokens, mask;     // of the session, as they were when the text was last held against them
    bool ids = false;        // the text is ids
    bool pending = false;    // the text is not what is run: it was refused
    bool active = false;     // it is being typed into
    bool continues = false;  // something was typed since it became active
    int renewed = 0;         // how often the text was replaced: ImGui keeps what it edits until the box is another one
    Index first_row = 0, first_chip = 0;
};

// What the input bar remembers from frame to frame.
struct InputBarState {
    InputBox target, source;
    bool typed_source = false;  // the box that was typed into last
    bool focus = false;         // asks for the keyboard
};

}  // namespace decoderscope
