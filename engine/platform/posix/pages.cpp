// Pages of the operating system.
#include "engine/platform/pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace decoderscope::platform {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

// On huge pages if it fills at least one.
void* map_pages(std::size_t bytes) {
    const bool huge = bytes >= kHugePage;
    const std::size_t slack = huge ? kHugePage - kPage : 0;
    void* mapped =
        ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    if (!huge) return mapped;
    // Cut off what lies before the first huge page boundary, and the rest at the end.
    auto* const start = static_cast<std::byte*>(mapped);
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const std::size_t before = rounded_up(address, kHugePage) - address;
    if (before > 0) ::munmap(start, before);
    if (slack > before) ::munmap(start + before + bytes, slack - before);
    ::madvise(start + before, bytes, MADV_HUGEPAGE);
    return start + before;
}

void unmap_pages(void* start, std::size_t bytes) { ::munmap(start, bytes); }

}  // namespace decoderscope::platform
