#pragma once

#include <cstddef>

namespace decoderscope {

// The size of a page of memory in bytes.
inline constexpr std::size_t kPage = 4096;

// The next multiple of `to`.
[[nodiscard]] constexpr std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// A piece of whole pages, aligned to a page, all zero or not. `bytes` is a multiple of kPage. Throws std::bad_alloc.
[[nodiscard]] void* map_pages(std::size_t bytes);
// Returns a piece of map_pages() to the system, whole.
void unmap_pages(void* start, std::size_t bytes);

}  // namespace decoderscope
