#pragma once

namespace decoderscope {

// What the Norms tab remembers from frame to frame.
struct NormsTabState {};

}  // namespace decoderscope
