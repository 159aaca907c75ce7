#include "engine/tensor/memory.h"

#include "engine/platform/pages.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <new>
#include <vector>

namespace decoderscope {

namespace {

// Aligned for vector instructions, so that the order of a vectorised sum never depends on an address.
constexpr std::size_t kAlignment = 64;
// Smaller pieces come from malloc. Under the address sanitizer all do, and none is kept: it checks only malloc's.
#ifdef DECODERSCOPE_SANITIZED
constexpr std::size_t kLarge = SIZE_MAX / 2;
constexpr std::size_t kMostSmallBytes = 0;
#else
constexpr std::size_t kLarge = std::size_t{128} << 10;
constexpr std::size_t kMostSmallBytes = std::size_t{16} << 20;
#endif

// Large pieces, in use and kept, may take this many bytes and an eighth, but no more than the second number, more than
// were ever in use at once: a run that may take 12 GB is to take little more. A step of training has tensors of a few
// sizes, and of each a different number at different times; and the scores that a layer of a long text frees are as
// large as the next layer's, though smaller tensors are asked for in between.
constexpr std::size_t kRoomBytes = std::size_t{16} << 20, kMostRoom = std::size_t{512} << 20;
// Sizes of large pieces are multiples of this at most.
constexpr std::size_t kWidestStep = std::size_t{256} << 10;

// The bytes of a piece that holds this many. Sizes of large pieces lie an eighth apart or less, so that a tensor that
// is a row longer than its predecessor takes its place, too: generating makes one at each token.
std::size_t bytes_of_piece(std::size_t wanted) {
    if (wanted < kLarge) return platform::rounded_up(wanted, kAlignment);
    return platform::rounded_up(wanted, std::clamp(std::bit_floor(wanted) / 8, platform::kPage, kWidestStep));
}

// Pieces of whole pages. If no piece of a size is free, those kept longest are released first, so that the total never
// exceeds the largest need by much.
class LargePieces {
public:
    LargePieces() = default;
    LargePieces(const LargePieces&) = delete;
    LargePieces& operator=(const LargePieces&) = delete;
    ~LargePieces() { release(SIZE_MAX); }

    [[nodiscard]] void* take(std::size_t bytes) {
        void* start = kept(bytes);
        if (start == nullptr) start = fresh(bytes);
        used_ += bytes;
        most_used_ = std::max(most_used_, used_);
        return start;
    }

    void give(void* start, std::size_t bytes) {
        pieces_.push_back({start, bytes});
        kept_ += bytes;
        used_ -= bytes;
    }

    [[nodiscard]] std::size_t bytes() const { return kept_; }
    [[nodiscard]] std::size_t used() const { return used_; }

    void trim() {
        release(SIZE_MAX);
        most_used_ = used_;
    }

private:
    struct Piece {
        void* start;
        std::size_t bytes;
    };

    // The piece of this size that was given back last; nullptr if there is none.
    [[nodiscard]] void* kept(std::size_t bytes) {
        const auto found =
            std::find_if(pieces_.rbegin(), pieces_.rend(), [&](const Piece& piece) { return piece.bytes == bytes; });
        if (found == pieces_.rend()) return nullptr;
        void* const start = found->start;
        pieces_.erase(std::next(found).base());
        kept_ -= bytes;
        return start;
    }

    [[nodiscard]] void* fresh(std::size_t bytes) {
        const std::size_t total = used_ + kept_ + bytes;
        const std::size_t most_used = std::max(most_used_, used_ + bytes);
        const std::size_t allowed = most_used + std::min(most_used / 8, kMostRoom) + kRoomBytes;
        if (total > allowed) release(total - allowed);
        return platform::map_pages(bytes);
    }

    void release(std::size_t bytes) {
        for (std::size_t released = 0; released < bytes && !pieces_.empty(); pieces_.pop_front()) {
            platform::unmap_pages(pieces_.front().start, pieces_.front().bytes);
            released += pieces_.front().bytes;
            kept_ -= pieces_.front().bytes;
        }
    }

    std::deque<Piece> pieces_;                         // the oldest first
    std::size_t kept_ = 0, used_ = 0, most_used_ = 0;  // in bytes
};

// Pieces from malloc, by size.
class SmallPieces {
public:
    SmallPieces() = default;
    SmallPieces(const SmallPieces&) = delete;
    SmallPieces& operator=(const SmallPieces&) = delete;
    ~SmallPieces() { release(); }

    [[nodiscard]] void* take(std::size_t bytes) {
        if (kept_ == 0 || pieces_[bytes / kAlignment].empty()) {
            void* const fresh = platform::take_aligned(kAlignment, bytes);
            if (fresh == nullptr) throw std::bad_alloc();
            return fresh;
        }
        std::vector<void*>& alike = pieces_[bytes / kAlignment];
        void* const piece = alike.back();
        alike.pop_back();
        kept_ -= bytes;
        return piece;
    }

    void give(void* piece, std::size_t bytes) {
        if (kept_ + bytes > kMostSmallBytes) return platform::give_aligned(piece);
        pieces_[bytes / kAlignment].push_back(piece);
        kept_ += bytes;
    }

    void release() {
        for (std::vector<void*>& alike : pieces_) {
            std::ranges::for_each(alike, platform::give_aligned);
            alike.clear();
        }
        kept_ = 0;
    }

private:
    std::vector<std::vector<void*>> pieces_ =
        std::vector<std::vector<void*>>(kMostSmallBytes > 0 ? kLarge / kAlignment : 0);
    std::size_t kept_ = 0;  // in bytes
};

// They belong to the process, as malloc's memory does.
const std::shared_ptr<KeptPieces>& kept() {
    static const auto pieces = std::make_shared<KeptPieces>();
    return pieces;
}

}  // namespace

class KeptPieces {
public:
    [[nodiscard]] void* take(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        return bytes >= kLarge ? large_.take(bytes) : small_.take(bytes);
    }

    void give(void* piece, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        if (bytes >= kLarge)
            large_.give(piece, bytes);
        else
            small_.give(piece, bytes);
    }

    [[nodiscard]] std::size_t large_bytes() {
        const std::lock_guard lock(mutex_);
        return large_.bytes();
    }

    [[nodiscard]] std::size_t used_bytes() {
        const std::lock_guard lock(mutex_);
        return large_.used();
    }

    void release() {
        const std::lock_guard lock(mutex_);
        large_.trim();
        small_.release();
    }

private:
    std::mutex mutex_;
    LargePieces large_;
    SmallPieces small_;
};

void GiveBack::operator()(float* piece) const { to->give(piece, bytes); }

Floats floats(std::int64_t count) {
    // Rounding up must not overflow either. Only where addresses have 32 bits can a tensor within the limits be too
    // large.
    if (static_cast<std::uint64_t>(count) > (SIZE_MAX - kWidestStep) / sizeof(float)) throw std::bad_alloc();
    const std::size_t wanted = std::max<std::size_t>(static_cast<std::size_t>(count), 1) * sizeof(float);
    const std::size_t bytes = bytes_of_piece(wanted);
    const std::shared_ptr<KeptPieces>& pieces = kept();
    return {static_cast<float*>(pieces->take(bytes)), GiveBack{pieces, bytes}};
}

std::size_t used_memory() { return kept()->used_bytes(); }

std::size_t kept_memory() { return kept()->large_bytes(); }

void trim_memory() { kept()->release(); }

}  // namespace decoderscope
