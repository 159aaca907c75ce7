#pragma once

#include "app/cli.h"
#include "engine/base/message.h"

#include <span>
#include <string>

namespace decoderscope::app {

// What a page opens. There is no terminal behind it, only its address, of which app/window/browser/start.js makes these
// arguments: "--embed", and a link or a bundled model's name, after "--model" or without. What can't be opened still
// opens a window, on the default model, which says what is wrong with it.
[[nodiscard]] WindowRequest request_of_page(std::span<const std::string> arguments);
// What a page opens on if nothing is asked for, or if that fails, and it says why.
[[nodiscard]] WindowRequest default_page(bool embed, const Sentence& said);

}  // namespace decoderscope::app
