// For builds without threads: the caller does all the work.
#include "engine/base/parallel.h"

namespace decoderscope {

Index thread_count() { return 1; }

ThreadLimit::ThreadLimit(Index threads) : before_(threads) {}
ThreadLimit::~ThreadLimit() = default;

bool is_shared(Index) { return false; }

Index detail::chunk_size(Index count, Index) { return count; }

void detail::spread(Index count, Index, detail::RangeWork run, const void* work) {
    if (count > 0) run(work, 0, count);
}

}  // namespace decoderscope
