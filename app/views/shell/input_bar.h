#pragma once

#include "engine/tensor.h"

#include <string>

namespace decoderscope {

// The box of one sequence, and where its chips are scrolled to.
struct InputBox {
    std::string text;        // as ImGui edits it
    Tensor tokens, mask;     // the session's, as of the last time the text was compared with them
    bool ids = false;        // the text is ids
    bool pending = false;    // the session does not run this text: it was refused, or is not taken over yet
    bool active = false;     // it is being typed into
    bool continues = false;  // something was typed since it became active
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

}  // namespace decoderscope
