#pragma once

#include <string>
#include <string_view>

namespace decoderscope {

// How wide a text can be at most, in em: an estimate on the safe side for Inter, Helvetica, Arial and DejaVu Sans (or,
// monospaced, JetBrains Mono and DejaVu Sans Mono), so that what is laid out with it fits in whichever of them is
// there.
[[nodiscard]] double text_width_em(std::string_view text, bool bold, bool monospace);

// The text, or as much of its beginning as fits in `width_em` together with "…".
[[nodiscard]] std::string elided(std::string_view text, double width_em, bool bold, bool monospace);

}  // namespace decoderscope
