// Pages if there is no operating system to ask, as in a browser: its mmap() is malloc(), which frees a piece only
// whole.
#include "engine/platform/pages.h"

#include <cstdlib>
#include <new>

namespace decoderscope::platform {

void* map_pages(std::size_t bytes) {
    void* const piece = std::aligned_alloc(kPage, bytes);
    if (piece == nullptr) throw std::bad_alloc();
    return piece;
}

void unmap_pages(void* start, std::size_t) { std::free(start); }

}  // namespace decoderscope::platform
