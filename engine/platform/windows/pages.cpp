#include "engine/platform/pages.h"

#include <malloc.h>
#include <windows.h>

#include <io.h>

#include <new>

namespace decoderscope::platform {

// Windows gives large pages only to users who have the right.
void* map_pages(std::size_t bytes) {
    void* const piece = ::VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (piece == nullptr) throw std::bad_alloc();
    return piece;
}

void unmap_pages(void* start, std::size_t) { ::VirtualFree(start, 0, MEM_RELEASE); }

// What is aligned is released by a function of its own.
void* take_aligned(std::size_t alignment, std::size_t bytes) { return ::_aligned_malloc(bytes, alignment); }
void give_aligned(void* piece) { ::_aligned_free(piece); }

bool read_at(int descriptor, std::int64_t place, std::span<std::byte> to) {
    OVERLAPPED at{};
    at.Offset = static_cast<DWORD>(place & 0xffffffff);
    at.OffsetHigh = static_cast<DWORD>(place >> 32);
    DWORD count = 0;
    return ::ReadFile(reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor)), to.data(), static_cast<DWORD>(to.size()),
                      &count, &at) != 0 &&
           count == to.size();
}

// A file can't be truncated while it is mapped.
bool bring_in(const char* begin, std::size_t size) {
    WIN32_MEMORY_RANGE_ENTRY range{const_cast<char*>(begin), size};
    ::PrefetchVirtualMemory(::GetCurrentProcess(), 1, &range, 0);
    return true;
}

void release_pages(const char* begin, std::size_t size) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin), end = address + size;
    const std::uintptr_t first = rounded_up(address, kPage), last = end / kPage * kPage;
    // Pages that aren't locked leave the process's memory by this call, which then reports that they weren't locked.
    if (first < last) ::VirtualUnlock(reinterpret_cast<void*>(first), last - first);
}

}  // namespace decoderscope::platform
