#pragma once

namespace decoderscope {

// What the Heads tab remembers from frame to frame.
struct HeadsTabState {};

}  // namespace decoderscope
