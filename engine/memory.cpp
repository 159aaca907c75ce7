#include "engine/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>

namespace decoderscope {

namespace {

// Rows start where vector instructions like them, and the order of a vectorised sum never depends on an address.
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Smaller pieces are malloc's, which keeps them by itself. Under the address sanitizer all are: it watches those.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kLarge = SIZE_MAX / 2;
#else
constexpr std::size_t kLarge = std::size_t{128} << 10;
#endif

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// A piece of whole pages from the system; on huge pages where it fills some.
void* map_pages(std::size_t bytes) {
    const bool huge = bytes >= kHugePage;
    const std::size_t slack = huge ? kHugePage - kPage : 0;
    void* mapped =
        ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    if (!huge) return mapped;
    // Cut off what lies before the first boundary of a huge page, and what is left over behind.
    auto* const start = static_cast<std::byte*>(mapped);
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const std::size_t before = rounded_up(address, kHugePage) - address;
    if (before > 0) ::munmap(start, before);
    if (slack > before) ::munmap(start + before + bytes, slack - before);
    ::madvise(start + before, bytes, MADV_HUGEPAGE);
    return start + before;
}

// The large pieces that were given back. They are the process's, as malloc's are.
class Kept {
public:
    ~Kept() { release(SIZE_MAX); }

    [[nodiscard]] void* take(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        const auto found =
            std::find_if(pieces_.rbegin(), pieces_.rend(), [&](const Piece& piece) { return piece.bytes == bytes; });
        if (found != pieces_.rend()) {
            void* const start = found->start;
            pieces_.erase(std::next(found).base());
            return start;
        }
        // Nothing of this size: what was kept longest makes room, so that all together never grows beyond need.
        release(bytes);
        return nullptr;
    }

    void give(void* start, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        pieces_.push_back({start, bytes});
    }

    void trim() {
        const std::lock_guard lock(mutex_);
        release(SIZE_MAX);
    }

private:
    struct Piece {
        void* start;
        std::size_t bytes;
    };

    void release(std::size_t bytes) {
        for (std::size_t released = 0; released < bytes && !pieces_.empty(); pieces_.pop_front()) {
            ::munmap(pieces_.front().start, pieces_.front().bytes);
            released += pieces_.front().bytes;
        }
    }

    std::mutex mutex_;
    std::deque<Piece> pieces_;  // the oldest first
};

// Held by every piece, so that it outlives them all.
const std::shared_ptr<Kept>& kept() {
    static const auto pieces = std::make_shared<Kept>();
    return pieces;
}

std::shared_ptr<float> large(std::size_t bytes) {
    const std::shared_ptr<Kept>& pieces = kept();
    void* start = pieces->take(bytes);
    if (start == nullptr) start = map_pages(bytes);
    return {static_cast<float*>(start), [pieces, bytes](float* values) { pieces->give(values, bytes); }};
}

}  // namespace

std::shared_ptr<float> floats(Index count) {
    const std::size_t bytes =
        rounded_up(std::max<std::size_t>(static_cast<std::size_t>(count), 1) * sizeof(float), kAlignment);
    if (bytes >= kLarge) return large(rounded_up(bytes, kPage));
    void* memory = std::aligned_alloc(kAlignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return {static_cast<float*>(memory), [](float* values) { std::free(values); }};
}

void trim_memory() { kept()->trim(); }

}  // namespace decoderscope
