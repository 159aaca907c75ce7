#pragma once

#include "app/views/widgets/keys_and_mouse.h"

#include <string_view>

namespace decoderscope::window {

// The key of a browser's KeyboardEvent: `code` says where it lies ("KeyA", "Digit1", "ArrowLeft", …), `printed` what
// the layout prints on it. Key::none for a modifier or an unknown key.
[[nodiscard]] views::Key key_of_code(std::string_view code, std::string_view printed, bool ctrl);

}  // namespace decoderscope::window
