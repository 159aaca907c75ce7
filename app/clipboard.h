#pragma once

#include "engine/message.h"

#include <string>

namespace decoderscope {

// Puts a PNG onto the desktop's clipboard. The window library supports only text, so this runs wl-copy or xclip,
// whichever suits the desktop and is installed; the helper keeps running as long as the picture is on the clipboard.
// Returns a sentence: what was copied, or why not.
struct CopyResult {
    Sentence sentence;
    bool failed = false;
};
[[nodiscard]] CopyResult copy_png(const std::string& png);

}  // namespace decoderscope
