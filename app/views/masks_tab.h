#pragma once

namespace decoderscope {

// What the Masks tab remembers from frame to frame.
struct MasksTabState {};

}  // namespace decoderscope
