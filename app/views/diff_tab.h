#pragma once

namespace decoderscope {

// What the Diff tab remembers from frame to frame.
struct DiffTabState {};

}  // namespace decoderscope
