#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Memory as the operating system gives it, and the pages of files that are mapped into it.
namespace decoderscope::platform {

// The size of a page of memory in bytes.
inline constexpr std::size_t kPage = 4096;

// The next multiple of `to`.
[[nodiscard]] constexpr std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// A piece of whole pages, aligned to a page, all zero or not. `bytes` is a multiple of kPage. Throws std::bad_alloc.
[[nodiscard]] void* map_pages(std::size_t bytes);
// Returns a piece of map_pages() to the system, whole.
void unmap_pages(void* start, std::size_t bytes);

// A small piece, aligned to `alignment`, of which `bytes` is a multiple; nullptr if there is no memory.
[[nodiscard]] void* take_aligned(std::size_t alignment, std::size_t bytes);
void give_aligned(void* piece);

// Reads bytes of an open file at a place, without mapping them. False if they could not all be read.
[[nodiscard]] bool read_at(int descriptor, std::int64_t place, std::span<std::byte> to);

// Reads the pages of these bytes of a mapped file from disk at once, instead of one by one as they are touched. False
// if the file no longer extends this far; true if that can't be determined.
[[nodiscard]] bool bring_in(const char* begin, std::size_t size);

// Releases the memory of the pages that hold nothing but these bytes of a mapped file, until they are read again.
void release_pages(const char* begin, std::size_t size);

}  // namespace decoderscope::platform
