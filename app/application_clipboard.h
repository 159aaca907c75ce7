#pragma once

#include "engine/message.h"

#include <string>

namespace decoderscope {

// Puts a PNG onto the desktop's clipboard. The window's own library hands over text alone, so that this asks wl-copy or
// xclip, whichever serves the desktop and is installed; they stay behind as long as the picture is on the clipboard.
// Returns a sentence: what was copied, or why it was not.
struct CopyResult {
    Sentence sentence;
    bool failed = false;
};
[[nodiscard]] CopyResult copy_png(const std::string& png);

}  // namespace decoderscope
