#pragma once

#include "engine/trace/trace.h"

namespace decoderscope::trace {

// Some caches are as long from the start as a text may become (gpt-fast, StaticCache of Transformers), and a mask hides
// the keys that nothing was written to yet. Takes those from scores, masks, patterns, keys and values of a recording,
// so that each call has the keys of the text so far; a recording without such a cache stays as it is, and none of its
// numbers is read.
void leave_out_unwritten_keys(Trace& trace);

}  // namespace decoderscope::trace
