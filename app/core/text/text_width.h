#pragma once

#include <string>
#include <string_view>

namespace decoderscope {

// The largest width that a text can have, in em: a safe upper estimate for Inter, Helvetica, Arial and DejaVu Sans (or,
// monospaced, JetBrains Mono and DejaVu Sans Mono), so that a layout fits whichever of them is installed.
[[nodiscard]] double text_width_em(std::string_view text, bool bold, bool monospace);

// The text, or as much of its beginning as fits in `width_em` together with "…".
[[nodiscard]] std::string elided(std::string_view text, double width_em, bool bold, bool monospace);

}  // namespace decoderscope
