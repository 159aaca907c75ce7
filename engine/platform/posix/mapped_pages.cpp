// Pages of mapped files, and small pieces of memory.
#include "engine/platform/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace decoderscope::platform {

namespace {

std::uintptr_t page_of_system() {
    static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

}  // namespace

void* take_aligned(std::size_t alignment, std::size_t bytes) { return std::aligned_alloc(alignment, bytes); }
void give_aligned(void* piece) { std::free(piece); }

bool read_at(int descriptor, std::int64_t place, std::span<std::byte> to) {
    return ::pread(descriptor, to.data(), to.size(), static_cast<::off_t>(place)) == static_cast<::ssize_t>(to.size());
}

bool bring_in(const char* begin, std::size_t size) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::uintptr_t start = address / page_of_system() * page_of_system();
#ifdef MADV_POPULATE_READ
    const int advice = MADV_POPULATE_READ;
#else
    const int advice = MADV_WILLNEED;
#endif
    return ::madvise(reinterpret_cast<void*>(start), address - start + size, advice) == 0 || errno != EFAULT;
}

void release_pages(const char* begin, std::size_t size) {
    const std::uintptr_t page = page_of_system();
    const auto address = reinterpret_cast<std::uintptr_t>(begin), end = address + size;
    const std::uintptr_t first = (address + page - 1) / page * page, last = end / page * page;
    if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace decoderscope::platform
