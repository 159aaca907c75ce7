#pragma once

#include "engine/message.h"

#include <string>

namespace decoderscope {

// Shows a folder in the desktop's file manager, by xdg-open. Returns why it can't; empty if it was started.
[[nodiscard]] Sentence open_folder(const std::string& folder);

}  // namespace decoderscope
